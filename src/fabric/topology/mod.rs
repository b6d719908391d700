//! A machine on paper: routers of eight ports, generators (network
//! interfaces, one port each) and cables.
//!
//! ```text
//!   generator 0         generator 1          one board = one generator on
//!       |0                  |0               port 0 (the parallel port) of
//!   +--------+  cable 0 +--------+           its own router; cables on
//!   |router 0|1--------1|router 1|           ports 1..=7
//!   +--------+          +--------+
//! ```
//!
//! That is the convention of the builders; a [`Topology`] allows any port and
//! several generators on a router. It is checked once, in [`Topology::new`];
//! afterwards every question about it has a total answer.
//!
//! Storage is the caller's (slices) or, with `alloc`, owned:
//!
//! ```
//! use multipc::fabric::topology::{Cable, PortId, RouterPorts, Topology};
//!
//! let mut routers = [RouterPorts::EMPTY; 2];
//! let mut generators = [PortId::new(0, 0), PortId::new(1, 0)];
//! let mut cables = [Cable::new(PortId::new(0, 1), PortId::new(1, 1))];
//! let pair = Topology::new(&mut routers[..], &mut generators[..], &mut cables[..])?;
//! assert_eq!(pair.peer(PortId::new(0, 1)), Some(PortId::new(1, 1)));
//! # Ok::<(), multipc::fabric::topology::TopologyError>(())
//! ```

use core::fmt;

use managed::ManagedSlice;

#[cfg(feature = "alloc")]
mod build;
mod cable;
mod error;
mod fat_tree;
#[cfg(feature = "toml")]
pub mod file;
mod grid;
mod route;
#[cfg(feature = "alloc")]
mod shape;

#[cfg(feature = "alloc")]
pub use build::TopologyBuilder;
pub use cable::{Cable, Medium, PS_PER_MM};
pub use error::{Limit, Plug, TopologyError};
pub use fat_tree::{FatTree, Switch};
pub use grid::Grid;
pub use route::{Failure, Hop, Route, RouteError, Routes, Survey, Walk, follow, survey, walk};
#[cfg(feature = "alloc")]
pub use shape::{SHAPES, Shape, ShapeError};

/// Ports of a router, 0..=7.
pub const PORTS: u8 = 8;

/// A port of a router.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PortId {
    /// The router, from 0.
    pub router: u16,
    /// Its port (link), 0..=7.
    #[doc(alias = "link")]
    pub port: u8,
}

impl PortId {
    /// Port `port` of router `router`; whether they exist is judged by
    /// [`Topology::new`].
    pub const fn new(router: u16, port: u8) -> Self {
        Self { router, port }
    }
}

impl fmt::Display for PortId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "router {} port {}", self.router, self.port)
    }
}

/// What is plugged into a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Port {
    /// Nothing.
    #[default]
    Empty,
    /// A network interface.
    Generator(u16),
    /// One end of a cable.
    Cable {
        /// The cable.
        cable: u16,
        /// The port at its other end.
        peer: PortId,
    },
}

/// Storage for one router's ports; [`Topology::new`] fills it in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RouterPorts([Port; PORTS as usize]);

impl RouterPorts {
    /// A router with nothing plugged in.
    pub const EMPTY: Self = Self([Port::Empty; PORTS as usize]);
}

/// A machine whose every plug has been checked.
pub struct Topology<'a> {
    routers: ManagedSlice<'a, RouterPorts>,
    generators: ManagedSlice<'a, PortId>,
    cables: ManagedSlice<'a, Cable>,
}

impl<'a> Topology<'a> {
    /// Most routers, generators or cables: they are numbered with 16 bits, as
    /// is the header that names a node.
    pub const MAX: usize = u16::MAX as usize;

