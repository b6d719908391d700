//! How much memory an endpoint takes: all of it is the caller's.
#![cfg(feature = "alloc")]

use multipc::mpi::MpiConfig;
use multipc::mpi::endpoint::{Footprint, Sizes};
use multipc::put::TransferId;

#[test]
fn an_endpoint_of_sixteen_ranks_fits_a_small_computer() {
    let config = MpiConfig::default();
    let sizes = Sizes::default();
    let footprint = Footprint::of::<TransferId>(&config, 16, sizes);
    println!("endpoint                {:>6}", footprint.endpoint);
    println!("a rank                  {:>6}", footprint.peer);
    println!("a request               {:>6}", footprint.request);
    println!("an unexpected message   {:>6}", footprint.unexpected);
    println!("a transfer              {:>6}", footprint.flight);
    println!("a landing               {:>6}", footprint.landing);
    println!("a block of 64 bytes     {:>6}", footprint.block);
    println!("scratch                 {:>6}", footprint.scratch);
    println!("in all, 16 ranks        {:>6}", footprint.total);
    println!("arena, 16 ranks         {:>6}", footprint.arena);
    assert!(footprint.peer <= 512 && footprint.request <= 512);
    assert!(footprint.endpoint <= 4096);
    assert!(footprint.total < 384 << 10);
    assert_eq!(footprint.arena, 2 * 3_932_160 + 128 + (1 << 20));
}
