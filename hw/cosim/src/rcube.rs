//! The whole router: `rcube::Rcube` against `rcube`.

use multipc::hsl::Line;
use multipc::rcube::{PORTS, Rcube, RcubeConfig};

use crate::hsl_end::{line, link_config, pins_of};
use crate::{Device, pins, verilated};

pins! {
    /// What the router is given.
    pub struct RcubeIn {
        /// Character of each input.
        pub sym: [u16; 8] [9],
        /// Inputs with signal, a bit each.
        pub signal: u8 [8],
        /// `fccreceived` of the parallel inputs.
        pub fcc: u8 [8],
        /// Reset, asynchronous.
        pub rst_n: u8 [1],
        /// Strap: parallel ports.
        pub parallel: u8 [8],
        /// Strap: start-up counts of 1.
        pub quick: u8 [1],
        /// R3_INIT.
        pub r3_init: u8 [1],
        /// A byte of R3_DOUT.
        pub r3_strobe: u8 [1],
        /// R3_DOUT.
        pub r3_dout: u8 [8],
    }
}

pins! {
    /// What the router shows.
    pub struct RcubeOut {
        /// Character of each output, 0 without signal.
        pub sym: [u16; 8] [9],
        /// Outputs with signal.
        pub signal: u8 [8],
        /// `sendfcc` of the parallel outputs.
        pub fcc: u8 [8],
        /// Links that are up.
        pub link_status: u8 [8],
    }
}

verilated!(
    /// The router in RTL.
    pub RcubeRtl = "rcube", rcube_shim, RcubeIn => RcubeOut
);

/// The router of the model behind the same pins.
///
/// The straps of the first edge count.
#[derive(Default)]
pub struct RcubeModel {
    router: Option<Rcube>,
}

impl RcubeModel {
    /// The router, once there was an edge.
    pub fn router(&self) -> Option<&Rcube> {
        self.router.as_ref()
    }
}

impl Device for RcubeModel {
    type In = RcubeIn;
    type Out = RcubeOut;

    fn step(&mut self, pins: &RcubeIn) -> RcubeOut {
        if pins.rst_n == 0 {
            self.router = None;
            return RcubeOut::default();
        }
        let router = self.router.get_or_insert_with(|| {
            let mut config = RcubeConfig::default().with_parallel(pins.parallel);
            config.link = link_config(pins.quick == 1);
            Rcube::new(config)
        });
        router.chain(
            pins.r3_init == 1,
            (pins.r3_strobe == 1).then_some(pins.r3_dout),
        );
        let lines: [Line; PORTS] = std::array::from_fn(|k| {
            line(
                pins.signal >> k & 1 == 1,
                pins.fcc >> k & 1 == 1,
                pins.sym[k],
            )
        });
        router.step(&lines);
        let mut out = RcubeOut {
            link_status: router.link_status(),
            ..Default::default()
        };
        for (k, line) in router.outputs().iter().enumerate() {
            let (sym, signal, fcc) = pins_of(*line);
            out.sym[k] = sym;
            out.signal |= u8::from(signal) << k;
            out.fcc |= u8::from(fcc) << k;
        }
        out
    }
}
