//! Acknowledging: what is taken off the two counters of STATUS, and what was
//! acknowledged ahead of its entries.

use super::config::Acknowledge;
use super::driver::{Hardware, Put};
use super::error::PortErrorOf;
use super::start::{read, write};
use crate::ddc::registers::Status;

/// Which of the two counters of STATUS.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Transmitted,
    Received,
}

/// Pages sent that software has not acknowledged.
pub(super) const PAGE_TRANSMITTED: u32 = 1 << 31;
/// Reports with NOR that software has not acknowledged.
pub(super) const PAGE_RECEIVED: u32 = 1 << 30;

impl Side {
    /// Acknowledge bits and what each takes off the counter, largest first.
    const fn weights(self) -> [(u32, u16); 4] {
        match self {
            Self::Transmitted => [
                (1 << 29, 4096),
                (1 << 28, 256),
                (1 << 27, 16),
                (PAGE_TRANSMITTED, 1),
            ],
            Self::Received => [
                (1 << 26, 4096),
                (1 << 25, 256),
                (1 << 24, 16),
                (PAGE_RECEIVED, 1),
            ],
        }
    }
}

impl Put {
    /// Takes one off the counter of a side; false when it stands at 0.
    pub(super) fn acknowledge<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        side: Side,
    ) -> Result<bool, PortErrorOf<H>> {
        let credit = self.credit.get(side as usize).copied().unwrap_or(0);
        let left = if credit > 0 {
            credit - 1
        } else {
            let status = read(hw, Status::OFFSET)?;
            let weights = side.weights();
            let usable = match self.settings.acknowledge {
                Acknowledge::Single => weights.get(3..),
                Acknowledge::Weighted => weights.get(..),
            };
            let Some((bit, weight)) = usable
                .unwrap_or(&[])
                .iter()
                .find(|(bit, _)| status & bit != 0)
            else {
                return Ok(false);
            };
            write(hw, Status::OFFSET, *bit)?;
            if let Some(count) = self.stats.acknowledged.get_mut(side as usize) {
                *count += u64::from(*weight);
            }
            weight - 1
        };
        if let Some(credit) = self.credit.get_mut(side as usize) {
            *credit = left;
        }
        Ok(true)
    }

    /// An acknowledgement whose entry could not be taken stays good for it.
    pub(super) fn take_back(&mut self, side: Side, acknowledged: bool) {
        if acknowledged && let Some(credit) = self.credit.get_mut(side as usize) {
            *credit = credit.saturating_add(1);
        }
    }
}
