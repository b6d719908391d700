//! Random bytes for `multipc_fuzz::control`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| multipc_fuzz::control(data));
