//! The machine as a drawing: routers, boards, cables; the load as the width of
//! the lines, a ring of waiting cables in red.

use std::fmt::Write;
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

use super::Machine;
use super::findings::Findings;
use super::layout::{Layout, Point};
use crate::fabric::topology::{Port, PortId};

const CABLE: &str = "#5b7ba6";
const UNUSED: &str = "#b5b5b5";
const RING: &str = "#d02020";
/// Room for the lines of text at the top.
const HEAD: f64 = 90.0;

/// Draws it.
pub fn svg(machine: &Machine, findings: &Findings) -> String {
    let layout = Layout::new(machine);
    let mut out = String::new();
    // Writing to a String does not fail.
    let _ = drawing(&mut out, machine, findings, &layout);
    out
}

fn drawing(
    out: &mut String,
    machine: &Machine,
    findings: &Findings,
    layout: &Layout,
) -> core::fmt::Result {
    let width = layout.width.max(720.0);
    // A wide drawing is shown small: larger text.
    let scale = (width / 1600.0).max(1.0);
    let top = HEAD * scale;
    let height = layout.height + top;
    writeln!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}" font-family="sans-serif">
<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="17" markerHeight="17" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L10 5L0 10z" fill="{RING}"/></marker></defs>
<rect width="100%" height="100%" fill="white"/>"##
    )?;
    head(out, machine, findings, scale)?;
    let shift = (width - layout.width) / 2.0;
    writeln!(out, r#"<g transform="translate({shift:.1} {top:.1})">"#)?;
    let on_ring = on_ring(machine, findings);
    // What is red must lie on top of what is not.
    for red in [false, true] {
        cables(out, machine, findings, layout, &on_ring, red)?;
    }
    routers(out, machine, layout)?;
    writeln!(out, "</g>\n</svg>")
}

fn head(out: &mut String, machine: &Machine, findings: &Findings, scale: f64) -> core::fmt::Result {
    let analysis = &findings.analysis;
    let topology = &machine.topology;
    let most = findings.busiest.first().map_or(0.0, |load| load.pairs);
    let adaptive = if machine.adaptive { ", adaptive" } else { "" };
    let verdict = match &findings.deadlock {
        Ok(_) => "no deadlock possible".into(),
        Err(cycle) => format!("DEADLOCK possible: the {} red cables", cycle.waits.len()),
    };
    let color = if findings.pass() { "#222" } else { RING };
    let lines = [
        (
            18.0,
            "#000",
            format!(
                "{}: {} boards, {} routers, {} cables",
                escaped(&machine.name),
                topology.generators().len(),
                topology.routers(),
                topology.cables().len()
            ),
        ),
        (
            14.0,
            color,
            format!(
                "tables {}{adaptive}: {verdict}; {} of {} pairs served",
                findings.method, analysis.delivered, analysis.pairs
            ),
        ),
        (
            13.0,
            "#555",
            format!(
                "cables crossed: mean {:.2}, most {}; line width: pairs on the busier direction, most {most:.0}",
                analysis.mean(),
                analysis.longest
            ),
        ),
    ];
    for (i, (size, color, text)) in (0..).zip(lines) {
        writeln!(
            out,
            r#"<text x="24" y="{:.0}" font-size="{:.0}" fill="{color}">{text}</text>"#,
            (30.0 + 23.0 * f64::from(i)) * scale,
            size * scale
        )?;
    }
    Ok(())
}

/// For each cable the ends where its packets wait in a ring.
fn on_ring(machine: &Machine, findings: &Findings) -> Vec<[bool; 2]> {
    let mut found = vec![[false; 2]; machine.topology.cables().len()];
    if let Err(cycle) = &findings.deadlock {
        for wait in &cycle.waits {
            if let Port::Cable { cable, .. } = machine.topology.port(wait.at) {
                let ends = machine.topology.cables()[usize::from(cable)].ends;
                found[usize::from(cable)][usize::from(ends[1] == wait.at)] = true;
            }
        }
    }
    found
}

