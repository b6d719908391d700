//! Random bytes for `multipc_fuzz::router`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| multipc_fuzz::router(data));
