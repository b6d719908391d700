//! What the fake does with entries, bytes and reports.

use crate::ddc::lme::{Control, Descriptor};
use crate::ddc::lmr::Report;
use crate::ddc::registers::{
    Command, LmiBase, LmiCurrent, LmiMax, LmiNew, LpeBase, LpeCurrent, LpeMax, LpeNew, LrmBase,
    PciCommandStatus,
};
use crate::mem::OutOfMemory;
use crate::put::layout::ENTRY;

use super::{BUS_MASTER, FakeController, Fetched, LMI_OVERFLOW, R3_HEALTHY, slot};

const TX_INIT: u32 = 1 << 14;
const RX_INIT: u32 = 1 << 12;
const LRM_ENABLE: u32 = 1 << 9;
const MASTER_ABORT: u32 = 1 << 29;
const PACKET: u32 = 532;

impl FakeController<'_> {
    pub(super) fn enabled(&self, block: u32) -> bool {
        self.registers[slot(PciCommandStatus::OFFSET)] & BUS_MASTER != 0
            && self.registers[slot(Command::OFFSET)] & block != 0
    }

    pub(super) fn next(&self, address: u32, max: u8, base: u8) -> u32 {
        if address == self.registers[slot(max)] {
            self.registers[slot(base)]
        } else {
            address.wrapping_add(ENTRY)
        }
    }

    pub(super) fn advance(&mut self, peer: Option<&mut FakeController<'_>>) -> bool {
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

    pub(super) fn fetch(&mut self) -> bool {
        let current = self.registers[slot(LpeCurrent::OFFSET)];
        if current == self.registers[slot(LpeNew::OFFSET)] {
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
        self.registers[slot(LpeCurrent::OFFSET)] =
            self.next(current, LpeMax::OFFSET, LpeBase::OFFSET);
        true
    }

    /// Hands the bytes of a page out in pieces; false on a bus abort.
    pub(super) fn deliver(
        &mut self,
        page: &Fetched,
        mut put: impl FnMut(u32, &[u8]) -> bool,
    ) -> bool {
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

    pub(super) fn loop_back(&mut self, page: &Fetched) -> bool {
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

    pub(super) fn fetch_bytes(&self, address: u32, bytes: &mut [u8]) -> Result<(), OutOfMemory> {
        bytes.copy_from_slice(self.ram.slice(address, bytes.len())?);
        Ok(())
    }

    /// Bytes of a packet that arrived.
    pub(super) fn take(&mut self, address: u32, bytes: &[u8]) -> bool {
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
    pub(super) fn complete(&mut self, page: &Fetched) {
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
    pub(super) fn count_composed(&mut self, mi: u32) -> Option<u16> {
        if self.registers[slot(Command::OFFSET)] & LRM_ENABLE == 0 {
            return None;
        }
        let address = self.registers[slot(LrmBase::OFFSET)].wrapping_add(4 * mi);
        let counter = self.ram.slice_mut(address, 4).ok()?;
        let [a, b, c, d] = *counter else { return None };
        let received = u16::from_le_bytes([a, b]).wrapping_add(1);
        let complete = received == u16::from_le_bytes([c, d]);
        let [a, b] = received.to_le_bytes();
        counter.copy_from_slice(&if complete { [0; 4] } else { [a, b, c, d] });
        complete.then_some(received)
    }

    /// Writes the report that waits, if there is room; tells when there is not.
    pub(super) fn settle_report(&mut self) -> bool {
        let Some(report) = self.held else {
            return false;
        };
        if !self.enabled(RX_INIT) {
            return false;
        }
        let new = self.registers[slot(LmiNew::OFFSET)];
        let next = self.next(new, LmiMax::OFFSET, LmiBase::OFFSET);
        if next == self.registers[slot(LmiCurrent::OFFSET)] {
            self.raise(LMI_OVERFLOW);
            return false;
        }
        self.held = None;
        if self.take(new, &report.emit()) {
            self.registers[slot(LmiNew::OFFSET)] = next;
            if report.control.has(Control::NOR) {
                self.received = self.received.saturating_add(1);
            }
        }
        true
    }
}
