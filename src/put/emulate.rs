//! Short messages on silicon whose short messages are broken (erratum 10): the
//! twelve bytes of control word and data travel in the message identifiers of
//! eight pages of 4 bytes.
//!
//! ```text
//! identifier   23   22..16       15..12        11..8      7..0
//!              1    sender node  sequence k    nibble     byte k
//! ```
//!
//! Bytes 0..7 of the twelve (control, data 1, data 2, little-endian) are the
//! low bits of messages 0..7; byte 8 + k/2 travels in nibbles, the low one in
//! the even message, the high one in the odd one. The pages go to the first
//! packet counter of the peer, which is unused since the counters are broken
//! too; all nodes must have their tables at the same addresses.
//!
//! Both ends rebuild the message in the memory behind that counter, 16 bytes a
//! sender, so that the driver's own state stays small. Document:
//! hw/doc/errata.md, erratum 10.

use super::driver::{Hardware, Put};
use super::error::PortErrorOf;
use super::start::{load, store};
use crate::ddc::lme::{Control, Descriptor};

/// Pages of one short message.
pub(crate) const MESSAGES: u32 = 8;
/// Nodes that 7 bits can name.
pub(crate) const MAX_NODES: u16 = 128;
/// The identifier bit of an emulated message.
pub(crate) const MARKER: u32 = 1 << 23;

/// Bytes of a place where a message is rebuilt.
const PLACE: usize = 16;
/// Where a place keeps how many of the eight have come.
const COUNT: usize = 12;

/// Packet counters that the places need: one in front, one for each sender, one
/// for this node's own messages as they leave.
pub(crate) const fn counters_needed(nodes: u16) -> u32 {
    (PLACE as u32 / 4) * (2 + nodes as u32)
}

/// The eight pages of a short message.
pub(crate) fn messages(
    short: &Descriptor,
    node: u16,
    sink: u32,
) -> impl Iterator<Item = Descriptor> {
    let words = [
        short.control.without(Control::RESERVED).bits(),
        short.prsa,
        short.plsa,
    ];
    let routing_part = short.routing_part;
    // The record never sets NOR here, so that an interrupt-driven receiver
    // learns of the message only with the next one; chosen: the last page
    // carries the user's.
    let notices = short.control.bits() & Control::NOS.with(Control::NOR).bits();
    let byte = move |index: u32| {
        let word = words.get(index as usize / 4).copied().unwrap_or(0);
        word >> (8 * (index % 4)) & 0xFF
    };
    (0..MESSAGES).map(move |k| {
        let nibble = byte(8 + k / 2) >> (4 * (k % 2)) & 0xF;
        let mi = MARKER | (u32::from(node) & 0x7F) << 16 | k << 12 | nibble << 8 | byte(k);
        let mut control = Control::LMP.with(Control::LMI).with_mi(mi);
        if k + 1 == MESSAGES {
            control = control.with(Control::from_bits(notices));
        }
        Descriptor {
            page_length: 4,
            routing_part,
            control,
            prsa: sink,
            plsa: sink,
        }
    })
}

/// Takes message identifier `mi` into a place; the twelve bytes when it was the
/// eighth. One out of sequence spoils what was there.
fn absorb(place: &mut [u8; PLACE], mi: u32) -> Option<(Control, [u32; 2])> {
    let sequence = (mi >> 12 & 7) as usize;
    let [.., count, _, _, _] = *place;
    if sequence == 0 {
        *place = [0; PLACE];
    } else if usize::from(count) != sequence {
        place[COUNT] = 0;
        return None;
    }
    if let Some(byte) = place.get_mut(sequence) {
        *byte = mi as u8;
    }
    if let Some(byte) = place.get_mut(8 + sequence / 2) {
        *byte |= ((mi >> 8 & 0xF) << (4 * (sequence % 2))) as u8;
    }
    place[COUNT] = sequence as u8 + 1;
    if sequence as u32 + 1 < MESSAGES {
        return None;
    }
    place[COUNT] = 0;
    let [a, b, c, d, e, f, g, h, i, j, k, l, ..] = *place;
    let control = Control::from_bits(u32::from_le_bytes([a, b, c, d]));
    let data = [
        u32::from_le_bytes([e, f, g, h]),
        u32::from_le_bytes([i, j, k, l]),
    ];
    Some((control, data))
}

