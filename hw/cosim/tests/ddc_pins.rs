//! PCI-DDC alone: initiators and link partners that no bridge or router would be.
#![cfg(feature = "ddc")]

use multipc::ddc::lme::Control;
use multipc::ddc::packet::{Header, PacketView, Tail, Word};
use multipc::hsl::{Line, Symbol};
use multipc::pci::{Signals, even_parity};
use multipc_cosim::ddc::{DdcIn, DdcModel, DdcOut, DdcRtl, DdcSmallRtl, Resettable};
use multipc_cosim::{Lockstep, Random, cycles};

type Chip<R> = Lockstep<DdcModel, R>;

fn chip<R: Resettable>(name: &'static str) -> Chip<R> {
    Lockstep::new(name, DdcModel::new(R::config()), R::reset())
}

fn step<R: Resettable>(chip: &mut Chip<R>, pins: &DdcIn) -> DdcOut {
    chip.step(pins)
        .unwrap_or_else(|difference| panic!("{difference}"))
}

/// An initiator that starts configuration bursts of any kind and length, holds
/// IRDY# back, starts again without an idle clock, and has bad parity at times.
struct Initiator {
    random: Random,
    phase: Phase,
    /// Words still wanted after this one.
    more: u64,
    write: bool,
    /// What it drove in the clock before, for PAR.
    parity: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Idle,
    Address,
    Data,
}

impl Initiator {
    fn address(&mut self) -> (u32, u8, bool) {
        let offset = 4 * self.random.below(0x20) as u32;
        let mut ad = offset;
        match self.random.below(12) {
            0 => ad |= 1 << (8 + self.random.below(3)),
            1 => ad |= 1 + self.random.below(3) as u32,
            2 => ad |= (self.random.bits() as u32) << 11,
            _ => {}
        }
        self.write = self.random.one_in(2);
        let mut command = if self.write { 0b1011 } else { 0b1010 };
        if self.random.one_in(12) {
            command = self.random.below(16) as u8;
        }
        (ad, command, !self.random.one_in(10))
    }
}

#[test]
fn bursts_back_to_back_accesses_and_slow_initiators() {
    let mut chip = chip::<DdcRtl>("ddc_initiator");
    let mut initiator = Initiator {
        random: Random::new(7),
        phase: Phase::Idle,
        more: 0,
        write: false,
        parity: true,
    };
    let mut out = DdcOut::default();
    let mut bus = Signals::IDLE;
    let (mut words, mut disconnects) = (0, 0);
    // Clocks without DEVSEL#.
    let mut silent = 0;
    for _ in 0..cycles(30_000, 300_000) {
        let random = &mut initiator.random;
        let irdy = random.one_in(2);
        let was = bus;
        bus = Signals::IDLE;
        bus.par = initiator.parity;
        let mut idsel = false;
        match initiator.phase {
            Phase::Idle => {
                if random.one_in(3) {
                    initiator.more = random.below(4);
                    let (ad, command, selected) = initiator.address();
                    (bus.ad, bus.cbe_n, idsel) = (ad, command, selected);
                    bus.frame_n = false;
                    initiator.phase = Phase::Address;
                }
            }
            Phase::Address | Phase::Data => {
                bus.frame_n = initiator.more == 0;
                bus.irdy_n = !irdy && was.irdy_n;
                if bus.irdy_n {
                    bus.frame_n = false;
                }
                bus.cbe_n = random.below(16) as u8;
                if initiator.write {
                    bus.ad = random.bits() as u32;
                    // Seldom a reset, and a bus master that stays off.
                    bus.ad &= !0x8004;
                }
                initiator.phase = Phase::Data;
            }
        }
        // The chip's answer.
        bus.trdy_n = out.trdy != 0;
        bus.devsel_n = out.devsel != 0;
        bus.stop_n = out.stop != 0;
        if out.ad_oe != 0 {
            bus.ad = out.ad;
        }
        if initiator.random.one_in(200) {
            bus.par = !bus.par;
        }
        initiator.parity = even_parity(bus.ad, bus.cbe_n);
        silent = match initiator.phase {
            Phase::Data if bus.devsel_n => silent + 1,
            _ => 0,
        };
        if initiator.phase == Phase::Data && !bus.irdy_n {
            if !bus.trdy_n {
                words += 1;
            }
            disconnects += u32::from(!bus.stop_n && bus.trdy_n);
            let answered = !bus.trdy_n || !bus.stop_n;
            if answered && bus.frame_n {
                initiator.phase = Phase::Idle;
            } else if answered || silent >= 5 {
                // Stopped, or nobody answers: give up with the next word.
                initiator.more = 0;
                if bus.frame_n {
                    initiator.phase = Phase::Idle;
                }
            }
        }
        let pins = DdcIn::pci(&bus, idsel, true, 3);
        out = step(&mut chip, &pins);
    }
    println!("{words} words, {disconnects} clocks of STOP# without data");
    assert!(words > 1000 && disconnects > 500);
}

/// Symbols in no order, pulses, losses of the signal; the chip may write nowhere.
#[test]
fn noise_on_the_link() {
    let mut chip = chip::<DdcRtl>("ddc_noise");
    let mut random = Random::new(11);
    write(&mut chip, 0x48, 0x8000_1000);
    let mut signal = true;
    for _ in 0..cycles(60_000, 600_000) {
        if random.one_in(500) {
            signal = !signal;
        }
        let symbol = match random.below(8) {
            0 => Symbol::CONTROL[random.below(8) as usize].0,
            1 => Symbol::from_bits(random.bits() as u16 & 0x1FF),
            2 => Symbol::EP,
            _ => Symbol::data(random.bits() as u8),
        };
        let mut line = if signal {
            Line::symbol_of(symbol)
        } else {
            Line::DEAD
        };
        if signal && random.one_in(40) {
            line = line.with_fcc_pulse();
        }
        step(&mut chip, &DdcIn::link(line));
        if random.one_in(2) {
            step(&mut chip, &DdcIn::pci(&Signals::IDLE, false, true, 3));
        }
    }
    let status = chip.model.ddc.register(0x40);
    assert_eq!(
        status & 0x0090_0000,
        0x0090_0000,
        "EEP and EP errors: {status:x}"
    );
}

