//! An endpoint whose peers write what they like into its slots and tell it what
//! they like: it survives, keeps to its buffers, and goes on with the others.
#![cfg(feature = "alloc")]

mod mpi_rig;

use mpi_rig::{ARENA, Rig, free, pattern};
use multipc::mpi::credit::CreditMode;
use multipc::mpi::endpoint::{Buffer, PeerState, Request};
use multipc::mpi::wire::{Class, Entry, Flags, Header, Kind, Payload, Req, Rsp, emit, emit_rsp};
use multipc::mpi::{ArrivalMode, Layout, Lent, MpiConfig, Policy};
use multipc::remote::{self, RemoteWrite, Transfer};
use proptest::prelude::*;

/// The victim and its honest peer are ranks 0 and 2, the liar is rank 1.
const VICTIM: usize = 0;
const LIAR: u32 = 1;
const HONEST: usize = 2;
const GUARD: u8 = 0xA5;

/// One act of the liar.
#[derive(Clone, Debug)]
enum Lie {
    /// Bytes somewhere in the next slot.
    Bytes { at: u16, bytes: Vec<u8> },
    /// A message in good form, with these fields.
    Message {
        kind: u8,
        flags: u8,
        credits: u16,
        released: u32,
        seq_off: i8,
        incarnation_off: u8,
        words: [u32; 6],
        entries: Vec<(u32, u32)>,
        length: u16,
    },
    /// A notification.
    Tell { class: u8, index: u16 },
    /// A notification of the next slot.
    TellNext,
    /// A word in the counter.
    Counter(u32),
    /// The victim does something.
    Call {
        send: bool,
        sync: bool,
        tag: u8,
        len: u16,
    },
    /// Time goes by.
    Progress(u8),
    /// The victim computes; its handler of interrupts runs.
    Interrupt,
}

fn lies() -> impl Strategy<Value = Lie> {
    let small = prop_oneof![Just(0u32), 0u32..4, 0u32..70_000, any::<u32>()];
    let entry = (any::<u32>(), prop_oneof![1u32..9000, any::<u32>()]);
    prop_oneof![
        1 => (0u16..16_384, prop::collection::vec(any::<u8>(), 0..80))
            .prop_map(|(at, bytes)| Lie::Bytes { at, bytes }),
        6 => (
            (1u8..5, prop_oneof![4 => Just(0u8), 1 => any::<u8>()], prop_oneof![4 => Just(0u16), 1 => 0u16..20]),
            (prop_oneof![4 => Just(0u32), 1 => any::<u32>()],
             prop_oneof![8 => Just(0i8), 1 => any::<i8>()],
             prop_oneof![12 => Just(0u8), 1 => any::<u8>()]),
            [small.clone(), small.clone(), small.clone(), small.clone(), small.clone(), small],
            prop::collection::vec(entry, 0..5),
            0u16..3000,
        )
            .prop_map(|((kind, flags, credits), (released, seq_off, incarnation_off), words, entries, length)| {
                Lie::Message { kind, flags, credits, released, seq_off, incarnation_off, words, entries, length }
            }),
        2 => (0u8..4, 0u16..80).prop_map(|(class, index)| Lie::Tell { class, index }),
        6 => Just(Lie::TellNext),
        1 => any::<u32>().prop_map(Lie::Counter),
        4 => (any::<bool>(), any::<bool>(), 0u8..3, 0u16..9000)
            .prop_map(|(send, sync, tag, len)| Lie::Call { send, sync, tag, len }),
        4 => (1u8..4).prop_map(Lie::Progress),
        1 => Just(Lie::Interrupt),
    ]
}

struct Scene {
    rig: Rig<3>,
    config: MpiConfig,
    /// The victim's receives, oldest first, each in a part of its own.
    requests: Vec<Request>,
    parts: u64,
}

impl Scene {
    fn slot(&self) -> Option<(u64, u16)> {
        let credit = self.rig.endpoints[VICTIM].credit(LIAR)?;
        let slot = credit.rx_next();
        let layout = Layout::new(&self.config, VICTIM as u32, 3, ARENA);
        Some((layout.slot(LIAR, slot), slot))
    }

