//! What the faults did.

use core::ffi::c_char;

use multipc::fabric::End;
use multipc::fabric::faults::{Effect, FaultRecord, Place};
use multipc::hsl::Line;

use super::event::{
    MULTIPC_FAULT_CUT, MULTIPC_FAULT_HOLD_GRANT, MULTIPC_FAULT_SLOW_READS, MULTIPC_PLACE_BUS,
    MULTIPC_PLACE_NODE, MULTIPC_PLACE_ROUTER, answer, response,
};
use crate::error::{Error, call, multipc_status};
use crate::raw;

/// A record: the far end sees another line, `after` instead of `before`.
pub const MULTIPC_EFFECT_CHANGED: u32 = 1;
/// A record: what `what` says begins here.
pub const MULTIPC_EFFECT_BEGUN: u32 = 2;
/// A record: a cut, or a GNT# withheld, is over.
pub const MULTIPC_EFFECT_OVER: u32 = 3;
/// A record: the memory answers a transaction as `what` says.
pub const MULTIPC_EFFECT_ANSWERED: u32 = 4;

/// One thing that a fault did.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct multipc_fault_record {
    /// The edge: of the link clock on a cable, of the PCI clock on a bus.
    pub cycle: u64,
    /// `MULTIPC_EFFECT_...`.
    pub effect: u32,
    /// `MULTIPC_PLACE_...`.
    pub place: u32,
    /// Router or node.
    pub index: u32,
    /// Port of the router.
    pub port: u32,
    /// `MULTIPC_FAULT_...`; 0 where a line was changed. A cut of one direction is one, too.
    pub what: u32,
    /// The number that goes with `what`.
    pub value: u32,
    /// Which character of this direction, or transaction of this bus, from 1.
    pub number: u64,
    /// Cycles from here on, `UINT64_MAX` for ever.
    pub times: u64,
    /// Address of the transaction.
    pub address: u32,
    /// The line that was driven.
    pub before: u16,
    /// The line that goes on.
    pub after: u16,
    /// The transaction is a write.
    pub write: u8,
}

/// The record in words; `capacity` bytes at `text`, the zero at the end included, are enough
/// or the words are cut.
///
/// # Safety
/// `record` is null or leads to what its type says, `text` null or `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_fault_record_text(
    record: *const multipc_fault_record,
    text: *mut c_char,
    capacity: usize,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let record = unsafe { raw::read(record, "record") }?.record()?;
        // SAFETY: as above.
        unsafe { raw::put_text(&record.to_string(), text, capacity, "text") }
    })
}

impl From<&FaultRecord> for multipc_fault_record {
    fn from(record: &FaultRecord) -> Self {
        let (place, index, port) = match record.place {
            Place::Cable(End::Router { router, port }) => {
                (MULTIPC_PLACE_ROUTER, router, port.into())
            }
            Place::Cable(End::Node(node)) => (MULTIPC_PLACE_NODE, node, 0),
            Place::Bus(node) => (MULTIPC_PLACE_BUS, node, 0),
            _ => (0, 0, 0),
        };
        let here = Self {
            cycle: record.cycle,
            place,
            index: index.into(),
            port,
            ..Self::default()
        };
        let with = |effect, what, value, times| Self {
            effect,
            what,
            value,
            times,
            ..here
        };
        match record.effect {
            Effect::Changed {
                before,
                after,
                character,
            } => Self {
                before: before.bits(),
                after: after.bits(),
                number: character,
                ..with(MULTIPC_EFFECT_CHANGED, 0, 0, 0)
            },
            Effect::Cut { cycles } => with(MULTIPC_EFFECT_BEGUN, MULTIPC_FAULT_CUT, 0, cycles),
            Effect::Restored => with(MULTIPC_EFFECT_OVER, MULTIPC_FAULT_CUT, 0, 0),
            Effect::Responded {
                transaction,
                write,
                address,
                response,
            } => {
                let (what, value) = answer(response);
                Self {
                    number: transaction,
                    write: write.into(),
                    address,
                    ..with(MULTIPC_EFFECT_ANSWERED, what, value, 0)
                }
            }
            Effect::ReadsSlow { extra, cycles } => with(
                MULTIPC_EFFECT_BEGUN,
                MULTIPC_FAULT_SLOW_READS,
                extra,
                cycles,
            ),
            Effect::GrantHeld { cycles } => {
                with(MULTIPC_EFFECT_BEGUN, MULTIPC_FAULT_HOLD_GRANT, 0, cycles)
            }
            Effect::GrantBack => with(MULTIPC_EFFECT_OVER, MULTIPC_FAULT_HOLD_GRANT, 0, 0),
            _ => here,
        }
    }
}

impl multipc_fault_record {
    fn record(&self) -> Result<FaultRecord, Error> {
        let unknown = || {
            let (effect, place, what) = (self.effect, self.place, self.what);
            Error::argument(format!(
                "record of effect {effect}, place {place}, fault {what}"
            ))
        };
        let index = u16::try_from(self.index).map_err(|_| unknown())?;
        let cycles = self.times;
        let mut record = FaultRecord::EMPTY;
        record.cycle = self.cycle;
        record.place = match self.place {
            MULTIPC_PLACE_ROUTER => Place::Cable(End::Router {
                router: index,
                port: u8::try_from(self.port).map_err(|_| unknown())?,
            }),
            MULTIPC_PLACE_NODE => Place::Cable(End::Node(index)),
            MULTIPC_PLACE_BUS => Place::Bus(index),
            _ => return Err(unknown()),
        };
        record.effect = match (self.effect, self.what) {
            (MULTIPC_EFFECT_CHANGED, _) => Effect::Changed {
                before: Line::from_bits(self.before),
                after: Line::from_bits(self.after),
                character: self.number,
            },
            (MULTIPC_EFFECT_BEGUN, MULTIPC_FAULT_CUT) => Effect::Cut { cycles },
            (MULTIPC_EFFECT_OVER, MULTIPC_FAULT_CUT) => Effect::Restored,
            (MULTIPC_EFFECT_BEGUN, MULTIPC_FAULT_SLOW_READS) => Effect::ReadsSlow {
                extra: self.value,
                cycles,
            },
            (MULTIPC_EFFECT_BEGUN, MULTIPC_FAULT_HOLD_GRANT) => Effect::GrantHeld { cycles },
            (MULTIPC_EFFECT_OVER, MULTIPC_FAULT_HOLD_GRANT) => Effect::GrantBack,
            (MULTIPC_EFFECT_ANSWERED, what) => Effect::Responded {
                transaction: self.number,
                write: self.write != 0,
                address: self.address,
                response: response(what, self.value).map_err(|_| unknown())?,
            },
            _ => return Err(unknown()),
        };
        Ok(record)
    }
}
