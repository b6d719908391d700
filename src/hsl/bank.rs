//! The ports of a router: the same as eight [`Port`](super::Port)s, side by side
//! in machine words, so that an edge costs what it costs once and not eight
//! times.

use super::PortKind;
use super::credit::{Credit, FLIT};
use super::life::{Brought, Down, Life, LinkConfig, Phase, Received};
use super::port::PLAIN;
use super::symbol::Line;
use super::word::{LOW, Set, broadcast, byte, nonzero, ones, only_byte, without};

/// Ports in a bank.
const PORTS: usize = 8;

/// What each port of a bank does with an emission cycle, as sets of ports (bit
/// `k` = port `k`). A port in none of them sends its
/// [`filler`](PortBank::fillers).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Emission {
    /// The offered symbol was taken.
    pub symbols: u8,
    /// An FCC character takes the cycle.
    pub fcc: u8,
    /// An FCC pulse goes beside the symbol or the filler.
    pub pulses: u8,
}

/// Eight ports, of either kind. Order of the calls at an edge: as for
/// [`Port`](super::Port).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PortBank {
    lives: [Life; PORTS],
    // What each port sends when it has nothing to send; changes with its phase.
    fillers: [Line; PORTS],
    // A byte a port: emission credit; characters freed of the current flit.
    credits: u64,
    flits: u64,
    // FCCs owed.
    due: u8,
    up: u8,
    // Of these, the ones whose second FCC is still to come.
    opening: u8,
    serial: u8,
    // On these, no signal means nothing new.
    deserted: u8,
}

impl PortBank {
    /// Ports of these kinds, disabled.
    pub fn new(kinds: [PortKind; PORTS]) -> Self {
        let mut serial = 0;
        for (k, kind) in kinds.into_iter().enumerate() {
            serial |= u8::from(kind == PortKind::Serial) << k;
        }
        Self {
            lives: kinds.map(Life::new),
            fillers: [Line::DEAD; PORTS],
            credits: 0,
            flits: 0,
            due: 0,
            up: 0,
            opening: 0,
            serial,
            deserted: u8::MAX,
        }
    }

    /// Starts all ports (again).
    pub fn enable(&mut self) {
        self.disable();
        self.lives.iter_mut().for_each(Life::enable);
        self.fillers = self.lives.map(|life| life.filler());
        self.note_deserted();
    }

    fn note_deserted(&mut self) {
        self.deserted = 0;
        for (k, life) in self.lives.iter().enumerate() {
            self.deserted |= u8::from(life.is_deserted()) << k;
        }
    }

    /// All ports go silent and forget everything.
    pub fn disable(&mut self) {
        *self = Self::new(self.lives.map(|life| life.kind));
    }

    /// The usable links.
    #[doc(alias = "linkstatus")]
    #[inline]
    pub const fn up(&self) -> u8 {
        self.up
    }

    /// The ports that are serial.
    pub const fn serial(&self) -> u8 {
        self.serial
    }

    /// The usable links with emission credit.
    #[inline]
    pub const fn payable(&self) -> u8 {
        nonzero(self.credits) & self.up
    }

    /// Emission credit of port `k` (modulo 8), in characters.
    pub const fn credit(&self, k: usize) -> u8 {
        byte(self.credits, k)
    }

    /// Where port `k` (modulo 8) is in its life.
    pub const fn phase(&self, k: usize) -> Phase {
        self.lives[k & (PORTS - 1)].phase
    }

    /// What each port sends while it has nothing to send.
    #[inline]
    pub const fn fillers(&self) -> &[Line; PORTS] {
        &self.fillers
    }

    /// What goes out at this edge, when the ports of `offered` have a symbol:
    /// FCC before symbol before filler.
    #[inline]
    pub fn transmit(&mut self, offered: u8) -> Emission {
        let due = core::mem::take(&mut self.due);
        if self.opening != 0 {
            self.opening_edge();
        }
        let fcc = due & self.serial;
        let symbols = offered & self.payable() & !fcc;
        self.credits -= ones(symbols);
        Emission {
            symbols,
            fcc,
            pulses: due & !fcc,
        }
    }

