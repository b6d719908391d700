use super::*;
use crate::time::Duration;

extern crate std;
use std::string::ToString;

fn build(
    routers: usize,
    generators: &mut [PortId],
    cables: &mut [Cable],
) -> Result<(), TopologyError> {
    let mut storage = [RouterPorts::EMPTY; 8];
    Topology::new(&mut storage[..routers], generators, cables).map(|_| ())
}

fn cable(a: (u16, u8), b: (u16, u8)) -> Cable {
    Cable::new(PortId::new(a.0, a.1), PortId::new(b.0, b.1))
}

fn message(routers: usize, generators: &mut [PortId], cables: &mut [Cable]) -> std::string::String {
    build(routers, generators, cables).unwrap_err().to_string()
}

#[test]
fn a_wrong_plug_is_named_with_its_limit() {
    let boards = || [PortId::new(0, 0), PortId::new(1, 0)];
    let good = || cable((0, 1), (1, 1));
    assert_eq!(build(2, &mut boards(), &mut [good()]), Ok(()));
    assert_eq!(
        message(8, &mut boards(), &mut [good(), cable((0, 2), (9, 1))]),
        "cable 1 ends at router 9, the machine has routers 0..=7"
    );
    assert_eq!(
        message(1, &mut boards(), &mut []),
        "generator 1 is on router 1, the machine has routers 0..=0"
    );
    assert_eq!(
        message(0, &mut boards(), &mut []),
        "generator 0 is on router 0, the machine has no routers"
    );
    assert_eq!(
        message(2, &mut boards(), &mut [cable((0, 8), (1, 1))]),
        "cable 0 names router 0 port 8, a router has ports 0..=7"
    );
    assert_eq!(
        message(2, &mut boards(), &mut [good(), cable((1, 1), (0, 2))]),
        "cable 1 wants router 1 port 1, where cable 0 is plugged in"
    );
    assert_eq!(
        message(2, &mut boards(), &mut [cable((1, 0), (0, 2))]),
        "cable 0 wants router 1 port 0, where generator 1 is plugged in"
    );
    assert_eq!(
        message(2, &mut boards(), &mut [cable((1, 3), (1, 3))]),
        "cable 0 has both ends in router 1 port 3, two ports are needed"
    );
    assert_eq!(
        message(2, &mut [], &mut []),
        "the machine has 0 generators, at least 1 is needed"
    );
}

#[test]
fn cable_lengths_are_limited_by_the_medium() {
    let mut boards = [PortId::new(0, 0), PortId::new(1, 0)];
    let coax = cable((0, 1), (1, 1));
    assert_eq!(coax.delay, Duration::from_ns(15));
    let coax = coax.with_length_mm(5_000);
    assert_eq!(coax.delay, Duration::from_ns(25));
    assert_eq!(build(2, &mut boards, &mut [coax]), Ok(()));
    assert_eq!(
        message(2, &mut boards, &mut [coax.with_length_mm(5_001)]),
        "cable 0 is 5001 mm long, its medium allows 0..=5000 mm"
    );
    let fibre = coax.with_medium(Medium::Fibre).with_length_mm(70_000);
    assert_eq!(fibre.delay, Duration::from_ns(350));
    assert_eq!(build(2, &mut boards, &mut [fibre]), Ok(()));
    assert!(build(2, &mut boards, &mut [fibre.with_length_mm(70_001)]).is_err());
    assert_eq!(
        fibre.with_delay(Duration::from_ns(1)).delay,
        Duration::from_ns(1)
    );
}

#[test]
fn what_does_not_exist_is_empty() {
    let mut routers = [RouterPorts::EMPTY; 1];
    let mut generators = [PortId::new(0, 3)];
    let t = Topology::new(&mut routers[..], &mut generators[..], &mut [][..]).unwrap();
    assert_eq!(t.port(PortId::new(0, 3)), Port::Generator(0));
    assert_eq!(t.port(PortId::new(0, 8)), Port::Empty);
    assert_eq!(t.port(PortId::new(1, 0)), Port::Empty);
    assert_eq!(t.peer(PortId::new(0, 3)), None);
    assert!(t.has_generator(0) && !t.has_generator(1));
}