    fn tell(&mut self, tag: u32) {
        let flags = remote::Flags {
            notify_receiver: true,
            tag,
        };
        let transfer = Transfer {
            node: VICTIM as u16,
            local: 0,
            remote: 0,
            length: 0,
            flags,
        };
        let writer = &mut self.rig.writers[LIAR as usize];
        let _ = writer.start(&mut self.rig.memories, transfer);
        writer.poll(&mut self.rig.memories).unwrap();
    }

    fn act(&mut self, lie: &Lie) {
        let Some((addr, slot)) = self.slot() else {
            return;
        };
        match lie {
            Lie::Bytes { at, bytes } => {
                let at = (*at as usize).min(16_384 - bytes.len());
                self.rig.write(VICTIM, addr + at as u64, bytes);
            }
            Lie::Message { .. } => {
                if let Some(bytes) = self.message(lie) {
                    self.rig.write(VICTIM, addr, &bytes);
                }
            }
            Lie::Tell { class, index } => {
                let class =
                    [Class::Control, Class::Data, Class::Get, Class::Other][*class as usize & 3];
                let tag = self.config.tags.pack(class, LIAR as u16, *index);
                self.tell(tag.unwrap_or(u32::MAX));
            }
            Lie::TellNext => {
                let tag = self.config.tags.pack(Class::Control, LIAR as u16, slot);
                self.tell(tag.unwrap());
            }
            Lie::Counter(word) => {
                let layout = Layout::new(&self.config, VICTIM as u32, 3, ARENA);
                let addr = layout.counter_in(LIAR);
                self.rig.write(VICTIM, addr, &word.to_le_bytes());
            }
            Lie::Call {
                send,
                sync,
                tag,
                len,
            } => self.call(*send, *sync, *tag, *len),
            Lie::Interrupt => {
                let rig = &mut self.rig;
                let writer = &mut rig.writers[VICTIM];
                let mut port = Lent::new(writer, &mut rig.memories, VICTIM as u16);
                rig.endpoints[VICTIM].interrupt(&mut port, rig.now, &mut ());
                rig.endpoints[VICTIM].check_invariants().unwrap();
            }
            Lie::Progress(times) => {
                for _ in 0..*times {
                    self.rig.progress(VICTIM);
                    self.rig.progress(HONEST);
                }
            }
        }
    }

    fn message(&self, lie: &Lie) -> Option<Vec<u8>> {
        let Lie::Message {
            kind,
            flags,
            credits,
            released,
            seq_off,
            incarnation_off,
            words,
            entries,
            length,
        } = lie
        else {
            return None;
        };
        let kind = Kind::from_bits(*kind).ok()?;
        let expected = self.rig.endpoints[VICTIM].credit(LIAR)?.rx_seq();
        let flags = Flags::from_bits(*flags).unwrap_or(Flags::NONE);
        // An offer names the rank that is to send.
        let offers = kind == Kind::Rsp && flags.contains(Flags::OFFER);
        let header = Header {
            flags,
            credits: *credits,
            released: *released,
            tag: (words[0] % 3) as i32,
            src_rank: if offers { VICTIM as u32 } else { LIAR },
            incarnation: 1 + u32::from(*incarnation_off),
            seq: expected.wrapping_add_signed(i32::from(*seq_off)),
            ..Header::new(kind)
        };
        // A send of the victim that exists, now and then.
        let sends = &self.requests;
        let name = match sends.get(words[1] as usize) {
            Some(request) => request.bits(),
            None => words[1],
        };
        let mut bytes = vec![0; 16_384];
        let length = match kind {
            Kind::Short => emit(
                &header,
                &Payload::Short(&vec![7; *length as usize]),
                &mut bytes,
            ),
            Kind::Req => {
                let total_len = u64::from(words[2]) << (words[3] % 33);
                let req = Req {
                    total_len,
                    sender_req: words[4],
                };
                emit(&header, &Payload::Req(req), &mut bytes)
            }
            Kind::Crdt => emit(&header, &Payload::Crdt, &mut bytes),
            Kind::Rsp => {
                let entries: Vec<Entry> = entries
                    .iter()
                    .filter_map(|(phys, len)| Entry::new(*phys, *len).ok())
                    .collect();
                let total: u64 = entries.iter().map(|entry| u64::from(entry.len())).sum();
                let rsp = Rsp {
                    sender_req: name,
                    recv_req: words[2],
                    accept_len: total.min(u64::from(words[3]).max(1)),
                    chunk_off: 0,
                    status: (words[5] % 8 == 7).into(),
                };
                let mut pages = entries.into_iter();
                emit_rsp(&header, &rsp, &mut pages, &mut bytes).map(|emitted| emitted.wire_len)
            }
        };
        bytes.truncate(length.ok()?);
        Some(bytes)
    }

