//! MPI-MPC: a message layer over remote write.
//!
//! Leaf modules, pure and without allocation: the bytes of control messages
//! ([`wire`]), who may send when ([`credit`]), which message goes to which
//! receive ([`matching`]).
//!
//! What a program sees: one process's calls ([`process`]), the vocabulary of the
//! standard over them (`api`), collective operations (`collective`), and a trivial
//! machine to hold all others against (`reference`).

#[cfg(feature = "alloc")]
pub mod api;
#[cfg(feature = "alloc")]
pub mod collective;
pub mod credit;
pub mod matching;
pub mod process;
#[cfg(feature = "alloc")]
pub mod reference;
#[cfg(feature = "alloc")]
pub mod timeline;
pub mod wire;
#[cfg(feature = "alloc")]
pub mod world;
