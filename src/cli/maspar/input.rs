//! Machine and pattern, as every subcommand takes them.

use std::boxed::Box;
use std::format;
use std::path::Path;
use std::string::String;

use clap::Args;

use super::{Failure, read_file};
use crate::maspar::{Expr, MachineSize, Named, Pattern, Router, RouterConfig, Width, parse_pairs};

/// The machine.
#[derive(Args, Clone, Debug)]
pub(super) struct Machine {
    /// PEs of the machine: 1024, 2048, 4096, 8192 or 16384.
    #[arg(long, default_value_t = 16_384)]
    pes: usize,
    /// Model of the router: mp1, mp2, no-reversal, board-by-board,
    /// stage3-descending or crossbars.
    #[arg(long, default_value = "mp1")]
    model: String,
}

impl Machine {
    pub(super) fn config(&self) -> Result<RouterConfig, Failure> {
        let size = MachineSize::from_pes(self.pes).map_err(Failure::usage)?;
        let preset = RouterConfig::PRESETS
            .iter()
            .find(|(name, _)| *name == self.model);
        let (_, config) = preset.ok_or_else(|| {
            let names = RouterConfig::PRESETS.map(|(name, _)| name).join(", ");
            Failure::Usage(format!(
                "no model is called '{}'; there are {names}",
                self.model
            ))
        })?;
        Ok(config.with_size(size))
    }

    pub(super) fn router(&self) -> Result<Box<Router>, Failure> {
        Ok(Box::new(
            Router::new(&self.config()?).map_err(Failure::usage)?,
        ))
    }
}

/// The pattern.
#[derive(Args, Clone, Debug)]
pub(super) struct PatternArgs {
    /// bit-reversal, shuffle, unshuffle, butterfly, transpose, shift:D,
    /// random:SEED, all-to:PE, ... (a wrong name lists all), file:PATH with a
    /// 'source,target' pair a line, or expr:EXPRESSION over id, x, y, n, such
    /// as 'expr:rev(id, bits)'.
    pattern: String,
    /// Only PEs for which this expression is not 0 take part.
    #[arg(long = "where", value_name = "EXPR")]
    only: Option<String>,
    /// Data bits of each transfer: 8, 16, 32 or 64.
    #[arg(long, default_value_t = 32)]
    width: u32,
}

impl PatternArgs {
    pub(super) fn name(&self) -> String {
        match &self.only {
            Some(only) => format!("{} where {only}", self.pattern),
            None => self.pattern.clone(),
        }
    }

    pub(super) fn width(&self) -> Result<Width, Failure> {
        Width::from_bits(self.width).ok_or_else(|| {
            Failure::Usage(format!(
                "width of {} bits is not 8, 16, 32 or 64",
                self.width
            ))
        })
    }

    pub(super) fn pattern(&self, size: MachineSize) -> Result<Box<Pattern>, Failure> {
        let compile = |text: &str| {
            Expr::parse(text)
                .map_err(|error| Failure::Usage(format!("expression '{text}', {error}")))
        };
        let only = self.only.as_deref().map(compile).transpose()?;
        if let Some(text) = self.pattern.strip_prefix("expr:") {
            let pattern = compile(text)?
                .pattern(size, only.as_ref())
                .map_err(Failure::usage)?;
            return Ok(Box::new(pattern));
        }
        let pattern = match self.pattern.strip_prefix("file:") {
            Some(path) => parse_pairs(size, &read_file(Path::new(path))?)
                .map_err(|error| Failure::Usage(format!("{path}, {error}")))?,
            None => self
                .pattern
                .parse::<Named>()
                .and_then(|named| named.pattern(size))
                .map_err(|error| Failure::Usage(format!("pattern '{}': {error}", self.pattern)))?,
        };
        let Some(only) = only else {
            return Ok(Box::new(pattern));
        };
        let mut failed = None;
        let pattern = pattern.only(|id| {
            only.eval(size, id).unwrap_or_else(|| {
                failed.get_or_insert(id);
                0
            }) != 0
        });
        match failed {
            Some(pe) => Err(Failure::Usage(format!(
                "--where: division by zero for PE {pe}"
            ))),
            None => Ok(Box::new(pattern)),
        }
    }
}
