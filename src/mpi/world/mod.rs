//! Programs on a simulated machine: an `async fn` for each rank.
//!
//! A [`World`] joins a machine ([`media`]), an engine for each rank
//! ([`Endpoint`](super::endpoint::Endpoint)) and the programs. It is a
//! simulation by events: the rank or the hardware whose time is next acts, in
//! the order of the ranks where times are equal, so that a run repeats exactly.
//! What time means here: hw/doc/mpi-world.md.
//!
//! A program touches the machine only through its [`Process`], and time passes
//! only in what it awaits.

mod calls;
mod config;
mod cpu;
mod error;
mod executor;
mod handle;
mod heap;
mod launch;
mod loss;
mod mailbox;
pub mod media;
mod port;
mod recorder;
mod site;

pub use config::{Placement, WorldConfig};
pub use error::{Stuck, WorldError};
pub use executor::Outcome;
pub use handle::Process;
pub use launch::{BoardsError, ReliableBoardsError};
pub use port::Token;

use alloc::vec::Vec;
use core::fmt;

use cpu::Cpu;
use media::Medium;
use site::Site;

/// A machine with a process's engine for every rank.
pub struct World<M: Medium> {
    config: WorldConfig,
    site: Site<M>,
    cpus: Vec<Cpu<M::Token>>,
}

impl<M: Medium> fmt::Debug for World<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("config", &self.config)
            .field("cpus", &self.cpus)
            .finish_non_exhaustive()
    }
}

impl<M: Medium> World<M> {
    /// The choices.
    pub fn config(&self) -> &WorldConfig {
        &self.config
    }

    /// The machine.
    pub fn medium(&self) -> &M {
        &self.site.medium
    }

    /// The machine, to disturb it between runs.
    pub fn medium_mut(&mut self) -> &mut M {
        &mut self.site.medium
    }

    /// Gives the machine back.
    pub fn into_medium(self) -> M {
        self.site.medium
    }

    /// The engine of a rank, to look at.
    pub fn endpoint(
        &self,
        rank: u32,
    ) -> Option<&super::endpoint::Endpoint<'static, Token<M::Token>>> {
        self.cpus.get(rank as usize).map(|cpu| &cpu.engine)
    }
}
