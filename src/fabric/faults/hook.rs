//! Where the machine meets its faults.
//!
//! On a cable with faults the machine notes what the near end drives
//! ([`Wire::offered`](super::super::Wire)) instead of writing it; when all chips of
//! the edge have been visited, the faults decide what goes into the wire. A
//! near end that sleeps goes on driving what it drove last.

use core::fmt;

use managed::ManagedSlice;

use super::Faults;
use super::bus::BusSlot;
use super::cable::CableSlot;
use super::event::{CableFault, FaultEvent, Place};
use super::random::RateError;
use crate::fabric::machine::Machine;
use crate::fabric::node::{NOWHERE, Node};
use crate::fabric::probe::Probe;
use crate::fabric::wiring::{End, Wire};

/// Why faults cannot be set.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum FaultError {
    /// An event on a cable or a bus that the machine does not have.
    NoSuchPlace {
        /// The offending place.
        place: Place,
    },
    /// More directions of cables, or more buses, have faults than there are
    /// slots.
    NoSlotLeft {
        /// The place without slot.
        place: Place,
        /// Slots of its kind in the storage.
        slots: usize,
    },
    /// A number or a cycle that is never reached, because counting begins at 1.
    Zero {
        /// Where.
        place: Place,
    },
    /// A rate is no probability.
    Rate(RateError),
}

