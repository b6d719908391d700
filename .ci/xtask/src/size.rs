//! Bytes of the driver alone, on bare metal.
//!
//! Three images of `hw/firmware/driver-size` are linked: one that touches a board
//! without the driver, one that uses the driver, one that uses remote write on top.
//! The differences are the driver and the writer; `bss` holds their state. None may
//! link anything that panics.

use std::fs;

use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, elf};

use crate::{Context, Verdict, sh, tools};

/// The crate with the images.
pub const MANIFEST: &str = "hw/firmware/driver-size/Cargo.toml";

/// Where it is built, whatever the environment says.
const TARGET_DIR: &str = "hw/firmware/driver-size/target";

/// A Cortex-M4 with floating point.
pub const TARGET: &str = "thumbv7em-none-eabihf";

/// Bytes of an image by kind of section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sections {
    text: u64,
    rodata: u64,
    data: u64,
    bss: u64,
}

/// Builds the images and prints the differences.
pub fn size(context: &Context) -> Verdict {
    tools::target(TARGET)?;
    let images = [
        image(context, &[])?,
        image(context, &["--features", "driver"])?,
        image(context, &["--features", "writer"])?,
    ];
    let [baseline, driver, writer] = images;
    let driver_alone = driver.minus(baseline);
    let writer_alone = writer.minus(driver);
    let rows = [
        ("baseline image", baseline),
        ("driver image", driver),
        ("writer image", writer),
        ("driver alone", driver_alone),
        ("writer alone", writer_alone),
    ];
    println!("bytes on {TARGET}, opt-level \"s\", LTO, panic = abort");
    let title = ["text", "rodata", "data", "bss"].map(|name| format!("{name:>8}"));
    println!("{:14} {}", "", title.join(" "));
    for (name, sections) in rows {
        let Sections {
            text,
            rodata,
            data,
            bss,
        } = sections;
        println!("{name:14} {text:>8} {rodata:>8} {data:>8} {bss:>8}");
    }
    if driver_alone.text == 0 || writer_alone.text == 0 {
        return Err("an image holds nothing beyond the one before it".into());
    }
    let Sections {
        text,
        rodata,
        data,
        bss,
    } = driver_alone;
    Ok(format!(
        "driver: text {text}, rodata {rodata}, data {data}, bss {bss} bytes"
    ))
}

impl Sections {
    fn minus(self, other: Self) -> Self {
        Self {
            text: self.text.saturating_sub(other.text),
            rodata: self.rodata.saturating_sub(other.rodata),
            data: self.data.saturating_sub(other.data),
            bss: self.bss.saturating_sub(other.bss),
        }
    }
}

fn image(context: &Context, features: &[&str]) -> Result<Sections, String> {
    let mut command = sh::cargo(context, &["build", "--quiet", "--release"]);
    command.args(["--manifest-path", MANIFEST, "--target", TARGET]);
    command.args(["--target-dir", TARGET_DIR]);
    command.args(features);
    sh::show(command)?;
    let path = context
        .root
        .join(TARGET_DIR)
        .join(TARGET)
        .join("release/driver-size");
    let bytes = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let file = object::File::parse(&*bytes).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut names = file.symbols().filter_map(|symbol| symbol.name().ok());
    if let Some(name) = names.find(|name| is_panic(name)) {
        return Err(format!(
            "the image with {features:?} can panic: it links {name}"
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
        let unwind = section.name().is_ok_and(|name| name.starts_with(".ARM.ex"));
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
    fn differences_do_not_go_below_zero() {
        let one = Sections {
            text: 5,
            ..Sections::default()
        };
        assert_eq!(Sections::default().minus(one), Sections::default());
        assert_eq!(one.minus(Sections::default()), one);
    }
}
