use super::*;

fn geometry(size: MachineSize) -> Geometry {
    Geometry::new(size, &Numbering::MORTON).unwrap()
}

#[test]
fn fields_lie_where_the_table_says() {
    let g = geometry(MachineSize::Pes16384);
    let field = |range: core::ops::Range<usize>| {
        let mut out = [0; 6];
        for (o, bit) in out.iter_mut().zip(range.rev()) {
            *o = g.id_bit(bit).unwrap();
        }
        out
    };
    assert_eq!(field(10..14)[..4], [13, 6, 12, 5]);
    assert_eq!(field(4..10), [11, 4, 10, 3, 9, 2]);
    assert_eq!(field(0..4)[..4], [8, 1, 7, 0]);
}

#[test]
fn slots_and_ids_are_inverse_on_every_size() {
    for size in MachineSize::ALL {
        let g = geometry(size);
        for id in 0..size.pes() as u16 {
            assert_eq!(g.id(g.slot(id)), id, "{size:?}");
            assert!((g.slot(id) as usize) < size.pes());
        }
    }
}

#[test]
fn bad_numberings_are_named() {
    let twice = Numbering {
        pe: [Bit::Y(1); 4],
        ..Numbering::MORTON
    };
    assert_eq!(
        Geometry::new(MachineSize::Pes16384, &twice),
        Err(NumberingError::Twice { bit: Bit::Y(1) })
    );
    let short = Numbering {
        board: [Bit::Y(9); 4],
        ..Numbering::MORTON
    };
    assert_eq!(
        Geometry::new(MachineSize::Pes2048, &short),
        Err(NumberingError::Missing { used: 10, bits: 11 })
    );
}
