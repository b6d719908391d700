//! `multipc mpi pingpong`: latency and bandwidth of both layers beside PUT.

use std::boxed::Box;
use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::string::String;
use std::vec::Vec;
use std::{format, println, vec};

use clap::Args;
use comfy_table::{Cell, CellAlignment, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::{Layer, kernels, machine, plot, write};
use crate::cluster::{Cluster, ClusterConfig};
use crate::figures::PutBench;
use crate::mpi::timeline::{Breakdown, Part};
use crate::mpi::world::{World, WorldConfig};
use crate::put::CostModel;

/// Half of a round trip and the bandwidth that follows from it, from 0 bytes to
/// 4 MB, for MPI-MPC 1, MPI-MPC 2 and PUT itself.
///
/// Two boards, chip by chip; software takes the time of the cost model, whose
/// calibrated parameters are printed. Exit status 0: published figures met
/// within 5 %; 1: not so.
#[derive(Args, Clone, Debug)]
pub struct PingpongArgs {
    /// Largest message, bytes
    #[arg(long, default_value_t = 4 << 20, value_name = "BYTES",
          value_parser = clap::value_parser!(u32).range(0..=4 << 20))]
    pub max: u32,
    /// Rounds of messages below 64 KB; longer ones take one
    #[arg(long, default_value_t = 40, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rounds: u32,
    /// Draw the curves into FILE (SVG)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Print one JSON object instead of tables
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print the points as CSV instead of tables
    #[arg(long)]
    pub csv: bool,
}

/// Published figures: Glück et al., IPDPS 2001 (MPI-MPC 1), and PDCAT 2002
/// (MPI-MPC 2). hw/doc/mpi.md, section "Figures".
pub const LATENCY_US: [f64; 2] = [26.0, 15.0];
/// Only MPI-MPC 1's is published.
pub const BANDWIDTH_MBIT_S: f64 = 450.0;
/// Accepted distance from a published figure.
pub const BAND: f64 = 0.05;
/// Rounds of messages from 64 KB on, whose time hardly scatters.
const FEW: u32 = 1;
const LONG: u32 = kernels::LONG as u32;

/// A message size.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Point {
    pub bytes: u32,
    pub latency_us: f64,
    pub bandwidth_mbit_s: f64,
}

impl Point {
    fn new(bytes: u32, latency_us: f64) -> Self {
        Self {
            bytes,
            latency_us,
            bandwidth_mbit_s: 8.0 * f64::from(bytes) / latency_us,
        }
    }
}

/// One layer's curve and the split of its shortest message.
#[derive(Debug, Serialize)]
pub struct Curve {
    pub latency_us: f64,
    pub bandwidth_mbit_s: f64,
    pub points: Vec<Point>,
    /// Microseconds of a one-way message of 0 bytes, part by part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub split: Vec<Share>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Share {
    pub part: &'static str,
    pub us: f64,
}

impl Curve {
    fn new(points: Vec<Point>, split: Vec<Share>) -> Self {
        let best = points.iter().map(|point| point.bandwidth_mbit_s);
        Self {
            latency_us: points.first().map_or(0.0, |point| point.latency_us),
            bandwidth_mbit_s: best.fold(0.0, f64::max),
            points,
            split,
        }
    }
}

#[derive(Debug, Serialize)]
struct Report {
    mpi1: Curve,
    mpi2: Curve,
    put: Curve,
    pass: bool,
}

