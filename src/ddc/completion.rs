//! What follows a good packet: packet counters, report, notification.
//!
//! The counters of the last standard message are kept in a cache of one entry;
//! composed messages go past it, because software writes their entries.

use super::dma::Beat;
use super::errata::Erratum;
use super::lme::{Control, Ring};
use super::lmr::{Counted, PacketCounter, Report};
use super::master::Transaction;
use super::packet::Tail;
use super::regfile::RegisterFile;
use super::status::Event;

/// The cache: the counter of one message, and what its memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cached {
    mi: u32,
    counter: PacketCounter,
    memory: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Idle,
    /// The cached counter goes back to memory.
    WriteBack,
    /// The counter of this message comes from memory.
    Read,
    /// The new value of the counter goes to memory; then the report, if complete.
    Write { value: u32, complete: bool },
    /// The message is complete: look at the ring.
    Check,
    /// The ring is full.
    Full {
        /// Bus Master was seen off since.
        stopped: bool,
    },
    /// The report goes to memory.
    Report,
    /// Count it.
    Notify,
}

/// Whether the receive block may take the next packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Busy,
    Done,
}

/// The registers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Completion {
    state: State,
    control: Control,
    tail: Tail,
    data: [u32; 2],
    packet_number: u16,
    cache: Option<Cached>,
    report: [u32; 4],
    sent: u8,
}

impl Completion {
    /// A good packet came in.
    pub(super) fn packet(
        &mut self,
        control: Control,
        tail: Tail,
        data: [u32; 2],
        regs: &mut RegisterFile,
    ) {
        self.control = control;
        self.tail = tail;
        self.data = data;
        let enabled = regs.command.lrm_enable() == 1 && control.has(Control::LRM);
        let composed = control.has(Control::CM);
        let short = control.is_short();
        if enabled && composed {
            // The cache must not hide the entry.
            self.state = match self.cache {
                Some(cached)
                    if cached.mi == control.mi() && cached.counter.emit() != cached.memory =>
                {
                    State::WriteBack
                }
                _ => State::Read,
            };
            if let Some(cached) = self.cache
                && cached.mi == control.mi()
                && self.state == State::Read
            {
                self.cache = None;
            }
        } else if enabled && !short {
            match self.cache {
                Some(cached) if cached.mi == control.mi() => {
                    self.count(cached.counter, cached.memory, regs);
                }
                Some(cached) if cached.counter.emit() != cached.memory => {
                    self.state = State::WriteBack;
                }
                _ => self.state = State::Read,
            }
        } else if tail.last {
            self.packet_number = tail.expected;
            self.state = State::Check;
        } else {
            self.state = State::Idle;
        }
    }

    /// Counts the packet; `memory` is what the entry in memory holds.
    fn count(&mut self, counter: PacketCounter, memory: u32, regs: &mut RegisterFile) {
        let composed = self.control.has(Control::CM);
        let mut counter = counter;
        let mut carried = (!composed && self.tail.last).then_some(self.tail.expected);
        if regs.quirks.has(Erratum::BrokenCounters) {
            // The expected number is lost, whoever says it.
            counter.expected = 0;
            carried = None;
        }
        let (next, verdict) = counter.count(carried);
        match verdict {
            Counted::Overflow => regs.status.raise(Event::ReceivedPacketOverflow),
            Counted::Illegal => regs.status.raise(Event::IllegalLrmAccess),
            Counted::Partial | Counted::Complete => {}
        }
        let complete = verdict == Counted::Complete;
        self.packet_number = next.received;
        let value = if complete { 0 } else { next.emit() };
        self.state = if composed {
            State::Write { value, complete }
        } else if complete {
            self.cache = None;
            if memory == 0 {
                State::Check
            } else {
                State::Write { value, complete }
            }
        } else {
            self.cache = Some(Cached {
                mi: self.control.mi(),
                counter: next,
                memory,
            });
            State::Idle
        };
    }

