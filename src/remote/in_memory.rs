//! Remote write among memories of one process: for tests of what lies above.

use core::fmt;

use heapless::Deque;

use super::{Arrival, Progress, RemoteWrite, Transfer};
use crate::mem::{OutOfMemory, Ram};

/// The memories and letter boxes of `NODES` nodes, lent to each
/// [`InMemory`] endpoint; a box holds `BOX` notifications.
#[derive(Debug)]
pub struct Memories<'a, const NODES: usize, const BOX: usize = 16> {
    rams: [Ram<'a>; NODES],
    boxes: [Deque<Arrival, BOX>; NODES],
}

// The memories are too long to print.
#[cfg(feature = "defmt")]
impl<const NODES: usize, const BOX: usize> defmt::Format for Memories<'_, NODES, BOX> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Memories {{ nodes: {=usize} }}", NODES);
    }
}

impl<'a, const NODES: usize, const BOX: usize> Memories<'a, NODES, BOX> {
    /// Node `i` has memory `rams[i]`.
    pub fn new(rams: [Ram<'a>; NODES]) -> Self {
        Self {
            rams,
            boxes: [const { Deque::new() }; NODES],
        }
    }

    /// The memory of a node.
    pub fn ram(&self, node: u16) -> Option<&Ram<'a>> {
        self.rams.get(usize::from(node))
    }

    /// The memory of a node.
    pub fn ram_mut(&mut self, node: u16) -> Option<&mut Ram<'a>> {
        self.rams.get_mut(usize::from(node))
    }

    /// Does a transfer from `node`; false when the letter box is full.
    fn carry(&mut self, node: u16, transfer: &Transfer) -> Result<bool, InMemoryError> {
        let to = usize::from(transfer.node);
        let full = self.boxes.get(to).is_none_or(|letters| letters.is_full());
        if transfer.flags.notify_receiver && full {
            return Ok(false);
        }
        let mut buffer = [0; 64];
        let mut at = 0;
        while at < transfer.length {
            let piece = (transfer.length - at).min(buffer.len() as u64) as usize;
            let bytes = buffer.get_mut(..piece).unwrap_or(&mut []);
            bytes.copy_from_slice(self.bytes(node, transfer.local, at, piece)?);
            self.bytes(transfer.node, transfer.remote, at, piece)?
                .copy_from_slice(bytes);
            at += piece as u64;
        }
        if transfer.flags.notify_receiver
            && let Some(letters) = self.boxes.get_mut(to)
        {
            // There is room, as was seen above.
            let _ = letters.push_back(Arrival {
                tag: transfer.flags.tag,
            });
        }
        Ok(true)
    }

    fn bytes(
        &mut self,
        node: u16,
        base: u64,
        at: u64,
        len: usize,
    ) -> Result<&mut [u8], InMemoryError> {
        let unknown = InMemoryError::UnknownNode { node, nodes: NODES };
        let ram = self.rams.get_mut(usize::from(node)).ok_or(unknown)?;
        let address = base
            .checked_add(at)
            .and_then(|address| u32::try_from(address).ok());
        let address = address.ok_or(InMemoryError::OutOfReach { address: base })?;
        ram.slice_mut(address, len).map_err(InMemoryError::Memory)
    }
}

/// A transfer that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum InMemoryError {
    /// As many transfers as fit are waiting; goes away by polling, here or at
    /// a destination whose letter box is full.
    QueueFull {
        /// Transfers that fit.
        limit: usize,
    },
    /// No such node.
    UnknownNode {
        /// The node.
        node: u16,
        /// Nodes there are.
        nodes: usize,
    },
    /// An address of more than 32 bits.
    OutOfReach {
        /// First byte of the transfer's range.
        address: u64,
    },
    /// A range outside a memory.
    Memory(OutOfMemory),
    /// No such transfer was started here.
    UnknownTransfer {
        /// Its number.
        id: u64,
    },
}

impl fmt::Display for InMemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::QueueFull { limit } => write!(f, "queue full: {limit} transfers waiting"),
            Self::UnknownNode { node, nodes } => {
                write!(f, "node {node} is unknown, allowed 0..{nodes}")
            }
            Self::OutOfReach { address } => {
                write!(f, "transfer at {address:#x} passes 2^32")
            }
            Self::Memory(error) => error.fmt(f),
            Self::UnknownTransfer { id } => write!(f, "transfer {id} was not started here"),
        }
    }
}

