//! What a caller posts: one page, short message or composed message.

use super::error::{MAX_PAGE, Protocol};
use super::sap::MI_LIMIT;
use super::wire::{Control, Descriptor};

/// The flags that a caller may set: bits 31:25 of the control word.
const FLAGS: u32 = 0xFE00_0000;

/// One entry to post.
///
/// The types are wider than the chip's fields, so that a value that does not
/// fit is an error with a name instead of a smaller value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Entry {
    /// Destination node.
    #[doc(alias = "routing_part")]
    pub node: u16,
    /// Message identifier, 24 bits.
    #[doc(alias = "MI")]
    pub mi: u32,
    /// Flags; other bits of the control word are ignored. LRM is taken off
    /// unless the driver was started with
    /// [`count_packets`](super::PutConfig::count_packets).
    pub flags: Control,
    /// Bytes of the page, 1..=65,535; 0 for short and composed messages.
    #[doc(alias = "page_length")]
    pub length: u32,
    /// Remote physical address, or the first data word of a short message.
    #[doc(alias = "PRSA")]
    pub remote: u32,
    /// Local physical address, or the second data word of a short message.
    #[doc(alias = "PLSA")]
    pub local: u32,
}

impl Entry {
    /// A page of `length` bytes from `local` here to `remote` at `node`.
    pub const fn page(
        node: u16,
        mi: u32,
        local: u32,
        remote: u32,
        length: u32,
        flags: Control,
    ) -> Self {
        Self {
            node,
            mi,
            flags,
            length,
            remote,
            local,
        }
    }

    /// Eight bytes that arrive in the receiver's event, with NOR, LMP, LMI and
    /// SM; `flags` adds to them (NOS).
    #[doc(alias = "SM")]
    pub fn short(node: u16, mi: u32, data: [u32; 2], flags: Control) -> Self {
        let kind = Control::SM
            .with(Control::LMP)
            .with(Control::LMI)
            .with(Control::NOR);
        let [remote, local] = data;
        Self {
            node,
            mi,
            flags: kind.with(flags),
            length: 0,
            remote,
            local,
        }
    }

    /// One sender's part of a composed message: a packet that is only counted,
    /// with NOR, LMP, LMI, LRM and CM; `flags` adds to them (NOS).
    #[doc(alias = "CM")]
    pub fn composed(node: u16, mi: u32, flags: Control) -> Self {
        let notice = Control::LMP.with(Control::LMI).with(Control::NOR);
        let kind = Control::CM.with(Control::LRM).with(notice);
        Self {
            node,
            mi,
            flags: kind.with(flags),
            length: 0,
            remote: 0,
            local: 0,
        }
    }

    /// What the chip is given, or why it must not be.
    pub(crate) fn descriptor(&self, count_packets: bool) -> Result<Descriptor, Protocol> {
        let Self {
            node,
            mi,
            flags,
            length,
            remote,
            local,
        } = *self;
        let has = |flag| flags.has(flag);
        if mi >= MI_LIMIT {
            return Err(Protocol::MiTooWide { mi });
        }
        if has(Control::NOS) && !has(Control::LMP) {
            return Err(Protocol::NosWithoutLmp);
        }
        if has(Control::NOR) && !has(Control::LMI) {
            return Err(Protocol::NorWithoutLmi);
        }
        match (has(Control::SM), has(Control::CM)) {
            (true, true) => return Err(Protocol::ShortAndComposed),
            (false, false) => check_page(local, remote, length)?,
            _ if length != 0 => return Err(Protocol::DataWithoutPage { length }),
            (true, false) if !has(Control::LMP) => return Err(Protocol::ShortWithoutLmp),
            (false, true) if !count_packets => return Err(Protocol::ComposedWithoutCounters),
            _ => {}
        }
        let flags = Control::from_bits(flags.bits() & FLAGS);
        let flags = if count_packets {
            flags
        } else {
            flags.without(Control::LRM)
        };
        Ok(Descriptor {
            page_length: length as u16,
            routing_part: node,
            control: flags.with_mi(mi),
            prsa: remote,
            plsa: local,
        })
    }
}

