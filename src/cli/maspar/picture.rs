//! `multipc maspar figure`, and the drawing that others share.

use std::borrow::ToOwned;
use std::format;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::string::String;
use std::vec;
use std::vec::Vec;

use clap::Args;
use image::{GrayImage, Luma};
use plotters::prelude::*;

use super::input::Machine;
use super::schedule::{Method, find, progress};
use super::{Failure, write_file};
use crate::maspar::schedule::{GeneticConfig, NO_PHASE};
use crate::maspar::{MachineSize, Pattern};

/// Arguments of `multipc maspar figure`.
#[derive(Args, Clone, Debug)]
pub(super) struct FigureArgs {
    /// 2: convergence of the genetic search on bit reversal (.svg). Maps of
    /// bit reversal, a pixel a PE (.png or .svg): 3: cycle in the hardware
    /// loop; 4: PEs served in the same cycle; 5: phase in the schedule; 6: PEs
    /// in the same phase.
    #[arg(value_parser = clap::value_parser!(u8).range(2..=6))]
    number: u8,
    /// Where to draw it.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    machine: Machine,
    /// Method of the schedule in figures 5 and 6.
    #[arg(long, value_enum, default_value_t = Method::Genetic)]
    method: Method,
    /// Seed of the search.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Generations of the search.
    #[arg(long, default_value_t = 440)]
    generations: u32,
}

pub(super) fn run(args: &FigureArgs, out: &mut impl Write) -> Result<(), Failure> {
    let mut router = args.machine.router()?;
    let size = router.size();
    let pattern = Pattern::bit_reversal(size);
    let table = router.timetable(&pattern).map_err(Failure::usage)?;
    if args.number == 3 || args.number == 4 {
        let mut counts = vec![0; table.cycles() as usize];
        let counts = table.profile(&mut counts);
        draw_map(&args.out, size, table.raw(), counts, args.number == 4)?;
    } else {
        let genetic = GeneticConfig {
            seed: args.seed,
            generations: args.generations,
            ..GeneticConfig::default()
        };
        let method = if args.number == 2 {
            Method::Genetic
        } else {
            args.method
        };
        let bar = progress("generation", args.generations);
        let mut history = Vec::new();
        let answer = find(&mut router, &pattern, method, genetic, |generation| {
            history.push((generation.best, generation.worst));
            bar.set_position(u64::from(generation.number) + 1);
            bar.set_message(format!("best {}", generation.best));
        });
        bar.finish_and_clear();
        let schedule = answer.map_err(Failure::check)?.schedule;
        if args.number == 2 {
            convergence(&args.out, table.cycles(), &history)?;
        } else {
            let mut counts = vec![0; schedule.phases() as usize];
            let counts = schedule.profile(&mut counts);
            draw_map(&args.out, size, schedule.phase(), counts, args.number == 6)?;
        }
    }
    writeln!(out, "{}", args.out.display())?;
    Ok(())
}

/// A map of times (black is first), or of how many PEs share each time (black
/// is nobody, white every path).
fn draw_map(
    path: &Path,
    size: MachineSize,
    times: &[u16],
    counts: &[u32],
    density: bool,
) -> Result<(), Failure> {
    let last = counts.len().saturating_sub(1).max(1) as f64;
    let shades = times.iter().map(|&time| {
        let count = counts.get(time as usize)?;
        (time != NO_PHASE).then(|| {
            if density {
                f64::from(*count) / size.clusters() as f64
            } else {
                f64::from(time) / last
            }
        })
    });
    map(path, size, shades)
}

