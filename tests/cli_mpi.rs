//! `multipc mpi` as a user calls it.
#![cfg(feature = "cli")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

fn mpi(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_multipc"))
        .arg("mpi")
        .args(args)
        .output()
        .unwrap()
}

/// What a call prints that must succeed.
fn printed(args: &[&str]) -> String {
    let output = mpi(args);
    assert!(
        output.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The error message of a call that must end with status 2.
fn bad_usage(args: &[&str]) -> String {
    let output = mpi(args);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
    message
}

fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A file with this content; its path.
fn file(name: &str, text: &str) -> String {
    let path = scratch(name);
    fs::write(&path, text).unwrap();
    path.into_os_string().into_string().unwrap()
}

const RING: &str = "\
ranks 3
repeat 4
all sendrecv +1 -1 600
end
0 send 1 20000
1 recv any 20000
all allreduce 64
";

#[test]
fn pingpong_gives_a_curve_of_each_layer() {
    let text = printed(&["pingpong", "--max", "64", "--rounds", "20", "--json"]);
    let value: Value = serde_json::from_str(&text).unwrap();
    let number = |value: &Value| value.as_f64().unwrap();
    for (layer, published) in [("mpi1", 26.0), ("mpi2", 15.0)] {
        let curve = &value[layer];
        let latency = number(&curve["latency_us"]);
        assert!((latency / published - 1.0).abs() < 0.05, "{latency}");
        let points = curve["points"].as_array().unwrap();
        let sizes = points.iter().map(|point| point["bytes"].as_u64().unwrap());
        assert!(sizes.eq([0, 1, 2, 4, 8, 16, 32, 64]), "{points:?}");
        assert_eq!(number(&points[0]["latency_us"]), latency);
        let rate = |point: &Value| number(&point["bandwidth_mbit_s"]);
        let last = points.last().unwrap();
        let follows = 8.0 * 64.0 / number(&last["latency_us"]);
        assert!((rate(last) - follows).abs() < 1e-9);
        let best = points.iter().map(rate).fold(0.0, f64::max);
        assert_eq!(number(&curve["bandwidth_mbit_s"]), best);
    }
    assert_eq!(value["pass"], true);
}

#[test]
fn bench_prints_a_row_a_size() {
    let text = printed(&["bench", "latency", "--max", "8"]);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("# MPI-MPC 2 Latency Test"));
    assert!(lines.next().unwrap().starts_with("# Size"));
    let rows: Vec<Vec<f64>> = lines
        .filter(|line| !line.is_empty())
        .map(|line| line.split_whitespace().map(|n| n.parse().unwrap()))
        .map(Iterator::collect)
        .collect();
    let sizes: Vec<f64> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(sizes, [0.0, 1.0, 2.0, 4.0, 8.0]);
    assert!(rows.iter().all(|row| row.len() == 2 && row[1] > 14.0));
}

#[test]
fn app_writes_its_timeline_in_three_forms() {
    let program = file("app_ring.txt", RING);
    let names = ["app_ring.json", "app_ring.paje", "app_ring.svg"];
    let paths = names.map(|name| scratch(name).into_os_string().into_string().unwrap());
    let [trace, paje, plot] = &paths;
    let text = printed(&[
        "app", &program, "--trace", trace, "--paje", paje, "--plot", plot,
    ]);
    assert!(
        text.starts_with("3 ranks on 3 boards, MPI-MPC 2: "),
        "{text}"
    );
    let checked = "checked: bytes of 13 messages, results of 3 collective calls of ranks";
    assert!(text.contains(checked), "{text}");
    let chrome: Value = serde_json::from_str(&fs::read_to_string(trace).unwrap()).unwrap();
    let events = chrome["traceEvents"].as_array().or(chrome.as_array());
    assert!(events.unwrap().len() > 100);
    assert!(
        fs::read_to_string(paje)
            .unwrap()
            .starts_with("%EventDef PajeDefineContainerType")
    );
    let svg = fs::read_to_string(plot).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
}

#[test]
fn app_repairs_what_a_script_of_faults_spoils() {
    let program = file("app_faults.txt", RING);
    let script = "\
[[cable]]
from = \"node 0\"
data = 12000
corrupt = 0x10

[[cable]]
from = \"node 1\"
packet = 9
cut = 3000
both = true
";
    let script = file("app_faults.toml", script);
    let args = ["app", &program, "--faults", &script];
    let text = printed(&args);
    let line = text.lines().find(|line| line.starts_with("faults "));
    let numbers: Vec<u64> = line
        .unwrap_or_else(|| panic!("{text}"))
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|n| n.parse().ok())
        .collect();
    let [faults, resent, _, given_up] = numbers[..] else {
        panic!("{text}")
    };
    assert!(faults >= 2 && resent > 0 && given_up == 0, "{text}");
    assert_eq!(printed(&args), text, "the same every time");
}

#[test]
fn app_names_what_is_wrong_with_its_files() {
    let missing = scratch("no_such_program.txt");
    let message = bad_usage(&["app", missing.to_str().unwrap()]);
    assert!(message.contains("no_such_program.txt"), "{message}");

    let bad = file("app_bad.txt", "ranks 2\n0 snd 1 10\n");
    let message = bad_usage(&["app", &bad]);
    assert!(message.contains("app_bad.txt:2"), "{message}");

    let program = file("app_good.txt", "ranks 2\n0 send 1 10\n1 recv 0 10\n");
    let script = file(
        "app_bad.toml",
        "[[cable]]\nfrom = \"node 0\"\ndata = 1\ncorupt = 1\n",
    );
    let message = bad_usage(&["app", &program, "--faults", &script]);
    assert!(
        message.contains("app_bad.toml") && message.contains("corupt"),
        "{message}"
    );
    let far = file(
        "app_far.toml",
        "[[cable]]\nfrom = \"node 40\"\ndata = 1\ncorrupt = 1\n",
    );
    bad_usage(&["app", &program, "--faults", &far]);
}

#[test]
fn app_tells_a_program_that_cannot_end() {
    let program = file("app_stuck.txt", "ranks 2\nall recv any 10\n");
    let output = mpi(&["app", &program]);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("deadlock"), "{message}");
}
