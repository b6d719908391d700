//! What one entry becomes on silicon that cannot take it as it is.
//!
//! | erratum | what is done |
//! |---|---|
//! | 10 | a short message becomes eight pages ([`emulate`](super::emulate)) |
//! | 11 | an unaligned remote page is cut, so that its bulk is aligned |
//! | 13, 14, 18 | NOS and LMP are forced; bit 24 keeps the user's NOS |
//! | 8 | a page that got LMP by force loses LMI and NOR: the message ends once |

use super::emulate;
use super::error::Protocol;
use super::revision::Capabilities;
use crate::ddc::lme::{Control, Descriptor};

/// Entries that one page or short message becomes: at most eight.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pieces {
    list: [Descriptor; emulate::MESSAGES as usize],
    len: u8,
}

/// A page whose unaligned address here, with the page's length, crosses a word.
pub(crate) const fn crosses(address: u32, length: u16) -> bool {
    address & 3 != 0 && (address & 3) + length as u32 > 4
}

/// What is known at the start and decides how entries are cut.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) capabilities: Capabilities,
    pub(crate) node: u16,
    /// Where the pages of an emulated short message go to and come from.
    pub(crate) sink: u32,
    pub(crate) bounce: bool,
}

impl Pieces {
    pub(crate) fn new(descriptor: Descriptor, rules: &Rules) -> Result<Self, Protocol> {
        let Capabilities {
            short_messages,
            unaligned_remote,
            unaligned_local,
            one_page,
            ..
        } = rules.capabilities;
        let mut pieces = Self::default();
        if !short_messages {
            let mi = descriptor.control.mi();
            if mi & emulate::MARKER != 0 {
                return Err(Protocol::MiReserved { mi });
            }
        }
        if !short_messages && descriptor.control.has(Control::SM) {
            for message in emulate::messages(&descriptor, rules.node, rules.sink) {
                pieces.push(message);
            }
        } else if unaligned_remote || descriptor.control.is_short() {
            pieces.push(descriptor);
        } else {
            pieces.cut(descriptor);
        }
        for piece in &mut pieces.list {
            if one_page {
                piece.control = forced(piece.control);
            }
            let (local, length) = (piece.plsa, piece.page_length);
            if !unaligned_local
                && !rules.bounce
                && !piece.control.is_short()
                && crosses(local, length)
            {
                let length = length.into();
                return Err(Protocol::NoBounceBuffer { local, length });
            }
        }
        Ok(pieces)
    }

    fn push(&mut self, descriptor: Descriptor) {
        if let Some(slot) = self.list.get_mut(usize::from(self.len)) {
            *slot = descriptor;
            self.len += 1;
        }
    }

    /// Cuts off what leads to the first aligned remote word, in two where that
    /// crosses a local word.
    fn cut(&mut self, mut rest: Descriptor) {
        if crosses(rest.prsa, rest.page_length) {
            let mut lead = 4 - (rest.prsa & 3) as u16;
            if crosses(rest.plsa, lead) {
                let first = 4 - (rest.plsa & 3) as u16;
                self.lead(&mut rest, first);
                lead -= first;
            }
            self.lead(&mut rest, lead);
        }
        self.push(rest);
    }

    /// The first `length` bytes of `rest` as a page of their own. The record
    /// leaves LMI on it (a known weakness); without it the receiver is told
    /// once.
    fn lead(&mut self, rest: &mut Descriptor, length: u16) {
        let notices = Control::NOS
            .with(Control::NOR)
            .with(Control::LMP)
            .with(Control::LMI);
        self.push(Descriptor {
            page_length: length,
            control: rest.control.without(notices),
            ..*rest
        });
        rest.page_length -= length;
        rest.prsa = rest.prsa.wrapping_add(u32::from(length));
        rest.plsa = rest.plsa.wrapping_add(u32::from(length));
    }

