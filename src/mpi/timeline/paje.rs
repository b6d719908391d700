//! The trace format of Paje, as text: containers for nodes and ranks, one
//! state a rank, links for messages. ViTE and PajeNG open it. Times are
//! seconds from the start of the run with twelve decimals: exact.

use alloc::vec::Vec;
use core::fmt;

use super::{Decimal, Part, Timeline};
use crate::time::Instant;

/// Field names and types of each event, in the order of their numbers.
const EVENTS: [(&str, &str); 9] = [
    (
        "PajeDefineContainerType",
        "Alias string|Type string|Name string",
    ),
    (
        "PajeDefineStateType",
        "Alias string|Type string|Name string",
    ),
    (
        "PajeDefineLinkType",
        "Alias string|Type string|StartContainerType string|EndContainerType string|Name string",
    ),
    (
        "PajeDefineEntityValue",
        "Alias string|Type string|Name string|Color color",
    ),
    (
        "PajeCreateContainer",
        "Time date|Alias string|Type string|Container string|Name string",
    ),
    (
        "PajeSetState",
        "Time date|Type string|Container string|Value string",
    ),
    (
        "PajeStartLink",
        "Time date|Type string|Container string|StartContainer string|Value string|Key string",
    ),
    (
        "PajeEndLink",
        "Time date|Type string|Container string|EndContainer string|Value string|Key string",
    ),
    ("PajeDestroyContainer", "Time date|Type string|Name string"),
];

/// Red, green, blue of each part.
const fn colour(part: Part) -> &'static str {
    match part {
        Part::SendSoftware => "0.20 0.40 0.80",
        Part::Put => "0.40 0.70 1.00",
        Part::Hardware => "0.95 0.60 0.10",
        Part::Polling => "0.95 0.85 0.30",
        Part::SystemCall => "0.80 0.20 0.20",
        Part::Interrupt => "0.60 0.00 0.30",
        Part::Copy => "0.55 0.35 0.20",
        Part::Pinning => "0.75 0.55 0.45",
        Part::ReceiveSoftware => "0.45 0.25 0.65",
        Part::Control => "0.60 0.60 0.90",
        Part::Computing => "0.25 0.65 0.30",
        Part::Waiting => "0.85 0.85 0.85",
    }
}

/// An event of the body; the format wants them in the order of their times.
enum Event {
    State { rank: usize, part: Part },
    Start { key: usize },
    End { key: usize },
}

impl Timeline {
    /// Writes the trace as Paje text.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_paje(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for (number, (name, fields)) in EVENTS.iter().enumerate() {
            writeln!(out, "%EventDef {name} {number}")?;
            for field in fields.split('|') {
                writeln!(out, "% {field}")?;
            }
            writeln!(out, "%EndEventDef")?;
        }
        out.write_str(
            "0 M 0 machine\n0 N M node\n0 R N rank\n1 S R activity\n2 L M R R message\n",
        )?;
        for part in Part::ALL {
            let (value, name) = (part as usize, part.name());
            writeln!(out, "3 p{value} S \"{name}\" \"{}\"", colour(part))?;
        }
        out.write_str("3 control L control \"0.6 0.6 0.9\"\n3 data L data \"0.9 0.5 0.1\"\n")?;
        let lanes = &self.lanes;
        let start = self.start();
        let seconds = |at: Instant| Decimal {
            ps: (at - start).ps(),
            digits: 12,
        };
        let at = seconds(start);
        writeln!(out, "4 {at} m M 0 machine")?;
        let mut nodes: Vec<u16> = lanes.iter().map(|lane| lane.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes {
            writeln!(out, "4 {at} n{node} N m \"node {node}\"")?;
        }
        for (rank, lane) in lanes.iter().enumerate() {
            writeln!(out, "4 {at} r{rank} R n{} \"rank {rank}\"", lane.node)?;
        }
        let mut events: Vec<(Instant, Event)> = Vec::new();
        for (rank, lane) in lanes.iter().enumerate() {
            for span in &lane.spans {
                let part = span.part;
                events.push((span.start, Event::State { rank, part }));
            }
            // Its container may have to outlive its program, for messages.
            let part = Part::Waiting;
            events.push((lane.end, Event::State { rank, part }));
        }
        for (key, message) in self.messages.iter().enumerate() {
            events.push((message.sent, Event::Start { key }));
            events.push((message.received, Event::End { key }));
        }
        events.sort_by_key(|(at, _)| *at);
        let last = seconds(events.last().map_or(start, |(at, _)| *at));
        for (at, event) in events {
            let at = seconds(at);
            let (number, key, end) = match event {
                Event::State { rank, part } => {
                    writeln!(out, "5 {at} S r{rank} p{}", part as usize)?;
                    continue;
                }
                Event::Start { key } => (6, key, false),
                Event::End { key } => (7, key, true),
            };
            let Some(message) = self.messages.get(key) else {
                continue;
            };
            let rank = if end { message.to } else { message.from };
            let value = if message.control { "control" } else { "data" };
            writeln!(out, "{number} {at} L m r{rank} {value} {key}")?;
        }
        for rank in 0..lanes.len() {
            writeln!(out, "8 {last} R r{rank}")?;
        }
        writeln!(out, "8 {last} M m")
    }
}
