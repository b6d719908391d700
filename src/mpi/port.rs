//! What a process needs of its node.

use core::fmt;

use crate::maspar::remote::PeArray;
use crate::mem::OutOfMemory;
use crate::put::DmaMemory;
use crate::remote::{Arrival, InMemoryError, Memories, Progress, RemoteWrite, Transfer};

use super::pages::{Direct, PageMap, Piece};

/// Remote write from a node, its notifications and its memory, lent for one
/// call of the engine.
///
/// A transfer to the own node, between processes that share it, is the port's
/// to do: a copy, and a notification to the sibling.
pub trait Port {
    /// Names a transfer in progress.
    type Token: Copy;
    /// What can go wrong.
    type Error: fmt::Debug;

    /// Accepts a transfer; none when the queue is full for now.
    ///
    /// # Errors
    /// The transport's own: the transfer is lost, and with it the link.
    fn start(&mut self, transfer: Transfer) -> Result<Option<Self::Token>, Self::Error>;

    /// Does a bounded amount of work on everything in progress.
    ///
    /// # Errors
    /// The transport's own.
    fn poll(&mut self) -> Result<(), Self::Error>;

    /// How far a transfer is; after [`Progress::Sent`] the token is spent.
    ///
    /// # Errors
    /// The transport's own, for a transfer that failed.
    fn progress(&mut self, token: &Self::Token) -> Result<Progress, Self::Error>;

    /// The next notification for this process.
    fn arrival(&mut self) -> Option<Arrival>;

    /// Copies bytes from physical address `addr` of the node.
    ///
    /// # Errors
    /// When any byte is outside of its memory.
    fn load(&mut self, addr: u64, into: &mut [u8]) -> Result<(), Self::Error>;

    /// Copies bytes to physical address `addr` of the node.
    ///
    /// # Errors
    /// When any byte is outside of its memory.
    fn store(&mut self, addr: u64, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Where bytes of the process lie: as [`PageMap::piece`]. The default is
    /// for addresses that are physical.
    fn piece(&self, addr: u64, len: u64) -> Option<Piece> {
        Direct.piece(addr, len)
    }

    /// Copies bytes within the node; the ranges do not overlap.
    ///
    /// # Errors
    /// When any byte is outside of its memory.
    fn copy(&mut self, from: u64, to: u64, len: u64) -> Result<(), Self::Error> {
        let mut buffer = [0; 256];
        let mut at = 0;
        while at < len {
            let step = (len - at).min(buffer.len() as u64);
            let bytes = buffer.get_mut(..step as usize).unwrap_or(&mut []);
            self.load(from.wrapping_add(at), bytes)?;
            self.store(to.wrapping_add(at), bytes)?;
            at += step;
        }
        Ok(())
    }
}

/// The memories of nodes, as their CPUs see them.
pub trait NodeMemory {
    /// What can go wrong.
    type Error: fmt::Debug;

    /// Copies bytes from physical address `addr` of `node`.
    ///
    /// # Errors
    /// When any byte is outside of its memory.
    fn load(&mut self, node: u16, addr: u64, into: &mut [u8]) -> Result<(), Self::Error>;

    /// Copies bytes to physical address `addr` of `node`.
    ///
    /// # Errors
    /// When any byte is outside of its memory.
    fn store(&mut self, node: u16, addr: u64, bytes: &[u8]) -> Result<(), Self::Error>;
}

/// An access outside of a node's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum NodeMemoryError<E> {
    /// An address of more than 32 bits.
    OutOfReach {
        /// The address.
        addr: u64,
    },
    /// The memory's own.
    Memory(E),
}

impl<E: fmt::Display> fmt::Display for NodeMemoryError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfReach { addr } => write!(f, "address {addr:#x}, allowed below 2^32"),
            Self::Memory(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for NodeMemoryError<E> {}

fn address<E>(addr: u64) -> Result<u32, NodeMemoryError<E>> {
    u32::try_from(addr).map_err(|_| NodeMemoryError::OutOfReach { addr })
}

/// The node is the one whose memory it is, whatever its number.
impl<H: DmaMemory + ?Sized> NodeMemory for H {
    type Error = NodeMemoryError<H::Error>;

    fn load(&mut self, _: u16, addr: u64, into: &mut [u8]) -> Result<(), Self::Error> {
        DmaMemory::load(self, address(addr)?, into).map_err(NodeMemoryError::Memory)
    }

    fn store(&mut self, _: u16, addr: u64, bytes: &[u8]) -> Result<(), Self::Error> {
        DmaMemory::store(self, address(addr)?, bytes).map_err(NodeMemoryError::Memory)
    }
}

impl<const NODES: usize, const BOX: usize> NodeMemory for Memories<'_, NODES, BOX> {
    type Error = InMemoryError;

    fn load(&mut self, node: u16, addr: u64, into: &mut [u8]) -> Result<(), InMemoryError> {
        let nodes = NODES;
        let ram = self.ram(node);
        let ram = ram.ok_or(InMemoryError::UnknownNode { node, nodes })?;
        let reach = |_| InMemoryError::OutOfReach { address: addr };
        let at = u32::try_from(addr).map_err(reach)?;
        let bytes = ram.slice(at, into.len()).map_err(InMemoryError::Memory)?;
        into.copy_from_slice(bytes);
        Ok(())
    }

    fn store(&mut self, node: u16, addr: u64, bytes: &[u8]) -> Result<(), InMemoryError> {
        let nodes = NODES;
        let ram = self.ram_mut(node);
        let ram = ram.ok_or(InMemoryError::UnknownNode { node, nodes })?;
        let reach = |_| InMemoryError::OutOfReach { address: addr };
        let at = u32::try_from(addr).map_err(reach)?;
        let place = ram.slice_mut(at, bytes.len());
        place.map_err(InMemoryError::Memory)?.copy_from_slice(bytes);
        Ok(())
    }
}

