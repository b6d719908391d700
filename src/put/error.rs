//! What the driver's calls can refuse, one enum per family of calls.

use core::fmt;

use super::port::{DmaMemory, RegisterPort};

/// Reads of one register before the driver gives up on all-ones answers.
pub const READ_TRIES: u8 = 11;

/// The hardware did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PortError<R, M> {
    /// A register access failed.
    Register {
        /// The register.
        offset: u8,
        /// The port's own error.
        error: R,
    },
    /// A memory access failed.
    Memory {
        /// First byte.
        address: u32,
        /// The memory's own error.
        error: M,
    },
    /// A register answered all ones [`READ_TRIES`] times.
    NoAnswer {
        /// The register.
        offset: u8,
    },
}

/// The [`PortError`] of a hardware handle.
pub type PortErrorOf<H> = PortError<<H as RegisterPort>::Error, <H as DmaMemory>::Error>;

impl<R: fmt::Debug, M: fmt::Debug> fmt::Display for PortError<R, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Register { offset, error } => {
                write!(f, "access to register {offset:#04x} failed: {error:?}")
            }
            Self::Memory { address, error } => {
                write!(f, "access to memory at {address:#010x} failed: {error:?}")
            }
            Self::NoAnswer { offset } => {
                write!(
                    f,
                    "register {offset:#04x} read as 0xffffffff {READ_TRIES} times"
                )
            }
        }
    }
}

impl<R: fmt::Debug, M: fmt::Debug> core::error::Error for PortError<R, M> {}

/// Why the driver did not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum InitError<E> {
    /// The driver is open already, or was not closed after a stop.
    #[doc(alias = "EBUSY")]
    AlreadyOpen,
    /// Too few or too many ring entries.
    #[doc(alias = "EINVAL")]
    Entries {
        /// The value.
        entries: u32,
    },
    /// Too many packet counters.
    Counters {
        /// The value.
        counters: u32,
    },
    /// Too few or too many nodes.
    Nodes {
        /// The value.
        nodes: u16,
    },
    /// This node is not one of the nodes.
    OwnNode {
        /// This node.
        node: u16,
        /// Nodes of the machine.
        nodes: u16,
    },
    /// The base of the tables is not a multiple of 16.
    UnalignedRing {
        /// The value.
        base: u32,
    },
    /// The tables do not end below 2^32.
    RingPastEnd {
        /// The base.
        base: u32,
        /// Bytes of the tables.
        size: u64,
    },
    /// The routing table does not have 258 bytes.
    #[doc(alias = "EFAULT")]
    TableLength {
        /// Its length.
        len: usize,
    },
    /// Packet counting was asked from a chip whose counters are broken.
    BrokenCounters,
    /// Register 00h does not hold the identity of the board.
    #[doc(alias = "ENXIO")]
    NoBoard {
        /// What it holds.
        found: u32,
        /// What was expected.
        expected: u32,
    },
    /// The hardware did not answer.
    Port(E),
}

/// Bytes of a router's configuration chain.
pub const TABLE_LEN: usize = 258;
/// Entries of a ring at most.
pub const MAX_ENTRIES: u32 = 65_536;
/// Nodes the driver keeps a mode for.
pub const MAX_NODES: u16 = 256;

impl<E: fmt::Display> fmt::Display for InitError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyOpen => f.write_str("driver is open already"),
            Self::Entries { entries } => {
                write!(f, "ring of {entries} entries, allowed 2..={MAX_ENTRIES}")
            }
            Self::Counters { counters } => {
                write!(
                    f,
                    "{counters} packet counters, allowed 0..={}",
                    super::MI_LIMIT
                )
            }
            Self::Nodes { nodes } => write!(f, "{nodes} nodes, allowed 1..={MAX_NODES}"),
            Self::OwnNode { node, nodes } => {
                write!(f, "own node {node} is outside 0..{nodes}")
            }
            Self::UnalignedRing { base } => {
                write!(f, "ring base {base:#010x} is not a multiple of 16")
            }
            Self::RingPastEnd { base, size } => {
                write!(
                    f,
                    "tables of {size} bytes at {base:#010x} do not end below 2^32"
                )
            }
            Self::TableLength { len } => {
                write!(f, "routing table of {len} bytes, must have {TABLE_LEN}")
            }
            Self::BrokenCounters => {
                f.write_str("packet counters asked from a revision whose counters are broken")
            }
            Self::NoBoard { found, expected } => {
                write!(
                    f,
                    "no board: register 0x00 holds {found:#010x}, expected {expected:#010x}"
                )
            }
            Self::Port(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for InitError<E> {}

impl<E> From<E> for InitError<E> {
    fn from(error: E) -> Self {
        Self::Port(error)
    }
}

/// A SAP call that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SapError {
    /// The driver is not open.
    #[doc(alias = "ENOENT")]
    NotOpen,
    /// No SAP of that number is registered.
    #[doc(alias = "EBADF")]
    Unknown {
        /// The number.
        sap: u8,
    },
    /// All SAPs are in use.
    Full,
}