/// A configuration write by hand.
fn write<R: Resettable>(chip: &mut Chip<R>, offset: u8, value: u32) {
    let mut bus = Signals::IDLE;
    (bus.ad, bus.cbe_n, bus.frame_n) = (offset.into(), 0b1011, false);
    let mut parity = even_parity(bus.ad, bus.cbe_n);
    let mut out = step(chip, &DdcIn::pci(&bus, true, true, 3));
    for _ in 0..8 {
        let mut bus = Signals::IDLE;
        (bus.ad, bus.cbe_n, bus.irdy_n) = (value, 0, false);
        (bus.par, bus.trdy_n, bus.devsel_n) = (parity, out.trdy != 0, out.devsel != 0);
        parity = even_parity(bus.ad, bus.cbe_n);
        let moved = !bus.trdy_n;
        out = step(chip, &DdcIn::pci(&bus, false, true, 3));
        if moved {
            break;
        }
    }
    let mut bus = Signals::IDLE;
    bus.par = parity;
    step(chip, &DdcIn::pci(&bus, false, true, 3));
}

/// Half a header, and then nothing: INTA# after the timeout, and the rest of the
/// packet is still taken.
fn half_a_header<R: Resettable>(name: &'static str, timeout: u64) {
    let mut chip = chip::<R>(name);
    write(&mut chip, 0x48, 0x8000_1000);
    write(&mut chip, 0x44, 0x0008_0000);
    let symbols = [0, 1, 0, 0x11B, 7, 0, 0];
    for symbol in symbols {
        step(
            &mut chip,
            &DdcIn::link(Line::symbol_of(Symbol::from_bits(symbol))),
        );
        step(&mut chip, &DdcIn::link(Line::IDLE));
        step(&mut chip, &DdcIn::pci(&Signals::IDLE, false, true, 3));
    }
    let mut waited = 0;
    while step(&mut chip, &DdcIn::pci(&Signals::IDLE, false, true, 3)).inta_n != 0 {
        waited += 1;
        assert!(waited < timeout + 20, "no timeout");
    }
    assert!(waited + 20 > timeout, "after {waited} cycles");
    for _ in 0..2 * timeout.min(1000) {
        step(&mut chip, &DdcIn::link(Line::symbol_of(Symbol::EP)));
        step(&mut chip, &DdcIn::pci(&Signals::IDLE, false, true, 3));
    }
    assert_eq!(chip.model.ddc.register(0x40) & 0x00F8_0000, 0x0018_0000);
}

#[test]
fn a_packet_that_stops_times_out() {
    half_a_header::<DdcSmallRtl>("ddc_timeout_small", 300);
    half_a_header::<DdcRtl>("ddc_timeout", 1 << 20);
}

/// A packet without data that ends a message and is counted (NOR).
fn empty_packet(crc_disable: bool) -> Vec<Symbol> {
    let header = Header {
        routing_part: 1,
        control: Control::LMP.with(Control::NOR).with_mi(3),
        address: 0x100,
    };
    let tail = Tail {
        expected: 1,
        last: true,
        crc_disable,
        last_lane: 3,
    };
    let packet = PacketView::Long {
        header,
        data: &[],
        tail,
    };
    let mut words = [Word::default(); 8];
    let count = packet.emit(&mut words).unwrap();
    let words = words[..count].iter();
    words.flat_map(|word| word.symbols()).collect()
}

/// Each symbol of a packet, and its CRC with and without the flag that disables it,
/// replaced by each kind of symbol: told by STATUS and INTA#.
#[test]
fn each_symbol_of_a_packet_spoilt() {
    let good = empty_packet(false).len();
    let (mut completed, mut seen) = (0, 0);
    for disable in [false, true] {
        for at in 0..=good {
            for symbol in [0x000, 0x055, 0x0AA, 0x11B, 0x12B, 0x13B, 0x14B, 0x1FF] {
                let mut chip = chip::<DdcRtl>("ddc_spoilt");
                write(&mut chip, 0x48, 0x8000_1000);
                write(&mut chip, 0x44, 0x40FB_F000);
                let mut symbols = empty_packet(disable);
                if let Some(place) = symbols.get_mut(at) {
                    *place = Symbol::from_bits(symbol);
                }
                for symbol in symbols.into_iter().chain(empty_packet(false)) {
                    step(&mut chip, &DdcIn::link(Line::symbol_of(symbol)));
                    step(&mut chip, &DdcIn::pci(&Signals::IDLE, false, true, 3));
                }
                for _ in 0..20 {
                    step(&mut chip, &DdcIn::link(Line::IDLE));
                    step(&mut chip, &DdcIn::pci(&Signals::IDLE, false, true, 3));
                }
                let status = chip.model.ddc.register(0x40);
                let errors = status & 0x00F0_0000;
                completed += u32::from(errors == 0);
                seen |= errors;
            }
        }
    }
    println!("{completed} packets whole");
    // All that nothing replaced; with the CRC disabled its four symbols do not matter.
    assert!(completed >= 16 + 4 * 3);
    assert_eq!(seen, 0x00F0_0000, "EEP, both CRCs, EP");
}
