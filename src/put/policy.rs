//! What the driver does about errors: one table, and the state it moves.
//!
//! ```text
//!            Clear, Rearm, Flush, Resend            end, start
//!          +-----------------------------+    +--------------------+
//!          v                             |    v                    |
//!       RUNNING --- event, Reaction -----+  RUNNING             STOPPED
//!          |  \                                                    ^
//!          |   +-- RearmEmptied --> EMPTYING -- reports taken: ----|--> RUNNING
//!          |                                    Bus Master again   |
//!          +------ Halt: Bus Master off, soft reset ---------------+
//! ```
//!
//! The table is [`Policy::reaction`]; hw/doc/recovery.md prints it. STOPPED is
//! [`Phase::Stopped`](super::Phase::Stopped), EMPTYING is left inside the same call.

use super::driver::{Hardware, Put};
use super::error::{PortErrorOf, READ_TRIES};
use super::event::{Event, Fault};
use super::ring;
use super::start::{BUS_MASTER, ERRORS, PCI_START, load, read, write};
use crate::ddc::lme::Control;
use crate::ddc::lmr::Report;
use crate::ddc::registers::{LmiNew, PciCommandStatus, Status};

/// PCI status bits that are errors: 30:27 and 24.
pub(crate) const PCI_ERRORS: u32 = 0x7900_0000;
/// STATUS events after which every policy goes on: counter overflows, LMI full.
pub(crate) const SURVIVED: u32 = 0x0003_D000;
const PAGE_TRANSMITTED: u32 = 1 << 31;
const PAGE_RECEIVED: u32 = 1 << 30;

/// Whose error handling the driver follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Policy {
    /// The driver of the record for the first run: whatever it is, clear all
    /// and go on.
    Run1,
    /// The driver of the record for the second run: stop on what lost data,
    /// except where link-error recovery repairs it.
    Run2,
    /// Ours: as the second run without recovery; with it, every error of a
    /// packet is repaired by resending, and only the bus stops the board.
    #[default]
    Ideal,
}

/// An error event: a bit of STATUS, or any of the PCI status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Cause {
    /// A packet was cut by an exceptional end.
    Eep,
    /// The CRC of a packet's header.
    CrcHeader,
    /// The CRC of a packet's data.
    CrcData,
    /// An end of packet in the wrong place.
    Ep,
    /// A packet did not go on for too long.
    Timeout,
    /// A link that was watched went down.
    R3Status,
    /// The counter of sent pages is full.
    TransmittedOverflow,
    /// The counter of received messages is full.
    ReceivedOverflow,
    /// More than 65,535 packets in a message, at the sender.
    SentPackets,
    /// The same at the receiver.
    ReceivedPackets,
    /// A packet counter that makes no sense.
    IllegalLrm,
    /// No room for a report.
    LmiOverflow,
    /// Aborts, system error, data parity.
    Pci,
}

impl Cause {
    /// Every cause, with its bit of STATUS; 0 for the PCI status.
    pub const ALL: [(Self, u32); 13] = [
        (Self::Eep, 1 << 23),
        (Self::CrcHeader, 1 << 22),
        (Self::CrcData, 1 << 21),
        (Self::Ep, 1 << 20),
        (Self::Timeout, 1 << 19),
        (Self::R3Status, 1 << 18),
        (Self::TransmittedOverflow, 1 << 17),
        (Self::ReceivedOverflow, 1 << 16),
        (Self::SentPackets, 1 << 15),
        (Self::ReceivedPackets, 1 << 14),
        (Self::IllegalLrm, 1 << 13),
        (Self::LmiOverflow, 1 << 12),
        (Self::Pci, 0),
    ];
}

/// What to do, from the mildest to the hardest: of several causes in one look
/// the hardest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Reaction {
    /// Clear the bit.
    Clear,
    /// Clear the bit, set Bus Master again.
    Rearm,
    /// Clear the bit, take the reports, then set Bus Master again: a full ring
    /// would take it away at once.
    RearmEmptied,
    /// Clear the bit, set Bus Master again, and have lost messages sent again.
    Resend,
    /// Clear the PCI status, set Bus Master again, write all ones to STATUS.
    Flush,
    /// Bus Master off, soft reset: nothing goes on until the next start.
    #[doc(alias = "should_halt")]
    Halt,
}

impl Policy {
    /// The table: what an event leads to, `recovery` telling whether a layer
    /// above sends lost messages again.
    pub const fn reaction(self, cause: Cause, recovery: bool) -> Reaction {
        use Cause as C;
        match (self, cause) {
            (Self::Run1, C::LmiOverflow) => Reaction::RearmEmptied,
            (Self::Run1, _) => Reaction::Flush,
            (
                _,
                C::TransmittedOverflow | C::ReceivedOverflow | C::SentPackets | C::ReceivedPackets,
            ) => Reaction::Rearm,
            (_, C::LmiOverflow) => Reaction::RearmEmptied,
            (Self::Run2, C::Eep | C::Ep) if recovery => Reaction::Resend,
            (Self::Run2, C::Timeout) if recovery => Reaction::Clear,
            (Self::Ideal, C::Eep | C::Ep | C::CrcHeader | C::CrcData | C::Timeout) if recovery => {
                Reaction::Resend
            }
            _ => Reaction::Halt,
        }
    }

