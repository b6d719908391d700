//! Node numbers and interval tables for any cabling: the tool `ir` of the
//! original machine, and two ways to label that are proved, not hoped.
//!
//! A labelling gives every generator a **node number** (what a packet header
//! says) and every router port at most one **label**. The distinct labels of a
//! router, sorted, are the bounds of its intervals: a header leaves by the port
//! with the largest label not above it (the largest of all if there is none).
//!
//! | [`Method`] | serves | shortest | deadlock |
//! |---|---|---|---|
//! | `Ir` | most cablings; check with [`Labelling::survey`] | no, short cuts only | can be possible |
//! | `Tree` | every connected machine | along the tree | impossible |
//! | `DimensionOrder` | meshes up to 3-D, hypercubes | yes | impossible |
//! | `UpDown` | fat trees | yes | impossible |
//! | `Auto` | every connected machine, by `Ir` or `Tree` | the shorter of the two | impossible |
//!
//! Why, and what goes wrong with `Ir`: hw/doc/topology.md.
//!
//! ```
//! # #[cfg(feature = "alloc")] {
//! use multipc::fabric::labelling::Labelling;
//! use multipc::fabric::topology::Topology;
//!
//! let machine = Topology::ring(8)?;
//! let labels = Labelling::ir(&machine)?;
//! let survey = labels.survey(&machine);
//! assert!(survey.complete());
//! assert_eq!(labels.route(&machine, 0, 3)?.routers, 4);
//! # }
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use core::fmt;

use managed::ManagedSlice;

use super::topology::{
    FatTree, Grid, PORTS, Port, PortId, Route, RouteError, Routes, Survey, Topology, follow, survey,
};
use crate::rcube::RoutingTable;

mod check;
mod error;
mod intervals;
mod ir;
mod order;
mod storage;
mod tree;
mod up_down;

pub use error::{LabellingError, Warning};
pub use intervals::Intervals;
pub use storage::{Label, NodeEntry, RouterLabels};

/// How to label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Method {
    /// [`Ir`](Self::Ir) where it is proved to serve all pairs, to be free of
    /// deadlock and to cross no more routers in all than [`Tree`](Self::Tree);
    /// else `Tree`. It does not see that a machine is a mesh or a hypercube,
    /// where [`DimensionOrder`](Self::DimensionOrder) is better.
    #[default]
    Auto,
    /// The recorded depth-first labelling, short cuts included.
    Ir,
    /// A breadth-first spanning tree from a centre; other cables are not used.
    Tree,
    /// Highest dimension first on a mesh or hypercube of this shape (wrap
    /// cables of a torus are not used). Node numbers are router numbers.
    DimensionOrder(Grid),
    /// Up and down a fat tree of this shape; every way up is used. Node numbers
    /// are board numbers.
    UpDown(FatTree),
}

/// The labels of a machine and the tables that follow from them.
pub struct Labelling<'a> {
    routers: ManagedSlice<'a, RouterLabels>,
    nodes: ManagedSlice<'a, NodeEntry>,
    /// Nodes; storage beyond is not used.
    count: u16,
    method: Method,
    adaptive: bool,
}

impl<'a> Labelling<'a> {
    /// Labels a machine in the caller's storage: at least one entry a router
    /// and one a generator. Deterministic.
    ///
    /// # Errors
    /// [`LabellingError`]: storage too small, a generator that the first
    /// router does not reach, or a machine that is not the grid it is said to be.
    pub fn with_storage(
        topology: &Topology<'_>,
        method: Method,
        routers: impl Into<ManagedSlice<'a, RouterLabels>>,
        nodes: impl Into<ManagedSlice<'a, NodeEntry>>,
    ) -> Result<Self, LabellingError> {
        let count = topology.generators().len() as u16;
        let (routers, nodes) = (routers.into(), nodes.into());
        let mut this = Self {
            routers,
            nodes,
            count,
            method,
            adaptive: false,
        };
        let (given, needed) = (this.routers.len(), usize::from(topology.routers()));
        if given < needed {
            return Err(LabellingError::RouterStorage { given, needed });
        }
        let (given, needed) = (this.nodes.len(), topology.generators().len());
        if given < needed {
            return Err(LabellingError::NodeStorage { given, needed });
        }
        match method {
            Method::Auto => {
                this.compute(topology, Method::Ir)?;
                let ir = check::total_if_sound(topology, &mut this.routers, &this.nodes);
                this.compute(topology, Method::Tree)?;
                let tree = check::total_if_sound(topology, &mut this.routers, &this.nodes);
                if ir.is_some_and(|ir| tree.is_none_or(|tree| ir <= tree)) {
                    this.compute(topology, Method::Ir)?;
                }
            }
            method => this.compute(topology, method)?,
        }
        Ok(this)
    }

