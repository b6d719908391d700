//! The bus of one board under random transfers, answers and configuration
//! accesses: data arrives as by `memcpy`, no protocol rule is broken, and
//! nothing hangs.
#![cfg(feature = "test-utils")]

use multipc::mem::{Memory, Ram};
use multipc::pci::{
    Agent, BridgeConfig, Checker, Command, ConfigAccess, ConfigEnd, ConfigOutcome, DecodeSpeed,
    DeviceResponse, Drive, HostBridge, Rule, TargetResponse, TestDevice, TestMaster,
    TestMasterConfig, TransferEnd, TransferOutcome, resolve,
};
use proptest::prelude::*;

const BASE: u32 = 0x0010_0000;
const WORDS: u32 = 128;

/// Bridge, memory, and in the slot of PCI-DDC an initiator and a
/// configuration space, never active at once.
struct Board {
    bridge: HostBridge,
    master: TestMaster,
    device: TestDevice,
    memory: Ram<'static>,
    checker: Checker,
}

fn merge(a: Drive, b: Drive) -> Drive {
    Drive {
        ad: a.ad.or(b.ad),
        cbe_n: a.cbe_n.or(b.cbe_n),
        par: a.par.or(b.par),
        frame_n: a.frame_n.or(b.frame_n),
        irdy_n: a.irdy_n.or(b.irdy_n),
        trdy_n: a.trdy_n.or(b.trdy_n),
        devsel_n: a.devsel_n.or(b.devsel_n),
        stop_n: a.stop_n.or(b.stop_n),
        perr_n: a.perr_n.or(b.perr_n),
        serr_n: a.serr_n.or(b.serr_n),
    }
}

fn word(index: u32) -> u32 {
    index.wrapping_mul(0x9E37_79B9) ^ 0x5A5A_0F0F
}

impl Board {
    fn new(bridge: BridgeConfig, master: TestMasterConfig) -> Self {
        let mut memory = Ram::new(BASE, vec![0u8; 4 * WORDS as usize]);
        for index in 0..WORDS {
            memory.write_word(BASE + 4 * index, word(index), 0xF);
        }
        Self {
            bridge: HostBridge::new(bridge),
            master: TestMaster::new(master),
            device: TestDevice::new(DecodeSpeed::Medium, 3),
            memory,
            checker: Checker::new(),
        }
    }

    /// One clock; `order` is the order in which the three agents are stepped.
    fn step(&mut self, order: usize) {
        let slot = merge(self.master.drive(), self.device.drive());
        let bus = resolve(&[self.bridge.drive(), slot]);
        let req_n = self.master.req_n();
        let gnt_n = self.bridge.ddc_gnt_n();
        let idsel = self.bridge.idsel();
        self.checker
            .observe(&self.bridge.observation(&bus, slot, req_n));
        for agent in 0..3 {
            match (agent + order) % 3 {
                0 => self.bridge.step(&bus, req_n, &mut self.memory),
                1 => self.master.step(&bus, gnt_n),
                _ => self.device.step(&bus, idsel),
            }
        }
    }

    fn finish(&mut self) -> TransferOutcome {
        for clock in 0..20_000 {
            self.step(clock);
            if let Some(outcome) = self.master.take() {
                return outcome;
            }
        }
        panic!("the transfer does not end: {:?}", self.master);
    }

    fn configure(&mut self, access: ConfigAccess) -> ConfigOutcome {
        self.bridge.submit(access).unwrap();
        for clock in 0..20_000 {
            self.step(clock);
            if let Some(outcome) = self.bridge.take() {
                return outcome;
            }
        }
        panic!("the access does not end");
    }
}

fn speed() -> impl Strategy<Value = DecodeSpeed> {
    prop_oneof![
        Just(DecodeSpeed::Fast),
        Just(DecodeSpeed::Medium),
        Just(DecodeSpeed::Slow),
        Just(DecodeSpeed::Subtractive),
    ]
}

