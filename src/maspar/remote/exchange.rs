//! Many transfers at once, by the loop or by a schedule.

use super::{Cost, Direction, Method, NOBODY, PeArray, RemoteError};
use crate::maspar::geometry::MAX_PES;
use crate::maspar::schedule::{NO_PHASE, Schedule};
use crate::maspar::set::PeSet;
use crate::remote::Transfer;

impl PeArray<'_> {
    /// Remote write, whole: every `(source, transfer)`, one for each source.
    /// Of several that write the same byte the last in time stays. Receivers
    /// are notified if asked for, and must [`poll`](crate::remote::RemoteWrite::poll) before
    /// those senders can be used again.
    ///
    /// # Errors
    /// [`RemoteError`], with nothing moved, for a PE, an address or a source
    /// that cannot be; [`RemoteError::NotInSchedule`] when the schedule does
    /// not serve a pair, after part of the words.
    pub fn write(
        &mut self,
        transfers: &[(u16, Transfer)],
        method: Method<'_>,
    ) -> Result<Cost, RemoteError> {
        self.exchange(Direction::Write, transfers, method)
    }

    /// Remote read, whole: each source gets `length` bytes of PE `node` at
    /// `remote` to its own address `local`. Nobody is notified.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn read(
        &mut self,
        transfers: &[(u16, Transfer)],
        method: Method<'_>,
    ) -> Result<Cost, RemoteError> {
        self.exchange(Direction::Read, transfers, method)
    }

    fn exchange(
        &mut self,
        direction: Direction,
        transfers: &[(u16, Transfer)],
        method: Method<'_>,
    ) -> Result<Cost, RemoteError> {
        // What was posted before is brought to its end first.
        while !self.active.is_empty() {
            self.cycle();
        }
        let before = self.cost;
        for (posted, &(source, mut transfer)) in transfers.iter().enumerate() {
            transfer.flags.notify_receiver &= direction == Direction::Write;
            if let Err(error) = self.post(source, transfer) {
                for (source, _) in transfers.iter().take(posted) {
                    self.drop_job(*source);
                }
                return Err(error);
            }
        }
        while !self.active.is_empty() {
            self.start_round();
            match method {
                Method::Loop => {
                    while self.router.pending() {
                        self.move_words(direction, self.router.config().costs.rest);
                    }
                }
                Method::Schedule(schedule) => {
                    if let Err(error) = self.round_by_schedule(direction, schedule) {
                        for (source, _) in transfers {
                            self.drop_job(*source);
                        }
                        return Err(error);
                    }
                }
            }
        }
        Ok(Cost {
            rounds: self.cost.rounds - before.rounds,
            cycles: self.cost.cycles - before.cycles,
            ticks: self.cost.ticks - before.ticks,
        })
    }

    fn drop_job(&mut self, source: u16) {
        self.active.remove(source);
        self.router.set_tflags(&PeSet::EMPTY);
        if let Some(slot) = self.slots.get_mut(source as usize)
            && slot.job.is_some_and(|job| !job.mail)
        {
            slot.job = None;
        }
    }

    fn round_by_schedule(
        &mut self,
        direction: Direction,
        schedule: &Schedule,
    ) -> Result<(), RemoteError> {
        // PEs of each phase that have words left, as lists through `next`.
        let mut first = [NOBODY; MAX_PES];
        let mut next = [NOBODY; MAX_PES];
        let mut used = 0;
        for pe in self.active.iter() {
            let phase = schedule
                .phase()
                .get(pe as usize)
                .copied()
                .unwrap_or(NO_PHASE);
            let (Some(head), Some(link)) =
                (first.get_mut(phase as usize), next.get_mut(pe as usize))
            else {
                return Err(RemoteError::NotInSchedule { pe });
            };
            *link = *head;
            *head = pe;
            used = used.max(usize::from(phase) + 1);
        }
        for head in first.iter().take(used).filter(|head| **head != NOBODY) {
            let mut flags = PeSet::EMPTY;
            let (mut pe, mut asked) = (*head, 0);
            while pe != NOBODY {
                flags.insert(pe);
                asked += 1;
                pe = next.get(pe as usize).copied().unwrap_or(NOBODY);
            }
            self.router.set_tflags(&flags);
            let served = self.move_words(direction, self.router.config().costs.phase);
            if served != asked {
                let left = flags.iter().find(|&pe| self.router.tflag(pe));
                return Err(RemoteError::NotInSchedule {
                    pe: left.unwrap_or(*head),
                });
            }
        }
        Ok(())
    }
}
