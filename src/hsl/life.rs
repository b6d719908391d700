//! The life of a port: start-up, exceptions, restart. What it means for credits
//! is left to [`Port`](super::Port) and [`PortBank`](super::PortBank).
//!
//! Document: hw/doc/hsl.md, "Start-up".

use super::symbol::{Line, Symbol};

/// Cycles between the two FCCs that open a link. On record (RCUBE, "Start-up").
const OPENING_SPACING: u16 = 8;

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
    /// that it starts over after an exception: 16. Chosen: longer than
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

/// The phase machine of one port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Life {
    pub(super) kind: PortKind,
    pub(super) phase: Phase,
    // Acknowledge: the other end's ACKNOWLEDGE has been seen.
    acknowledged: bool,
    // Cycles spent in the current phase.
    count: u16,
}

/// What an edge brought: an FCC, and something for the layer above.
pub(super) struct Brought {
    pub(super) granted: bool,
    pub(super) received: Received,
}

impl Brought {
    const NOTHING: Self = Self {
        granted: false,
        received: Received::Nothing,
    };
}

impl Life {
    pub(super) const fn new(kind: PortKind) -> Self {
        Self {
            kind,
            phase: Phase::Off,
            acknowledged: false,
            count: 0,
        }
    }

    pub(super) const fn enable(&mut self) {
        self.enter(match self.kind {
            PortKind::Serial => Phase::Reset,
            PortKind::Parallel => Phase::Listen,
        });
    }

    const fn enter(&mut self, phase: Phase) {
        *self = Self {
            phase,
            ..Self::new(self.kind)
        };
    }

    pub(super) const fn is_up(&self) -> bool {
        matches!(self.phase, Phase::Opening | Phase::Run)
    }

    /// A line without signal changes nothing: nobody is there, or nobody
    /// listens.
    pub(super) const fn is_deserted(&self) -> bool {
        match self.phase {
            Phase::Off => true,
            Phase::Listen => self.count == 0,
            _ => false,
        }
    }

    pub(super) const fn filler(&self) -> Line {
        match self.phase {
            Phase::Off | Phase::Reset | Phase::Calibrate => Line::DEAD,
            Phase::Request => Line::symbol_of(Symbol::REQUEST),
            Phase::Acknowledge => Line::symbol_of(Symbol::ACKNOWLEDGE),
            Phase::Listen | Phase::Opening | Phase::Run => Line::IDLE,
        }
    }

    /// An emission cycle of the opening; true when the second FCC is due next.
    pub(super) const fn opened(&mut self) -> bool {
        self.count += 1;
        let last = self.count >= OPENING_SPACING;
        if last {
            self.enter(Phase::Run);
        }
        last
    }

    // Another cycle in this phase; true when it was the last one needed.
    fn counted(&mut self, cycles: u16) -> bool {
        self.count = self.count.saturating_add(1);
        self.count >= cycles
    }

    fn open(&mut self) -> Brought {
        self.enter(Phase::Opening);
        Brought {
            granted: false,
            received: Received::Up,
        }
    }

    pub(super) fn restart(&mut self, cause: Down) -> Received {
        // A parallel port is silent for a while even when it was the other side
        // that vanished: that side may not have noticed, and both have to
        // forget their credits.
        self.enter(Phase::Reset);
        Received::Down(cause)
    }

    #[cold]
    #[inline(never)]
    pub(super) fn receive(&mut self, line: Line, config: &LinkConfig) -> Brought {
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
            Phase::Request => {
                let symbol = line.symbol();
                if symbol == Symbol::REQUEST || symbol == Symbol::ACKNOWLEDGE {
                    self.enter(Phase::Acknowledge);
                    self.acknowledged = symbol == Symbol::ACKNOWLEDGE;
                }
            }
            Phase::Acknowledge => {
                let symbol = line.symbol();
                self.acknowledged |= symbol == Symbol::ACKNOWLEDGE;
                let done = self.counted(config.acknowledges) && self.acknowledged;
                let brought = if done { self.open() } else { Brought::NOTHING };
                // An FCC: the other end is up already. It must not be lost.
                return Brought {
                    granted: symbol == Symbol::FCC,
                    ..brought
                };
            }
            Phase::Opening | Phase::Run => return self.receive_up(line),
        }
        Brought::NOTHING
    }

    fn receive_up(&mut self, line: Line) -> Brought {
        let symbol = line.symbol();
        let serial = self.kind == PortKind::Serial;
        if !line.has_signal() {
            return Brought {
                granted: false,
                received: self.restart(Down::NoSignal),
            };
        }
        if serial && symbol == Symbol::REQUEST {
            return Brought {
                granted: false,
                received: self.restart(Down::Restarted),
            };
        }
        let granted = if serial {
            symbol == Symbol::FCC
        } else {
            line.fcc_pulse()
        };
        let received = if symbol.is_link_level() {
            Received::Nothing
        } else {
            Received::Symbol(symbol)
        };
        Brought { granted, received }
    }

    /// As [`Port::idle_for`](super::Port::idle_for), FCCs aside.
    pub(super) fn idle_for(&self, line: Line, config: &LinkConfig) -> u64 {
        if !line.is_quiet() {
            return 0;
        }
        // The edge that completes the count changes the phase.
        let left = |cycles: u16| u64::from(cycles.saturating_sub(self.count).saturating_sub(1));
        match (self.phase, line.has_signal()) {
            (_, false) if self.is_deserted() => u64::MAX,
            (Phase::Off, _) => u64::MAX,
            (Phase::Reset, _) if self.kind == PortKind::Parallel => {
                left(config.parallel_restart_cycles)
            }
            (Phase::Reset, _) => left(config.reset_cycles),
            (Phase::Calibrate, _) => left(config.calibration_cycles),
            (Phase::Listen, true) if self.kind == PortKind::Serial => left(config.signal_cycles),
            (Phase::Run, true) => u64::MAX,
            _ => 0,
        }
    }

    /// Passes edges, at most `idle_for` of them, with this line held.
    pub(super) fn skip(&mut self, cycles: u64, line: Line) {
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
