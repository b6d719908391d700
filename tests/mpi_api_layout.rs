//! Layouts of data that is not contiguous, over the in-memory reference.
#![cfg(feature = "alloc")]

mod common;
#[path = "common/ranks.rs"]
mod ranks;

use multipc::mpi::api::Layout;
use multipc::mpi::process::MpiError;
use proptest::prelude::*;
use ranks::world;

#[test]
fn a_column_travels_as_a_row() {
    let results = world(2, None, |comm| async move {
        let mut matrix = [[0u16; 4]; 3];
        if comm.rank() == 0 {
            for (i, x) in matrix.as_flattened_mut().iter_mut().enumerate() {
                *x = i as u16;
            }
            let column = Layout::vector(3, 1, 4)?;
            comm.send_layout(matrix.as_flattened(), 2, &column, 1, 1, 0)
                .await?;
        } else {
            let row = Layout::contiguous(3)?;
            let status = comm
                .recv_layout(matrix.as_flattened_mut(), 4, &row, 1, 0, 0)
                .await?;
            assert_eq!(status.count::<u16>(), Some(3));
        }
        Ok(matrix)
    });
    assert_eq!(results[1], [[0; 4], [2, 6, 10, 0], [0; 4]]);
}

#[test]
fn layouts_have_the_size_and_extent_of_the_standard() {
    let size_and_extent = |layout: &Layout| (layout.size(), layout.lower(), layout.extent());
    let contiguous = Layout::contiguous(5).unwrap();
    assert_eq!(size_and_extent(&contiguous), (5, 0, 5));
    let vector = Layout::vector(3, 2, 5).unwrap();
    assert_eq!(size_and_extent(&vector), (6, 0, 12));
    let down = Layout::vector(3, 2, -5).unwrap();
    assert_eq!(size_and_extent(&down), (6, -10, 12));
    let dense = Layout::vector(4, 2, 2).unwrap();
    assert_eq!(dense.segments(), contiguous_of(8).segments());
    let indexed = Layout::indexed(&[(4, 2), (-3, 1), (0, 0)]).unwrap();
    assert_eq!(size_and_extent(&indexed), (3, -3, 9));
    let empty = Layout::indexed(&[]).unwrap();
    assert_eq!(size_and_extent(&empty), (0, 0, 0));
    assert_eq!(empty.span(9), Ok(None));
    assert_eq!(vector.span(2), Ok(Some((0, 24))));
    let resized = vector.resized(0, -1);
    assert_eq!(resized.span(3), Ok(Some((-2, 12))));
}

fn contiguous_of(count: u64) -> Layout {
    Layout::contiguous(count).unwrap()
}

#[test]
fn layouts_stay_inside_of_their_buffers() {
    let column = Layout::vector(3, 1, 4).unwrap();
    let mut buffer = [0u8; 12];
    assert_eq!(column.pack(&buffer, 3, 1).map(|p| p.len()), Ok(3));
    let above = MpiError::OutOfBounds {
        index: 12,
        length: 12,
    };
    assert_eq!(column.pack(&buffer, 4, 1), Err(above));
    assert_eq!(column.unpack(&[1; 3], &mut buffer, 4, 1), Err(above));
    let below = MpiError::OutOfBounds {
        index: -4,
        length: 12,
    };
    let down = Layout::vector(3, 1, -4).unwrap();
    assert_eq!(down.pack(&buffer, 4, 1), Err(below));
    let count = MpiError::InvalidCount {
        count: 4,
        expected: 3,
    };
    assert_eq!(column.unpack(&[1; 4], &mut buffer, 0, 1), Err(count));
    let twice = Layout::indexed(&[(0, 3), (2, 1)]).unwrap();
    let overlap = MpiError::OutOfBounds {
        index: 2,
        length: 12,
    };
    assert_eq!(twice.unpack(&[1; 4], &mut buffer, 0, 1), Err(overlap));
    assert_eq!(buffer, [0; 12]);
    assert_eq!(twice.pack(&buffer, 0, 1), Ok(vec![0; 4]));
    let far = Layout::indexed(&[(i64::MAX - 1, 1)]).unwrap();
    assert!(far.pack(&buffer, 1, 1).is_err());
    assert!(far.pack(&buffer, 0, u64::MAX).is_err());
    assert!(Layout::indexed(&[(i64::MAX, 1)]).is_err());
    assert!(Layout::contiguous(u64::MAX).is_err());
    assert!(Layout::vector(u32::MAX, 1, i64::MAX).is_err());
    assert!(Layout::indexed(&[(i64::MIN, 1), (5, 1)]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(common::cases(256)))]

    /// Packing takes what element-by-element arithmetic names; unpacking puts it back
    /// and touches nothing else.
    #[test]
    fn pack_and_unpack_follow_the_definition(
        blocks in prop::collection::vec((-20i64..20, 0u64..5), 0..6),
        extent in -25i64..25,
        origin in 0usize..120,
        copies in 0u64..4,
    ) {
        let layout = Layout::indexed(&blocks).unwrap().resized(0, extent);
        let buffer: Vec<u32> = (1000..1150).collect();
        let places: Vec<i64> = (0..copies as i64)
            .flat_map(|copy| {
                blocks.iter().flat_map(move |&(offset, length)| {
                    (0..length as i64).map(move |i| origin as i64 + copy * extent + offset + i)
                })
            })
            .collect();
        let inside = places.iter().all(|place| (0..150).contains(place));
        let packed = layout.pack(&buffer, origin, copies);
        prop_assert_eq!(packed.is_ok(), inside);
        let Ok(packed) = packed else { return Ok(()) };
        let expected: Vec<u32> = places.iter().map(|place| 1000 + *place as u32).collect();
        prop_assert_eq!(&packed, &expected);
        let mut blank = vec![0u32; 150];
        let unpacked = layout.unpack(&packed, &mut blank, origin, copies);
        let mut distinct = places.clone();
        distinct.sort_unstable();
        distinct.dedup();
        prop_assert_eq!(unpacked.is_ok(), distinct.len() == places.len());
        for (i, value) in blank.iter().enumerate() {
            let touched = unpacked.is_ok() && places.contains(&(i as i64));
            prop_assert_eq!(*value, if touched { 1000 + i as u32 } else { 0 });
        }
    }

    /// Repetition is the same as several copies.
    #[test]
    fn repeated_layouts_are_copies(
        blocks in prop::collection::vec((-5i64..5, 0u64..4), 0..4),
        times in 0u32..4,
        copies in 0u64..3,
    ) {
        let layout = Layout::indexed(&blocks).unwrap();
        let buffer: Vec<u16> = (0..400).collect();
        let whole = layout.repeated(times).unwrap();
        let packed = whole.pack(&buffer, 100, copies);
        prop_assert_eq!(packed, layout.pack(&buffer, 100, copies * u64::from(times)));
    }
}