fn check_page(local: u32, remote: u32, length: u32) -> Result<(), Protocol> {
    if remote == 0 {
        return Err(Protocol::ZeroRemote);
    }
    if local == 0 {
        return Err(Protocol::ZeroLocal);
    }
    if length == 0 || length > MAX_PAGE {
        return Err(Protocol::PageLength { length });
    }
    for address in [remote, local] {
        if address.checked_add(length - 1).is_none() {
            return Err(Protocol::PastEnd { address, length });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::string::ToString;

    fn refused(entry: Entry) -> std::string::String {
        entry.descriptor(false).unwrap_err().to_string()
    }

    fn page(length: u32, flags: Control) -> Entry {
        Entry::page(1, 5, 0x1000, 0x2000, length, flags)
    }

    #[test]
    fn lengths_from_1_to_65535_are_pages() {
        for length in [1, 65_535] {
            let descriptor = page(length, Control::LMP).descriptor(false).unwrap();
            assert_eq!(u32::from(descriptor.page_length), length);
        }
        assert_eq!(
            refused(page(65_536, Control::LMP)),
            "page of 65536 bytes, allowed 1..=65535"
        );
        assert_eq!(
            refused(page(0, Control::LMP)),
            "page of 0 bytes, allowed 1..=65535"
        );
    }

    #[test]
    fn flags_that_the_chip_cannot_serve_are_refused() {
        let (nos, nor, sm) = (Control::NOS, Control::NOR, Control::SM);
        assert_eq!(refused(page(4, nos)), "nos without lmp");
        assert_eq!(refused(page(4, nor.with(Control::LMP))), "nor without lmi");
        assert_eq!(refused(page(0, sm)), "short message without lmp");
        assert_eq!(
            refused(page(8, sm.with(Control::LMP))),
            "short or composed message of 8 bytes, must be 0"
        );
        assert_eq!(
            refused(page(0, sm.with(Control::CM))),
            "message is short and composed"
        );
        assert_eq!(
            refused(Entry::composed(1, 5, Control::default())),
            "composed message while packets are not counted"
        );
    }

    #[test]
    fn addresses_and_identifiers_that_do_not_fit_are_refused() {
        let entry = page(4, Control::LMP);
        assert_eq!(
            refused(Entry { remote: 0, ..entry }),
            "remote address of a page is 0"
        );
        assert_eq!(
            refused(Entry { local: 0, ..entry }),
            "local address of a page is 0"
        );
        assert_eq!(
            refused(Entry {
                local: u32::MAX - 2,
                ..entry
            }),
            "page of 4 bytes at 0xfffffffd passes 2^32"
        );
        assert!(
            Entry {
                local: u32::MAX - 3,
                ..entry
            }
            .descriptor(false)
            .is_ok()
        );
        assert_eq!(
            refused(Entry {
                mi: 1 << 24,
                ..entry
            }),
            "message identifier 0x1000000, allowed 0..0x1000000"
        );
    }

    #[test]
    fn packet_counting_is_taken_off_unless_it_is_on() {
        let entry = page(4, Control::LMP.with(Control::LRM));
        assert_eq!(
            entry.descriptor(false).unwrap().control,
            Control::LMP.with_mi(5)
        );
        let counted = Control::LMP.with(Control::LRM).with_mi(5);
        assert_eq!(entry.descriptor(true).unwrap().control, counted);
    }

    #[test]
    fn short_data_lie_in_the_address_fields() {
        let short = Entry::short(3, 7, [0xAAAA_0001, 0xBBBB_0002], Control::NOS);
        let descriptor = short.descriptor(false).unwrap();
        // NOR, LMP, LMI, SM, NOS: bits 31, 30, 27, 26, 25.
        assert_eq!(descriptor.control, Control::from_bits(0xCE00_0007));
        assert_eq!(
            (descriptor.prsa, descriptor.plsa),
            (0xAAAA_0001, 0xBBBB_0002)
        );
        assert_eq!((descriptor.page_length, descriptor.routing_part), (0, 3));
    }
}
