//! The user's guide: pages that lead through one use each.

#[doc = include_str!("guide/break_it.md")]
pub mod break_it {}
