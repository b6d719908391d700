//! One end of a link: start-up, credits, FCC, exceptions.
//!
//! Document: hw/doc/hsl.md, "A port, edge by edge".

use super::credit::{Credit, Flit};
use super::symbol::{Line, Symbol};

/// Cycles between the two FCCs that open a link. On record (RCUBE, "Start-up").
const OPENING_SPACING: u16 = 8;

// Every storable symbol without its own meaning to a port lies below this:
// data, EP, EEP, BP, ED. Above it are the link's own characters, the FCC pulse
// and the missing signal, which are looked at one by one.
const PLAIN: u16 = 0x180;

/// How a port is wired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PortKind {
    /// HS link through serialiser, cable, deserialiser: FCC is a character.
    #[default]
    Serial,
    /// Nine wires and strobes on one board: FCC is a pulse beside the data.
    Parallel,
}

/// The counts of start-up and the limits of a port.
///
/// A count of 0 acts as 1: each phase takes an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct LinkConfig {
    /// Cycles in reset, output without signal: 4096. On record (RCUBE,
    /// "Start-up").
    pub reset_cycles: u16,
    /// Cycles of calibration of the serialiser, output without signal: 4096.
    /// On record.
    pub calibration_cycles: u16,
    /// Cycles of the other end's signal before the deserialiser is calibrated:
    /// 3000. On record as the least number.
    pub signal_cycles: u16,
    /// ACKNOWLEDGEs sent at least: 8. Chosen: a few are enough for the other
    /// end to see one; the length of the handshake is not on record.
    pub acknowledges: u16,
    /// Highest credit: 64 characters. Chosen: the two flits granted at
    /// start-up are all that RCUBE's input FIFO holds, so more is an error.
    pub credit_limit: u8,
    /// Cycles without signal by which a parallel port tells the other side
    /// that it starts over after a credit error: 16. Chosen: longer than
    /// anything that is under way between the two.
    pub parallel_restart_cycles: u16,
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            reset_cycles: 4096,
            calibration_cycles: 4096,
            signal_cycles: 3000,
            acknowledges: 8,
            credit_limit: 64,
            parallel_restart_cycles: 16,
        }
    }
}

/// Where a port is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Phase {
    /// Disabled: no signal out, nothing taken in.
    #[default]
    Off,
    /// Held in reset: no signal out.
    Reset,
    /// The serialiser calibrates: no signal out.
    Calibrate,
    /// IDLE out; waits for the other end's signal (and, on a serial port, for
    /// the deserialiser to calibrate on it).
    Listen,
    /// REQUEST out until the other end requests or acknowledges.
    Request,
    /// ACKNOWLEDGE out until the other end acknowledges too.
    Acknowledge,
    /// Usable; the second FCC of the opening is still to come.
    Opening,
    /// Usable.
    Run,
}

/// Why a port went down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Down {
    /// The other end's signal vanished.
    NoSignal,
    /// The other end asks for a start-up: it has been reset.
    Restarted,
    /// The other end granted more credit than allowed.
    Credit,
}

/// What an edge brought in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Received {
    /// Nothing for the layer above.
    Nothing,
    /// A character to store (data, EP, EEP, or a control character that the
    /// link passes).
    Symbol(Symbol),
    /// The port is usable from now on.
    Up,
    /// The port is not usable any more and starts over: credit is gone, what
    /// was stored or on its way is lost.
    Down(Down),
}

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
    kind: PortKind,
    phase: Phase,
    credit: Credit,
    flit: Flit,
    // An FCC is owed. One flag is enough: flits are at least 32 cycles apart
    // and an FCC goes out in the next cycle.
    fcc_due: bool,
    // Acknowledge: the other end's ACKNOWLEDGE has been seen.
    acknowledged: bool,
    // Cycles spent in the current phase.
    count: u16,
}

impl Port {
    /// A port of this kind, disabled.
    pub const fn new(kind: PortKind) -> Self {
        Self {
            kind,
            phase: Phase::Off,
            credit: Credit::NONE,
            flit: Flit::EMPTY,
            fcc_due: false,
            acknowledged: false,
            count: 0,
        }
    }

