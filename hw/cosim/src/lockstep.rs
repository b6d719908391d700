//! Two devices on the same inputs, compared after every edge.

use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;

use crate::pins::{names, values};
use crate::{Device, Pins, wave};

/// Cycles printed on a difference.
pub const SHOWN: usize = 20;
/// Cycles in the waveform.
const KEPT: usize = 512;

/// One cycle of both sides.
#[derive(Clone, Copy, Debug)]
pub struct Cycle<I, O> {
    /// Edges before this one.
    pub number: u64,
    /// What both were given.
    pub inputs: I,
    /// What the model shows after the edge.
    pub model: O,
    /// What the RTL shows after the edge.
    pub rtl: O,
}

/// A model and RTL stepped together.
pub struct Lockstep<M: Device, R> {
    name: &'static str,
    /// The model.
    pub model: M,
    /// The RTL.
    pub rtl: R,
    ring: VecDeque<Cycle<M::In, M::Out>>,
    number: u64,
}

impl<M: Device, R: Device<In = M::In, Out = M::Out>> Lockstep<M, R> {
    /// `name` is that of the waveform's file.
    pub fn new(name: &'static str, model: M, rtl: R) -> Self {
        Self {
            name,
            model,
            rtl,
            ring: VecDeque::with_capacity(KEPT + 1),
            number: 0,
        }
    }

    /// Edges so far.
    pub fn cycles(&self) -> u64 {
        self.number
    }

    /// One edge of both.
    ///
    /// # Errors
    /// The last cycles when an output pin differs; the waveform is written.
    pub fn step(&mut self, inputs: &M::In) -> Result<M::Out, Box<Difference>> {
        let model = self.model.step(inputs);
        let rtl = self.rtl.step(inputs);
        if self.ring.len() == KEPT {
            self.ring.pop_front();
        }
        self.ring.push_back(Cycle {
            number: self.number,
            inputs: *inputs,
            model,
            rtl,
        });
        self.number += 1;
        if model == rtl {
            Ok(model)
        } else {
            Err(Box::new(self.difference()))
        }
    }

    fn difference(&mut self) -> Difference {
        let cycles = self.ring.make_contiguous();
        let shown = &cycles[cycles.len().saturating_sub(SHOWN)..];
        let waveform = wave::write(self.name, cycles);
        Difference {
            name: self.name,
            cycle: self.number - 1,
            pins: differing(shown.last()),
            table: table(shown),
            waveform,
        }
    }
}

/// The first cycle in which model and RTL differ, and what led there.
#[derive(Debug)]
pub struct Difference {
    /// Of the bench.
    pub name: &'static str,
    /// Edges before the one after which pins differ.
    pub cycle: u64,
    /// The pins that differ, with what the model and the RTL show.
    pub pins: Vec<(String, u64, u64)>,
    /// The last 20 cycles; pins that never moved are left out.
    pub table: String,
    /// Where the waveform is, or why there is none.
    pub waveform: Result<PathBuf, String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: model and RTL differ after edge {}",
            self.name, self.cycle
        )?;
        for (pin, model, rtl) in &self.pins {
            writeln!(f, "  {pin}: model {model:x}, RTL {rtl:x}")?;
        }
        f.write_str(&self.table)?;
        match &self.waveform {
            Ok(path) => writeln!(f, "waveform: {}", path.display()),
            Err(error) => writeln!(f, "no waveform: {error}"),
        }
    }
}

impl std::error::Error for Difference {}

fn differing<I: Pins, O: Pins>(last: Option<&Cycle<I, O>>) -> Vec<(String, u64, u64)> {
    let Some(last) = last else { return Vec::new() };
    let both = values(&last.model).into_iter().zip(values(&last.rtl));
    names::<O>()
        .into_iter()
        .zip(both)
        .filter(|(_, (model, rtl))| model != rtl)
        .map(|((name, _), (model, rtl))| (name, model, rtl))
        .collect()
}

/// A row for each vector that moved or differs, a column for each cycle.
fn table<I: Pins, O: Pins>(cycles: &[Cycle<I, O>]) -> String {
    let column = |f: &dyn Fn(&Cycle<I, O>) -> Vec<u64>| cycles.iter().map(f).collect::<Vec<_>>();
    let numbers: Vec<u64> = cycles.iter().map(|cycle| cycle.number % 10_000).collect();
    let inputs = rows("in ", names::<I>(), &column(&|cycle| values(&cycle.inputs)));
    let model = column(&|cycle| values(&cycle.model));
    let rtl = column(&|cycle| values(&cycle.rtl));
    let mut text = line("edge", &numbers, |value| format!("{value}"));
    for (name, row) in inputs {
        if row.windows(2).any(|pair| pair[0] != pair[1]) {
            text += &line(&name, &row, |value| format!("{value:x}"));
        }
    }
    let sides = rows("out ", names::<O>(), &model)
        .into_iter()
        .zip(rows("", names::<O>(), &rtl));
    for ((name, model), (_, rtl)) in sides {
        if model != rtl {
            text += &line(&format!("{name} model"), &model, |value| {
                format!("{value:x}")
            });
            text += &line(&format!("{name} RTL"), &rtl, |value| format!("{value:x}"));
        } else if model.windows(2).any(|pair| pair[0] != pair[1]) {
            text += &line(&name, &model, |value| format!("{value:x}"));
        }
    }
    text
}

fn rows(prefix: &str, names: Vec<(String, u32)>, columns: &[Vec<u64>]) -> Vec<(String, Vec<u64>)> {
    names
        .into_iter()
        .enumerate()
        .map(|(k, (name, _))| {
            (
                format!("{prefix}{name}"),
                columns.iter().map(|column| column[k]).collect(),
            )
        })
        .collect()
}

fn line(name: &str, row: &[u64], show: impl Fn(u64) -> String) -> String {
    let cells: Vec<String> = row
        .iter()
        .map(|value| format!("{:>4}", show(*value)))
        .collect();
    format!("{name:<24} {}\n", cells.join(" "))
}