    /// Plugs everything in. `routers` only counts: what it holds is
    /// overwritten. `generators[i]` is where generator `i` is plugged in.
    ///
    /// # Errors
    /// [`TopologyError`] for the first plug that does not fit: generators in
    /// order first, then cables in order.
    pub fn new(
        routers: impl Into<ManagedSlice<'a, RouterPorts>>,
        generators: impl Into<ManagedSlice<'a, PortId>>,
        cables: impl Into<ManagedSlice<'a, Cable>>,
    ) -> Result<Self, TopologyError> {
        let mut this = Self {
            routers: routers.into(),
            generators: generators.into(),
            cables: cables.into(),
        };
        for (what, count) in [
            (Limit::Routers, this.routers.len()),
            (Limit::Generators, this.generators.len()),
            (Limit::Cables, this.cables.len()),
        ] {
            if count > Self::MAX {
                return Err(TopologyError::TooMany {
                    what,
                    count,
                    max: Self::MAX,
                });
            }
        }
        if this.generators.is_empty() {
            return Err(TopologyError::NoGenerator);
        }
        this.routers.fill(RouterPorts::EMPTY);
        for (i, &at) in (0..=u16::MAX).zip(this.generators.iter()) {
            plug(
                &mut this.routers,
                Plug::Generator(i),
                at,
                Port::Generator(i),
            )?;
        }
        for (cable, spec) in (0..=u16::MAX).zip(this.cables.iter()) {
            spec.check(cable)?;
            let [a, b] = spec.ends;
            if a == b {
                return Err(TopologyError::CableToItself { cable, at: a });
            }
            plug(
                &mut this.routers,
                Plug::Cable(cable),
                a,
                Port::Cable { cable, peer: b },
            )?;
            plug(
                &mut this.routers,
                Plug::Cable(cable),
                b,
                Port::Cable { cable, peer: a },
            )?;
        }
        Ok(this)
    }

    /// How many routers.
    pub fn routers(&self) -> u16 {
        self.routers.len() as u16
    }

    /// Where each generator is plugged in.
    pub fn generators(&self) -> &[PortId] {
        &self.generators
    }

    /// The cables.
    pub fn cables(&self) -> &[Cable] {
        &self.cables
    }

    /// The eight ports of a router, all empty for one that does not exist.
    pub fn ports(&self, router: u16) -> &[Port; PORTS as usize] {
        match self.routers.get(usize::from(router)) {
            Some(RouterPorts(ports)) => ports,
            None => &RouterPorts::EMPTY.0,
        }
    }

    /// What is plugged in at `at`; [`Port::Empty`] for a port that does not
    /// exist.
    pub fn port(&self, at: PortId) -> Port {
        self.ports(at.router)
            .get(usize::from(at.port))
            .copied()
            .unwrap_or_default()
    }

    /// The port at the other end of the cable at `at`, if there is one.
    pub fn peer(&self, at: PortId) -> Option<PortId> {
        match self.port(at) {
            Port::Cable { peer, .. } => Some(peer),
            Port::Empty | Port::Generator(_) => None,
        }
    }

    /// Whether a generator is plugged into this router.
    pub fn has_generator(&self, router: u16) -> bool {
        self.ports(router)
            .iter()
            .any(|port| matches!(port, Port::Generator(_)))
    }
}

/// Puts `plug` into the port `at`, which must exist and be empty.
fn plug(
    routers: &mut [RouterPorts],
    plug: Plug,
    at: PortId,
    content: Port,
) -> Result<(), TopologyError> {
    let count = routers.len();
    let Some(RouterPorts(ports)) = routers.get_mut(usize::from(at.router)) else {
        return Err(TopologyError::UnknownRouter {
            plug,
            router: at.router,
            routers: count,
        });
    };
    let Some(port) = ports.get_mut(usize::from(at.port)) else {
        return Err(TopologyError::UnknownPort { plug, at });
    };
    match *port {
        Port::Empty => {
            *port = content;
            Ok(())
        }
        Port::Generator(i) => Err(TopologyError::PortTaken {
            plug,
            at,
            by: Plug::Generator(i),
        }),
        Port::Cable { cable, .. } => Err(TopologyError::PortTaken {
            plug,
            at,
            by: Plug::Cable(cable),
        }),
    }
}

impl PartialEq for Topology<'_> {
    fn eq(&self, other: &Topology<'_>) -> bool {
        // The ports follow from the rest.
        self.routers.len() == other.routers.len()
            && self.generators() == other.generators()
            && self.cables() == other.cables()
    }
}

impl Eq for Topology<'_> {}

impl fmt::Debug for Topology<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Topology")
            .field("routers", &self.routers.len())
            .field("generators", &self.generators())
            .field("cables", &self.cables())
            .finish()
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Topology<'_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(
            f,
            "Topology {{ routers: {}, generators: {}, cables: {} }}",
            self.routers.len(),
            self.generators(),
            self.cables()
        );
    }
}

#[cfg(feature = "alloc")]
impl Clone for Topology<'_> {
    fn clone(&self) -> Self {
        Self {
            routers: self.routers.to_vec().into(),
            generators: self.generators.to_vec().into(),
            cables: self.cables.to_vec().into(),
        }
    }
}

#[cfg(feature = "alloc")]
impl Topology<'_> {
    /// A copy that owns its storage.
    pub fn to_owned(&self) -> Topology<'static> {
        Topology {
            routers: self.routers.to_vec().into(),
            generators: self.generators.to_vec().into(),
            cables: self.cables.to_vec().into(),
        }
    }
}

#[cfg(test)]
mod tests;
