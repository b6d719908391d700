//! Rust source as tokens with line numbers: enough to see what a file names.
//!
//! Comments, doc comments and character literals are dropped and a string is one
//! token with its quotes, so that words in them count for nothing.

use std::fs;
use std::path::{Path, PathBuf};

/// One word, one string literal or one punctuation character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    pub line: usize,
    /// Inside an item under `#[cfg(test)]`.
    pub in_test: bool,
}

/// One file of `src`.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path from the root of the repository, with `/`.
    pub path: String,
    /// Its place in the module tree: `["ddc", "lme"]`.
    pub module: Vec<String>,
    pub lines: usize,
    pub tokens: Vec<Token>,
}

/// Every `.rs` file under `src`, sorted; files of `#[cfg(test)] mod x;` are marked
/// as test code throughout.
pub fn tree() -> Vec<Source> {
    parse(&files(&["src"], &["rs"]))
}

/// Path and text of every file with one of these extensions under these folders of
/// the repository (those that exist), and of README.md.
pub fn files(folders: &[&str], extensions: &[&str]) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = vec![root.join("README.md")];
    for folder in folders.iter().map(|name| root.join(name)) {
        if folder.is_dir() {
            collect(&folder, &mut paths);
        }
    }
    paths.retain(|path| {
        let extension = path.extension().and_then(|e| e.to_str());
        extension.is_some_and(|e| extensions.contains(&e))
    });
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.strip_prefix(root).expect("under the root");
        let text = fs::read_to_string(path).expect("UTF-8");
        (name.to_string_lossy().replace('\\', "/"), text)
    };
    paths.iter().map(read).collect()
}

/// The sources of these (path, text) pairs.
pub fn parse(files: &[(String, String)]) -> Vec<Source> {
    let mut sources: Vec<Source> = files
        .iter()
        .map(|(path, text)| Source {
            path: path.clone(),
            module: module_of(path),
            lines: text.lines().count(),
            tokens: mark_tests(tokenize(text)),
        })
        .collect();
    let test_files: Vec<TestFile> = sources.iter().flat_map(test_files).collect();
    for source in &mut sources {
        let own = module_of(&source.path);
        if let Some(file) = test_files.iter().find(|f| own.starts_with(&f.place)) {
            source.module = [&file.module, &own[file.place.len()..]].concat();
            source.tokens.iter_mut().for_each(|t| t.in_test = true);
        }
    }
    sources
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            // `target`: what a firmware crate built.
            if !path.ends_with("target") {
                collect(&path, paths);
            }
        } else {
            paths.push(path);
        }
    }
}

fn module_of(path: &str) -> Vec<String> {
    let path = path.trim_start_matches("src/").trim_end_matches(".rs");
    let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
    if matches!(parts.last().map(String::as_str), Some("mod" | "lib")) {
        parts.pop();
    }
    parts
}

/// A module for tests in a file of its own.
struct TestFile {
    module: Vec<String>,
    /// The module that its path would make it; another one under `#[path]`.
    place: Vec<String>,
}

/// What `source` declares as `#[cfg(test)] mod name;`.
fn test_files(source: &Source) -> Vec<TestFile> {
    let tokens = &source.tokens;
    let word = |i: usize| tokens.get(i).map_or("", |token| token.text.as_str());
    let declares = |i: &usize| tokens[*i].in_test && word(*i) == "mod" && word(i + 2) == ";";
    let file = |i: usize| {
        let module = [source.module.clone(), vec![word(i + 1).to_owned()]].concat();
        // `# [ path = "file.rs" ] mod name ;`
        let place = if i >= 4 && word(i - 4) == "path" {
            let folder = source
                .path
                .rsplit_once('/')
                .map_or("", |(folder, _)| folder);
            module_of(&format!("{folder}/{}", word(i - 2).trim_matches('"')))
        } else {
            module.clone()
        };
        TestFile { module, place }
    };
    (0..tokens.len()).filter(declares).map(file).collect()
}

