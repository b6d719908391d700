//! What the library promises of its source: no panics, small files, no traces of
//! the machine it was written on.

mod common;

use common::source::{self, Source};

/// Lines of a file, at most.
const MAX_LINES: usize = 600;

/// Macros that end the program, or belong to unfinished work.
const MACROS: [&str; 5] = ["todo", "unimplemented", "unreachable", "panic", "dbg"];

/// Methods that panic on the other case.
const METHODS: [&str; 5] = [
    "unwrap",
    "expect",
    "unwrap_err",
    "expect_err",
    "unwrap_unchecked",
];

/// Folders of somebody's machine.
const PATHS: [&str; 5] = [
    "/home/",
    "/root/",
    concat!("/", "work/"),
    "/tmp/",
    "/Users/",
];

/// The command line may end the program.
fn may_panic(source: &Source) -> bool {
    matches!(
        source.module.first().map(String::as_str),
        Some("cli" | "bin")
    )
}

fn panics(source: &Source) -> Vec<String> {
    if may_panic(source) {
        return Vec::new();
    }
    let tokens = source.tokens.windows(3).filter(|w| !w[0].in_test);
    let found = tokens.filter_map(|w| {
        let [a, b, c] = [&w[0].text, &w[1].text, &w[2].text].map(String::as_str);
        if b == "!" && c != "=" && MACROS.contains(&a) {
            Some((w[0].line, format!("{a}!")))
        } else if a == "." && c == "(" && METHODS.contains(&b) {
            Some((w[1].line, format!(".{b}()")))
        } else if b == ":" && METHODS.contains(&c) {
            // `Option::unwrap` as a function.
            Some((w[2].line, format!("::{c}")))
        } else {
            None
        }
    });
    found
        .map(|(line, what)| format!("{}:{line}: {what}", source.path))
        .collect()
}

fn machine_paths(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| PATHS.iter().any(|place| line.contains(place)))
        .map(|(i, line)| format!("{path}:{}: {}", i + 1, line.trim()))
        .collect()
}

fn assert_none(found: Vec<String>) {
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

fn made_up(path: &str, text: &str) -> Vec<Source> {
    source::parse(&[(path.to_owned(), text.to_owned())])
}

#[test]
fn the_library_has_no_panicking_calls() {
    assert_none(source::tree().iter().flat_map(panics).collect());
}

#[test]
fn files_are_small() {
    let sources = source::tree();
    let long = sources.iter().filter(|s| s.lines > MAX_LINES);
    assert_none(
        long.map(|s| format!("{}: {} lines, at most {MAX_LINES}", s.path, s.lines))
            .collect(),
    );
}

#[test]
fn no_file_names_a_folder_of_this_machine() {
    let files = source::files(&["src", "hw", "examples", "benches"], &["rs", "md"]);
    assert!(!files.is_empty());
    assert_none(
        files
            .iter()
            .flat_map(|(path, text)| machine_paths(path, text))
            .collect(),
    );
}

#[test]
fn panicking_calls_are_found() {
    for text in [
        "fn f() { todo!() }",
        "fn f() { unimplemented!(\"x\") }",
        "fn f() { core::panic!(); }",
        "fn f() { x.unwrap(); }",
        "fn f() { x\n .expect(\"y\"); }",
        "fn f() { x.map(Option::unwrap); }",
        "#[cfg(test)] mod tests { } fn f() { x.unwrap() }",
        "#[cfg(test)] use std::x; fn f() { x.unwrap() }",
    ] {
        let found: Vec<_> = made_up("src/pci/bus.rs", text)
            .iter()
            .flat_map(panics)
            .collect();
        assert_eq!(found.len(), 1, "{text}: {found:?}");
    }
}

#[test]
fn tests_comments_and_the_command_line_may_panic() {
    for (path, text) in [
        (
            "src/pci/bus.rs",
            "#[cfg(test)] mod tests { fn f() { x.unwrap() } }",
        ),
        (
            "src/pci/bus.rs",
            "/// x.unwrap()\nfn f() { y.unwrap_or(0); let s = \"panic!()\"; }",
        ),
        (
            "src/pci/bus.rs",
            "#[expect(unused)] fn f() { let q = '\"'; } // panic!()",
        ),
        ("src/pci/bus.rs", "fn f(panic: u8) -> bool { panic != 3 }"),
        ("src/cli/mod.rs", "fn f() { x.unwrap() }"),
        ("src/bin/multipc.rs", "fn f() { x.unwrap() }"),
    ] {
        let found: Vec<_> = made_up(path, text).iter().flat_map(panics).collect();
        assert!(found.is_empty(), "{text}: {found:?}");
    }
}

#[test]
fn a_test_module_in_its_own_file_may_panic() {
    let files = [
        ("src/pci/mod.rs", "#[cfg(test)]\nmod tests;\nmod bus;"),
        (
            "src/pci/fifo.rs",
            "#[cfg(test)]\n#[path = \"fifo_tests.rs\"]\nmod tests;",
        ),
        ("src/pci/fifo_tests.rs", "fn f() { x.unwrap() }"),
        ("src/pci/tests.rs", "fn f() { x.unwrap() }"),
        ("src/pci/bus.rs", "fn f() { x.unwrap() }"),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let found: Vec<_> = source::parse(&files).iter().flat_map(panics).collect();
    assert_eq!(found, ["src/pci/bus.rs:1: .unwrap()"]);
}

#[test]
fn machine_paths_are_found() {
    let place = PATHS[0];
    assert_eq!(
        machine_paths("x.rs", &format!("ok\n// {place}me/notes")).len(),
        1
    );
    assert!(machine_paths("x.rs", "// see hw/doc/hsl.md").is_empty());
}
