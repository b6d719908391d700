//! The MasPar MP-1 and MP-2 global router: conflict logic, ticks, schedules.
//!
//! 1,024 to 16,384 processing elements (PEs) share a circuit-switched router
//! of three stages. `ropen` tries to connect every PE that asks to the PE it
//! names; conflicts are resolved by position, stage by stage; who fails tries
//! again. This module opens the same paths as the published machine, cycle for
//! cycle, and finds schedules that need fewer.
//!
//! | | |
//! |---|---|
//! | [`Router`] | all chips at once, as request sets: `ropen`, `rfetch`, `gor1` and their ticks |
//! | [`Router::route`], [`Router::fetch`], [`Router::send`] | the loop `router[]` and the data it moves |
//! | [`TickRouter`] | the same machine chip by chip and tick by tick, to look at |
//! | [`RouterChip`], [`Personality`] | one chip: hyperbar or four crossbars |
//! | [`RouterConfig`] | every structural choice, and the models with a name |
//! | [`Pattern`], [`Named`], `Expr`, `parse_pairs` | who asks for whom |
//! | [`schedule`] | a phase for each PE, every phase one cycle |
//! | [`remote`] | remote write and read between PE memories |
//!
//! ```
//! use multipc::maspar::schedule::{Best, Bound, Scheduler};
//! use multipc::maspar::{Pattern, Router, RouterConfig};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut router = Router::new(&RouterConfig::MP1)?;
//! let pattern = Pattern::bit_reversal(router.size());
//! // The published profile: 70 cycles ...
//! assert_eq!(router.timetable(&pattern)?.cycles(), 70);
//! // ... and the optimum, where the published search stopped at 23.
//! let schedule = Box::new(Best::default()).schedule(&mut router, &pattern)?;
//! assert_eq!(schedule.phases(), 16);
//! assert_eq!(Bound::of(&router, &pattern)?.phases, 16);
//! # Ok(())
//! # }
//! ```
//!
//! Facts, choices and what the model misses: hw/doc/maspar.md.

mod chip;
mod config;
#[cfg(feature = "alloc")]
mod expr;
#[cfg(feature = "alloc")]
mod file;
mod geometry;
mod mpl;
mod named;
mod pattern;
mod random;
pub mod remote;
mod router;
pub mod schedule;
mod set;
mod tick_router;
mod ticks;

pub use chip::{Personality, RouterChip};
pub use config::{ConfigError, InputOrder, Pick, RouterConfig, Stage1, Wiring};
#[cfg(feature = "alloc")]
pub use expr::{Expr, ExprError, ExprPatternError, Trouble};
#[cfg(feature = "alloc")]
pub use file::{FileError, FileTrouble, parse_pairs};
pub use geometry::{
    Bit, CLUSTER_PES, CLUSTERS, GROUPS, Geometry, MAX_BOARDS, MAX_CLUSTERS, MAX_PES, MachineSize,
    Numbering, NumberingError, Place, SizeError, WIRES,
};
pub use mpl::{LoopReport, MoveError, Timetable, Word};
pub use named::{Named, NamedError};
pub use pattern::{Pattern, PatternError, SizeMismatch};
pub use random::Draws;
pub use router::{Connection, Router};
pub use set::PeSet;
pub use tick_router::{STAGES, Step, TickRouter, Wires};
pub use ticks::{Costs, Width};
