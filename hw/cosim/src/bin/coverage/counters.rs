//! The counters of Verilator's files, by module.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// One point of a module: kind, file, line, column, what it is.
pub type Key = (Kind, String, u32, u32, String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Line,
    Toggle,
}

#[derive(Default)]
pub struct Module {
    pub points: BTreeMap<Key, u64>,
    /// Lines that a point stands for.
    lines: BTreeMap<Key, BTreeSet<u32>>,
}

impl Module {
    /// Lines reached, lines there are. A line that two points claim is reached when
    /// both are.
    pub fn line_count(&self) -> (usize, usize) {
        let mut lines: BTreeMap<(&str, u32), bool> = BTreeMap::new();
        for (key, set) in &self.lines {
            for line in set {
                let hit = self.points[key] > 0;
                lines
                    .entry((&key.1, *line))
                    .and_modify(|all| *all &= hit)
                    .or_insert(hit);
            }
        }
        (lines.values().filter(|hit| **hit).count(), lines.len())
    }

    pub fn toggle_count(&self) -> (usize, usize) {
        let toggles = self.points.iter().filter(|(key, _)| key.0 == Kind::Toggle);
        let (hit, all): (Vec<_>, Vec<_>) = toggles.partition(|(_, count)| **count > 0);
        (hit.len(), hit.len() + all.len())
    }
}

/// All files of a folder, added.
pub fn read_all(folder: &Path) -> Result<BTreeMap<String, Module>, String> {
    let mut modules = BTreeMap::new();
    let entries =
        std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "dat") {
            let bytes =
                std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            for line in String::from_utf8_lossy(&bytes).lines() {
                point(line, &mut modules);
            }
        }
    }
    Ok(modules)
}

/// `C '\x01key\x02value\x01key\x02value...' count`
fn point(line: &str, modules: &mut BTreeMap<String, Module>) {
    let Some((fields, count)) = line
        .strip_prefix("C '")
        .and_then(|rest| rest.rsplit_once("' "))
    else {
        return;
    };
    let fields: BTreeMap<&str, &str> = fields
        .split('\u{1}')
        .filter_map(|field| field.split_once('\u{2}'))
        .collect();
    let get = |key: &str| fields.get(key).copied().unwrap_or("");
    let Some((page, module)) = get("page").split_once('/') else {
        return;
    };
    let kind = match page {
        "v_line" | "v_branch" => Kind::Line,
        "v_toggle" => Kind::Toggle,
        _ => return,
    };
    // Instances with other parameters have a suffix.
    let name = module.split("__").next().unwrap_or(module).to_owned();
    let file = get("f").rsplit('/').next().unwrap_or("").to_owned();
    let number = |key: &str| get(key).parse().unwrap_or(0);
    let key = (kind, file, number("l"), number("n"), get("o").to_owned());
    let module = modules.entry(name).or_default();
    *module.points.entry(key.clone()).or_default() += count.parse::<u64>().unwrap_or(0);
    if kind == Kind::Line {
        module
            .lines
            .entry(key)
            .or_default()
            .extend(ranges(get("S"), number("l")));
    }
}

/// `10-12,15`; the line itself when there is no list.
fn ranges(text: &str, line: u32) -> BTreeSet<u32> {
    let mut lines = BTreeSet::new();
    for range in text.split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
            lines.extend(first..=last);
        }
    }
    if lines.is_empty() {
        lines.insert(line);
    }
    lines
}
