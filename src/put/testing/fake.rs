//! A controller at register level: rings, counters, bytes; no clocks, no wire.

mod chip;

use core::fmt;

use embedded_hal::delay::DelayNs;
use heapless::Vec;

use crate::ddc::lme::Descriptor;
use crate::ddc::lmr::Report;
use crate::ddc::registers::{
    Command, Identification, Interrupt, LatencyHeader, LmiCurrent, LmiNew, PciCommandStatus,
    R3Dout, Status, StatusMask,
};
use crate::mem::{OutOfMemory, Ram};
use crate::put::{DmaMemory, RegisterPort};

/// Why the fake refused an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum FakeError {
    /// No such register.
    Offset {
        /// The offset.
        offset: u8,
    },
    /// No such memory.
    Memory(OutOfMemory),
    /// The failure that was asked for.
    Injected,
}

impl fmt::Display for FakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Offset { offset } => write!(f, "no register at {offset:#04x}"),
            Self::Memory(error) => error.fmt(f),
            Self::Injected => f.write_str("failure injected by the test"),
        }
    }
}

impl core::error::Error for FakeError {}

/// One register write, as recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Access {
    /// The register.
    pub offset: u8,
    /// The value.
    pub value: u32,
}

/// How the fake differs from the ideal chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Quirks {
    /// Writes to LMI_CURRENT and LMI_NEW reach each other.
    pub lmi_writes_swapped: bool,
    /// LMI_OF_ERROR is cleared by bit 13.
    pub lmi_overflow_clears_by_13: bool,
    /// This many reads answer all ones before one is right.
    pub dead_reads: u8,
    /// Steps the chip makes at each register access, sending to itself.
    pub steps_per_access: u8,
    /// The access after this many fails, once.
    pub fail_after: Option<u32>,
}

/// A page on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fetched {
    descriptor: Descriptor,
    packets: u16,
}

/// A register-level PCI-DDC with its memory.
///
/// A page takes two steps, as in the chip: in the first the descriptor is read
/// and LPE_CURRENT moves, in the second the bytes leave and are counted.
#[derive(Debug)]
pub struct FakeController<'a> {
    ram: Ram<'a>,
    registers: [u32; 32],
    transmitted: u16,
    received: u16,
    errors: u32,
    fetched: Option<Fetched>,
    packets: u16,
    held: Option<Report>,
    reads: u8,
    writes: Vec<Access, 1024>,
    chain: u32,
    waited_ns: u64,
    /// How it differs from the ideal chip.
    pub quirks: Quirks,
}

const BUS_MASTER: u32 = 1 << 2;
const SOFT_RESET: u32 = 1 << 15;
const LMI_OVERFLOW: u32 = 1 << 12;
const R3_HEALTHY: u32 = 0x03;

// The memory is too long to print.
#[cfg(feature = "defmt")]
impl defmt::Format for FakeController<'_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "FakeController {{ registers: {=[?]} }}", self.registers);
    }
}

const fn slot(offset: u8) -> usize {
    (offset as usize >> 2) & 31
}

impl<'a> FakeController<'a> {
    /// A controller after power-up, on `ram`.
    pub fn new(ram: Ram<'a>) -> Self {
        let mut registers = [0; 32];
        registers[slot(LatencyHeader::OFFSET)] = 0x2000;
        registers[slot(Interrupt::OFFSET)] = 0x010B;
        Self {
            ram,
            registers,
            transmitted: 0,
            received: 0,
            errors: 0,
            fetched: None,
            packets: 0,
            held: None,
            reads: 0,
            writes: Vec::new(),
            chain: 0,
            waited_ns: 0,
            quirks: Quirks::default(),
        }
    }

