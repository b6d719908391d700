//! Worlds on boards with the reliable layer.

use multipc::fabric::topology::Topology;
use multipc::mpi::world::media::{ReliableBoards, ReliableConfig};
use multipc::mpi::world::{World, WorldConfig};
use multipc::time::Duration;

/// Time-outs in proportion to a machine of few boards.
fn reliable() -> ReliableConfig {
    let mut config = ReliableConfig::default();
    let recovery = &mut config.recovery;
    recovery.timeout = Duration::from_us(300);
    recovery.restart_after = 3;
    recovery.stall = Duration::from_us(2_000);
    recovery.heartbeat = Some(Duration::from_us(5_000));
    recovery.settle = Duration::from_us(200);
    config
}

pub fn world(topology: &Topology<'_>, config: WorldConfig) -> World<ReliableBoards> {
    World::on_reliable_boards(topology, config, reliable()).unwrap()
}
