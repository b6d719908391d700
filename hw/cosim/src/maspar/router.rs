//! The router of a machine with the registers of its PEs.

use multipc::maspar::{
    ConfigError, MachineSize, Pattern, RouterConfig, Step, TickRouter, Width, Wiring,
};

use crate::{Device, pins, verilated};

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

verilated!(
    /// The router of 16,384 PEs in RTL: 16 boards and the backplane.
    pub MachineRtl = "maspar_board", maspar_board_shim, RouterIn => RouterOut
);

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