    #[cold]
    #[inline(never)]
    fn opening_edge(&mut self) {
        for k in Set(self.opening) {
            if self.lives[k].opened() {
                self.due |= 1 << k;
                self.opening &= !(1 << k);
            }
        }
    }

    /// A character left the reception FIFO of each port of `set`.
    #[inline]
    pub fn freed(&mut self, set: u8) {
        self.flits += ones(set);
        let full = self.flits & broadcast(FLIT);
        if full != 0 {
            self.flits -= full;
            self.due |= nonzero(full);
        }
    }

    /// The ports, of those that are up, on which this line is a symbol to store
    /// and nothing else.
    #[inline]
    pub const fn is_plain(line: Line) -> bool {
        line.bits() < PLAIN
    }

    /// The ports at whose other end nobody is, these being the lines: there is
    /// nothing to receive.
    #[inline]
    pub fn deserted(&self, lines: &[Line; PORTS]) -> u8 {
        let mut dead = 0;
        for (k, line) in lines.iter().enumerate() {
            dead |= u8::from(*line == Line::DEAD) << k;
        }
        dead & self.deserted
    }

    /// Takes in what came to port `k` (modulo 8).
    #[inline]
    pub fn receive(&mut self, k: usize, line: Line, config: &LinkConfig) -> Received {
        let k = k & (PORTS - 1);
        if self.up >> k & 1 == 1 {
            if Self::is_plain(line) {
                return Received::Symbol(line.symbol());
            }
            if line == Line::IDLE {
                return Received::Nothing;
            }
        } else if line == Line::DEAD && self.deserted >> k & 1 == 1 {
            return Received::Nothing;
        }
        self.receive_rare(k, line, config)
    }

    #[cold]
    #[inline(never)]
    fn receive_rare(&mut self, k: usize, line: Line, config: &LinkConfig) -> Received {
        let bit = 1 << k;
        let Brought {
            granted,
            mut received,
        } = self.lives[k].receive(line, config);
        if granted {
            let mut credit = Credit::of(self.credit(k));
            match credit.grant(config.credit_limit) {
                Ok(()) => self.credits = without(self.credits, bit) | only_byte(k, credit.get()),
                Err(_) => received = self.lives[k].restart(Down::Credit),
            }
        }
        match received {
            Received::Up => {
                debug!("link {} up", k);
                self.up |= bit;
                self.opening |= bit;
                self.due |= bit;
            }
            Received::Down(why) => {
                debug!("link {} down: {:?}", k, why);
                self.credits = without(self.credits, bit);
                self.flits = without(self.flits, bit);
                self.up &= !bit;
                self.opening &= !bit;
                self.due &= !bit;
            }
            Received::Nothing | Received::Symbol(_) => {}
        }
        if self.lives[k].phase == Phase::Listen {
            // The handshake broke off; what it may have granted is void.
            self.credits = without(self.credits, bit);
        }
        self.fillers[k] = self.lives[k].filler();
        self.deserted = self.deserted & !bit | u8::from(self.lives[k].is_deserted()) << k;
        received
    }

    /// As [`Port::idle_for`](super::Port::idle_for), the least of all ports.
    pub fn idle_for(&self, lines: &[Line; PORTS], config: &LinkConfig) -> u64 {
        if self.due != 0 {
            return 0;
        }
        let ports = self.lives.iter().zip(lines);
        ports
            .map(|(life, line)| life.idle_for(*line, config))
            .min()
            .unwrap_or(u64::MAX)
    }