pub fn run(args: &PingpongArgs) -> Result<bool, Box<dyn Error>> {
    let quiet = args.json || args.csv;
    let sizes: Vec<u32> = [0]
        .into_iter()
        .chain((0..=22).map(|power| 1 << power))
        .filter(|size| *size <= args.max)
        .collect();
    let bar = if quiet {
        ProgressBar::hidden()
    } else {
        ProgressBar::new(3 * sizes.len() as u64)
    };
    bar.set_style(ProgressStyle::with_template("{bar:40} {pos}/{len}  {msg}")?);
    let mpi1 = layer(Layer::Kernel, &sizes, args.rounds, &bar)?;
    let mpi2 = layer(Layer::User, &sizes, args.rounds, &bar)?;
    let put = put(&sizes, args.rounds, &bar)?;
    bar.finish_and_clear();
    let mut report = Report {
        mpi1,
        mpi2,
        put,
        pass: false,
    };
    report.pass = checks(&report, args.max).iter().all(|check| check.holds);
    if let Some(path) = &args.plot {
        let svg = plot::pingpong(&report.mpi1, &report.mpi2, &report.put)?;
        write(path, &svg)?;
    }
    if args.json {
        let mut out = io::stdout().lock();
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else if args.csv {
        print_csv(&report)?;
    } else {
        print_tables(&report, args);
    }
    Ok(report.pass)
}

fn layer(
    layer: Layer,
    sizes: &[u32],
    rounds: u32,
    bar: &ProgressBar,
) -> Result<Curve, Box<dyn Error>> {
    let topology = machine(None, 2)?;
    let mut world = World::on_boards(&topology, WorldConfig::new(2, layer.config()))?;
    let mut points = Vec::new();
    let mut split = Vec::new();
    for &bytes in sizes {
        bar.set_message(format!("{} {bytes} bytes", layer.name()));
        let rounds = if bytes >= LONG { FEW } else { rounds };
        let outcome = world.run(|process| kernels::latency(process, bytes as usize, rounds))?;
        if split.is_empty() {
            let ways = f64::from(2 * (kernels::warm_up(bytes as usize) + rounds));
            split = shares(&outcome.timeline.total(), ways);
        }
        let times: Result<Vec<f64>, _> = outcome.results.into_iter().collect();
        let time = times?.first().copied().unwrap_or_default();
        points.push(Point::new(bytes, time));
        bar.inc(1);
    }
    Ok(Curve::new(points, split))
}

/// What one message of so many takes. Of the two ranks one always waits for the
/// other: waiting is not part of the message.
fn shares(total: &Breakdown, messages: f64) -> Vec<Share> {
    Part::ALL
        .into_iter()
        .filter(|part| *part != Part::Waiting && total.get(*part).ps() > 0)
        .map(|part| Share {
            part: part.name(),
            us: total.get(part).as_us_f64() / messages,
        })
        .collect()
}

/// PUT called by a process in the kernel's way, without a layer above; it has no
/// message of 0 bytes.
fn put(sizes: &[u32], rounds: u32, bar: &ProgressBar) -> Result<Curve, Box<dyn Error>> {
    let mut cluster = Cluster::boot(&machine(None, 2)?, &ClusterConfig::default())?;
    let (nodes, writers) = cluster.parts();
    let [first, second, ..] = writers else {
        return Err("the machine has no two nodes".into());
    };
    let drivers = [first.put_mut(), second.put_mut()];
    let mut bench = PutBench::new(nodes, drivers, CostModel::default())?;
    let mut points = Vec::new();
    for &bytes in sizes {
        bar.set_message(format!("PUT {bytes} bytes"));
        if bytes > 0 {
            let time = if bytes < LONG {
                bench.latency(bytes, rounds)?.total_us()
            } else {
                bench.one_way(bytes)?.as_us_f64()
            };
            points.push(Point::new(bytes, time));
        }
        bar.inc(1);
    }
    Ok(Curve::new(points, Vec::new()))
}

struct Check {
    what: &'static str,
    model: f64,
    record: f64,
    unit: &'static str,
    holds: bool,
}

impl Check {
    fn near(what: &'static str, model: f64, record: f64, unit: &'static str) -> Self {
        Self {
            what,
            model,
            record,
            unit,
            holds: (model / record - 1.0).abs() <= BAND,
        }
    }
}

/// Bandwidths are compared when long messages were measured.
fn checks(report: &Report, max: u32) -> Vec<Check> {
    let Report { mpi1, mpi2, .. } = report;
    let mut checks = vec![
        Check::near("MPI-MPC 1 latency", mpi1.latency_us, LATENCY_US[0], "us"),
        Check::near("MPI-MPC 2 latency", mpi2.latency_us, LATENCY_US[1], "us"),
    ];
    if max >= 1 << 20 {
        let [slow, fast] = [mpi1.bandwidth_mbit_s, mpi2.bandwidth_mbit_s];
        checks.push(Check::near(
            "MPI-MPC 1 bandwidth",
            slow,
            BANDWIDTH_MBIT_S,
            "Mbit/s",
        ));
        checks.push(Check {
            what: "MPI-MPC 2 above it",
            model: fast,
            record: slow,
            unit: "Mbit/s",
            holds: fast > slow,
        });
    }
    checks
}

fn print_csv(report: &Report) -> Result<(), Box<dyn Error>> {
    let mut out = csv::Writer::from_writer(io::stdout().lock());
    out.write_record(["layer", "bytes", "latency_us", "bandwidth_mbit_s"])?;
    for (name, curve) in [
        ("mpi1", &report.mpi1),
        ("mpi2", &report.mpi2),
        ("put", &report.put),
    ] {
        for point in &curve.points {
            out.serialize((name, point.bytes, point.latency_us, point.bandwidth_mbit_s))?;
        }
    }
    out.flush()?;
    Ok(())
}

fn print_tables(report: &Report, args: &PingpongArgs) {
    println!("half of a round trip between two boards, and the bandwidth that follows from it\n");
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header([
        "bytes",
        "PUT us",
        "MPI-2 us",
        "MPI-1 us",
        "PUT Mbit/s",
        "MPI-2",
        "MPI-1",
    ]);
    let of = |curve: &Curve, bytes: u32| {
        let point = curve.points.iter().find(|point| point.bytes == bytes);
        point.map_or((String::from("-"), String::from("-")), |point| {
            (
                format!("{:.2}", point.latency_us),
                format!("{:.1}", point.bandwidth_mbit_s),
            )
        })
    };
    for point in &report.mpi2.points {
        let columns = [&report.put, &report.mpi2, &report.mpi1].map(|c| of(c, point.bytes));
        let mut row = Vec::from([format!("{}", point.bytes)]);
        row.extend(columns.iter().map(|(time, _)| time.clone()));
        row.extend(columns.iter().map(|(_, rate)| rate.clone()));
        table.add_row(row.into_iter().map(right));
    }
    println!("{table}\n");
    for (curve, layer) in [(&report.mpi2, Layer::User), (&report.mpi1, Layer::Kernel)] {
        let parts: Vec<_> = curve
            .split
            .iter()
            .map(|share| format!("{} {:.2}", share.part, share.us))
            .collect();
        println!(
            "{}, 0 bytes: {:.2} us = {}",
            layer.name(),
            curve.latency_us,
            parts.join(" + ")
        );
    }
    println!(
        "calibrated, not on record: send and receive software, the interrupt, pinning of a page,\n\
         copies (hw/doc/mpi.md)\n"
    );
    for check in checks(report, args.max) {
        println!(
            "{}  {:<20} {:>7.2} {} (record {:.2})",
            if check.holds { "ok  " } else { "MISS" },
            check.what,
            check.model,
            check.unit,
            check.record,
        );
    }
    if let Some(path) = &args.plot {
        println!("plot: {}", path.display());
    }
}

fn right(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}
