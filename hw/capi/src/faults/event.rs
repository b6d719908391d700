//! What can go wrong, where and when, as structures.

use multipc::fabric::End;
use multipc::fabric::faults::{
    BusFault, BusWhen, CableFault, CableWhen, FaultEvent, Kind, Transfers,
};
use multipc::hsl::Symbol;
use multipc::pci::TargetResponse;

use crate::error::Error;

/// The direction of a cable that port `port` of router `index` drives.
pub const MULTIPC_PLACE_ROUTER: u32 = 1;
/// The wires to the router that the controller of node `index` drives.
pub const MULTIPC_PLACE_NODE: u32 = 2;
/// The PCI bus of node `index`.
pub const MULTIPC_PLACE_BUS: u32 = 3;

/// At this edge of the place's clock; 0 is the next one.
pub const MULTIPC_WHEN_CYCLE: u32 = 0;
/// On a cable: with this character, IDLE not counted.
pub const MULTIPC_WHEN_CHARACTER: u32 = 1;
/// On a cable: with this character of packets.
pub const MULTIPC_WHEN_PACKET: u32 = 2;
/// On a cable: with this data character.
pub const MULTIPC_WHEN_DATA: u32 = 3;
/// On a cable: with this EP or EEP.
pub const MULTIPC_WHEN_END: u32 = 4;
/// On a cable: with this FCC.
pub const MULTIPC_WHEN_GRANT: u32 = 5;
/// On a bus: with this memory transaction.
pub const MULTIPC_WHEN_TRANSACTION: u32 = 6;
/// On a bus: with this memory read.
pub const MULTIPC_WHEN_READ: u32 = 7;
/// On a bus: with this memory write.
pub const MULTIPC_WHEN_WRITE: u32 = 8;

/// Bits of the character are inverted: those of `value`, 0x001 to 0x1FF.
pub const MULTIPC_FAULT_CORRUPT: u32 = 1;
/// The character is lost.
pub const MULTIPC_FAULT_DROP: u32 = 2;
/// The character `value` takes the place of the next IDLE.
pub const MULTIPC_FAULT_INSERT: u32 = 3;
/// Both directions of the cable are without signal for `times` link cycles; `UINT64_MAX` is
/// for ever.
pub const MULTIPC_FAULT_CUT: u32 = 4;
/// This direction alone is.
pub const MULTIPC_FAULT_CUT_ONE_WAY: u32 = 5;
/// The memory answers by retry, `times` transactions in a row, as all that follow.
pub const MULTIPC_FAULT_RETRY: u32 = 6;
/// `value` words, then a disconnect without data.
pub const MULTIPC_FAULT_DISCONNECT_AFTER: u32 = 7;
/// A disconnect with the word of number `value`.
pub const MULTIPC_FAULT_DISCONNECT_WITH: u32 = 8;
/// `value` words, then a target abort.
pub const MULTIPC_FAULT_TARGET_ABORT: u32 = 9;
/// `value` clocks more before the first word.
pub const MULTIPC_FAULT_EXTRA_LATENCY: u32 = 10;
/// `value` clocks lost before each word after the first.
pub const MULTIPC_FAULT_WAIT_STATES: u32 = 11;
/// Read data with a wrong parity bit.
pub const MULTIPC_FAULT_BAD_PARITY: u32 = 12;
/// No DEVSEL#: the initiator ends with a master abort.
pub const MULTIPC_FAULT_NO_DEVSEL: u32 = 13;
/// Reads take `value` clocks more, for `times` PCI cycles.
pub const MULTIPC_FAULT_SLOW_READS: u32 = 14;
/// GNT# is stuck high for `times` PCI cycles; `UINT64_MAX` is for ever.
pub const MULTIPC_FAULT_HOLD_GRANT: u32 = 15;

/// One fault of a script.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct multipc_fault {
    /// `MULTIPC_PLACE_...`.
    pub place: u32,
    /// Router or node.
    pub index: u32,
    /// Port of the router, else 0.
    pub port: u32,
    /// `MULTIPC_WHEN_...`.
    pub when: u32,
    /// Which one, from 1, counted from the moment the faults are set.
    pub number: u64,
    /// `MULTIPC_FAULT_...`, those up to `MULTIPC_FAULT_CUT_ONE_WAY` on cables, the others on
    /// buses.
    pub what: u32,
    /// See `what`; else ignored.
    pub value: u32,
    /// See `what`; else ignored. 0 acts as 1.
    pub times: u64,
}

/// A number of a structure as a narrower one; the words name it and its limit.
fn narrow<T: TryFrom<u32>>(name: &str, value: u32, limit: u32) -> Result<T, Error> {
    T::try_from(value).map_err(|_| Error::argument(format!("{name} {value}, allowed 0..{limit}")))
}

impl multipc_fault {
    /// The event; `next` has the numbers of the next edges of link clock and PCI clock.
    pub(super) fn event(&self, next: [u64; 2]) -> Result<FaultEvent, Error> {
        let index = || narrow::<u16>("index", self.index, 65_536);
        match self.place {
            MULTIPC_PLACE_ROUTER => self.on_cable(
                End::Router {
                    router: index()?,
                    port: narrow("port", self.port, 8)?,
                },
                next[0],
            ),
            MULTIPC_PLACE_NODE => self.on_cable(End::Node(index()?), next[0]),
            MULTIPC_PLACE_BUS => self.on_bus(index()?, next[1]),
            other => Err(Error::argument(format!("place {other}, allowed 1..=3"))),
        }
    }

