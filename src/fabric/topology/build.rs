//! Owned machines: the builder, and the shapes with a name.

use alloc::vec;
use alloc::vec::Vec;

use super::grid::CABLE_PORTS;
use super::{Cable, FatTree, Grid, Limit, PORTS, PortId, RouterPorts, Topology, TopologyError};

/// Collects routers, generators and cables; [`build`](Self::build) checks them.
///
/// ```
/// use multipc::fabric::topology::{PortId, TopologyBuilder};
///
/// let mut builder = TopologyBuilder::new();
/// let (a, b) = (builder.board(), builder.board());
/// builder.connect(PortId::new(a, 1), PortId::new(b, 1));
/// assert_eq!(builder.build()?.cables().len(), 1);
/// # Ok::<(), multipc::fabric::topology::TopologyError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopologyBuilder {
    routers: usize,
    generators: Vec<PortId>,
    cables: Vec<Cable>,
}

#[cfg(feature = "defmt")]
impl defmt::Format for TopologyBuilder {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(
            f,
            "TopologyBuilder {{ routers: {}, generators: {}, cables: {} }}",
            self.routers,
            self.generators.as_slice(),
            self.cables.as_slice()
        );
    }
}

impl TopologyBuilder {
    /// No routers, no generators, no cables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a router and returns its number. Beyond [`Topology::MAX`] of them
    /// [`build`](Self::build) fails, whatever numbers were used.
    pub fn router(&mut self) -> u16 {
        let router = self.routers as u16;
        self.routers += 1;
        router
    }

    /// Adds a generator at this port and returns its number.
    pub fn generator(&mut self, at: PortId) -> u16 {
        let generator = self.generators.len() as u16;
        self.generators.push(at);
        generator
    }

    /// Adds a board: a router with a generator on port 0. Returns the router.
    pub fn board(&mut self) -> u16 {
        let router = self.router();
        self.generator(PortId::new(router, 0));
        router
    }

    /// Adds a cable of the default length.
    pub fn connect(&mut self, a: PortId, b: PortId) {
        self.cable(Cable::new(a, b));
    }

    /// Adds a cable.
    pub fn cable(&mut self, cable: Cable) {
        self.cables.push(cable);
    }

    /// Plugs everything in.
    ///
    /// # Errors
    /// As for [`Topology::new`].
    pub fn build(self) -> Result<Topology<'static>, TopologyError> {
        Topology::new(
            vec![RouterPorts::EMPTY; self.routers],
            self.generators,
            self.cables,
        )
    }
}

