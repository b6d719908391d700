//! Properties of the driver against the register-level controller
//! (`multipc::put::testing`) and against a hostile one.
#![cfg(feature = "test-utils")]

use std::collections::VecDeque;

use multipc::mem::Ram;
use multipc::put::testing::{FakeController, HostileController};
use multipc::put::{
    Acknowledge, AddError, BOUNCE_BYTES, Capabilities, Control, DmaMemory, Entry, Erratum, Event,
    Model, Phase, Put, PutConfig, Revision, ServeError, Writer, WriterConfig,
};
use multipc::remote::{Flags, Progress, RemoteWrite, Transfer};
use proptest::prelude::*;

const TABLE: [u8; 258] = [0; 258];
const BASE: u32 = 0x1000;

fn config(entries: u32, model: Model, acknowledge: Acknowledge) -> PutConfig<'static> {
    let mut config = PutConfig::new(0, BASE, &TABLE);
    config.entries = entries;
    config.counters = 16;
    config.model = model;
    config.acknowledge = acknowledge;
    config
}

#[derive(Clone, Debug)]
enum Op {
    /// Posts a message of this many pages, with these notices at its end.
    Post {
        pages: usize,
        nos: bool,
        lmi: bool,
        nor: bool,
    },
    /// The chip works for this many steps.
    Steps(u8),
    Poll(u16),
    Interrupt(u16),
    FlushLme(u16),
    FlushLmr(u16),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => (1usize..4, any::<bool>(), any::<bool>(), any::<bool>())
            .prop_map(|(pages, nos, lmi, nor)| Op::Post { pages, nos, lmi, nor: nor && lmi }),
        4 => (1u8..8).prop_map(Op::Steps),
        1 => (0u16..6).prop_map(Op::Poll),
        1 => (0u16..6).prop_map(Op::Interrupt),
        1 => (0u16..6).prop_map(Op::FlushLme),
        1 => (0u16..6).prop_map(Op::FlushLmr),
    ]
}

/// What must come out, kept beside the driver.
#[derive(Default)]
struct Expected {
    /// Message identifiers, in ring order.
    sent: VecDeque<u32>,
    received: VecDeque<u32>,
    nos: u64,
    nor: u64,
}

