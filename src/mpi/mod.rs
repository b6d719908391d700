//! MPI-MPC: message passing over remote write.
//!
//! Leaf modules, pure and without allocation: the bytes of control messages
//! ([`wire`]), who may send when ([`credit`]), which message goes to which
//! receive ([`matching`]).

pub mod credit;
pub mod matching;
pub mod process;
#[cfg(feature = "alloc")]
pub mod timeline;
pub mod wire;
#[cfg(feature = "alloc")]
pub mod world;
