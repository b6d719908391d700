//! `multipc topology` from outside: output, drawing, exit status.
#![cfg(feature = "cli")]

use std::process::{Command, Output};

fn topology(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_multipc"))
        .arg("topology")
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_sound_machine_passes() {
    let output = topology(&["mesh:4x4"]);
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    for line in [
        "machine mesh:4x4: 16 boards, 16 routers, 24 cables",
        "tables  dimension-order",
        "pass: all 240 pairs are served",
    ] {
        assert!(text.lines().any(|found| found == line), "{text}");
    }
    assert!(text.contains("pass: no deadlock: 64 channels"), "{text}");
}

#[test]
fn a_machine_that_can_deadlock_fails_and_shows_the_ring() {
    let output = topology(&["tests/machines/six.toml"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(text.contains("FAIL: deadlock possible, 5 cables"), "{text}");
    // Other tables make it sound.
    let output = topology(&["tests/machines/six.toml", "--method", "auto"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
}

#[test]
fn json_says_the_same() {
    let output = topology(&["tests/machines/six.toml", "--json", "--busiest", "2"]);
    assert_eq!(output.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["boards"], 6);
    assert_eq!(json["method"], "ir");
    assert_eq!(
        (&json["pairs"], &json["delivered"]),
        (&30.into(), &30.into())
    );
    assert_eq!(json["deadlock"]["free"], false);
    assert_eq!(json["deadlock"]["cycle"].as_array().unwrap().len(), 5);
    assert_eq!(json["load"]["busiest"].as_array().unwrap().len(), 2);
    assert_eq!(json["pass"], false);
}

#[test]
fn the_drawing_has_every_router_board_and_cable_and_the_ring_in_red() {
    let path = std::env::temp_dir().join(format!("multipc-{}.svg", std::process::id()));
    let output = topology(&["tests/machines/six.toml", "--plot", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let svg = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(svg.matches("<circle").count(), 6);
    assert_eq!(svg.matches("<title>generator").count(), 6);
    assert_eq!(svg.matches("<title>cable").count(), 7);
    assert_eq!(svg.matches("marker-end").count(), 5);
    assert!(svg.ends_with("</svg>\n"));
}

#[test]
fn bad_usage_is_told_from_failure() {
    for (args, said) in [
        (&["rong:6"][..], "no shape 'rong'"),
        (&["ring:"], "numbers like 4 or 4x4 are needed"),
        (
            &["mesh:300x300"],
            "90000 routers, at most 65535 are possible",
        ),
        (&["no/such.toml"], "no/such.toml: cannot be read"),
        (
            &["ring:4", "--method", "up-down"],
            "method up-down (fat tree) needs",
        ),
        (&["ring:4", "--method", "best"], "invalid value 'best'"),
        (&[], "required arguments"),
    ] {
        let output = topology(args);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
        assert!(error.contains(said), "{args:?}: {error}");
    }
}
