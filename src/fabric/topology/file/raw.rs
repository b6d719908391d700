//! What the text says, before anything is judged, and what may be wrong with it.

use std::boxed::Box;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use core::fmt;
use core::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::MethodName;
use crate::fabric::topology::{Cable, Medium};

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    pub(super) shape: Option<Spanned<String>>,
    pub(super) lengths: Option<Spanned<Vec<usize>>>,
    pub(super) dimensions: Option<Spanned<usize>>,
    pub(super) boards: Option<Spanned<usize>>,
    pub(super) children: Option<Spanned<usize>>,
    pub(super) levels: Option<Spanned<usize>>,
    pub(super) arity: Option<Spanned<usize>>,
    pub(super) generators: Option<Spanned<usize>>,
    pub(super) length_m: Option<Spanned<f64>>,
    pub(super) medium: Option<Spanned<RawMedium>>,
    pub(super) routers: Option<Spanned<usize>>,
    #[serde(default)]
    pub(super) generator: Vec<Spanned<RawGenerator>>,
    #[serde(default)]
    pub(super) cable: Vec<Spanned<RawCable>>,
    #[serde(default)]
    pub(super) method: MethodName,
    #[serde(default)]
    pub(super) adaptive: bool,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RawMedium {
    Coax,
    Fibre,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawGenerator {
    pub(super) router: Spanned<u64>,
    #[serde(default)]
    pub(super) port: Option<Spanned<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCable {
    pub(super) from: Spanned<[u64; 2]>,
    pub(super) to: Spanned<[u64; 2]>,
    pub(super) length_m: Option<Spanned<f64>>,
    pub(super) medium: Option<RawMedium>,
}

/// Something wrong at a place of the text.
pub(super) struct Wrong {
    pub(super) span: Option<Range<usize>>,
    pub(super) problem: String,
}

impl Wrong {
    pub(super) fn at<T>(place: &Spanned<T>, problem: impl fmt::Display) -> Box<Self> {
        Box::new(Self {
            span: Some(place.span()),
            problem: problem.to_string(),
        })
    }
}

pub(super) type Built<T> = Result<T, Box<Wrong>>;

/// A cable of this medium and length.
pub(super) fn of_kind(
    cable: Cable,
    medium: Option<RawMedium>,
    length_m: Option<&Spanned<f64>>,
) -> Built<Cable> {
    let medium = match medium {
        Some(RawMedium::Fibre) => Medium::Fibre,
        Some(RawMedium::Coax) | None => Medium::Coax,
    };
    let mut cable = cable.with_medium(medium);
    if let Some(length) = length_m {
        let metres = *length.as_ref();
        let most = f64::from(medium.max_mm()) / 1000.0;
        if !(0.0..=most).contains(&metres) {
            return Err(Wrong::at(
                length,
                format!("length_m = {metres}, this medium allows 0..={most} m"),
            ));
        }
        // In range, so it fits.
        cable = cable.with_length_mm((metres * 1000.0 + 0.5) as u32);
    }
    Ok(cable)
}
