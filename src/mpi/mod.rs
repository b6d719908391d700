//! MPI-MPC: message passing over remote write.

pub mod process;
#[cfg(feature = "alloc")]
pub mod world;