fn park() -> impl Strategy<Value = Option<Agent>> {
    prop_oneof![
        Just(None),
        Just(Some(Agent::Bridge)),
        Just(Some(Agent::Ddc))
    ]
}

prop_compose! {
    fn bridge_config()(
        request_to_grant in 0u32..5,
        read_latency in 0u32..8,
        write_latency in 0u32..8,
        wait_states in 0u32..3,
        devsel in speed(),
        park in park(),
    ) -> BridgeConfig {
        let mut config = BridgeConfig::default();
        config.request_to_grant = request_to_grant;
        config.read_latency = read_latency;
        config.write_latency = write_latency;
        config.wait_states = wait_states;
        config.devsel = devsel;
        config.park = park;
        config
    }
}

prop_compose! {
    fn master_config()(
        irdy_waits in prop_oneof![Just(0), any::<u32>()],
        latency_timer in 1u32..40,
        hold_request: bool,
    ) -> TestMasterConfig {
        let mut config = TestMasterConfig::default();
        config.irdy_waits = irdy_waits;
        config.latency_timer = latency_timer;
        config.hold_request = hold_request;
        config
    }
}

fn gentle() -> impl Strategy<Value = TargetResponse> {
    prop_oneof![
        2 => Just(TargetResponse::Normal),
        1 => Just(TargetResponse::Retry),
        2 => (0u32..6).prop_map(TargetResponse::DisconnectAfter),
        2 => (0u32..6).prop_map(TargetResponse::DisconnectWith),
        1 => (0u32..5).prop_map(TargetResponse::ExtraLatency),
        1 => (0u32..5).prop_map(TargetResponse::WaitStates),
    ]
}

#[derive(Clone, Debug)]
struct Transfer {
    write: bool,
    at: u32,
    len: u32,
    seed: u32,
    responses: Vec<TargetResponse>,
    configure: Option<(u8, u32)>,
}

