//! Tables for routers that no controller configures.

use core::fmt;

use super::machine::Machine;
use super::node::NOWHERE;
use super::probe::Probe;
use crate::rcube::RoutingTable;

/// Why a table was not loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum LoadTableError {
    /// No router of this number.
    UnknownRouter {
        /// The offending number.
        router: u16,
        /// Routers of the machine.
        routers: usize,
    },
    /// The configuration chain of this router belongs to a node: its driver
    /// loads the table.
    Owned {
        /// The router.
        router: u16,
        /// The node.
        node: u16,
    },
    /// The router is out of reset, and reads its chain when it leaves reset.
    Running {
        /// The router.
        router: u16,
    },
}

impl fmt::Display for LoadTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::UnknownRouter { router, routers } => write!(
                f,
                "router {router} is not one of the machine's {routers} (0..{routers})"
            ),
            Self::Owned { router, node } => write!(
                f,
                "router {router} is configured by node {node}, only routers without a board take a table"
            ),
            Self::Running { router } => write!(
                f,
                "router {router} is out of reset, a table is taken in reset only"
            ),
        }
    }
}

impl core::error::Error for LoadTableError {}

impl<P: Probe> Machine<'_, P> {
    /// Shifts a table into a router without a board and lets it out of reset,
    /// as a service processor on its configuration chain would. Takes no time.
    /// Chosen: on record a router is configured by the controller on its board
    /// only; a fat tree has routers without.
    ///
    /// # Errors
    /// [`LoadTableError`].
    pub fn load_table(&mut self, router: u16, table: &RoutingTable) -> Result<(), LoadTableError> {
        let routers = self.routers.len();
        let Some(slot) = self.routers.get_mut(usize::from(router)) else {
            return Err(LoadTableError::UnknownRouter { router, routers });
        };
        if slot.owner != NOWHERE {
            return Err(LoadTableError::Owned {
                router,
                node: slot.owner,
            });
        }
        if slot.chip.is_running() {
            return Err(LoadTableError::Running { router });
        }
        let cycle = self.link_cycle();
        let Some(slot) = self.routers.get_mut(usize::from(router)) else {
            return Err(LoadTableError::UnknownRouter { router, routers });
        };
        slot.catch_up(cycle);
        slot.chip.configure(table);
        slot.r3_init = true;
        self.wake_all();
        Ok(())
    }
}
