//! Two boards in statics, what is checked on them, and what can go wrong.
#![no_std]

pub mod boards;
pub mod check;
pub mod failure;
