//! Shapes by name: `ring:6`, `mesh:8x8`, `fat-tree:3x4`.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use super::{FatTree, Grid, Topology, TopologyError};

/// A machine with a name.
///
/// | text | machine |
/// |---|---|
/// | `pair` | two boards back to back |
/// | `line:N`, `ring:N` | `N` boards in a row, in a closed row |
/// | `mesh:AxB...`, `torus:AxB...` | grids of any dimension that 7 cable ports allow |
/// | `hypercube:D` | `2^D` boards, up to 7 |
/// | `machine-128` | the 7-dimensional hypercube |
/// | `tree:NxC` | `N` boards, `C` below each |
/// | `fat-tree:LxH` | `L` levels of switches with `H` ports up; `fat-tree:L` for 4 |
/// | `star:N` | `N` generators on one router |
///
/// ```
/// use multipc::fabric::topology::Shape;
///
/// let shape: Shape = "torus:4x4".parse()?;
/// assert_eq!(shape.build()?.cables().len(), 32);
/// assert_eq!(shape.to_string(), "torus:4x4");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Shape {
    /// A mesh or a torus, lines, rings and hypercubes among them.
    Grid(Grid),
    /// A tree filled level by level.
    Tree {
        /// Boards.
        boards: usize,
        /// Most boards below each.
        children: usize,
    },
    /// A fat tree.
    FatTree(FatTree),
    /// One router.
    Star {
        /// Its generators.
        generators: usize,
    },
}

/// The names of shapes.
pub const SHAPES: [&str; 10] = [
    "pair",
    "line",
    "ring",
    "mesh",
    "torus",
    "hypercube",
    "machine-128",
    "tree",
    "fat-tree",
    "star",
];

impl Shape {
    /// The shape of this name with these numbers, as in the table above.
    ///
    /// # Errors
    /// [`ShapeError`].
    pub fn new(name: &str, numbers: &[usize]) -> Result<Self, ShapeError> {
        let known = SHAPES.iter().find(|known| **known == name);
        let &name = known.ok_or_else(|| ShapeError::Unknown {
            name: name.to_string(),
        })?;
        let wrong = |wanted| ShapeError::Numbers {
            name,
            given: numbers.len(),
            wanted,
        };
        Ok(match (name, numbers) {
            ("pair", []) => Self::Grid(Grid::mesh(&[2])?),
            ("machine-128", []) => Self::Grid(Grid::machine_128()?),
            ("pair" | "machine-128", _) => return Err(wrong("none")),
            ("line", &[n]) => Self::Grid(Grid::mesh(&[n])?),
            ("ring", &[n]) => Self::Grid(Grid::torus(&[n])?),
            ("hypercube", &[n]) => Self::Grid(Grid::hypercube(n)?),
            ("star", &[generators]) => Self::Star { generators },
            ("line" | "ring" | "star", _) => return Err(wrong("one: how many boards")),
            ("hypercube", _) => return Err(wrong("one: how many dimensions")),
            ("mesh" | "torus", []) => return Err(wrong("the length of each dimension")),
            ("mesh", lengths) => Self::Grid(Grid::mesh(lengths)?),
            ("torus", lengths) => Self::Grid(Grid::torus(lengths)?),
            ("tree", &[boards, children]) => Self::Tree { boards, children },
            ("tree", _) => return Err(wrong("two: how many boards, how many below each")),
            (_, &[levels]) => Self::FatTree(FatTree::new(levels, FatTree::MAX_ARITY)?),
            (_, &[levels, arity]) => Self::FatTree(FatTree::new(levels, arity)?),
            _ => return Err(wrong("two: how many levels, how many ports up")),
        })
    }

    /// The machine.
    ///
    /// # Errors
    /// [`TopologyError`].
    pub fn build(&self) -> Result<Topology<'static>, TopologyError> {
        match self {
            Self::Grid(grid) => Topology::grid(grid),
            &Self::Tree { boards, children } => Topology::tree(boards, children),
            Self::FatTree(tree) => Topology::fat(tree),
            &Self::Star { generators } => Topology::star(generators),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, numbers): (&str, Vec<usize>) = match self {
            Self::Grid(grid) => {
                let lengths: Vec<usize> = grid.lengths().iter().map(|&l| l.into()).collect();
                match lengths.as_slice() {
                    [] => ("line", [1].to_vec()),
                    [_] if grid.wraps() => ("ring", lengths),
                    [_] => ("line", lengths),
                    twos if twos.iter().all(|&l| l == 2) => ("hypercube", [twos.len()].to_vec()),
                    _ if grid.wraps() => ("torus", lengths),
                    _ => ("mesh", lengths),
                }
            }
            &Self::Tree { boards, children } => ("tree", [boards, children].to_vec()),
            Self::FatTree(tree) => (
                "fat-tree",
                [tree.levels().into(), tree.arity().into()].to_vec(),
            ),
            &Self::Star { generators } => ("star", [generators].to_vec()),
        };
        f.write_str(name)?;
        for (i, number) in numbers.iter().enumerate() {
            write!(f, "{}{number}", if i == 0 { ':' } else { 'x' })?;
        }
        Ok(())
    }
}

