//! Findings for the eye and for machines.

use std::boxed::Box;
use std::error::Error;
use std::io::{self, Write};
use std::string::{String, ToString};
use std::vec::Vec;
use std::{format, println};

use comfy_table::{Cell, CellAlignment, Table, presets};
use serde::Serialize;

use super::Machine;
use super::findings::Findings;
use crate::fabric::analysis::Load;
use crate::fabric::topology::PortId;

/// Most warnings printed.
const WARNINGS: usize = 8;

fn end(at: PortId) -> String {
    format!("{}.{}", at.router, at.port)
}

/// Prints all for the eye.
pub fn tables(machine: &Machine, findings: &Findings, busiest: usize) {
    let topology = &machine.topology;
    let analysis = &findings.analysis;
    println!(
        "machine {}: {} boards, {} routers, {} cables",
        machine.name,
        topology.generators().len(),
        topology.routers(),
        topology.cables().len(),
    );
    let adaptive = if machine.adaptive { ", adaptive" } else { "" };
    println!("tables  {}{adaptive}\n", findings.method);

    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(["all pairs", "mean", "most", ""]);
    let mut row = |name: &str, mean: String, most: String, note: String| {
        let right = |text| Cell::new(text).set_alignment(CellAlignment::Right);
        table.add_row([Cell::new(name), right(mean), right(most), Cell::new(note)]);
    };
    row(
        "cables crossed",
        format!("{:.2}", analysis.mean()),
        analysis.longest.to_string(),
        format!("routers: {} at most", analysis.longest + 1),
    );
    row(
        "shortest possible",
        format!("{:.2}", analysis.mean_shortest()),
        analysis.diameter.to_string(),
        String::new(),
    );
    let worst = analysis.worst;
    row(
        "stretch",
        format!("{:.3}", analysis.stretch()),
        worst.map_or("1".into(), |way| format!("{:.2}", way.ratio())),
        worst.filter(|way| way.cables > way.shortest).map_or(
            "every way is as short as it can be".into(),
            |way| {
                format!(
                    "generator {} to {}: {} cables instead of {}",
                    way.from, way.to, way.cables, way.shortest
                )
            },
        ),
    );
    let most = findings.busiest.first().map_or(0.0, |load| load.pairs);
    row(
        "pairs on a cable",
        format!("{:.1}", analysis.mean_load()),
        format!("{most:.1}"),
        format!(
            "each direction; {:.1} times the mean",
            most / analysis.mean_load().max(f64::MIN_POSITIVE)
        ),
    );
    println!("{table}\n");

    if busiest > 0 && most > 0.0 {
        println!("busiest cables (router.port)");
        for load in findings.busiest.iter().take(busiest) {
            println!(
                "  {:>8} > {:<8} {:>9.1} pairs  cable {}",
                end(load.from),
                end(load.to),
                load.pairs,
                load.cable
            );
        }
        println!();
    }
    for warning in findings.warnings.iter().take(WARNINGS) {
        println!("warning: {warning}");
    }
    if findings.warnings.len() > WARNINGS {
        println!("warning: and {} more", findings.warnings.len() - WARNINGS);
    }
    reach(findings);
    match &findings.deadlock {
        Ok(certificate) => println!(
            "pass: {certificate} ({} header ranges, found in {:.1} ms, checked)",
            certificate.ranges().len(),
            findings.certified_in.as_secs_f64() * 1e3
        ),
        Err(cycle) => {
            println!(
                "FAIL: deadlock possible, {} cables can wait for each other in a ring:",
                cycle.waits.len()
            );
            for wait in &cycle.waits {
                let from = topology.peer(wait.at).map(end).unwrap_or_default();
                println!(
                    "  {:>8} > {:<8} with header {} waits for port {} of router {}",
                    from,
                    end(wait.at),
                    wait.header,
                    wait.output,
                    wait.at.router
                );
            }
        }
    }
}

