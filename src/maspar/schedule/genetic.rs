//! The published genetic search, for comparison with the direct methods.
//!
//! A schedule is a grouping of PEs into phases. Running each phase in the
//! hardware loop *explodes* it into sets that connect in one cycle, kept as
//! *tuples* (PEs, set) and *sorted*, largest first; their number is what
//! counts. A child takes the tuples of two parents, largest first, each
//! without the PEs it has already (*crossover*), then merges its small sets
//! into random phases and runs those. A mutant merges some sets of one
//! schedule. The survivors of each generation are its shortest schedules.
//!
//! The record gives the population, the generations and the evaluations (512
//! and 256 new ones in each of 439 generations) and the steps by name, not the
//! merge nor the division into children and mutants: those are chosen.

use alloc::vec::Vec;

use super::{NO_PHASE, Schedule, ScheduleError, Scheduler};
use crate::maspar::geometry::{MAX_CLUSTERS, MAX_PES};
use crate::maspar::pattern::Pattern;
use crate::maspar::random::Draws;
use crate::maspar::router::Router;

/// Parameters of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct GeneticConfig {
    /// Schedules of a generation. Default 512 (record).
    pub population: usize,
    /// Generations, the first random one included. Default 440 (record).
    pub generations: u32,
    /// Children of two survivors in each later generation. Default 192
    /// (chosen; with the mutants 256, record).
    pub children: usize,
    /// Mutants of one survivor in each later generation. Default 64 (chosen).
    pub mutants: usize,
    /// Seed of all draws. The result does not depend on the number of threads.
    pub seed: u64,
    /// Stop as soon as a schedule has this few phases; [`None`] to use up the
    /// generations.
    pub stop_at: Option<u32>,
}

impl Default for GeneticConfig {
    fn default() -> Self {
        Self {
            population: 512,
            generations: 440,
            children: 192,
            mutants: 64,
            seed: 1,
            stop_at: None,
        }
    }
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Generation {
    /// Number of the generation that is complete, from 0.
    pub number: u32,
    /// Cycles of the best schedule so far.
    pub best: u32,
    /// Cycles of the worst survivor.
    pub worst: u32,
    /// PEs of the largest set of the best schedule.
    pub largest: u32,
    /// Schedules run so far.
    pub evaluations: u64,
}

/// The genetic scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Genetic {
    /// Its parameters.
    pub config: GeneticConfig,
}

/// A schedule as sorted single-cycle sets.
#[derive(Clone, Debug)]
struct Individual {
    // Ends of the sets in `slots`, largest set first.
    ends: Vec<u32>,
    slots: Vec<u16>,
}

impl Individual {
    fn cycles(&self) -> u32 {
        self.ends.len() as u32
    }

    fn set(&self, number: usize) -> &[u16] {
        let end = self.ends.get(number).map_or(0, |&end| end as usize);
        let start = match number {
            0 => 0,
            n => self.ends.get(n - 1).map_or(0, |&start| start as usize),
        };
        self.slots.get(start..end).unwrap_or_default()
    }

    fn sets(&self) -> impl Iterator<Item = &[u16]> {
        (0..self.ends.len()).map(|number| self.set(number))
    }

    /// Tuples and sort: sets become a schedule.
    fn sorted(mut sets: Vec<Vec<u16>>) -> Self {
        sets.sort_by_key(|set| core::cmp::Reverse(set.len()));
        let mut slots = Vec::with_capacity(sets.iter().map(Vec::len).sum());
        let mut ends = Vec::with_capacity(sets.len());
        for set in sets {
            slots.extend_from_slice(&set);
            ends.push(slots.len() as u32);
        }
        Self { ends, slots }
    }
}

/// PEs of a phase, and whether they are one set that connects in one cycle.
#[derive(Clone, Debug, Default)]
struct Phase {
    slots: Vec<u16>,
    whole: bool,
}

