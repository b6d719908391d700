//! Programs over the in-memory reference.
// Not every test file uses all of it.
#![allow(dead_code)]

use std::future::Future;

use multipc::mpi::api::{Communicator, Peer, Status, Tag};
use multipc::mpi::process::MpiError;
use multipc::mpi::reference::{Local, ReferenceConfig, ReferenceError, run};

pub type Comm = Communicator<Local>;

pub fn attempt<R, F, Fut>(
    size: u32,
    seed: Option<u64>,
    program: F,
) -> Result<Vec<R>, ReferenceError>
where
    R: 'static,
    F: Fn(Comm) -> Fut + Clone + 'static,
    Fut: Future<Output = Result<R, MpiError>> + 'static,
{
    let mut config = ReferenceConfig::default();
    config.seed = seed;
    let results = run(size, config, |process| {
        let program = program.clone();
        async move { program(Communicator::world(process)).await }
    })?;
    Ok(results.into_iter().map(|r| r.expect("a rank")).collect())
}

pub fn world<R, F, Fut>(size: u32, seed: Option<u64>, program: F) -> Vec<R>
where
    R: 'static,
    F: Fn(Comm) -> Fut + Clone + 'static,
    Fut: Future<Output = Result<R, MpiError>> + 'static,
{
    attempt(size, seed, program).unwrap_or_else(|error| panic!("{error}"))
}

pub fn from(source: u32, tag: i32, length: u64) -> Status {
    Status {
        source: Peer::Rank(source),
        tag: Tag::Value(tag),
        length,
    }
}
