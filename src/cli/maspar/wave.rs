//! `multipc maspar wave`: a path opening, tick by tick, as a VCD file.

use std::boxed::Box;
use std::collections::BTreeMap;
use std::format;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::vec::Vec;

use clap::Args;
use vcd::{IdCode, TimescaleUnit, VarType};

use super::Failure;
use super::input::{Machine, PatternArgs};
use crate::maspar::{STAGES, Step, TickRouter};

/// Arguments of `multipc maspar wave`.
#[derive(Args, Clone, Debug)]
pub(super) struct WaveArgs {
    #[command(flatten)]
    pattern: PatternArgs,
    #[command(flatten)]
    machine: Machine,
    /// Where to write the waveform (opens in GTKWave or Surfer).
    #[arg(long, value_name = "FILE")]
    vcd: PathBuf,
}

/// A waveform that writes what changes, and nothing else.
struct Wave<W: Write> {
    vcd: vcd::Writer<W>,
    last: BTreeMap<IdCode, u64>,
}

impl<W: Write> Wave<W> {
    fn set(&mut self, id: IdCode, width: u32, value: u64) -> std::io::Result<()> {
        if self.last.insert(id, value) == Some(value) {
            return Ok(());
        }
        let bits = (0..width)
            .rev()
            .map(|bit| vcd::Value::from(value >> bit & 1 == 1));
        self.vcd.change_vector(id, bits)
    }
}

/// The wires of one chip.
struct Signals {
    request: IdCode,
    data: IdCode,
    back: IdCode,
    // The stages have paths, the PE select has none.
    paths: Option<IdCode>,
}

pub(super) fn run(args: &WaveArgs, out: &mut impl Write) -> Result<(), Failure> {
    let config = args.machine.config()?;
    let mut router = Box::new(TickRouter::new(&config).map_err(Failure::usage)?);
    let pattern = args.pattern.pattern(config.size)?;
    let width = args.pattern.width()?;
    let boards = config.size.boards();

    let file = File::create(&args.vcd)
        .map_err(|error| Failure::Usage(format!("cannot write {}: {error}", args.vcd.display())))?;
    let mut vcd = vcd::Writer::new(BufWriter::new(file));
    let period = config.costs.clock.period().ps();
    vcd.timescale(1, TimescaleUnit::PS)?;
    vcd.add_module("maspar")?;
    let clock = vcd.add_var(VarType::Wire, 1, "tick", None)?;
    let instruction = vcd.add_var(VarType::Wire, 2, "instruction", None)?;
    let count = vcd.add_var(VarType::Wire, 8, "tick_of_instruction", None)?;
    let mut stages = Vec::new();
    for stage in 0..=STAGES {
        let name = if stage < STAGES {
            format!("stage{}", stage + 1)
        } else {
            "pe_select".into()
        };
        vcd.add_module(&name)?;
        // There are 16 stage-2 chips in the model of any machine.
        let chips = if stage == 1 { 16 } else { boards };
        let mut signals = Vec::new();
        for chip in 0..chips {
            vcd.add_module(&format!("chip{chip}"))?;
            let mut wires = |name| vcd.add_var(VarType::Wire, 64, name, None);
            signals.push(Signals {
                request: wires("request")?,
                data: wires("data")?,
                back: wires("back")?,
                paths: if stage < STAGES {
                    Some(wires("connected")?)
                } else {
                    None
                },
            });
            vcd.upscope()?;
        }
        vcd.upscope()?;
        stages.push(signals);
    }
    let told = (0..boards)
        .map(|board| {
            vcd.add_var(
                VarType::Wire,
                64,
                &format!("clusters_connected{board}"),
                None,
            )
        })
        .collect::<Result<Vec<_>, _>>()?;
    vcd.upscope()?;
    vcd.enddefinitions()?;
    let mut wave = Wave {
        vcd,
        last: BTreeMap::new(),
    };

    router.ropen(&pattern).map_err(Failure::usage)?;
    let mut ropen = true;
    let mut paths = 0;
    loop {
        let tick = router.ticks();
        wave.vcd.timestamp(tick * period)?;
        let (kind, now) = match router.step_now() {
            Step::Idle => (0, 0),
            Step::Open(now) => (1, now),
            Step::Transfer(now) => (2, now),
        };
        wave.vcd.change_scalar(clock, true)?;
        wave.set(instruction, 2, kind)?;
        wave.set(count, 8, u64::from(now))?;
        for (stage, signals) in stages.iter().enumerate() {
            let (request, data, back) = (
                router.requests(stage),
                router.data(stage),
                router.back(stage),
            );
            for (chip, signals) in signals.iter().enumerate() {
                wave.set(signals.request, 64, request[chip & 15])?;
                wave.set(signals.data, 64, data[chip & 15])?;
                wave.set(signals.back, 64, back[chip & 15])?;
                if let (Some(id), Some(chip)) = (signals.paths, router.chips(stage).get(chip)) {
                    wave.set(id, 64, chip.connected())?;
                }
            }
        }
        for (id, &set) in told.iter().zip(router.connected()) {
            wave.set(*id, 64, set)?;
        }
        wave.vcd.timestamp(tick * period + period / 2)?;
        wave.vcd.change_scalar(clock, false)?;
        if !router.step() {
            if !ropen {
                break;
            }
            ropen = false;
            paths = router.fetched().count();
            router.rfetch(width, u64::from);
        }
    }
    wave.vcd.flush()?;
    writeln!(
        out,
        "{}: {} ticks of ropen and rfetchc{}, {paths} of {} PEs connected",
        args.vcd.display(),
        router.ticks(),
        width.bits(),
        pattern.messages()
    )?;
    Ok(())
}
