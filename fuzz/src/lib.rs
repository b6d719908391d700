//! What must hold for any bytes at all: one function a format.
//!
//! The fuzz targets call them with random bytes; `tests/fuzz_seeds.rs` calls them
//! with every committed seed, on any toolchain. They panic on a finding.

mod chain;
mod control;
mod descriptor;
mod driver;
mod endpoint;
mod packet;
mod receiver;
mod router;

pub use chain::chain;
pub use control::control;
pub use descriptor::descriptor;
pub use driver::driver;
pub use endpoint::endpoint;
pub use packet::packet;
pub use receiver::receiver;
pub use router::router;

/// Takes `N` bytes off the front, zeros where there are too few.
fn take<const N: usize>(data: &mut &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    let n = N.min(data.len());
    let (front, rest) = data.split_at(n);
    bytes[..n].copy_from_slice(front);
    *data = rest;
    bytes
}