    /// One PCI edge.
    pub(super) fn step(&mut self, regs: &mut RegisterFile) -> Step {
        match self.state {
            State::Idle => return Step::Done,
            State::Check => {
                regs.message = self.control.bits();
                if self.control.has(Control::LMI) {
                    self.look_for_room(regs);
                } else {
                    self.state = State::Notify;
                }
            }
            State::Full { stopped } => {
                let enabled = regs.dma_enabled();
                if !Self::is_full(regs) || (stopped && enabled) {
                    self.look_for_room(regs);
                } else {
                    self.state = State::Full {
                        stopped: stopped || !enabled,
                    };
                }
            }
            State::Notify => {
                if self.control.has(Control::NOR) {
                    regs.status.count_received();
                }
                self.state = State::Idle;
                return Step::Done;
            }
            State::WriteBack | State::Read | State::Write { .. } | State::Report => {}
        }
        Step::Busy
    }

    const fn ring(regs: &RegisterFile) -> Ring {
        Ring {
            base: regs.lmi_base,
            max: regs.lmi_max,
        }
    }

    const fn is_full(regs: &RegisterFile) -> bool {
        Self::ring(regs).next(regs.lmi_new) == regs.lmi_current
    }

    fn look_for_room(&mut self, regs: &mut RegisterFile) {
        if Self::is_full(regs) {
            regs.status.raise(Event::LmiOverflow);
            self.state = State::Full { stopped: false };
            return;
        }
        let report = Report {
            packet_number: self.packet_number,
            r3_status: regs.status.r3_status,
            reserved: 0,
            control: self.control,
            data: self.data,
        };
        trace!(
            "report: message {:#08x}, {} packets",
            report.control.mi(),
            report.packet_number
        );
        self.report = report.words();
        self.sent = 0;
        self.state = State::Report;
    }

    /// The transfer wanted.
    pub(super) const fn wants(&self) -> Option<Transaction> {
        match self.state {
            State::WriteBack | State::Write { .. } => Some(Transaction::CounterWrite),
            State::Read => Some(Transaction::CounterRead),
            State::Report => Some(Transaction::ReportWrite),
            State::Idle | State::Check | State::Full { .. } | State::Notify => None,
        }
    }

    /// Address of the next word of `kind`.
    pub(super) const fn address(&self, kind: Transaction, regs: &RegisterFile) -> u32 {
        match kind {
            Transaction::ReportWrite => (regs.lmi_new & !3).wrapping_add(4 * self.sent as u32),
            _ => {
                let mi = match (self.state, &self.cache) {
                    (State::WriteBack, Some(cached)) => cached.mi,
                    _ => self.control.mi(),
                };
                (regs.lrm_base & !3).wrapping_add(4 * mi)
            }
        }
    }

    /// The next word of `kind`.
    pub(super) fn beat(&self, kind: Transaction) -> Beat {
        let (data, last) = match kind {
            Transaction::ReportWrite => (
                self.report.get(self.sent as usize).copied().or(Some(0)),
                self.sent >= 3,
            ),
            Transaction::CounterWrite => {
                let value = match (self.state, self.cache) {
                    (State::WriteBack, Some(cached)) => cached.counter.emit(),
                    (State::Write { value, .. }, _) => value,
                    _ => 0,
                };
                (Some(value), true)
            }
            _ => (None, true),
        };
        Beat {
            data,
            enables: 0xF,
            last,
        }
    }

    /// The word of `kind` has moved.
    pub(super) fn moved(&mut self, kind: Transaction, ad: u32, regs: &mut RegisterFile) {
        match (kind, self.state) {
            (Transaction::CounterWrite, State::WriteBack) => {
                self.cache = None;
                self.state = State::Read;
            }
            (Transaction::CounterRead, State::Read) => {
                self.count(PacketCounter::parse(ad), ad, regs);
            }
            (Transaction::CounterWrite, State::Write { complete, .. }) => {
                self.state = if complete { State::Check } else { State::Idle };
            }
            (Transaction::ReportWrite, State::Report) => {
                self.sent += 1;
                if self.sent >= 4 {
                    regs.lmi_new = Self::ring(regs).next(regs.lmi_new);
                    self.state = State::Notify;
                }
            }
            _ => {}
        }
    }

    /// Further edges change nothing.
    pub(super) fn is_idle(&self, regs: &RegisterFile) -> bool {
        match self.state {
            State::Full { stopped } => {
                Self::is_full(regs)
                    && (stopped || regs.dma_enabled())
                    && !(stopped && regs.dma_enabled())
            }
            State::WriteBack | State::Read | State::Write { .. } | State::Report => {
                !regs.dma_enabled()
            }
            State::Idle | State::Check | State::Notify => false,
        }
    }
}