    /// The victim sends to, or receives from, the liar.
    fn call(&mut self, send: bool, sync: bool, tag: u8, len: u16) {
        if self.rig.endpoints[VICTIM].peer_state(LIAR) != Some(PeerState::Open) {
            return;
        }
        let part = Buffer::new(self.rig.user + self.parts * 0x4000 + 64, len.into());
        self.parts = (self.parts + 1) % 64;
        let request = match (send, sync) {
            (true, false) => self.rig.send(VICTIM, LIAR as usize, tag.into(), part),
            (true, true) => self.rig.ssend(VICTIM, LIAR as usize, tag.into(), part),
            (false, _) => self.rig.recv(VICTIM, Some(LIAR), Some(tag.into()), part),
        };
        self.requests.push(request);
    }
}

/// What is not the arena of the victim, nor inside of a receive, keeps its
/// guard.
fn check(config: MpiConfig, lies: &[Lie]) {
    let mut rig: Rig<3> = Rig::starting_at(config, 1, 0x20_0000);
    let arena = Layout::bytes(&config, 3);
    let user = rig.user;
    let end = user + 0x20_0000;
    let guard = |from: u64, to: u64| (from, vec![GUARD; (to - from) as usize]);
    let (low, high) = (guard(0, ARENA), guard(ARENA + arena, end));
    for (addr, bytes) in [&low, &high] {
        rig.write(VICTIM, *addr, bytes);
    }
    let mut scene = Scene {
        rig,
        config,
        requests: Vec::new(),
        parts: 0,
    };
    for lie in lies {
        scene.act(lie);
    }
    let Scene { mut rig, .. } = scene;
    rig.progress(VICTIM);
    assert!(rig.read(VICTIM, 0, ARENA) == low.1, "below the arena");
    let after = rig.read(VICTIM, ARENA + arena, end - ARENA - arena);
    let first = (user - ARENA - arena) as usize;
    assert!(
        after[..first].iter().all(|byte| *byte == GUARD),
        "behind the arena"
    );
    // Each part is 16 KB, a receive takes 64.. of it, at most 9000 bytes.
    for part in after[first..].chunks(0x4000) {
        let (front, back) = (&part[..64], &part[64 + 9000..]);
        assert!(
            front.iter().chain(back).all(|byte| *byte == GUARD),
            "beside a receive"
        );
    }
    // The honest peer is not concerned.
    assert_eq!(
        rig.endpoints[VICTIM].peer_state(HONEST as u32),
        Some(PeerState::Open)
    );
    for len in [10, 5000] {
        let data = pattern(len, len);
        rig.write(HONEST, user, &data);
        let there = user + 0x10_0000;
        let recv = rig.recv(
            VICTIM,
            Some(HONEST as u32),
            Some(9),
            Buffer::new(there, len),
        );
        let send = rig.send(HONEST, VICTIM, 9, Buffer::new(user, len));
        for _ in 0..200 {
            rig.progress(VICTIM);
            rig.progress(HONEST);
        }
        rig.done(HONEST, send);
        assert_eq!(rig.done(VICTIM, recv).total, len);
        assert_eq!(rig.read(VICTIM, there, len), data);
    }
}

fn config(arrival: ArrivalMode, mode: CreditMode, offers: bool, interrupts: bool) -> MpiConfig {
    let mut config = free()
        .with_arrival(arrival)
        .with_credit_mode(mode)
        .with_slots(4);
    config.unexpected_bytes = 0x1_0000;
    config.offers = offers;
    if interrupts {
        config.policy = Policy::Interrupt;
    }
    config
}

fn cases() -> u32 {
    let long = std::env::var_os("MULTIPC_LONG").is_some();
    if long { 20_000 } else { 400 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_peer_writes_only_it_is_concerned(
        lies in prop::collection::vec(lies(), 0..60),
        slots: bool,
        counter: bool,
        offers: bool,
        interrupts: bool,
    ) {
        let arrival = if slots { ArrivalMode::Slots } else { ArrivalMode::Reports };
        let mode = if counter { CreditMode::Counter } else { CreditMode::Slot };
        check(config(arrival, mode, offers, interrupts), &lies);
    }
}
