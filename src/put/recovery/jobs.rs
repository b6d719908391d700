//! The transfers in progress, in the order of their starts.

use heapless::Deque;

use super::error::{Failure, Outcome};

/// Where a transfer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Pending,
    Delivered,
    Failed { why: Failure, told: bool },
}

/// A transfer: messages `0..count`, of which `posted` were posted since the
/// last loss, the first one under the number `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) node: u16,
    pub(super) local: u32,
    pub(super) remote: u32,
    pub(super) length: u32,
    pub(super) notify: bool,
    pub(super) tag: u32,
    pub(super) count: u32,
    pub(super) posted: u32,
    pub(super) first: Option<u32>,
    pub(super) state: State,
}

impl Job {
    fn is_pending(&self) -> bool {
        self.state == State::Pending
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.is_pending() && self.posted < self.count
    }

    /// Where its bytes go, past the end exclusive.
    fn range(&self) -> (u64, u64) {
        let start = u64::from(self.remote);
        (start, start + u64::from(self.length))
    }

    fn overlaps(&self, other: &Self) -> bool {
        let ((a, a_end), (b, b_end)) = (self.range(), other.range());
        a < b_end && b < a_end
    }
}

/// At most `N` of them.
#[derive(Clone, Debug)]
pub(super) struct Jobs<const N: usize> {
    queue: Deque<Job, N>,
    /// Number of the oldest one in the queue, and of the next one.
    oldest: u64,
    next: u64,
}

impl<const N: usize> Jobs<N> {
    pub(super) const fn new() -> Self {
        Self {
            queue: Deque::new(),
            oldest: 0,
            next: 0,
        }
    }

    /// Takes in a transfer; its number, or none when there is no room.
    pub(super) fn push(&mut self, job: Job) -> Option<u64> {
        self.tidy(self.queue.is_full());
        self.queue.push_back(job).ok()?;
        let id = self.next;
        self.next += 1;
        Some(id)
    }

    /// Takes off what is done at the front; with `forget` also failures that
    /// were told.
    fn tidy(&mut self, forget: bool) {
        while let Some(job) = self.queue.front() {
            let done = match job.state {
                State::Pending => false,
                State::Delivered => true,
                State::Failed { told, .. } => told && forget,
            };
            if !done {
                break;
            }
            let _ = self.queue.pop_front();
            self.oldest += 1;
        }
    }

