//! Bytes of the driver alone, on bare metal.
//!
//! Two images of `hw/firmware/driver-size` are linked: one that uses the driver
//! and one that touches the same ports without it. The difference is the driver.

use std::fs;

use object::{Object, ObjectSection, SectionFlags, elf};

use crate::{Context, Verdict, sh, tools};

/// The crate with the two images.
pub const MANIFEST: &str = "hw/firmware/driver-size/Cargo.toml";

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

/// Builds both images and prints the difference.
pub fn size(context: &Context) -> Verdict {
    tools::target(TARGET)?;
    let empty = image(context, &[])?;
    let full = image(context, &["--features", "driver"])?;
    println!("bytes on {TARGET}, opt-level \"s\", LTO, panic = abort:");
    println!(
        "{:10} {:>8} {:>8} {:>8} {:>8}",
        "", "text", "rodata", "data", "bss"
    );
    let mut driver = [0; 4];
    let rows = [full, empty].map(|s| [s.text, s.rodata, s.data, s.bss]);
    for (i, bytes) in driver.iter_mut().enumerate() {
        *bytes = rows[0][i].saturating_sub(rows[1][i]);
    }
    for (name, [text, rodata, data, bss]) in [
        ("image", rows[0]),
        ("baseline", rows[1]),
        ("driver", driver),
    ] {
        println!("{name:10} {text:>8} {rodata:>8} {data:>8} {bss:>8}");
    }
    if driver[0] == 0 {
        return Err("the image holds no code of the driver".into());
    }
    let [text, rodata, data, bss] = driver;
    Ok(format!(
        "driver: text {text}, rodata {rodata}, data {data}, bss {bss} bytes"
    ))
}

fn image(context: &Context, features: &[&str]) -> Result<Sections, String> {
    let mut command = sh::cargo(context, &["build", "--quiet", "--release"]);
    command.args(["--manifest-path", MANIFEST, "--target", TARGET]);
    command.args(features);
    sh::show(command)?;
    let path = context
        .root
        .join("hw/firmware/driver-size/target")
        .join(TARGET)
        .join("release/driver-size");
    let bytes = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let file = object::File::parse(&*bytes).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(sections(&file))
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