impl fmt::Display for SapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpen => f.write_str("driver is not open"),
            Self::Unknown { sap } => write!(f, "sap {sap} is not registered"),
            Self::Full => write!(f, "all {} saps are in use", super::SAPS),
        }
    }
}

impl core::error::Error for SapError {}

/// A range of message identifiers that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum AttachError {
    /// The driver is not open.
    #[doc(alias = "ENOENT")]
    NotOpen,
    /// No SAP of that number is registered.
    #[doc(alias = "EBADF")]
    UnknownSap {
        /// The number.
        sap: u8,
    },
    /// The SAP has a range.
    #[doc(alias = "EBUSY")]
    AlreadyAttached {
        /// Its first identifier.
        start: u32,
        /// Its size.
        size: u32,
    },
    /// The size is not a power of 2.
    #[doc(alias = "EINVAL")]
    NotPowerOfTwo {
        /// The size.
        n: u32,
    },
    /// The first range would take all identifiers or more.
    #[doc(alias = "E2BIG")]
    TooBig {
        /// The size.
        n: u32,
    },
    /// No gap after an existing range is large enough.
    #[doc(alias = "ENOMEM")]
    NoRoom {
        /// The size.
        n: u32,
    },
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpen => f.write_str("driver is not open"),
            Self::UnknownSap { sap } => write!(f, "sap {sap} is not registered"),
            Self::AlreadyAttached { start, size } => {
                write!(f, "sap has {size} message identifiers from {start} already")
            }
            Self::NotPowerOfTwo { n } => {
                write!(f, "range of {n} message identifiers is not a power of 2")
            }
            Self::TooBig { n } => {
                write!(
                    f,
                    "first range of {n} message identifiers, allowed 1..{}",
                    super::MI_LIMIT
                )
            }
            Self::NoRoom { n } => write!(
                f,
                "no room for {n} message identifiers below {} after the ranges in use",
                super::MI_LIMIT
            ),
        }
    }
}

impl core::error::Error for AttachError {}

impl From<SapError> for AttachError {
    fn from(error: SapError) -> Self {
        match error {
            SapError::Unknown { sap } => Self::UnknownSap { sap },
            SapError::NotOpen | SapError::Full => Self::NotOpen,
        }
    }
}

/// An entry that the chip must not be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Protocol {
    /// NOS without LMP: the chip would never count the page.
    NosWithoutLmp,
    /// NOR without LMI: a reception would be counted without a report.
    NorWithoutLmi,
    /// A short message without LMP.
    ShortWithoutLmp,
    /// Short and composed at once.
    ShortAndComposed,
    /// A composed message while packets are not counted.
    ComposedWithoutCounters,
    /// A short or composed message with a length.
    DataWithoutPage {
        /// The length.
        length: u32,
    },
    /// The remote address is 0.
    ZeroRemote,
    /// The local address is 0.
    ZeroLocal,
    /// A page of no bytes, or of more than 65,535.
    PageLength {
        /// Its length.
        length: u32,
    },
    /// A page that passes the end of the 32-bit address space.
    PastEnd {
        /// Its first byte.
        address: u32,
        /// Its length.
        length: u32,
    },
    /// A message identifier of more than 24 bits.
    MiTooWide {
        /// The identifier.
        mi: u32,
    },
}

