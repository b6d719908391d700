//! The table of requests, and lists of its places.

use managed::ManagedSlice;

use super::error::EndpointError;
use super::request::{Op, RecvOp, Request, SendOp};

/// No place.
const NONE: u16 = u16::MAX;

/// Room for one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RequestSlot {
    op: Op,
    generation: u16,
    /// The next in the list that it stands in: of free places, of calls, of
    /// envelopes that wait, of receives to be answered. Never in two.
    next: u16,
}

impl RequestSlot {
    /// Free.
    pub const FREE: Self = Self {
        op: Op::Free,
        generation: 0,
        next: NONE,
    };
}

/// A list of places, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Queue {
    head: u16,
    tail: u16,
}

impl Queue {
    pub(super) const EMPTY: Self = Self {
        head: NONE,
        tail: NONE,
    };

    pub(super) const fn is_empty(&self) -> bool {
        self.head == NONE
    }

    pub(super) const fn front(&self) -> Option<u16> {
        if self.is_empty() {
            None
        } else {
            Some(self.head)
        }
    }
}

/// The table of requests; free places are a list, too.
#[derive(Debug)]
pub(super) struct Requests<'a> {
    slots: ManagedSlice<'a, RequestSlot>,
    free: Queue,
    used: usize,
}

impl<'a> Requests<'a> {
    pub(super) fn new(mut slots: ManagedSlice<'a, RequestSlot>) -> Self {
        slots.fill(RequestSlot::FREE);
        let mut table = Self {
            slots,
            free: Queue::EMPTY,
            used: 0,
        };
        let mut free = Queue::EMPTY;
        for index in 0..table.limit() as u16 {
            table.push(&mut free, index);
        }
        table.free = free;
        table
    }

    /// Places that can be named.
    pub(super) fn limit(&self) -> usize {
        self.slots.len().min(usize::from(NONE))
    }

    pub(super) const fn used(&self) -> usize {
        self.used
    }

    fn slot(&mut self, index: u16) -> Option<&mut RequestSlot> {
        self.slots.get_mut(usize::from(index))
    }

    pub(super) fn take(&mut self, op: Op) -> Result<Request, EndpointError> {
        let mut free = self.free;
        let limit = self.limit();
        let index = self.pop(&mut free);
        self.free = free;
        let index = index.ok_or(EndpointError::NoRequest { limit })?;
        self.put(index, op);
        self.used += 1;
        Ok(self.name(index))
    }

    pub(super) fn release(&mut self, index: u16) {
        if let Some(slot) = self.slot(index) {
            slot.op = Op::Free;
            slot.generation = slot.generation.wrapping_add(1);
        }
        let mut free = self.free;
        self.push(&mut free, index);
        self.free = free;
        self.used = self.used.saturating_sub(1);
    }

    pub(super) fn name(&self, index: u16) -> Request {
        let slot = self.slots.get(usize::from(index));
        Request::new(index, slot.map_or(0, |slot| slot.generation))
    }

    /// The place of a request that is in use.
    pub(super) fn find(&self, request: Request) -> Option<u16> {
        let slot = self.slots.get(usize::from(request.index()))?;
        let used = slot.op != Op::Free && slot.generation == request.generation();
        used.then_some(request.index())
    }

    pub(super) fn op(&self, index: u16) -> Op {
        let slot = self.slots.get(usize::from(index));
        slot.map_or(Op::Free, |slot| slot.op)
    }

    pub(super) fn put(&mut self, index: u16, op: Op) {
        if let Some(slot) = self.slot(index) {
            slot.op = op;
        }
    }

    pub(super) fn send(&mut self, index: u16) -> Option<&mut SendOp> {
        match &mut self.slot(index)?.op {
            Op::Send(op) => Some(op),
            _ => None,
        }
    }

    pub(super) fn recv(&mut self, index: u16) -> Option<&mut RecvOp> {
        match &mut self.slot(index)?.op {
            Op::Recv(op) => Some(op),
            _ => None,
        }
    }

    pub(super) fn push(&mut self, queue: &mut Queue, index: u16) {
        if let Some(slot) = self.slot(index) {
            slot.next = NONE;
        }
        if queue.is_empty() {
            queue.head = index;
        } else if let Some(last) = self.slot(queue.tail) {
            last.next = index;
        }
        queue.tail = index;
    }

    pub(super) fn pop(&mut self, queue: &mut Queue) -> Option<u16> {
        let index = queue.front()?;
        queue.head = self.slot(index).map_or(NONE, |slot| slot.next);
        if queue.head == NONE {
            queue.tail = NONE;
        }
        Some(index)
    }

    /// Takes a place out of the middle of a list.
    pub(super) fn remove(&mut self, queue: &mut Queue, index: u16) {
        let mut rest = core::mem::replace(queue, Queue::EMPTY);
        while let Some(other) = self.pop(&mut rest) {
            if other != index {
                self.push(queue, other);
            }
        }
    }

    /// All in use, by place.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u16, &Op)> {
        let slots = self.slots.iter().take(self.limit()).enumerate();
        slots
            .filter(|(_, slot)| slot.op != Op::Free)
            .map(|(index, slot)| (index as u16, &slot.op))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_released_requests_are_none() {
        let mut slots = [RequestSlot::FREE; 2];
        let mut table = Requests::new(ManagedSlice::Borrowed(&mut slots));
        let done = Op::Done(Err(EndpointError::Cancelled));
        let first = table.take(done).unwrap();
        let second = table.take(done).unwrap();
        assert_eq!(table.take(done), Err(EndpointError::NoRequest { limit: 2 }));
        table.release(first.index());
        assert_eq!(table.find(first), None);
        let third = table.take(done).unwrap();
        assert_eq!(third.index(), first.index());
        assert_ne!(third, first);
        assert_eq!(table.find(second), Some(second.index()));
        assert_eq!(table.used(), 2);
    }

    #[test]
    fn lists_are_in_order() {
        let mut slots = [RequestSlot::FREE; 3];
        let mut table = Requests::new(ManagedSlice::Borrowed(&mut slots));
        let mut queue = Queue::EMPTY;
        for index in [2, 0, 1] {
            table.push(&mut queue, index);
        }
        assert_eq!(table.pop(&mut queue), Some(2));
        table.push(&mut queue, 2);
        assert_eq!(
            [0; 3].map(|_| table.pop(&mut queue)),
            [Some(0), Some(1), Some(2)]
        );
        assert_eq!(table.pop(&mut queue), None);
    }
}
