use super::*;
use crate::hsl::Down;

/// Two ports joined by wires of `delay` extra registers each way.
struct Pair {
    ends: [Port; 2],
    wires: [[Line; 8]; 2],
    delay: usize,
    config: LinkConfig,
}

struct Seen {
    sent: [Line; 2],
    received: [Received; 2],
}

impl Pair {
    fn new(kind: PortKind, delay: usize) -> Self {
        let mut ends = [Port::new(kind); 2];
        ends.iter_mut().for_each(Port::enable);
        Self {
            ends,
            wires: [[Line::DEAD; 8]; 2],
            delay,
            config: LinkConfig::default(),
        }
    }

    fn step(&mut self, offered: [Option<Symbol>; 2]) -> Seen {
        let sent = [0, 1].map(|e| self.ends[e].transmit(offered[e]).0);
        let received =
            [0, 1].map(|e| self.ends[e].receive(self.wires[1 - e][self.delay], &self.config));
        for (wire, line) in self.wires.iter_mut().zip(sent) {
            wire.copy_within(0..7, 1);
            wire[0] = line;
        }
        Seen { sent, received }
    }

    fn run_until_up(&mut self) -> u64 {
        let mut steps = 0;
        while !self.ends.iter().all(Port::is_up) {
            self.step([None; 2]);
            steps += 1;
            assert!(steps < 100_000, "link never came up: {:?}", self.ends);
        }
        steps
    }
}

#[test]
fn start_up_takes_the_recorded_counts_and_the_handshake() {
    // The first IDLE is seen an edge after it left; REQUEST is sent and seen an
    // edge later; the last of 8 ACKNOWLEDGEs opens.
    let mut pair = Pair::new(PortKind::Serial, 0);
    assert_eq!(pair.run_until_up(), 4096 + 4096 + 1 + 3000 + 2 + 8);
}

#[test]
fn ends_that_start_at_different_times_meet() {
    for late in [1, 100, 3_000, 4_095, 4_097, 8_200, 20_000] {
        for delay in [0, 3, 7] {
            let mut pair = Pair::new(PortKind::Serial, delay);
            pair.ends[1].disable();
            for _ in 0..late {
                pair.step([None; 2]);
            }
            pair.ends[1].enable();
            pair.run_until_up();
            for _ in 0..40 {
                pair.step([None; 2]);
            }
            assert!(
                pair.ends.iter().all(|p| p.credit().get() == 64),
                "{late} {delay}: {:?}",
                pair.ends
            );
        }
    }
}

#[test]
fn two_fccs_8_cycles_apart_open_a_link() {
    for kind in [PortKind::Serial, PortKind::Parallel] {
        let mut pair = Pair::new(kind, 2);
        let mut at = [0u64; 3];
        let mut n = 0;
        for step in 0..12_000 {
            let seen = pair.step([None; 2]);
            if seen.sent[0].fcc_pulse() || seen.sent[0] == Line::symbol_of(Symbol::FCC) {
                at[n] = step;
                n += 1;
            }
        }
        assert_eq!(n, 2, "{kind:?}");
        assert_eq!(at[1] - at[0], 8, "{kind:?}");
    }
}

#[test]
fn fcc_goes_before_data_and_credit_stops_data() {
    let mut pair = Pair::new(PortKind::Serial, 0);
    pair.run_until_up();
    let mut slots = [0; 3];
    for _ in 0..100 {
        let before = pair.ends[0];
        let seen = pair.step([Some(Symbol::data(1)), None]);
        let slot = { before }.transmit(Some(Symbol::data(1))).1;
        match slot {
            Slot::Symbol => slots[0] += 1,
            Slot::Fcc => slots[1] += 1,
            Slot::NoCredit => slots[2] += 1,
            other => panic!("{other:?}"),
        }
        assert_eq!(
            seen.sent[0] == Line::symbol_of(Symbol::FCC),
            slot == Slot::Fcc
        );
    }
    assert_eq!((slots[0], slots[1]), (64, 2));
}