/// Runs each phase in the hardware loop and collects the single-cycle sets, to
/// those that are known to be such already.
fn explode(router: &mut Router, phases: Vec<Phase>, mut sets: Vec<Vec<u16>>) -> Individual {
    for phase in phases {
        if phase.whole {
            sets.push(phase.slots);
            continue;
        }
        let mut flags = [0u16; MAX_CLUSTERS];
        for &slot in &phase.slots {
            if let Some(flags) = flags.get_mut(slot as usize >> 4) {
                *flags |= 1 << (slot & 15);
            }
        }
        router.set_tflags_by_cluster(&flags);
        let mut left = phase.slots.len();
        while left > 0 {
            let mut set = Vec::with_capacity(left.min(MAX_CLUSTERS));
            if router.cycle(|slot| set.push(slot)) == 0 {
                break;
            }
            left = left.saturating_sub(set.len());
            sets.push(set);
        }
    }
    Individual::sorted(sets)
}

/// Puts sets into at most as many random phases.
fn merge(draws: &mut Draws, sets: &[&[u16]]) -> Vec<Phase> {
    let count = 1 + draws.below(sets.len() as u32);
    let mut phases = alloc::vec![Phase::default(); count as usize];
    for set in sets {
        if let Some(phase) = phases.get_mut(draws.below(count) as usize) {
            phase.whole = phase.slots.is_empty();
            phase.slots.extend_from_slice(set);
        }
    }
    phases.retain(|phase| !phase.slots.is_empty());
    phases
}

/// A random schedule: hardware cycles in random phases.
fn random(router: &mut Router, hardware: &Individual, draws: &mut Draws) -> Individual {
    let sets: Vec<&[u16]> = hardware.sets().collect();
    let phases = merge(draws, &sets);
    explode(router, phases, Vec::new())
}

/// A child of two schedules.
fn child(router: &mut Router, a: &Individual, b: &Individual, draws: &mut Draws) -> Individual {
    // Crossover: the tuples of both, largest first, without repeated PEs. Part
    // of a set that connects in one cycle does so too.
    let mut tuples: Vec<&[u16]> = a.sets().chain(b.sets()).collect();
    tuples.sort_by_key(|set| core::cmp::Reverse(set.len()));
    let mut taken = [0u16; MAX_CLUSTERS];
    let mut sets = Vec::with_capacity(tuples.len());
    for tuple in tuples {
        let mut set = Vec::with_capacity(tuple.len());
        set.extend(tuple.iter().copied().filter(|slot| {
            taken.get_mut(*slot as usize >> 4).is_some_and(|flags| {
                let new = *flags >> (slot & 15) & 1 == 0;
                *flags |= 1 << (slot & 15);
                new
            })
        }));
        if !set.is_empty() {
            sets.push(set);
        }
    }
    sets.sort_by_key(|set| core::cmp::Reverse(set.len()));
    // Merge: the small ones anew, from a random one on.
    let small = sets.split_off(draws.below(sets.len() as u32) as usize);
    let small: Vec<&[u16]> = small.iter().map(Vec::as_slice).collect();
    let phases = merge(draws, &small);
    explode(router, phases, sets)
}

/// A mutant of a schedule: some of its sets merged.
fn mutant(router: &mut Router, from: &Individual, draws: &mut Draws) -> Individual {
    let odds = 1 + draws.below(from.cycles());
    let (mut kept, mut chosen) = (Vec::new(), Vec::new());
    for set in from.sets() {
        if draws.below(from.cycles()) < odds {
            chosen.push(set);
        } else {
            kept.push(set.to_vec());
        }
    }
    let phases = if chosen.is_empty() {
        Vec::new()
    } else {
        merge(draws, &chosen)
    };
    explode(router, phases, kept)
}

/// The draws of one schedule of one generation.
fn draws(seed: u64, generation: u32, index: usize) -> Draws {
    let mut mixer = Draws::new(seed ^ u64::from(generation) << 32 ^ (index as u64) << 8);
    Draws::new(mixer.bits())
}

