//! What the driver tells: the callbacks of the record, as values.

use core::fmt;

use super::sap::Sap;
use super::wire::{Descriptor, Report};

/// Something happened; handed to the caller's sink once, after it was
/// acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Event {
    /// A page with NOS has left.
    #[doc(alias = "IT_sent")]
    Sent {
        /// The owner of its message identifier.
        sap: Sap,
        /// The message identifier.
        mi: u32,
        /// The page as it was posted.
        descriptor: Descriptor,
    },
    /// A message with LMI has arrived, whether or not it had NOR.
    #[doc(alias = "IT_received")]
    Received {
        /// The owner of its message identifier.
        sap: Sap,
        /// The message identifier.
        mi: u32,
        /// The data of a short message.
        data: Option<[u32; 2]>,
        /// Packets of the message, as the chip counted them.
        packets: u16,
    },
    /// A page has left whose message identifier no SAP owns.
    UnclaimedSent {
        /// The page as it was posted.
        descriptor: Descriptor,
    },
    /// A message has arrived whose identifier no SAP owns.
    UnclaimedReceived {
        /// Its report.
        report: Report,
    },
    /// The chip reported an error, or does not behave.
    Error {
        /// What it was.
        fault: Fault,
        /// Whether the board was stopped for it.
        stopped: bool,
    },
}

/// What is wrong with the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Fault {
    /// Error bits of STATUS and of the PCI status, now cleared.
    Reported {
        /// Bits 23:12 of STATUS.
        status: u32,
        /// Bits 30:27 and 24 of register 04h.
        pci: u32,
    },
    /// A ring pointer is not the address of an entry, or passed what was
    /// posted.
    BadPointer {
        /// The register.
        offset: u8,
        /// What it holds.
        value: u32,
    },
    /// PAGE_TRANSMITTED or PAGE_RECEIVED with nothing to acknowledge.
    InterruptLoop {
        /// STATUS.
        status: u32,
    },
}

const STATUS_NAMES: [(u32, &str); 12] = [
    (23, "eep"),
    (22, "crc header"),
    (21, "crc data"),
    (20, "ep"),
    (19, "timeout"),
    (18, "r3 status"),
    (17, "page transmitted overflow"),
    (16, "page received overflow"),
    (15, "sent packet overflow"),
    (14, "received packet overflow"),
    (13, "illegal lrm access"),
    (12, "lmi overflow"),
];

const PCI_NAMES: [(u32, &str); 5] = [
    (30, "signalled system error"),
    (29, "received master abort"),
    (28, "received target abort"),
    (27, "signalled target abort"),
    (24, "data parity error"),
];

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Reported { status, pci } => {
                f.write_str("board reports")?;
                let mut separator = " ";
                let bits = STATUS_NAMES
                    .iter()
                    .map(|(bit, name)| (status >> bit & 1, name));
                let pci = PCI_NAMES.iter().map(|(bit, name)| (pci >> bit & 1, name));
                for (_, name) in bits.chain(pci).filter(|(set, _)| *set == 1) {
                    write!(f, "{separator}{name}")?;
                    separator = ", ";
                }
                Ok(())
            }
            Self::BadPointer { offset, value } => {
                write!(
                    f,
                    "register {offset:#04x} points to {value:#010x}, outside what was posted"
                )
            }
            Self::InterruptLoop { status } => {
                write!(
                    f,
                    "status {status:#010x} counts pages but there is none to acknowledge"
                )
            }
        }
    }
}

impl core::error::Error for Fault {}

/// What one call of a flush, poll or interrupt did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Served {
    /// Ring entries taken back from the controller.
    pub descriptors: u16,
    /// Reports taken.
    pub reports: u16,
    /// The budget ended before the work: call again.
    pub more: bool,
    /// The interrupt had a cause (always true for polls and flushes).
    pub cause: bool,
}