#[test]
fn old_contents_of_the_storage_do_not_matter() {
    let mut routers = [RouterPorts([Port::Generator(77); 8]); 2];
    let mut cables = [cable((0, 1), (1, 1))];
    let mut boards = [PortId::new(0, 0), PortId::new(1, 0)];
    let t = Topology::new(&mut routers[..], &mut boards[..], &mut cables[..]).unwrap();
    assert_eq!(t.port(PortId::new(0, 5)), Port::Empty);
}

#[test]
fn a_grid_deals_out_ports_by_dimension() {
    let ends = |grid: Grid| {
        let ends = grid
            .cables()
            .map(|c| c.ends.map(|end| (end.router, end.port)));
        ends.collect::<std::vec::Vec<_>>()
    };
    assert_eq!(ends(Grid::mesh(&[2]).unwrap()), [[(0, 1), (1, 1)]]);
    // Lengths of 1 take no port and do not count as dimensions.
    assert_eq!(Grid::mesh(&[1, 2, 1]), Grid::mesh(&[2]));
    assert_eq!(
        ends(Grid::mesh(&[3, 2]).unwrap()),
        [
            [(0, 1), (1, 2)],
            [(0, 3), (3, 3)],
            [(1, 1), (2, 2)],
            [(1, 3), (4, 3)],
            [(2, 3), (5, 3)],
            [(3, 1), (4, 2)],
            [(4, 1), (5, 2)],
        ]
    );
    assert_eq!(
        ends(Grid::torus(&[3]).unwrap()),
        [[(0, 1), (1, 2)], [(1, 1), (2, 2)], [(2, 1), (0, 2)]]
    );
    // A ring of two is one cable, not two.
    assert_eq!(Grid::torus(&[2]).unwrap().cables().count(), 1);
}

#[test]
fn a_shape_that_does_not_fit_is_named() {
    let text = |lengths: &[usize]| Grid::mesh(lengths).unwrap_err().to_string();
    assert_eq!(
        text(&[3, 0]),
        "a length of the shape is 0, at least 1 is needed"
    );
    assert_eq!(
        text(&[3, 3, 3, 3]),
        "8 cable ports on a router, at most 7 are possible"
    );
    assert_eq!(
        text(&[256, 256]),
        "65536 routers, at most 65535 are possible"
    );
    assert_eq!(
        text(&[usize::MAX, 9]),
        "18446744073709551615 routers, at most 65535 are possible"
    );
    assert_eq!(
        Grid::hypercube(8).unwrap_err().to_string(),
        "8 dimensions, at most 7 are possible"
    );
}

#[test]
fn hops_of_a_walk_are_the_routers_in_order() {
    use crate::fabric::labelling::Intervals;
    let mut routers = [RouterPorts::EMPTY; 3];
    let mut boards = [PortId::new(0, 0), PortId::new(1, 0), PortId::new(2, 0)];
    let mut cables = [cable((0, 1), (1, 2)), cable((1, 1), (2, 2))];
    let t = Topology::new(&mut routers[..], &mut boards[..], &mut cables[..]).unwrap();
    let to = |port: u8| Intervals {
        bounds: [0; 8],
        selection: [1 << port; 8],
    };
    let tables = [to(1), to(1), to(0)];
    let mut walk = walk(&t, &tables[..], 0, 2);
    let hop = |router, input, output| {
        Some(Ok(Hop {
            router,
            input,
            output,
        }))
    };
    assert_eq!(walk.next(), hop(0, 0, 1));
    assert_eq!(walk.next(), hop(1, 2, 1));
    assert_eq!(walk.arrived(), None);
    assert_eq!(walk.next(), hop(2, 2, 0));
    assert_eq!(walk.next(), None);
    assert_eq!((walk.arrived(), walk.routers()), (Some(2), 3));
}