/// Bytes of a page at most.
pub const MAX_PAGE: u32 = 65_535;

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NosWithoutLmp => f.write_str("nos without lmp"),
            Self::NorWithoutLmi => f.write_str("nor without lmi"),
            Self::ShortWithoutLmp => f.write_str("short message without lmp"),
            Self::ShortAndComposed => f.write_str("message is short and composed"),
            Self::ComposedWithoutCounters => {
                f.write_str("composed message while packets are not counted")
            }
            Self::DataWithoutPage { length } => {
                write!(f, "short or composed message of {length} bytes, must be 0")
            }
            Self::ZeroRemote => f.write_str("remote address of a page is 0"),
            Self::ZeroLocal => f.write_str("local address of a page is 0"),
            Self::PageLength { length } => {
                write!(f, "page of {length} bytes, allowed 1..={MAX_PAGE}")
            }
            Self::PastEnd { address, length } => {
                write!(f, "page of {length} bytes at {address:#010x} passes 2^32")
            }
            Self::MiTooWide { mi } => {
                write!(
                    f,
                    "message identifier {mi:#x}, allowed 0..{:#x}",
                    super::MI_LIMIT
                )
            }
        }
    }
}

impl core::error::Error for Protocol {}

/// An entry that was not posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum AddError<E> {
    /// The driver is not open.
    #[doc(alias = "ENOENT")]
    NotOpen,
    /// Interrupts of the start are still being flushed.
    #[doc(alias = "EAGAIN")]
    Starting,
    /// The board was stopped after a fault; close and start it again.
    #[doc(alias = "stop_put")]
    Stopped,
    /// No such node.
    #[doc(alias = "ERANGE")]
    UnknownNode {
        /// The node.
        node: u16,
        /// Nodes of the machine.
        nodes: u16,
    },
    /// The node is in Ethernet mode, which this driver does not carry.
    NotOnHsl {
        /// The node.
        node: u16,
    },
    /// The ring has too little room now; it comes back by polling.
    #[doc(alias = "EAGAIN")]
    RingFull {
        /// Entries asked for.
        needed: u32,
        /// Entries free.
        free: u32,
    },
    /// The message has more pages than the ring can ever hold.
    MessageTooLong {
        /// Its pages.
        pages: usize,
        /// Entries of an empty ring.
        limit: u32,
    },
    /// The entry itself is wrong.
    Protocol(Protocol),
    /// The hardware did not answer; the entry was not posted.
    Port(E),
}

impl<E: fmt::Display> fmt::Display for AddError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpen => f.write_str("driver is not open"),
            Self::Starting => f.write_str("driver is still starting"),
            Self::Stopped => f.write_str("board was stopped after a fault"),
            Self::UnknownNode { node, nodes } => {
                write!(f, "node {node} is unknown, allowed 0..{nodes}")
            }
            Self::NotOnHsl { node } => write!(f, "node {node} is not reached by hsl"),
            Self::RingFull { needed, free } => {
                write!(f, "ring full: {needed} entries needed, {free} free")
            }
            Self::MessageTooLong { pages, limit } => {
                write!(f, "message of {pages} pages, allowed 1..={limit}")
            }
            Self::Protocol(error) => error.fmt(f),
            Self::Port(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for AddError<E> {}

impl<E> From<E> for AddError<E> {
    fn from(error: E) -> Self {
        Self::Port(error)
    }
}

/// A flush, poll or interrupt that was not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ServeError<E> {
    /// The driver is not open.
    #[doc(alias = "ENOENT")]
    NotOpen,
    /// The board was stopped after a fault; close and start it again.
    #[doc(alias = "stop_put")]
    Stopped,
    /// The hardware did not answer; nothing was lost, call again.
    Port(E),
}

impl<E: fmt::Display> fmt::Display for ServeError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpen => f.write_str("driver is not open"),
            Self::Stopped => f.write_str("board was stopped after a fault"),
            Self::Port(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for ServeError<E> {}

impl<E> From<E> for ServeError<E> {
    fn from(error: E) -> Self {
        Self::Port(error)
    }
}

/// A packet counter that could not be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum CounterError<E> {
    /// The driver is not open.
    #[doc(alias = "ENOENT")]
    NotOpen,
    /// The table has no counter for this message identifier.
    #[doc(alias = "ERANGE")]
    OutOfRange {
        /// The identifier.
        mi: u32,
        /// Counters of the table.
        counters: u32,
    },
    /// No packets, or a count of more than 16 bits.
    Packets {
        /// The count.
        packets: u32,
    },
    /// The hardware did not answer.
    Port(E),
}

impl<E: fmt::Display> fmt::Display for CounterError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpen => f.write_str("driver is not open"),
            Self::OutOfRange { mi, counters } => {
                write!(
                    f,
                    "no packet counter for message identifier {mi}, allowed 0..{counters}"
                )
            }
            Self::Packets { packets } => {
                write!(f, "{packets} packets expected, allowed 1..=65535")
            }
            Self::Port(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for CounterError<E> {}
