//! What happened.

use crate::put::Fault;

/// Counters of a [`Reliable`](super::Reliable) since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct RecoveryStats {
    /// Transfers accepted from the user, delivered, failed.
    pub accepted: u64,
    /// Transfers that their receivers have accepted.
    pub delivered: u64,
    /// Transfers that were given up.
    pub failed: u64,
    /// Messages posted, those sent again included.
    pub posted: u64,
    /// Messages posted again.
    pub resent: u64,
    /// Messages accepted from other nodes.
    pub received: u64,
    /// Messages that were not the next of their sender.
    pub out_of_turn: u64,
    /// Messages whose bytes in memory were not those that were sent.
    pub bad_data: u64,
    /// Reports whose record was not there.
    pub bad_records: u64,
    /// Epochs started: questions put, repeated ones not counted.
    pub epochs: u64,
    /// Questions that nobody answered in time.
    pub unanswered: u64,
    /// Link errors that the board reported: EEP, header CRC, data CRC, EP,
    /// timeout.
    pub link_errors: [u64; 5],
    /// PCI errors that the board reported.
    pub pci_errors: u64,
    /// Polls with register or memory accesses that failed.
    pub port_errors: u64,
    /// Restarts of the board.
    pub restarts: u64,
    /// Times that no page left although some waited.
    pub stalls: u64,
}

impl RecoveryStats {
    pub(super) fn count(&mut self, fault: Fault) {
        let Fault::Reported { status, pci } = fault else {
            return;
        };
        for (count, bit) in self.link_errors.iter_mut().zip([23, 22, 21, 20, 19]) {
            *count += u64::from(status >> bit & 1);
        }
        self.pci_errors += u64::from(pci != 0);
    }
}
