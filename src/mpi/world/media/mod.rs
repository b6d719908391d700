//! Machines that carry remote writes, as the executor drives them.

mod boards;
mod direct;
mod maspar;
mod memory;
mod reliable;
mod ways;

pub use boards::{BoardError, Boards, BoardsConfig};
pub use maspar::{MasPar, MasParConfig, MasParError};
pub use memory::{Memory, MemoryConfig, MemoryError};
pub use reliable::{ReliableBoardError, ReliableBoards, ReliableBootError, ReliableConfig};

use core::fmt;
use core::ops::Range;

use crate::fabric::Watch;
use crate::remote::{Arrival, Progress, Transfer};
use crate::time::Instant;

/// A machine of nodes with memory and remote write between them.
///
/// Software is not part of it: calls other than [`advance`](Self::advance) take
/// no time here, because the time of software comes from a cost model and is
/// spent by calling `advance`.
pub trait Medium {
    /// Names a transfer of a node.
    type Token: Copy + fmt::Debug + PartialEq + 'static;
    /// What can go wrong.
    type Error: fmt::Debug + fmt::Display;

    /// Nodes of the machine.
    fn nodes(&self) -> u16;

    /// Physical addresses that the message layer may use, on every node.
    fn arena(&self) -> Range<u64>;

    /// Reports that may wait at a node before the hardware stops.
    fn report_limit(&self) -> u32;

    /// The present.
    fn now(&self) -> Instant;

    /// Runs to `until`, or to the first moment that brings a watched node news;
    /// true in that case, and at once while there is news that nobody has
    /// [taken](Self::take_news).
    fn advance(&mut self, until: Instant) -> bool;

    /// When something happens next if nobody gives the machine more to do;
    /// `None`: never.
    fn next_activity(&self) -> Option<Instant>;

    /// Says what counts as news of a node.
    fn watch(&mut self, node: u16, watch: Watch);

    /// The nodes with news since the last call go to `each`, in order.
    fn take_news(&mut self, each: &mut dyn FnMut(u16));

    /// Whether a node's controller asks for its processor.
    fn interrupt(&self, node: u16) -> bool;

    /// Accepts a transfer of a node whole; `None` while there is no room.
    ///
    /// # Errors
    /// A transfer that cannot be carried.
    fn start(&mut self, node: u16, transfer: Transfer) -> Result<Option<Self::Token>, Self::Error>;

    /// The node's driver looks at its rings.
    ///
    /// # Errors
    /// What the driver found broken.
    fn poll(&mut self, node: u16) -> Result<(), Self::Error>;

    /// The pairs of nodes that have parted since the last call go to `each`: nothing
    /// passes between the two any more, whatever becomes of other pairs. Of a node
    /// that is lost to all [`poll`](Self::poll) tells.
    fn take_partings(&mut self, each: &mut dyn FnMut(u16, u16)) {
        let _ = each;
    }

    /// How far a transfer is, as of the last [`poll`](Self::poll).
    ///
    /// # Errors
    /// A transfer that will not be finished.
    fn progress(&mut self, node: u16, token: Self::Token) -> Result<Progress, Self::Error>;

    /// The next notification, as of the last [`poll`](Self::poll).
    fn arrival(&mut self, node: u16) -> Option<Arrival>;

    /// Copies bytes out of a node's memory.
    ///
    /// # Errors
    /// When any byte is outside.
    fn load(&self, node: u16, addr: u64, bytes: &mut [u8]) -> Result<(), Self::Error>;

    /// Copies bytes into a node's memory.
    ///
    /// # Errors
    /// When any byte is outside.
    fn store(&mut self, node: u16, addr: u64, bytes: &[u8]) -> Result<(), Self::Error>;
}
