//! First fit: each PE into the first phase whose set still connects whole.

use super::demand::Demand;
use super::{NO_PHASE, Schedule, ScheduleError, Scheduler};
use crate::maspar::geometry::{MAX_CLUSTERS, MAX_PES};
use crate::maspar::pattern::Pattern;
use crate::maspar::random::Draws;
use crate::maspar::router::Router;

/// In which order PEs are placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Order {
    /// By the cycle of the hardware loop, then by id: reaches the bound for
    /// most structured patterns.
    #[default]
    Hardware,
    /// By id.
    Id,
    /// In random order, from a seed.
    Random(u64),
}

/// The first-fit scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FirstFit {
    /// In which order PEs are placed.
    pub order: Order,
}

impl FirstFit {
    /// First fit in that order.
    pub const fn new(order: Order) -> Self {
        Self { order }
    }
}

impl Scheduler for FirstFit {
    fn name(&self) -> &'static str {
        match self.order {
            Order::Hardware => "first fit, hardware order",
            Order::Id => "first fit, id order",
            Order::Random(_) => "first fit, random order",
        }
    }

    fn schedule(
        &mut self,
        router: &mut Router,
        pattern: &Pattern,
    ) -> Result<Schedule, ScheduleError> {
        let mut order = [0u16; MAX_PES];
        let mut len = 0;
        for (entry, id) in order.iter_mut().zip(pattern.enabled().iter()) {
            *entry = id;
            len += 1;
        }
        let order = order.get_mut(..len).unwrap_or_default();
        match self.order {
            Order::Hardware => {
                let table = router.timetable(pattern)?;
                order.sort_unstable_by_key(|&id| (table.when(id), id));
            }
            Order::Id => pattern.fits(router.size())?,
            Order::Random(seed) => {
                pattern.fits(router.size())?;
                Draws::new(seed).shuffle(order);
            }
        }
        let phase = place(router, pattern, order);
        let pes = router.size().pes();
        Schedule::checked(router, pattern, phase.get(..pes).unwrap_or(&phase))
    }
}

/// Who is where in 64 phases: bit `p` of each word is phase `p`.
struct Window {
    source: [u64; MAX_CLUSTERS],
    target: [u64; MAX_CLUSTERS],
    // Requests of each share, counted bit by bit: ones, twos; and full ones.
    ones: [u64; MAX_CLUSTERS],
    twos: [u64; MAX_CLUSTERS],
    full: [u64; MAX_CLUSTERS],
    capacity: u32,
}

impl Window {
    fn new(capacity: u32) -> Self {
        let free = [0; MAX_CLUSTERS];
        Self {
            source: free,
            target: free,
            ones: free,
            twos: free,
            full: free,
            capacity,
        }
    }

    /// Puts a request into the first phase that has room.
    fn place(&mut self, demand: Demand) -> Option<u16> {
        let (Some(source), Some(target), Some(full), Some(ones), Some(twos)) = (
            self.source.get_mut(demand.source as usize),
            self.target.get_mut(demand.target as usize),
            self.full.get_mut(demand.share as usize),
            self.ones.get_mut(demand.share as usize),
            self.twos.get_mut(demand.share as usize),
        ) else {
            return None;
        };
        let room = !(*source | *target | *full);
        if room == 0 {
            return None;
        }
        let bit = room & room.wrapping_neg();
        *source |= bit;
        *target |= bit;
        if self.capacity == 1 {
            *full |= bit;
        } else {
            let carry = *ones & bit;
            *ones ^= bit;
            *full |= *twos & carry;
            *twos ^= carry;
        }
        Some(bit.trailing_zeros() as u16)
    }
}

/// Places PEs in the order given, 64 phases at a time: who finds no room in
/// one window goes on to the next, in the same order.
fn place(router: &Router, pattern: &Pattern, order: &mut [u16]) -> [u16; MAX_PES] {
    let mut phase = [NO_PHASE; MAX_PES];
    let mut base = 0u16;
    let mut left = order.len();
    while left > 0 {
        let mut window = Window::new(Demand::share_capacity(router));
        let mut kept = 0;
        for i in 0..left {
            let Some(&id) = order.get(i) else { break };
            let Some(target) = pattern.target(id) else {
                continue;
            };
            match window.place(Demand::of(router, id, target)) {
                Some(p) => {
                    if let Some(entry) = phase.get_mut(id as usize) {
                        *entry = base + p;
                    }
                }
                None => {
                    if let Some(entry) = order.get_mut(kept) {
                        *entry = id;
                    }
                    kept += 1;
                }
            }
        }
        left = kept;
        base = base.saturating_add(64);
    }
    phase
}
