//! The configuration chain: a shift register of 258 bytes.
//!
//! The first byte shifted in ends up at offset 257, the last one at offset 0.
//! Bytes beyond the 258th push the first ones out, as in any shift register.

use super::table::RoutingTable;

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Chain {
    bytes: [u8; RoutingTable::WIRE_LEN],
    // Level of R3_INIT as last seen.
    init: bool,
}

impl Chain {
    pub(super) const fn new() -> Self {
        Self {
            bytes: [0; RoutingTable::WIRE_LEN],
            init: false,
        }
    }

    pub(super) fn clock(&mut self, init: bool, dout: Option<u8>) {
        self.init = init;
        if init {
            return;
        }
        if let Some(byte) = dout {
            self.bytes.copy_within(..RoutingTable::WIRE_LEN - 1, 1);
            self.bytes[0] = byte;
        }
    }

    pub(super) const fn init(&self) -> bool {
        self.init
    }

    pub(super) fn table(&self) -> RoutingTable {
        RoutingTable::parse(&self.bytes)
    }
}
