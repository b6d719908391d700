//! A controller at register level: rings, counters, bytes; no clocks, no wire.

use core::fmt;

use embedded_hal::delay::DelayNs;
use heapless::Vec;

use crate::mem::{OutOfMemory, Ram};
use crate::put::layout::ENTRY;
use crate::put::wire::{self, Control, Descriptor, Report};
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
const TX_INIT: u32 = 1 << 14;
const RX_INIT: u32 = 1 << 12;
const SOFT_RESET: u32 = 1 << 15;
const LRM_ENABLE: u32 = 1 << 9;
const MASTER_ABORT: u32 = 1 << 29;
const LMI_OVERFLOW: u32 = 1 << 12;
const R3_HEALTHY: u32 = 0x03;
const PACKET: u32 = 532;

const fn slot(offset: u8) -> usize {
    (offset as usize >> 2) & 31
}

impl<'a> FakeController<'a> {
    /// A controller after power-up, on `ram`.
    pub fn new(ram: Ram<'a>) -> Self {
        let mut registers = [0; 32];
        registers[slot(wire::LATENCY)] = 0x2000;
        registers[slot(wire::INTERRUPT_LINE)] = 0x010B;
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
        self.status() & self.registers[slot(wire::STATUS_MASK)] & 0xFFFF_F000 != 0
    }

    /// Raises error bits of STATUS; enabled ones take Bus Master away.
    pub fn raise(&mut self, errors: u32) {
        self.errors |= errors & 0x00FF_F000;
        if errors & self.registers[slot(wire::STATUS_MASK)] & 0x00FB_F000 != 0 {
            self.registers[slot(wire::PCI_COMMAND)] &= !BUS_MASTER;
        }
    }

    /// Raises bits of the PCI status in register 04h.
    pub fn raise_pci(&mut self, bits: u32) {
        self.registers[slot(wire::PCI_COMMAND)] |= bits & 0xF900_0000;
        self.registers[slot(wire::PCI_COMMAND)] &= !BUS_MASTER;
    }

    /// Overwrites a register behind the driver's back.
    pub fn poke(&mut self, offset: u8, value: u32) {
        self.registers[slot(offset)] = value;
    }