    /// Starts (again): a serial port from its reset, a parallel one ready for
    /// the other side's signal.
    pub const fn enable(&mut self) {
        let phase = match self.kind {
            PortKind::Serial => Phase::Reset,
            PortKind::Parallel => Phase::Listen,
        };
        *self = Self {
            phase,
            ..Self::new(self.kind)
        };
    }

    /// Goes silent and forgets everything.
    pub const fn disable(&mut self) {
        *self = Self::new(self.kind);
    }

    /// How it is wired.
    pub const fn kind(&self) -> PortKind {
        self.kind
    }

    /// Where it is in its life.
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// The link is usable.
    #[doc(alias = "linkstatus")]
    pub const fn is_up(&self) -> bool {
        matches!(self.phase, Phase::Opening | Phase::Run)
    }

    /// Emission credit, in characters.
    pub const fn credit(&self) -> Credit {
        self.credit
    }

    /// What the port sends while it has nothing to send.
    pub const fn filler(&self) -> Line {
        match self.phase {
            Phase::Off | Phase::Reset | Phase::Calibrate => Line::DEAD,
            Phase::Request => Line::symbol_of(Symbol::REQUEST),
            Phase::Acknowledge => Line::symbol_of(Symbol::ACKNOWLEDGE),
            Phase::Listen | Phase::Opening | Phase::Run => Line::IDLE,
        }
    }

    /// What goes out at this edge, and what became of the offered symbol: FCC
    /// before data, EP and EEP, before IDLE.
    #[inline]
    pub fn transmit(&mut self, offered: Option<Symbol>) -> (Line, Slot) {
        if self.phase == Phase::Run {
            self.transmit_up(offered)
        } else {
            self.transmit_rare(offered)
        }
    }

    #[inline]
    fn transmit_up(&mut self, offered: Option<Symbol>) -> (Line, Slot) {
        let mut pulse = false;
        if self.fcc_due {
            self.fcc_due = false;
            if self.kind == PortKind::Serial {
                return (Line::symbol_of(Symbol::FCC), Slot::Fcc);
            }
            pulse = true;
        }
        let (line, slot) = match offered {
            Some(symbol) if self.credit.spend() => (Line::symbol_of(symbol), Slot::Symbol),
            Some(_) => (Line::IDLE, Slot::NoCredit),
            None => (Line::IDLE, Slot::Idle),
        };
        (if pulse { line.with_fcc_pulse() } else { line }, slot)
    }

    #[cold]
    #[inline(never)]
    fn transmit_rare(&mut self, offered: Option<Symbol>) -> (Line, Slot) {
        if self.phase != Phase::Opening {
            return (self.filler(), Slot::Down);
        }
        let sent = self.transmit_up(offered);
        self.count += 1;
        if self.count >= OPENING_SPACING {
            self.count = 0;
            self.phase = Phase::Run;
            self.fcc_due = true;
        }
        sent
    }

    /// A character left the reception FIFO. Each 32nd makes an FCC due, which
    /// goes out at the next edge.
    #[inline]
    pub fn freed(&mut self) {
        if self.flit.free() {
            self.fcc_due = true;
        }
    }

    /// Takes in what came out of the deserialiser (or off the parallel pins).
    #[inline]
    pub fn receive(&mut self, line: Line, config: &LinkConfig) -> Received {
        if self.phase == Phase::Run && line.bits() < PLAIN {
            Received::Symbol(line.symbol())
        } else if self.phase == Phase::Run && line == Line::IDLE {
            Received::Nothing
        } else {
            self.receive_rare(line, config)
        }
    }

