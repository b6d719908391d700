//! The edges of the message layer (hw/doc/mpi.md, section "Edges"): worlds and
//! storage at boot.
#![cfg(feature = "alloc")]

mod mpi_rig;

use mpi_rig::free;
use multipc::mpi::Layout;
use multipc::mpi::boot::{BootEntry, BootError, Place};
use multipc::mpi::endpoint::{Endpoint, Peer, Sizes, Storage};

#[test]
fn worlds_that_cannot_be_are_refused() {
    let config = free();
    let place = |rank| Place::alone(rank, 2, 0x1_0000);
    let good = [0, 1].map(|rank| BootEntry::new(&config, &place(rank)));
    let boot = |place: Place, entries: &[BootEntry]| {
        let storage = Storage::<()>::owned(&config, 2, Sizes::default());
        Endpoint::new(config, place, entries, storage).map(|_| ())
    };
    assert_eq!(boot(place(0), &good), Ok(()));
    // Slots and counters of rank 1 would lie beyond its arena.
    for (base, bytes) in [(0xFFFF_FFC0, 0), (0x1_0000, 64), (0xFFFF_0000, 0x1_0000)] {
        let mut entries = good;
        (entries[1].base, entries[1].bytes) = (base, bytes);
        let error = boot(place(0), &entries).unwrap_err();
        let expected = 2 * 16 * 16_384 + 8;
        assert_eq!(
            error,
            BootError::Peer {
                rank: 1,
                what: "least arena",
                found: bytes,
                expected,
            }
        );
    }
    // Slots whose notifications have no identifier.
    let mut entries = good;
    entries[1].control_index = 4096 - 15;
    let error = boot(place(0), &entries).unwrap_err();
    assert_eq!(
        error,
        BootError::Index {
            index: 4096,
            limit: 4096
        }
    );
    entries[1].control_index = u16::MAX;
    assert!(boot(place(0), &entries).is_err());
    // An arena that is not where it was said to be.
    for base in [0x2_0000, u64::MAX, u64::MAX - 63, 1 << 32] {
        let moved = Place { base, ..place(0) };
        let error = boot(moved, &good).unwrap_err();
        assert!(
            matches!(
                error,
                BootError::Peer {
                    rank: 0,
                    what: "arena",
                    ..
                }
            ),
            "{error}"
        );
    }
    // Addresses at the end of 64 bits are nonsense, and no panic.
    let layout = Layout::new(&config, 0, 2, u64::MAX);
    assert_eq!(layout.slot(1, 3), u64::MAX);
    assert_eq!(layout.staging(1, 3), u64::MAX);
    assert_eq!(layout.counter_out(1), u64::MAX);
    assert!(layout.block(7) > u64::MAX - 64);
}

#[test]
fn storage_that_was_used_before_starts_empty() {
    let config = free();
    let place = |rank, ranks| Place::alone(rank, ranks, 0x1_0000);
    let mut peers = [Peer::EMPTY; 3];
    for ranks in [3, 1] {
        let entries: Vec<BootEntry> = (0..ranks as u16)
            .map(|rank| BootEntry::new(&config, &place(rank, ranks)))
            .collect();
        let mut storage = Storage::<()>::owned(&config, ranks, Sizes::default());
        storage.peers = (&mut peers[..]).into();
        let endpoint = Endpoint::new(config, place(0, ranks), &entries, storage).unwrap();
        for peer in 0..3 {
            let there = endpoint.credit(peer).is_some();
            assert_eq!(there, peer > 0 && peer < ranks, "{peer} of {ranks}");
        }
    }
}
