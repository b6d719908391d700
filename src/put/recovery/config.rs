//! Choices of a [`Reliable`](super::Reliable), and where its records lie.

use super::error::SetupError;
use super::record::STRIDE;
use crate::time::Duration;

/// Message identifiers that the layer takes: 23 bits. Bit 23 stays free: it
/// marks the emulated short messages of the first run.
pub(super) const RANGE: u32 = 1 << 23;
/// Nodes that a message identifier can name: 7 bits.
pub(super) const NODES: u16 = 128;
/// Bits of a number that travel in the message identifier.
pub(super) const NUMBER_BITS: u32 = 14;
/// Messages to one node that can be without acknowledgement.
const MAX_WINDOW: u16 = 64;
/// Slots behind those of the messages: query, state.
const OTHERS: u32 = 2;

/// Choices of a [`Reliable`](super::Reliable). `control_at`, `window` and
/// `segment` must be the same on all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct RecoveryConfig {
    /// Physical address of the records, [`control_bytes`](Self::control_bytes)
    /// of DMA memory: a multiple of 4, not 0.
    pub control_at: u32,
    /// Messages to one node without acknowledgement, a power of 2 in 1..=64. Chosen: 8, which
    /// covers the round trip of an acknowledgement with messages of 1 KiB.
    pub window: u16,
    /// Bytes of a message, 1..=65,535; longer transfers take several. Chosen:
    /// 16,384, so that the record costs under 1 % and other senders get their
    /// turn.
    pub segment: u32,
    /// Time without progress after which the receiver is asked. Chosen: 1 ms,
    /// six times the start-up of a link. It doubles with each question that
    /// nobody answers, up to 32 times.
    pub timeout: Duration,
    /// Questions without answer before the transfers to a node are given up.
    /// Chosen: 10, with the doubling 200 ms in all.
    pub attempts: u8,
    /// Questions without answer before the own board is restarted, at most
    /// once before the node is given up, and more rarely after it was, unless
    /// nobody is heard at all: what brings back credits that a link lost.
    /// Chosen: 5. With more than `attempts` the board never is.
    pub restart_after: u8,
    /// Time in which no page leaves although some wait, after which the board
    /// is restarted. Chosen: 20 ms, the time of 1 MiB in front of ours.
    pub stall: Duration,
    /// Silence after which a node is asked although nothing is to be sent, so
    /// that a stuck cable is found by those who sit at its ends. Chosen: 100 ms.
    /// None: never.
    pub heartbeat: Option<Duration>,
    /// Time from the restart of the board until it is used. Chosen: 1 s, as the
    /// driver of the record waits after a start.
    pub settle: Duration,
    /// Polls in a row whose register or memory accesses fail, before the board
    /// is restarted. Chosen: 16.
    pub port_errors: u8,
    /// Restarts in a row that fail before the board is given up. Chosen: 8.
    pub restarts: u8,
    /// Ring entries taken back, reports taken, and messages posted a poll, each.
    pub budget: u16,
}

impl Default for RecoveryConfig {
    fn default() -> Self {
        Self {
            control_at: 0x10_0000,
            window: 8,
            segment: 16_384,
            timeout: Duration::from_us(1_000),
            attempts: 10,
            restart_after: 5,
            stall: Duration::from_us(20_000),
            heartbeat: Some(Duration::from_us(100_000)),
            settle: Duration::from_us(1_000_000),
            port_errors: 16,
            restarts: 8,
            budget: 64,
        }
    }
}

impl RecoveryConfig {
    /// The defaults, with the records at `control_at`.
    pub fn new(control_at: u32) -> Self {
        Self {
            control_at,
            ..Self::default()
        }
    }

    /// Bytes of the records of a machine of `nodes`.
    pub const fn control_bytes(&self, nodes: u16) -> u64 {
        2 * nodes as u64 * self.per_node() as u64
    }

    /// Bytes of one direction of one pair.
    const fn per_node(&self) -> u32 {
        (self.window as u32 + OTHERS) * STRIDE
    }

    pub(super) fn check(&self, nodes: u16, peers: usize) -> Result<(), SetupError> {
        let limit = usize::from(NODES).min(peers);
        if usize::from(nodes) > limit {
            return Err(SetupError::TooManyNodes { nodes, limit });
        }
        let ranges = [
            (
                "window (a power of 2)",
                self.window.into(),
                1,
                MAX_WINDOW.into(),
            ),
            ("segment", self.segment, 1, crate::put::MAX_PAGE),
            ("budget", self.budget.into(), 1, u16::MAX.into()),
            ("attempts", self.attempts.into(), 1, u8::MAX.into()),
        ];
        for (what, value, least, most) in ranges {
            let uneven = what.starts_with("window") && !value.is_power_of_two();
            if !(least..=most).contains(&value) || uneven {
                return Err(SetupError::Setting {
                    what,
                    value,
                    least,
                    most,
                });
            }
        }
        let (address, length) = (self.control_at, self.control_bytes(nodes));
        if address == 0 || address % 4 != 0 || u64::from(address) + length > 1 << 32 {
            return Err(SetupError::Control { address, length });
        }
        Ok(())
    }

    /// The slot of the message whose identifier carries `bits`; the last two
    /// slots are those of query and state.
    pub(super) const fn slot_of_bits(&self, bits: u32) -> u32 {
        // A power of 2, so that slots follow each other when the bits wrap.
        bits & (self.window as u32).saturating_sub(1)
    }

    pub(super) const fn query_slot(&self) -> u32 {
        self.window as u32
    }

    pub(super) const fn state_slot(&self) -> u32 {
        self.window as u32 + 1
    }

    /// Where records from `sender` arrive at any node.
    pub(super) const fn incoming(&self, sender: u16, slot: u32) -> u32 {
        let offset = sender as u32 * self.per_node() + slot * STRIDE;
        self.control_at.wrapping_add(offset)
    }

    /// Where records to `node` leave from.
    pub(super) const fn outgoing(&self, nodes: u16, node: u16, slot: u32) -> u32 {
        self.incoming(nodes, 0)
            .wrapping_add(node as u32 * self.per_node() + slot * STRIDE)
    }

    /// How long the answer to question `attempt` is waited for.
    /// From the last sign of life of a node to its end, when nothing is to be sent to
    /// it: the silence and all questions. None without heartbeat.
    pub fn silence_limit(&self) -> Option<Duration> {
        let questions = (0..self.attempts).map(|attempt| self.patience(attempt).ps());
        let questions = questions.fold(0, u64::saturating_add);
        let silence = self.heartbeat?.ps().saturating_add(questions);
        // Restarts of the own board on the way.
        let restart = self.settle.ps().saturating_mul(2);
        Some(Duration::from_ps(silence.saturating_add(restart)))
    }

    pub(super) const fn patience(&self, attempt: u8) -> Duration {
        let doublings = if attempt < 5 { attempt } else { 5 };
        Duration::from_ps(self.timeout.ps().saturating_mul(1 << doublings))
    }
}