impl Expected {
    fn meet(&mut self, event: Event) {
        match event {
            Event::Sent { mi, .. } => assert_eq!(self.sent.pop_front(), Some(mi)),
            Event::Received { mi, .. } => assert_eq!(self.received.pop_front(), Some(mi)),
            event => panic!("{event:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// Invariants 1, 2, 3 of the driver's document: entries are not overwritten
    /// before they are acknowledged, as many acknowledgements as notices, events
    /// in ring order; bytes land where they should.
    #[test]
    fn notices_are_told_once_and_in_order(
        ops in prop::collection::vec(op(), 1..80),
        entries in 2u32..20,
        polling in any::<bool>(),
        weighted in any::<bool>(),
    ) {
        let model = if polling { Model::Polling } else { Model::Interrupt };
        let acknowledge = if weighted { Acknowledge::Weighted } else { Acknowledge::Single };
        let mut memory = vec![0u8; 0x2_0000];
        let mut hw = FakeController::new(Ram::new(0, &mut memory[..]));
        let mut put = Put::new();
        put.init(&mut hw, &config(entries, model, acknowledge)).unwrap();
        let sap = put.register_sap().unwrap();
        put.attach_mi_range(sap, 1 << 16).unwrap();
        let mut expected = Expected::default();
        let (mut messages, mut pages_posted) = (0u32, 0u32);

        for op in ops {
            let mut events = Vec::new();
            let mut sink = |event| events.push(event);
            let served = match op {
                Op::Post { pages, nos, lmi, nor } => {
                    let free = put.lpe_free();
                    // Each page has its own byte of source and destination.
                    let message: Vec<Entry> = (0..pages)
                        .map(|page| {
                            let mut flags = Control::default();
                            if page + 1 == pages {
                                flags = Control::LMP;
                                for (on, flag) in [
                                    (nos, Control::NOS),
                                    (lmi, Control::LMI),
                                    (nor, Control::NOR),
                                ] {
                                    flags = if on { flags.with(flag) } else { flags };
                                }
                            }
                            let at = pages_posted + page as u32;
                            Entry::page(0, messages, 0x8000 + at, 0xC000 + at, 1, flags)
                        })
                        .collect();
                    for entry in &message {
                        hw.store(entry.local, &[entry.local as u8 | 1]).unwrap();
                    }
                    match put.add_message(&mut hw, &message) {
                        Ok(_) => {
                            prop_assert!(pages as u32 <= free);
                            pages_posted += pages as u32;
                            if nos { expected.sent.push_back(messages); }
                            if lmi { expected.received.push_back(messages); }
                            expected.nos += u64::from(nos);
                            expected.nor += u64::from(nor);
                            messages += 1;
                            prop_assert_eq!(put.lpe_free(), free - pages as u32);
                        }
                        Err(AddError::RingFull { .. } | AddError::MessageTooLong { .. }) => {
                            prop_assert!(pages as u32 > free);
                            prop_assert_eq!(put.lpe_free(), free);
                        }
                        Err(error) => prop_assert!(false, "{}", error),
                    }
                    continue;
                }
                Op::Steps(n) => { hw.run(u32::from(n)); continue; }
                Op::Poll(budget) => put.poll(&mut hw, budget, &mut sink),
                Op::Interrupt(budget) => put.on_interrupt(&mut hw, budget, &mut sink),
                Op::FlushLme(budget) => put.flush_lme(&mut hw, budget, &mut sink),
                Op::FlushLmr(budget) => put.flush_lmr(&mut hw, budget, &mut sink),
            };
            prop_assert!(served.is_ok());
            events.retain(|event| !lmr_full(event));
            events.into_iter().for_each(|event| expected.meet(event));
            prop_assert!(put.next_sequence() >= put.retired());
        }
        // Everything comes out in the end.
        for _ in 0..200 {
            hw.run(10);
            let mut events = Vec::new();
            put.poll(&mut hw, 3, |event| events.push(event)).unwrap();
            events.retain(|event| !lmr_full(event));
            events.into_iter().for_each(|event| expected.meet(event));
        }
        prop_assert!(expected.sent.is_empty() && expected.received.is_empty());
        prop_assert_eq!(put.lpe_free(), entries - 1);
        prop_assert_eq!(put.stats().acknowledged, [expected.nos, expected.nor]);
        prop_assert_eq!(hw.counters(), [0, 0]);
        for at in 0..pages_posted {
            let arrived = hw.ram().slice(0xC000 + at, 1).unwrap()[0];
            prop_assert_eq!(arrived, (0x8000 + at) as u8 | 1, "page {}", at);
        }
    }

    /// Remote write is memcpy, for any length, alignment and cut; the receiver
    /// is told once, after the last byte.
    #[test]
    fn remote_write_is_memcpy_and_is_told_once(
        transfers in prop::collection::vec(
            (0u32..64, 0u32..64, prop_oneof![0u64..80, 500u64..600, 4000u64..4200], any::<bool>()),
            1..8,
        ),
        page in prop_oneof![1u32..70, 500u32..600, Just(65_532)],
        pages_per_message in 1u32..5,
        entries in 2u32..12,
        steps in 1u32..20,
    ) {
        let mut here = vec![0u8; 0x2_0000];
        let mut there = vec![0u8; 0x2_0000];
        for (at, byte) in here.iter_mut().enumerate() {
            *byte = (at * 31 + at / 257) as u8 | 1;
        }
        let source = here.clone();
        let mut expected = vec![0u8; 0x1_0000];
        let mut sender = FakeController::new(Ram::new(0, &mut here[..]));
        let mut receiver = FakeController::new(Ram::new(0, &mut there[..]));
        let mut ends = [&mut sender, &mut receiver].map(|hw| {
            let mut put = Put::new();
            let config = config(entries, Model::Interrupt, Acknowledge::Single);
            put.init(hw, &config).unwrap();
            let mut choices = WriterConfig::default();
            choices.page = page;
            choices.pages_per_message = pages_per_message;
            Writer::<3, 4>::new(put, choices).unwrap()
        });
        let [near, far] = &mut ends;
        let mut tokens = Vec::new();
        let mut told = Vec::new();
        let mut arrived = Vec::new();
        let mut waiting: VecDeque<Transfer> = transfers
            .iter()
            .enumerate()
            .map(|(i, &(local, remote, length, notify))| Transfer {
                node: 1,
                local: u64::from(0x8000 + local),
                remote: 0x1_0000 + 0x1800 * i as u64 + u64::from(remote),
                length,
                flags: Flags { notify_receiver: notify, tag: i as u32 },
            })
            .collect();
        for transfer in &waiting {
            let at = (transfer.remote - 0x1_0000) as usize;
            let from = transfer.local as usize;
            let length = transfer.length as usize;
            expected[at..at + length].copy_from_slice(&source[from..from + length]);
            if transfer.flags.notify_receiver { told.push(transfer.flags.tag); }
        }
        let mut rounds = 0;
        while !waiting.is_empty() || arrived.len() < told.len()
            || tokens.iter().any(|token| near.progress(token) != Ok(Progress::Sent))
        {
            rounds += 1;
            prop_assert!(rounds < 40_000, "no end");
            if let Some(&transfer) = waiting.front()
                && let Ok(token) = near.start(&mut sender, transfer)
            {
                waiting.pop_front();
                tokens.push(token);
            }
            for _ in 0..steps {
                sender.step_to(&mut receiver);
            }
            near.poll(&mut sender).unwrap();
            far.poll(&mut receiver).unwrap();
            if let Some(arrival) = far.arrival() {
                let i = arrival.tag as usize;
                let (_, remote, length, _) = transfers[i];
                let at = 0x1800 * i + remote as usize;
                let bytes = receiver.ram().slice(0x1_0000 + at as u32, length as usize).unwrap();
                prop_assert_eq!(bytes, &expected[at..at + length as usize]);
                arrived.push(arrival.tag);
            }
        }
        prop_assert_eq!(arrived, told);
        prop_assert_eq!(receiver.ram().slice(0x1_0000, 0x1_0000).unwrap(), &expected[..]);
    }

    /// Whatever a controller answers, calls return, stay inside their budget,
    /// and either go on, stop the board, or name the port.
    #[test]
    fn a_hostile_controller_cannot_hang_or_crash_the_driver(
        script in prop::collection::vec(any::<u8>(), 0..400),
        seed in any::<u64>(),
        failures in prop_oneof![Just(0u32), 3u32..50],
        calls in prop::collection::vec((0u8..6, 0u16..20), 1..60),
        entries in 2u32..40,
    ) {
        let mut hw = HostileController::new(&script, seed);
        hw.quiet = true;
        let mut put = Put::new();
        put.init(&mut hw, &config(entries, Model::Interrupt, Acknowledge::Weighted)).unwrap();
        let sap = put.register_sap().unwrap();
        put.attach_mi_range(sap, 64).unwrap();
        hw.quiet = false;
        hw.failures = failures;
        let last = Control::LMP.with(Control::NOS).with(Control::LMI).with(Control::NOR);
        for (call, budget) in calls {
            let before = hw.accesses();
            let mut events = 0u32;
            let mut sink = |_| events += 1;
            let stopped = match call {
                0 | 1 => {
                    let entry = Entry::page(1, 5, 0x100, 0x200, 10, last);
                    put.add_entry(&mut hw, entry) == Err(AddError::Stopped)
                }
                2 => put.poll(&mut hw, budget, &mut sink) == Err(ServeError::Stopped),
                3 => put.on_interrupt(&mut hw, budget, &mut sink) == Err(ServeError::Stopped),
                4 => put.flush_lme(&mut hw, budget, &mut sink) == Err(ServeError::Stopped),
                _ => put.flush_lmr(&mut hw, budget, &mut sink) == Err(ServeError::Stopped),
            };
            prop_assert_eq!(stopped, stopped && matches!(put.phase(), Phase::Stopped(_)));
            prop_assert!(events <= 2 * u32::from(budget) + 2);
            let accesses = hw.accesses() - before;
            prop_assert!(accesses <= 11 * (30 + 4 * u64::from(budget)), "{} accesses", accesses);
            prop_assert!(put.lpe_free() < entries);
        }
    }

    #[test]
    fn no_set_of_workarounds_hangs_or_writes_beside_its_memory_on_a_hostile_controller(
        script in prop::collection::vec(any::<u8>(), 0..400),
        seed in any::<u64>(),
        failures in prop_oneof![Just(0u32), 3u32..50],
        calls in prop::collection::vec((0u8..7, 0u16..20, 0u32..8), 1..60),
        errata in prop::collection::vec(prop::sample::select(&Erratum::ALL), 0..12),
    ) {
        let mut hw = HostileController::new(&script, seed);
        hw.quiet = true;
        let mut config = config(24, Model::Interrupt, Acknowledge::Single);
        config.nodes = 3;
        config.counters = 20;
        config.capabilities = Capabilities::from_errata(Revision::of(&errata));
        // The buffer begins where the tables end.
        let buffer = BASE + config.table_bytes() as u32;
        config.bounce = Some(buffer);
        let mut put = Put::new();
        put.init(&mut hw, &config).unwrap();
        let sap = put.register_sap().unwrap();
        put.attach_mi_range(sap, 64).unwrap();
        hw.quiet = false;
        hw.failures = failures;
        let last = Control::LMP.with(Control::NOS).with(Control::LMI).with(Control::NOR);
        for (call, budget, skew) in calls {
            let before = hw.accesses();
            let mut events = 0u32;
            let mut sink = |_| events += 1;
            match call {
                0 | 1 => {
                    let entry = Entry::page(1, 5, 0x101 + skew, 0x204 - skew, 100, last);
                    let _ = put.add_entry(&mut hw, entry);
                }
                2 => drop(put.send_short(&mut hw, 2, 7, [skew, seed as u32])),
                3 => drop(put.poll(&mut hw, budget, &mut sink)),
                4 => drop(put.on_interrupt(&mut hw, budget, &mut sink)),
                5 => drop(put.flush_lme(&mut hw, budget, &mut sink)),
                _ => drop(put.flush_lmr(&mut hw, budget, &mut sink)),
            }
            prop_assert!(events <= 2 * u32::from(budget) + 2);
            // Up to 16 pages through the bounce buffer, 64 bytes at a time.
            prop_assert!(hw.accesses() - before <= 40_000);
        }
        let (low, high) = hw.stored();
        prop_assert!(low >= u64::from(BASE));
        prop_assert!(high <= u64::from(buffer + BOUNCE_BYTES));
    }
}

fn lmr_full(event: &Event) -> bool {
    matches!(event, Event::Error { stopped: false, .. })
}
