//! Every router, generator and cable by itself.

use std::borrow::ToOwned;
use std::boxed::Box;
use std::format;
use std::string::ToString;

use core::ops::Range;

use toml::Spanned;

use super::raw::{Built, Raw, RawGenerator, Wrong, of_kind};
use crate::fabric::topology::{
    Cable, PORTS, Plug, PortId, Topology, TopologyBuilder, TopologyError,
};

/// A machine plug by plug.
pub(super) fn plugged(raw: &Raw) -> Built<Topology<'static>> {
    let numbers = [
        &raw.dimensions,
        &raw.boards,
        &raw.children,
        &raw.levels,
        &raw.arity,
        &raw.generators,
    ];
    if let Some(number) = numbers.into_iter().flatten().next() {
        return Err(Wrong::at(
            number,
            "a number of a shape without shape = \"...\"",
        ));
    }
    if let Some(lengths) = &raw.lengths {
        return Err(Wrong::at(lengths, "lengths without shape = \"...\""));
    }
    let Some(routers) = &raw.routers else {
        return Err(Box::new(Wrong {
            span: None,
            problem: "neither shape = \"...\" nor routers = N".to_owned(),
        }));
    };
    let count = *routers.as_ref();
    if count == 0 || count > Topology::MAX {
        let most = Topology::MAX;
        return Err(Wrong::at(
            routers,
            format!("routers = {count}, must be 1..={most}"),
        ));
    }
    let mut builder = TopologyBuilder::new();
    for _ in 0..count {
        builder.router();
    }
    for plug in &raw.generator {
        let RawGenerator { router, port } = plug.as_ref();
        let port = match port {
            Some(port) => within(port, *port.as_ref(), "port", PORTS.into())?,
            None => 0,
        };
        let router = within(router, *router.as_ref(), "router", count as u64)?;
        builder.generator(PortId::new(router, port as u8));
    }
    for plug in &raw.cable {
        let cable = plug.as_ref();
        let end = |place: &Spanned<[u64; 2]>| -> Built<PortId> {
            let [router, port] = *place.as_ref();
            let router = within(place, router, "router", count as u64)?;
            let port = within(place, port, "port", PORTS.into())?;
            Ok(PortId::new(router, port as u8))
        };
        let laid = Cable::new(end(&cable.from)?, end(&cable.to)?);
        let length = cable.length_m.as_ref().or(raw.length_m.as_ref());
        let medium = cable
            .medium
            .or(raw.medium.as_ref().map(|medium| *medium.as_ref()));
        builder.cable(of_kind(laid, medium, length)?);
    }
    builder.build().map_err(|error| {
        Box::new(Wrong {
            span: span_of(raw, &error),
            problem: error.to_string(),
        })
    })
}

fn within<T>(place: &Spanned<T>, value: u64, what: &str, count: u64) -> Built<u16> {
    u16::try_from(value)
        .ok()
        .filter(|_| value < count)
        .ok_or_else(|| Wrong::at(place, format!("{what} {value}, must be 0..={}", count - 1)))
}

/// The plug that an error is about.
fn span_of(raw: &Raw, error: &TopologyError) -> Option<Range<usize>> {
    let cable = |i: u16| raw.cable.get(usize::from(i)).map(Spanned::span);
    match *error {
        TopologyError::PortTaken { plug, .. }
        | TopologyError::UnknownPort { plug, .. }
        | TopologyError::UnknownRouter { plug, .. } => match plug {
            Plug::Generator(i) => raw.generator.get(usize::from(i)).map(Spanned::span),
            Plug::Cable(i) => cable(i),
        },
        TopologyError::CableToItself { cable: i, .. }
        | TopologyError::CableTooLong { cable: i, .. } => cable(i),
        _ => raw.routers.as_ref().map(Spanned::span),
    }
}
