//! Machines as text: TOML. Needs the feature `toml`.
//!
//! Either a shape by name ([`Shape`]) with its numbers,
//!
//! ```toml
//! shape = "torus"
//! lengths = [8, 8]
//! length_m = 5.0          # of every cable, default 3 m
//! ```
//!
//! or every plug:
//!
//! ```toml
//! routers = 2
//! method = "tree"
//!
//! [[generator]]
//! router = 0
//! port = 0
//!
//! [[generator]]
//! router = 1
//! port = 0
//!
//! [[cable]]
//! from = [0, 1]           # router, port
//! to = [1, 1]
//! length_m = 40.0
//! medium = "fibre"        # or "coax", the default
//! ```
//!
//! The numbers of a shape: `lengths` (line, ring, mesh, torus), `dimensions`
//! (hypercube), `boards` and `children` (tree), `levels` and `arity` (fat-tree),
//! `generators` (star). All are needed but `arity`, which is 4 by default.
//!
//! In both, `method` is `auto` (the default: dimension order for a grid, up-down
//! for a fat tree, else the better of `ir` and `tree`), `ir`, `tree`,
//! `dimension-order` or `up-down`, and `adaptive = true` lets the tables offer
//! all ports that are as good.

mod plugged;
mod raw;
mod shaped;

use std::borrow::ToOwned;
use std::format;
use std::path::{Path, PathBuf};
use std::string::String;

use core::fmt;
use core::ops::Range;

use serde::Deserialize;

use super::{Shape, Topology};
use plugged::plugged;
use raw::Raw;
use shaped::shaped;

/// What the text says of the labelling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MethodName {
    /// The best for the shape.
    #[default]
    Auto,
    /// The recorded tool.
    Ir,
    /// A spanning tree.
    Tree,
    /// Highest dimension first.
    DimensionOrder,
    /// Up and down a fat tree.
    UpDown,
}

/// A machine from a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MachineFile {
    /// The machine.
    pub topology: Topology<'static>,
    /// Its shape, if the text names one.
    pub shape: Option<Shape>,
    /// How to label it.
    pub method: MethodName,
    /// Whether tables offer all ports that are as good.
    pub adaptive: bool,
}

impl MachineFile {
    /// A machine of a shape, as if a file had named it and nothing else.
    pub fn of_shape(topology: Topology<'static>, shape: Shape) -> Self {
        Self {
            topology,
            shape: Some(shape),
            method: MethodName::Auto,
            adaptive: false,
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`FileError`]: it cannot be read, or as for [`parse`](Self::parse).
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let text = std::fs::read_to_string(path).map_err(|error| FileError {
            file: path.to_owned(),
            line: None,
            problem: format!("cannot be read: {error}"),
        })?;
        Self::parse(&text, path)
    }

    /// Reads a text; `path` is for errors only.
    ///
    /// # Errors
    /// [`FileError`] with the line of the first thing that is wrong.
    pub fn parse(text: &str, path: &Path) -> Result<Self, FileError> {
        let fail = |span: Option<Range<usize>>, problem: String| FileError {
            file: path.to_owned(),
            line: span.map(|span| line_of(text, span.start)),
            problem,
        };
        let raw: Raw = toml::from_str(text)
            .map_err(|error| fail(error.span(), error.message().trim().replace('\n', ", ")))?;
        let built = match &raw.shape {
            Some(name) => shaped(&raw, name),
            None => plugged(&raw).map(|topology| (topology, None)),
        };
        let (topology, shape) = built.map_err(|wrong| fail(wrong.span, wrong.problem))?;
        Ok(Self {
            topology,
            shape,
            method: raw.method,
            adaptive: raw.adaptive,
        })
    }
}

fn line_of(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    before.iter().filter(|&&byte| byte == b'\n').count() + 1
}

/// What is wrong with a machine file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileError {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1, if it is about one.
    pub line: Option<usize>,
    /// The thing, its value, what is allowed.
    pub problem: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl core::error::Error for FileError {}

#[cfg(test)]
mod tests;
