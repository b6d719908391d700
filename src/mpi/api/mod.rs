//! The vocabulary of the MPI standard, in Rust form.
//!
//! A program is an `async fn` per rank over a [`Communicator`]; it runs over
//! anything that implements [`PointToPoint`](super::process::PointToPoint).
//! Messages are slices of plain data ([`bytemuck::Pod`]); sender and receiver
//! must agree on the element type, as in C.

mod collectives;
mod communicator;
mod completion;
mod failed;
mod layout;
mod matched;
mod persistent;
mod point;
mod reductions;
mod request;
mod status;

pub use communicator::Communicator;
pub use completion::{complete_all, testall, testany, testsome, waitall, waitany, waitsome};
pub use layout::{Layout, Segment};
pub use matched::Message;
pub use persistent::{PersistentRecv, PersistentSend, Start, startall};
pub use point::Received;
pub use request::{AnyRequest, Request};
pub use status::{ANY_SOURCE, ANY_TAG, PROC_NULL, Peer, Source, Status, Tag};

pub use super::collective::{
    Algorithms, Allgather, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Bits, Blocks, Numeric,
    Op, Reduce, ReduceScatter, Rooted, Scan,
};
