//! PUT: the driver of PCI-DDC.
//!
//! [`Put`] is the driver of one board. It knows the hardware through the
//! traits [`RegisterPort`] and [`DmaMemory`] only, and a handle on it is lent
//! for each call, so that many boards of one simulated machine can share it:
//!
//! ```
//! use multipc::put::{AddError, Control, Entry, Hardware, PortErrorOf, Put};
//!
//! fn deposit<H: Hardware>(
//!     put: &mut Put,
//!     hw: &mut H,
//! ) -> Result<(), AddError<PortErrorOf<H>>> {
//!     let last = Control::LMP.with(Control::NOS).with(Control::LMI).with(Control::NOR);
//!     // 64 bytes from 0x1000 here to 0x2000 in the memory of node 1.
//!     put.add_entry(hw, Entry::page(1, 0, 0x1000, 0x2000, 64, last))?;
//!     Ok(())
//! }
//! ```
//!
//! Events come from [`Put::poll`] or [`Put::on_interrupt`], which hand them to
//! a closure and do at most `budget` entries of each ring a call. [`Writer`]
//! puts transfers of any length on top. Document: hw/doc/put.md.
//!
//! # Rings
//!
//! LME, LMR and packet counters lie one behind the other in DMA memory.
//!
//! | pointer | moved by | when | read by |
//! |---|---|---|---|
//! | `softnew` (software only) | driver | after an entry was written | driver |
//! | LPE_NEW (`new`) | driver | after whole messages are in memory; [`DmaMemory`] orders the entries before the register | controller |
//! | LPE_CURRENT | controller | when it has *read* an entry, before its page has left | driver |
//! | `current` (software only) | driver | entry passed by LPE_CURRENT and, with NOS, counted by PAGE_TRANSMITTED and acknowledged | driver |
//! | LMI_NEW | controller | after a report is in memory | driver |
//! | LMI_CURRENT (`lmi_current`) | driver | after reports were copied and handed to the sink | controller |
//!
//! * Cyclic order `current <= new <= softnew`. `current == softnew` is empty;
//!   full is `softnew + 1 == current`, so `entries - 1` are usable, and the two
//!   never look the same. After the last entry comes the first.
//! * An entry in `current..new` belongs to the controller, also when
//!   LPE_CURRENT is past it and its page is still leaving; all others belong to
//!   the driver, which writes them in `new..softnew` only.
//! * A report in `LMI_CURRENT..LMI_NEW` belongs to the driver, all others to
//!   the controller; it stops, without loss, when one more would make the two
//!   equal.
//! * A start zeroes all tables and pointers. [`Put::end`] keeps the memory and
//!   forgets the pointers.
//! * The controller is not trusted: a pointer that is no entry, or outside what
//!   was posted, stops the board ([`Fault::BadPointer`]) and moves nothing.

mod acknowledge;
mod blind;
mod config;
mod cost;
mod driver;
mod emulate;
mod entry;
mod error;
mod event;
mod layout;
mod pieces;
mod policy;
mod port;
mod post;
mod recovery;
mod release;
mod revision;
mod ring;
mod sap;
mod serve;
mod start;
mod tell;
mod walk;
mod writer;

#[cfg(any(test, feature = "test-utils"))]
pub mod testing;
#[cfg(test)]
mod tests;

pub use crate::ddc::lme::{Control, Descriptor};
pub use crate::ddc::lmr::Report;
pub use crate::ddc::{Erratum, Revision};
pub use config::{Acknowledge, BOUNCE_BYTES, Model, PutConfig, RECORD_RESERVE, ReportScan};
pub use cost::CostModel;
pub use driver::{Hardware, Phase, Put, Sequence, Stats};
pub use entry::Entry;
pub use error::{
    AddError, AttachError, CounterError, InitError, MAX_ENTRIES, MAX_NODES, MAX_PAGE, PortError,
    PortErrorOf, Protocol, READ_TRIES, SapError, ServeError, TABLE_LEN,
};
pub use event::{Event, Fault, Served};
pub use policy::{Cause, Policy, Reaction};
pub use port::{DmaMemory, RegisterPort};
pub use recovery::{
    Failure, Outcome, RecoveryConfig, RecoveryStats, Reliable, ReliableError, SetupError, Ticket,
    UnknownTicket,
};
pub use revision::Capabilities;
pub use sap::{MI_LIMIT, MiRange, SAPS, Sap};
pub use start::Started;
pub use writer::{
    Completion, TransferError, TransferId, WriteError, Writer, WriterConfig, WriterError,
};
