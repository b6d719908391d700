//! The boards with the reliable layer as the executor drives them.

use core::ops::Range;

use crate::fabric::{HostError, Probe, Watch};
use crate::put::{ReliableError, Ticket};
use crate::remote::{Arrival, Progress, RemoteWrite, Transfer};
use crate::time::Instant;

use super::super::Medium;
use super::super::direct::{Restartable, physical};
use super::{REPORTS, ReliableBoardError, ReliableBoards};

impl<P: Probe> Medium for ReliableBoards<P> {
    type Token = Ticket;
    type Error = ReliableBoardError;

    fn nodes(&self) -> u16 {
        u16::try_from(self.nodes.len()).unwrap_or(u16::MAX)
    }

    fn arena(&self) -> Range<u64> {
        self.arena.clone()
    }

    fn report_limit(&self) -> u32 {
        REPORTS
    }

    fn now(&self) -> Instant {
        self.machine.now()
    }

    fn advance(&mut self, until: Instant) -> bool {
        while !self.news {
            if self.due <= self.machine.now() {
                self.look_at_all();
                continue;
            }
            // A restart of a board may have taken longer than asked for.
            let end = until.min(self.due).max(self.machine.now());
            if self.machine.run_to_news(end) {
                let mut fresh = core::mem::take(&mut self.fresh);
                self.machine.take_news(|node| fresh.push(node));
                for node in fresh.drain(..) {
                    let _ = self.look(node);
                }
                self.fresh = fresh;
            } else if end >= until {
                return false;
            }
        }
        true
    }

    /// While a transfer is under way the clocks of the layer will end it, and after
    /// some silence they will find who has vanished.
    fn next_activity(&self) -> Option<Instant> {
        if self.news {
            return Some(self.now());
        }
        let waits = self.pending() > 0 || self.now() < self.silent;
        let due = waits.then_some(self.due);
        let next = self.machine.next_activity();
        due.into_iter().chain(next).min()
    }

    fn watch(&mut self, node: u16, watch: Watch) {
        if let Ok(node) = self.layer(node) {
            node.watch = watch;
        }
    }

    fn take_news(&mut self, each: &mut dyn FnMut(u16)) {
        if !core::mem::take(&mut self.news) {
            return;
        }
        for (number, node) in (0..).zip(&mut self.nodes) {
            if core::mem::take(&mut node.news) {
                each(number);
            }
        }
    }

    fn interrupt(&self, node: u16) -> bool {
        let node = self.nodes.get(usize::from(node));
        node.is_some_and(|node| !node.arrivals.is_empty())
    }

    fn start(
        &mut self,
        node: u16,
        transfer: Transfer,
    ) -> Result<Option<Ticket>, ReliableBoardError> {
        let mut host = Restartable(self.machine.host(node)?);
        let entry = self.nodes.get_mut(usize::from(node));
        let Some(entry) = entry else { return Ok(None) };
        entry.layer.tick(host.0.now());
        let ticket = match entry.layer.start(&mut host, transfer) {
            Ok(ticket) => ticket,
            Err(ReliableError::QueueFull { .. }) => return Ok(None),
            Err(error) => return Err(ReliableBoardError::Layer(error)),
        };
        let now = self.machine.now();
        self.due = self.due.min(now + self.period);
        self.silent = now + self.silence;
        self.look(node)?;
        Ok(Some(ticket))
    }

    /// The layer has looked already.
    fn poll(&mut self, node: u16) -> Result<(), ReliableBoardError> {
        match self.layer(node)?.lost {
            Some(error) => Err(ReliableBoardError::Layer(error)),
            None => Ok(()),
        }
    }

    fn progress(&mut self, node: u16, token: Ticket) -> Result<Progress, ReliableBoardError> {
        let layer = &mut self.layer(node)?.layer;
        let progress = RemoteWrite::<Restartable<'_, 'static, P>>::progress(layer, &token);
        progress.map_err(ReliableBoardError::Layer)
    }

    fn arrival(&mut self, node: u16) -> Option<Arrival> {
        self.layer(node).ok()?.arrivals.pop_front()
    }

    /// Pairs of which one has given up the other.
    fn take_partings(&mut self, each: &mut dyn FnMut(u16, u16)) {
        for (a, b) in self.parted.get(self.told..).unwrap_or_default() {
            each(*a, *b);
        }
        self.told = self.parted.len();
    }

    fn load(&self, node: u16, addr: u64, bytes: &mut [u8]) -> Result<(), ReliableBoardError> {
        let nodes = self.machine.nodes();
        let unknown = HostError::UnknownNode {
            node,
            nodes: nodes.len(),
        };
        let memory = nodes.get(usize::from(node)).ok_or(unknown)?.memory();
        let from = memory
            .slice(physical(addr, bytes.len())?, bytes.len())
            .map_err(HostError::from)?;
        bytes.copy_from_slice(from);
        Ok(())
    }

    fn store(&mut self, node: u16, addr: u64, bytes: &[u8]) -> Result<(), ReliableBoardError> {
        let addr = physical(addr, bytes.len())?;
        let mut host = self.machine.host(node)?;
        Ok(host.store(addr, bytes).map_err(HostError::from)?)
    }
}