/// Splits source into words and punctuation.
pub fn tokenize(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut i = 0;
    while i < chars.len() {
        let start = i;
        match at(i) {
            '/' if at(i + 1) == '/' => {
                while i < chars.len() && at(i) != '\n' {
                    i += 1;
                }
            }
            '/' if at(i + 1) == '*' => {
                let mut depth = 0;
                loop {
                    if at(i) == '/' && at(i + 1) == '*' {
                        depth += 1;
                        i += 2;
                    } else if at(i) == '*' && at(i + 1) == '/' {
                        depth -= 1;
                        i += 2;
                    } else {
                        i += 1;
                    }
                    if depth == 0 || i >= chars.len() {
                        break;
                    }
                }
            }
            '"' => {
                i = quoted(&chars, i);
                let end = i.min(chars.len());
                tokens.push(Token {
                    text: chars[start..end].iter().collect(),
                    line,
                    in_test: false,
                });
            }
            '\'' if at(i + 1) == '\\' => {
                // Past the escaped character, which may be a quote itself.
                i += 3;
                while i < chars.len() && at(i) != '\'' {
                    i += 1;
                }
                i += 1;
            }
            '\'' if at(i + 2) == '\'' => i += 3,
            c if c.is_alphanumeric() || c == '_' => {
                while at(i).is_alphanumeric() || at(i) == '_' {
                    i += 1;
                }
                let word: String = chars[start..i].iter().collect();
                match (word.as_str(), at(i)) {
                    ("b" | "c", '"') => i = quoted(&chars, i),
                    ("r" | "br" | "cr", '"') => i = raw(&chars, i),
                    ("r" | "br" | "cr", '#') if is_raw(&chars, i) => i = raw(&chars, i),
                    ("b", '\'') => continue,
                    _ => tokens.push(Token {
                        text: word,
                        line,
                        in_test: false,
                    }),
                }
            }
            c => {
                i += 1;
                if !c.is_whitespace() {
                    tokens.push(Token {
                        text: c.to_string(),
                        line,
                        in_test: false,
                    });
                }
            }
        }
        let end = i.min(chars.len());
        line += chars[start..end].iter().filter(|c| **c == '\n').count();
    }
    tokens
}

/// The index after a string that opens at `i`.
fn quoted(chars: &[char], mut i: usize) -> usize {
    i += 1;
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

fn is_raw(chars: &[char], i: usize) -> bool {
    chars[i..].iter().find(|c| **c != '#') == Some(&'"')
}

/// The index after a raw string whose `#`s or quote begin at `i`.
fn raw(chars: &[char], mut i: usize) -> usize {
    let hashes = chars[i..].iter().take_while(|c| **c == '#').count();
    i += hashes + 1;
    while i < chars.len() {
        let closed =
            chars[i] == '"' && chars[i + 1..].iter().take_while(|c| **c == '#').count() >= hashes;
        if closed {
            return i + 1 + hashes;
        }
        i += 1;
    }
    i
}

/// Marks the items under `#[cfg(test)]`, and whole files under `#![cfg(test)]`.
fn mark_tests(mut tokens: Vec<Token>) -> Vec<Token> {
    let words: Vec<String> = tokens.iter().map(|token| token.text.clone()).collect();
    let matches = |at: usize, pattern: &[&str]| {
        pattern
            .iter()
            .enumerate()
            .all(|(k, p)| words.get(at + k).is_some_and(|word| word == p))
    };
    for i in 0..words.len() {
        if matches(i, &["#", "!", "[", "cfg", "(", "test", ")", "]"]) {
            tokens.iter_mut().for_each(|token| token.in_test = true);
            return tokens;
        }
        if matches(i, &["#", "[", "cfg", "(", "test", ")", "]"]) {
            let end = item_end(&words, i + 7);
            tokens[i..end].iter_mut().for_each(|t| t.in_test = true);
        }
    }
    tokens
}

/// The index after the item at `i`: past its `;` or `,`, or its closing brace.
fn item_end(words: &[String], start: usize) -> usize {
    let mut depth = 0usize;
    for (i, word) in words.iter().enumerate().skip(start) {
        match word.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                if depth <= 1 && word == "}" {
                    return i + 1;
                }
                depth = depth.saturating_sub(1);
            }
            ";" | "," if depth == 0 => return i + 1,
            _ => {}
        }
    }
    words.len()
}