/// Nodes are PEs.
impl NodeMemory for PeArray<'_> {
    type Error = NodeMemoryError<OutOfMemory>;

    fn load(&mut self, node: u16, addr: u64, into: &mut [u8]) -> Result<(), Self::Error> {
        let at = address(addr)?;
        let memory = self.memory(node);
        let outside = outside(at, into.len(), memory.len());
        let bytes = memory.get(at as usize..).and_then(|m| m.get(..into.len()));
        into.copy_from_slice(bytes.ok_or(outside)?);
        Ok(())
    }

    fn store(&mut self, node: u16, addr: u64, bytes: &[u8]) -> Result<(), Self::Error> {
        let at = address(addr)?;
        let memory = self.memory_mut(node);
        let outside = outside(at, bytes.len(), memory.len());
        let place = memory.get_mut(at as usize..);
        let place = place.and_then(|m| m.get_mut(..bytes.len()));
        place.ok_or(outside)?.copy_from_slice(bytes);
        Ok(())
    }
}

const fn outside(addr: u32, len: usize, size: usize) -> NodeMemoryError<OutOfMemory> {
    NodeMemoryError::Memory(OutOfMemory {
        addr,
        len,
        base: 0,
        size,
    })
}

/// The port of a node: its end of a transport, and the hardware that both are
/// lent.
#[derive(Debug)]
pub struct Lent<'p, W, H: ?Sized, M = Direct> {
    writer: &'p mut W,
    hw: &'p mut H,
    node: u16,
    pages: M,
}

impl<'p, W, H: ?Sized> Lent<'p, W, H> {
    /// The port of `node`.
    pub const fn new(writer: &'p mut W, hw: &'p mut H, node: u16) -> Self {
        Self {
            writer,
            hw,
            node,
            pages: Direct,
        }
    }

    /// With another page map.
    pub fn with_pages<M: PageMap>(self, pages: M) -> Lent<'p, W, H, M> {
        let Self {
            writer, hw, node, ..
        } = self;
        Lent {
            writer,
            hw,
            node,
            pages,
        }
    }
}

/// What goes wrong at a [`Lent`] port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum LentError<E, M> {
    /// The transport's own.
    Transport(E),
    /// The memory's own.
    Memory(M),
}

impl<E: fmt::Display, M: fmt::Display> fmt::Display for LentError<E, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(error) => error.fmt(f),
            Self::Memory(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display, M: fmt::Debug + fmt::Display> core::error::Error
    for LentError<E, M>
{
}

impl<W, H, M> Port for Lent<'_, W, H, M>
where
    H: NodeMemory + ?Sized,
    W: RemoteWrite<H>,
    W::Token: Copy,
    W::Error: fmt::Debug,
    M: PageMap,
{
    type Token = W::Token;
    type Error = LentError<W::Error, H::Error>;

    fn start(&mut self, transfer: Transfer) -> Result<Option<W::Token>, Self::Error> {
        match self.writer.start(self.hw, transfer) {
            Ok(token) => Ok(Some(token)),
            Err(error) if W::is_full(&error) => Ok(None),
            Err(error) => Err(LentError::Transport(error)),
        }
    }

    fn poll(&mut self) -> Result<(), Self::Error> {
        self.writer.poll(self.hw).map_err(LentError::Transport)
    }

    fn progress(&mut self, token: &W::Token) -> Result<Progress, Self::Error> {
        self.writer.progress(token).map_err(LentError::Transport)
    }

    fn arrival(&mut self) -> Option<Arrival> {
        self.writer.arrival()
    }

    fn load(&mut self, addr: u64, into: &mut [u8]) -> Result<(), Self::Error> {
        self.hw
            .load(self.node, addr, into)
            .map_err(LentError::Memory)
    }

    fn store(&mut self, addr: u64, bytes: &[u8]) -> Result<(), Self::Error> {
        let stored = self.hw.store(self.node, addr, bytes);
        stored.map_err(LentError::Memory)
    }

    fn piece(&self, addr: u64, len: u64) -> Option<Piece> {
        self.pages.piece(addr, len)
    }
}
