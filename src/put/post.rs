//! Posting: pages, messages, short and composed ones.

use super::driver::{Hardware, Phase, Put, Sequence};
use super::entry::Entry;
use super::error::{AddError, CounterError, PortErrorOf};
use super::pieces::{Pieces, Rules};
use super::start::{store, write};
use crate::ddc::lme::Control;
use crate::ddc::registers::LpeNew;

impl Put {
    /// Posts one entry.
    ///
    /// The driver does not look at LPE_CURRENT here, as the shipped build of
    /// the record: room comes back from [`poll`](Self::poll),
    /// [`on_interrupt`](Self::on_interrupt) and [`flush_lme`](Self::flush_lme).
    /// Those borrow the driver while they hand out events, so that posting
    /// from inside an event sink, which the record answers with EAGAIN, does
    /// not compile:
    ///
    /// ```compile_fail,E0499
    /// use multipc::put::{Entry, Hardware, Put};
    /// fn reenter<H: Hardware>(put: &mut Put, hw: &mut H, entry: Entry) {
    ///     let again = &mut *put;
    ///     let _ = put.flush_lme(hw, 1, |_event| {
    ///         again.next_sequence();
    ///     });
    /// }
    /// ```
    ///
    /// # Errors
    /// [`AddError`]; the entry was then not posted. [`AddError::RingFull`]
    /// goes away by polling.
    #[doc(alias = "put_add_entry")]
    #[doc(alias = "softnew")]
    pub fn add_entry<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        entry: Entry,
    ) -> Result<Sequence, AddError<PortErrorOf<H>>> {
        let pieces = self.plan(&entry)?;
        self.room(pieces.len())?;
        let sequence = self.stage(hw, &pieces)?;
        self.publish(hw)?;
        Ok(sequence)
    }

    /// Posts all entries of a message, or none; one write of LPE_NEW gives
    /// them all to the chip. The sequence is that of the last one.
    ///
    /// No entries at all is a message that is posted already: the sequence is
    /// then the next one's.
    ///
    /// # Errors
    /// [`AddError`]; nothing was then posted.
    pub fn add_message<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        entries: &[Entry],
    ) -> Result<Sequence, AddError<PortErrorOf<H>>> {
        let limit = self.layout.entries().saturating_sub(1);
        let pages = entries.len();
        self.ready()?;
        let needed = u32::try_from(pages).ok().filter(|needed| *needed <= limit);
        needed.ok_or(AddError::MessageTooLong { pages, limit })?;
        let mut needed = 0;
        for entry in entries {
            needed += self.plan(entry)?.len();
        }
        if needed > limit {
            // Each page may become several.
            let pages = needed as usize;
            return Err(AddError::MessageTooLong { pages, limit });
        }
        self.room(needed)?;
        let mut sequence = self.next_sequence();
        for entry in entries {
            let pieces = self.plan(entry)?;
            sequence = self.stage(hw, &pieces)?;
        }
        self.publish(hw)?;
        Ok(sequence)
    }

    /// Sends eight bytes that arrive in the receiver's event.
    ///
    /// # Errors
    /// [`AddError`].
    #[doc(alias = "SM")]
    pub fn send_short<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        node: u16,
        mi: u32,
        data: [u32; 2],
    ) -> Result<Sequence, AddError<PortErrorOf<H>>> {
        self.add_entry(hw, Entry::short(node, mi, data, Control::default()))
    }

    /// Sends this node's part of a composed message.
    ///
    /// # Errors
    /// [`AddError`].
    #[doc(alias = "CM")]
    pub fn send_composed<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        node: u16,
        mi: u32,
    ) -> Result<Sequence, AddError<PortErrorOf<H>>> {
        self.add_entry(hw, Entry::composed(node, mi, Control::default()))
    }

    /// Expects a composed message of `senders` packets under `mi`: writes the
    /// upper half of its packet counter, so that parts that arrived before
    /// stay counted in the lower half.
    ///
    /// # Errors
    /// [`CounterError`].
    #[doc(alias = "EPN")]
    pub fn expect_composed<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        mi: u32,
        senders: u32,
    ) -> Result<(), CounterError<PortErrorOf<H>>> {
        let address = self.counter(mi)?;
        match u16::try_from(senders) {
            Ok(expected @ 1..) => store(hw, address.wrapping_add(2), &expected.to_le_bytes())
                .map_err(CounterError::Port),
            _ => Err(CounterError::Packets { packets: senders }),
        }
    }

    /// Zeroes the packet counter of `mi`.
    ///
    /// # Errors
    /// [`CounterError`].
    #[doc(alias = "put_flush_LRM")]
    pub fn clear_counter<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        mi: u32,
    ) -> Result<(), CounterError<PortErrorOf<H>>> {
        let address = self.counter(mi)?;
        store(hw, address, &[0; 4]).map_err(CounterError::Port)
    }

    fn counter<E>(&self, mi: u32) -> Result<u32, CounterError<E>> {
        let counters = self.layout.counters();
        if !self.is_open() {
            Err(CounterError::NotOpen)
        } else if mi >= counters {
            Err(CounterError::OutOfRange { mi, counters })
        } else {
            Ok(self.layout.counter(mi))
        }
    }

    pub(crate) fn ready<E>(&self) -> Result<(), AddError<E>> {
        match self.phase {
            Phase::Closed => Err(AddError::NotOpen),
            Phase::Starting => Err(AddError::Starting),
            Phase::Stopped(_) => Err(AddError::Stopped),
            Phase::Running => Ok(()),
        }
    }

    pub(crate) fn reachable<E>(&self, node: u16) -> Result<(), AddError<E>> {
        match self.on_hsl(node) {
            None => Err(AddError::UnknownNode {
                node,
                nodes: self.settings.nodes,
            }),
            Some(false) => Err(AddError::NotOnHsl { node }),
            Some(true) => Ok(()),
        }
    }

    /// The checks that need no room, in the order of the record, and the entries
    /// that this one becomes.
    pub(crate) fn plan<E>(&self, entry: &Entry) -> Result<Pieces, AddError<E>> {
        self.ready()?;
        let (node, nodes) = (entry.node, self.settings.nodes);
        if node >= nodes {
            return Err(AddError::UnknownNode { node, nodes });
        }
        let descriptor = entry
            .descriptor(self.settings.count_packets)
            .map_err(AddError::Protocol)?;
        self.reachable(node)?;
        let rules = Rules {
            capabilities: self.settings.capabilities,
            node: self.settings.node,
            sink: self.layout.counter(0),
            bounce: self.settings.bounce.is_some(),
        };
        Pieces::new(descriptor, &rules).map_err(AddError::Protocol)
    }

    fn room<E>(&self, needed: u32) -> Result<(), AddError<E>> {
        let free = self.ring.free();
        if needed > free {
            Err(AddError::RingFull { needed, free })
        } else {
            Ok(())
        }
    }

    /// Writes entries at `softnew`; the chip does not see them yet. On an error
    /// nothing at all stays staged. The sequence is that of the last one.
    pub(crate) fn stage<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
        pieces: &Pieces,
    ) -> Result<Sequence, AddError<PortErrorOf<H>>> {
        let mut sequence = self.next_sequence();
        for descriptor in pieces.iter() {
            trace!(
                "put: node {} posts {} bytes to node {}",
                self.settings.node, descriptor.page_length, descriptor.routing_part
            );
            sequence = self.next_sequence();
            let free = self.ring.free();
            let address = self.layout.lme(self.ring.softnew());
            if free == 0 {
                self.ring.unstage();
                return Err(AddError::RingFull { needed: 1, free });
            }
            if let Err(error) = store(hw, address, &descriptor.emit()) {
                self.ring.unstage();
                return Err(AddError::Port(error));
            }
            self.ring.stage();
        }
        Ok(sequence)
    }

    /// Gives what is staged to the chip, or has it wait for its turn.
    pub(crate) fn publish<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
    ) -> Result<(), AddError<PortErrorOf<H>>> {
        if self.settings.capabilities.one_page {
            if let Err(error) = self.release(hw) {
                self.ring.unstage();
                return Err(AddError::Port(error));
            }
            self.stats.posted += u64::from(self.ring.commit());
            self.check();
            return Ok(());
        }
        let before = self.ring.outstanding();
        let new = self.layout.lme(self.ring.softnew());
        // The entries lie in memory: `DmaMemory` orders them before this write.
        if let Err(error) = write(hw, LpeNew::OFFSET, new) {
            self.ring.unstage();
            return Err(AddError::Port(error));
        }
        self.ring.publish();
        self.stats.posted += u64::from(self.ring.outstanding().saturating_sub(before));
        self.check();
        Ok(())
    }
}
