//! STATUS and its counters.
//!
//! The counters hold 16 bits and stick at 65535; a count that does not fit
//! sets the overflow bit. An acknowledge of more than the counter leaves 0.
//! Several acknowledge bits in one write all apply.

use super::registers::{Access, Status};

/// Error events 23:12.
pub(super) const ERRORS: u32 = 0x00FF_F000;
/// Error events that stop the bus master when enabled: all but the link status
/// and the two counter overflows, which are no true errors.
pub(super) const STOPPING: u32 = ERRORS & !0x0007_0000;

/// The bit of each event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Event {
    LmiOverflow = 1 << 12,
    IllegalLrmAccess = 1 << 13,
    ReceivedPacketOverflow = 1 << 14,
    SentPacketOverflow = 1 << 15,
    PageReceivedOverflow = 1 << 16,
    PageTransmittedOverflow = 1 << 17,
    R3Status = 1 << 18,
    Timeout = 1 << 19,
    Ep = 1 << 20,
    CrcData = 1 << 21,
    CrcHeader = 1 << 22,
    Eep = 1 << 23,
}

/// The register and what stands behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatusBlock {
    /// Error bits as software sees them.
    errors: u32,
    /// Errors of this edge, for the bus master to stop on.
    fresh: u32,
    transmitted: u16,
    received: u16,
    /// Bits 31:24, which follow from the counters.
    levels: u32,
    pub(super) transaction: u8,
    pub(super) r3_status: u8,
}

impl StatusBlock {
    pub(super) const RESET: Self = Self {
        errors: 0,
        fresh: 0,
        transmitted: 0,
        received: 0,
        levels: 0,
        transaction: 0,
        r3_status: 0,
    };

    pub(super) const fn raise(&mut self, event: Event) {
        self.errors |= event as u32;
        self.fresh |= event as u32;
    }

    /// The errors since the last call.
    pub(super) const fn take_fresh(&mut self) -> u32 {
        core::mem::replace(&mut self.fresh, 0)
    }

    pub(super) fn count_transmitted(&mut self) {
        match self.transmitted.checked_add(1) {
            Some(count) => self.transmitted = count,
            None => self.raise(Event::PageTransmittedOverflow),
        }
        self.weigh();
    }

    pub(super) fn count_received(&mut self) {
        match self.received.checked_add(1) {
            Some(count) => self.received = count,
            None => self.raise(Event::PageReceivedOverflow),
        }
        self.weigh();
    }

    const fn weigh(&mut self) {
        let (sent, got) = (self.transmitted, self.received);
        self.levels = ((sent > 0) as u32) << 31
            | ((got > 0) as u32) << 30
            | ((sent >= 4096) as u32) << 29
            | ((sent >= 256) as u32) << 28
            | ((sent >= 16) as u32) << 27
            | ((got >= 4096) as u32) << 26
            | ((got >= 256) as u32) << 25
            | ((got >= 16) as u32) << 24;
    }

    /// The link status at this edge; `enabled` are the bits whose fall is an event.
    pub(super) const fn link_status(&mut self, now: u8, enabled: u8) {
        if self.r3_status & !now & enabled != 0 {
            self.raise(Event::R3Status);
        }
        self.r3_status = now;
    }

    /// The register as it reads.
    pub(super) const fn bits(&self) -> u32 {
        self.errors | self.levels | (self.transaction as u32) << 8 | self.r3_status as u32
    }

    /// A write: clears errors and acknowledges.
    pub(super) fn write(&mut self, value: u32) {
        self.errors &= !(value & const { Status::INFO.mask(Access::WriteOneClears) });
        let bit = |n: u32| (value >> n & 1) as u16;
        let weigh = |one: u32, few: u32, many: u32, most: u32| {
            bit(one) + 16 * bit(few) + 256 * bit(many) + 4096 * bit(most)
        };
        self.transmitted = self.transmitted.saturating_sub(weigh(31, 27, 28, 29));
        self.received = self.received.saturating_sub(weigh(30, 24, 25, 26));
        self.weigh();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(sent: u16, got: u16) -> StatusBlock {
        let mut status = StatusBlock {
            transmitted: sent,
            received: got,
            ..StatusBlock::RESET
        };
        status.weigh();
        status
    }

    #[test]
    fn thresholds_include_the_number() {
        for (count, bits) in [
            (0, 0),
            (1, 0x8000_0000u32),
            (15, 0x8000_0000),
            (16, 0x8800_0000),
            (255, 0x8800_0000),
            (256, 0x9800_0000),
            (4095, 0x9800_0000),
            (4096, 0xB800_0000),
        ] {
            assert_eq!(counted(count, 0).bits(), bits, "{count} sent");
        }
        for (count, bits) in [
            (1, 0x4000_0000u32),
            (16, 0x4100_0000),
            (256, 0x4300_0000),
            (4096, 0x4700_0000),
        ] {
            assert_eq!(counted(0, count).bits(), bits, "{count} received");
        }
    }

    #[test]
    fn acknowledge_bits_of_one_write_all_apply() {
        let mut status = counted(5000, 5000);
        status.write(0x8000_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000);
        assert_eq!(status, counted(5000 - 4369, 5000));
        status.write(0x4000_0000 | 0x0400_0000);
        assert_eq!(status, counted(5000 - 4369, 5000 - 4097));
    }

    #[test]
    fn acknowledge_of_more_than_there_is_leaves_nothing() {
        let mut status = counted(15, 3);
        status.write(0x0800_0000 | 0x0100_0000);
        assert_eq!(status, counted(0, 0));
    }

    #[test]
    fn counters_stick_and_tell() {
        let mut status = counted(u16::MAX - 1, u16::MAX);
        status.count_transmitted();
        assert_eq!(status.bits() & ERRORS, 0);
        status.count_transmitted();
        status.count_received();
        assert_eq!(status.bits() & ERRORS, 0x0003_0000);
        assert_eq!((status.transmitted, status.received), (u16::MAX, u16::MAX));
    }

    #[test]
    fn only_the_fall_of_an_enabled_link_bit_is_an_event() {
        let mut status = StatusBlock::RESET;
        status.link_status(0b11, 0b01);
        status.link_status(0b01, 0b01);
        assert_eq!(status.bits() & ERRORS, 0);
        status.link_status(0b00, 0b01);
        assert_eq!(status.bits(), 0x0004_0000);
    }

    #[test]
    fn the_table_and_the_events_agree() {
        assert_eq!(Status::INFO.mask(Access::WriteOneClears), ERRORS);
        assert_eq!(STOPPING, 0x00F8_F000);
    }
}
