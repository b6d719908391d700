//! The command line as a user and as a machine see it.
#![cfg(feature = "cli")]

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use vcd::{Command as Line, IdCode, Parser};

/// Few pages and rounds: the model does not scatter.
const QUICK: [&str; 4] = ["--pages", "8", "--rounds", "2"];

fn multipc(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_multipc"))
        .args(args)
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap()
}

fn quick(args: &[&str]) -> Output {
    multipc(&[&QUICK, args].concat())
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// A path for a file of one test.
fn file(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&path);
    path
}

/// The published curve: bytes, Mbit/s.
fn record() -> Vec<(u64, f64)> {
    let lines = include_str!("vectors/put/throughput.csv").lines().skip(1);
    let columns = lines.map(|line| line.split_once(',').unwrap());
    columns
        .map(|(bytes, rate)| (bytes.parse().unwrap(), rate.parse().unwrap()))
        .collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn json_is_one_object_with_all_figures() {
    let output = quick(&["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // One object, and nothing else on standard output.
    let report: Value = serde_json::from_str(stdout(&output)).unwrap();
    let points = report["put"]["points"].as_array().unwrap();
    assert_eq!(points.len(), 44);
    for (point, (bytes, rate)) in points.iter().zip(record()) {
        assert_eq!(point["bytes"].as_u64(), Some(bytes));
        assert_eq!(number(&point["record_mbit_s"]), rate);
        let band = match bytes {
            1..=70 => 0.06,
            80..=100 => 0.12,
            _ => 0.05,
        };
        assert_eq!(number(&point["band"]), band);
        let ratio = number(&point["model_mbit_s"]) / rate;
        assert!((ratio - 1.0).abs() <= band, "{point}");
    }
    let latency = &report["put"]["latency_us"];
    let parts = ["software", "hardware", "polling"].map(|part| number(&latency[part]));
    let [software, hardware, polling] = parts;
    assert!((1.88..=1.92).contains(&software), "{latency}");
    assert!((1.7..=2.1).contains(&hardware), "{latency}");
    assert!((0.01..=0.4).contains(&polling), "{latency}");
    let sum: f64 = parts.iter().sum();
    assert!((number(&latency["total"]) - sum).abs() < 1e-6, "{latency}");
    assert_eq!(report["router_latency_cycles"].as_u64(), Some(12));
    assert_eq!(report["pass"], Value::Bool(true));
}

#[test]
fn csv_has_a_header_and_44_rows() {
    let output = quick(&["--csv"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let mut reader = csv::Reader::from_reader(stdout(&output).as_bytes());
    let header: Vec<_> = reader.headers().unwrap().iter().map(String::from).collect();
    for name in ["bytes", "record_mbit_s", "model_mbit_s", "band"] {
        assert!(header.iter().any(|column| column == name), "{header:?}");
    }
    let column = |name| header.iter().position(|column| column == name).unwrap();
    let (bytes, rate) = (column("bytes"), column("record_mbit_s"));
    let rows = reader.records().map(|row| {
        let row = row.unwrap();
        (row[bytes].parse().unwrap(), row[rate].parse().unwrap())
    });
    assert_eq!(rows.collect::<Vec<(u64, f64)>>(), record());
}

#[test]
fn the_table_ends_in_a_verdict_and_a_plot_with_both_curves() {
    let path = file("curve.svg");
    let output = quick(&["--plot", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("links up at link cycle"), "{text}");
    assert!(text.contains("routing table in"), "{text}");
    assert!(
        text.contains("pass: 44 of 44 points inside their band"),
        "{text}"
    );
    assert!(text.contains(path.to_str().unwrap()), "{text}");
    let svg = fs::read_to_string(&path).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    // A line for the model, a mark for each of the 44 measured points, and a
    // legend that names both.
    assert!(svg.contains("<polyline"), "the model's line");
    let marks = svg.matches("<circle").count();
    assert!(marks >= 44, "{marks} marks");
    for name in ["record", "model"] {
        assert!(svg.to_lowercase().contains(name), "{name}");
    }
}

#[test]
fn without_a_file_the_plot_is_put_svg() {
    let directory = file("here");
    let _ = fs::create_dir_all(&directory);
    let output = Command::new(env!("CARGO_BIN_EXE_multipc"))
        .args(QUICK)
        .arg("--brief")
        .current_dir(&directory)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(directory.join("put.svg").is_file());
    assert!(stdout(&output).contains("put.svg"));
}

/// A parsed waveform: changes by time, and the signals by path.
struct Waveform {
    names: HashMap<String, IdCode>,
    changes: Vec<(u64, IdCode, u64)>,
}

fn read_waveform(path: &Path) -> Waveform {
    let mut parser = Parser::new(BufReader::new(File::open(path).unwrap()));
    let header = parser.parse_header().unwrap();
    assert_eq!(header.timescale, Some((1, vcd::TimescaleUnit::PS)));
    let mut names = HashMap::new();
    let mut open: Vec<(String, &[vcd::ScopeItem])> = vec![(String::new(), &header.items)];
    while let Some((path, items)) = open.pop() {
        for item in items {
            match item {
                vcd::ScopeItem::Scope(scope) => {
                    open.push((format!("{path}{}.", scope.identifier), &scope.items));
                }
                vcd::ScopeItem::Var(var) => {
                    names.insert(format!("{path}{}", var.reference), var.code);
                }
                _ => {}
            }
        }
    }
    let (mut now, mut changes) = (0, Vec::new());
    for line in parser {
        match line.unwrap() {
            Line::Timestamp(time) => {
                assert!(time >= now, "time goes back");
                now = time;
            }
            Line::ChangeScalar(id, value) => changes.push((now, id, bit(value))),
            Line::ChangeVector(id, bits) => {
                let value = bits.iter().fold(0, |value, b| value << 1 | bit(b));
                changes.push((now, id, value));
            }
            _ => {}
        }
    }
    Waveform { names, changes }
}

fn bit(value: vcd::Value) -> u64 {
    match value {
        vcd::Value::V1 => 1,
        vcd::Value::V0 => 0,
        other => panic!("{other}"),
    }
}

#[test]
fn the_waveform_shows_the_read_of_a_descriptor() {
    let path = file("wave.vcd");
    let output = quick(&["--csv", "--vcd", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let wave = read_waveform(&path);
    let id = |name: &str| {
        let full = format!("multipc.{name}");
        *wave.names.get(&full).unwrap_or_else(|| panic!("{full}"))
    };
    // The ring of descriptors starts at 0x1000; the first page is the first
    // entry. The address phase: FRAME# falls, AD carries the address, C/BE#
    // one of the memory reads (6, C and E).
    let (frame, ad, cbe) = (
        id("node0.pci.FRAME_n"),
        id("node0.pci.AD"),
        id("node0.pci.CBE_n"),
    );
    let base = id("node0.registers.LPE_BASE");
    let new = id("node0.registers.LPE_NEW");
    let mut values: HashMap<IdCode, u64> = HashMap::new();
    let (mut posted, mut address_phase) = (None, None);
    let mut times = wave.changes.chunk_by(|a, b| a.0 == b.0);
    for at in &mut times {
        let was_high = values.get(&frame) == Some(&1);
        values.extend(at.iter().map(|&(_, id, value)| (id, value)));
        let now = at[0].0;
        let value = |id| values.get(&id).copied();
        if value(base) == Some(0x1000) && value(new) == Some(0x1010) {
            posted.get_or_insert(now);
        }
        let reads = matches!(value(cbe), Some(0x6 | 0xC | 0xE));
        if was_high && value(frame) == Some(0) && value(ad) == Some(0x1000) && reads {
            address_phase.get_or_insert(now);
        }
    }
    let posted = posted.expect("LPE_NEW moves");
    let address_phase = address_phase.expect("a descriptor is read");
    // LPE_NEW seen by the transmitter, 2; request to grant, 2; address, 1: five
    // PCI cycles of 30 ns.
    let cycles = (address_phase - posted) / 30_000;
    assert!((2..=8).contains(&cycles), "{cycles} PCI cycles");
    // Links and all registers are there, too.
    for name in [
        "router0.link1_out",
        "router1.link1_in",
        "node1.registers.STATUS",
    ] {
        let id = id(name);
        assert!(wave.changes.iter().any(|change| change.1 == id), "{name}");
    }
}

#[test]
fn bad_usage_exits_with_2() {
    for args in [
        &["--no-such-option"][..],
        &["no-such-command"],
        &["--pages", "0"],
        &["--pages", "many"],
        &["--rounds", "0"],
        &["--json", "--csv"],
        &["--plot"],
    ] {
        let output = multipc(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert_eq!(stdout(&output), "", "{args:?}");
        let text = stderr(&output);
        assert!(text.starts_with("error: "), "{args:?}: {text}");
        assert!(text.contains("--help"), "{args:?}: {text}");
    }
}

#[test]
fn a_cable_of_an_impossible_length_is_bad_usage() {
    for metres in ["5.001", "-1", "NaN", "inf", "short"] {
        let output = multipc(&[&format!("--cable={metres}")]);
        assert_eq!(output.status.code(), Some(2), "{metres}");
        let text = stderr(&output);
        assert!(text.contains("--cable") && text.contains(metres), "{text}");
    }
    let output = multipc(&["--cable=5.001"]);
    let range = "5.001 m, allowed 0 to 5 m";
    assert!(stderr(&output).contains(range), "{}", stderr(&output));
}

#[test]
fn files_that_cannot_be_written_are_named() {
    let path = file("no-such-directory").join("file");
    let name = path.to_str().unwrap();
    for option in ["--plot", "--vcd"] {
        let output = quick(&["--csv", option, name]);
        assert_eq!(output.status.code(), Some(1), "{option}");
        let text = stderr(&output);
        assert!(text.contains(name), "{option}: {text}");
        assert!(text.starts_with("multipc: cannot "), "{option}: {text}");
    }
}

#[test]
fn help_and_version_exit_with_0() {
    for option in ["--help", "--version"] {
        let output = multipc(&[option]);
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output).contains("multipc"), "{option}");
        assert_eq!(stderr(&output), "");
    }
}
