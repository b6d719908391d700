//! Who may send a control message when.
//!
//! Each ordered pair of processes has K slots in the receiver's memory, used
//! and consumed in cyclic order. A remote write into a slot that was not read
//! destroys it silently, so a sender counts: a slot costs a credit, and the
//! credit comes back when the receiver has copied the content out.
//!
//! | pointer | moved by | when | told to the other side by |
//! |---|---|---|---|
//! | `tx_next` | sender | a message is written into its staging buffer | the message's number |
//! | `rx_next` | receiver | a message was taken | -- |
//! | oldest full slot | receiver | its content was copied out | `credits` of any message, or the counter word |
//!
//! Rules: R1 SHORT, REQ and RSP need two credits and take one: the last is
//! kept for CRDT. R2 CRDT needs one. R3 every message carries all credits that
//! are owed. R4 a slot is freed when its content is copied, a CRDT's at once.
//! R5 a CRDT goes when T or more are owed and no ordinary message can go.
//! R6 K >= 3, 2 <= T < K. R7 too many credits, a wrong number, a slot not
//! granted: the link to the peer is closed. R8 CRDT before RSP before
//! envelopes, and envelopes in order ([`PeerCredit::turn`]).
//!
//! For each direction, at any time ([`conservation`]):
//!
//! ```text
//! tx_avail + messages on the way + slots full + rx_owed + credits on the way back = K
//! ```
//!
//! Why it cannot stall: if a sender is down to its last credit and nothing is
//! on the way, the receiver owes K - 1 >= T, so it sends a CRDT unless it has
//! no credit at all; then its last message was a CRDT (R1) that carried T or
//! more. Were both sides without any, the CRDT that left last would have been
//! received by the other side after that one's own, and raised its credits.
//! With T >= 2 each CRDT is paid for by two consumed messages, so there is no
//! endless exchange. `tests/mpi_credits.rs` walks through every state.

mod config;
mod counter;
mod error;
mod law;
mod peer;

#[cfg(test)]
mod tests;

pub use config::{CreditConfig, CreditConfigError, CreditMode};
pub use error::CreditError;
pub use law::{Unbalanced, conservation};
pub use peer::{Granted, PeerCredit, Turn};