impl core::error::Error for InMemoryError {}

/// Names a transfer of one [`InMemory`] endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct InMemoryToken(u64);

/// The endpoint of one node, with at most `WAITING` transfers and as many
/// notifications. Bytes move when it is polled, in the order of the starts, so
/// that users who forget to poll are found out.
///
/// ```
/// use multipc::mem::Ram;
/// use multipc::remote::{Arrival, Flags, InMemory, Memories, Progress, RemoteWrite, Transfer};
///
/// let (mut here, mut there) = (*b"hello", [0; 5]);
/// let mut memories: Memories<2> =
///     Memories::new([Ram::new(0x1000, &mut here[..]), Ram::new(0x2000, &mut there[..])]);
/// let mut sender: InMemory = InMemory::new(0);
/// let mut receiver: InMemory = InMemory::new(1);
///
/// let flags = Flags { notify_receiver: true, tag: 7 };
/// let transfer = Transfer { node: 1, local: 0x1000, remote: 0x2000, length: 5, flags };
/// let token = sender.start(&mut memories, transfer)?;
/// sender.poll(&mut memories)?;
/// receiver.poll(&mut memories)?;
/// assert_eq!(sender.progress(&token)?, Progress::Sent);
/// assert_eq!(receiver.arrival(), Some(Arrival { tag: 7 }));
/// drop(memories);
/// assert_eq!(&there, b"hello");
/// # Ok::<(), multipc::remote::InMemoryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct InMemory<const WAITING: usize = 8> {
    node: u16,
    waiting: Deque<Transfer, WAITING>,
    arrivals: Deque<Arrival, WAITING>,
    next: u64,
}

// `Deque` has no format of its own.
#[cfg(feature = "defmt")]
impl<const WAITING: usize> defmt::Format for InMemory<WAITING> {
    fn format(&self, f: defmt::Formatter<'_>) {
        let (waiting, arrivals) = (self.waiting.len(), self.arrivals.len());
        defmt::write!(
            f,
            "InMemory {{ node: {=u16}, waiting: {=usize}, arrivals: {=usize} }}",
            self.node,
            waiting,
            arrivals
        );
    }
}

impl<const WAITING: usize> InMemory<WAITING> {
    /// The endpoint of `node`.
    pub const fn new(node: u16) -> Self {
        Self {
            node,
            waiting: Deque::new(),
            arrivals: Deque::new(),
            next: 0,
        }
    }

    /// The next notification: [`RemoteWrite::arrival`].
    pub fn arrival(&mut self) -> Option<Arrival> {
        self.arrivals.pop_front()
    }

    /// How far a transfer is: [`RemoteWrite::progress`], with the same receiver
    /// so that calls find this one, whatever the hardware.
    ///
    /// # Errors
    /// [`InMemoryError::UnknownTransfer`].
    pub fn progress(&mut self, token: &InMemoryToken) -> Result<Progress, InMemoryError> {
        let waiting = self.waiting.len() as u64;
        if token.0 >= self.next {
            Err(InMemoryError::UnknownTransfer { id: token.0 })
        } else if token.0 + waiting >= self.next {
            Ok(Progress::Pending)
        } else {
            Ok(Progress::Sent)
        }
    }
}

