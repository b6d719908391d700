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
//! `generators` (star).
//!
//! In both, `method` is `auto` (the default: dimension order for a grid, up-down
//! for a fat tree, else the better of `ir` and `tree`), `ir`, `tree`,
//! `dimension-order` or `up-down`, and `adaptive = true` lets the tables offer
//! all ports that are as good.

use std::borrow::ToOwned;
use std::boxed::Box;
use std::format;
use std::path::{Path, PathBuf};
use std::string::{String, ToString};
use std::vec::Vec;

use core::fmt;
use core::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::{Cable, Medium, PORTS, Plug, PortId, Shape, Topology, TopologyBuilder, TopologyError};

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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    shape: Option<Spanned<String>>,
    lengths: Option<Spanned<Vec<usize>>>,
    dimensions: Option<Spanned<usize>>,
    boards: Option<Spanned<usize>>,
    children: Option<Spanned<usize>>,
    levels: Option<Spanned<usize>>,
    arity: Option<Spanned<usize>>,
    generators: Option<Spanned<usize>>,
    length_m: Option<Spanned<f64>>,
    medium: Option<Spanned<RawMedium>>,
    routers: Option<Spanned<usize>>,
    #[serde(default)]
    generator: Vec<Spanned<RawGenerator>>,
    #[serde(default)]
    cable: Vec<Spanned<RawCable>>,
    #[serde(default)]
    method: MethodName,
    #[serde(default)]
    adaptive: bool,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RawMedium {
    Coax,
    Fibre,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawGenerator {
    router: Spanned<u64>,
    #[serde(default)]
    port: Option<Spanned<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCable {
    from: Spanned<[u64; 2]>,
    to: Spanned<[u64; 2]>,
    length_m: Option<Spanned<f64>>,
    medium: Option<RawMedium>,
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

/// Something wrong at a place of the text.
struct Wrong {
    span: Option<Range<usize>>,
    problem: String,
}

impl Wrong {
    fn at<T>(place: &Spanned<T>, problem: impl fmt::Display) -> Box<Self> {
        Box::new(Self {
            span: Some(place.span()),
            problem: problem.to_string(),
        })
    }
}

type Built<T> = Result<T, Box<Wrong>>;

fn line_of(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    before.iter().filter(|&&byte| byte == b'\n').count() + 1
}

/// A machine by its shape.
fn shaped(raw: &Raw, name: &Spanned<String>) -> Built<(Topology<'static>, Option<Shape>)> {
    let foreign = raw.routers.as_ref().map(|n| (n.span(), "routers"));
    let foreign = foreign.or_else(|| raw.generator.first().map(|g| (g.span(), "[[generator]]")));
    let foreign = foreign.or_else(|| raw.cable.first().map(|c| (c.span(), "[[cable]]")));
    if let Some((span, thing)) = foreign {
        return Err(Box::new(Wrong {
            span: Some(span),
            problem: format!(
                "{thing} beside shape = \"{}\", one or the other",
                name.as_ref()
            ),
        }));
    }
    let wanted: &[&str] = match name.as_ref().as_str() {
        "line" | "ring" | "mesh" | "torus" => &["lengths"],
        "hypercube" => &["dimensions"],
        "tree" => &["boards", "children"],
        "fat-tree" => &["levels", "arity"],
        "star" => &["generators"],
        _ => &[],
    };
    let mut numbers = Vec::new();
    let single = [
        ("dimensions", &raw.dimensions),
        ("boards", &raw.boards),
        ("children", &raw.children),
        ("levels", &raw.levels),
        ("arity", &raw.arity),
        ("generators", &raw.generators),
    ];
    let mut first = None;
    if let Some(lengths) = &raw.lengths {
        if !wanted.contains(&"lengths") {
            return Err(Wrong::at(
                lengths,
                not_wanted("lengths", name.as_ref(), wanted),
            ));
        }
        numbers.extend_from_slice(lengths.as_ref());
        first = Some(lengths.span());
    }
    for (key, value) in single {
        let Some(value) = value else {
            continue;
        };
        if !wanted.contains(&key) {
            return Err(Wrong::at(value, not_wanted(key, name.as_ref(), wanted)));
        }
        numbers.push(*value.as_ref());
        first.get_or_insert(value.span());
    }
    let shape = Shape::new(name.as_ref(), &numbers).map_err(|error| {
        Box::new(Wrong {
            span: Some(first.clone().unwrap_or_else(|| name.span())),
            problem: error.to_string(),
        })
    })?;
    let span = first.unwrap_or_else(|| name.span());
    let failed = |error: TopologyError| {
        Box::new(Wrong {
            span: Some(span.clone()),
            problem: error.to_string(),
        })
    };
    let topology = shape.build().map_err(failed)?;
    // The same machine with other cables.
    if raw.length_m.is_none() && raw.medium.is_none() {
        return Ok((topology, Some(shape)));
    }
    let mut builder = TopologyBuilder::new();
    for _ in 0..topology.routers() {
        builder.router();
    }
    for &at in topology.generators() {
        builder.generator(at);
    }
    for &cable in topology.cables() {
        builder.cable(of_kind(
            cable,
            raw.medium.as_ref().map(|medium| *medium.as_ref()),
            raw.length_m.as_ref(),
        )?);
    }
    let topology = builder.build().map_err(|error| match &raw.length_m {
        Some(length) => Wrong::at(length, error),
        None => failed(error),
    })?;
    Ok((topology, Some(shape)))
}

fn not_wanted(key: &str, shape: &str, wanted: &[&str]) -> String {
    let wanted = if wanted.is_empty() {
        "nothing".to_owned()
    } else {
        wanted.join(" and ")
    };
    format!("{key} beside shape = \"{shape}\", which wants {wanted}")
}

/// A cable of this medium and length.
fn of_kind(
    cable: Cable,
    medium: Option<RawMedium>,
    length_m: Option<&Spanned<f64>>,
) -> Built<Cable> {
    let medium = match medium {
        Some(RawMedium::Fibre) => Medium::Fibre,
        Some(RawMedium::Coax) | None => Medium::Coax,
    };
    let mut cable = cable.with_medium(medium);
    if let Some(length) = length_m {
        let metres = *length.as_ref();
        let most = f64::from(medium.max_mm()) / 1000.0;
        if !(0.0..=most).contains(&metres) {
            return Err(Wrong::at(
                length,
                format!("length_m = {metres}, this medium allows 0..={most} m"),
            ));
        }
        // In range, so it fits.
        cable = cable.with_length_mm((metres * 1000.0 + 0.5) as u32);
    }
    Ok(cable)
}

/// A machine plug by plug.
fn plugged(raw: &Raw) -> Built<Topology<'static>> {
    let numbers = [
        &raw.dimensions,
        &raw.boards,
        &raw.children,
        &raw.levels,
        &raw.arity,
    ];
    if let Some(number) = numbers.into_iter().flatten().next() {
        return Err(Wrong::at(
            number,
            "a number of a shape without shape = \"...\"",
        ));
    }
    if let Some(lengths) = &raw.lengths {
        return Err(Wrong::at(lengths, "lengths without shape = \"...\""));
    }
    let Some(routers) = &raw.routers else {
        return Err(Box::new(Wrong {
            span: None,
            problem: "neither shape = \"...\" nor routers = N".to_owned(),
        }));
    };
    let count = *routers.as_ref();
    if count == 0 || count > Topology::MAX {
        let most = Topology::MAX;
        return Err(Wrong::at(
            routers,
            format!("routers = {count}, must be 1..={most}"),
        ));
    }
    let mut builder = TopologyBuilder::new();
    for _ in 0..count {
        builder.router();
    }
    for plug in &raw.generator {
        let RawGenerator { router, port } = plug.as_ref();
        let port = match port {
            Some(port) => within(port, *port.as_ref(), "port", PORTS.into())?,
            None => 0,
        };
        let router = within(router, *router.as_ref(), "router", count as u64)?;
        builder.generator(PortId::new(router, port as u8));
    }
    for plug in &raw.cable {
        let cable = plug.as_ref();
        let end = |place: &Spanned<[u64; 2]>| -> Built<PortId> {
            let [router, port] = *place.as_ref();
            let router = within(place, router, "router", count as u64)?;
            let port = within(place, port, "port", PORTS.into())?;
            Ok(PortId::new(router, port as u8))
        };
        let laid = Cable::new(end(&cable.from)?, end(&cable.to)?);
        let length = cable.length_m.as_ref().or(raw.length_m.as_ref());
        let medium = cable
            .medium
            .or(raw.medium.as_ref().map(|medium| *medium.as_ref()));
        builder.cable(of_kind(laid, medium, length)?);
    }
    builder.build().map_err(|error| {
        Box::new(Wrong {
            span: span_of(raw, &error),
            problem: error.to_string(),
        })
    })
}

fn within<T>(place: &Spanned<T>, value: u64, what: &str, count: u64) -> Built<u16> {
    u16::try_from(value)
        .ok()
        .filter(|_| value < count)
        .ok_or_else(|| Wrong::at(place, format!("{what} {value}, must be 0..={}", count - 1)))
}

/// The plug that an error is about.
fn span_of(raw: &Raw, error: &TopologyError) -> Option<Range<usize>> {
    let cable = |i: u16| raw.cable.get(usize::from(i)).map(Spanned::span);
    match *error {
        TopologyError::PortTaken { plug, .. }
        | TopologyError::UnknownPort { plug, .. }
        | TopologyError::UnknownRouter { plug, .. } => match plug {
            Plug::Generator(i) => raw.generator.get(usize::from(i)).map(Spanned::span),
            Plug::Cable(i) => cable(i),
        },
        TopologyError::CableToItself { cable: i, .. }
        | TopologyError::CableTooLong { cable: i, .. } => cable(i),
        _ => raw.routers.as_ref().map(Spanned::span),
    }
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
