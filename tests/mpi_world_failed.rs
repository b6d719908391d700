//! Ranks that only wait are told of boards that are lost.
#![cfg(feature = "alloc")]

use multipc::fabric::End;
use multipc::fabric::faults::{CableFault, FaultEvent, Faults, Kind};
use multipc::fabric::labelling::{Labelling, Method};
use multipc::fabric::topology::Topology;
use multipc::mpi::MpiConfig;
use multipc::mpi::api::{ANY_SOURCE, Communicator};
use multipc::mpi::process::MpiError;
use multipc::mpi::world::media::{Boards, ReliableBoards, ReliableConfig};
use multipc::mpi::world::{Process, World, WorldConfig, WorldError};
use multipc::time::Duration;

/// Four nodes on one router, which the board of `first` configures, and where the
/// wires to that node leave from.
fn star() -> (Topology<'static>, u32, End) {
    let topology = Topology::star(4).unwrap();
    let labelling = Labelling::new(&topology, Method::default()).unwrap();
    let at = topology.generators()[0];
    let end = End::Router {
        router: at.router,
        port: at.port,
    };
    let first = labelling.node_of(0).unwrap();
    (topology, first.into(), end)
}

/// For ever, from the first character of the `number`th packet on.
fn cut_off(end: End, kind: Kind, number: u64) -> Faults<'static> {
    let cut = CableFault::Cut {
        cycles: 1 << 40,
        both: true,
    };
    Faults::script(vec![FaultEvent::cable(end, kind, number, cut)])
}

fn config() -> WorldConfig {
    let mut config = WorldConfig::new(4, MpiConfig::mpi2());
    config.limit = Duration::from_us(2_000_000);
    config
}

fn reliable(topology: &Topology<'_>) -> World<ReliableBoards> {
    let mut reliable = ReliableConfig::default();
    let recovery = &mut reliable.recovery;
    recovery.timeout = Duration::from_us(300);
    recovery.restart_after = 3;
    recovery.stall = Duration::from_us(2_000);
    recovery.heartbeat = Some(Duration::from_us(5_000));
    recovery.settle = Duration::from_us(200);
    World::on_reliable_boards(topology, config(), reliable).unwrap()
}

/// Nobody sends anything until it was told of the loss of `lost`: the four ways to
/// wait for it. Then the rest goes on without.
async fn waits(process: Process, lost: u32) -> Result<Vec<u32>, MpiError> {
    let comm = Communicator::world(process);
    let me = comm.rank();
    let [a, b, c] = [1, 2, 3].map(|step| (lost + step) % 4);
    let closed = |rank| Some(MpiError::PeerClosed { rank });
    if me == lost {
        assert_eq!(comm.recv::<u32>(1, a, 0).await.err(), closed(a));
        return Ok(comm.failed());
    }
    if me == a {
        assert_eq!(comm.recv::<u32>(1, lost, 0).await.err(), closed(lost));
        // Each pair of boards finds out by itself.
        comm.compute(Duration::from_us(200_000)).await;
        comm.send(&[1u32], c, 7).await?;
    } else if me == b {
        assert_eq!(comm.probe(lost, 0).await.err(), closed(lost));
        comm.send(&[2u32], c, 8).await?;
    } else {
        let pending = Some(MpiError::PeerClosedPending { rank: lost });
        let mut early = comm.irecv::<u32>(1, ANY_SOURCE, 7)?;
        assert_eq!(early.complete().await.err(), pending);
        assert_eq!(comm.probe(ANY_SOURCE, 9).await.err(), pending);
        assert_eq!(comm.acknowledge_failed(), [lost]);
        assert_eq!(early.complete().await?.0, [1]);
        assert_eq!(comm.recv::<u32>(1, ANY_SOURCE, 8).await?.0, [2]);
    }
    Ok(comm.failed())
}

