//! Collective operations: named algorithms over the messages of one communicator.
//!
//! Each is an `async fn` over a channel: the collective context of the communicator
//! (`2c + 1`, messages flagged INTERNAL) and a tag of the operation's own, from a
//! sequence that runs alike on all ranks. Blocking and non-blocking calls are the
//! same code: the non-blocking one gives the future to its process's engine.
//! Results are deterministic: the order of combination depends on the algorithm and
//! the number of ranks, never on arrival.

mod algorithms;
pub(crate) mod allgather;
pub(crate) mod allreduce;
pub(crate) mod alltoall;
pub(crate) mod barrier;
pub(crate) mod bcast;
pub(crate) mod channel;
pub(crate) mod engine;
pub(crate) mod gather;
mod op;
pub(crate) mod reduce;
pub(crate) mod reduce_scatter;
pub(crate) mod scan;
pub(crate) mod scatter;
mod tree;

pub use algorithms::{
    Algorithms, Allgather, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Reduce, ReduceScatter,
    Rooted, Scan,
};
pub use alltoall::Blocks;
pub use op::{Bits, Numeric, Op};
