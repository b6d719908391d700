//! Peers with something to do: lists through links in `Peer`.

use super::Endpoint;
use super::peer::NOBODY;

/// A list of peers through links in `Peer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ring {
    head: u32,
    tail: u32,
    pub(super) len: u32,
}

impl Ring {
    pub(super) const EMPTY: Self = Self {
        head: NOBODY,
        tail: NOBODY,
        len: 0,
    };
}

impl<T: Copy> Endpoint<'_, T> {
    /// A peer has something to be sent.
    pub(super) fn wake(&mut self, peer: u32) {
        let last = self.busy.tail;
        let Some(entry) = self.peers.get_mut(peer as usize) else {
            return;
        };
        if core::mem::replace(&mut entry.busy, true) {
            return;
        }
        entry.next_busy = NOBODY;
        match self.peers.get_mut(last as usize) {
            Some(last) if self.busy.len > 0 => last.next_busy = peer,
            _ => self.busy.head = peer,
        }
        self.busy.tail = peer;
        self.busy.len += 1;
    }

    pub(super) fn next_busy(&mut self) -> Option<u32> {
        if self.busy.len == 0 {
            return None;
        }
        let peer = self.busy.head;
        let entry = self.peers.get_mut(peer as usize)?;
        entry.busy = false;
        self.busy.head = entry.next_busy;
        self.busy.len -= 1;
        Some(peer)
    }

    /// A peer has a message to act on.
    pub(super) fn mark_ready(&mut self, peer: u32) {
        let last = self.ready.tail;
        let Some(entry) = self.peers.get_mut(peer as usize) else {
            return;
        };
        if core::mem::replace(&mut entry.ready, true) {
            return;
        }
        entry.next_ready = NOBODY;
        match self.peers.get_mut(last as usize) {
            Some(last) if self.ready.len > 0 => last.next_ready = peer,
            _ => self.ready.head = peer,
        }
        self.ready.tail = peer;
        self.ready.len += 1;
    }

    pub(super) fn next_ready(&mut self) -> Option<u32> {
        if self.ready.len == 0 {
            return None;
        }
        let peer = self.ready.head;
        let entry = self.peers.get_mut(peer as usize)?;
        entry.ready = false;
        self.ready.head = entry.next_ready;
        self.ready.len -= 1;
        Some(peer)
    }
}
