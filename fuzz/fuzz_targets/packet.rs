//! Random bytes for `multipc_fuzz::packet`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| multipc_fuzz::packet(data));
