//! The main job: PUT on two boards, beside the published figures.

use std::boxed::Box;
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::string::{String, ToString};
use std::vec::Vec;
use std::{eprintln, format, println};

use comfy_table::{Cell, CellAlignment, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::cluster::{BootReport, Cluster, ClusterConfig};
use crate::fabric::Probe;
use crate::fabric::topology::{Cable, PortId, Topology, TopologyBuilder};
use crate::figures::record::{self, latency};
use crate::figures::{LatencySplit, PutBench, PutPoint, router_latency};
use crate::put::CostModel;
use crate::rcube::RcubeConfig;
use crate::time::Frequency;

use super::args::PutArgs;
use super::plot;
use super::vcd::VcdProbe;

/// What the main job found.
struct Findings {
    latency: LatencySplit,
    router: u64,
    points: Vec<PutPoint>,
}

impl Findings {
    fn points_passed(&self) -> usize {
        self.points.iter().filter(|point| point.passes()).count()
    }

    fn latency_passes(&self) -> bool {
        latency::HARDWARE.holds(self.latency.hardware_us)
            && latency::POLLING.holds(self.latency.polling_us)
    }

    fn router_passes(&self) -> bool {
        self.router == record::ROUTER_LATENCY_CYCLES
    }

    fn pass(&self) -> bool {
        self.points_passed() == self.points.len() && self.latency_passes() && self.router_passes()
    }
}

/// Runs the main job; true when everything is inside the accepted band.
pub fn run(args: &PutArgs) -> Result<bool, Box<dyn Error>> {
    let quiet = args.json || args.csv;
    let topology = pair(args.cable)?;
    if let Some(path) = &args.vcd {
        record_waveform(path, &topology)?;
    }
    let mut cluster = Cluster::boot(&topology, &ClusterConfig::default())?;
    if !quiet {
        print_boot(cluster.machine().clocks(), cluster.boot_report());
    }
    let findings = measure(&mut cluster, args, quiet)?;
    let plot = match (&args.plot, quiet) {
        (Some(path), _) => Some(path.clone()),
        (None, false) => Some(PathBuf::from("put.svg")),
        (None, true) => None,
    };
    if let Some(path) = &plot {
        let note = clock_note(cluster.machine().clocks());
        let svg = plot::put_curve(&findings.points, &note)?;
        fs::write(path, svg)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    if args.json {
        print_json(&findings)?;
    } else if args.csv {
        print_csv(&findings.points)?;
    } else {
        print_tables(&findings, args.brief, plot.as_deref());
    }
    Ok(findings.pass())
}

/// Two boards back to back by port 1.
fn pair(metres: f64) -> Result<Topology<'static>, Box<dyn Error>> {
    let mut builder = TopologyBuilder::new();
    let (a, b) = (builder.board(), builder.board());
    let cable = Cable::new(PortId::new(a, 1), PortId::new(b, 1));
    builder.cable(cable.with_length_mm((metres * 1000.0) as u32));
    Ok(builder.build()?)
}

fn measure<P: Probe>(
    cluster: &mut Cluster<P>,
    args: &PutArgs,
    quiet: bool,
) -> Result<Findings, Box<dyn Error>> {
    let bar = if quiet {
        ProgressBar::hidden()
    } else {
        ProgressBar::new(record::THROUGHPUT.len() as u64)
    };
    bar.set_style(ProgressStyle::with_template(
        "{bar:40} {pos}/{len} page sizes  {msg}",
    )?);
    let (machine, writers) = cluster.parts();
    let [first, second, ..] = writers else {
        return Err("the machine has no two nodes".into());
    };
    let drivers = [first.put_mut(), second.put_mut()];
    let mut bench = PutBench::new(machine, drivers, CostModel::default())?;
    let latency = bench.latency(1, args.rounds)?;
    let mut points = Vec::new();
    for point in record::THROUGHPUT {
        bar.set_message(format!("{} bytes", point.bytes));
        points.push(bench.point(point, pages_for(point.bytes, args.pages))?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let router = router_latency(&RcubeConfig::default()).ok_or("the router swallowed a packet")?;
    Ok(Findings {
        latency,
        router,
        points,
    })
}

/// Pages to measure for a page size. The model does not scatter: of large pages
/// a few say as much as many.
fn pages_for(bytes: u32, wanted: u32) -> u32 {
    const ENOUGH_BYTES: u32 = 400_000;
    wanted.min((ENOUGH_BYTES / bytes.max(1)).max(8))
}

/// One latency round on a machine of its own, boot included, as a waveform.
fn record_waveform(path: &Path, topology: &Topology<'_>) -> Result<(), Box<dyn Error>> {
    let failed = |error: io::Error| format!("cannot write {}: {error}", path.display());
    let file = BufWriter::new(File::create(path).map_err(failed)?);
    let nodes = topology.generators().len();
    let probe = VcdProbe::new(Box::new(file), nodes, topology.routers().into()).map_err(failed)?;
    // The record's second of waiting would only be a gap in the picture.
    let config = ClusterConfig {
        settle_us: 1_000,
        ..ClusterConfig::default()
    };
    let mut cluster = Cluster::boot_with_probe(topology, &config, probe)?;
    let (machine, writers) = cluster.parts();
    let [first, second, ..] = writers else {
        return Err("the machine has no two nodes".into());
    };
    PutBench::new(
        machine,
        [first.put_mut(), second.put_mut()],
        CostModel::default(),
    )?
    .latency(1, 2)?;
    cluster
        .into_machine()
        .into_probe()
        .finish()
        .map_err(failed)?;
    eprintln!("waveform of a boot and two messages: {}", path.display());
    Ok(())
}

fn clock_note([link, pci]: [Frequency; 2]) -> String {
    format!(
        "{:.2} MHz link, {:.2} MHz PCI",
        link.hz() as f64 / 1e6,
        pci.hz() as f64 / 1e6
    )
}

fn print_boot(clocks: [Frequency; 2], boot: &BootReport) {
    println!(
        "boot    {} boards back to back, {}",
        boot.started.len(),
        clock_note(clocks)
    );
    for (node, (started, at)) in boot.started.iter().enumerate() {
        println!(
            "        node {node}: routing table in, driver started at {:.1} us, network {}",
            at.ps() as f64 / 1e6,
            if started.hsl { "HSL" } else { "not usable" },
        );
    }
    let (at, cycle) = boot.links_up;
    println!(
        "        links up at link cycle {cycle} ({:.1} us)",
        at.ps() as f64 / 1e6
    );
    println!(
        "        drivers ready at {:.3} s\n",
        boot.ready.ps() as f64 / 1e12
    );
}

fn print_tables(findings: &Findings, brief: bool, plot: Option<&Path>) {
    println!("latency of a page of 1 byte, one way, polling (microseconds)");
    println!("{}\n", latency_table(findings));
    if !brief {
        println!("throughput of pages posted back to back (Mbit/s)");
        println!("{}\n", throughput_table(&findings.points));
    }
    println!("{}", verdict(findings));
    if let Some(path) = plot {
        println!("plot: {}", path.display());
    }
}

fn latency_table(findings: &Findings) -> Table {
    let split = &findings.latency;
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(["", "record", "model", ""]);
    let range = |r: record::Range| format!("{} .. {}", r.min_us, r.max_us);
    let mark = |ok: bool| if ok { "ok" } else { "LEFT ITS BAND" };
    let rows: [(&str, String, String, &str); 5] = [
        (
            "software (put call)",
            latency::SOFTWARE_US.to_string(),
            format!("{:.3}", split.software_us),
            "",
        ),
        (
            "hardware (chips)",
            range(latency::HARDWARE),
            format!("{:.3}", split.hardware_us),
            mark(latency::HARDWARE.holds(split.hardware_us)),
        ),
        (
            "polling",
            range(latency::POLLING),
            format!("{:.3}", split.polling_us),
            mark(latency::POLLING.holds(split.polling_us)),
        ),
        (
            "one way",
            latency::TOTAL_US.to_string(),
            format!("{:.3}", split.total_us()),
            "",
        ),
        (
            "one router (link cycles)",
            record::ROUTER_LATENCY_CYCLES.to_string(),
            findings.router.to_string(),
            mark(findings.router_passes()),
        ),
    ];
    for (name, record, model, mark) in rows {
        table.add_row([
            Cell::new(name),
            Cell::new(record).set_alignment(CellAlignment::Right),
            Cell::new(model).set_alignment(CellAlignment::Right),
            Cell::new(mark),
        ]);
    }
    table
}

fn throughput_table(points: &[PutPoint]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["bytes", "record", "model", "difference", "band", ""]);
    for point in points {
        let cells = [
            point.bytes.to_string(),
            format!("{:.1}", point.record_mbit_s),
            format!("{:.1}", point.model_mbit_s),
            format!("{:+.1} %", 100.0 * point.difference()),
            format!("{:.0} %", 100.0 * point.band()),
        ];
        let mark = Cell::new(if point.passes() {
            "ok"
        } else {
            "LEFT ITS BAND"
        });
        let numbers = cells
            .into_iter()
            .map(|cell| Cell::new(cell).set_alignment(CellAlignment::Right));
        table.add_row(numbers.chain([mark]));
    }
    table
}

fn verdict(findings: &Findings) -> String {
    let worst = findings
        .points
        .iter()
        .map(|p| p.difference().abs())
        .fold(0.0, f64::max);
    format!(
        "{}: {} of {} points inside their band (worst difference {:.1} %), hardware latency {:.2} us of {} .. {} us, router {} of {} cycles",
        if findings.pass() { "pass" } else { "FAIL" },
        findings.points_passed(),
        findings.points.len(),
        100.0 * worst,
        findings.latency.hardware_us,
        latency::HARDWARE.min_us,
        latency::HARDWARE.max_us,
        findings.router,
        record::ROUTER_LATENCY_CYCLES,
    )
}

#[derive(Serialize)]
struct JsonPoint {
    bytes: u32,
    record_mbit_s: f64,
    model_mbit_s: f64,
    difference: f64,
    band: f64,
    pass: bool,
}

impl From<&PutPoint> for JsonPoint {
    fn from(point: &PutPoint) -> Self {
        Self {
            bytes: point.bytes,
            record_mbit_s: point.record_mbit_s,
            model_mbit_s: point.model_mbit_s,
            difference: point.difference(),
            band: point.band(),
            pass: point.passes(),
        }
    }
}

#[derive(Serialize)]
struct JsonLatency {
    software: f64,
    hardware: f64,
    polling: f64,
    total: f64,
}

#[derive(Serialize)]
struct JsonPut {
    points: Vec<JsonPoint>,
    latency_us: JsonLatency,
}

#[derive(Serialize)]
struct JsonReport {
    put: JsonPut,
    router_latency_cycles: u64,
    pass: bool,
}

fn print_json(findings: &Findings) -> Result<(), Box<dyn Error>> {
    let split = &findings.latency;
    let report = JsonReport {
        put: JsonPut {
            points: findings.points.iter().map(JsonPoint::from).collect(),
            latency_us: JsonLatency {
                software: split.software_us,
                hardware: split.hardware_us,
                polling: split.polling_us,
                total: split.total_us(),
            },
        },
        router_latency_cycles: findings.router,
        pass: findings.pass(),
    };
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &report)?;
    writeln!(out)?;
    Ok(())
}

fn print_csv(points: &[PutPoint]) -> Result<(), Box<dyn Error>> {
    let mut out = csv::Writer::from_writer(io::stdout().lock());
    for point in points {
        out.serialize(JsonPoint::from(point))?;
    }
    out.flush()?;
    Ok(())
}