impl Put {
    /// Whether a page of this identifier is part of an emulated short message.
    pub(crate) const fn is_emulated(&self, mi: u32) -> bool {
        !self.settings.capabilities.short_messages && mi & MARKER != 0
    }

    /// Rebuilds an emulated message: that of sender `from` as it arrives, or,
    /// with `None`, one of this node as it leaves.
    pub(crate) fn rebuild<H: Hardware + ?Sized>(
        &self,
        hw: &mut H,
        mi: u32,
        leaving: bool,
    ) -> Result<Option<(Control, [u32; 2])>, PortErrorOf<H>> {
        let nodes = u32::from(self.settings.nodes);
        let sender = mi >> 16 & 0x7F;
        let index = if leaving { nodes } else { sender };
        if index > nodes || (index == nodes && !leaving) {
            return Ok(None);
        }
        let address = self.layout.counter(PLACE as u32 / 4 * (1 + index));
        let mut place = [0; PLACE];
        load(hw, address, &mut place)?;
        let whole = absorb(&mut place, mi);
        store(hw, address, &place)?;
        Ok(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::vec::Vec;

    fn short() -> Descriptor {
        Descriptor {
            page_length: 0,
            routing_part: 9,
            control: Control::from_bits(0xCE12_3456),
            prsa: 0x8899_AABB,
            plsa: 0xCDDE_EFF0,
        }
    }

    #[test]
    fn the_twelve_bytes_lie_in_the_identifiers_as_on_record() {
        let pages: Vec<Descriptor> = messages(&short(), 0x2A, 0x9000).collect();
        // Control CE12_3456, data 8899_AABB, CDDE_EFF0: bytes 56 34 12 CE BB AA
        // 99 88 and, in nibbles, F0 EF DE CD.
        let expected = [
            0xAA_0056, 0xAA_1F34, 0xAA_2F12, 0xAA_3ECE, 0xAA_4EBB, 0xAA_5DAA, 0xAA_6D99, 0xAA_7C88,
        ];
        for (page, mi) in pages.iter().zip(expected) {
            assert_eq!(page.control.mi(), mi);
            assert_eq!((page.page_length, page.routing_part), (4, 9));
            assert_eq!((page.prsa, page.plsa), (0x9000, 0x9000));
            assert!(page.control.has(Control::LMP.with(Control::LMI)));
        }
        let notices = |page: &Descriptor| page.control.bits() >> 24 & 0x82;
        let told: Vec<u32> = pages.iter().map(notices).collect();
        assert_eq!(told, [0, 0, 0, 0, 0, 0, 0, 0x82]);
    }

    #[test]
    fn eight_in_sequence_give_the_message_back() {
        let mut place = [0xFF; PLACE];
        for round in 0..3 {
            let whole: Vec<_> = messages(&short(), 3, 0)
                .map(|page| absorb(&mut place, page.control.mi()))
                .collect();
            assert_eq!(whole[..7], [None; 7], "round {round}");
            let short = short();
            assert_eq!(whole[7], Some((short.control, [short.prsa, short.plsa])));
        }
    }

    #[test]
    fn a_missing_or_repeated_one_loses_that_message_only() {
        let pages: Vec<u32> = messages(&short(), 3, 0).map(|p| p.control.mi()).collect();
        for wrong in 0..8 {
            let mut place = [0; PLACE];
            let mut missing = pages.clone();
            missing.remove(wrong);
            assert!(missing.iter().all(|&mi| absorb(&mut place, mi).is_none()));
            let whole = pages.iter().filter_map(|&mi| absorb(&mut place, mi));
            assert_eq!(whole.count(), 1);
        }
    }
}
