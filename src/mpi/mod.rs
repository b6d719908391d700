//! MPI-MPC: message passing over remote write.

pub mod process;