    #[cold]
    #[inline(never)]
    fn receive_rare(&mut self, line: Line, config: &LinkConfig) -> Received {
        let signal = line.has_signal();
        let serial = self.kind == PortKind::Serial;
        match self.phase {
            Phase::Off => {}
            Phase::Reset => {
                let cycles = if serial {
                    config.reset_cycles
                } else {
                    config.parallel_restart_cycles
                };
                if self.counted(cycles) {
                    self.enter(if serial {
                        Phase::Calibrate
                    } else {
                        Phase::Listen
                    });
                }
            }
            Phase::Calibrate => {
                if self.counted(config.calibration_cycles) {
                    self.enter(Phase::Listen);
                }
            }
            Phase::Listen if !signal => self.count = 0,
            Phase::Listen if serial => {
                if self.counted(config.signal_cycles) {
                    self.enter(Phase::Request);
                }
            }
            Phase::Listen => return self.open(),
            // The deserialiser has to calibrate again.
            Phase::Request | Phase::Acknowledge if !signal => self.enter(Phase::Listen),
            Phase::Request => match line.symbol() {
                Symbol::REQUEST => self.enter(Phase::Acknowledge),
                Symbol::ACKNOWLEDGE => {
                    self.enter(Phase::Acknowledge);
                    self.acknowledged = true;
                }
                _ => {}
            },
            Phase::Acknowledge => {
                match line.symbol() {
                    Symbol::ACKNOWLEDGE => self.acknowledged = true,
                    // The other end is up already; its first FCC must not be lost.
                    Symbol::FCC => {
                        if self.credit.grant(config.credit_limit).is_err() {
                            return self.restart(Down::Credit);
                        }
                    }
                    _ => {}
                }
                if self.counted(config.acknowledges) && self.acknowledged {
                    return self.open();
                }
            }
            Phase::Opening | Phase::Run => return self.receive_up(line, config),
        }
        Received::Nothing
    }

    fn receive_up(&mut self, line: Line, config: &LinkConfig) -> Received {
        if !line.has_signal() {
            return self.restart(Down::NoSignal);
        }
        let symbol = line.symbol();
        let (granted, requested) = match self.kind {
            PortKind::Serial => (symbol == Symbol::FCC, symbol == Symbol::REQUEST),
            PortKind::Parallel => (line.fcc_pulse(), false),
        };
        if requested {
            return self.restart(Down::Restarted);
        }
        if granted && self.credit.grant(config.credit_limit).is_err() {
            return self.restart(Down::Credit);
        }
        if symbol.is_link_level() {
            Received::Nothing
        } else {
            Received::Symbol(symbol)
        }
    }

    // Another cycle in this phase; true when it was the last one needed.
    fn counted(&mut self, cycles: u16) -> bool {
        self.count = self.count.saturating_add(1);
        self.count >= cycles
    }

    fn enter(&mut self, phase: Phase) {
        *self = Self {
            phase,
            ..Self::new(self.kind)
        };
    }

    fn open(&mut self) -> Received {
        // Credit granted during the handshake stays.
        *self = Self {
            phase: Phase::Opening,
            credit: self.credit,
            fcc_due: true,
            ..Self::new(self.kind)
        };
        Received::Up
    }

    fn restart(&mut self, cause: Down) -> Received {
        self.enter(match (self.kind, cause) {
            // It is the other side that vanished: wait for it.
            (PortKind::Parallel, Down::NoSignal) => Phase::Listen,
            _ => Phase::Reset,
        });
        Received::Down(cause)
    }

    /// Edges at which, with this quiet line held and nothing offered, the port
    /// would do no more than count: 0 when the next edge may change more,
    /// `u64::MAX` when it can go on for ever.
    pub fn idle_for(&self, line: Line, config: &LinkConfig) -> u64 {
        if !line.is_quiet() {
            return 0;
        }
        // The edge that completes the count changes the phase.
        let left = |cycles: u16| u64::from(cycles.saturating_sub(self.count).saturating_sub(1));
        match (self.phase, line.has_signal()) {
            (Phase::Off, _) => u64::MAX,
            (Phase::Reset, _) if self.kind == PortKind::Parallel => {
                left(config.parallel_restart_cycles)
            }
            (Phase::Reset, _) => left(config.reset_cycles),
            (Phase::Calibrate, _) => left(config.calibration_cycles),
            (Phase::Listen, false) if self.count == 0 => u64::MAX,
            (Phase::Listen, true) if self.kind == PortKind::Serial => left(config.signal_cycles),
            (Phase::Run, true) if !self.fcc_due => u64::MAX,
            _ => 0,
        }
    }

    /// Passes `cycles` edges, at most [`idle_for`](Self::idle_for) of them,
    /// with this line held.
    pub fn skip(&mut self, cycles: u64, line: Line) {
        let counts = match self.phase {
            Phase::Reset | Phase::Calibrate => true,
            Phase::Listen => line.has_signal(),
            _ => false,
        };
        if counts {
            let cycles = u16::try_from(cycles).unwrap_or(u16::MAX);
            self.count = self.count.saturating_add(cycles);
        }
    }
}

#[cfg(test)]
mod tests;
