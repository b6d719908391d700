//! The command line (feature `cli`).

/// Runs the command line with the process's arguments; returns its exit status.
pub fn main() -> i32 {
    0
}
