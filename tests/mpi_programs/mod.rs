//! Random programs that cannot deadlock, and the same result wherever they run.
//!
//! A program is one list of events for all ranks. Each rank goes through it from the
//! top and plays its part in the events that name it: its half of a message, its call
//! of a collective operation. So there is always a rank that can move: the one whose
//! event is the earliest; its partners are at that event, or have passed it and left
//! their half behind. Halves may be left behind (non-blocking) and completed anywhere
//! later.
//!
//! Which message a receive gets is fixed as well. Both ends go through their common
//! messages in the same order; a receive by source gets the message of its event
//! because earlier ones are taken by earlier receives; a receive from any source
//! asks for a tag that only its event has. Storms are the exception: on a
//! communicator of their own, any rank receives anything from anybody.
//!
//! A rank's digest is a sum of hashes, one for each event, over what was received:
//! it does not depend on the order of completion.
#![allow(dead_code)] // each test file uses a part

mod build;
mod play;

pub use build::{Shape, build};
pub use play::play;

use multipc::mpi::api::Algorithms;

/// A program for all ranks.
#[derive(Clone, Debug)]
pub struct Program {
    pub size: u32,
    pub algorithms: Algorithms,
    /// World ranks of each communicator, in its rank order. The first is the world.
    pub comms: Vec<Vec<u32>>,
    pub events: Vec<Event>,
}

#[derive(Clone, Debug)]
pub enum Event {
    Message(Message),
    Collective {
        comm: usize,
        kind: Collective,
        count: usize,
        /// A rank of the communicator.
        root: u32,
        /// World ranks that leave it behind.
        behind: Vec<u32>,
    },
    /// For each rank of the parent: the new communicator it gets, and its key.
    Split {
        parent: usize,
        parts: Vec<(Option<usize>, i32)>,
    },
    Dup {
        parent: usize,
        child: usize,
    },
    /// On a duplicate of `comm`: for each rank, what it sends, as (to, tag, count).
    Storm {
        comm: usize,
        sends: Vec<Vec<(u32, i32, usize)>>,
    },
    Compute {
        rank: u32,
        ns: u64,
    },
    Complete {
        rank: u32,
        how: Complete,
    },
}

/// Source and destination are ranks of the communicator.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    pub comm: usize,
    pub src: u32,
    pub dst: u32,
    pub tag: i32,
    pub count: usize,
    pub send: Send,
    pub receive: Receive,
    /// The receive names the source; the tag. (At least one, unless the tag is the
    /// event's own.)
    pub by_source: bool,
    pub by_tag: bool,
    /// Elements the receive has room for.
    pub capacity: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Send {
    Blocking,
    Synchronous,
    Behind,
    SynchronousBehind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receive {
    Blocking,
    Behind,
    /// Blocking probe, then a receive of what it found.
    Probed,
    /// Probes in a loop.
    Polled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    Barrier,
    Bcast,
    Reduce,
    Allreduce,
    Scan,
    Exscan,
    Gather,
    Scatter,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    ReduceScatter,
}

/// What to do with what was left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Complete {
    Oldest,
    Newest,
    /// Whichever is complete first.
    Any,
    /// The oldest, by testing in a loop.
    Test,
    All,
}

/// A well-mixed function of two numbers (SplitMix64).
pub fn mix(a: u64, b: u64) -> u64 {
    let mut z = a
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(b)
        .wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What `who` sends in an event.
pub fn payload(event: usize, who: u32, count: usize) -> Vec<u32> {
    let seed = mix(event as u64, u64::from(who));
    (0..count as u64).map(|i| mix(seed, i) as u32).collect()
}

/// Elements of rank `rank` in operations with counts; zeros among them.
pub fn share(count: usize, rank: u32) -> usize {
    match rank % 3 {
        0 => count,
        1 => 0,
        _ => count / 2,
    }
}

/// Elements of what rank `from` has for rank `to`.
pub fn parcel(count: usize, from: u32, to: u32) -> usize {
    share(count, from + 2 * to)
}