    /// The memory.
    pub const fn ram(&self) -> &Ram<'a> {
        &self.ram
    }

    /// The memory.
    pub const fn ram_mut(&mut self) -> &mut Ram<'a> {
        &mut self.ram
    }

    /// Register writes since the last call of [`forget_writes`](Self::forget_writes)
    /// (the first 1024).
    pub fn writes(&self) -> &[Access] {
        &self.writes
    }

    /// Starts a new record of writes.
    pub fn forget_writes(&mut self) {
        self.writes.clear();
    }

    /// Bytes written to the router's configuration chain since the last reset.
    pub const fn chain_bytes(&self) -> u32 {
        self.chain
    }

    /// Time the driver has waited.
    pub const fn waited_ns(&self) -> u64 {
        self.waited_ns
    }

    /// Pages and messages counted and not yet acknowledged.
    pub const fn counters(&self) -> [u16; 2] {
        [self.transmitted, self.received]
    }

    /// INTA#, true while asserted.
    pub fn inta(&self) -> bool {
        self.status() & self.registers[slot(StatusMask::OFFSET)] & 0xFFFF_F000 != 0
    }

    /// Raises error bits of STATUS; enabled ones take Bus Master away.
    pub fn raise(&mut self, errors: u32) {
        self.errors |= errors & 0x00FF_F000;
        if errors & self.registers[slot(StatusMask::OFFSET)] & 0x00FB_F000 != 0 {
            self.registers[slot(PciCommandStatus::OFFSET)] &= !BUS_MASTER;
        }
    }

    /// Raises bits of the PCI status in register 04h.
    pub fn raise_pci(&mut self, bits: u32) {
        self.registers[slot(PciCommandStatus::OFFSET)] |= bits & 0xF900_0000;
        self.registers[slot(PciCommandStatus::OFFSET)] &= !BUS_MASTER;
    }

    /// Overwrites a register behind the driver's back.
    pub fn poke(&mut self, offset: u8, value: u32) {
        self.registers[slot(offset)] = value;
    }

    /// A register as it stands, without the side effects of a read.
    pub fn peek(&self, offset: u8) -> u32 {
        match offset {
            Status::OFFSET => self.status(),
            _ => self.registers[slot(offset)],
        }
    }

    /// Counts pages and messages that never were.
    pub const fn miscount(&mut self, transmitted: u16, received: u16) {
        self.transmitted = self.transmitted.saturating_add(transmitted);
        self.received = self.received.saturating_add(received);
    }

    /// One step, sending to itself; false when there was nothing to do.
    pub fn step(&mut self) -> bool {
        self.settle_report() | self.advance(None)
    }

    /// One step, sending to `peer`; false when there was nothing to do.
    pub fn step_to(&mut self, peer: &mut FakeController<'_>) -> bool {
        self.settle_report() | peer.settle_report() | self.advance(Some(peer))
    }

    /// Steps, sending to itself, until there is nothing to do; at most `limit`.
    pub fn run(&mut self, limit: u32) {
        for _ in 0..limit {
            if !self.step() {
                break;
            }
        }
    }

    fn status(&self) -> u32 {
        let mut status = self.errors | R3_HEALTHY;
        let sides = [
            (self.transmitted, [31, 27, 28, 29]),
            (self.received, [30, 24, 25, 26]),
        ];
        for (count, bits) in sides {
            for (bit, threshold) in bits.into_iter().zip([1, 16, 256, 4096]) {
                status |= u32::from(count >= threshold) << bit;
            }
        }
        status
    }

    fn write_status(&mut self, value: u32) {
        let mut clear = value & 0x00FF_F000;
        if self.quirks.lmi_overflow_clears_by_13 {
            clear = clear & !LMI_OVERFLOW | (clear & 1 << 13) >> 1;
        }
        self.errors &= !clear;
        let take = |bits: [u32; 4]| {
            let weights = [1u16, 16, 256, 4096];
            bits.iter()
                .zip(weights)
                .map(|(bit, w)| (value >> bit & 1) as u16 * w)
                .sum::<u16>()
        };
        self.transmitted = self.transmitted.saturating_sub(take([31, 27, 28, 29]));
        self.received = self.received.saturating_sub(take([30, 24, 25, 26]));
    }

    fn soft_reset(&mut self) {
        for (index, register) in self.registers.iter_mut().enumerate() {
            if index != slot(Identification::OFFSET) {
                *register = 0;
            }
        }
        self.transmitted = 0;
        self.received = 0;
        self.errors = 0;
        self.fetched = None;
        self.packets = 0;
        self.held = None;
        self.chain = 0;
    }

    fn access(&mut self, offset: u8) -> Result<(), FakeError> {
        match &mut self.quirks.fail_after {
            Some(0) => {
                self.quirks.fail_after = None;
                return Err(FakeError::Injected);
            }
            Some(left) => *left -= 1,
            None => {}
        }
        if !offset.is_multiple_of(4) || offset > R3Dout::OFFSET {
            return Err(FakeError::Offset { offset });
        }
        for _ in 0..self.quirks.steps_per_access {
            self.step();
        }
        Ok(())
    }
}

impl RegisterPort for FakeController<'_> {
    type Error = FakeError;

    fn read(&mut self, offset: u8) -> Result<u32, FakeError> {
        self.access(offset)?;
        if self.reads < self.quirks.dead_reads {
            self.reads += 1;
            return Ok(u32::MAX);
        }
        self.reads = 0;
        Ok(match offset {
            Status::OFFSET => self.status(),
            R3Dout::OFFSET => 0,
            _ => self.registers[slot(offset)],
        })
    }

    fn write(&mut self, offset: u8, value: u32) -> Result<(), FakeError> {
        self.access(offset)?;
        let _ = self.writes.push(Access { offset, value });
        let swapped = self.quirks.lmi_writes_swapped;
        match offset {
            Identification::OFFSET => {}
            PciCommandStatus::OFFSET => {
                let register = &mut self.registers[slot(offset)];
                *register = *register & 0xFFFF_0000 & !(value & 0xF900_0000) | value & 0xFFFF;
            }
            Status::OFFSET => self.write_status(value),
            Command::OFFSET if value & SOFT_RESET != 0 => self.soft_reset(),
            LmiCurrent::OFFSET if swapped => self.registers[slot(LmiNew::OFFSET)] = value,
            LmiNew::OFFSET if swapped => self.registers[slot(LmiCurrent::OFFSET)] = value,
            R3Dout::OFFSET => self.chain += 1,
            _ => self.registers[slot(offset)] = value,
        }
        Ok(())
    }
}

impl DmaMemory for FakeController<'_> {
    type Error = FakeError;

    fn load(&mut self, addr: u32, bytes: &mut [u8]) -> Result<(), FakeError> {
        self.fetch_bytes(addr, bytes).map_err(FakeError::Memory)
    }

    fn store(&mut self, addr: u32, bytes: &[u8]) -> Result<(), FakeError> {
        let memory = self
            .ram
            .slice_mut(addr, bytes.len())
            .map_err(FakeError::Memory)?;
        memory.copy_from_slice(bytes);
        Ok(())
    }
}

impl DelayNs for FakeController<'_> {
    fn delay_ns(&mut self, ns: u32) {
        self.waited_ns += u64::from(ns);
    }
}
