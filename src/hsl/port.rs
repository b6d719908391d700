//! One end of a link: start-up, credits, FCC, exceptions.
//!
//! Document: hw/doc/hsl.md, "A port, edge by edge".

use super::credit::{Credit, Flit};
use super::life::{Brought, Down, Life, LinkConfig, Phase, PortKind, Received};
use super::symbol::{Line, Symbol};

// Every storable symbol without its own meaning to a port lies below this:
// data, EP, EEP, BP, ED. Above it are the link's own characters, the FCC pulse
// and the missing signal, which are looked at one by one.
pub(super) const PLAIN: u16 = 0x180;

/// What became of an emission cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Slot {
    /// The offered symbol was taken.
    Symbol,
    /// An FCC character took the cycle; the offered symbol waits.
    Fcc,
    /// A symbol is offered, but the other end has no room.
    NoCredit,
    /// Nothing offered.
    Idle,
    /// The port is not usable.
    Down,
}

/// One end of a link.
///
/// At each edge call [`transmit`](Self::transmit) first, then
/// [`freed`](Self::freed) if a character left the reception FIFO, then
/// [`receive`](Self::receive): each then sees what was registered before the
/// edge, as in hardware.
///
/// ```
/// use multipc::hsl::{LinkConfig, Line, Port, PortKind, Received, Slot, Symbol};
///
/// let config = LinkConfig::default();
/// let (mut a, mut b) = (Port::new(PortKind::Parallel), Port::new(PortKind::Parallel));
/// a.enable();
/// b.enable();
/// let mut got = None;
/// let (mut to_a, mut to_b) = (Line::DEAD, Line::DEAD);
/// for _ in 0..8 {
///     // Both send from what they know, then both look at their inputs.
///     let (from_a, slot) = a.transmit(Some(Symbol::data(0x5A)));
///     let (from_b, _) = b.transmit(None);
///     a.receive(to_a, &config);
///     if let Received::Symbol(symbol) = b.receive(to_b, &config) {
///         got = Some(symbol);
///     }
///     (to_a, to_b) = (from_b, from_a);
/// }
/// assert_eq!(got, Some(Symbol::data(0x5A)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Port {
    life: Life,
    credit: Credit,
    flit: Flit,
    // An FCC is owed. One flag is enough: flits are at least 32 cycles apart
    // and an FCC goes out in the next cycle.
    fcc_due: bool,
}

impl Port {
    /// A port of this kind, disabled.
    pub const fn new(kind: PortKind) -> Self {
        Self {
            life: Life::new(kind),
            credit: Credit::NONE,
            flit: Flit::EMPTY,
            fcc_due: false,
        }
    }

    /// Starts (again): a serial port from its reset, a parallel one ready for
    /// the other side's signal.
    pub const fn enable(&mut self) {
        *self = Self::new(self.life.kind);
        self.life.enable();
    }

    /// Goes silent and forgets everything.
    pub const fn disable(&mut self) {
        *self = Self::new(self.life.kind);
    }

    /// How it is wired.
    pub const fn kind(&self) -> PortKind {
        self.life.kind
    }

    /// Where it is in its life.
    pub const fn phase(&self) -> Phase {
        self.life.phase
    }

    /// The link is usable.
    #[doc(alias = "linkstatus")]
    pub const fn is_up(&self) -> bool {
        self.life.is_up()
    }

    /// Emission credit, in characters.
    pub const fn credit(&self) -> Credit {
        self.credit
    }

    /// What the port sends while it has nothing to send.
    pub const fn filler(&self) -> Line {
        self.life.filler()
    }

    /// What goes out at this edge, and what became of the offered symbol: FCC
    /// before data, EP and EEP, before IDLE.
    pub fn transmit(&mut self, offered: Option<Symbol>) -> (Line, Slot) {
        if !self.is_up() {
            return (self.filler(), Slot::Down);
        }
        let fcc = core::mem::take(&mut self.fcc_due);
        if self.life.phase == Phase::Opening {
            self.fcc_due = self.life.opened();
        }
        if fcc && self.kind() == PortKind::Serial {
            return (Line::symbol_of(Symbol::FCC), Slot::Fcc);
        }
        let (line, slot) = match offered {
            Some(symbol) if self.credit.spend() => (Line::symbol_of(symbol), Slot::Symbol),
            Some(_) => (Line::IDLE, Slot::NoCredit),
            None => (Line::IDLE, Slot::Idle),
        };
        (if fcc { line.with_fcc_pulse() } else { line }, slot)
    }

    /// A character left the reception FIFO. Each 32nd makes an FCC due, which
    /// goes out at the next edge.
    pub fn freed(&mut self) {
        if self.flit.free() {
            self.fcc_due = true;
        }
    }

    /// Takes in what came out of the deserialiser (or off the parallel pins).
    pub fn receive(&mut self, line: Line, config: &LinkConfig) -> Received {
        if self.is_up() && line.bits() < PLAIN {
            return Received::Symbol(line.symbol());
        }
        let Brought {
            granted,
            mut received,
        } = self.life.receive(line, config);
        if granted && self.credit.grant(config.credit_limit).is_err() {
            received = self.life.restart(Down::Credit);
        }
        match received {
            Received::Up => self.fcc_due = true,
            Received::Down(_) => {
                *self = Self {
                    life: self.life,
                    ..Self::new(self.kind())
                }
            }
            Received::Nothing | Received::Symbol(_) => {}
        }
        if self.phase() == Phase::Listen {
            // The handshake broke off; what it may have granted is void.
            self.credit = Credit::NONE;
        }
        received
    }

    /// Edges at which, with this quiet line held and nothing offered, the port
    /// would do no more than count: 0 when the next edge may change more,
    /// `u64::MAX` when it can go on for ever.
    pub fn idle_for(&self, line: Line, config: &LinkConfig) -> u64 {
        if self.fcc_due {
            0
        } else {
            self.life.idle_for(line, config)
        }
    }

    /// Passes `cycles` edges, at most [`idle_for`](Self::idle_for) of them,
    /// with this line held.
    pub fn skip(&mut self, cycles: u64, line: Line) {
        self.life.skip(cycles, line);
    }
}

#[cfg(test)]
mod tests;