#[test]
fn a_flit_that_left_grants_a_flit() {
    let mut pair = Pair::new(PortKind::Parallel, 0);
    pair.run_until_up();
    let (mut sent, mut got) = (0u32, 0u32);
    for step in 0..2_000u32 {
        // The receiver empties its FIFO at once.
        let seen = pair.step([Some(Symbol::data(step as u8)), None]);
        sent += u32::from(!seen.sent[0].symbol().is_link_level());
        if let Received::Symbol(_) = seen.received[1] {
            got += 1;
            pair.ends[1].freed();
        }
    }
    assert!(
        sent > 1_990 && got + 1 >= sent,
        "full rate: {sent} sent, {got} received"
    );
}

#[test]
fn loss_of_signal_and_request_take_the_link_down_and_it_comes_back() {
    let mut pair = Pair::new(PortKind::Serial, 1);
    pair.run_until_up();
    assert_eq!(
        pair.ends[0].receive(Line::DEAD, &pair.config),
        Received::Down(Down::NoSignal)
    );
    assert_eq!(pair.ends[0].credit(), Credit::NONE);
    for _ in 0..4 {
        pair.step([None; 2]);
    }
    assert!(!pair.ends[1].is_up(), "the other end sees the silence");
    pair.run_until_up();

    let request = Line::symbol_of(Symbol::REQUEST);
    for _ in 0..40 {
        pair.step([None; 2]);
    }
    assert_eq!(
        pair.ends[1].receive(request, &pair.config),
        Received::Down(Down::Restarted)
    );
    pair.run_until_up();
}

#[test]
fn late_acknowledges_change_nothing() {
    let mut pair = Pair::new(PortKind::Serial, 1);
    pair.run_until_up();
    let before = pair.ends[0];
    let line = Line::symbol_of(Symbol::ACKNOWLEDGE);
    assert_eq!(pair.ends[0].receive(line, &pair.config), Received::Nothing);
    assert_eq!(pair.ends[0], before);
}

#[test]
fn too_much_credit_is_an_exception() {
    for kind in [PortKind::Serial, PortKind::Parallel] {
        let mut pair = Pair::new(kind, 0);
        pair.run_until_up();
        for _ in 0..20 {
            pair.step([None; 2]);
        }
        assert_eq!(pair.ends[0].credit().get(), 64);
        let grant = match kind {
            PortKind::Serial => Line::symbol_of(Symbol::FCC),
            PortKind::Parallel => Line::IDLE.with_fcc_pulse(),
        };
        assert_eq!(
            pair.ends[0].receive(grant, &pair.config),
            Received::Down(Down::Credit)
        );
        for _ in 0..2 {
            pair.step([None; 2]);
        }
        assert!(pair.ends.iter().all(|p| !p.is_up()), "{kind:?}");
        pair.run_until_up();
        for _ in 0..20 {
            pair.step([None; 2]);
        }
        assert!(
            pair.ends.iter().all(|p| p.credit().get() == 64),
            "{kind:?}: {:?}",
            pair.ends
        );
    }
}

#[test]
fn a_port_off_takes_nothing_in() {
    let config = LinkConfig::default();
    let mut port = Port::new(PortKind::Serial);
    for bits in 0..0x800 {
        assert_eq!(
            port.receive(Line::from_bits(bits), &config),
            Received::Nothing
        );
        assert_eq!(port.transmit(Some(Symbol::EP)), (Line::DEAD, Slot::Down));
    }
    assert_eq!(port, Port::new(PortKind::Serial));
}

#[test]
fn skipping_is_stepping_while_idle() {
    for kind in [PortKind::Serial, PortKind::Parallel] {
        let config = LinkConfig::default();
        let mut port = Port::new(kind);
        port.enable();
        let mut line = Line::DEAD;
        let mut steps = 0u64;
        while steps < 30_000 {
            if steps == 9_000 {
                line = Line::IDLE;
            }
            let n = port.idle_for(line, &config).min(1_000);
            let mut skipped = port;
            skipped.skip(n, line);
            for _ in 0..n {
                port.transmit(None);
                assert_eq!(port.receive(line, &config), Received::Nothing);
            }
            assert_eq!(port, skipped, "after {steps}");
            port.transmit(None);
            port.receive(line, &config);
            steps += n + 1;
        }
    }
}