impl fmt::Display for FaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchPlace { place } => {
                write!(f, "fault on the {place}, which the machine does not have")
            }
            Self::NoSlotLeft { place, slots } => {
                write!(f, "no slot left of {slots} for faults on the {place}")
            }
            Self::Zero { place } => {
                write!(
                    f,
                    "fault on the {place} at 0: cycles and numbers begin at 1"
                )
            }
            Self::Rate(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for FaultError {}

impl From<RateError> for FaultError {
    fn from(error: RateError) -> Self {
        Self::Rate(error)
    }
}

/// Where an event belongs: cables before buses, then the number of the wire or
/// of the node.
fn rank(event: &FaultEvent, wire_of: impl Fn(End) -> u16) -> (bool, u16) {
    match *event {
        FaultEvent::Cable { from, .. } => (false, wire_of(from)),
        FaultEvent::Bus { node, .. } => (true, node),
    }
}

const fn place_of(event: &FaultEvent) -> Place {
    match *event {
        FaultEvent::Cable { from, .. } => Place::Cable(from),
        FaultEvent::Bus { node, .. } => Place::Bus(node),
    }
}

const fn cuts_both(event: &FaultEvent) -> bool {
    matches!(
        event,
        FaultEvent::Cable {
            fault: CableFault::Cut { both: true, .. },
            ..
        }
    )
}

impl<'a, P: Probe> Machine<'a, P> {
    /// Lets faults loose, from the next edges on; those set before are taken
    /// off. Characters and transactions are counted from here.
    ///
    /// # Errors
    /// [`FaultError`]; then the machine has no faults.
    pub fn set_faults(&mut self, mut faults: Faults<'a>) -> Result<(), FaultError> {
        self.take_faults();
        if let Some(random) = &faults.random {
            random.check()?;
        }
        for event in faults.events.iter() {
            let place = place_of(event);
            let exists = match *event {
                FaultEvent::Cable { from, .. } => self.wire_from(from) != NOWHERE,
                FaultEvent::Bus { node, .. } => usize::from(node) < self.nodes.len(),
            };
            if !exists {
                return Err(FaultError::NoSuchPlace { place });
            }
            if event.key().1 == 0 {
                return Err(FaultError::Zero { place });
            }
        }
        let this = &*self;
        faults.events.sort_unstable_by_key(|event| {
            let (is_bus, index) = rank(event, |end| this.wire_from(end));
            (is_bus, index, event.key())
        });
        (faults.cables_used, faults.buses_used) = (0, 0);
        let result = self
            .slots_of_cables(&mut faults)
            .and_then(|()| self.slots_of_buses(&mut faults));
        if result.is_ok() {
            self.faults = Some(faults);
        } else {
            self.clear_marks();
        }
        self.wake_all();
        result
    }

    /// The faults.
    pub fn faults(&self) -> Option<&Faults<'a>> {
        self.faults.as_ref()
    }

    /// Takes the faults off: cut cables carry again what their ends drive, GNT#
    /// is given again.
    pub fn take_faults(&mut self) -> Option<Faults<'a>> {
        let faults = self.faults.take()?;
        let next = self.link.cycle() + 1;
        for slot in faults.cables() {
            if let Some(wire) = self.wires.get_mut(usize::from(slot.wire)) {
                let line = wire.offered;
                wire.fault = false;
                if line != slot.sent {
                    // The edge to come: what was sent is on its way.
                    self.send(slot.wire, next, line);
                }
            }
        }
        for slot in faults.buses() {
            if let Some(node) = self.nodes.get_mut(usize::from(slot.node)) {
                slot.release(node);
            }
        }
        self.clear_marks();
        self.wake_all();
        Some(faults)
    }

    /// The two ends of each cable, in the order in which they were connected.
    pub fn cables(&self) -> impl Iterator<Item = [End; 2]> {
        let used = self.wires.get(..self.wires_used).unwrap_or_default();
        used.chunks_exact(2)
            .filter_map(|pair| Some([pair.get(1)?.to?, pair.first()?.to?]))
    }

    fn clear_marks(&mut self) {
        for wire in self.wires.iter_mut() {
            wire.fault = false;
        }
        for node in self.nodes.iter_mut() {
            (node.fault, node.fault_due) = (NOWHERE, u64::MAX);
        }
    }

    /// The wire that an end drives.
    fn wire_from(&self, end: End) -> u16 {
        let wire = match end {
            End::Node(node) => self.nodes.get(usize::from(node)).map(|node| node.tx),
            End::Router { router, port } => self
                .routers
                .get(usize::from(router))
                .and_then(|router| router.tx.get(usize::from(port)))
                .copied(),
        };
        wire.unwrap_or(NOWHERE)
    }

    fn slots_of_cables(&mut self, faults: &mut Faults<'a>) -> Result<(), FaultError> {
        let random = faults.random.filter(|random| random.disturbs_cables());
        let mut first = 0;
        for index in 0..self.wires_used as u16 {
            let here = |event: &FaultEvent, index: u16| {
                rank(event, |end| self.wire_from(end)) == (false, index)
            };
            let rest = faults.events.get(first..).unwrap_or_default();
            let end = first + rest.iter().take_while(|event| here(event, index)).count();
            let far = self.wires.get(usize::from(index)).and_then(|wire| wire.to);
            let near = self
                .wires
                .get(usize::from(index ^ 1))
                .and_then(|wire| wire.to);
            let on_board = [near, far]
                .iter()
                .any(|end| matches!(end, Some(End::Node(_))));
            let random = random.filter(|random| random.boards || !on_board);
            let pulled = faults
                .events
                .iter()
                .any(|event| cuts_both(event) && here(event, index ^ 1));
            let (range, from) = ((first, end), near.unwrap_or(End::Node(0)));
            first = end;
            if range.0 == range.1 && random.is_none() && !pulled {
                continue;
            }
            let Some(wire) = self.wires.get_mut(usize::from(index)) else {
                continue;
            };
            wire.fault = true;
            wire.offered = wire.line.last();
            let slot = CableSlot::new(
                (index, from),
                &faults.events,
                range,
                random.as_ref(),
                wire.offered,
            );
            put(
                &mut faults.cables,
                &mut faults.cables_used,
                slot,
                faults.grows,
            )
            .map_err(|slots| FaultError::NoSlotLeft {
                place: Place::Cable(from),
                slots,
            })?;
        }
        Ok(())
    }

    fn slots_of_buses(&mut self, faults: &mut Faults<'a>) -> Result<(), FaultError> {
        let random = faults.random.filter(|random| random.disturbs_buses());
        let is_cable = |event: &&FaultEvent| matches!(event, FaultEvent::Cable { .. });
        let mut first = faults.events.iter().take_while(is_cable).count();
        for (index, node) in (0..).zip(self.nodes.iter_mut()) {
            let rest = faults.events.get(first..).unwrap_or_default();
            let here = |event: &&FaultEvent| matches!(event, FaultEvent::Bus { node, .. } if *node == index);
            let range = (first, first + rest.iter().take_while(here).count());
            first = range.1;
            if range.0 == range.1 && random.is_none() {
                continue;
            }
            node.fault = faults.buses_used as u16;
            let slot = BusSlot::new(index, &faults.events, range, random.as_ref());
            put(
                &mut faults.buses,
                &mut faults.buses_used,
                slot,
                faults.grows,
            )
            .map_err(|slots| FaultError::NoSlotLeft {
                place: Place::Bus(index),
                slots,
            })?;
        }
        Ok(())
    }

    /// What goes into the wires that have faults, after link edge `cycle`.
    #[cold]
    #[inline(never)]
    pub(in crate::fabric) fn disturb_cables(&mut self, cycle: u64) {
        let Some(mut faults) = self.faults.take() else {
            return;
        };
        let Faults {
            events,
            cables,
            log,
            cables_used,
            ..
        } = &mut faults;
        let cables = cables.get_mut(..*cables_used).unwrap_or_default();
        let mut note = |record| log.push(record);
        for index in 0..cables.len() {
            let Some(slot) = cables.get_mut(index) else {
                continue;
            };
            let wire = slot.wire;
            let offered = offered(&self.wires, wire);
            if let Some(cycles) = slot.judge(cycle, offered, events, &mut note) {
                // The two directions of a cable are neighbours.
                let mut beside = [index.wrapping_sub(1), index + 1].into_iter();
                if let Some(other) =
                    beside.find(|&at| cables.get(at).is_some_and(|s| s.wire == wire ^ 1))
                    && let Some(other) = cables.get_mut(other)
                {
                    other.cut_for(cycle, cycles, &mut note);
                }
            }
        }
        for slot in cables {
            let line = slot.settle(cycle, &mut note);
            let due = slot.due(cycle, offered(&self.wires, slot.wire));
            self.link_due = self.link_due.min(due);
            self.send(slot.wire, cycle, line);
        }
        self.faults = Some(faults);
    }
}

