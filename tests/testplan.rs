//! hw/testplan.toml against the documents of the chips and the tests of the tree.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use common::source;
use toml::{Table, Value};

/// The documents whose sections have to be in the plan.
const DOCUMENTS: [&str; 4] = ["pci-ddc.md", "rcube.md", "hsl.md", "maspar.md"];

/// A section of the plan.
#[derive(Debug, Default)]
struct Section {
    /// Why there is nothing to test.
    descriptive: Option<String>,
    /// Each feature with its tests.
    features: Vec<(String, Vec<String>)>,
}

type Plan = BTreeMap<(String, String), Section>;

fn word(table: &Table, key: &str) -> String {
    let value = table.get(key).and_then(Value::as_str);
    value
        .unwrap_or_else(|| panic!("{key} of {table:?}"))
        .to_owned()
}

fn list<'a>(table: &'a Table, key: &str) -> &'a [Value] {
    let value = table.get(key).and_then(Value::as_array);
    value.map_or(&[], Vec::as_slice)
}

fn parse(text: &str) -> Plan {
    let file: Table = text.parse().expect("TOML");
    let mut plan = Plan::new();
    for section in list(&file, "section").iter().filter_map(Value::as_table) {
        let features = list(section, "features").iter().filter_map(Value::as_table);
        let entry = Section {
            descriptive: section
                .contains_key("descriptive")
                .then(|| word(section, "descriptive")),
            features: features
                .map(|feature| {
                    let tests = list(feature, "tests").iter().filter_map(Value::as_str);
                    (word(feature, "feature"), tests.map(str::to_owned).collect())
                })
                .collect(),
        };
        let key = (word(section, "document"), word(section, "heading"));
        let twice = format!("{key:?} is there twice");
        assert!(plan.insert(key, entry).is_none(), "{twice}");
    }
    plan
}

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Headings below the title, outside of fences.
fn headings(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        let heading = line.trim_start_matches('#');
        if !fenced && line.starts_with("##") && heading.starts_with(' ') {
            found.push(heading.trim().to_owned());
        }
    }
    found
}

/// The functions that `#[test]` marks.
fn tests_of(text: &str) -> Vec<String> {
    let mut marked = false;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("#[test]") {
            marked = true;
        } else if let Some(rest) = line.strip_prefix("fn ") {
            let name = rest
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .next();
            if marked {
                found.extend(name.map(str::to_owned));
            }
            marked = false;
        }
    }
    found
}

/// What is wrong with a plan.
fn problems(
    plan: &Plan,
    documents: &BTreeMap<String, Vec<String>>,
    tests: &BTreeSet<String>,
) -> Vec<String> {
    let mut found = Vec::new();
    for (document, headings) in documents {
        for heading in headings {
            if !plan.contains_key(&(document.clone(), heading.clone())) {
                found.push(format!("{document}, \"{heading}\": no entry"));
            }
        }
    }
    for ((document, heading), section) in plan {
        let place = format!("{document}, \"{heading}\"");
        if !documents
            .get(document)
            .is_some_and(|headings| headings.contains(heading))
        {
            found.push(format!("{place}: no such section"));
        }
        match &section.descriptive {
            Some(why) if why.trim().is_empty() => found.push(format!("{place}: why?")),
            Some(_) if !section.features.is_empty() => {
                found.push(format!("{place}: descriptive, but has features"));
            }
            None if section.features.is_empty() => found.push(format!("{place}: no features")),
            _ => {}
        }
        for (feature, names) in &section.features {
            if names.is_empty() {
                found.push(format!("{place}, {feature}: no tests"));
            }
            let missing = names.iter().filter(|name| !tests.contains(*name));
            found.extend(missing.map(|name| format!("{place}, {feature}: no test {name}")));
        }
    }
    found
}

fn documents() -> BTreeMap<String, Vec<String>> {
    let entry = |name: &str| {
        let text = read(&format!("hw/doc/{name}"));
        (name.to_owned(), headings(&text))
    };
    DOCUMENTS.into_iter().map(entry).collect()
}

fn tests() -> BTreeSet<String> {
    let files = source::files(&["src", "tests", "hw/cosim/tests"], &["rs"]);
    files.iter().flat_map(|(_, text)| tests_of(text)).collect()
}

#[test]
fn each_section_has_an_entry_and_each_test_exists() {
    let plan = parse(&read("hw/testplan.toml"));
    let found = problems(&plan, &documents(), &tests());
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn what_a_plan_can_lack_is_found() {
    let documents = BTreeMap::from([(
        "a.md".to_owned(),
        headings("# A\n## One\n```text\n## not this\n```\n### Two\n## Three\n#### Four\n"),
    )]);
    let tests =
        tests_of("#[test]\nfn real() {}\nfn helper() {}\n  #[test]\n  fn other(x in 0..1) {}")
            .into_iter()
            .collect();
    let plan = parse(
        "[[section]]\ndocument = 'a.md'\nheading = 'One'\nfeatures = [{ feature = 'f', tests = ['real', 'other', 'helper'] }, { feature = 'g', tests = [] }]\n\
         [[section]]\ndocument = 'a.md'\nheading = 'Two'\ndescriptive = ' '\n\
         [[section]]\ndocument = 'a.md'\nheading = 'Four'\n\
         [[section]]\ndocument = 'a.md'\nheading = 'not this'\ndescriptive = 'x'\n",
    );
    assert_eq!(
        problems(&plan, &documents, &tests),
        [
            "a.md, \"Three\": no entry",
            "a.md, \"Four\": no features",
            "a.md, \"One\", f: no test helper",
            "a.md, \"One\", g: no tests",
            "a.md, \"Two\": why?",
            "a.md, \"not this\": no such section",
        ]
    );
}
