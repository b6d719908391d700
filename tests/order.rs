//! The order in which the chips of one clock edge are visited does not matter.
#![cfg(feature = "alloc")]

mod common;
mod machine_rig;

use common::cases;
use machine_rig::{Mischief, Rng, assert_clean, carry_out, fill_sources, quick, script, tables};
use multipc::cluster::Cluster;
use multipc::fabric::topology::Topology;
use multipc::time::Duration;

/// Runs the same random program in the order of the chips' numbers and in
/// scrambled orders, and compares state, and what software saw.
fn scrambled_runs_end_alike(topology: &Topology<'_>, seed: u64, orders: u64, steps: usize) {
    let nodes = topology.generators().len() as u16;
    let program = script(&mut Rng(seed), nodes, steps, Mischief::Resets);
    let run = |scramble: Option<u64>| {
        let mut config = quick();
        config.machine.scramble = scramble;
        let tables = tables(topology, &config);
        let mut cluster = Cluster::boot(topology, &config).unwrap();
        fill_sources(&mut cluster, nodes);
        let mut seen = Vec::new();
        for step in &program {
            cluster.parts().0.run_for(step.gap);
            carry_out(&mut cluster, step.act, &config, &tables, &mut seen);
        }
        cluster.parts().0.run_for(Duration::from_us(200));
        (cluster, seen)
    };
    let (plain, plain_seen) = run(None);
    assert_clean(plain.machine());
    for order in 0..orders {
        let scramble = Rng(seed ^ order << 32).next();
        let (other, seen) = run(Some(scramble));
        let name = format!("seed {seed}, order {scramble:#x}");
        assert_eq!(plain_seen, seen, "{name}");
        assert_eq!(plain.boot_report(), other.boot_report(), "{name}");
        assert_eq!(plain.machine().difference(other.machine()), None, "{name}");
        assert_clean(other.machine());
    }
}

#[test]
fn two_boards_end_alike_in_any_order() {
    let pair = Topology::pair().unwrap();
    for seed in 0..u64::from(cases(4)) {
        scrambled_runs_end_alike(&pair, seed, 6, 120);
    }
}

#[test]
fn a_ring_of_five_ends_alike_in_any_order() {
    let ring = Topology::ring(5).unwrap();
    for seed in 100..100 + u64::from(cases(2)) {
        scrambled_runs_end_alike(&ring, seed, 4, 160);
    }
}

#[test]
fn a_mesh_of_six_ends_alike_in_any_order() {
    let mesh = Topology::mesh(&[3, 2]).unwrap();
    for seed in 200..200 + u64::from(cases(2)) {
        scrambled_runs_end_alike(&mesh, seed, 4, 160);
    }
}

#[test]
fn a_star_of_eight_nodes_on_one_router_ends_alike_in_any_order() {
    let star = Topology::star(8).unwrap();
    for seed in 300..300 + u64::from(cases(2)) {
        scrambled_runs_end_alike(&star, seed, 4, 160);
    }
}
