//! `multipc maspar table`: the published results beside the model's.

use std::borrow::ToOwned;
use std::boxed::Box;
use std::format;
use std::io::Write;
use std::string::{String, ToString};
use std::time::Instant;
use std::vec;
use std::vec::Vec;

use clap::Args;
use comfy_table::{Table, presets};
use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::Failure;
use super::schedule::{Method, find, progress};
use crate::maspar::schedule::{Bound, GeneticConfig, one_sender_each_by_load};
use crate::maspar::{MachineSize, Pattern, Router, RouterConfig};

/// Arguments of `multipc maspar table`.
#[derive(Args, Clone, Debug)]
pub(super) struct TableArgs {
    /// Run the genetic search too (up to a minute).
    #[arg(long)]
    genetic: bool,
    /// Seed of the schedulers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What the paper says: cycles in hardware, best schedule, time taken.
struct Published {
    hardware: &'static str,
    schedule: &'static str,
    time: &'static str,
    /// The cycles as a number, where the record gives one exactly.
    exact: Option<u32>,
}

const NOTHING: Published = Published {
    hardware: "",
    schedule: "",
    time: "",
    exact: None,
};

fn rows(router: &Router) -> Result<Vec<(String, Pattern, Published)>, Failure> {
    let size = MachineSize::Pes16384;
    let shift = |d| Pattern::shift(size, d);
    let both = |a: Pattern, b: Pattern| a.then(&b).map_err(Failure::usage);
    let reversal = Published {
        hardware: "70",
        schedule: "23",
        time: "half an hour",
        exact: Some(70),
    };
    let shuffle = Published {
        hardware: "52",
        schedule: "fewer than 26",
        time: "",
        exact: Some(52),
    };
    let sixteen = || Published {
        hardware: "16",
        exact: Some(16),
        ..NOTHING
    };
    let random = || Published {
        hardware: "about 70 (not reproduced)",
        ..NOTHING
    };
    let function = Pattern::random_function(size, 1);
    let store = one_sender_each_by_load(router, function.clone()).map_err(Failure::usage)?;
    let to_one = Published {
        hardware: "16384",
        exact: Some(16384),
        ..NOTHING
    };
    let hard = both(shift(37), Pattern::bit_reversal(size))?;
    let easy = both(Pattern::bit_reversal(size), shift(37))?;
    let turned = both(Pattern::shuffle(size), shift(1000))?;
    Ok(vec![
        ("bit-reversal".into(), Pattern::bit_reversal(size), reversal),
        ("shuffle".into(), Pattern::shuffle(size), shuffle),
        ("unshuffle".into(), Pattern::unshuffle(size), NOTHING),
        ("butterfly".into(), Pattern::butterfly(size), NOTHING),
        (
            "row-bit-reversal".into(),
            Pattern::row_bit_reversal(size),
            NOTHING,
        ),
        ("transpose".into(), Pattern::transpose(size), NOTHING),
        ("shift:1".into(), shift(1), sixteen()),
        ("shift:12345".into(), shift(12345), sixteen()),
        (
            "random:1".into(),
            Pattern::random_permutation(size, 1),
            random(),
        ),
        (
            "random:2".into(),
            Pattern::random_permutation(size, 2),
            random(),
        ),
        ("bit-reversal, then shift:37".into(), easy, NOTHING),
        ("shift:37, then bit-reversal".into(), hard, NOTHING),
        ("shuffle, then shift:1000".into(), turned, NOTHING),
        ("random-function:1, fetched".into(), function, NOTHING),
        ("random-function:1, stored".into(), store, NOTHING),
        ("all-to:0".into(), Pattern::all_to(size, 0), to_one),
    ])
}

pub(super) fn run(args: &TableArgs, out: &mut impl Write) -> Result<(), Failure> {
    let mut router = Box::new(Router::new(&RouterConfig::MP1).map_err(Failure::usage)?);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "pattern",
        "hardware",
        "paper",
        "bound",
        "phases",
        "by",
        "seconds",
        "paper's best",
        "paper's time",
    ]);
    let mut values = Vec::new();
    let mut wrong = Vec::new();
    let genetic = GeneticConfig {
        seed: args.seed,
        ..GeneticConfig::default()
    };
    for (name, pattern, published) in rows(&router)? {
        let cycles = router.timetable(&pattern).map_err(Failure::usage)?.cycles();
        let bound = Bound::of(&router, &pattern).map_err(Failure::usage)?.phases;
        if published.exact.is_some_and(|exact| exact != cycles) {
            wrong.push(name.clone());
        }
        let searched = args.genetic && ["bit-reversal", "shuffle"].contains(&name.as_str());
        let methods: &[Method] = if searched {
            &[Method::Best, Method::Genetic]
        } else {
            &[Method::Best]
        };
        for &method in methods {
            let bar = match method {
                Method::Genetic => progress("generation", genetic.generations),
                _ => ProgressBar::hidden(),
            };
            let mut last_gain = (u32::MAX, 0);
            let answer = find(&mut router, &pattern, method, genetic, |generation| {
                bar.set_position(u64::from(generation.number) + 1);
                bar.set_message(format!("{name}: best {}", generation.best));
                if generation.best < last_gain.0 {
                    last_gain = (generation.best, generation.number);
                }
            });
            bar.finish_and_clear();
            let answer = answer.map_err(Failure::check)?;
            let by = match method {
                Method::Genetic => format!("genetic search, generation {}", last_gain.1),
                _ => answer.method.clone(),
            };
            table.add_row([
                name.clone(),
                cycles.to_string(),
                published.hardware.to_owned(),
                bound.to_string(),
                answer.schedule.phases().to_string(),
                by,
                format!("{:.4}", answer.seconds),
                published.schedule.to_owned(),
                published.time.to_owned(),
            ]);
            values.push(json!({
                "pattern": name,
                "cycles": cycles,
                "published_cycles": text(published.hardware),
                "bound": bound,
                "phases": answer.schedule.phases(),
                "method": answer.method,
                "seconds": answer.seconds,
                "published_phases": text(published.schedule),
                "published_time": text(published.time),
            }));
        }
    }
    let shifts = shifts_of_16(&mut router)?;
    if shifts.0 != 16383 {
        wrong.push("shifts".into());
    }
    if args.json {
        let value = json!({ "rows": values, "shifts_of_16_cycles": shifts.0 });
        writeln!(out, "{value:#}")?;
    } else {
        writeln!(out, "{table}")?;
        writeln!(
            out,
            "{} of 16383 constant shifts take 16 cycles (paper: all); {:.1} s",
            shifts.0, shifts.1
        )?;
    }
    if wrong.is_empty() {
        if !args.json {
            writeln!(out, "the model agrees with every exact published count")?;
        }
        Ok(())
    } else {
        Err(Failure::Check(format!(
            "model and record differ for {}",
            wrong.join(", ")
        )))
    }
}

fn text(published: &str) -> Value {
    if published.is_empty() {
        Value::Null
    } else {
        published.into()
    }
}

/// How many constant shifts take 16 cycles, and the seconds it took to count.
fn shifts_of_16(router: &mut Router) -> Result<(u32, f64), Failure> {
    let start = Instant::now();
    let mut count = 0;
    let bar = progress("shift", 16383);
    for distance in 1..16384 {
        bar.set_position(distance as u64);
        router
            .load(&Pattern::shift(router.size(), distance))
            .map_err(Failure::usage)?;
        count += u32::from(router.drain() == 16);
    }
    bar.finish_and_clear();
    Ok((count, start.elapsed().as_secs_f64()))
}
