//! One chip.

use multipc::maspar::{Personality, RouterChip};

use crate::{Device, pins, verilated};

pins! {
    /// A chip is told.
    pub struct ChipIn {
        /// Reset, active low.
        pub rst_n: bool [1],
        /// Four crossbars instead of a hyperbar.
        pub crossbar: bool [1],
        /// No paths, quiet wires.
        pub restart: bool [1],
        /// An address bit is shifted in.
        pub take: bool [1],
        /// The chip decides.
        pub open: bool [1],
        /// The paths are gone.
        pub close: bool [1],
        /// Requests, one bit an input.
        pub in_request: u64 [64],
        /// Address and data bits.
        pub in_data: u64 [64],
        /// On the way back, one bit an output.
        pub back_in: u64 [64],
    }
}

pins! {
    /// A chip shows.
    pub struct ChipOut {
        /// Requests, bit `4 * group + wire`.
        pub out_request: u64 [64],
        /// Address and data bits.
        pub out_data: u64 [64],
        /// On the way back, one bit an input.
        pub back_out: u64 [64],
    }
}

verilated!(
    /// The chip in RTL.
    pub ChipRtl = "maspar_chip", maspar_chip_shim, ChipIn => ChipOut
);

/// The chip of the model, with the registers around it that a chip has.
pub struct ChipModel {
    chip: RouterChip,
    // Steering bits of each input, newest first.
    taken: [u64; 4],
    out: ChipOut,
}

impl ChipModel {
    /// After reset.
    pub fn new() -> Self {
        Self {
            chip: RouterChip::new(Personality::Hyperbar),
            taken: [0; 4],
            out: ChipOut::default(),
        }
    }
}

impl Default for ChipModel {
    fn default() -> Self {
        Self::new()
    }
}

/// The inputs that ask for each group.
fn wants(taken: &[u64; 4], requests: u64) -> [u64; 16] {
    std::array::from_fn(|group| {
        let planes = taken.iter().enumerate();
        planes.fold(requests, |set, (bit, plane)| {
            set & if group >> bit & 1 == 1 {
                *plane
            } else {
                !plane
            }
        })
    })
}

impl Device for ChipModel {
    type In = ChipIn;
    type Out = ChipOut;

    fn step(&mut self, inputs: &ChipIn) -> ChipOut {
        if !inputs.rst_n {
            *self = Self::new();
            return self.out;
        }
        let mut out = ChipOut::default();
        if inputs.restart {
            self.chip.close();
            self.out = out;
            return out;
        }
        for (group, wires) in self.chip.outputs().iter().enumerate() {
            for (wire, input) in wires.iter().enumerate() {
                if let Some(input) = input {
                    let output = 4 * group + wire;
                    out.out_request |= 1 << output;
                    out.out_data |= (inputs.in_data >> input & 1) << output;
                    out.back_out |= (inputs.back_in >> output & 1) << input;
                }
            }
        }
        if inputs.open {
            let personality = if inputs.crossbar {
                Personality::crossbars_by([5, 4])
            } else {
                Personality::Hyperbar
            };
            self.chip = RouterChip::new(personality);
            self.chip.open(&wants(&self.taken, inputs.in_request));
        } else if inputs.close {
            self.chip.close();
        }
        if inputs.take {
            let [a, b, c, _] = self.taken;
            self.taken = [inputs.in_data, a, b, c];
        }
        self.out = out;
        out
    }
}
