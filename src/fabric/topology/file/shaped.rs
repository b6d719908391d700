//! A shape by its name and its numbers.

use std::borrow::ToOwned;
use std::boxed::Box;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use toml::Spanned;

use super::raw::{Built, Raw, Wrong, of_kind};
use crate::fabric::topology::{Shape, Topology, TopologyBuilder, TopologyError};

/// A machine by its shape.
pub(super) fn shaped(
    raw: &Raw,
    name: &Spanned<String>,
) -> Built<(Topology<'static>, Option<Shape>)> {
    let foreign = raw.routers.as_ref().map(|n| (n.span(), "routers"));
    let foreign = foreign.or_else(|| raw.generator.first().map(|g| (g.span(), "[[generator]]")));
    let foreign = foreign.or_else(|| raw.cable.first().map(|c| (c.span(), "[[cable]]")));
    if let Some((span, thing)) = foreign {
        return Err(Box::new(Wrong {
            span: Some(span),
            problem: format!(
                "{thing} beside shape = \"{}\", one or the other",
                name.as_ref()
            ),
        }));
    }
    let wanted: &[&str] = match name.as_ref().as_str() {
        "line" | "ring" | "mesh" | "torus" => &["lengths"],
        "hypercube" => &["dimensions"],
        "tree" => &["boards", "children"],
        "fat-tree" => &["levels", "arity"],
        "star" => &["generators"],
        _ => &[],
    };
    let single = |value: &Option<Spanned<usize>>| {
        let value = value.as_ref()?;
        Some((value.span(), [*value.as_ref()].to_vec()))
    };
    let lengths = raw.lengths.as_ref();
    let given = [
        ("lengths", lengths.map(|l| (l.span(), l.as_ref().clone()))),
        ("dimensions", single(&raw.dimensions)),
        ("boards", single(&raw.boards)),
        ("children", single(&raw.children)),
        ("levels", single(&raw.levels)),
        ("arity", single(&raw.arity)),
        ("generators", single(&raw.generators)),
    ];
    let mut numbers = Vec::new();
    let (mut first, mut missing) = (None, None);
    for (key, value) in given {
        match value {
            Some((span, _)) if !wanted.contains(&key) => {
                return Err(Box::new(Wrong {
                    span: Some(span),
                    problem: not_wanted(key, name.as_ref(), wanted),
                }));
            }
            Some((span, value)) => {
                numbers.extend(value);
                first.get_or_insert(span);
            }
            // `arity` alone has a default. Without this check the other numbers
            // would move up into the place of the missing one.
            None if wanted.contains(&key) && key != "arity" => {
                missing.get_or_insert(key);
            }
            None => {}
        }
    }
    if let Some(key) = missing {
        let problem = format!("{key} is missing beside shape = \"{}\"", name.as_ref());
        return Err(Wrong::at(name, problem));
    }
    let shape = Shape::new(name.as_ref(), &numbers).map_err(|error| {
        Box::new(Wrong {
            span: Some(first.clone().unwrap_or_else(|| name.span())),
            problem: error.to_string(),
        })
    })?;
    let span = first.unwrap_or_else(|| name.span());
    let failed = |error: TopologyError| {
        Box::new(Wrong {
            span: Some(span.clone()),
            problem: error.to_string(),
        })
    };
    let topology = shape.build().map_err(failed)?;
    // The same machine with other cables.
    if raw.length_m.is_none() && raw.medium.is_none() {
        return Ok((topology, Some(shape)));
    }
    let mut builder = TopologyBuilder::new();
    for _ in 0..topology.routers() {
        builder.router();
    }
    for &at in topology.generators() {
        builder.generator(at);
    }
    for &cable in topology.cables() {
        builder.cable(of_kind(
            cable,
            raw.medium.as_ref().map(|medium| *medium.as_ref()),
            raw.length_m.as_ref(),
        )?);
    }
    let topology = builder.build().map_err(|error| match &raw.length_m {
        Some(length) => Wrong::at(length, error),
        None => failed(error),
    })?;
    Ok((topology, Some(shape)))
}

fn not_wanted(key: &str, shape: &str, wanted: &[&str]) -> String {
    let wanted = if wanted.is_empty() {
        "nothing".to_owned()
    } else {
        wanted.join(" and ")
    };
    format!("{key} beside shape = \"{shape}\", which wants {wanted}")
}
