//! Entries of the two rings, the packet counters, and the walk along a ring.
//!
//! Input: `current` u16, `new` u16 (entry numbers times 16, so that odd ones are
//! between entries), then the bytes of the ring.

use multipc::ddc::lme::{Descriptor, DescriptorError, Page, Ring, Walk, WalkError};
use multipc::ddc::lmr::{Counted, PacketCounter, Report};
use multipc::mem::Ram;

const BASE: u32 = 0x1000;

/// Any bytes as a ring of descriptors, of reports, of counters.
pub fn descriptor(data: &[u8]) {
    let mut data = data;
    let current = u16::from_le_bytes(super::take(&mut data));
    let new = u16::from_le_bytes(super::take(&mut data));
    let (entries, _) = data.as_chunks::<16>();
    for bytes in entries {
        one_descriptor(bytes);
        one_report(bytes);
    }
    for bytes in data.as_chunks::<8>().0 {
        let [a, b, c, d, e, f, last, _] = *bytes;
        let counter = u32::from_le_bytes([a, b, c, d]);
        one_counter(
            counter,
            (last & 1 == 1).then_some(u16::from_le_bytes([e, f])),
        );
    }
    walk(entries, current, new);
}

fn one_descriptor(bytes: &[u8; 16]) {
    let descriptor = Descriptor::parse(bytes);
    assert_eq!(descriptor.emit(), *bytes);
    assert_eq!(Descriptor::from_words(descriptor.words()), descriptor);
    let short = descriptor.control.is_short();
    match descriptor.meaning() {
        Ok(Page::Standard { length, .. }) => assert!(length > 0 && !short),
        Ok(Page::Short { data } | Page::Composed { data }) => {
            assert!(short && descriptor.page_length == 0);
            assert_eq!(data, [descriptor.prsa, descriptor.plsa]);
        }
        Ok(other) => panic!("unknown meaning {other:?}"),
        Err(error) => {
            assert_eq!(error == DescriptorError::EmptyPage, !short);
            assert!(!error.to_string().is_empty());
        }
    }
    assert!(descriptor.to_string().starts_with("len="));
}

fn one_report(bytes: &[u8; 16]) {
    let report = Report::parse(bytes);
    assert_eq!(report.emit(), *bytes);
    assert_eq!(Report::from_words(report.words()), report);
    assert_eq!(report.is_present(), bytes[7] & 0x08 != 0);
}

fn one_counter(word: u32, carried: Option<u16>) {
    let counter = PacketCounter::parse(word);
    assert_eq!(counter.emit(), word);
    let (next, verdict) = counter.count(carried);
    assert!(next.received >= counter.received, "never counts backwards");
    if verdict == Counted::Complete {
        assert!(next.received == next.expected && next.expected != 0);
    }
}

/// The walk ends, after at most one item an entry and one about the whole.
fn walk(entries: &[[u8; 16]], current: u16, new: u16) {
    let mut bytes = entries.as_flattened().to_vec();
    let memory = Ram::new(BASE, bytes.as_mut_slice());
    let count = entries.len() as u32;
    let ring = Ring {
        base: BASE,
        max: BASE.wrapping_add(16 * count).wrapping_sub(16),
    };
    let address = |entry: u16| BASE.wrapping_add(u32::from(entry));
    let mut items = 0;
    let mut over = false;
    for item in Walk::new(&memory, ring, address(current), address(new)) {
        assert!(!over, "nothing follows the end");
        items += 1;
        assert!(items <= count + 1, "more items than entries");
        match item {
            Ok((at, descriptor)) => {
                assert!(at >= ring.base && at <= ring.max);
                assert!(descriptor.meaning().is_ok());
            }
            Err(WalkError::BadEntry { address, error }) => {
                assert!(address <= ring.max && !error.to_string().is_empty());
            }
            Err(error) => {
                over = true;
                assert!(!error.to_string().is_empty());
            }
        }
    }
}