fn reach(findings: &Findings) {
    let analysis = &findings.analysis;
    match &analysis.first_failure {
        None => println!("pass: all {} pairs are served", analysis.pairs),
        Some(failure) => println!(
            "FAIL: {} of {} pairs are not served, the first: {failure}",
            analysis.pairs - analysis.delivered,
            analysis.pairs
        ),
    }
}

#[derive(Serialize)]
struct JsonLoad {
    cable: u16,
    from: [u16; 2],
    to: [u16; 2],
    pairs: f64,
}

impl From<&Load> for JsonLoad {
    fn from(load: &Load) -> Self {
        Self {
            cable: load.cable,
            from: pair(load.from),
            to: pair(load.to),
            pairs: load.pairs,
        }
    }
}

fn pair(at: PortId) -> [u16; 2] {
    [at.router, at.port.into()]
}

#[derive(Serialize)]
struct JsonWait {
    at: [u16; 2],
    output: u8,
    header: u16,
}

#[derive(Serialize)]
struct JsonStretch {
    mean: f64,
    worst: f64,
    from: Option<u16>,
    to: Option<u16>,
}

#[derive(Serialize)]
struct JsonDeadlock {
    free: bool,
    channels: Option<usize>,
    header_ranges: Option<usize>,
    checked: bool,
    cycle: Option<Vec<JsonWait>>,
}

#[derive(Serialize)]
struct JsonCables {
    mean: f64,
    most: u32,
    shortest_mean: f64,
    diameter: u32,
}

#[derive(Serialize)]
struct JsonLoads {
    mean: f64,
    most: f64,
    busiest: Vec<JsonLoad>,
}

#[derive(Serialize)]
struct JsonReport<'f> {
    machine: &'f str,
    boards: usize,
    routers: u16,
    cables: usize,
    method: &'f str,
    adaptive: bool,
    pairs: u64,
    delivered: u64,
    first_failure: Option<String>,
    cables_crossed: JsonCables,
    stretch: JsonStretch,
    load: JsonLoads,
    deadlock: JsonDeadlock,
    warnings: &'f [String],
    pass: bool,
}

/// Prints all as one JSON object.
pub fn json(machine: &Machine, findings: &Findings, busiest: usize) -> Result<(), Box<dyn Error>> {
    let analysis = &findings.analysis;
    let certificate = findings.deadlock.as_ref().ok();
    let report = JsonReport {
        machine: &machine.name,
        boards: machine.topology.generators().len(),
        routers: machine.topology.routers(),
        cables: machine.topology.cables().len(),
        method: findings.method,
        adaptive: machine.adaptive,
        pairs: analysis.pairs,
        delivered: analysis.delivered,
        first_failure: analysis.first_failure.map(|failure| failure.to_string()),
        cables_crossed: JsonCables {
            mean: analysis.mean(),
            most: analysis.longest,
            shortest_mean: analysis.mean_shortest(),
            diameter: analysis.diameter,
        },
        stretch: JsonStretch {
            mean: analysis.stretch(),
            worst: analysis.worst.map_or(1.0, |way| way.ratio()),
            from: analysis.worst.map(|way| way.from),
            to: analysis.worst.map(|way| way.to),
        },
        load: JsonLoads {
            mean: analysis.mean_load(),
            most: findings.busiest.first().map_or(0.0, |load| load.pairs),
            busiest: findings
                .busiest
                .iter()
                .take(busiest)
                .map(JsonLoad::from)
                .collect(),
        },
        deadlock: JsonDeadlock {
            free: findings.deadlock.is_ok(),
            channels: certificate.map(|found| found.channels()),
            header_ranges: certificate.map(|found| found.ranges().len()),
            checked: findings.verified,
            cycle: findings.deadlock.as_ref().err().map(|cycle| {
                let wait = |wait: &crate::fabric::deadlock::Wait| JsonWait {
                    at: pair(wait.at),
                    output: wait.output,
                    header: wait.header,
                };
                cycle.waits.iter().map(wait).collect()
            }),
        },
        warnings: &findings.warnings,
        pass: findings.pass(),
    };
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &report)?;
    writeln!(out)?;
    Ok(())
}
