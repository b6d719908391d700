//! The table, what was not reached, and the floors.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::counters::{Kind, Module};

/// Least coverage, in percent.
#[derive(Default)]
pub struct Floors {
    /// Of all lines.
    pub lines: f64,
    /// Of the toggles of a family.
    pub toggles: BTreeMap<String, f64>,
}

/// What is printed, and whether every floor is reached.
pub struct Report {
    pub text: String,
    pub reached: bool,
}

/// Reached, and all there are: lines, toggles.
type Counts = [(usize, usize); 2];

/// The chip that a module belongs to: the ports of links are part of the router.
fn family(module: &str) -> &str {
    match module.split('_').next().unwrap_or(module) {
        "hsl" => "rcube",
        chip => chip,
    }
}

pub fn report(modules: &BTreeMap<String, Module>, floors: &Floors, toggles: bool) -> Report {
    let mut text = String::new();
    let mut sums: BTreeMap<&str, Counts> = BTreeMap::new();
    let mut all = Counts::default();
    let _ = writeln!(
        text,
        "{:<24} {:>14} {:>7} {:>16} {:>7}",
        "module", "lines", "%", "toggles", "%"
    );
    for (name, module) in modules {
        let counts = [module.line_count(), module.toggle_count()];
        row(&mut text, name, counts);
        add(sums.entry(family(name)).or_default(), counts);
        add(&mut all, counts);
    }
    for (family, counts) in &sums {
        row(&mut text, &format!("all of {family}"), *counts);
    }
    row(&mut text, "all", all);
    for (name, module) in modules {
        for ((kind, file, line, _, what), count) in &module.points {
            if *count == 0 && *kind == Kind::Line {
                let _ = writeln!(text, "{name}: {file}:{line}: never: {kind:?} {what}");
            }
        }
        if toggles {
            for bits in untoggled(module) {
                let _ = writeln!(text, "{name}: never toggles: {bits}");
            }
        }
    }
    let mut reached = true;
    let lines = percent(all[0]);
    if lines < floors.lines {
        reached = false;
        let floor = floors.lines;
        let _ = writeln!(
            text,
            "line coverage {lines:.1} % is below the floor of {floor} %"
        );
    }
    for (family, floor) in &floors.toggles {
        let found = sums.get(family.as_str()).map(|counts| percent(counts[1]));
        if found.is_none_or(|found| found < *floor) {
            reached = false;
            let found = found.map_or("none".to_owned(), |found| format!("{found:.1} %"));
            let _ = writeln!(
                text,
                "toggle coverage of {family}, {found}, is below the floor of {floor} %"
            );
        }
    }
    Report { text, reached }
}

fn row(text: &mut String, name: &str, [lines, toggles]: Counts) {
    let _ = writeln!(
        text,
        "{name:<24} {:>6} of {:>4} {:>7.1} {:>7} of {:>5} {:>7.1}",
        lines.0,
        lines.1,
        percent(lines),
        toggles.0,
        toggles.1,
        percent(toggles)
    );
}

fn add(sum: &mut Counts, counts: Counts) {
    for (sum, count) in sum.iter_mut().zip(counts) {
        *sum = (sum.0 + count.0, sum.1 + count.1);
    }
}

fn percent((part, all): (usize, usize)) -> f64 {
    if all == 0 {
        100.0
    } else {
        part as f64 * 100.0 / all as f64
    }
}

/// Bits that were never seen to toggle, the neighbours of a vector together: the largest
/// groups first.
fn untoggled(module: &Module) -> Vec<String> {
    let mut signals: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    let mut single = Vec::new();
    for ((kind, _, _, _, what), count) in &module.points {
        if *kind != Kind::Toggle || *count > 0 {
            continue;
        }
        match bit(what) {
            Some((signal, bit)) => signals.entry(signal).or_default().push(bit),
            None => single.push(what.as_str()),
        }
    }
    let mut groups: Vec<(u32, String)> = single
        .into_iter()
        .map(|signal| (1, signal.to_owned()))
        .collect();
    for (signal, mut bits) in signals {
        bits.sort_unstable();
        bits.dedup();
        for run in bits.chunk_by(|a, b| a + 1 == *b) {
            let (low, high) = (run[0], run[run.len() - 1]);
            let range = if low == high {
                format!("{signal}[{low}]")
            } else {
                format!("{signal}[{high}:{low}]")
            };
            groups.push((high - low + 1, range));
        }
    }
    groups.sort_by(|(a, left), (b, right)| b.cmp(a).then(left.cmp(right)));
    groups.into_iter().map(|(_, range)| range).collect()
}

/// `name[3]` as name and bit.
fn bit(what: &str) -> Option<(&str, u32)> {
    let (signal, rest) = what.rsplit_once('[')?;
    Some((signal, rest.strip_suffix(']')?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Toggle points with their counts.
    fn module(points: &[(&str, u64)]) -> Module {
        let mut module = Module::default();
        for (what, count) in points {
            let key = (Kind::Toggle, "a.sv".into(), 1, 1, (*what).into());
            module.points.insert(key, *count);
        }
        module
    }

    #[test]
    fn neighbouring_bits_that_never_toggle_are_one_group() {
        let bits = [
            ("a[0]", 3),
            ("a[1]", 0),
            ("a[2]", 0),
            ("a[9]", 0),
            ("a[10]", 0),
            ("a[11]", 0),
            ("b", 0),
            ("c", 1),
            ("d[4]", 0),
        ];
        assert_eq!(
            untoggled(&module(&bits)),
            ["a[11:9]", "a[2:1]", "b", "d[4]"]
        );
    }

    #[test]
    fn a_family_below_its_floor_fails_and_one_above_does_not() {
        let modules = BTreeMap::from([
            ("hsl_port".to_owned(), module(&[("a", 1), ("b", 0)])),
            ("rcube_fifo".to_owned(), module(&[("c", 1), ("d", 1)])),
            ("ddc_tx".to_owned(), module(&[("e", 0)])),
        ]);
        let with = |family: &str, floor| {
            let toggles = BTreeMap::from([(family.to_owned(), floor)]);
            report(
                &modules,
                &Floors {
                    lines: 0.0,
                    toggles,
                },
                true,
            )
        };
        // Three of four: the port belongs to the router.
        assert!(with("rcube", 75.0).reached);
        let below = with("rcube", 75.1);
        assert!(!below.reached);
        assert!(
            below
                .text
                .ends_with("toggle coverage of rcube, 75.0 %, is below the floor of 75.1 %\n")
        );
        assert!(!with("ddc", 1.0).reached);
        // A family without counters has not been measured.
        assert!(!with("maspar", 0.0).reached);
        assert!(below.text.contains("ddc_tx: never toggles: e\n"));
    }
}
