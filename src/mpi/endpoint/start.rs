//! Making an endpoint: its place, its peers and its storage fit.

use heapless::Deque;

use super::peer::{Peer, credits};
use super::pool::Pool;
use super::rings::Ring;
#[cfg(feature = "alloc")]
use super::storage::Sizes;
use super::storage::Storage;
use super::table::{Queue, Requests};
use super::{Endpoint, EndpointStats};
use crate::mpi::boot::{BootEntry, BootError, Place, check_index};
use crate::mpi::config::MpiConfig;
use crate::mpi::credit::PeerCredit;
use crate::mpi::layout::Layout;
use crate::mpi::matching::Matcher;
use crate::time::Instant;

impl<'a, T: Copy> Endpoint<'a, T> {
    /// The engine of the process at `place` in a world whose processes told
    /// `entries`, by rank.
    ///
    /// # Errors
    /// [`BootError`].
    pub fn new(
        config: MpiConfig,
        place: Place,
        entries: &[BootEntry],
        storage: Storage<'a, T>,
    ) -> Result<Self, BootError> {
        Self::starting_at(config, place, entries, storage, 1)
    }

    /// As [`new`](Self::new), with the number of the first message of each pair
    /// (0 counts as 1), which must be the same everywhere: to come near the
    /// wrap.
    ///
    /// # Errors
    /// [`BootError`].
    pub fn starting_at(
        config: MpiConfig,
        place: Place,
        entries: &[BootEntry],
        storage: Storage<'a, T>,
        seq: u32,
    ) -> Result<Self, BootError> {
        let Place { rank, ranks, .. } = place;
        config.check(ranks)?;
        if rank >= ranks {
            return Err(BootError::Rank { rank, ranks });
        }
        check_index(&config, place.control_index, config.slots)?;
        check_index(&config, place.landing_index, config.landings)?;
        storage.check(&config, ranks)?;
        if entries.len() != ranks as usize {
            return Err(BootError::Entries {
                entries: entries.len(),
                ranks,
            });
        }
        let Storage {
            mut peers,
            requests,
            posted,
            unexpected,
            mut flights,
            mut landings,
            blocks,
            scratch,
        } = storage;
        if let Some(own) = entries.get(rank as usize) {
            own.check_own(&place)?;
        }
        peers.fill(Peer::EMPTY);
        for ((peer, entry), other) in peers.iter_mut().zip(entries).zip(0..ranks) {
            entry.check(&config, other, ranks)?;
            let credit = credits(&config, entry.eager_grant);
            let credit = PeerCredit::starting_at(credit, seq, seq).ok();
            *peer = Peer::new(*entry, credit.filter(|_| other != rank));
        }
        flights.iter_mut().for_each(|flight| *flight = None);
        landings.fill(None);
        let limit = config.landing_limit(ranks).unwrap_or(0);
        Ok(Self {
            layout: Layout::new(&config, rank, ranks, place.base),
            work: None,
            until: Instant::ZERO,
            requests: Requests::new(requests),
            matcher: Matcher::new(posted, unexpected),
            peers,
            flights,
            landing_limit: landings.len().min(usize::from(limit)),
            landings,
            next_landing: 0,
            pool: Pool::new(blocks, Layout::block_count(&config)),
            own_held: 0,
            scratch,
            calls: Queue::EMPTY,
            finished: Queue::EMPTY,
            inbox: Deque::new(),
            busy: Ring::EMPTY,
            ready: Ring::EMPTY,
            cursor: 0,
            data_flights: 0,
            chunks: 0,
            full: false,
            stats: EndpointStats::default(),
            broken: None,
            config,
            place,
        })
    }
}

#[cfg(feature = "alloc")]
impl<T: Copy> Endpoint<'static, T> {
    /// As [`new`](Self::new), with storage of its own.
    ///
    /// # Errors
    /// [`BootError`].
    pub fn owned(
        config: MpiConfig,
        place: Place,
        entries: &[BootEntry],
        sizes: Sizes,
    ) -> Result<Self, BootError> {
        let storage = Storage::owned(&config, place.ranks, sizes);
        Self::new(config, place, entries, storage)
    }
}
