//! A board that is cut off for good takes the links to it along and no others, with
//! the reliable layer or without.
#![cfg(feature = "alloc")]

mod mpi_reliable;
#[path = "common/process.rs"]
mod process;

use mpi_reliable::world;
use multipc::fabric::End;
use multipc::fabric::faults::{CableFault, FaultEvent, Faults, Kind};
use multipc::fabric::labelling::{Labelling, Method};
use multipc::fabric::topology::Topology;
use multipc::mpi::MpiConfig;
use multipc::mpi::process::{MpiError, PointToPoint};
use multipc::mpi::world::media::Medium;
use multipc::mpi::world::{Process, World, WorldConfig};
use multipc::time::Duration;
use process::{from, recv, to, wait};

/// What every rank waits for.
fn explain<M: Medium>(world: &World<M>) -> String {
    let ranks = 0..world.config().ranks;
    let explain = |rank| {
        let engine = world.endpoint(rank).unwrap();
        let pending: Vec<_> = engine.pending().collect();
        let states: Vec<_> = (0..world.config().ranks)
            .map(|peer| engine.peer_state(peer))
            .collect();
        format!("rank {rank}: {pending:?} {states:?}")
    };
    ranks.map(explain).collect::<Vec<_>>().join("\n")
}

/// Four nodes on one router, so that nobody's path leads past another: two
/// pairs, and where the wires to the first node leave from.
fn star() -> (Topology<'static>, [u32; 2], [u32; 2], End) {
    let topology = Topology::star(4).unwrap();
    let labelling = Labelling::new(&topology, Method::default()).unwrap();
    let generator = labelling.generator_of(0).unwrap();
    let at = topology.generators()[usize::from(generator)];
    let end = End::Router {
        router: at.router,
        port: at.port,
    };
    (topology.clone(), [0, 1], [2, 3], end)
}

/// Two pairs on four routers in a row, and where the wires to the first node
/// leave from. The soft reset of a board that stops turns its router off, for
/// all who are plugged in there: so the pairs share no router.
fn line() -> (Topology<'static>, [u32; 2], [u32; 2], End) {
    let topology = Topology::line(4).unwrap();
    let labelling = Labelling::new(&topology, Method::default()).unwrap();
    let plug = |node: u16| {
        let generator = labelling.generator_of(node).unwrap();
        topology.generators()[usize::from(generator)]
    };
    let mut nodes = [0, 1, 2, 3];
    nodes.sort_by_key(|node| plug(*node).router);
    let at = plug(nodes[0]);
    let end = End::Router {
        router: at.router,
        port: at.port,
    };
    let [a, b, c, d] = nodes.map(u32::from);
    (topology.clone(), [a, b], [c, d], end)
}

/// For ever, from the first data character of the `number`th packet on.
fn cut_off(end: End, number: u64) -> Faults<'static> {
    let cut = CableFault::Cut {
        cycles: 1 << 40,
        both: true,
    };
    Faults::script(vec![FaultEvent::cable(end, Kind::Data, number, cut)])
}

/// Exchanges that were right, and what became of those with the lost board.
type Found = (usize, Vec<Result<(), MpiError>>);

/// The first of `lost` is cut off; both send long messages to each other. The
/// `others` exchange messages all the time.
async fn goes_on(process: Process, lost: [u32; 2], others: [u32; 2]) -> Found {
    const LONG: usize = 30_000;
    let me = process.world_rank();
    let other = |pair: [u32; 2]| if me == pair[0] { pair[1] } else { pair[0] };
    let mut ended = Vec::new();
    let mut exchanged = 0;
    if others.contains(&me) {
        let other = other(others);
        for round in 0..60usize {
            let data = vec![round as u8; round * 150];
            let send = process.isend(to(&process, other, 7), data.clone()).unwrap();
            exchanged += usize::from(recv(&process, other, 7, 9_000).await == data);
            wait(&process, send).await.unwrap();
        }
        return (exchanged, ended);
    }
    let partner = other(lost);
    let mut open = Vec::new();
    for tag in 0..4 {
        let id = process.irecv_from(from(partner, tag), Some(partner), LONG);
        open.push(id.unwrap());
        let data = vec![me as u8; LONG];
        open.push(process.isend(to(&process, partner, tag), data).unwrap());
    }
    for id in open {
        ended.push(wait(&process, id).await.map(drop));
    }
    // From now on at once.
    let next = match process.isend(to(&process, partner, 9), vec![1]) {
        Ok(id) => wait(&process, id).await.map(drop),
        Err(error) => Err(error),
    };
    ended.push(next);
    (exchanged, ended)
}

fn holds(results: &[Found], lost: [u32; 2], others: [u32; 2]) {
    for (me, partner) in [(lost[0], lost[1]), (lost[1], lost[0])] {
        let ended = &results[me as usize].1;
        let closed = Err(MpiError::PeerClosed { rank: partner });
        let known = |e: &Result<(), MpiError>| e.is_ok() || *e == closed;
        assert!(ended.iter().all(known), "rank {me}: {ended:?}");
        assert!(
            ended.iter().filter(|e| **e == closed).count() >= 2,
            "rank {me}: {ended:?}"
        );
        assert_eq!(ended.last(), Some(&closed));
    }
    assert_eq!(others.map(|rank| results[rank as usize].0), [60, 60]);
}

#[test]
fn a_board_that_is_cut_off_for_good_closes_its_peers_and_no_others() {
    let (topology, lost, others, end) = star();
    for number in [1, 3_000, 20_000] {
        let mut config = WorldConfig::new(4, MpiConfig::mpi2());
        config.limit = Duration::from_us(5_000_000);
        let mut world = world(&topology, config);
        let machine = world.medium_mut().machine_mut();
        machine.set_faults(cut_off(end, number)).unwrap();
        let outcome = world.run(|process| goes_on(process, lost, others));
        let outcome = outcome.unwrap_or_else(|e| panic!("{number}: {e}\n{}", explain(&world)));
        holds(&outcome.results, lost, others);
        assert!(world.medium().machine().faults().unwrap().total() > 0);
    }
}

#[test]
fn without_repair_a_board_that_stops_closes_its_peers_and_no_others() {
    let (topology, lost, others, end) = line();
    for number in [50, 3_000, 20_000] {
        let mut config = WorldConfig::new(4, MpiConfig::mpi2());
        config.limit = Duration::from_us(5_000_000);
        let mut world = World::on_boards(&topology, config).unwrap();
        let machine = world.medium_mut().cluster_mut().parts().0;
        machine.set_faults(cut_off(end, number)).unwrap();
        let outcome = world.run(|process| goes_on(process, lost, others));
        let outcome = outcome.unwrap_or_else(|e| panic!("{number}: {e}\n{}", explain(&world)));
        holds(&outcome.results, lost, others);
    }
}
