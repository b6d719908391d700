//! The wires between the stages.

use multipc::maspar::{ConfigError, RouterConfig, Wiring};

use crate::{Device, pins, verilated};

pins! {
    /// Wires into the backplane, a word a board or group.
    pub struct BackplaneIn {
        /// Requests from stage 1, bit `4 * group + wire`.
        pub out_request1: [u64; 16] [64],
        /// Data from stage 1.
        pub out_data1: [u64; 16] [64],
        /// On the way back, from stage 2.
        pub back2: [u64; 16] [64],
        /// Requests from stage 2, bit `4 * board + wire`.
        pub out_request2: [u64; 16] [64],
        /// Data from stage 2.
        pub out_data2: [u64; 16] [64],
        /// On the way back, from stage 3.
        pub back3: [u64; 16] [64],
    }
}

pins! {
    /// Wires out of the backplane.
    pub struct BackplaneOut {
        /// To stage 1.
        pub from2: [u64; 16] [64],
        /// To stage 2, in the order of its priority.
        pub request2: [u64; 16] [64],
        /// Data to stage 2.
        pub data2: [u64; 16] [64],
        /// To stage 2, on the way back.
        pub from3: [u64; 16] [64],
        /// To stage 3, bit `4 * group + wire`.
        pub request3: [u64; 16] [64],
        /// Data to stage 3.
        pub data3: [u64; 16] [64],
    }
}

verilated!(
    /// The backplane of 16 boards in RTL: `settle` is enough.
    pub BackplaneRtl = "maspar_backplane", maspar_backplane_shim, BackplaneIn => BackplaneOut
);

/// The wiring of the model.
pub struct BackplaneModel(Wiring);

impl BackplaneModel {
    /// Of the largest machine.
    ///
    /// # Errors
    /// As [`RouterConfig::wiring`].
    pub fn new() -> Result<Self, ConfigError> {
        RouterConfig::MP1.wiring().map(Self)
    }
}

impl Device for BackplaneModel {
    type In = BackplaneIn;
    type Out = BackplaneOut;

    fn step(&mut self, inputs: &BackplaneIn) -> BackplaneOut {
        let mut out = BackplaneOut::default();
        let bit = |words: &[u64; 16], word: usize, bit: usize| words[word] >> bit & 1;
        for n in 0..1024 {
            let (board, group, wire) = (n >> 6, n >> 2 & 15, n & 3);
            let (near, out2) = (4 * group + wire, 4 * board + wire);
            let in2 = usize::from(self.0.stage2_input(wire as u8, board as u8));
            out.request2[group] |= bit(&inputs.out_request1, board, near) << in2;
            out.data2[group] |= bit(&inputs.out_data1, board, near) << in2;
            out.from2[board] |= bit(&inputs.back2, group, in2) << near;
            out.request3[board] |= bit(&inputs.out_request2, group, out2) << near;
            out.data3[board] |= bit(&inputs.out_data2, group, out2) << near;
            out.from3[group] |= bit(&inputs.back3, board, near) << out2;
        }
        out
    }
}