    fn compute(&mut self, topology: &Topology<'_>, method: Method) -> Result<(), LabellingError> {
        self.method = method;
        self.routers.fill(RouterLabels::EMPTY);
        self.nodes.fill(NodeEntry::default());
        storage::mark_aliases(topology, &mut self.routers);
        match method {
            Method::Auto | Method::Ir => ir::label(topology, &mut self.routers, &mut self.nodes)?,
            Method::Tree => tree::label(topology, &mut self.routers, &mut self.nodes)?,
            Method::DimensionOrder(grid) => {
                order::label(topology, &grid, &mut self.routers, &mut self.nodes)?;
            }
            Method::UpDown(tree) => {
                up_down::label(topology, &tree, &mut self.routers, &mut self.nodes)?;
            }
        }
        self.encode();
        Ok(())
    }

    /// Computes the intervals from the labels.
    fn encode(&mut self) {
        for router in self.routers.iter_mut() {
            let labels = *router;
            router.intervals =
                Intervals::from_labels(|port| labels.bound(port), self.adaptive, labels.alike);
        }
    }

    /// With `true`, an interval offers every port of its label (parallel
    /// cables, and all ways up in a fat tree); with `false`, the default, only the lowest, as the shipped
    /// tables do: packets stay in order.
    #[must_use]
    pub fn with_adaptive(mut self, adaptive: bool) -> Self {
        self.adaptive = adaptive;
        self.encode();
        self
    }

    /// The method that made the labels; never [`Method::Auto`].
    pub const fn method(&self) -> Method {
        self.method
    }

    /// What the labelling says of a port; [`Label::None`] for one that does
    /// not exist.
    pub fn label(&self, at: PortId) -> Label {
        self.routers
            .get(usize::from(at.router))
            .map_or(Label::None, |r| r.label(at.port))
    }

    /// The table of a router, the same for each of its inputs; one that offers
    /// nothing for a router that does not exist.
    pub fn intervals(&self, router: u16) -> Intervals {
        self.routers
            .get(usize::from(router))
            .map_or(Intervals::NONE, |r| r.intervals)
    }

    /// The configuration of a router, ready for [`emit`](RoutingTable::emit);
    /// all zero intervals for a router that does not exist.
    pub fn table(&self, router: u16) -> RoutingTable {
        self.intervals(router).table()
    }

    /// The node number of a generator.
    pub fn node_of(&self, generator: u16) -> Option<u16> {
        self.entry(generator).map(|entry| entry.node)
    }

    /// The generator of a node number.
    pub fn generator_of(&self, node: u16) -> Option<u16> {
        self.entry(node).map(|entry| entry.generator)
    }

    fn entry(&self, i: u16) -> Option<&NodeEntry> {
        self.nodes.get(usize::from(i)).filter(|_| i < self.count)
    }

    /// The way of a packet from one node to another.
    ///
    /// # Errors
    /// [`RouteError`]: an unknown node, or why the packet does not arrive.
    pub fn route(&self, topology: &Topology<'_>, from: u16, to: u16) -> Result<Route, RouteError> {
        let nodes = usize::from(self.count);
        let known = |node| {
            self.generator_of(node)
                .ok_or(RouteError::UnknownNode { node, nodes })
        };
        let (source, wanted) = (known(from)?, known(to)?);
        let route = follow(topology, self, source, to)?;
        if route.generator == wanted {
            Ok(route)
        } else {
            let arrived = route.generator;
            Err(RouteError::WrongGenerator {
                header: to,
                arrived,
                wanted,
            })
        }
    }

    /// Follows all pairs.
    pub fn survey(&self, topology: &Topology<'_>) -> Survey {
        survey(topology, self, |generator| {
            self.node_of(generator).unwrap_or(u16::MAX)
        })
    }