#[test]
fn every_way_to_fail_is_told_apart() {
    use crate::fabric::labelling::Intervals;
    let mut routers = [RouterPorts::EMPTY; 2];
    let mut boards = [PortId::new(0, 0), PortId::new(1, 0)];
    let mut cables = [cable((0, 1), (1, 1))];
    let t = Topology::new(&mut routers[..], &mut boards[..], &mut cables[..]).unwrap();
    let to = |mask: u8| Intervals {
        bounds: [0; 8],
        selection: [mask; 8],
    };
    let error = |a, b| follow(&t, &[to(a), to(b)][..], 0, 1).unwrap_err();
    assert_eq!(
        error(0, 1),
        RouteError::NoOutput {
            header: 1,
            router: 0,
            input: 0
        }
    );
    assert_eq!(
        error(0x80, 1),
        RouteError::OpenPort {
            header: 1,
            at: PortId::new(0, 7)
        }
    );
    let RouteError::Loop { length: 2, .. } = error(2, 2) else {
        panic!("{}", error(2, 2))
    };
    assert_eq!(
        follow(&t, &[to(2), to(1)][..], 0, 1),
        Ok(Route {
            generator: 1,
            routers: 2
        })
    );
    assert_eq!(
        follow(&t, &[to(2), to(1)][..], 2, 1),
        Err(RouteError::UnknownGenerator {
            generator: 2,
            generators: 2
        })
    );
    // Everybody keeps everything: half of the pairs are served.
    let selfish = survey(&t, &[to(1), to(1)][..], |generator| generator);
    assert_eq!(
        (selfish.pairs, selfish.delivered, selfish.longest),
        (4, 2, 1)
    );
    assert_eq!(
        selfish.to_string(),
        "2 of 4 pairs delivered, at most 1 routers (0 cables); generator 1 to generator 0: \
         header 0: arrives at generator 1, belongs to generator 0"
    );
}

#[cfg(feature = "alloc")]
mod owned {
    use super::*;

    #[test]
    fn named_shapes_have_their_boards_and_cables() {
        let count = |t: Result<Topology<'_>, TopologyError>| {
            let t = t.unwrap();
            (t.routers(), t.generators().len(), t.cables().len())
        };
        assert_eq!(count(Topology::pair()), (2, 2, 1));
        assert_eq!(count(Topology::line(5)), (5, 5, 4));
        assert_eq!(count(Topology::ring(5)), (5, 5, 5));
        assert_eq!(count(Topology::mesh(&[8, 8])), (64, 64, 112));
        assert_eq!(count(Topology::torus(&[8, 8])), (64, 64, 128));
        assert_eq!(count(Topology::hypercube(0)), (1, 1, 0));
        assert_eq!(count(Topology::machine_128()), (128, 128, 448));
        assert_eq!(count(Topology::tree(128, 7)), (128, 128, 127));
        assert_eq!(count(Topology::star(8)), (1, 8, 0));
    }

    #[test]
    fn shapes_that_do_not_exist_are_errors() {
        let text = |t: Result<Topology<'_>, TopologyError>| t.unwrap_err().to_string();
        assert_eq!(
            text(Topology::star(9)),
            "9 generators on the router of a star, at most 8 are possible"
        );
        assert_eq!(
            text(Topology::tree(5, 8)),
            "8 children of a router, at most 7 are possible"
        );
        assert_eq!(
            text(Topology::tree(5, 0)),
            "a length of the shape is 0, at least 1 is needed"
        );
        assert_eq!(
            text(Topology::star(0)),
            "the machine has 0 generators, at least 1 is needed"
        );
        let mut builder = TopologyBuilder::new();
        for _ in 0..=u16::MAX {
            builder.router();
        }
        assert_eq!(
            text(builder.build()),
            "65536 routers, at most 65535 are possible"
        );
    }

    #[test]
    fn a_copy_is_equal_and_owned() {
        let ring = Topology::ring(4).unwrap();
        assert_eq!(ring.to_owned(), ring.clone());
        assert_ne!(ring, Topology::line(4).unwrap());
    }
}
