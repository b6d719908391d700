//! Start and stop of the board.

use embedded_hal::delay::DelayNs;

use super::config::PutConfig;
use super::driver::{Hardware, NodeSet, Phase, Put, Settings};
use super::error::{InitError, PortError, PortErrorOf, READ_TRIES};
use super::event::Fault;
use super::ring::SendRing;
use super::sap::SapTable;
use crate::ddc::registers::{
    Command, Identification, Interrupt, LatencyHeader, LmiBase, LmiCurrent, LmiMax, LmiNew,
    LpeBase, LpeCurrent, LpeMax, LpeNew, LrmBase, PciCommandStatus, R3Dout, Status, StatusMask,
};

/// Bus Master and SERR enable.
pub(crate) const PCI_START: u32 = 0x0000_0104;
/// Bus Master.
pub(crate) const BUS_MASTER: u32 = PciCommandStatus::from_bits(0).with_bus_master(1).bits();
/// SOFT_RESET of COMMAND.
pub(crate) const SOFT_RESET: u32 = Command::from_bits(0).with_soft_reset(1).bits();
/// Error events of STATUS.
pub(crate) const ERRORS: u32 = 0x00FF_F000;
/// Bits of STATUS that a write of 1 clears or counts down.
pub(crate) const EVENTS: u32 = 0xFFFF_F000;

/// Enable bits of COMMAND, added one by one: transmit, router, receive.
const ENABLES: [u32; 3] = [0x4000, 0x6000, 0x7000];
/// Soft resets of one start; one is not reliable.
const PASSES: u8 = 4;
/// Zeroes written to the tables at a time.
const ZEROES: [u8; 64] = [0; 64];

/// How a start went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Started {
    /// Nodes are reached by HSL: a routing table was loaded and the chip
    /// reported no error.
    pub hsl: bool,
    /// STATUS at the end of the sequence.
    pub status: u32,
}

pub(crate) fn read<H: Hardware + ?Sized>(hw: &mut H, offset: u8) -> Result<u32, PortErrorOf<H>> {
    for _ in 0..READ_TRIES {
        match hw.read(offset) {
            Ok(u32::MAX) => {}
            Ok(value) => return Ok(value),
            Err(error) => return Err(PortError::Register { offset, error }),
        }
    }
    Err(PortError::NoAnswer { offset })
}

pub(crate) fn write<H: Hardware + ?Sized>(
    hw: &mut H,
    offset: u8,
    value: u32,
) -> Result<(), PortErrorOf<H>> {
    hw.write(offset, value)
        .map_err(|error| PortError::Register { offset, error })
}

pub(crate) fn store<H: Hardware + ?Sized>(
    hw: &mut H,
    address: u32,
    bytes: &[u8],
) -> Result<(), PortErrorOf<H>> {
    hw.store(address, bytes)
        .map_err(|error| PortError::Memory { address, error })
}

pub(crate) fn load<H: Hardware + ?Sized>(
    hw: &mut H,
    address: u32,
    bytes: &mut [u8],
) -> Result<(), PortErrorOf<H>> {
    hw.load(address, bytes)
        .map_err(|error| PortError::Memory { address, error })
}

impl Put {
    /// Starts the board, waits the configured time, and opens it for posting.
    ///
    /// # Errors
    /// [`InitError`], with the offending value; the driver stays closed.
    #[doc(alias = "put_init")]
    pub fn init<H: Hardware + DelayNs + ?Sized>(
        &mut self,
        hw: &mut H,
        config: &PutConfig<'_>,
    ) -> Result<Started, InitError<PortErrorOf<H>>> {
        let started = self.begin(hw, config)?;
        hw.delay_us(config.settle_us);
        self.settled(hw)?;
        Ok(started)
    }

