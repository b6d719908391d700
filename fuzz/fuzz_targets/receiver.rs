//! Random bytes for `multipc_fuzz::receiver`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| multipc_fuzz::receiver(data));