impl FromStr for Shape {
    type Err = ShapeError;

    fn from_str(text: &str) -> Result<Self, ShapeError> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        let number = |part: &str| {
            part.parse().map_err(|_| ShapeError::NoNumber {
                text: rest.unwrap_or_default().to_string(),
            })
        };
        let numbers: Vec<usize> = match rest {
            Some(rest) => rest.split('x').map(number).collect::<Result<_, _>>()?,
            None => Vec::new(),
        };
        Self::new(name, &numbers)
    }
}

/// Why a text names no shape.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShapeError {
    /// No shape of this name.
    Unknown {
        /// The offending name.
        name: String,
    },
    /// Too many or too few numbers for this shape.
    Numbers {
        /// The shape.
        name: &'static str,
        /// Numbers given.
        given: usize,
        /// What it wants.
        wanted: &'static str,
    },
    /// Not a number.
    NoNumber {
        /// The offending text.
        text: String,
    },
    /// The machine cannot be.
    Topology(TopologyError),
}

#[cfg(feature = "defmt")]
impl defmt::Format for ShapeError {
    fn format(&self, f: defmt::Formatter<'_>) {
        match self {
            Self::Unknown { name } => defmt::write!(f, "Unknown {{ name: {} }}", name.as_str()),
            Self::Numbers { name, given, .. } => {
                defmt::write!(f, "Numbers {{ name: {}, given: {} }}", name, given);
            }
            Self::NoNumber { text } => defmt::write!(f, "NoNumber {{ text: {} }}", text.as_str()),
            Self::Topology(error) => defmt::write!(f, "Topology({})", error),
        }
    }
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name } => {
                write!(f, "no shape '{name}', there are ")?;
                for (i, known) in SHAPES.iter().enumerate() {
                    write!(f, "{}{known}", if i > 0 { ", " } else { "" })?;
                }
                Ok(())
            }
            Self::Numbers {
                name,
                given,
                wanted,
            } => write!(f, "{name} with {given} numbers, wanted: {wanted}"),
            Self::NoNumber { text } => {
                write!(
                    f,
                    "'{text}' behind the shape, numbers like 4 or 4x4 are needed"
                )
            }
            Self::Topology(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ShapeError {}

impl From<TopologyError> for ShapeError {
    fn from(error: TopologyError) -> Self {
        Self::Topology(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_machines_and_back() {
        for (text, boards, cables) in [
            ("line:3", 3, 2),
            ("ring:6", 6, 6),
            ("mesh:8x8", 64, 112),
            ("torus:4x4", 16, 32),
            ("hypercube:7", 128, 448),
            ("tree:9x2", 9, 8),
            ("fat-tree:2x4", 32, 64),
            ("star:8", 8, 0),
        ] {
            let shape: Shape = text.parse().unwrap();
            let machine = shape.build().unwrap();
            assert_eq!(machine.generators().len(), boards, "{text}");
            assert_eq!(machine.cables().len(), cables, "{text}");
            assert_eq!(shape.to_string(), text);
        }
        for (text, name) in [
            ("pair", "line:2"),
            ("machine-128", "hypercube:7"),
            ("fat-tree:3", "fat-tree:3x4"),
        ] {
            assert_eq!(text.parse::<Shape>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, said) in [
            (
                "rong:6",
                "no shape 'rong', there are pair, line, ring, mesh, torus, hypercube, machine-128, tree, fat-tree, star",
            ),
            ("ring", "ring with 0 numbers, wanted: one: how many boards"),
            ("pair:3", "pair with 1 numbers, wanted: none"),
            (
                "mesh:8xa",
                "'8xa' behind the shape, numbers like 4 or 4x4 are needed",
            ),
            (
                "mesh:0x4",
                "a length of the shape is 0, at least 1 is needed",
            ),
            ("hypercube:9", "9 dimensions, at most 7 are possible"),
        ] {
            assert_eq!(text.parse::<Shape>().unwrap_err().to_string(), said);
        }
    }
}
