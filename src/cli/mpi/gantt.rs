//! A timeline as SVG: a lane for each rank, arrows for messages.

use core::fmt::Write;
use std::format;
use std::string::String;

use crate::mpi::timeline::{Part, Timeline};
use crate::time::{Duration, Instant};

/// Width of the lanes, pixels.
const WIDTH: f64 = 1000.0;
const LEFT: f64 = 70.0;
const LANE: f64 = 26.0;
const GAP: f64 = 22.0;
const TOP: f64 = 70.0;
/// More arrows than this only make the picture black.
const MOST_ARROWS: usize = 400;

const fn color(part: Part) -> &'static str {
    match part {
        Part::SendSoftware => "#1f4e8c",
        Part::Put => "#5dade2",
        Part::Hardware => "#f5cba7",
        Part::Polling => "#f4d03f",
        Part::SystemCall => "#c0392b",
        Part::Interrupt => "#7b241c",
        Part::Copy => "#a569bd",
        Part::Pinning => "#e67e22",
        Part::ReceiveSoftware => "#148f77",
        Part::Control => "#73c6b6",
        Part::Computing => "#aeb6bf",
        Part::Waiting => "#f2f3f4",
    }
}

/// Draws the first `window` of a recorded run, or all of it.
pub fn svg(timeline: &Timeline, window: Option<Duration>) -> String {
    let start = timeline.lanes.iter().map(|lane| lane.start).min();
    let start = start.unwrap_or(Instant::ZERO);
    let last = timeline.lanes.iter().map(|lane| lane.end).max();
    let all = last.unwrap_or(start).since(start);
    let length = window.map_or(all, |window| window.min(all));
    let end = start + length;
    let us = length.as_us_f64().max(1e-6);
    let x = |at: Instant| LEFT + at.min(end).since(start).as_us_f64() / us * WIDTH;
    let y = |rank: usize| TOP + rank as f64 * (LANE + GAP);
    let height = y(timeline.lanes.len()) + 34.0;

    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0}\" height=\"{height:.0}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"3\" \
         orient=\"auto\"><path d=\"M0,0 L7,3 L0,6 z\" fill=\"#222\"/></marker></defs>\n",
        LEFT + WIDTH + 30.0
    );
    legend(&mut out);
    for (rank, lane) in timeline.lanes.iter().enumerate() {
        let top = y(rank);
        let _ = writeln!(
            out,
            "<text x=\"8\" y=\"{:.0}\">rank {rank}</text>",
            top + LANE - 8.0
        );
        for span in lane.spans.iter().filter(|span| span.start < end) {
            let (from, to) = (x(span.start), x(span.end));
            let _ = writeln!(
                out,
                "<rect x=\"{from:.2}\" y=\"{top:.0}\" width=\"{:.2}\" height=\"{LANE}\" \
                 fill=\"{}\"><title>{}: {:.3} us</title></rect>",
                to - from,
                color(span.part),
                span.part.name(),
                span.end.since(span.start).as_us_f64()
            );
        }
    }
    let shown = timeline.messages.iter();
    for message in shown.filter(|m| m.received <= end).take(MOST_ARROWS) {
        let (from, to) = (message.from as usize, message.to as usize);
        let down = from < to;
        let tail = y(from) + if down { LANE } else { 0.0 };
        let tip = y(to) + if down { 0.0 } else { LANE };
        let _ = writeln!(
            out,
            "<line x1=\"{:.2}\" y1=\"{tail:.0}\" x2=\"{:.2}\" y2=\"{tip:.0}\" stroke=\"#222\" \
             stroke-width=\"1\" marker-end=\"url(#tip)\"{}><title>{} bytes</title></line>",
            x(message.sent),
            x(message.received),
            if message.control {
                ""
            } else {
                " stroke-dasharray=\"5 3\""
            },
            message.bytes
        );
    }
    axis(&mut out, us, y(timeline.lanes.len()));
    out.push_str("</svg>\n");
    out
}

fn legend(out: &mut String) {
    for (index, part) in Part::ALL.into_iter().enumerate() {
        let (column, row) = (index % 6, index / 6);
        let (left, top) = (LEFT + column as f64 * 165.0, 10.0 + row as f64 * 22.0);
        let _ = writeln!(
            out,
            "<rect x=\"{left:.0}\" y=\"{top:.0}\" width=\"16\" height=\"14\" fill=\"{}\" \
             stroke=\"#999\"/><text x=\"{:.0}\" y=\"{:.0}\">{}</text>",
            color(part),
            left + 22.0,
            top + 12.0,
            part.name()
        );
    }
}

/// Microseconds from the start, at steps of 1, 2 or 5 times a power of ten.
fn axis(out: &mut String, us: f64, top: f64) {
    let rough = us / 10.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough)
        .unwrap_or(rough);
    let mut at = 0.0;
    while at <= us * 1.0001 {
        let x = LEFT + at / us * WIDTH;
        let _ = writeln!(
            out,
            "<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{top:.0}\" stroke=\"#0002\"/>\
             <text x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>",
            top + 14.0,
            (at * 1000.0).round() / 1000.0
        );
        at += step;
    }
    let _ = writeln!(out, "<text x=\"8\" y=\"{:.0}\">us</text>", top + 14.0);
}
