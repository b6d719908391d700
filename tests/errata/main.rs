//! Each erratum of the silicon alone: what goes wrong with a driver that does
//! not know of it, and that nothing does with one that does.
//!
//! hw/doc/errata.md names these tests; the one here holds the two together.

mod both;
#[path = "../ddc_rig/mod.rs"]
mod ddc_rig;
#[path = "../put_rig/mod.rs"]
mod put_rig;
mod run_1;
mod run_2;
mod shared;

use multipc::ddc::Erratum;

#[test]
fn the_document_names_each_erratum_and_its_test() {
    let document = include_str!("../../hw/doc/errata.md");
    let sources = [
        include_str!("both.rs"),
        include_str!("run_1.rs"),
        include_str!("run_2.rs"),
    ];
    for erratum in Erratum::ALL {
        let row = format!("| {} | `{}` |", erratum.number(), erratum.name());
        let line = document.lines().find(|line| line.starts_with(&row));
        let line = line.unwrap_or_else(|| panic!("no row {row}"));
        let test = line.split('`').find(|part| part.starts_with("erratum_"));
        let test = test.unwrap_or_else(|| panic!("no test in {line}"));
        let definition = format!("fn {test}()");
        let known = sources.iter().any(|source| source.contains(&definition));
        assert!(known, "{test}");
    }
}
