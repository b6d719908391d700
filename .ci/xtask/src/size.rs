//! Bytes of the driver alone, and of the driver with two boards of models, on bare
//! metal.
//!
//! Four images of `hw/firmware/driver-size` are linked: one that touches a board
//! without the driver, one that uses the driver, one that uses remote write on top, one
//! that uses the driver on models instead. The differences are the driver, the writer,
//! and two boards with their drivers; `bss` holds their state. The first three may not
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

/// Builds the images and prints the differences, for each target.
pub fn size(context: &Context) -> Verdict {
    let mut remark = String::new();
    for target in [TARGET, RISCV] {
        tools::target(target)?;
        let driver = table(context, target)?;
        if remark.is_empty() {
            let [flash, ram] = [driver.flash(), driver.ram()];
            remark = format!("driver: flash {flash}, RAM {ram} bytes");
        }
    }
    Ok(remark)
}

/// The table of one target; the driver alone.
fn table(context: &Context, target: &str) -> Result<Sections, String> {
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
    if [driver_alone, writer_alone, with_models]
        .iter()
        .any(|s| s.text == 0)
    {
        return Err("an image holds nothing beyond the one before it".into());
    }
    Ok(driver_alone)
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
    fn differences_do_not_go_below_zero() {
        let one = Sections {
            text: 5,
            ..Sections::default()
        };
        assert_eq!(Sections::default().minus(one), Sections::default());
        assert_eq!(one.minus(Sections::default()), one);
    }
}