    /// Passes `cycles` edges, at most [`idle_for`](Self::idle_for) of them,
    /// with these lines held.
    pub fn skip(&mut self, cycles: u64, lines: &[Line; PORTS]) {
        for (life, line) in self.lives.iter_mut().zip(lines) {
            life.skip(cycles, *line);
        }
        self.note_deserted();
    }
}

// The flit counter wraps at a power of two that a byte can hold.
const _: () = assert!(FLIT.is_power_of_two() && broadcast(FLIT) == LOW * 32);

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::hsl::{Port, Slot, Symbol};
    use proptest::prelude::*;
    use std::vec::Vec;

    #[derive(Clone, Debug)]
    struct Edge {
        offered: u8,
        freed: u8,
        lines: [u16; PORTS],
        noise: bool,
    }

    fn edges() -> impl Strategy<Value = Vec<Edge>> {
        let edge = (
            any::<u8>(),
            any::<u8>(),
            any::<[u16; PORTS]>(),
            prop::bool::weighted(0.02),
        )
            .prop_map(|(offered, freed, lines, noise)| Edge {
                offered,
                freed,
                lines,
                noise,
            });
        prop::collection::vec(edge, 1..300)
    }

    // Lines that lead somewhere: mostly what a live peer would send.
    fn line(bits: u16, noise: bool) -> Line {
        let usual = [
            Symbol::IDLE,
            Symbol::FCC,
            Symbol::ACKNOWLEDGE,
            Symbol::EP,
            Symbol::data(3),
        ];
        if noise {
            Line::from_bits(bits)
        } else {
            Line::symbol_of(usual[usize::from(bits) % usual.len()])
        }
    }

    proptest! {
        #[test]
        fn a_bank_is_eight_ports(serial: u8, edges in edges(), limit in prop_oneof![Just(64u8), Just(224)]) {
            let mut config = LinkConfig::default();
            (config.reset_cycles, config.calibration_cycles, config.signal_cycles) = (2, 1, 3);
            config.credit_limit = limit;
            let kinds = core::array::from_fn(|k| {
                if serial >> k & 1 == 1 { PortKind::Serial } else { PortKind::Parallel }
            });
            let mut bank = PortBank::new(kinds);
            let mut ports = kinds.map(Port::new);
            bank.enable();
            ports.iter_mut().for_each(Port::enable);
            for edge in edges {
                let fillers = *bank.fillers();
                let emission = bank.transmit(edge.offered);
                let freed = edge.freed & bank.up();
                bank.freed(freed);
                for (k, port) in ports.iter_mut().enumerate() {
                    let in_set = |set: u8| set >> k & 1 == 1;
                    let offered = Symbol::data(k as u8);
                    let (sent, slot) = port.transmit(in_set(edge.offered).then_some(offered));
                    if in_set(freed) {
                        port.freed();
                    }
                    prop_assert_eq!(in_set(emission.symbols), slot == Slot::Symbol);
                    prop_assert_eq!(in_set(emission.fcc), slot == Slot::Fcc);
                    let mut expected = if in_set(emission.symbols) { Line::symbol_of(offered) } else { fillers[k] };
                    if in_set(emission.fcc) {
                        expected = Line::symbol_of(Symbol::FCC);
                    }
                    if in_set(emission.pulses) {
                        expected = expected.with_fcc_pulse();
                    }
                    prop_assert_eq!(sent, expected);
                    let line = line(edge.lines[k], edge.noise);
                    prop_assert_eq!(bank.receive(k, line, &config), port.receive(line, &config));
                    prop_assert_eq!(bank.credit(k), port.credit().get());
                    prop_assert_eq!(bank.phase(k), port.phase());
                    prop_assert_eq!(bank.up() >> k & 1 == 1, port.is_up());
                }
                for line in [Line::IDLE, Line::DEAD] {
                    let least = ports.iter().map(|port| port.idle_for(line, &config)).min().unwrap();
                    prop_assert_eq!(bank.idle_for(&[line; PORTS], &config), least);
                }
            }
        }
    }
}
