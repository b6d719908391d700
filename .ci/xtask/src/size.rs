//! Bytes of the driver alone, and of the driver with two boards of models, on bare
//! metal.
//!
//! Four images of `hw/firmware/driver-size` are linked: one that touches a board
//! without the driver, one that uses the driver, one that uses remote write on top, one
//! that uses the driver on models instead. The differences are the driver, the writer,
//! and two boards with their drivers; `bss` holds their state. The first three may not
//! link anything that panics.
//!
//! The guide for firmware shows them in a table, which is compared, or renewed by
//! `--write`. Sizes of another compiler than the table's may differ a little.

use std::fs;
use std::process::Command;

use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, elf};

use crate::{Context, Verdict, sh, tools};

/// The crate with the images.
pub const MANIFEST: &str = "hw/firmware/driver-size/Cargo.toml";

/// Where it is built, whatever the environment says.
const TARGET_DIR: &str = "hw/firmware/driver-size/target";

/// A Cortex-M4 with floating point.
pub const TARGET: &str = "thumbv7em-none-eabihf";

/// A RISC-V microcontroller.
pub const RISCV: &str = "riscv32imac-unknown-none-elf";

/// Bytes of an image by kind of section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sections {
    text: u64,
    rodata: u64,
    data: u64,
    bss: u64,
}

/// The document with the table.
const DOCUMENT: &str = "hw/doc/use-in-firmware.md";

/// By how much a size may differ from the table of another compiler, percent; chosen:
/// room for a compiler's taste, none for a part linked by mistake (the writer is a third
/// of the driver).
const TOLERANCE: u64 = 10;

/// Builds the images and prints the differences, for each target.
pub fn size(context: &Context) -> Verdict {
    let mut measured = Vec::new();
    for target in [TARGET, RISCV] {
        tools::target(target)?;
        measured.push(table(context, target)?);
    }
    let [arm, riscv] = measured[..] else {
        return Err("two targets are measured".into());
    };
    document(context, &markdown(&compiler()?, arm, riscv))?;
    let [flash, ram] = [arm[0].flash(), arm[0].ram()];
    Ok(format!("driver: flash {flash}, RAM {ram} bytes"))
}

/// `rustc 1.88.0`.
fn compiler() -> Result<String, String> {
    let mut rustc = Command::new("rustc");
    rustc.arg("--version");
    let version = sh::quiet(rustc).map_err(|failure| failure.message)?;
    let words: Vec<&str> = version.split_whitespace().take(2).collect();
    Ok(words.join(" "))
}

/// The table of the document: one row for each of [`ROWS`].
fn markdown(compiler: &str, arm: [Sections; 3], riscv: [Sections; 3]) -> String {
    let mut text = format!(
        "| bytes ({compiler}) | flash, Cortex-M4F | flash, RISC-V | RAM |\n|---|---|---|---|\n"
    );
    for ((name, arm), riscv) in ROWS.iter().zip(arm).zip(riscv) {
        let figures = [arm.flash(), riscv.flash(), arm.ram().max(riscv.ram())];
        let [arm, riscv, ram] = figures.map(grouped);
        text += &format!("| {name} | {arm} | {riscv} | {ram} |\n");
    }
    text
}

/// What the table shows.
const ROWS: [&str; 3] = [
    "driver alone",
    "remote write (`Writer`) on top",
    "two boards of models, a driver on each",
];

/// `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

const OPEN: &str = "<!-- sizes: cargo run -p xtask -- size --write -->\n";
const CLOSE: &str = "<!-- end of sizes -->";

/// The table in the document, compared or renewed.
fn document(context: &Context, table: &str) -> Result<(), String> {
    let path = context.root.join(DOCUMENT);
    let text = fs::read_to_string(&path).map_err(|e| format!("{DOCUMENT}: {e}"))?;
    let region = text
        .split_once(OPEN)
        .and_then(|(before, rest)| Some((before, rest.split_once(CLOSE)?)));
    let (before, (old, after)) = region.ok_or(format!("{DOCUMENT} has no region for sizes"))?;
    if context.write {
        let new = format!("{before}{OPEN}{table}{CLOSE}{after}");
        return fs::write(&path, new).map_err(|e| format!("{DOCUMENT}: {e}"));
    }
    match difference(old, table) {
        Some((old, new)) => Err(format!(
            "{DOCUMENT} shows: {old}\n  measured: {new}\n  renew with: cargo run -p xtask -- size --write"
        )),
        None => Ok(()),
    }
}

/// The first line that differs; by how much it may, the compilers of the titles decide.
fn difference<'a>(old: &'a str, new: &'a str) -> Option<(&'a str, &'a str)> {
    let same_compiler = old.lines().next() == new.lines().next();
    let figures = |line: &str| -> Vec<u64> {
        let cells = line.split('|').map(|cell| cell.replace(',', ""));
        cells.filter_map(|cell| cell.trim().parse().ok()).collect()
    };
    let near = |old: &str, new: &str| {
        let (old, new) = (figures(old), figures(new));
        let close = |(old, new): (&u64, &u64)| old.abs_diff(*new) * 100 <= old * TOLERANCE;
        old.len() == new.len() && old.iter().zip(&new).all(close)
    };
    if old.lines().count() != new.lines().count() {
        return Some((old, new));
    }
    old.lines()
        .zip(new.lines())
        .find(|(old, new)| old != new && (same_compiler || !near(old, new)))
}