fn cables(
    out: &mut String,
    machine: &Machine,
    findings: &Findings,
    layout: &Layout,
    on_ring: &[[bool; 2]],
    red: bool,
) -> core::fmt::Result {
    let most = findings.busiest.first().map_or(1.0, |load| load.pairs);
    let parallel = parallel(machine);
    // Many cables want thin lines.
    let widest = layout.radius * if on_ring.len() > 200 { 0.13 } else { 0.3 };
    for (i, cable) in machine.topology.cables().iter().enumerate() {
        if on_ring[i].contains(&true) != red {
            continue;
        }
        let loads = &findings.analysis.loads[2 * i..2 * i + 2];
        let load = loads[0].pairs.max(loads[1].pairs);
        let thick = 0.8 + widest * load / most.max(1e-9);
        let [a, b] = cable.ends;
        let (from, to) = (spot(layout, a), spot(layout, b));
        let bend = bend(layout, a, b, parallel[i]);
        let tip = match on_ring[i] {
            [_, true] => r#" marker-end="url(#tip)""#,
            _ => "",
        };
        // An arrow at the first end: the same line the other way round.
        let (from, to, bend, tip) = match on_ring[i] {
            [true, false] => (to, from, -bend, r#" marker-end="url(#tip)""#),
            _ => (from, to, bend, tip),
        };
        let (color, dash) = match (red, load == 0.0) {
            (true, _) => (RING, ""),
            (false, true) => (UNUSED, r#" stroke-dasharray="4 4""#),
            (false, false) => (CABLE, ""),
        };
        let opacity = if red { 1.0 } else { 0.75 };
        writeln!(
            out,
            r#"<path d="{}" fill="none" stroke="{color}" stroke-width="{thick:.2}" stroke-opacity="{opacity}"{dash}{tip}><title>cable {i}: {}.{} to {}.{}, {:.1} pairs there, {:.1} back</title></path>"#,
            line(from, to, bend, layout.radius),
            a.router,
            a.port,
            b.router,
            b.port,
            loads[0].pairs,
            loads[1].pairs
        )?;
    }
    Ok(())
}

fn spot(layout: &Layout, at: PortId) -> Point {
    layout.routers[usize::from(at.router)]
}

/// How far each cable has to make room for its parallels, in lines.
fn parallel(machine: &Machine) -> Vec<f64> {
    let cables = machine.topology.cables();
    let mut between = std::collections::HashMap::<(u16, u16), Vec<usize>>::new();
    for (i, cable) in cables.iter().enumerate() {
        let [a, b] = cable.ends.map(|end| end.router);
        between.entry((a.min(b), a.max(b))).or_default().push(i);
    }
    let mut lines = vec![0.0; cables.len()];
    for group in between.values() {
        for (k, &i) in group.iter().enumerate() {
            let [a, b] = cables[i].ends.map(|end| end.router);
            let side = if a <= b { 1.0 } else { -1.0 };
            lines[i] = side * (k as f64 - (group.len() - 1) as f64 / 2.0);
        }
    }
    lines
}

/// How far the middle of a cable is pushed aside: for its parallels, and round
/// routers that a straight line would cross.
fn bend(layout: &Layout, a: PortId, b: PortId, parallel: f64) -> f64 {
    let (from, to) = (spot(layout, a), spot(layout, b));
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1.0);
    let crosses = !layout.levels
        && layout.routers.iter().enumerate().any(|(i, p)| {
            if i == usize::from(a.router) || i == usize::from(b.router) {
                return false;
            }
            let (px, py) = (p.0 - from.0, p.1 - from.1);
            let along = (px * dx + py * dy) / length;
            let beside = (px * dy - py * dx).abs() / length;
            along > 0.0 && along < length && beside < layout.radius
        });
    let round = if crosses {
        (0.1 * length).max(2.6 * layout.radius)
    } else {
        0.0
    };
    round + parallel * 1.4 * layout.radius
}

/// From rim to rim, a straight line or an arc.
fn line(from: Point, to: Point, bend: f64, radius: f64) -> String {
    if from == to {
        // A cable from a router to itself.
        let (x, y) = from;
        let r = radius * 2.5;
        return format!(
            "M{x:.1} {y:.1}C{:.1} {:.1} {:.1} {:.1} {x:.1} {y:.1}",
            x - r,
            y - r,
            x + r,
            y - r
        );
    }
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1.0);
    let middle = (
        (from.0 + to.0) / 2.0 + dy / length * bend * 2.0,
        (from.1 + to.1) / 2.0 - dx / length * bend * 2.0,
    );
    let rim = |p: Point| {
        let (x, y) = (middle.0 - p.0, middle.1 - p.1);
        let far = x.hypot(y).max(1.0);
        (p.0 + x / far * radius, p.1 + y / far * radius)
    };
    let (a, b) = (rim(from), rim(to));
    if bend == 0.0 {
        format!("M{:.1} {:.1}L{:.1} {:.1}", a.0, a.1, b.0, b.1)
    } else {
        format!(
            "M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}",
            a.0, a.1, middle.0, middle.1, b.0, b.1
        )
    }
}

fn routers(out: &mut String, machine: &Machine, layout: &Layout) -> core::fmt::Result {
    let r = layout.radius;
    for (router, &(x, y)) in (0..machine.topology.routers()).zip(&layout.routers) {
        let ports = machine.topology.ports(router);
        let generators = ports.iter().filter_map(|port| match port {
            Port::Generator(generator) => Some(*generator),
            _ => None,
        });
        // Boards: squares that hang on the circle, from the lower right round.
        for (k, generator) in generators.enumerate() {
            let turn = 0.6 + 0.75 * k as f64;
            let side = r * 0.62;
            let (bx, by) = (x + r * 1.12 * turn.cos(), y + r * 1.12 * turn.sin());
            writeln!(
                out,
                r##"<rect x="{:.1}" y="{:.1}" width="{side:.1}" height="{side:.1}" fill="#f2b33d" stroke="#8a5a00" stroke-width="0.8"><title>generator {generator}</title></rect>"##,
                bx - side / 2.0,
                by - side / 2.0
            )?;
        }
        let fill = if machine.topology.has_generator(router) {
            "#eaf1fb"
        } else {
            "#e3e3e3"
        };
        writeln!(
            out,
            r##"<circle cx="{x:.1}" cy="{y:.1}" r="{r}" fill="{fill}" stroke="#27446e" stroke-width="1.2"/><text x="{x:.1}" y="{:.1}" font-size="{:.1}" text-anchor="middle">{router}</text>"##,
            y + r * 0.32,
            r * 0.9
        )?;
    }
    Ok(())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