/// A grey-scale map of the PE array: 0 is black, 1 white, a PE without a
/// shade is black too. By the ending of the file a PNG of 4 x 4 pixels a PE,
/// or an SVG.
pub(super) fn map(
    path: &Path,
    size: MachineSize,
    shades: impl Iterator<Item = Option<f64>>,
) -> Result<(), Failure> {
    let grey: Vec<u8> = shades
        .map(|shade| (shade.unwrap_or(0.0).clamp(0.0, 1.0) * 255.0).round() as u8)
        .collect();
    let (columns, rows) = (size.columns(), size.rows());
    match extension(path) {
        "png" => {
            const SCALE: u32 = 4;
            let image = GrayImage::from_fn(columns as u32 * SCALE, rows as u32 * SCALE, |x, y| {
                let at = (y / SCALE) as usize * columns + (x / SCALE) as usize;
                Luma([grey.get(at).copied().unwrap_or(0)])
            });
            image.save(path).map_err(|error| {
                Failure::Usage(format!("cannot write {}: {error}", path.display()))
            })
        }
        "svg" => {
            use std::fmt::Write as _;
            let mut text = format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {columns} {rows}\" \
                 width=\"{}\" height=\"{}\" shape-rendering=\"crispEdges\">\n",
                columns * 4,
                rows * 4
            );
            for (y, line) in grey.chunks(columns).enumerate() {
                for (x, value) in line.iter().enumerate() {
                    let _ = write!(
                        text,
                        "<rect x=\"{x}\" y=\"{y}\" width=\"1\" height=\"1\" \
                         fill=\"#{value:02x}{value:02x}{value:02x}\"/>"
                    );
                }
                text.push('\n');
            }
            text.push_str("</svg>\n");
            write_file(path, text)
        }
        other => Err(Failure::Usage(format!(
            "picture: '.{other}' is not .png or .svg"
        ))),
    }
}

fn extension(path: &Path) -> &str {
    path.extension()
        .and_then(|ext| ext.to_str())
        .unwrap_or_default()
}

fn only_svg(path: &Path) -> Result<(), Failure> {
    match extension(path) {
        "svg" => Ok(()),
        other => Err(Failure::Usage(format!("plot: '.{other}' is not .svg"))),
    }
}

fn drawn<T>(result: Result<T, impl std::fmt::Display>, path: &Path) -> Result<T, Failure> {
    result.map_err(|error| Failure::Usage(format!("cannot draw {}: {error}", path.display())))
}

/// A bar for each count (.svg).
pub(super) fn bars(
    path: &Path,
    title: &str,
    x: &str,
    y: &str,
    counts: &[u32],
) -> Result<(), Failure> {
    only_svg(path)?;
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let root = SVGBackend::new(path, (900, 420)).into_drawing_area();
    drawn(root.fill(&WHITE), path)?;
    let mut chart = drawn(
        ChartBuilder::on(&root)
            .caption(title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(36)
            .y_label_area_size(56)
            .build_cartesian_2d(0..counts.len().max(1), 0..most + most / 10 + 1),
        path,
    )?;
    drawn(
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_desc(x)
            .y_desc(y)
            .draw(),
        path,
    )?;
    let bars = counts
        .iter()
        .enumerate()
        .map(|(i, &count)| Rectangle::new([(i, 0), (i + 1, count)], BLUE.mix(0.6).filled()));
    drawn(chart.draw_series(bars), path)?;
    drawn(root.present(), path)
}

/// Best and worst survivor of each generation (.svg).
fn convergence(path: &Path, hardware: u32, history: &[(u32, u32)]) -> Result<(), Failure> {
    only_svg(path)?;
    let root = SVGBackend::new(path, (900, 420)).into_drawing_area();
    drawn(root.fill(&WHITE), path)?;
    let mut chart = drawn(
        ChartBuilder::on(&root)
            .caption("Genetic search on bit reversal", ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(36)
            .y_label_area_size(56)
            .build_cartesian_2d(0..history.len().max(1), 0..hardware + 5),
        path,
    )?;
    drawn(
        chart
            .configure_mesh()
            .x_desc("generation")
            .y_desc("router cycles")
            .draw(),
        path,
    )?;
    let line = |pick: fn(&(u32, u32)) -> u32| {
        history
            .iter()
            .enumerate()
            .map(move |(i, entry)| (i, pick(entry)))
    };
    let legend = |colour: RGBColor| {
        move |(x, y): (i32, i32)| PathElement::new([(x, y), (x + 18, y)], colour)
    };
    drawn(
        chart.draw_series(LineSeries::new(line(|e| e.0), BLUE)),
        path,
    )?
    .label("best")
    .legend(legend(BLUE));
    drawn(chart.draw_series(LineSeries::new(line(|e| e.1), RED)), path)?
        .label("worst survivor")
        .legend(legend(RED));
    let loop_line = [(0, hardware), (history.len(), hardware)];
    drawn(chart.draw_series(LineSeries::new(loop_line, BLACK)), path)?
        .label("hardware loop")
        .legend(legend(BLACK));
    let mut labels = chart.configure_series_labels();
    drawn(
        labels
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK)
            .draw(),
        path,
    )?;
    drawn(root.present(), path)
}
