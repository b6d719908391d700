//! Random bytes for `multipc_fuzz::endpoint`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| multipc_fuzz::endpoint(data));