    /// The hardest reaction of all events of one look.
    pub fn judge(self, status: u32, pci: u32, recovery: bool) -> Option<Reaction> {
        Cause::ALL
            .iter()
            .filter(|(cause, bit)| {
                status & bit != 0 || *cause == Cause::Pci && pci & PCI_ERRORS != 0
            })
            .map(|(cause, _)| self.reaction(*cause, recovery))
            .max()
    }

    /// Looks at STATUS and 04h before an interrupt counts as without cause: the
    /// second run's driver reads again, since a cause can show late.
    pub const fn looks(self) -> u8 {
        match self {
            Self::Run1 => 1,
            Self::Run2 | Self::Ideal => READ_TRIES,
        }
    }

    /// Whether a count that nothing explains stops the board (the first run's
    /// driver does not look).
    pub const fn stops_loops(self) -> bool {
        !matches!(self, Self::Run1)
    }
}

impl Put {
    /// Treats the error bits of STATUS and 04h, which are not all 0.
    pub(crate) fn judge<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        seen: u32,
        command: u32,
        sink: &mut dyn FnMut(Event),
    ) -> Result<(), PortErrorOf<H>> {
        let status = seen & ERRORS;
        let pci = command & PCI_ERRORS;
        let fault = Fault::Reported { status, pci };
        let (policy, recovery) = (self.settings.policy, self.settings.recovery);
        // Write-one-to-clear bits and the command share the register.
        let command = command & 0xFFFF & !BUS_MASTER;
        match policy.judge(status, pci, recovery) {
            None => return Ok(()),
            Some(Reaction::Halt) => {
                let cleared = write(hw, Status::OFFSET, status);
                let cleared_pci = write(hw, PciCommandStatus::OFFSET, pci | command);
                self.stop(hw, fault, sink)?;
                return cleared.and(cleared_pci);
            }
            Some(Reaction::Flush) => {
                self.remember_counts(hw, seen)?;
                write(hw, PciCommandStatus::OFFSET, pci | PCI_START)?;
                write(hw, Status::OFFSET, u32::MAX)?;
            }
            Some(Reaction::Clear) => write(hw, Status::OFFSET, self.clearing(status))?,
            Some(Reaction::Rearm | Reaction::RearmEmptied | Reaction::Resend) => {
                write(hw, Status::OFFSET, self.clearing(status))?;
                // Set after the reports were taken.
                self.rearm = true;
            }
        }
        self.tell(fault, false, sink);
        Ok(())
    }

    /// What clears these error bits on this silicon.
    const fn clearing(&self, status: u32) -> u32 {
        const LMI_OVERFLOW: u32 = 1 << 12;
        if status & LMI_OVERFLOW != 0 {
            status & !LMI_OVERFLOW | self.settings.capabilities.lmi_overflow_clear()
        } else {
            status
        }
    }

    /// A write of all ones takes the counts along: what they stood for is
    /// remembered as acknowledged, or its entries would wait for ever.
    fn remember_counts<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        status: u32,
    ) -> Result<(), PortErrorOf<H>> {
        let mut reports = 0;
        if status & PAGE_RECEIVED != 0
            && let Some(new) = self.layout.lmr_index(read(hw, LmiNew::OFFSET)?)
        {
            let mut at = self.report;
            while at != new {
                let mut bytes = [0; Report::WIRE_LEN];
                load(hw, self.layout.lmr(at), &mut bytes)?;
                reports += u16::from(Report::parse(&bytes).control.has(Control::NOR));
                at = ring::after(at, self.layout.entries());
            }
        }
        let [pages, messages] = &mut self.credit;
        // One page at a time is all that the first run's driver has outstanding.
        *pages = pages.saturating_add(u16::from(status & PAGE_TRANSMITTED != 0));
        *messages = (*messages).max(reports);
        Ok(())
    }

    /// Tells the fault and stops the board.
    pub(crate) fn stop<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        fault: Fault,
        sink: &mut dyn FnMut(Event),
    ) -> Result<(), PortErrorOf<H>> {
        let stopped = self.emergency_stop(hw, fault);
        self.tell(fault, true, sink);
        stopped
    }

    /// Sets Bus Master again where an error that the board survives cleared it.
    pub(crate) fn set_bus_master<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
    ) -> Result<(), PortErrorOf<H>> {
        if self.rearm {
            write(hw, PciCommandStatus::OFFSET, PCI_START)?;
            self.rearm = false;
        }
        Ok(())
    }

    fn tell(&mut self, fault: Fault, stopped: bool, sink: &mut dyn FnMut(Event)) {
        self.stats.faults = self.stats.faults.saturating_add(1);
        warning!("put: node {}: {}", self.settings.node, fault);
        sink(Event::Error { fault, stopped });
    }
}
