//! Waveforms of both sides (VCD, for GTKWave and the like).

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use vcd::{IdCode, TimescaleUnit, Value, Writer};

use crate::Pins;
use crate::lockstep::Cycle;
use crate::pins::{names, values};

/// Writes `<target>/lockstep/<name>.vcd`: scopes `inputs`, `model`, `rtl`, and a
/// wire `differs`. One nanosecond stands for one edge.
pub fn write<I: Pins, O: Pins>(name: &str, cycles: &[Cycle<I, O>]) -> Result<PathBuf, String> {
    let folder = folder();
    let path = folder.join(format!("{name}.vcd"));
    std::fs::create_dir_all(&folder)
        .and_then(|()| dump(&path, name, cycles))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

fn folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("target"),
        PathBuf::from,
    );
    target.join("lockstep")
}

fn dump<I: Pins, O: Pins>(path: &Path, name: &str, cycles: &[Cycle<I, O>]) -> io::Result<()> {
    let mut writer = Writer::new(BufWriter::new(File::create(path)?));
    writer.timescale(1, TimescaleUnit::NS)?;
    writer.add_module(name)?;
    let differs = writer.add_wire(1, "differs")?;
    let inputs = scope::<I>(&mut writer, "inputs")?;
    let model = scope::<O>(&mut writer, "model")?;
    let rtl = scope::<O>(&mut writer, "rtl")?;
    writer.upscope()?;
    writer.enddefinitions()?;
    for cycle in cycles {
        writer.timestamp(cycle.number)?;
        let value = if cycle.model == cycle.rtl {
            Value::V0
        } else {
            Value::V1
        };
        writer.change_scalar(differs, value)?;
        change(&mut writer, &inputs, values(&cycle.inputs))?;
        change(&mut writer, &model, values(&cycle.model))?;
        change(&mut writer, &rtl, values(&cycle.rtl))?;
    }
    writer.flush()
}

type Wires = Vec<(IdCode, u32)>;

fn scope<P: Pins>(writer: &mut Writer<BufWriter<File>>, name: &str) -> io::Result<Wires> {
    writer.add_module(name)?;
    let mut wires = Wires::new();
    for (name, width) in names::<P>() {
        // An index in brackets would be read as a range of bits.
        let name = name.replace('[', "_").replace(']', "");
        wires.push((writer.add_wire(width, &name)?, width));
    }
    writer.upscope()?;
    Ok(wires)
}

fn change(writer: &mut Writer<BufWriter<File>>, wires: &Wires, values: Vec<u64>) -> io::Result<()> {
    for ((code, width), value) in wires.iter().zip(values) {
        let bits = (0..*width)
            .rev()
            .map(|bit| Value::from(value >> bit & 1 == 1));
        writer.change_vector(*code, bits)?;
    }
    Ok(())
}
