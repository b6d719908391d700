//! `multipc topology`: what tables make of a machine, on paper.

mod draw;
mod findings;
mod layout;
mod print;

use std::boxed::Box;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::string::{String, ToString};
use std::{format, fs, println};

use clap::{Args, ValueEnum};

use super::BadUsage;
use crate::fabric::labelling::Method;
use crate::fabric::topology::file::{MachineFile, MethodName};
use crate::fabric::topology::{Shape, Topology};

use findings::Findings;

/// Reachability, lengths, load and deadlock of a machine's routing tables.
///
/// Labels the machine, follows every pair of boards through the tables, and
/// proves that packets cannot deadlock or shows the ring of cables that can wait
/// for each other. Exit status 0: every pair is served and no deadlock is
/// possible; 1: not so; 2: bad usage.
#[derive(Args, Clone, Debug)]
pub struct TopologyArgs {
    /// A TOML file, or a shape: pair, line:N, ring:N, mesh:AxB, torus:AxBxC,
    /// hypercube:D, machine-128, tree:BOARDSxCHILDREN, fat-tree:LEVELSxUP, star:N
    #[arg(value_name = "FILE|SHAPE")]
    pub machine: String,
    /// How to make the tables [default: what the file says, else auto]
    #[arg(long, value_enum)]
    pub method: Option<MethodArg>,
    /// Tables that offer every port that is as good
    #[arg(long)]
    pub adaptive: bool,
    /// How many of the busiest cables to list
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub busiest: usize,
    /// Draw the machine into FILE (SVG)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    pub json: bool,
}

/// The values of `--method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MethodArg {
    /// Dimension order for grids, up-down for fat trees, else ir or tree
    Auto,
    /// The tool of the original machine: depth first, with short cuts
    Ir,
    /// Along a spanning tree
    Tree,
    /// Highest dimension first
    DimensionOrder,
    /// Up and down a fat tree
    UpDown,
}

impl From<MethodArg> for MethodName {
    fn from(method: MethodArg) -> Self {
        match method {
            MethodArg::Auto => Self::Auto,
            MethodArg::Ir => Self::Ir,
            MethodArg::Tree => Self::Tree,
            MethodArg::DimensionOrder => Self::DimensionOrder,
            MethodArg::UpDown => Self::UpDown,
        }
    }
}

/// A machine and how to label it.
struct Machine {
    name: String,
    topology: Topology<'static>,
    shape: Option<Shape>,
    method: Method,
    adaptive: bool,
}

/// Runs the subcommand; true when every pair is served and no deadlock is
/// possible.
pub fn run(args: &TopologyArgs) -> Result<bool, Box<dyn Error>> {
    let machine = machine(args)?;
    let findings = Findings::new(&machine)?;
    if let Some(path) = &args.plot {
        let drawing = draw::svg(&machine, &findings);
        fs::write(path, drawing)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    if args.json {
        print::json(&machine, &findings, args.busiest)?;
    } else {
        print::tables(&machine, &findings, args.busiest);
        if let Some(path) = &args.plot {
            println!("plot: {}", path.display());
        }
    }
    Ok(findings.pass())
}

/// The machine that the arguments name.
fn machine(args: &TopologyArgs) -> Result<Machine, BadUsage> {
    let path = Path::new(&args.machine);
    let is_file = path.extension().is_some() || path.components().count() > 1 || path.exists();
    let file = if is_file {
        MachineFile::read(path).map_err(|error| BadUsage(error.to_string()))?
    } else {
        let wrong = |error: &dyn Error| {
            BadUsage(format!(
                "'{}' is no file and no shape: {error}",
                args.machine
            ))
        };
        let shape: Shape = args.machine.parse().map_err(|error| wrong(&error))?;
        let topology = shape.build().map_err(|error| wrong(&error))?;
        MachineFile::of_shape(topology, shape)
    };
    let name = args.method.map_or(file.method, MethodName::from);
    let method = method(name, file.shape.as_ref())?;
    Ok(Machine {
        name: args.machine.clone(),
        topology: file.topology,
        shape: file.shape,
        method,
        adaptive: args.adaptive || file.adaptive,
    })
}

/// The method for a machine of this shape.
fn method(name: MethodName, shape: Option<&Shape>) -> Result<Method, BadUsage> {
    let needs = |what: &str| {
        Err(BadUsage(format!(
            "method {what} needs a machine with that shape, by its name"
        )))
    };
    Ok(match (name, shape) {
        (MethodName::Ir, _) => Method::Ir,
        (MethodName::Tree, _) => Method::Tree,
        (MethodName::DimensionOrder, Some(Shape::Grid(grid))) => Method::DimensionOrder(*grid),
        (MethodName::DimensionOrder, _) => return needs("dimension-order (grid)"),
        (MethodName::UpDown, Some(Shape::FatTree(tree))) => Method::UpDown(*tree),
        (MethodName::UpDown, _) => return needs("up-down (fat tree)"),
        // On a ring, order would leave a cable out.
        (MethodName::Auto, Some(Shape::Grid(grid))) if grid.lengths().len() > 1 => {
            Method::DimensionOrder(*grid)
        }
        (MethodName::Auto, Some(Shape::FatTree(tree))) => Method::UpDown(*tree),
        (MethodName::Auto, _) => Method::Auto,
    })
}
