//! A module imports only from itself and from the floors below it.

mod common;

use common::source::{self, Source, Token};

/// The modules of the crate from the ground up, as `src/lib.rs` declares them.
const FLOORS: [&str; 17] = [
    "fmt", "time", "mem", "remote", "hsl", "pci", "ddc", "rcube", "maspar", "fabric", "put",
    "attach", "figures", "cluster", "mpi", "cli", "guide",
];

/// What is closed to a module although it lies below, and why.
const CLOSED: [(&str, &[&str], &str); 3] = [
    ("rcube", &["pci", "ddc"], "a router has links only"),
    (
        "maspar",
        &["hsl", "pci", "ddc", "rcube"],
        "another machine: it knows time, mem and remote only",
    ),
    (
        "put",
        &["hsl", "rcube", "maspar", "fabric"],
        "the driver knows traits and formats, never models; its tests may",
    ),
];

/// Macros of `fmt` that are named by path.
const MACROS: [&str; 6] = ["event", "trace", "debug", "info", "warning", "error"];

/// A path to another module of the crate.
#[derive(Debug, PartialEq)]
struct Import {
    /// The module under the root; empty for the root itself.
    module: String,
    line: usize,
    in_test: bool,
}

fn offences(sources: &[Source]) -> Vec<String> {
    sources.iter().flat_map(offences_of).collect()
}

fn offences_of(source: &Source) -> Vec<String> {
    // `lib.rs` declares the modules, `bin` is outside of the library.
    let Some(own) = source.module.first().filter(|name| *name != "bin") else {
        return Vec::new();
    };
    let complaint = |line: usize, text: String| format!("{}:{line}: {text}", source.path);
    let floor = |name: &str| FLOORS.iter().position(|floor| *floor == name);
    let Some(own_floor) = floor(own) else {
        return vec![complaint(
            1,
            format!("module {own} is on no floor of {FLOORS:?}"),
        )];
    };
    let mut found = Vec::new();
    for import in imports(source) {
        let name = import.module.as_str();
        if name == own || MACROS.contains(&name) {
            continue;
        }
        let Some(other_floor) = floor(name) else {
            let text = format!("{own} names crate::{name}, which is no module of {FLOORS:?}");
            found.push(complaint(import.line, text));
            continue;
        };
        if other_floor > own_floor {
            let text = format!("{own} imports {name}, which lies above it");
            found.push(complaint(import.line, text));
            continue;
        }
        for (module, closed, reason) in CLOSED {
            let exempt = module == "put" && import.in_test;
            if module == own && closed.contains(&name) && !exempt {
                let text = format!("{own} must not import {name}: {reason}");
                found.push(complaint(import.line, text));
            }
        }
    }
    found
}

/// Every path in the file that starts at the root of the crate: by `crate::`, or by
/// as many `super::` as lead there.
fn imports(source: &Source) -> Vec<Import> {
    let tokens = &source.tokens;
    let mut found = Vec::new();
    // Depth in braces at which each inline module ends.
    let mut inline: Vec<usize> = Vec::new();
    let mut depth = 0;
    let mut i = 0;
    while i < tokens.len() {
        match tokens[i].text.as_str() {
            "{" => {
                let opens_module = i >= 2 && tokens[i - 2].text == "mod";
                if opens_module {
                    inline.push(depth);
                }
                depth += 1;
            }
            "}" => {
                depth = depth.saturating_sub(1);
                if inline.last() == Some(&depth) {
                    inline.pop();
                }
            }
            // `pub(crate)` and `extern crate std` name no import.
            "crate" if text(tokens, i + 1) == ")" => {}
            "crate" if text(tokens, i.wrapping_sub(1)) == "extern" => {}
            "crate" => heads(tokens, i + 1, &mut found),
            "super" if text(tokens, i.wrapping_sub(1)) != ":" => {
                let mut steps = 1;
                let mut end = i + 1;
                while path_goes_on(tokens, end) && text(tokens, end + 2) == "super" {
                    steps += 1;
                    end += 3;
                }
                if steps == source.module.len() + inline.len() && path_goes_on(tokens, end) {
                    heads(tokens, end, &mut found);
                }
                i = end - 1;
            }
            _ => {}
        }
        i += 1;
    }
    found
}

fn text(tokens: &[Token], i: usize) -> &str {
    tokens.get(i).map_or("", |token| token.text.as_str())
}

fn path_goes_on(tokens: &[Token], i: usize) -> bool {
    text(tokens, i) == ":" && text(tokens, i + 1) == ":"
}

/// The modules named after `crate` or the last `super`: one, or each of a group.
fn heads(tokens: &[Token], after: usize, found: &mut Vec<Import>) {
    let mut push = |i: usize, module: &str| {
        if let Some(token) = tokens.get(i) {
            found.push(Import {
                module: module.to_owned(),
                line: token.line,
                in_test: token.in_test,
            });
        }
    };
    if !path_goes_on(tokens, after) {
        // `use crate as other`, `use crate;`: it would hide what follows.
        push(after.saturating_sub(1), "");
        return;
    }
    let first = after + 2;
    if text(tokens, first) != "{" {
        push(first, text(tokens, first));
        return;
    }
    let mut depth = 0;
    let mut expected = true;
    for i in first..tokens.len() {
        match text(tokens, i) {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                if depth == 0 {
                    return;
                }
            }
            "," if depth == 1 => expected = true,
            name if depth == 1 && expected => {
                push(i, name);
                expected = false;
            }
            _ => {}
        }
    }
}

