//! Random bytes for `multipc_fuzz::chain`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| multipc_fuzz::chain(data));