    /// Transfers in progress.
    pub(super) fn pending(&self) -> usize {
        self.queue.iter().filter(|job| job.is_pending()).count()
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn get(&self, index: usize) -> Option<&Job> {
        self.queue.iter().nth(index)
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Job> {
        self.queue.iter_mut().nth(index)
    }

    /// What became of transfer `id`; an error when there never was one.
    pub(super) fn outcome(&mut self, id: u64) -> Result<Option<Outcome>, ()> {
        if id >= self.next {
            return Err(());
        }
        let Some(index) = id.checked_sub(self.oldest) else {
            return Ok(Some(Outcome::Delivered));
        };
        let Some(job) = self.get_mut(index as usize) else {
            return Err(());
        };
        Ok(match &mut job.state {
            State::Pending => None,
            State::Delivered => Some(Outcome::Delivered),
            State::Failed { why, told } => {
                *told = true;
                Some(Outcome::Failed(*why))
            }
        })
    }

    /// The oldest failure that was not told.
    pub(super) fn failed(&mut self) -> Option<(u64, Failure)> {
        let oldest = self.oldest;
        (oldest..)
            .zip(self.queue.iter_mut())
            .find_map(|(id, job)| match &mut job.state {
                State::Failed { why, told } if !*told => {
                    *told = true;
                    Some((id, *why))
                }
                _ => None,
            })
    }

    fn of(&mut self, node: u16) -> impl Iterator<Item = &mut Job> {
        self.queue
            .iter_mut()
            .filter(move |job| job.node == node && job.is_pending())
    }

    /// Whether anything waits to be posted to `node`.
    pub(super) fn waits_for(&self, node: u16) -> bool {
        self.queue
            .iter()
            .any(|job| job.node == node && job.is_waiting())
    }

    /// Whether a transfer to `node` is in progress.
    pub(super) fn concerns(&self, node: u16) -> bool {
        self.queue
            .iter()
            .any(|job| job.node == node && job.state == State::Pending)
    }

    /// `node` has accepted all numbers before `number`: how many transfers that
    /// completes.
    pub(super) fn acknowledge(&mut self, node: u16, number: u32) -> u64 {
        let mut done = 0;
        for job in self.of(node) {
            if let Some(first) = job.first
                && job.posted == job.count
                && is_before(first.wrapping_add(job.count), number.wrapping_add(1))
            {
                job.state = State::Delivered;
                done += 1;
            }
        }
        self.tidy(false);
        done
    }

    /// `node` will get all from `number` on again.
    pub(super) fn rewind(&mut self, node: u16, number: u32) {
        for job in self.of(node) {
            let Some(first) = job.first else { continue };
            // Not by `is_before`: a transfer may be longer than half of all
            // numbers. What is beyond its messages comes before its first.
            let kept = number.wrapping_sub(first);
            let kept = if kept <= job.posted { kept } else { 0 };
            job.posted = kept;
            if kept == 0 {
                job.first = None;
            }
        }
    }

    /// Gives up the transfers to `node`, or to all; with `begun` only those of
    /// which something was posted. How many.
    pub(super) fn fail(&mut self, node: Option<u16>, begun: bool, why: Failure) -> u64 {
        let mut failed = 0;
        for job in self.queue.iter_mut().filter(|job| job.is_pending()) {
            let meant = node.is_none_or(|node| node == job.node);
            if meant && (job.first.is_some() || !begun) {
                job.state = State::Failed { why, told: false };
                failed += 1;
            }
        }
        failed
    }

    /// Whether the transfer at `index` must wait for an older one to the same
    /// place: the receiver checks the bytes in its memory.
    pub(super) fn must_wait(&self, index: usize) -> bool {
        let Some(job) = self.get(index) else {
            return true;
        };
        self.queue
            .iter()
            .take(index)
            .any(|older| older.is_pending() && older.node == job.node && older.overlaps(job))
    }
}

/// `a` comes before `b`, modulo 2^32.
pub(super) const fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(node: u16, remote: u32, length: u32, count: u32) -> Job {
        Job {
            node,
            local: 0x1000,
            remote,
            length,
            notify: true,
            tag: 0,
            count,
            posted: 0,
            first: None,
            state: State::Pending,
        }
    }

    fn posted(jobs: &mut Jobs<4>, index: usize, first: u32) {
        let job = jobs.get_mut(index).unwrap();
        job.first = Some(first);
        job.posted = job.count;
    }

    #[test]
    fn transfers_complete_when_all_their_numbers_are_accepted_across_the_wrap() {
        let mut jobs = Jobs::<4>::new();
        for _ in 0..2 {
            jobs.push(job(1, 0x2000, 30, 3)).unwrap();
        }
        posted(&mut jobs, 0, u32::MAX - 1);
        posted(&mut jobs, 1, 1);
        assert_eq!(jobs.acknowledge(1, 0), 0);
        assert_eq!(jobs.acknowledge(1, 1), 1);
        assert_eq!(jobs.outcome(0), Ok(Some(Outcome::Delivered)));
        assert_eq!(jobs.acknowledge(1, 3), 0);
        assert_eq!(jobs.acknowledge(1, 4), 1);
        assert_eq!(jobs.pending(), 0);
        assert_eq!(jobs.outcome(2), Err(()));
    }

    #[test]
    fn a_rewind_keeps_what_was_accepted() {
        let mut jobs = Jobs::<4>::new();
        for _ in 0..2 {
            jobs.push(job(1, 0x2000, 30, 3)).unwrap();
        }
        posted(&mut jobs, 0, 10);
        posted(&mut jobs, 1, 13);
        jobs.rewind(1, 12);
        let state = |jobs: &Jobs<4>, at| jobs.get(at).map(|job| (job.posted, job.first));
        assert_eq!(state(&jobs, 0), Some((2, Some(10))));
        assert_eq!(state(&jobs, 1), Some((0, None)));
    }

    #[test]
    fn a_rewind_keeps_more_than_half_of_all_numbers() {
        let mut jobs = Jobs::<4>::new();
        jobs.push(job(1, 1, u32::MAX - 1, u32::MAX - 1)).unwrap();
        posted(&mut jobs, 0, 10);
        jobs.get_mut(0).unwrap().posted = 0xC000_0000;
        jobs.rewind(1, 10 + 0xBFFF_FFF8);
        assert_eq!(jobs.get(0).map(|job| job.posted), Some(0xBFFF_FFF8));
        // A number from before the transfer keeps nothing of it.
        jobs.rewind(1, 9);
        let of = |job: &Job| (job.posted, job.first);
        assert_eq!(jobs.get(0).map(of), Some((0, None)));
    }

    #[test]
    fn a_failure_keeps_its_place_until_it_was_told_and_the_place_is_needed() {
        let mut jobs = Jobs::<2>::new();
        jobs.push(job(1, 0, 1, 1)).unwrap();
        jobs.push(job(2, 0, 1, 1)).unwrap();
        let why = Failure::Refused;
        assert_eq!(jobs.fail(Some(1), false, why), 1);
        assert_eq!(jobs.push(job(1, 0, 1, 1)), None);
        assert_eq!(jobs.failed(), Some((0, why)));
        assert_eq!(jobs.failed(), None);
        assert_eq!(jobs.outcome(0), Ok(Some(Outcome::Failed(why))));
        assert_eq!(jobs.push(job(1, 0, 1, 1)), Some(2));
    }

    #[test]
    fn a_transfer_waits_for_an_older_one_to_the_same_bytes_only() {
        let mut jobs = Jobs::<4>::new();
        for (node, remote) in [(1, 100), (1, 110), (2, 109), (1, 109)] {
            jobs.push(job(node, remote, 10, 1)).unwrap();
        }
        let waits: [bool; 4] = core::array::from_fn(|at| jobs.must_wait(at));
        assert_eq!(waits, [false, false, false, true]);
    }
}