    /// Starts the board. The driver is then [`Phase::Starting`]: interrupts
    /// are flushed and nothing can be posted until [`settled`](Self::settled),
    /// which the caller calls [`settle_us`](PutConfig::settle_us) later.
    ///
    /// The sequence of register accesses is in hw/doc/put.md, section "Start".
    ///
    /// # Errors
    /// [`InitError`], with the offending value; the driver stays closed.
    pub fn begin<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        config: &PutConfig<'_>,
    ) -> Result<Started, InitError<PortErrorOf<H>>> {
        if self.is_open() {
            return Err(InitError::AlreadyOpen);
        }
        self.layout = config.check()?;
        if !config.capabilities.config_reads && hw.inta().is_none() {
            return Err(InitError::NoInterruptLine);
        }
        self.settings = Settings::from(config);
        self.ring = SendRing::new(config.entries);
        self.report = 0;
        self.report_written = 0;
        self.credit = [0; 2];
        self.retired = 0;
        self.rearm = false;
        self.presumed = false;
        self.hsl = NodeSet::ZERO;
        self.saps = SapTable::default();

        if let Some(expected) = config.identity {
            let found = identity(hw)?;
            if found != expected {
                return Err(InitError::NoBoard { found, expected });
            }
        }
        self.clear_tables(hw, config)?;
        for pass in 1..=PASSES {
            let table = config.table.filter(|_| pass == PASSES);
            self.reset_pass(hw, table)?;
        }
        write(hw, StatusMask::OFFSET, self.settings.mask())?;
        write(hw, PciCommandStatus::OFFSET, PCI_START)?;
        let status = read(hw, Status::OFFSET)?;
        let hsl = config.table.is_some() && status & ERRORS == 0;
        if hsl {
            for node in 0..config.nodes {
                self.set_on_hsl(node, true);
            }
        }
        self.phase = Phase::Starting;
        info!("put: node {} started, hsl {}", config.node, hsl);
        Ok(Started { hsl, status })
    }

    /// Ends the settling time. Does nothing in other phases.
    ///
    /// # Errors
    /// The port's; call again.
    pub fn settled<H: Hardware + ?Sized>(&mut self, hw: &mut H) -> Result<(), PortErrorOf<H>> {
        if self.phase == Phase::Starting {
            self.flush_start(hw)?;
            self.phase = Phase::Running;
        }
        Ok(())
    }

    /// Acknowledges whatever raises INTA# while the board settles: errors are
    /// forgotten; one arrival is taken off the counter and remembered, so that
    /// its report is delivered, and not acknowledged twice, once the board runs.
    pub(crate) fn flush_start<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
    ) -> Result<(), PortErrorOf<H>> {
        if !self.settings.capabilities.config_reads {
            // Whatever it is; arrivals keep their count and are met later.
            write(hw, Status::OFFSET, ERRORS)?;
            return write(hw, PciCommandStatus::OFFSET, PCI_START);
        }
        let status = read(hw, Status::OFFSET)?;
        let single = status & 0xC0FF_F000;
        if single != 0 {
            write(hw, Status::OFFSET, single)?;
            if status & 1 << 30 != 0
                && let Some(credit) = self.credit.last_mut()
            {
                *credit = credit.saturating_add(1);
            }
            if status & ERRORS != 0 {
                // An error event has taken Bus Master away.
                write(hw, PciCommandStatus::OFFSET, PCI_START)?;
            }
        }
        Ok(())
    }

    /// Closes the driver: every node is off HSL, SAPs and identifiers are
    /// gone. The chip is not touched, as in the record; after a fault it was
    /// reset already.
    #[doc(alias = "put_end")]
    pub fn end(&mut self) -> bool {
        let was_open = self.is_open();
        self.phase = Phase::Closed;
        self.hsl = NodeSet::ZERO;
        self.saps = SapTable::default();
        was_open
    }

    /// Stops the chip at once: Bus Master off, then a soft reset, since the
    /// first alone is sometimes not enough. The driver is
    /// [`Phase::Stopped`] even when the port fails.
    ///
    /// # Errors
    /// The port's.
    pub fn emergency_stop<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        fault: Fault,
    ) -> Result<(), PortErrorOf<H>> {
        if !self.is_open() {
            return Ok(());
        }
        self.phase = Phase::Stopped(fault);
        self.rearm = false;
        warning!("put: node {} stopped", self.settings.node);
        // A dead register read must not keep the reset from being written.
        let command = read(hw, PciCommandStatus::OFFSET).unwrap_or(PCI_START);
        let off = write(hw, PciCommandStatus::OFFSET, command & 0xFFFF & !BUS_MASTER);
        for _ in 0..self.settings.capabilities.resets_to_stop.max(1) {
            write(hw, Command::OFFSET, SOFT_RESET)?;
        }
        off
    }

    fn clear_tables<H: Hardware + ?Sized>(
        &self,
        hw: &mut H,
        config: &PutConfig<'_>,
    ) -> Result<(), PortErrorOf<H>> {
        let mut address = config.base;
        let mut left = config.table_bytes();
        while left > 0 {
            let n = left.min(ZEROES.len() as u64);
            store(hw, address, ZEROES.get(..n as usize).unwrap_or(&ZEROES))?;
            address = address.wrapping_add(n as u32);
            left -= n;
        }
        Ok(())
    }

    fn reset_pass<H: Hardware + ?Sized>(
        &self,
        hw: &mut H,
        table: Option<&[u8]>,
    ) -> Result<(), PortErrorOf<H>> {
        let layout = &self.layout;
        let last = layout.entries().saturating_sub(1);
        // The reset loses these two.
        let line = read(hw, Interrupt::OFFSET)?;
        let latency = read(hw, LatencyHeader::OFFSET)?;
        write(hw, Command::OFFSET, SOFT_RESET)?;
        let sequence = [
            (Interrupt::OFFSET, line),
            (LatencyHeader::OFFSET, latency),
            (LatencyHeader::OFFSET, latency | 0xFF00),
            (StatusMask::OFFSET, 0),
            (LpeMax::OFFSET, layout.lme(last)),
            (LpeCurrent::OFFSET, layout.lme(0)),
            (LpeNew::OFFSET, layout.lme(0)),
            (LpeBase::OFFSET, layout.lme(0)),
            (LmiMax::OFFSET, layout.lmr(last)),
            (LmiNew::OFFSET, layout.lmr(0)),
            (LmiCurrent::OFFSET, layout.lmr(0)),
            (LmiBase::OFFSET, layout.lmr(0)),
            (LrmBase::OFFSET, layout.counter(0)),
        ];
        for (offset, value) in sequence {
            write(hw, offset, value)?;
        }
        for byte in table.unwrap_or(&[]).iter().rev() {
            write(hw, R3Dout::OFFSET, u32::from(*byte))?;
        }
        let command = self
            .settings
            .capabilities
            .command(self.settings.count_packets);
        write(hw, Command::OFFSET, command)?;
        for enables in ENABLES {
            write(hw, Command::OFFSET, command | enables)?;
        }
        Ok(())
    }
}

/// Register 00h; all ones is an answer here, of a bus without the board.
fn identity<H: Hardware + ?Sized>(hw: &mut H) -> Result<u32, PortErrorOf<H>> {
    match read(hw, Identification::OFFSET) {
        Err(PortError::NoAnswer { .. }) => Ok(u32::MAX),
        answer => answer,
    }
}
