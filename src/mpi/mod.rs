//! MPI-MPC: message passing over remote write.

#[cfg(feature = "alloc")]
pub mod api;
#[cfg(feature = "alloc")]
pub mod collective;
pub mod process;
#[cfg(feature = "alloc")]
pub mod reference;