/// Shapes of one board a router (generator `i` on port 0 of router `i`), with
/// cables of the default length.
impl Topology<'static> {
    /// Two boards back to back, by port 1.
    ///
    /// # Errors
    /// None with this shape.
    pub fn pair() -> Result<Self, TopologyError> {
        Self::line(2)
    }

    /// Boards in a row: port 1 to the next, port 2 to the previous (two boards:
    /// port 1 on both).
    ///
    /// # Errors
    /// As for [`Grid::mesh`].
    pub fn line(boards: usize) -> Result<Self, TopologyError> {
        Self::mesh(&[boards])
    }

    /// A closed row: port 1 to the next, port 2 to the previous. Two boards
    /// have one cable, as back to back.
    ///
    /// # Errors
    /// As for [`Grid::mesh`].
    pub fn ring(boards: usize) -> Result<Self, TopologyError> {
        Self::torus(&[boards])
    }

    /// A mesh of any dimension that 7 cable ports allow: `&[8, 8]`,
    /// `&[4, 4, 4]`. Numbering and ports: [`Grid`].
    ///
    /// # Errors
    /// As for [`Grid::mesh`].
    pub fn mesh(lengths: &[usize]) -> Result<Self, TopologyError> {
        Self::grid(&Grid::mesh(lengths)?)
    }

    /// A mesh with every dimension of three or more closed.
    ///
    /// # Errors
    /// As for [`Grid::mesh`].
    pub fn torus(lengths: &[usize]) -> Result<Self, TopologyError> {
        Self::grid(&Grid::torus(lengths)?)
    }

    /// The machine of a grid.
    ///
    /// # Errors
    /// None with a grid that exists.
    pub fn grid(grid: &Grid) -> Result<Self, TopologyError> {
        Self::new(
            vec![RouterPorts::EMPTY; usize::from(grid.routers())],
            grid.generators().collect::<Vec<_>>(),
            grid.cables().collect::<Vec<_>>(),
        )
    }

    /// A hypercube of `2^dimensions` boards, at most 7 dimensions; port `d + 1`
    /// leads to the board whose number differs in bit `d`.
    ///
    /// # Errors
    /// [`TopologyError::TooMany`] beyond 7 dimensions.
    pub fn hypercube(dimensions: usize) -> Result<Self, TopologyError> {
        Self::grid(&Grid::hypercube(dimensions)?)
    }

    /// The machine of 128 boards: the 7-dimensional hypercube. It uses the 7
    /// cable ports of each board, crosses at most 7 cables (8 routers), and its
    /// dimension-order tables fill RCUBE's 8 intervals exactly
    /// (hw/doc/topology.md, "The machine of 128").
    ///
    /// # Errors
    /// None with this shape.
    pub fn machine_128() -> Result<Self, TopologyError> {
        Self::grid(&Grid::machine_128()?)
    }

    /// A tree filled level by level, `children` below each router as far as its
    /// ports go: port 1 to the parent, then ports 2 up (from port 1 on the
    /// root) to the children. The root has at most 7, others at most 6.
    /// `tree(128, 7)` crosses at most 7 routers (6 cables).
    ///
    /// # Errors
    /// [`TopologyError::EmptyShape`] without boards or children,
    /// [`TopologyError::TooMany`] beyond 7 children.
    pub fn tree(boards: usize, children: usize) -> Result<Self, TopologyError> {
        let max = usize::from(CABLE_PORTS);
        if boards == 0 || children == 0 {
            return Err(TopologyError::EmptyShape);
        }
        if children > max {
            return Err(TopologyError::TooMany {
                what: Limit::Children,
                count: children,
                max,
            });
        }
        if boards > Self::MAX {
            let what = Limit::Routers;
            return Err(TopologyError::TooMany {
                what,
                count: boards,
                max: Self::MAX,
            });
        }
        let mut builder = TopologyBuilder::new();
        builder.board();
        let mut parent = 0;
        while builder.routers < boards {
            let first = if parent == 0 { 1 } else { 2 };
            for port in (first..PORTS).take(children) {
                if builder.routers == boards {
                    break;
                }
                let child = builder.board();
                builder.connect(PortId::new(parent, port), PortId::new(child, 1));
            }
            parent += 1;
        }
        builder.build()
    }

    /// A fat tree with `levels` levels of switches without boards, `arity` ports
    /// up and down each: 8, 32, 128 boards with arity 4 and 1, 2, 3 levels.
    /// Numbering and ports: [`FatTree`].
    ///
    /// # Errors
    /// As for [`FatTree::new`].
    pub fn fat_tree(levels: usize, arity: usize) -> Result<Self, TopologyError> {
        Self::fat(&FatTree::new(levels, arity)?)
    }

    /// The machine of a fat tree.
    ///
    /// # Errors
    /// None with a fat tree that exists.
    pub fn fat(tree: &FatTree) -> Result<Self, TopologyError> {
        Self::new(
            vec![RouterPorts::EMPTY; usize::from(tree.routers())],
            tree.generators().collect::<Vec<_>>(),
            tree.cables().collect::<Vec<_>>(),
        )
    }

    /// One router with a generator on each of its first ports.
    ///
    /// # Errors
    /// [`TopologyError::TooMany`] beyond 8 generators.
    pub fn star(generators: usize) -> Result<Self, TopologyError> {
        let max = usize::from(PORTS);
        if generators > max {
            let what = Limit::StarGenerators;
            return Err(TopologyError::TooMany {
                what,
                count: generators,
                max,
            });
        }
        let mut builder = TopologyBuilder::new();
        let router = builder.router();
        for port in (0..PORTS).take(generators) {
            builder.generator(PortId::new(router, port));
        }
        builder.build()
    }
}
