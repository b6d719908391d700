//! Which message goes to which receive.
//!
//! An [`Envelope`] is (context, source, tag); a receive names a [`Pattern`]:
//! the context exactly, source and tag exactly or any. Any tag does not match
//! negative ones. An arriving envelope goes to the *earliest posted* receive
//! that matches, a posted receive takes the *earliest arrived* envelope that
//! matches, so messages of one source and context do not overtake each other
//! (MPI-1.1, section 3.5).
//!
//! A plain list does that in time linear in its length. Here both queues are
//! indexed by patterns. A posted receive stands in the chain of its own
//! pattern; an arrival looks into the chains of the four patterns that match
//! it and takes the head with the lowest sequence number. A waiting envelope
//! stands in the chains of all patterns that match it (four, two for a
//! negative tag); a receive looks into one. Chains are doubly linked inside of
//! the caller's cells, which hold the hash table's buckets too, and are in
//! order of arrival: the first match is the earliest.

mod envelope;
mod error;
mod matcher;
mod table;

#[cfg(test)]
mod tests;

pub use envelope::{Envelope, Pattern};
pub use error::MatchError;
pub use matcher::{Arrived, Handle, Matcher, Posted};
pub use table::{PostedCell, UnexpectedCell};