fn offered(wires: &[Wire], wire: u16) -> crate::hsl::Line {
    wires
        .get(usize::from(wire))
        .map_or(crate::hsl::Line::DEAD, |wire| wire.offered)
}

impl Faults<'_> {
    /// Before a board steps at PCI edge `cycle`.
    #[cold]
    #[inline(never)]
    pub(in crate::fabric) fn disturb_bus(&mut self, node: &mut Node<'_>, cycle: u64) {
        let Self {
            events, buses, log, ..
        } = self;
        if let Some(slot) = buses.get_mut(usize::from(node.fault)) {
            slot.before_edge(node, cycle, events, &mut |record| log.push(record));
        }
    }
}

/// Stores into the next slot; the number of slots when there is none.
fn put<T>(
    slots: &mut ManagedSlice<'_, T>,
    used: &mut usize,
    value: T,
    grows: bool,
) -> Result<(), usize> {
    if let Some(slot) = slots.get_mut(*used) {
        *slot = value;
        *used += 1;
        return Ok(());
    }
    #[cfg(feature = "alloc")]
    if let (true, ManagedSlice::Owned(owned)) = (grows, &mut *slots) {
        owned.push(value);
        *used += 1;
        return Ok(());
    }
    let _ = grows;
    Err(slots.len())
}