/// Makes `count` schedules, on all cores with feature `std`.
fn breed(
    router: &Router,
    count: usize,
    make: impl Fn(&mut Router, usize) -> Individual + Sync,
) -> Vec<Individual> {
    #[cfg(feature = "std")]
    {
        use rayon::prelude::*;
        (0..count)
            .into_par_iter()
            .map_init(|| router.clone(), |router, index| make(router, index))
            .collect()
    }
    #[cfg(not(feature = "std"))]
    {
        let mut router = router.clone();
        (0..count).map(|index| make(&mut router, index)).collect()
    }
}

impl Genetic {
    /// A search with these parameters.
    pub const fn new(config: GeneticConfig) -> Self {
        Self { config }
    }

    /// Searches and tells of each generation; `on` returns whether to go on.
    ///
    /// # Errors
    /// [`ScheduleError::Size`] when pattern and router do not fit.
    pub fn search(
        &self,
        router: &mut Router,
        pattern: &Pattern,
        mut on: impl FnMut(&Generation) -> bool,
    ) -> Result<Schedule, ScheduleError> {
        let config = &self.config;
        router.set_addresses(pattern)?;
        let geometry = router.wiring().geometry().clone();
        let all: Vec<u16> = pattern
            .enabled()
            .iter()
            .map(|id| geometry.slot(id))
            .collect();
        let everyone = Phase {
            slots: all,
            whole: false,
        };
        let hardware = explode(router, alloc::vec![everyone], Vec::new());
        if hardware.cycles() == 0 {
            return Schedule::checked(router, pattern, pattern_phases(&hardware, router).as_ref());
        }
        let population = config.population.max(1);
        let mut evaluations = population as u64;
        let mut living = breed(router, population, |router, index| {
            random(router, &hardware, &mut draws(config.seed, 0, index))
        });
        living.sort_by_key(Individual::cycles);
        for number in 0..config.generations.max(1) {
            if number > 0 {
                let new = config.children.saturating_add(config.mutants);
                living.truncate(population.saturating_sub(new).max(1));
                let parents = living.len() as u32;
                let fresh = breed(router, new, |router, index| {
                    let mut draws = draws(config.seed, number, index);
                    let mut parent = || living.get(draws.below(parents) as usize);
                    match (parent(), parent()) {
                        (Some(a), Some(b)) if index < config.children => {
                            child(router, a, b, &mut draws)
                        }
                        (Some(a), _) => mutant(router, a, &mut draws),
                        _ => hardware.clone(),
                    }
                });
                evaluations += new as u64;
                living.extend(fresh);
                living.sort_by_key(Individual::cycles);
            }
            let survivors = population
                .saturating_sub(config.children.saturating_add(config.mutants))
                .max(1);
            let (Some(best), Some(worst)) =
                (living.first(), living.get(survivors.min(living.len()) - 1))
            else {
                break;
            };
            let generation = Generation {
                number,
                best: best.cycles(),
                worst: worst.cycles(),
                largest: best.set(0).len() as u32,
                evaluations,
            };
            if !on(&generation) || config.stop_at.is_some_and(|enough| best.cycles() <= enough) {
                break;
            }
        }
        let best = living.first().unwrap_or(&hardware);
        let phases = pattern_phases(best, router);
        Schedule::checked(router, pattern, &phases)
    }
}

/// The phase of each PE, by id.
fn pattern_phases(individual: &Individual, router: &Router) -> Vec<u16> {
    let geometry = router.wiring().geometry();
    let mut phases = alloc::vec![NO_PHASE; router.size().pes().min(MAX_PES)];
    for (number, set) in individual.sets().enumerate() {
        for &slot in set {
            if let Some(phase) = phases.get_mut(geometry.id(slot) as usize) {
                *phase = number as u16;
            }
        }
    }
    phases
}

impl Scheduler for Genetic {
    fn name(&self) -> &'static str {
        "genetic search"
    }

    fn schedule(
        &mut self,
        router: &mut Router,
        pattern: &Pattern,
    ) -> Result<Schedule, ScheduleError> {
        self.search(router, pattern, |_| true)
    }
}
