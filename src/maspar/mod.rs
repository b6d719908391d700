//! The MasPar MP-1 and MP-2 global router.

mod chip;
mod config;
mod geometry;
mod mpl;
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
pub use geometry::{
    Bit, CLUSTER_PES, CLUSTERS, GROUPS, Geometry, MAX_BOARDS, MAX_CLUSTERS, MAX_PES, MachineSize,
    Numbering, NumberingError, Place, SizeError, WIRES,
};
pub use mpl::{LoopReport, MoveError, Timetable, Word};
pub use pattern::{Pattern, PatternError, SizeMismatch};
pub use random::Draws;
pub use router::{Connection, Router};
pub use set::PeSet;
pub use tick_router::{STAGES, Step, TickRouter, Wires};
pub use ticks::{Costs, Width};
