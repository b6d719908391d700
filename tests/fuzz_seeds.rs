//! Every seed of the fuzz targets holds what the targets check, on any toolchain.

#![cfg(feature = "test-utils")]

#[path = "../fuzz/src/lib.rs"]
mod checks;

use std::fs;
use std::path::Path;

fn each_seed(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/seeds")
        .join(target);
    let mut count = 0;
    for seed in fs::read_dir(&folder).expect("a folder of seeds") {
        let path = seed.expect("an entry").path();
        println!("{}", path.display());
        check(&fs::read(&path).expect("readable"));
        count += 1;
    }
    assert!(count > 0, "no seeds in {}", folder.display());
    check(&[]);
}

#[test]
fn descriptor_seeds_hold() {
    each_seed("descriptor", checks::descriptor);
}

#[test]
fn packet_seeds_hold() {
    each_seed("packet", checks::packet);
}

#[test]
fn chain_seeds_hold() {
    each_seed("chain", checks::chain);
}

#[test]
fn control_seeds_hold() {
    each_seed("control", checks::control);
}

#[test]
fn driver_seeds_hold() {
    each_seed("driver", checks::driver);
}

#[test]
fn endpoint_seeds_hold() {
    each_seed("endpoint", checks::endpoint);
}

#[test]
fn receiver_seeds_hold() {
    each_seed("receiver", checks::receiver);
}

#[test]
fn router_seeds_hold() {
    each_seed("router", checks::router);
}

/// The check sums of these seeds were computed by another implementation (zlib).
#[test]
fn packets_with_foreign_check_sums_are_read() {
    use multipc::ddc::packet::{PacketError, PacketView, Word, words_from_symbols};
    use multipc::hsl::Symbol;

    let read = |name: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/packet");
        let bytes = fs::read(folder.join(name)).expect("a seed");
        // Past the byte that chooses.
        let (pairs, _) = bytes[1..].as_chunks();
        let symbols: Vec<_> = pairs
            .iter()
            .map(|pair| Symbol::from_bits(u16::from_le_bytes(*pair)))
            .collect();
        let mut words = vec![Word::default(); symbols.len() / 4];
        words_from_symbols(&symbols, &mut words).map(|_| words)
    };
    let words = read("short-symbols").expect("symbols");
    let PacketView::Short(short) = PacketView::parse(&words).expect("a packet") else {
        panic!("not short");
    };
    assert_eq!(short.data, [0x4433_2211, 0x8877_6655]);
    let words = read("long-symbols").expect("symbols");
    let PacketView::Long { header, data, tail } = PacketView::parse(&words).expect("a packet")
    else {
        panic!("not long");
    };
    assert_eq!((header.routing_part, header.address), (0x0102, 0x11003));
    assert_eq!((data.len(), tail.expected, tail.last_lane), (2, 1, 3));
    let words = read("long-symbols-no-crc").expect("symbols");
    assert!(PacketView::parse(&words).is_ok());
    let words = read("long-symbols-wrong-crc").expect("symbols");
    assert!(matches!(
        PacketView::parse(&words),
        Err(PacketError::DataCrc { found: 0xDEAD, .. })
    ));
    assert!(matches!(
        read("control-in-byte-0"),
        Err(PacketError::BadSymbol {
            index: 0,
            bits: 0x12B
        })
    ));
}
