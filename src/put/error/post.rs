//! Refusals of entries, messages and packet counters.

use core::fmt;

use crate::put::MI_LIMIT;

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
    /// A message identifier with bit 23, which emulated short messages use.
    MiReserved {
        /// The identifier.
        mi: u32,
    },
    /// A page that this silicon cannot read in place, and no bounce buffer
    /// ([`PutConfig::bounce`](crate::put::PutConfig::bounce)).
    NoBounceBuffer {
        /// Its local address.
        local: u32,
        /// Its length.
        length: u32,
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
                write!(f, "message identifier {mi:#x}, allowed 0..{:#x}", MI_LIMIT)
            }
            Self::MiReserved { mi } => {
                write!(
                    f,
                    "message identifier {mi:#x}, allowed 0..0x800000 with emulated short messages"
                )
            }
            Self::NoBounceBuffer { local, length } => {
                write!(
                    f,
                    "page of {length} bytes at {local:#010x} needs a bounce buffer or alignment to 4"
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
