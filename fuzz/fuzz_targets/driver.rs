//! Random bytes for `multipc_fuzz::driver`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| multipc_fuzz::driver(data));