    /// What the labelling has to say against itself, router by router. None of
    /// it is an error by itself; [`survey`](Self::survey) tells whether it hurts.
    pub fn warnings<'s>(
        &'s self,
        topology: &'s Topology<'_>,
    ) -> impl Iterator<Item = Warning> + use<'s, 'a> {
        let single = (0..topology.routers()).filter(|&router| {
            let cables = topology
                .ports(router)
                .iter()
                .filter(|p| matches!(p, Port::Cable { .. }));
            cables.count() == 1
        });
        let single = single.map(|router| Warning::SingleNeighbour { router });
        let ports = (0..=u16::MAX)
            .zip(self.routers.iter())
            .flat_map(|(router, labels)| (0..PORTS).map(move |port| (router, labels, port)));
        let ports = ports.filter_map(|(router, labels, port)| {
            let at = PortId::new(router, port);
            if labels.one_way & (1 << port) != 0 {
                return Some(Warning::OneWay { at });
            }
            let (first, label) = (labels.shared_with(port)?, labels.bound(port)?);
            Some(Warning::SharedLabel { at, first, label })
        });
        single.chain(ports)
    }
}

#[cfg(feature = "alloc")]
impl Labelling<'static> {
    /// Labels a machine.
    ///
    /// # Errors
    /// As for [`Labelling::with_storage`], which cannot lack storage here.
    pub fn new(topology: &Topology<'_>, method: Method) -> Result<Self, LabellingError> {
        Self::with_storage(
            topology,
            method,
            alloc::vec![RouterLabels::EMPTY; usize::from(topology.routers())],
            alloc::vec![NodeEntry::default(); topology.generators().len()],
        )
    }

    /// [`Method::Auto`].
    ///
    /// # Errors
    /// [`LabellingError::Disconnected`].
    pub fn auto(topology: &Topology<'_>) -> Result<Self, LabellingError> {
        Self::new(topology, Method::Auto)
    }

    /// [`Method::Ir`].
    ///
    /// # Errors
    /// [`LabellingError::Disconnected`].
    pub fn ir(topology: &Topology<'_>) -> Result<Self, LabellingError> {
        Self::new(topology, Method::Ir)
    }

    /// [`Method::Tree`].
    ///
    /// # Errors
    /// [`LabellingError::Disconnected`].
    pub fn tree(topology: &Topology<'_>) -> Result<Self, LabellingError> {
        Self::new(topology, Method::Tree)
    }

    /// [`Method::DimensionOrder`].
    ///
    /// # Errors
    /// [`LabellingError`]: the machine is not this grid.
    pub fn dimension_order(topology: &Topology<'_>, grid: &Grid) -> Result<Self, LabellingError> {
        Self::new(topology, Method::DimensionOrder(*grid))
    }

    /// [`Method::UpDown`].
    ///
    /// # Errors
    /// [`LabellingError`]: the machine is not this fat tree.
    pub fn up_down(topology: &Topology<'_>, tree: &FatTree) -> Result<Self, LabellingError> {
        Self::new(topology, Method::UpDown(*tree))
    }
}

impl Routes for Labelling<'_> {
    fn eligible(&self, router: u16, _input: u8, header: u16) -> u8 {
        self.routers
            .get(usize::from(router))
            .map_or(0, |labels| labels.intervals.eligible(header))
    }
}

impl PartialEq for Labelling<'_> {
    fn eq(&self, other: &Labelling<'_>) -> bool {
        (self.count, self.method, self.adaptive) == (other.count, other.method, other.adaptive)
            && *self.routers == *other.routers
            && *self.nodes == *other.nodes
    }
}

impl Eq for Labelling<'_> {}

#[cfg(feature = "alloc")]
impl Clone for Labelling<'_> {
    fn clone(&self) -> Self {
        Self {
            routers: self.routers.to_vec().into(),
            nodes: self.nodes.to_vec().into(),
            ..*self
        }
    }
}

impl fmt::Debug for Labelling<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Labelling")
            .field("method", &self.method)
            .field("adaptive", &self.adaptive)
            .field("routers", &&*self.routers)
            .field("nodes", &&*self.nodes)
            .finish()
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Labelling<'_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(
            f,
            "Labelling {{ method: {}, adaptive: {}, routers: {} }}",
            self.method,
            self.adaptive,
            &*self.routers
        );
    }
}

#[cfg(test)]
mod tests;