prop_compose! {
    fn transfer()(
        write: bool,
        at in 0..WORDS,
        len in 1u32..=64,
        seed: u32,
        responses in prop::collection::vec(gentle(), 0..4),
        configure in prop::option::of((0u8..64, any::<u32>())),
    ) -> Transfer {
        Transfer { write, at, len: len.min(WORDS - at), seed, responses, configure }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever the target's answers, waits on both sides, the arbiter and
    /// configuration accesses in between do, the words end up where a copy
    /// would put them and no rule is broken.
    #[test]
    fn transfers_are_copies_and_break_no_rule(
        bridge in bridge_config(),
        master in master_config(),
        transfers in prop::collection::vec(transfer(), 1..6),
    ) {
        let mut board = Board::new(bridge, master);
        let mut expected: Vec<u32> = (0..WORDS).map(word).collect();
        let mut registers = [0u32; 64];
        for transfer in &transfers {
            for &response in &transfer.responses {
                // More than fit are not needed.
                let _ = board.bridge.respond_next(response);
            }
            let addr = BASE + 4 * transfer.at;
            let range = transfer.at as usize..(transfer.at + transfer.len) as usize;
            let words: Vec<u32> = (0..transfer.len).map(|i| word(i ^ transfer.seed)).collect();
            let command =
                if transfer.write { Command::MemoryWrite } else { Command::MemoryRead };
            if let Some((index, value)) = transfer.configure {
                board.bridge.submit(ConfigAccess::write(4 * index, value)).unwrap();
                registers[index as usize] = value;
            }
            board.master.submit(command, addr, &words);
            let outcome = board.finish();
            prop_assert_eq!(outcome.end, TransferEnd::Done);
            prop_assert_eq!(outcome.words, transfer.len as usize);
            prop_assert_eq!(outcome.parity_errors, 0);
            if transfer.write {
                expected[range].copy_from_slice(&words);
            } else {
                prop_assert_eq!(board.master.data(), &expected[range]);
            }
            if transfer.configure.is_some() {
                let mut configured = board.bridge.take();
                for clock in 0..1000 {
                    if configured.is_some() {
                        break;
                    }
                    board.step(clock);
                    configured = board.bridge.take();
                }
                prop_assert_eq!(configured.map(|outcome| outcome.end), Some(ConfigEnd::Done));
            }
        }
        for clock in 0..4 {
            board.step(clock);
        }
        let memory: Vec<u32> =
            (0..WORDS).map(|index| board.memory.read_word(BASE + 4 * index)).collect();
        prop_assert_eq!(memory, expected);
        for (index, &value) in registers.iter().enumerate() {
            prop_assert_eq!(board.device.register(4 * index as u8), value);
        }
        prop_assert!(board.checker.is_clean(), "{:?}", board.checker.violations());
        let stats = board.bridge.stats();
        prop_assert_eq!(stats.busy + stats.idle, stats.cycles);
        let moved: u64 = transfers.iter().map(|transfer| u64::from(transfer.len)).sum();
        prop_assert_eq!(stats.words_read + stats.words_written, moved);
        prop_assert_eq!(stats.address_parity_errors + stats.data_parity_errors, 0);
    }

    /// Disabled bytes keep their value.
    #[test]
    fn byte_enables_select_what_is_written(enables in 0u8..16, value: u32, at in 0..WORDS) {
        let mut master = TestMasterConfig::default();
        master.enables_n = !enables & 0xF;
        let mut board = Board::new(BridgeConfig::default(), master);
        let addr = BASE + 4 * at;
        board.master.submit(Command::MemoryWrite, addr, &[value]);
        board.finish();
        let mask = (0..4).filter(|i| enables >> i & 1 == 1).fold(0, |mask, i| mask | 0xFF << (8 * i));
        prop_assert_eq!(board.memory.read_word(addr), value & mask | word(at) & !mask);
    }

    /// A burst over the end of memory moves what exists; the rest is nobody's.
    #[test]
    fn burst_off_the_end_moves_what_exists(
        bridge in bridge_config(), master in master_config(), inside in 1u32..8, outside in 1u32..8,
    ) {
        let mut board = Board::new(bridge, master);
        let at = WORDS - inside;
        let words = vec![0; (inside + outside) as usize];
        board.master.submit(Command::MemoryRead, BASE + 4 * at, &words);
        let outcome = board.finish();
        prop_assert_eq!(outcome.end, TransferEnd::MasterAbort);
        prop_assert_eq!(outcome.words, inside as usize);
        let expected: Vec<u32> = (at..WORDS).map(word).collect();
        prop_assert_eq!(board.master.data(), expected);
        prop_assert!(board.checker.is_clean(), "{:?}", board.checker.violations());
    }

    /// An abort ends the transfer after the words before it, within the rules.
    #[test]
    fn aborts_end_the_transfer(
        bridge in bridge_config(), mut master in master_config(), after in 0u32..8, write: bool,
    ) {
        // The response is for one transaction: the burst must get there.
        master.latency_timer = 255;
        let mut board = Board::new(bridge, master);
        board.bridge.respond_next(TargetResponse::AbortAfter(after)).unwrap();
        let command = if write { Command::MemoryWrite } else { Command::MemoryRead };
        board.master.submit(command, BASE, &[0; 8]);
        let outcome = board.finish();
        prop_assert_eq!(outcome.end, TransferEnd::TargetAbort);
        prop_assert_eq!(outcome.words, after as usize);
        prop_assert_eq!(board.bridge.stats().target_aborts, 1);
        prop_assert!(board.checker.is_clean(), "{:?}", board.checker.violations());
    }

    /// Reads give what writes stored, whatever the device's timing.
    #[test]
    fn configuration_reads_give_what_was_written(
        config in bridge_config(),
        devsel in speed(),
        latency in 0u32..12,
        retries in 0u32..5,
        accesses in prop::collection::vec((0u8..64, any::<u32>()), 1..8),
    ) {
        let mut board = Board::new(config, TestMasterConfig::default());
        board.device = TestDevice::new(devsel, latency);
        for (index, value) in accesses {
            board.device.respond(DeviceResponse::Retry(retries));
            let outcome = board.configure(ConfigAccess::write(4 * index, value));
            prop_assert_eq!((outcome.result(), outcome.retries), (Ok(value), retries));
            let outcome = board.configure(ConfigAccess::read(4 * index));
            prop_assert_eq!((outcome.result(), outcome.retries), (Ok(value), 0));
        }
        prop_assert!(board.checker.is_clean(), "{:?}", board.checker.violations());
    }

    /// Skipping what `idle_for` allows is the same as stepping it.
    #[test]
    fn skip_equals_steps(
        config in bridge_config(),
        master in master_config(),
        len in 1u32..10,
        access: bool,
        idle in 0u64..40,
    ) {
        let mut board = Board::new(config, master);
        let words = vec![0; len as usize];
        board.master.submit(Command::MemoryRead, BASE, &words);
        if access {
            board.bridge.submit(ConfigAccess::read(0)).unwrap();
        }
        board.finish();
        for clock in 0..60 {
            let mut skipped = board.bridge.clone();
            if skipped.idle_for() >= idle {
                prop_assert!(idle == 0 || skipped.idle_for() == u64::MAX);
                skipped.skip(idle);
                let mut stepped = board.bridge.clone();
                for _ in 0..idle {
                    let bus = resolve(&[stepped.drive()]);
                    stepped.step(&bus, true, &mut board.memory);
                }
                prop_assert_eq!(&skipped, &stepped);
            }
            board.step(clock);
        }
        if config.park != Some(Agent::Ddc) {
            prop_assert_eq!(board.bridge.idle_for(), u64::MAX);
        }
    }

    /// The order in which the agents of a clock are stepped does not matter.
    #[test]
    fn agents_can_be_stepped_in_any_order(
        config in bridge_config(), master in master_config(), transfer in transfer(),
    ) {
        let mut boards = [0, 1, 2].map(|_| Board::new(config, master));
        for board in &mut boards {
            for &response in &transfer.responses {
                board.bridge.respond_next(response).unwrap();
            }
            board.bridge.submit(ConfigAccess::read(4)).unwrap();
            let command =
                if transfer.write { Command::MemoryWrite } else { Command::MemoryRead };
            let words = vec![transfer.seed; transfer.len as usize];
            board.master.submit(command, BASE + 4 * transfer.at, &words);
        }
        for _ in 0..300 {
            for (order, board) in boards.iter_mut().enumerate() {
                board.step(order);
            }
            let [first, others @ ..] = &boards;
            for other in others {
                prop_assert_eq!(&first.bridge, &other.bridge);
                prop_assert_eq!(&first.master, &other.master);
                prop_assert_eq!(&first.device, &other.device);
                prop_assert_eq!(&first.memory, &other.memory);
            }
        }
    }

    /// A spoiled address or write makes SERR# or PERR# and is counted; the
    /// checker names it.
    #[test]
    fn bad_parity_is_noticed(write: bool, len in 1u32..8) {
        let mut master = TestMasterConfig::default();
        master.bad_parity = true;
        let mut board = Board::new(BridgeConfig::default(), master);
        let words = vec![3; len as usize];
        let command = if write { Command::MemoryWrite } else { Command::MemoryRead };
        board.master.submit(command, BASE, &words);
        board.finish();
        for clock in 0..4 {
            board.step(clock);
        }
        let stats = board.bridge.stats();
        prop_assert_eq!(stats.address_parity_errors, 1);
        prop_assert_eq!(stats.data_parity_errors, if write { u64::from(len) } else { 0 });
        prop_assert!(board.checker.count(Rule::ParityWrong) > 0);
        prop_assert_eq!(board.checker.count(Rule::PerrUnexpected), 0);
    }
}