    pub(crate) const fn len(&self) -> u32 {
        self.len as u32
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Descriptor> {
        self.list.iter().take(usize::from(self.len))
    }
}

/// The control word of the only page outstanding.
fn forced(control: Control) -> Control {
    let mut forced = control.with(Control::NOS).with(Control::LMP);
    if control.has(Control::NOS) {
        forced = forced.with(Control::RESERVED);
    }
    if !control.has(Control::LMP) {
        forced = forced.without(Control::LMI.with(Control::NOR));
    }
    forced
}

/// The user's flags of a page that was [`forced`]; its LMP is not known any
/// more.
pub(crate) fn unforced(control: Control) -> Control {
    if control.has(Control::RESERVED) {
        control.without(Control::RESERVED)
    } else {
        control.without(Control::NOS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ddc::Revision;
    extern crate std;
    use std::vec::Vec;

    fn rules(revision: Revision) -> Rules {
        Rules {
            capabilities: Capabilities::from_errata(revision),
            node: 5,
            sink: 0x9000,
            bounce: true,
        }
    }

    fn page(length: u16, prsa: u32, plsa: u32) -> Descriptor {
        Descriptor {
            page_length: length,
            routing_part: 1,
            control: Control::LMP
                .with(Control::NOS)
                .with(Control::LMI)
                .with(Control::NOR)
                .with_mi(7),
            prsa,
            plsa,
        }
    }

    fn cut(revision: Revision, descriptor: Descriptor) -> Vec<Descriptor> {
        let pieces = Pieces::new(descriptor, &rules(revision)).unwrap();
        pieces.iter().copied().collect()
    }

    #[test]
    fn the_ideal_chip_takes_entries_as_they_are() {
        for descriptor in [page(9, 0x1001, 0x2002), page(0, 1, 2)] {
            assert_eq!(cut(Revision::IDEAL, descriptor), [descriptor]);
        }
    }

    #[test]
    fn unaligned_pages_are_cut_as_on_record() {
        use crate::ddc::Erratum;
        let lengths = |remote: u32, local: u32, length| -> Vec<u16> {
            let revision = Revision::only(Erratum::UnalignedRemote);
            let pieces = cut(revision, page(length, 0x1000 + remote, 0x2000 + local));
            pieces.iter().map(|piece| piece.page_length).collect()
        };
        // Equal low bits: up to alignment, and the rest.
        assert_eq!(lengths(1, 1, 20), [3, 17]);
        assert_eq!(lengths(3, 3, 20), [1, 19]);
        // Different: in two where the local word ends before.
        assert_eq!(lengths(1, 2, 20), [2, 1, 17]);
        assert_eq!(lengths(1, 3, 20), [1, 2, 17]);
        assert_eq!(lengths(2, 1, 20), [2, 18]);
        assert_eq!(lengths(2, 0, 20), [2, 18]);
        // Aligned, or inside one word: whole.
        assert_eq!(lengths(0, 3, 20), [20]);
        assert_eq!(lengths(1, 0, 3), [3]);
    }

    #[test]
    fn every_cut_page_is_one_the_first_run_can_take_and_covers_the_bytes() {
        for (remote, local) in (0..4).flat_map(|r| (0..4).map(move |l| (r, l))) {
            for length in 1..40 {
                let whole = page(length, 0x1000 + remote, 0x2000 + local);
                let pieces = cut(Revision::RUN_1, whole);
                assert!(pieces.len() <= 3);
                let mut at = 0;
                for (index, piece) in pieces.iter().enumerate() {
                    assert!(!crosses(piece.prsa, piece.page_length));
                    assert_eq!((piece.prsa - whole.prsa, piece.plsa - whole.plsa), (at, at));
                    at += u32::from(piece.page_length);
                    let is_last = index + 1 == pieces.len();
                    // One page outstanding: all are counted, one is reported.
                    assert!(piece.control.has(Control::NOS.with(Control::LMP)));
                    assert_eq!(piece.control.has(Control::LMI), is_last);
                    assert_eq!(piece.control.has(Control::NOR), is_last);
                    assert_eq!(unforced(piece.control).has(Control::NOS), is_last);
                }
                assert_eq!(at, u32::from(length));
            }
        }
    }

    #[test]
    fn a_page_in_the_middle_of_a_message_is_not_reported_when_lmp_is_forced() {
        let middle = Control::LMI.with(Control::NOR).with_mi(3);
        let control = forced(middle);
        assert_eq!(control, Control::NOS.with(Control::LMP).with_mi(3));
        assert_eq!(unforced(control), Control::LMP.with_mi(3));
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        let mut rules = rules(Revision::RUN_1);
        rules.bounce = false;
        assert_eq!(
            Pieces::new(page(8, 0x1000, 0x2001), &rules).unwrap_err(),
            Protocol::NoBounceBuffer {
                local: 0x2001,
                length: 8
            }
        );
        assert!(Pieces::new(page(8, 0x1000, 0x2000), &rules).is_ok());
        let mut reserved = page(8, 0x1000, 0x2000);
        reserved.control = reserved.control.with_mi(0x80_0000);
        assert_eq!(
            Pieces::new(reserved, &rules).unwrap_err(),
            Protocol::MiReserved { mi: 0x80_0000 }
        );
    }
}