#[test]
fn whoever_waits_for_a_board_that_is_cut_off_is_told() {
    let (topology, _, end) = star();
    let labelling = Labelling::new(&topology, Method::default()).unwrap();
    let lost = u32::from(labelling.node_of(0).unwrap());
    // The first heartbeat finds the cable cut.
    let mut world = reliable(&topology);
    let machine = world.medium_mut().machine_mut();
    machine.set_faults(cut_off(end, Kind::Packet, 1)).unwrap();
    let outcome = world.run(|process| waits(process, lost)).unwrap();
    assert!(world.medium().machine().faults().unwrap().total() > 0);
    for (rank, result) in (0..).zip(outcome.results) {
        let failed = result.expect("no error");
        match rank == lost {
            true => assert!(failed.contains(&((lost + 1) % 4)), "{failed:?}"),
            false => assert_eq!(failed, [lost], "rank {rank}"),
        }
    }
}

#[test]
fn with_all_boards_well_a_deadlock_is_one() {
    let (topology, ..) = star();
    let mut world = reliable(&topology);
    let error = world.run(|process| async move {
        let comm = Communicator::world(process);
        comm.barrier().await?;
        comm.recv::<u8>(1, (comm.rank() + 1) % 4, 0).await.map(drop)
    });
    let Err(WorldError::Deadlock { ranks, stopped, .. }) = error else {
        panic!("{error:?}");
    };
    assert_eq!((ranks.len(), stopped), (4, vec![]));
}

/// Without repair the router goes with the board that configures it.
fn stops(
    faults: Faults<'static>,
    topology: &Topology<'_>,
) -> (World<Boards>, impl Fn(Process) -> Program) {
    let mut world = World::on_boards(topology, config()).unwrap();
    let machine = world.medium_mut().cluster_mut().parts().0;
    machine.set_faults(faults).unwrap();
    (world, |process| Box::pin(exchanges(process)))
}

type Program = std::pin::Pin<Box<dyn Future<Output = (u32, Option<MpiError>, Vec<u32>)>>>;

/// Pairs send to and fro until that fails; then one of the second pair waits for ever.
async fn exchanges(process: Process) -> (u32, Option<MpiError>, Vec<u32>) {
    let comm = Communicator::world(process);
    let other = comm.rank() ^ 1;
    let data = [comm.rank() as u8; 900];
    for round in 0..2_000 {
        let got = comm
            .sendrecv::<u8, u8>(&data, other, 0, 900, other, 0)
            .await;
        if let Err(error) = got {
            return (round, Some(error), comm.failed());
        }
    }
    (2_000, None, comm.failed())
}

#[test]
fn ranks_whose_way_led_over_the_router_of_a_stopped_board_are_told() {
    let (topology, first, end) = star();
    let (mut world, program) = stops(cut_off(end, Kind::Data, 20_000), &topology);
    let outcome = world.run(program).unwrap();
    for (rank, (round, error, failed)) in (0..).zip(outcome.results) {
        assert!(round > 0, "rank {rank}");
        let closed = MpiError::PeerClosed { rank: rank ^ 1 };
        assert_eq!(error, Some(closed), "rank {rank}");
        let all: Vec<u32> = (0..4).filter(|other| *other != rank).collect();
        assert_eq!(failed, all, "rank {rank}, the board of {first} has stopped");
    }
}

#[test]
fn a_run_without_end_names_the_board_that_has_stopped() {
    let (topology, first, end) = star();
    let (mut world, program) = stops(cut_off(end, Kind::Data, 20_000), &topology);
    let error = world.run(|process| {
        let program = program(process.clone());
        async move {
            program.await;
            let comm = Communicator::world(process);
            comm.acknowledge_failed();
            // There is nobody left who might send.
            comm.recv::<u8>(1, ANY_SOURCE, 0).await.map(drop)
        }
    });
    let error = error.expect_err("nobody sends");
    // Boards that try to send on are no deadlock.
    let WorldError::TimeLimit { ranks, stopped, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(ranks.len(), 4);
    assert!(stopped.contains(&first), "{error}");
    let text = error.to_string();
    let names: Vec<String> = stopped.iter().map(u32::to_string).collect();
    let names = format!("; stopped: rank {}", names.join(", "));
    assert!(text.ends_with(&names), "{text}");
    assert!(
        text.contains("rank 2 receive of 1 bytes from any source"),
        "{text}"
    );
}
