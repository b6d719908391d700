//! Meshes and tori of any dimension: coordinates, ports, cables.
//!
//! Router `r` has the coordinates `x0 + len0 * (x1 + len1 * (x2 + ...))`:
//! dimension 0 runs fastest (row-major). Each dimension of three or more takes
//! two ports (towards higher, towards lower coordinates), one of two takes one
//! port, one of one takes none; ports are dealt out from 1, dimension 0 first.
//!
//! ```text
//!    mesh of 3 x 2           ports of a 2-D mesh     ports of a 2x2x2 cube
//!    0 --- 1 --- 2           1: x+1    2: x-1        1: other x
//!    |     |     |           3: y+1    4: y-1        2: other y
//!    3 --- 4 --- 5                                   3: other z
//! ```
//!
//! So a line is a grid of one dimension, a hypercube is a mesh of twos.

use super::{Cable, Limit, PORTS, PortId, Topology, TopologyError};

/// Cable ports of a board's router; port 0 belongs to the board.
pub(super) const CABLE_PORTS: u8 = PORTS - 1;

/// The shape of a mesh or a torus with one board a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Grid {
    lengths: [u16; CABLE_PORTS as usize],
    dimensions: u8,
    routers: u16,
    wrap: bool,
}

impl Grid {
    /// A mesh: neighbours along each dimension are cabled.
    ///
    /// # Errors
    /// [`TopologyError::EmptyShape`] for a length of 0;
    /// [`TopologyError::TooMany`] beyond 7 cable ports on a router or
    /// [`Topology::MAX`] routers.
    pub fn mesh(lengths: &[usize]) -> Result<Self, TopologyError> {
        let mut grid = Self {
            lengths: [1; CABLE_PORTS as usize],
            dimensions: 0,
            routers: 1,
            wrap: false,
        };
        let mut routers = 1usize;
        let mut ports = 0usize;
        for &length in lengths {
            if length == 0 {
                return Err(TopologyError::EmptyShape);
            }
            routers = routers.saturating_mul(length);
            ports += length.min(3) - 1;
        }
        let (max, max_ports) = (Topology::MAX, usize::from(CABLE_PORTS));
        if routers > max {
            return Err(TopologyError::TooMany {
                what: Limit::Routers,
                count: routers,
                max,
            });
        }
        if ports > max_ports {
            let what = Limit::CablePorts;
            return Err(TopologyError::TooMany {
                what,
                count: ports,
                max: max_ports,
            });
        }
        grid.routers = routers as u16;
        // At most as many dimensions above 1 as ports, so all of them fit.
        for (slot, &length) in grid
            .lengths
            .iter_mut()
            .zip(lengths.iter().filter(|&&l| l > 1))
        {
            *slot = length as u16;
            grid.dimensions += 1;
        }
        Ok(grid)
    }

    /// A torus: a mesh in which each dimension of three or more is closed to
    /// a ring.
    ///
    /// # Errors
    /// As for [`mesh`](Self::mesh).
    pub fn torus(lengths: &[usize]) -> Result<Self, TopologyError> {
        Ok(Self {
            wrap: true,
            ..Self::mesh(lengths)?
        })
    }

    /// A hypercube of `2^dimensions` routers: a mesh of twos.
    ///
    /// # Errors
    /// [`TopologyError::TooMany`] beyond 7 dimensions.
    pub fn hypercube(dimensions: usize) -> Result<Self, TopologyError> {
        let max = usize::from(CABLE_PORTS);
        match [2; CABLE_PORTS as usize].get(..dimensions) {
            Some(twos) => Self::mesh(twos),
            None => {
                let what = Limit::Dimensions;
                Err(TopologyError::TooMany {
                    what,
                    count: dimensions,
                    max,
                })
            }
        }
    }

    /// The machine of 128 boards as a grid: for
    /// [`Topology::machine_128`](Topology::machine_128) and its tables.
    ///
    /// # Errors
    /// None with this shape.
    pub fn machine_128() -> Result<Self, TopologyError> {
        Self::hypercube(usize::from(CABLE_PORTS))
    }

    /// Whether dimensions of three or more are closed.
    pub const fn wraps(&self) -> bool {
        self.wrap
    }

    /// How many routers, each with one board.
    pub const fn routers(&self) -> u16 {
        self.routers
    }

    /// The lengths of the dimensions longer than 1.
    pub fn lengths(&self) -> &[u16] {
        self.lengths
            .get(..usize::from(self.dimensions))
            .unwrap_or(&[])
    }

    /// The stride of each dimension longer than 1, with its length: a step
    /// along it changes the router number by the stride.
    pub fn strides(&self) -> impl Iterator<Item = (u16, u16)> + '_ {
        // The product of all lengths is at most 65,535, and so is each stride.
        self.lengths().iter().scan(1u16, |next, &length| {
            let stride = *next;
            *next = stride.saturating_mul(length);
            Some((stride, length))
        })
    }

    /// Where the board of each router is plugged in: port 0.
    pub fn generators(&self) -> impl Iterator<Item = PortId> + use<> {
        (0..self.routers).map(|router| PortId::new(router, 0))
    }

    /// Every cable once, by router, then by dimension.
    pub fn cables(&self) -> impl Iterator<Item = Cable> + use<> {
        let grid = *self;
        (0..grid.routers).flat_map(move |router| {
            (0..grid.dimensions).filter_map(move |dimension| grid.cable_up(router, dimension))
        })
    }

    /// The cable from `router` to its neighbour one step up `dimension`.
    fn cable_up(&self, router: u16, dimension: u8) -> Option<Cable> {
        let mut up = 1u8;
        for (d, (stride, length)) in (0u8..).zip(self.strides()) {
            let down = if length > 2 { up + 1 } else { up };
            if d == dimension {
                let at = (router / stride) % length;
                let next = if at + 1 < length {
                    router + stride
                } else if self.wrap && length > 2 {
                    router - at * stride
                } else {
                    return None;
                };
                return Some(Cable::new(PortId::new(router, up), PortId::new(next, down)));
            }
            up = down + 1;
        }
        None
    }
}
