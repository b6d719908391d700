//! Collective operations of an endpoint over fixed storage, polled by hand.
//!
//! ```text
//!   program    Operation, Operation ...   one for each started collective call
//!   Group      ranks, context, sequence of tags, algorithms
//!   Courier    messages of the operations, in the caller's bytes
//!   Endpoint   Port
//! ```
//!
//! An operation is a future that the caller pins, on its stack or in a static: a state
//! machine of fixed size. Nothing wakes it: the caller lets it go on
//! ([`Operation::look`]) between the steps of its endpoint
//! ([`Courier::progress`]), as often as it likes and along with others. There is no
//! executor and no allocator.
//!
//! The algorithms, contexts, tags and the order of messages are those of the programs
//! that allocate (`api`), so ranks of both kinds may meet in one operation.
//!
//! Buffers are slices of the caller. Messages pass through two places of the same
//! size: the courier's bytes and a window of the node's memory that the transport
//! reaches. What an operation needs of them and of messages at once it takes before its
//! first message, when it checks its room for operands too.

mod combining;
mod courier;
mod desk;
mod group;
mod line;
mod moving;
mod need;
mod operation;

pub use courier::Courier;
pub use group::Group;
pub use operation::Operation;
