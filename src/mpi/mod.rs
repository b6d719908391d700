//! MPI-MPC: message passing over remote write.
//!
//! Leaf modules, pure and without allocation: the bytes of control messages
//! ([`wire`]), who may send when ([`credit`]), which message goes to which
//! receive ([`matching`]).
//!
//! On them stands the engine of one process ([`endpoint`]), with what it needs:
//! its node as a [`Port`], its choices ([`MpiConfig`]) and costs
//! ([`MpiCost`]), its memory ([`Layout`]), what the processes tell each other
//! at the start ([`boot`]). Document: hw/doc/mpi.md.
//!
//! Without an allocator the engine has collective operations too ([`polled`]): the
//! algorithms ([`collective`]) are those of programs that allocate.
//!
//! Programs of many ranks run on a simulated machine in a `world`; a `timeline`
//! tells where their time went. What a program sees: one process's calls
//! ([`process`]), the vocabulary of the standard over them (`api`), and a trivial
//! machine to hold all others against (`reference`).

#[cfg(feature = "alloc")]
pub mod api;
pub mod boot;
pub mod collective;
mod config;
mod convert;
mod cost;
pub mod credit;
pub mod endpoint;
mod layout;
pub mod matching;
mod pages;
pub mod polled;
mod port;
pub mod process;
#[cfg(feature = "alloc")]
pub mod reference;
#[cfg(feature = "alloc")]
pub mod timeline;
mod trace;
pub mod wire;
#[cfg(feature = "alloc")]
pub mod world;

pub use config::{
    ArrivalMode, MAX_PIECE, MAX_RANKS, MAX_SLOTS, MpiConfig, Policy, SLOT_BYTES, TagPacking,
};
pub use cost::{MpiCost, PAGE};
pub use layout::{ARENA_ALIGN, Layout};
pub use pages::{Direct, PageMap, Piece, Pieces};
pub use port::{Lent, LentError, NodeMemory, NodeMemoryError, Port};
pub use trace::{Cause, Note, Trace};
