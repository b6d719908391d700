//! Helpers of the integration tests.
#![allow(dead_code)] // each test file uses a part

pub mod source;

/// How many cases a property test runs: `short`, or 16 times as many in a long run
/// (`MULTIPC_LONG=1`, set by `cargo run -p xtask -- ci --long`). `PROPTEST_CASES`
/// overrides both.
pub fn cases(short: u32) -> u32 {
    let from_environment = std::env::var("PROPTEST_CASES").ok();
    match from_environment.and_then(|text| text.parse().ok()) {
        Some(cases) => cases,
        None if is_long() => short.saturating_mul(16),
        None => short,
    }
}

/// True in a long run: exhaustive loops may widen their ranges.
pub fn is_long() -> bool {
    std::env::var_os("MULTIPC_LONG").is_some_and(|value| value != "0")
}
