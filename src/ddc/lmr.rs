//! The LMR: the ring of message reports in the receiver's memory, and the
//! packet counters (LRM).
//!
//! | pointer | moved by | when | read by |
//! |---|---|---|---|
//! | producer, LMI_NEW | controller | when the four words are in memory | driver |
//! | consumer, LMI_CURRENT | driver | after the report was used | controller |
//!
//! Empty: the pointers are equal. Full: next(LMI_NEW) = LMI_CURRENT, N-1
//! reports. A report that finds the ring full waits in the controller
//! (LMI_OF_ERROR). A soft reset clears all four registers and drops a waiting
//! report. Document: hw/doc/pci-ddc.md.

use core::fmt;

use super::lme::Control;

/// One entry of the LMR as it lies in memory, 16 bytes, little-endian.
#[doc(alias = "LMI")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Report {
    /// Packets of the message.
    pub packet_number: u16,
    /// Link status of the router when the report was written.
    pub r3_status: u8,
    /// Reserved, 0.
    pub reserved: u8,
    /// Flags and message identifier as sent; bit 24 is 0.
    pub control: Control,
    /// The 8 bytes of a short message, else 0.
    pub data: [u32; 2],
}

impl Report {
    /// Bytes of an entry.
    pub const WIRE_LEN: usize = 16;

    /// Total: any 16 bytes give fields.
    pub const fn parse(bytes: &[u8; Self::WIRE_LEN]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *bytes;
        Self::from_words([
            u32::from_le_bytes([a, b, c, d]),
            u32::from_le_bytes([e, f, g, h]),
            u32::from_le_bytes([i, j, k, l]),
            u32::from_le_bytes([m, n, o, p]),
        ])
    }

    /// The same from the four words of a bus transfer.
    pub const fn from_words(words: [u32; 4]) -> Self {
        let [head, control, data1, data2] = words;
        Self {
            packet_number: head as u16,
            r3_status: (head >> 16) as u8,
            reserved: (head >> 24) as u8,
            control: Control::from_bits(control),
            data: [data1, data2],
        }
    }

    /// The four words.
    pub const fn words(&self) -> [u32; 4] {
        let head = (self.reserved as u32) << 24
            | (self.r3_status as u32) << 16
            | self.packet_number as u32;
        [head, self.control.bits(), self.data[0], self.data[1]]
    }

    /// Inverse of [`parse`](Self::parse).
    pub fn emit(&self) -> [u8; Self::WIRE_LEN] {
        let mut bytes = [0; Self::WIRE_LEN];
        for (chunk, word) in bytes.chunks_exact_mut(4).zip(self.words()) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// A report is there: LMI_ENABLE is 1 in each, so a consumer that zeroes
    /// the entries it used sees new ones by reading memory alone.
    pub const fn is_present(&self) -> bool {
        self.control.has(Control::LMI)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "packets={} r3={:#04x} {} data={:#010x},{:#010x}",
            self.packet_number, self.r3_status, self.control, self.data[0], self.data[1]
        )
    }
}

/// The packet counters of one message, at LRM_BASE + 4 * MI.
#[doc(alias = "LRM")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PacketCounter {
    /// Packets received, RPN.
    #[doc(alias = "RPN")]
    pub received: u16,
    /// Packets expected, EPN; 0 while not known.
    #[doc(alias = "EPN")]
    pub expected: u16,
}

/// What one more packet did to a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Counted {
    /// More packets are expected.
    Partial,
    /// The message is complete.
    Complete,
    /// 65535 packets were counted already.
    Overflow,
    /// More packets than expected, or a second end of the message.
    Illegal,
}

impl PacketCounter {
    /// Total: any word gives fields.
    pub const fn parse(word: u32) -> Self {
        Self {
            received: word as u16,
            expected: (word >> 16) as u16,
        }
    }

    /// The word.
    pub const fn emit(self) -> u32 {
        (self.expected as u32) << 16 | self.received as u32
    }

    /// Counts one packet; `expected` is the number carried by the packet marked
    /// last.
    pub const fn count(self, expected: Option<u16>) -> (Self, Counted) {
        let mut next = self;
        let mut verdict = Counted::Partial;
        match self.received.checked_add(1) {
            Some(received) => next.received = received,
            None => verdict = Counted::Overflow,
        }
        if let Some(carried) = expected {
            if carried == 0 || (self.expected != 0 && self.expected != carried) {
                verdict = Counted::Illegal;
            } else {
                next.expected = carried;
            }
        }
        if matches!(verdict, Counted::Partial) && next.expected != 0 {
            if next.received == next.expected {
                verdict = Counted::Complete;
            } else if next.received > next.expected {
                verdict = Counted::Illegal;
            }
        }
        (next, verdict)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn report_of_a_short_message_by_hand() {
        let report = Report {
            packet_number: 0x0102,
            r3_status: 0x03,
            reserved: 0,
            control: Control::from_bits(0xCC12_3456),
            data: [0x4433_2211, 0x8877_6655],
        };
        let bytes = [
            0x02, 0x01, 0x03, 0x00, 0x56, 0x34, 0x12, 0xCC, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66,
            0x77, 0x88,
        ];
        assert_eq!(report.emit(), bytes);
        assert_eq!(Report::parse(&bytes), report);
        assert!(report.is_present());
        assert_eq!(
            report.to_string(),
            "packets=258 r3=0x03 mi=0x123456 flags=NOR+LMP+LMI+SM data=0x44332211,0x88776655"
        );
    }

    #[test]
    fn every_bit_of_a_report_survives_a_round_trip() {
        for bit in 0..128 {
            let mut bytes = [0u8; 16];
            bytes[bit / 8] = 1 << (bit % 8);
            assert_eq!(Report::parse(&bytes).emit(), bytes);
        }
    }

    #[test]
    fn counters_complete_in_any_order() {
        for last_at in 0..4u16 {
            let mut counter = PacketCounter::default();
            for k in 0..4u16 {
                let (next, verdict) = counter.count((k == last_at).then_some(4));
                assert_eq!(
                    verdict == Counted::Complete,
                    k == 3,
                    "last at {last_at}, packet {k}"
                );
                counter = next;
            }
            assert_eq!(counter.emit(), 0x0004_0004);
        }
    }

    #[test]
    fn counter_errors_are_told_apart() {
        let full = PacketCounter {
            received: 0xFFFF,
            expected: 0,
        };
        assert_eq!(full.count(None), (full, Counted::Overflow));
        let passed = PacketCounter {
            received: 3,
            expected: 0,
        };
        assert_eq!(passed.count(Some(2)).1, Counted::Illegal);
        assert_eq!(passed.count(Some(0)).1, Counted::Illegal);
        let two_ends = PacketCounter {
            received: 1,
            expected: 5,
        };
        assert_eq!(two_ends.count(Some(6)).1, Counted::Illegal);
        assert_eq!(PacketCounter::parse(0x0005_0001), two_ends);
    }
}
