//! The MasPar router: one chip, and the whole router of a machine.
//!
//! Pins and ticks: hw/doc/rtl-maspar.md.

use multipc::maspar::{
    ConfigError, MachineSize, Pattern, Personality, RouterChip, RouterConfig, Step, TickRouter,
    Width, Wiring,
};

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

pins! {
    /// The router of a machine is told. Cluster numbers are `64 * board + cluster`.
    pub struct RouterIn {
        /// Reset, active low.
        pub rst_n: bool [1],
        /// Start of `ropen`.
        pub ropen: bool [1],
        /// Start of `rfetchc`.
        pub rfetch: bool [1],
        /// Its width: 8, 16, 32 or 64.
        pub bits: u8 [7],
        /// Registers of one PE of each cluster are written.
        pub write: bool [1],
        /// Which one.
        pub write_pe: u8 [4],
        /// `tflag`, bit = cluster of the board.
        pub write_flag: [u64; 16] [64],
        /// Slot of the target, one a cluster.
        pub write_target: [u16; 1024] [14],
        /// Value that others fetch, one a cluster.
        pub write_value: [u64; 1024] [64],
    }
}

pins! {
    /// The router of a machine shows.
    pub struct RouterOut {
        /// An instruction is under way.
        pub busy: bool [1],
        /// It is `rfetchc`.
        pub fetching: bool [1],
        /// Its tick.
        pub tick: u8 [7],
        /// Some PE still wants a path.
        pub any: bool [1],
        /// `tflag`, a bit a slot.
        pub tflag: [u64; 256] [64],
        /// Sources that know of their path, bit = cluster of the board.
        pub connected: [u64; 16] [64],
        /// Their PEs, four bits a cluster.
        pub picked: [u64; 64] [64],
        /// What each source has fetched.
        pub got: [u64; 1024] [64],
        /// Wires at the inputs, `16 * stage + chip`; stage 3 is the PE select.
        pub request: [u64; 64] [64],
        /// Address and data bits there.
        pub data: [u64; 64] [64],
        /// Acknowledgements and fetched bits there.
        pub back: [u64; 64] [64],
    }
}

#[cfg(feature = "maspar-small")]
verilated!(
    /// The router of 1,024 PEs in RTL, one top.
    pub SmallRtl = "maspar_router", maspar_router_shim, RouterIn => RouterOut
);
verilated!(
    /// The router of 16,384 PEs in RTL: 16 boards and the backplane.
    pub MachineRtl = "maspar_board", maspar_board_shim, RouterIn => RouterOut
);

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

/// The router of the model, with the registers of the PEs.
pub struct RouterModel {
    config: RouterConfig,
    wiring: Wiring,
    router: TickRouter,
    flags: Vec<bool>,
    targets: Vec<u16>,
    values: Vec<u64>,
    width: Width,
    // What changes seldom is kept as shown.
    out: RouterOut,
}

impl RouterModel {
    /// A machine of that size, after reset.
    ///
    /// # Errors
    /// As [`RouterConfig::wiring`].
    pub fn new(size: MachineSize) -> Result<Self, ConfigError> {
        let config = RouterConfig::MP1.with_size(size);
        Ok(Self {
            config,
            wiring: config.wiring()?,
            router: TickRouter::new(&config)?,
            flags: vec![false; size.pes()],
            targets: vec![0; size.pes()],
            values: vec![0; size.pes()],
            width: Width::W32,
            out: RouterOut::default(),
        })
    }

    /// The slot of a PE.
    pub fn slot(&self, id: u16) -> u16 {
        self.wiring.geometry().slot(id)
    }

    /// The PEs that still want a path, and whom they want.
    fn pattern(&self) -> Pattern {
        let geometry = self.wiring.geometry();
        Pattern::from_fn(self.config.size, |id| {
            let slot = usize::from(geometry.slot(id));
            self.flags[slot].then(|| u32::from(geometry.id(self.targets[slot])))
        })
        .expect("targets are slots of this machine")
    }