fn made_up(path: &str, text: &str) -> Vec<String> {
    offences(&source::parse(&[(path.to_owned(), text.to_owned())]))
}

#[test]
fn modules_import_only_from_floors_below() {
    let found = offences(&source::tree());
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn lib_declares_the_floors_in_order() {
    let sources = source::tree();
    let lib = sources.iter().find(|s| s.path == "src/lib.rs");
    let tokens = &lib.expect("src/lib.rs").tokens;
    let declared: Vec<&str> = tokens
        .windows(2)
        .filter(|w| w[0].text == "mod" && !w[0].in_test)
        .map(|w| w[1].text.as_str())
        .collect();
    assert_eq!(declared, FLOORS);
}

#[test]
fn an_import_from_above_is_found() {
    for (path, text, offence) in [
        (
            "src/hsl/mod.rs",
            "\nuse crate::pci::Signals;",
            "src/hsl/mod.rs:2: hsl imports pci, which lies above it",
        ),
        (
            "src/time.rs",
            "fn f() {\n\n let m = crate::mem::Ram::new(); }",
            "src/time.rs:3: time imports mem, which lies above it",
        ),
        (
            "src/pci/bus.rs",
            "use crate::{\n time::Clock,\n fabric::{Board, x},\n};",
            "src/pci/bus.rs:3: pci imports fabric, which lies above it",
        ),
        (
            "src/hsl/credit.rs",
            "use super::super::put::Put;",
            "src/hsl/credit.rs:1: hsl imports put, which lies above it",
        ),
        (
            "src/mem.rs",
            "mod inner { use super::super::cli; }",
            "src/mem.rs:1: mem imports cli, which lies above it",
        ),
        (
            "src/ddc/lme.rs",
            "use crate::rcube::Header;",
            "src/ddc/lme.rs:1: ddc imports rcube, which lies above it",
        ),
    ] {
        assert_eq!(made_up(path, text), [offence], "{text}");
    }
}

#[test]
fn a_closed_module_below_is_found() {
    for (path, text, part) in [
        (
            "src/rcube/mod.rs",
            "use crate::ddc::x;",
            "rcube must not import ddc",
        ),
        (
            "src/rcube/mod.rs",
            "use crate::pci::x;",
            "rcube must not import pci",
        ),
        (
            "src/maspar/mod.rs",
            "use crate::hsl::x;",
            "maspar must not import hsl",
        ),
        (
            "src/put/mod.rs",
            "use crate::fabric::x;",
            "put must not import fabric",
        ),
    ] {
        let found = made_up(path, text);
        assert!(found.len() == 1 && found[0].contains(part), "{found:?}");
    }
}

#[test]
fn a_hidden_root_or_an_unknown_module_is_found() {
    assert_eq!(made_up("src/hsl/mod.rs", "use crate as all;").len(), 1);
    assert_eq!(made_up("src/hsl/mod.rs", "use crate::*;").len(), 1);
    assert_eq!(
        made_up("src/hsl/mod.rs", "use crate::shortcut::X;").len(),
        1
    );
    assert_eq!(made_up("src/shortcut.rs", "").len(), 1);
}

#[test]
fn paths_of_a_test_file_start_where_its_module_stands() {
    let files = [
        (
            "src/ddc/lme.rs",
            "#[cfg(test)] #[path = \"lme_tests.rs\"] mod tests;",
        ),
        (
            "src/ddc/lme_tests.rs",
            "use super::super::fifo::X;\nuse super::super::super::rcube::Y;",
        ),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    assert_eq!(
        offences(&source::parse(&files)),
        ["src/ddc/lme_tests.rs:2: ddc imports rcube, which lies above it"]
    );
}

#[test]
fn what_is_allowed_is_let_through() {
    for (path, text) in [
        (
            "src/pci/bus.rs",
            "use crate::{time::Clock, hsl::{Line, Symbol}};",
        ),
        (
            "src/pci/bus.rs",
            "use super::Signals; use crate::pci::x; pub(crate) fn f() {}",
        ),
        (
            "src/hsl/mod.rs",
            "// use crate::pci::x\nconst S: &str = \"crate::pci\";",
        ),
        (
            "src/hsl/mod.rs",
            "/// See [`crate::pci`].\nfn f<'a>(_: &'a str) { crate::trace!(); }",
        ),
        (
            "src/put/mod.rs",
            "#[cfg(test)] mod tests { use crate::fabric::x; use super::*; }",
        ),
        (
            "src/put/mod.rs",
            "use crate::ddc::lme; use crate::remote::RemoteWrite;",
        ),
        ("src/lib.rs", "pub use crate::cli::x;"),
    ] {
        assert!(made_up(path, text).is_empty(), "{:?}", made_up(path, text));
    }
}