/// Prints the table of one target: driver, writer, and models with drivers alone.
fn table(context: &Context, target: &str) -> Result<[Sections; 3], String> {
    let image = |features| image(context, target, features);
    let (baseline, driver) = (image("")?, image("driver")?);
    let (writer, models) = (image("writer")?, image("models")?);
    let driver_alone = driver.minus(baseline);
    let writer_alone = writer.minus(driver);
    let with_models = models.minus(baseline);
    let rows = [
        ("baseline image", baseline),
        ("driver alone", driver_alone),
        ("writer alone", writer_alone),
        ("two boards with drivers", with_models),
    ];
    println!("bytes on {target}, opt-level \"s\", LTO, panic = abort");
    let title = ["text", "rodata", "data", "bss", "flash", "RAM"].map(|name| format!("{name:>7}"));
    println!("{:23} {}", "", title.join(" "));
    for (name, sections) in rows {
        let Sections {
            text,
            rodata,
            data,
            bss,
        } = sections;
        let (flash, ram) = (sections.flash(), sections.ram());
        println!("{name:23} {text:>7} {rodata:>7} {data:>7} {bss:>7} {flash:>7} {ram:>7}");
    }
    let alone = [driver_alone, writer_alone, with_models];
    if alone.iter().any(|s| s.text == 0) {
        return Err("an image holds nothing beyond the one before it".into());
    }
    Ok(alone)
}

impl Sections {
    /// What lies in flash: code, constants, and initial values of the data.
    const fn flash(self) -> u64 {
        self.text + self.rodata + self.data
    }

    /// What lies in RAM, without stack.
    const fn ram(self) -> u64 {
        self.data + self.bss
    }

    fn minus(self, other: Self) -> Self {
        Self {
            text: self.text.saturating_sub(other.text),
            rodata: self.rodata.saturating_sub(other.rodata),
            data: self.data.saturating_sub(other.data),
            bss: self.bss.saturating_sub(other.bss),
        }
    }
}

fn image(context: &Context, target: &str, features: &str) -> Result<Sections, String> {
    let mut command = sh::cargo(context, &["build", "--quiet", "--release"]);
    command.args(["--manifest-path", MANIFEST, "--target", target]);
    command.args(["--target-dir", TARGET_DIR, "--features", features]);
    sh::show(command)?;
    let path = context
        .root
        .join(TARGET_DIR)
        .join(target)
        .join("release/driver-size");
    let bytes = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let file = object::File::parse(&*bytes).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut names = file.symbols().filter_map(|symbol| symbol.name().ok());
    // The models promise no panic either, but their code is too large for the compiler
    // to prove it.
    if features != "models"
        && let Some(name) = names.find(|name| is_panic(name))
    {
        return Err(format!(
            "the image with [{features}] can panic: it links {name}"
        ));
    }
    Ok(sections(&file))
}

/// Whether the linker kept this function because something may panic.
fn is_panic(symbol: &str) -> bool {
    symbol.contains("panicking") || symbol.ends_with("rust_begin_unwind")
}

/// Only sections that take memory on the target count; unwind tables do not.
fn sections(file: &object::File) -> Sections {
    let mut sum = Sections::default();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else {
            continue;
        };
        let has = |flag: u32| sh_flags & u64::from(flag) != 0;
        let unwind = section
            .name()
            .is_ok_and(|name| name.starts_with(".ARM.ex") || name.starts_with(".eh_frame"));
        if !has(elf::SHF_ALLOC) || unwind {
            continue;
        }
        let zero = section.kind() == object::SectionKind::UninitializedData;
        let place = if has(elf::SHF_EXECINSTR) {
            &mut sum.text
        } else if zero {
            &mut sum.bss
        } else if has(elf::SHF_WRITE) {
            &mut sum.data
        } else {
            &mut sum.rodata
        };
        *place += section.size();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panicking_functions_are_known_by_name() {
        assert!(is_panic("_ZN4core9panicking9panic_fmt17h0123456789abcdefE"));
        assert!(is_panic("_RNvCs1234_7___rustc17rust_begin_unwind"));
        assert!(!is_panic("_ZN7multipc3put5start4init17h0123456789abcdefE"));
    }

    #[test]
    fn the_table_is_exact_for_its_compiler_and_near_for_another() {
        let sections = |text| Sections {
            text,
            ..Sections::default()
        };
        let row = |text| [sections(text), sections(1), sections(1_234_567)];
        let table = |compiler, text| markdown(compiler, row(text), row(text));
        let old = table("rustc 1", 1000);
        assert!(old.contains("| driver alone | 1,000 | 1,000 | 0 |\n"));
        assert!(old.contains("| 1,234,567 |"));
        assert_eq!(difference(&old, &old), None);
        assert!(difference(&old, &table("rustc 1", 1001)).is_some());
        assert_eq!(difference(&old, &table("rustc 2", 1100)), None);
        assert!(difference(&old, &table("rustc 2", 1101)).is_some());
        assert!(difference("", &old).is_some());
    }

    #[test]
    fn differences_do_not_go_below_zero() {
        let one = Sections {
            text: 5,
            ..Sections::default()
        };
        assert_eq!(Sections::default().minus(one), Sections::default());
        assert_eq!(one.minus(Sections::default()), one);
    }
}
