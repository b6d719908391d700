extern crate std;
use super::*;

#[test]
fn a_router_fits_in_4_kib() {
    let size = size_of::<Rcube>();
    assert!(size <= 4096, "{size} bytes");
}
