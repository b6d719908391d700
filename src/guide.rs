//! The user's guide: pages that lead through one use each.

#[doc = include_str!("guide/break_it.md")]
pub mod break_it {}

#[doc = include_str!("guide/message_passing.md")]
#[cfg(feature = "alloc")]
pub mod message_passing {}