    /// A register as it stands, without the side effects of a read.
    pub fn peek(&self, offset: u8) -> u32 {
        match offset {
            wire::STATUS => self.status(),
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

    fn enabled(&self, block: u32) -> bool {
        self.registers[slot(wire::PCI_COMMAND)] & BUS_MASTER != 0
            && self.registers[slot(wire::COMMAND)] & block != 0
    }

    fn next(&self, address: u32, max: u8, base: u8) -> u32 {
        if address == self.registers[slot(max)] {
            self.registers[slot(base)]
        } else {
            address.wrapping_add(ENTRY)
        }
    }

    fn advance(&mut self, peer: Option<&mut FakeController<'_>>) -> bool {
        if !self.enabled(TX_INIT) {
            return false;
        }
        let Some(page) = self.fetched else {
            return self.fetch();
        };
        let ready =
            |receiver: &FakeController<'_>| receiver.enabled(RX_INIT) && receiver.held.is_none();
        let sent = match peer {
            Some(peer) if ready(peer) => {
                self.deliver(&page, |address, bytes| peer.take(address, bytes)) && {
                    peer.complete(&page);
                    true
                }
            }
            None if ready(self) => {
                // The same memory at both ends: copied by way of a buffer.
                let moved = self.loop_back(&page);
                if moved {
                    self.complete(&page);
                }
                moved
            }
            _ => return false,
        };
        self.fetched = None;
        if sent && page.descriptor.control.has(Control::NOS) {
            self.transmitted = self.transmitted.saturating_add(1);
        }
        true
    }

    fn fetch(&mut self) -> bool {
        let current = self.registers[slot(wire::LPE_CURRENT)];
        if current == self.registers[slot(wire::LPE_NEW)] {
            return false;
        }
        let mut bytes = [0; Descriptor::WIRE_LEN];
        if self.fetch_bytes(current, &mut bytes).is_err() {
            self.raise_pci(MASTER_ABORT);
            return true;
        }
        let descriptor = Descriptor::parse(&bytes);
        let lead = descriptor.prsa & 3;
        let packets = (u32::from(descriptor.page_length) + lead)
            .div_ceil(PACKET)
            .max(1);
        self.packets = self.packets.wrapping_add(packets as u16);
        self.fetched = Some(Fetched {
            descriptor,
            packets: self.packets,
        });
        if descriptor.control.has(Control::LMP) {
            self.packets = 0;
        }
        self.registers[slot(wire::LPE_CURRENT)] = self.next(current, wire::LPE_MAX, wire::LPE_BASE);
        true
    }

    /// Hands the bytes of a page out in pieces; false on a bus abort.
    fn deliver(&mut self, page: &Fetched, mut put: impl FnMut(u32, &[u8]) -> bool) -> bool {
        let Descriptor {
            page_length,
            control,
            prsa,
            plsa,
            ..
        } = page.descriptor;
        if control.has(Control::SM) || control.has(Control::CM) {
            return true;
        }
        let mut at = 0;
        while at < u32::from(page_length) {
            let n = (u32::from(page_length) - at).min(64);
            let Ok(bytes) = self.ram.slice(plsa.wrapping_add(at), n as usize) else {
                self.raise_pci(MASTER_ABORT);
                return false;
            };
            if !put(prsa.wrapping_add(at), bytes) {
                return false;
            }
            at += n;
        }
        true
    }

    fn loop_back(&mut self, page: &Fetched) -> bool {
        let Descriptor {
            page_length,
            control,
            prsa,
            plsa,
            ..
        } = page.descriptor;
        if control.has(Control::SM) || control.has(Control::CM) {
            return true;
        }
        let mut buffer = [0; 64];
        let mut at = 0;
        while at < u32::from(page_length) {
            let n = (u32::from(page_length) - at).min(64) as usize;
            let buffer = &mut buffer[..n];
            if self.fetch_bytes(plsa.wrapping_add(at), buffer).is_err() {
                self.raise_pci(MASTER_ABORT);
                return false;
            }
            if !self.take(prsa.wrapping_add(at), buffer) {
                return false;
            }
            at += n as u32;
        }
        true
    }

    fn fetch_bytes(&self, address: u32, bytes: &mut [u8]) -> Result<(), OutOfMemory> {
        bytes.copy_from_slice(self.ram.slice(address, bytes.len())?);
        Ok(())
    }

    /// Bytes of a packet that arrived.
    fn take(&mut self, address: u32, bytes: &[u8]) -> bool {
        match self.ram.slice_mut(address, bytes.len()) {
            Ok(memory) => {
                memory.copy_from_slice(bytes);
                true
            }
            Err(_) => {
                self.raise_pci(MASTER_ABORT);
                false
            }
        }
    }

    /// The end of a page that arrived: reports and counts at the last one.
    fn complete(&mut self, page: &Fetched) {
        let control = page.descriptor.control;
        let mut packets = page.packets;
        if control.has(Control::CM) {
            match self.count_composed(control.mi()) {
                Some(count) => packets = count,
                None => return,
            }
        } else if !control.has(Control::LMP) {
            return;
        }
        let report = Report {
            packet_number: packets,
            r3_status: R3_HEALTHY as u8,
            reserved: 0,
            control: Control::from_bits(control.bits() & !(1 << 24)),
            data: if control.has(Control::SM) {
                [page.descriptor.prsa, page.descriptor.plsa]
            } else {
                [0; 2]
            },
        };
        if control.has(Control::LMI) {
            self.held = Some(report);
            self.settle_report();
        } else if control.has(Control::NOR) {
            self.received = self.received.saturating_add(1);
        }
    }

    /// One packet of a composed message; its packets when it is complete.
    fn count_composed(&mut self, mi: u32) -> Option<u16> {
        if self.registers[slot(wire::COMMAND)] & LRM_ENABLE == 0 {
            return None;
        }
        let address = self.registers[slot(wire::LRM_BASE)].wrapping_add(4 * mi);
        let counter = self.ram.slice_mut(address, 4).ok()?;
        let [a, b, c, d] = *counter else { return None };
        let received = u16::from_le_bytes([a, b]).wrapping_add(1);
        let complete = received == u16::from_le_bytes([c, d]);
        let [a, b] = received.to_le_bytes();
        counter.copy_from_slice(&if complete { [0; 4] } else { [a, b, c, d] });
        complete.then_some(received)
    }

    /// Writes the report that waits, if there is room; tells when there is not.
    fn settle_report(&mut self) -> bool {
        let Some(report) = self.held else {
            return false;
        };
        if !self.enabled(RX_INIT) {
            return false;
        }
        let new = self.registers[slot(wire::LMI_NEW)];
        let next = self.next(new, wire::LMI_MAX, wire::LMI_BASE);
        if next == self.registers[slot(wire::LMI_CURRENT)] {
            self.raise(LMI_OVERFLOW);
            return false;
        }
        self.held = None;
        if self.take(new, &report.emit()) {
            self.registers[slot(wire::LMI_NEW)] = next;
            if report.control.has(Control::NOR) {
                self.received = self.received.saturating_add(1);
            }
        }
        true
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
            if index != slot(wire::IDENTITY) {
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
        if offset % 4 != 0 || offset > wire::R3_DOUT {
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
            wire::STATUS => self.status(),
            wire::R3_DOUT => 0,
            _ => self.registers[slot(offset)],
        })
    }

    fn write(&mut self, offset: u8, value: u32) -> Result<(), FakeError> {
        self.access(offset)?;
        let _ = self.writes.push(Access { offset, value });
        let swapped = self.quirks.lmi_writes_swapped;
        match offset {
            wire::IDENTITY => {}
            wire::PCI_COMMAND => {
                let register = &mut self.registers[slot(offset)];
                *register = *register & 0xFFFF_0000 & !(value & 0xF900_0000) | value & 0xFFFF;
            }
            wire::STATUS => self.write_status(value),
            wire::COMMAND if value & SOFT_RESET != 0 => self.soft_reset(),
            wire::LMI_CURRENT if swapped => self.registers[slot(wire::LMI_NEW)] = value,
            wire::LMI_NEW if swapped => self.registers[slot(wire::LMI_CURRENT)] = value,
            wire::R3_DOUT => self.chain += 1,
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
