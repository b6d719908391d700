//! Collective operations: named algorithms over the messages of one communicator.
//!
//! Each is an `async fn` over a link: the collective context of the communicator
//! (`2c + 1`, messages flagged INTERNAL) and a tag of the operation's own, from a
//! sequence that runs alike on all ranks. The algorithms move slices that the caller
//! owns and need no allocator; programs that own their data (`api`) and endpoints over
//! fixed storage ([`polled`](super::polled)) use the same ones. Blocking and
//! non-blocking calls are the same code: the non-blocking one is a future that is
//! polled along with others. Results are deterministic: the order of combination
//! depends on the algorithm and the number of ranks, never on arrival.

mod algorithms;
pub(crate) mod allgather;
pub(crate) mod allreduce;
pub(crate) mod alltoall;
pub(crate) mod barrier;
pub(crate) mod bcast;
#[cfg(feature = "alloc")]
mod blocks;
#[cfg(feature = "alloc")]
pub(crate) mod channel;
pub(crate) mod cut;
mod element;
#[cfg(feature = "alloc")]
pub(crate) mod engine;
pub(crate) mod gather;
pub(crate) mod link;
mod op;
#[cfg(feature = "alloc")]
pub(crate) mod owned;
#[cfg(feature = "alloc")]
mod owned_op;
pub(crate) mod reduce;
pub(crate) mod reduce_scatter;
pub(crate) mod scan;
pub(crate) mod scatter;
pub(crate) mod tree;

pub use algorithms::{
    Algorithms, Allgather, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Reduce, ReduceScatter,
    Rooted, Scan,
};
#[cfg(feature = "alloc")]
pub use blocks::Blocks;
pub use element::{Bits, Numeric};
pub use op::{Combine, FixedOp};
#[cfg(feature = "alloc")]
pub use owned_op::Op;
