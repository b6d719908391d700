//! The board under the layer: stalls, restarts.
//!
//! ```text
//!          stopped by the policy, stall, accesses fail,
//!          questions in vain
//!  RUNNING ------------------------------------------> DOWN <--+ start failed
//!     ^                                                 | |    |
//!     |  settled                      started           | +----+
//!     +------------------- SETTLING <-------------------+
//!                                                       +--> LOST, after too many
//! ```

use super::error::Failure;
use super::peer::Peer;
use super::{Error, Reliable};
use crate::put::config::PutConfig;
use crate::put::driver::{Hardware, Phase};
use crate::put::error::PortErrorOf;
use crate::put::event::Fault;
use crate::time::{Duration, Instant};

/// Where the board stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Board {
    Running,
    /// To be restarted, not before this time.
    Down {
        until: Instant,
    },
    /// Restarted; used from this time on.
    Settling {
        until: Instant,
    },
    Lost,
}

/// Between two restarts that fail. Chosen: the start-up of a link, 170 us,
/// and some more.
const AGAIN: Duration = Duration::from_us(250);

impl<const PEERS: usize, const JOBS: usize, const EVENTS: usize> Reliable<PEERS, JOBS, EVENTS> {
    /// Moves the board on; whether it can be used now.
    pub(super) fn board_is_up<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
    ) -> Result<bool, Error<PortErrorOf<H>>> {
        match self.board {
            Board::Running => match self.put.phase() {
                Phase::Running if !self.restart => return Ok(true),
                phase @ (Phase::Closed | Phase::Starting) => {
                    return Err(Error::NotOpen { phase });
                }
                Phase::Running | Phase::Stopped(_) => self.restart_board(hw),
            },
            Board::Down { until } if self.now >= until => self.restart_board(hw),
            Board::Settling { until } if self.now >= until => {
                if self.put.settled(hw).is_ok() {
                    self.board = Board::Running;
                    self.failed_restarts = 0;
                    self.moved = self.now;
                    self.retired = self.put.retired().0;
                    return Ok(true);
                }
                self.restart_failed();
            }
            Board::Down { .. } | Board::Settling { .. } => {}
            Board::Lost => {
                return Err(Error::BoardLost {
                    restarts: self.failed_restarts,
                });
            }
        }
        Ok(false)
    }

    /// Soft reset and start: rings, pointers, router and its links are new.
    fn restart_board<H: Hardware + ?Sized>(&mut self, hw: &mut H) {
        self.restart = false;
        self.heard = false;
        self.port_errors = 0;
        self.stats.restarts += 1;
        // The next start resets the chip; until then nothing must be written.
        if self.put.phase() == Phase::Running {
            let _ = self
                .put
                .emergency_stop(hw, Fault::InterruptLoop { status: 0 });
        }
        // Identifiers stay with their users.
        let saps = self.put.saps;
        self.put.end();
        let settings = PutConfig {
            table: self.table.as_ref().map(|table| table.as_slice()),
            ..self.settings
        };
        match self.put.begin(hw, &settings) {
            Ok(started) if started.hsl => {
                self.put.saps = saps;
                self.board = Board::Settling {
                    until: self.now + self.config.settle,
                };
                let now = self.now;
                for peer in &mut self.peers {
                    peer.restart(now);
                }
            }
            _ => {
                self.put.saps = saps;
                self.restart_failed();
            }
        }
    }

    fn restart_failed(&mut self) {
        self.failed_restarts = self.failed_restarts.saturating_add(1);
        if self.failed_restarts >= self.config.restarts {
            self.board = Board::Lost;
            self.stats.failed += self.jobs.fail(None, false, Failure::BoardLost);
        } else {
            self.board = Board::Down {
                until: self.now + AGAIN,
            };
        }
    }

    /// Whether pages leave while some wait.
    pub(super) fn watch_ring(&mut self) {
        let retired = self.put.retired().0;
        if retired != self.retired || self.put.ring.outstanding() == 0 {
            self.retired = retired;
            self.moved = self.now;
        } else if self.now - self.moved >= self.config.stall {
            self.stats.stalls += 1;
            self.moved = self.now;
            self.restart = true;
            self.suspect();
        }
    }

    /// The node whose entry is the oldest that has not left is the likely
    /// cause: the stall counts as a question in vain, and when the ring goes on
    /// the others have their turn before it.
    fn suspect(&mut self) {
        let retired = self.put.retired();
        let oldest = |peer: &Peer| {
            let posted = [peer.query, peer.state, peer.data];
            let waiting = posted.into_iter().flatten();
            waiting.filter(|entry| retired <= *entry).min()
        };
        let waiting = self.peers.iter().zip(0u16..);
        let waiting = waiting.filter_map(|(peer, node)| Some((oldest(peer)?, node)));
        let Some((_, node)) = waiting.min() else {
            return;
        };
        self.cursor = node.wrapping_add(1);
        let now = self.now;
        let Some(mut peer) = self.peers.get(usize::from(node)).copied() else {
            return;
        };
        self.stats.epochs += u64::from(peer.ask(now));
        self.in_vain(&mut peer, node);
        if let Some(slot) = self.peers.get_mut(usize::from(node)) {
            *slot = peer;
        }
    }

    /// Counts polls with accesses that failed.
    pub(super) fn judge_port(&mut self, good: bool) {
        if good {
            self.port_errors = 0;
            return;
        }
        self.stats.port_errors += 1;
        self.port_errors = self.port_errors.saturating_add(1);
        if self.port_errors >= self.config.port_errors {
            self.restart = true;
        }
    }
}