    fn write(&mut self, inputs: &RouterIn) {
        for cluster in 0..self.config.size.clusters() {
            let slot = cluster * 16 + usize::from(inputs.write_pe);
            self.flags[slot] = inputs.write_flag[cluster / 64] >> (cluster % 64) & 1 == 1;
            self.targets[slot] = inputs.write_target[cluster];
            self.values[slot] = inputs.write_value[cluster];
        }
    }

    /// The PEs that know of their path.
    fn sources(&self) -> Vec<u16> {
        let geometry = self.wiring.geometry();
        let paths = self.router.fetched();
        paths.map(|(path, _)| geometry.slot(path.source)).collect()
    }

    /// An edge of `rfetchc` at which data arrives, or the first after the last bit.
    fn fetch_edge(&mut self, tick: u32, held: &[u64; 16]) {
        for (path, value) in self.router.fetched() {
            let cluster = self.wiring.geometry().slot(path.source) / 16;
            self.out.got[usize::from(cluster)] = value;
        }
        if tick == 10 + self.width.bits() {
            // Who still had a path has its value now.
            for slot in self.sources().into_iter().map(usize::from) {
                let (board, cluster) = (slot / 1024, slot / 16 % 64);
                if held[board] >> cluster & 1 == 1 {
                    self.flags[slot] = false;
                }
            }
            self.show_flags();
        }
    }

    fn show(&mut self) {
        let out = &mut self.out;
        (out.busy, out.fetching, out.tick) = match self.router.step_now() {
            Step::Open(tick) => (true, false, tick as u8),
            Step::Transfer(tick) => (true, true, tick as u8),
            _ => (false, false, 0),
        };
        out.connected = *self.router.connected();
        for stage in 0..4 {
            let at = 16 * stage..16 * stage + 16;
            out.request[at.clone()].copy_from_slice(&self.router.requests(stage));
            out.data[at.clone()].copy_from_slice(&self.router.data(stage));
            out.back[at].copy_from_slice(&self.router.back(stage));
        }
    }

    fn show_flags(&mut self) {
        self.out.tflag = [0; 256];
        for (slot, _) in self.flags.iter().enumerate().filter(|(_, flag)| **flag) {
            self.out.tflag[slot / 64] |= 1 << (slot % 64);
        }
        self.out.any = self.flags.contains(&true);
    }

    fn show_sources(&mut self) {
        self.out.picked = [0; 64];
        for slot in self.sources() {
            let (cluster, pe) = (usize::from(slot / 16), u64::from(slot % 16));
            self.out.picked[cluster / 16] |= pe << (cluster % 16 * 4);
        }
    }
}

impl Device for RouterModel {
    type In = RouterIn;
    type Out = RouterOut;

    fn step(&mut self, inputs: &RouterIn) -> RouterOut {
        if !inputs.rst_n {
            *self = Self::new(self.config.size).expect("it was made before");
            return self.out;
        }
        let before = self.router.step_now();
        let held = self.router.requests(0);
        self.router.step();
        match before {
            Step::Open(29) => self.show_sources(),
            Step::Transfer(tick) if tick >= 10 => self.fetch_edge(tick, &held),
            _ => {}
        }
        if inputs.write {
            self.write(inputs);
            self.show_flags();
        }
        if self.router.step_now() == Step::Idle {
            if inputs.ropen {
                let pattern = self.pattern();
                self.router.ropen(&pattern).expect("of this machine");
                self.out.picked = [0; 64];
            } else if inputs.rfetch {
                let width = Width::from_bits(inputs.bits.into()).expect("8, 16, 32 or 64 bits");
                self.width = width;
                let (geometry, values) = (self.wiring.geometry(), &self.values);
                self.router
                    .rfetch(width, |id| values[usize::from(geometry.slot(id))]);
                self.out.got = [0; 1024];
            }
        }
        self.show();
        self.out
    }
}
