//! Random bytes for `multipc_fuzz::descriptor`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| multipc_fuzz::descriptor(data));
