//! Programs on a simulated machine: an `async fn` for each rank.

pub mod media;