impl<const NODES: usize, const BOX: usize, const WAITING: usize>
    RemoteWrite<Memories<'_, NODES, BOX>> for InMemory<WAITING>
{
    type Token = InMemoryToken;
    type Error = InMemoryError;

    fn start(
        &mut self,
        hw: &mut Memories<'_, NODES, BOX>,
        transfer: Transfer,
    ) -> Result<InMemoryToken, InMemoryError> {
        let len = usize::try_from(transfer.length).unwrap_or(usize::MAX);
        if hw.ram(transfer.node).is_none() {
            return Err(InMemoryError::UnknownNode {
                node: transfer.node,
                nodes: NODES,
            });
        }
        if len > 0 {
            hw.bytes(self.node, transfer.local, 0, len)?;
            hw.bytes(transfer.node, transfer.remote, 0, len)?;
        }
        if self.waiting.push_back(transfer).is_err() {
            return Err(InMemoryError::QueueFull { limit: WAITING });
        }
        let token = InMemoryToken(self.next);
        self.next += 1;
        Ok(token)
    }

    fn poll(&mut self, hw: &mut Memories<'_, NODES, BOX>) -> Result<(), InMemoryError> {
        if let Some(letters) = hw.boxes.get_mut(usize::from(self.node)) {
            while !self.arrivals.is_full()
                && let Some(arrival) = letters.pop_front()
            {
                // There is room.
                let _ = self.arrivals.push_back(arrival);
            }
        }
        while let Some(transfer) = self.waiting.front() {
            if !hw.carry(self.node, transfer)? {
                break;
            }
            let _ = self.waiting.pop_front();
        }
        Ok(())
    }

    fn progress(&mut self, token: &InMemoryToken) -> Result<Progress, InMemoryError> {
        Self::progress(self, token)
    }

    fn arrival(&mut self) -> Option<Arrival> {
        Self::arrival(self)
    }

    fn is_full(error: &InMemoryError) -> bool {
        matches!(error, InMemoryError::QueueFull { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::Flags;
    extern crate std;
    use std::string::ToString;

    fn told(tag: u32) -> Transfer {
        let flags = Flags {
            notify_receiver: true,
            tag,
        };
        Transfer {
            node: 1,
            local: 0,
            remote: 0,
            length: 4,
            flags,
        }
    }

    #[test]
    fn bytes_move_at_the_poll_and_in_order() {
        let (mut a, mut b) = ([1, 2, 3, 4, 5, 6, 7, 8], [0; 8]);
        let mut memories: Memories<2> =
            Memories::new([Ram::new(0, &mut a[..]), Ram::new(0, &mut b[..])]);
        let mut endpoint: InMemory = InMemory::new(0);
        let first = endpoint.start(&mut memories, told(1)).unwrap();
        let second = endpoint
            .start(
                &mut memories,
                Transfer {
                    local: 4,
                    ..told(2)
                },
            )
            .unwrap();
        assert_eq!(endpoint.progress(&first), Ok(Progress::Pending));
        assert_eq!(memories.ram(1).unwrap().as_slice(), [0; 8]);
        endpoint.poll(&mut memories).unwrap();
        assert_eq!(endpoint.progress(&first), Ok(Progress::Sent));
        assert_eq!(endpoint.progress(&second), Ok(Progress::Sent));
        assert_eq!(
            memories.ram(1).unwrap().as_slice(),
            [5, 6, 7, 8, 0, 0, 0, 0]
        );
    }

    #[test]
    fn a_full_letter_box_holds_transfers_back_and_loses_none() {
        let (mut a, mut b) = ([0; 8], [0; 8]);
        let mut memories: Memories<2, 2> =
            Memories::new([Ram::new(0, &mut a[..]), Ram::new(0, &mut b[..])]);
        let mut sender: InMemory<4> = InMemory::new(0);
        let mut receiver: InMemory<1> = InMemory::new(1);
        for tag in 0..4 {
            sender.start(&mut memories, told(tag)).unwrap();
        }
        assert_eq!(
            sender
                .start(&mut memories, told(4))
                .unwrap_err()
                .to_string(),
            "queue full: 4 transfers waiting"
        );
        let mut tags = std::vec::Vec::new();
        for _ in 0..8 {
            sender.poll(&mut memories).unwrap();
            receiver.poll(&mut memories).unwrap();
            tags.extend(receiver.arrival().map(|arrival| arrival.tag));
        }
        assert_eq!(tags, [0, 1, 2, 3]);
    }

    #[test]
    fn refused_transfers_are_named() {
        let (mut a, mut b) = ([0; 8], [0; 8]);
        let mut memories: Memories<2> =
            Memories::new([Ram::new(0, &mut a[..]), Ram::new(0x100, &mut b[..])]);
        let mut endpoint: InMemory = InMemory::new(0);
        let good = Transfer {
            remote: 0x100,
            ..told(0)
        };
        let mut refused = |transfer| {
            endpoint
                .start(&mut memories, transfer)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused(Transfer { node: 2, ..good }),
            "node 2 is unknown, allowed 0..2"
        );
        assert_eq!(
            refused(Transfer {
                remote: 0x106,
                ..good
            }),
            "4 bytes at 0x00000106 are outside the memory of 8 bytes at 0x00000100"
        );
        assert_eq!(
            refused(Transfer {
                local: 1 << 32,
                ..good
            }),
            "transfer at 0x100000000 passes 2^32"
        );
        let huge = Transfer {
            length: u64::MAX,
            ..good
        };
        assert!(refused(huge).ends_with("are outside the memory of 8 bytes at 0x00000000"));
    }
}
