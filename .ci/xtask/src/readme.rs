//! The documents against the repository: links lead somewhere, and outputs shown
//! are the outputs of the commands named beside them.
//!
//! A generated region looks like this; `--write` renews it.
//!
//! ````text
//! <!-- output of: cargo run --release --features cli -- --csv -->
//! ```text
//! ...
//! ```
//! <!-- end of output -->
//! ````

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Context, Verdict, sh};

const OPEN: &str = "<!-- output of: ";
const CLOSE: &str = "<!-- end of output -->";

/// Where the commands of the documents are built.
const TARGET_DIR: &str = "target/documents";

/// The commands that the README promises.
const COMMANDS: [&str; 2] = [
    "cargo run --release --features cli",
    "cargo run -p xtask -- ci",
];

/// Checks README.md and every other document.
pub fn readme(context: &Context) -> Verdict {
    let mut problems = Vec::new();
    let documents = documents(&context.root);
    let mut outputs = 0;
    for path in &documents {
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let name = path.strip_prefix(&context.root).unwrap_or(path).display();
        if path == &context.root.join("README.md") {
            let missing = COMMANDS.iter().filter(|command| !text.contains(**command));
            problems.extend(missing.map(|command| format!("{name} does not name `{command}`")));
        }
        let folder = path.parent().unwrap_or(&context.root);
        for (line, link) in links(&text) {
            if !folder.join(&link).exists() {
                problems.push(format!("{name}:{line}: link to {link} leads nowhere"));
            }
        }
        match renew(&text, |command| output(context, command)) {
            Err(message) => problems.push(format!("{name}: {message}")),
            Ok((_, 0)) => {}
            Ok((new, count)) => {
                outputs += count;
                if new != text && context.write {
                    fs::write(path, new).map_err(|e| format!("{name}: {e}"))?;
                    println!("{name} renewed");
                } else if new != text {
                    let at = first_difference(&text, &new);
                    problems.push(format!(
                        "{name}:{at}\n  renew with: cargo run -p xtask -- readme --write"
                    ));
                }
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    Ok(format!("{} documents, {outputs} outputs", documents.len()))
}

/// The documents of the repository: what lies in its own folders, no build output.
fn documents(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() {
                if name != "target" && name != ".git" && name != "node_modules" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Relative links with the line they are on; fenced code is left out.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (i, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for rest in line.split("](").skip(1) {
            let Some(end) = rest.find(')') else { continue };
            let link = rest[..end].split('#').next().unwrap_or("");
            let relative = !link.is_empty()
                && !link.contains("://")
                && !link.contains("::")
                && !link.starts_with("mailto:");
            if relative {
                found.push((i + 1, link.to_owned()));
            }
        }
    }
    found
}

/// The text with each generated region renewed by `run`, and their number.
fn renew(
    text: &str,
    mut run: impl FnMut(&str) -> Result<String, String>,
) -> Result<(String, usize), String> {
    let mut new = String::new();
    let mut count = 0;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        new += line;
        new.push('\n');
        let Some(command) = line.strip_prefix(OPEN) else {
            continue;
        };
        let command = command.strip_suffix("-->").unwrap_or(command).trim();
        if !lines.any(|line| line == CLOSE) {
            return Err(format!("the output of `{command}` has no end mark"));
        }
        let output = run(command)?;
        new += &format!("```text\n{}\n```\n{CLOSE}\n", output.trim_end());
        count += 1;
    }
    Ok((new, count))
}

fn output(context: &Context, command: &str) -> Result<String, String> {
    let mut words = command.split_whitespace();
    if words.next() != Some("cargo") {
        return Err(format!("`{command}` is not a cargo command"));
    }
    println!("$ {command}");
    let mut run = sh::cargo(context, &words.collect::<Vec<_>>());
    // The outputs do not depend on how hard the compiler tries. A folder of its own keeps
    // these settings from what the command builds elsewhere.
    run.env("CARGO_TARGET_DIR", context.root.join(TARGET_DIR))
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "0");
    sh::quiet(run).map_err(|failure| {
        let sh::Failure { message, output } = failure;
        format!("{message}\n{output}")
    })
}

/// Whether a document shows each line of an output.
///
/// # Errors
/// The first line that it does not show.
pub fn shows(context: &Context, document: &str, output: &str) -> Result<(), String> {
    let path = context.root.join(document);
    let text = fs::read_to_string(&path).map_err(|e| format!("{document}: {e}"))?;
    match missing(&text, output) {
        Some(line) => Err(format!("{document} does not show this line: {line}")),
        None => Ok(()),
    }
}

fn missing<'o>(text: &str, output: &'o str) -> Option<&'o str> {
    output
        .lines()
        .map(str::trim_end)
        .find(|line| !line.is_empty() && !text.lines().any(|shown| shown.trim_end() == *line))
}

fn first_difference(old: &str, new: &str) -> String {
    let line = old
        .lines()
        .zip(new.lines())
        .position(|(a, b)| a != b)
        .unwrap_or_else(|| old.lines().count().min(new.lines().count()));
    let show = |text: &str| text.lines().nth(line).unwrap_or("(nothing)").to_owned();
    format!(
        "{}: document: {}\n  command: {}",
        line + 1,
        show(old),
        show(new)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "a\n<!-- output of: cargo x -->\n```text\nold\n```\n<!-- end of output -->\nb\n";

    #[test]
    fn a_region_is_renewed_and_the_rest_stays() {
        let (new, count) = renew(TEXT, |command| Ok(format!("{command} ran\n"))).expect("closed");
        assert_eq!(count, 1);
        assert_eq!(new, TEXT.replace("old", "cargo x ran"));
    }

    #[test]
    fn a_region_without_end_is_told() {
        let text = TEXT.replace(CLOSE, "");
        assert!(renew(&text, |_| Ok(String::new())).is_err());
    }

    #[test]
    fn relative_links_are_found_outside_code() {
        let text =
            "[a](src/lib.rs#L3) [b](https://x.org) [`c`](crate::time)\n```\n[d](e)\n```\n[f](g/)";
        assert_eq!(
            links(text),
            [(1, "src/lib.rs".to_owned()), (5, "g/".to_owned())]
        );
    }

    #[test]
    fn a_line_that_is_not_shown_is_found() {
        assert_eq!(missing("a\nb \n", "b\n\na"), None);
        assert_eq!(missing("a\nbb\n", "a\nb\n"), Some("b"));
    }

    #[test]
    fn the_first_difference_is_named() {
        assert_eq!(
            first_difference("a\nb\n", "a\nc\n"),
            "2: document: b\n  command: c"
        );
    }
}
