extern crate std;
use super::*;
use crate::mem::Ram;
use std::string::ToString;
use std::vec::Vec;

const BYTES: [u8; 16] = [
    0x05, 0x00, // length 5
    0x02, 0x01, // node 0x0102
    0x56, 0x34, 0x12, 0xCA, // NOR+LMP+LMI+NOS, MI 0x123456
    0x03, 0x00, 0x10, 0x00, // PRSA
    0x01, 0x00, 0x20, 0x00, // PLSA
];

#[test]
fn descriptor_by_hand() {
    let descriptor = Descriptor {
        page_length: 5,
        routing_part: 0x0102,
        control: Control::NOR
            .with(Control::LMP)
            .with(Control::LMI)
            .with(Control::NOS)
            .with_mi(0x12_3456),
        prsa: 0x0010_0003,
        plsa: 0x0020_0001,
    };
    assert_eq!(Descriptor::parse(&BYTES), descriptor);
    assert_eq!(descriptor.emit(), BYTES);
    assert_eq!(
        descriptor.words(),
        [0x0102_0005, 0xCA12_3456, 0x0010_0003, 0x0020_0001]
    );
    assert_eq!(
        descriptor.meaning(),
        Ok(Page::Standard {
            length: 5,
            local: 0x0020_0001,
            remote: 0x0010_0003
        })
    );
    assert_eq!(
        descriptor.to_string(),
        "len=5 rp=0x0102 mi=0x123456 flags=NOR+LMP+LMI+NOS prsa=0x00100003 plsa=0x00200001"
    );
}

#[test]
fn every_bit_of_a_descriptor_survives_a_round_trip() {
    for bit in 0..128 {
        let mut bytes = BYTES;
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(Descriptor::parse(&bytes).emit(), bytes);
    }
}

#[test]
fn flags_are_the_bits_of_the_record() {
    let flags = [
        Control::NOR,
        Control::LMP,
        Control::CM,
        Control::LRM,
        Control::LMI,
        Control::SM,
        Control::NOS,
        Control::RESERVED,
    ];
    for (k, flag) in flags.into_iter().enumerate() {
        assert_eq!(flag.bits(), 1 << (31 - k));
    }
}

#[test]
fn nonsense_is_named() {
    let text = |length, control: Control| {
        Descriptor {
            page_length: length,
            control,
            ..Descriptor::default()
        }
        .meaning()
        .unwrap_err()
        .to_string()
    };
    assert_eq!(text(0, Control::LMP), "page length 0 is outside 1..=65535");
    assert_eq!(
        text(3, Control::SM.with(Control::LMP)),
        "short message with page length 3, must be 0"
    );
    assert_eq!(
        text(0, Control::SM.with(Control::CM)),
        "control 0x24000000 has both SM and CM, at most one is allowed"
    );
    assert_eq!(
        text(0, Control::SM),
        "control 0x04000000 has SM without LMP, a short message has one page"
    );
}

const RING: Ring = Ring {
    base: 0x100,
    max: 0x130,
};

#[test]
fn the_ring_steps_to_its_base_after_its_last_entry() {
    assert_eq!(RING.next(0x100), 0x110);
    assert_eq!(RING.next(0x130), 0x100);
    assert_eq!(RING.entries(), Some(4));
    assert_eq!(
        Ring {
            base: 0x108,
            max: 0x130
        }
        .entries(),
        None
    );
    assert_eq!(
        Ring {
            base: 0x140,
            max: 0x130
        }
        .entries(),
        None
    );
    assert_eq!(
        Ring {
            base: 0x100,
            max: 0x100
        }
        .next(0x100),
        0x100
    );
}

fn walk(ring: Ring, current: u32, new: u32, controls: &[Control]) -> Vec<Result<u32, WalkError>> {
    let mut store = std::vec![0u8; 64];
    for (k, control) in controls.iter().enumerate() {
        let entry = Descriptor {
            page_length: 1,
            control: *control,
            ..Descriptor::default()
        };
        store[16 * k..][..16].copy_from_slice(&entry.emit());
    }
    let ram = Ram::new(0x100, &mut store[..]);
    Walk::new(&ram, ring, current, new)
        .map(|item| item.map(|(at, _)| at))
        .collect()
}

#[test]
fn a_walk_tells_its_five_ends_apart() {
    let (end, none) = (Control::LMP, Control::default());
    let all = [end, none, end, end];
    // Wraps, and ends where the pointers meet.
    assert_eq!(
        walk(RING, 0x120, 0x110, &all),
        [Ok(0x120), Ok(0x130), Ok(0x100)]
    );
    // Empty.
    assert_eq!(walk(RING, 0x120, 0x120, &all), []);
    // No last page.
    assert_eq!(
        walk(RING, 0x110, 0x120, &all),
        [Ok(0x110), Err(WalkError::Unfinished { pages: 1 })]
    );
    // A pointer beside the ring.
    assert_eq!(
        walk(RING, 0x100, 0x138, &all),
        [Err(WalkError::BadAddress {
            address: 0x138,
            ring: RING
        })]
    );
    // No memory.
    let far = Ring {
        base: 0x100,
        max: 0x190,
    };
    assert_eq!(
        walk(far, 0x130, 0x150, &all),
        [Ok(0x130), Err(WalkError::NoMemory { address: 0x140 })]
    );
    // A bad entry is passed.
    let bad = [Control::SM, end, end, end];
    assert_eq!(
        walk(RING, 0x100, 0x120, &bad),
        [
            Err(WalkError::BadEntry {
                address: 0x100,
                error: DescriptorError::ShortWithLength { length: 1 }
            }),
            Ok(0x110)
        ]
    );
    let bad_ring = Ring {
        base: 0x101,
        max: 0x130,
    };
    assert_eq!(
        walk(bad_ring, 0x100, 0x120, &bad),
        [Err(WalkError::BadRing { ring: bad_ring })]
    );
}

#[test]
fn hostile_pointers_never_make_a_walk_endless() {
    for current in (0xF0..0x150).step_by(4) {
        for new in (0xF0..0x150).step_by(4) {
            assert!(walk(RING, current, new, &[Control::LMP; 4]).len() <= 5);
        }
    }
}
