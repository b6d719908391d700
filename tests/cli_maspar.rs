//! `multipc maspar` as a user calls it.
#![cfg(feature = "cli")]

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

fn maspar(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_multipc"))
        .arg("maspar")
        .args(args)
        .output()
        .unwrap()
}

fn json(args: &[&str]) -> Value {
    let output = maspar(args);
    assert!(
        output.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The status and the error message of a call that must fail.
fn failure(args: &[&str]) -> (i32, String) {
    let output = maspar(args);
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn route_gives_cycles_profile_and_ticks() {
    let value = json(&["route", "bit-reversal", "--json"]);
    assert_eq!(
        (value["cycles"].as_u64(), value["ticks"].as_u64()),
        (Some(70), Some(7000))
    );
    assert_eq!(value["profile"].as_array().unwrap().len(), 70);
    assert_eq!(value["profile"][15], 304);
    let value = json(&["route", "expr:(id + 1) % n", "--where", "y < 2", "--json"]);
    assert_eq!(value["messages"], 256);
    let value = json(&["route", "all-to:5", "--pes", "1024", "--json"]);
    assert_eq!(value["cycles"], 1024);
}

#[test]
fn schedule_gives_phases_bound_method_and_counts() {
    let value = json(&["schedule", "shuffle", "--json"]);
    assert_eq!(
        (value["phases"].as_u64(), value["bound"].as_u64()),
        (Some(16), Some(16))
    );
    assert_eq!(value["phase_counts"].as_array().unwrap().len(), 16);
    assert!(value["method"].is_string() && value["seconds"].is_f64());
    let small = [
        "schedule", "random:4", "--pes", "1024", "--method", "genetic", "--json",
    ];
    let value = json(&[&small[..], &["--generations", "5"]].concat());
    assert_eq!(value["method"], "genetic search");
}

#[test]
fn saved_schedules_load_and_gaps_are_named() {
    let file = scratch("saved.json");
    let path = file.to_str().unwrap();
    let base = ["schedule", "random:1", "--pes", "1024"];
    let with = |option: &'static str, path| [&base[..], &[option, path, "--json"]].concat();
    let found = json(&with("--save", path));
    assert_eq!(json(&with("--load", path))["phases"], found["phases"]);

    let mut saved: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    saved["phase"][77] = Value::from(-1);
    let gap = scratch("gap.json");
    std::fs::write(&gap, saved.to_string()).unwrap();
    let (status, message) = failure(&with("--load", gap.to_str().unwrap()));
    assert_eq!(status, 1);
    assert!(
        message.contains("PE 77 takes part but has no phase"),
        "{message}"
    );
}

#[test]
fn bad_input_ends_with_status_2_and_a_name() {
    let file = scratch("twice.csv");
    std::fs::write(&file, "source,target\n1,2\n1,3\n").unwrap();
    let from_file = format!("file:{}", file.display());
    for (args, part) in [
        (
            &["route", &from_file][..],
            "line 3: pair 1 gives PE 1 a second target",
        ),
        (&["route", "sort"], "no pattern is called that"),
        (
            &["route", "expr:id + 1"],
            "target 16384 of PE 16383 is outside 0..16384",
        ),
        (&["route", "expr:rev(id"], "expected ','"),
        (
            &["route", "shuffle", "--pes", "1000"],
            "no machine has 1000 PEs",
        ),
        (&["route", "shuffle", "--width", "24"], "width of 24 bits"),
        (
            &["route", "shuffle", "--model", "mp3"],
            "no model is called 'mp3'",
        ),
        (
            &["figure", "3", "--out", "x.bmp"],
            "'.bmp' is not .png or .svg",
        ),
    ] {
        let (status, message) = failure(args);
        assert_eq!(status, 2, "{args:?}");
        assert!(message.contains(part), "{args:?}: {message}");
    }
}

#[test]
fn pictures_sources_and_waves_are_written() {
    let path = |name: &str| scratch(name).to_str().unwrap().to_owned();
    let (map, bars, source, wave) = (
        path("map.png"),
        path("bars.svg"),
        path("phase.c"),
        path("wave.vcd"),
    );
    assert!(maspar(&["figure", "3", "--out", &map]).status.success());
    assert!(
        maspar(&["route", "shuffle", "--plot", &bars])
            .status
            .success()
    );
    assert!(
        maspar(&["schedule", "shuffle", "--emit", &source])
            .status
            .success()
    );
    assert!(
        maspar(&["wave", "random:1", "--pes", "1024", "--vcd", &wave])
            .status
            .success()
    );
    assert!(std::fs::read(&map).unwrap().starts_with(b"\x89PNG"));
    assert!(
        std::fs::read_to_string(&bars)
            .unwrap()
            .contains("PEs in each router cycle")
    );
    assert!(
        std::fs::read_to_string(&source)
            .unwrap()
            .contains("phase[16384]")
    );
    // 91 ticks of 83 ns: the last one starts before 7.6 us.
    assert!(std::fs::read_to_string(&wave).unwrap().contains("#7499970"));
}
