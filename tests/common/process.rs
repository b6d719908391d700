//! Calls that programs of tests make, in their shortest form.
#![allow(dead_code)] // each test file uses a part

use core::future::poll_fn;

use multipc::mpi::process::{
    Completion, MpiError, Outgoing, Pattern, PointToPoint, RequestId, SendMode,
};

/// A standard send of this process to `dst` in context 0.
pub fn to<P: PointToPoint>(process: &P, dst: u32, tag: i32) -> Outgoing {
    Outgoing {
        dst,
        context: 0,
        src_rank: process.world_rank(),
        tag,
        internal: false,
        mode: SendMode::Standard,
    }
}

/// A message of `source` in context 0.
pub fn from(source: u32, tag: i32) -> Pattern {
    Pattern {
        context: 0,
        source: Some(source),
        tag: Some(tag),
    }
}

/// Waits for a request.
pub async fn wait<P: PointToPoint>(process: &P, id: RequestId) -> Result<Completion, MpiError> {
    poll_fn(|cx| process.poll_wait(id, cx)).await
}

/// Sends and waits.
pub async fn send<P: PointToPoint>(process: &P, dst: u32, tag: i32, data: Vec<u8>) {
    let id = process.isend(to(process, dst, tag), data).unwrap();
    wait(process, id).await.unwrap();
}

/// Receives and waits.
pub async fn recv<P: PointToPoint>(process: &P, source: u32, tag: i32, capacity: usize) -> Vec<u8> {
    let id = process.irecv(from(source, tag), capacity).unwrap();
    wait(process, id).await.unwrap().data
}
