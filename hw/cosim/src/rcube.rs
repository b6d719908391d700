//! The router's tops and models.

use multipc::rcube::RoutingTable;

use crate::{Device, pins, verilated};

pins! {
    /// A header and the bounds that it is held against.
    pub struct IntervalIn {
        /// Bounds of the input, interval 0 first.
        pub bounds: [u16; 8] [16],
        /// The header, first character high.
        pub header: u16 [16],
        /// Header of two characters.
        pub two: u8 [1],
    }
}

pins! {
    /// What the comparators found.
    pub struct IntervalOut {
        /// The interval.
        pub interval: u8 [3],
    }
}

verilated!(
    /// The interval decoder in RTL.
    pub IntervalRtl = "rcube_interval", rcube_interval_shim, IntervalIn => IntervalOut
);

/// The interval decoder of the model.
pub struct IntervalModel;

impl Device for IntervalModel {
    type In = IntervalIn;
    type Out = IntervalOut;

    fn step(&mut self, inputs: &IntervalIn) -> IntervalOut {
        let mut table = RoutingTable::uniform(inputs.bounds, [0; 8]);
        let mut header = inputs.header;
        if inputs.two == 0 {
            table.header_length = 0;
            header >>= 8;
        }
        IntervalOut {
            interval: table.interval(0, header) as u8,
        }
    }
}