    fn on_cable(&self, from: End, next: u64) -> Result<FaultEvent, Error> {
        let number = self.number;
        let count = |of| CableWhen::Count { of, number };
        let when = match self.when {
            MULTIPC_WHEN_CYCLE if number == 0 => CableWhen::Cycle(next),
            MULTIPC_WHEN_CYCLE => CableWhen::Cycle(number),
            MULTIPC_WHEN_CHARACTER => count(Kind::Character),
            MULTIPC_WHEN_PACKET => count(Kind::Packet),
            MULTIPC_WHEN_DATA => count(Kind::Data),
            MULTIPC_WHEN_END => count(Kind::End),
            MULTIPC_WHEN_GRANT => count(Kind::Grant),
            other => {
                let words = format!("when {other} on a cable, allowed 0..=5");
                return Err(Error::argument(words));
            }
        };
        let bits = |least| match self.value {
            value if (least..=0x1FF).contains(&value) => Ok(value as u16),
            value => Err(Error::argument(format!(
                "value {value:#x}, allowed {least:#x}..=0x1ff"
            ))),
        };
        let fault = match self.what {
            MULTIPC_FAULT_CORRUPT => CableFault::Corrupt(bits(1)?),
            MULTIPC_FAULT_DROP => CableFault::Drop,
            MULTIPC_FAULT_INSERT => CableFault::Insert(Symbol::from_bits(bits(0)?)),
            MULTIPC_FAULT_CUT | MULTIPC_FAULT_CUT_ONE_WAY => CableFault::Cut {
                cycles: self.times,
                both: self.what == MULTIPC_FAULT_CUT,
            },
            other => {
                let words = format!("fault {other} on a cable, allowed 1..=5");
                return Err(Error::argument(words));
            }
        };
        Ok(FaultEvent::Cable { from, when, fault })
    }

    fn on_bus(&self, node: u16, next: u64) -> Result<FaultEvent, Error> {
        let number = self.number;
        let count = |of| BusWhen::Count { of, number };
        let when = match self.when {
            MULTIPC_WHEN_CYCLE if number == 0 => BusWhen::Cycle(next),
            MULTIPC_WHEN_CYCLE => BusWhen::Cycle(number),
            MULTIPC_WHEN_TRANSACTION => count(Transfers::All),
            MULTIPC_WHEN_READ => count(Transfers::Reads),
            MULTIPC_WHEN_WRITE => count(Transfers::Writes),
            other => {
                let words = format!("when {other} on a bus, allowed 0, 6..=8");
                return Err(Error::argument(words));
            }
        };
        let fault = match self.what {
            MULTIPC_FAULT_SLOW_READS => BusFault::SlowReads {
                extra: self.value,
                cycles: self.times,
            },
            MULTIPC_FAULT_HOLD_GRANT => BusFault::HoldGrant { cycles: self.times },
            what => BusFault::Respond {
                response: response(what, self.value)?,
                times: u32::try_from(self.times).map_err(|_| {
                    Error::argument(format!("times {}, allowed 0..=4294967295", self.times))
                })?,
            },
        };
        Ok(FaultEvent::Bus { node, when, fault })
    }
}

/// The answer of the memory that a fault stands for.
pub(super) fn response(what: u32, value: u32) -> Result<TargetResponse, Error> {
    use TargetResponse as T;
    Ok(match what {
        MULTIPC_FAULT_RETRY => T::Retry,
        MULTIPC_FAULT_DISCONNECT_AFTER => T::DisconnectAfter(value),
        MULTIPC_FAULT_DISCONNECT_WITH => T::DisconnectWith(value),
        MULTIPC_FAULT_TARGET_ABORT => T::AbortAfter(value),
        MULTIPC_FAULT_EXTRA_LATENCY => T::ExtraLatency(value),
        MULTIPC_FAULT_WAIT_STATES => T::WaitStates(value),
        MULTIPC_FAULT_BAD_PARITY => T::BadParity,
        MULTIPC_FAULT_NO_DEVSEL => T::Ignore,
        other => {
            let words = format!("fault {other} on a bus, allowed 6..=15");
            return Err(Error::argument(words));
        }
    })
}

/// The other way round: fault and value.
pub(super) fn answer(response: TargetResponse) -> (u32, u32) {
    use TargetResponse as T;
    match response {
        T::Retry => (MULTIPC_FAULT_RETRY, 0),
        T::DisconnectAfter(words) => (MULTIPC_FAULT_DISCONNECT_AFTER, words),
        T::DisconnectWith(word) => (MULTIPC_FAULT_DISCONNECT_WITH, word),
        T::TargetAbort => (MULTIPC_FAULT_TARGET_ABORT, 0),
        T::AbortAfter(words) => (MULTIPC_FAULT_TARGET_ABORT, words),
        T::ExtraLatency(clocks) => (MULTIPC_FAULT_EXTRA_LATENCY, clocks),
        T::WaitStates(clocks) => (MULTIPC_FAULT_WAIT_STATES, clocks),
        T::BadParity => (MULTIPC_FAULT_BAD_PARITY, 0),
        T::Ignore => (MULTIPC_FAULT_NO_DEVSEL, 0),
        // As configured: none.
        _ => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_of_the_memory_is_read_back() {
        for what in MULTIPC_FAULT_RETRY..=MULTIPC_FAULT_NO_DEVSEL {
            let there = response(what, 3).unwrap();
            let takes_value =
                (MULTIPC_FAULT_DISCONNECT_AFTER..=MULTIPC_FAULT_WAIT_STATES).contains(&what);
            assert_eq!(answer(there), (what, if takes_value { 3 } else { 0 }));
        }
    }
}
