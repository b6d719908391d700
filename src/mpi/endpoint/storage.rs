//! The caller's storage of an endpoint, and how much it is.

use managed::ManagedSlice;

use super::peer::Peer;
use super::table::RequestSlot;
use crate::mpi::boot::BootError;
use crate::mpi::config::{MpiConfig, SLOT_BYTES};
use crate::mpi::layout::Layout;
use crate::mpi::matching::{PostedCell, UnexpectedCell};

/// Bytes of scratch memory: a message that is read, and one that is written.
pub const SCRATCH_BYTES: usize = 2 * SLOT_BYTES as usize;

/// A message that no receive has matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Message(pub(super) Unmatched);

/// What is known of such a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) enum Unmatched {
    /// Its data is here, in a chain of blocks.
    Short { peer: u32, length: u32, chain: u32 },
    /// A REQ.
    Long {
        peer: u32,
        total: u64,
        sender_req: u32,
    },
    /// A send of this process to itself.
    Own { request: u16 },
}

/// A transfer that the transport has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Flight<T> {
    pub(super) token: T,
    pub(super) peer: u32,
    /// The send whose data it is; none for other transfers.
    pub(super) request: Option<u16>,
}

/// Storage of one endpoint. Sizes that the caller chooses limit what may be in
/// progress at once; the others follow from the configuration.
#[derive(Debug)]
pub struct Storage<'a, T> {
    /// One for each rank of the world.
    pub peers: ManagedSlice<'a, Peer>,
    /// Sends and receives that are not completed, at most 65,535.
    pub requests: ManagedSlice<'a, RequestSlot>,
    /// Receives that wait for a message.
    pub posted: ManagedSlice<'a, PostedCell<u16>>,
    /// Messages that wait for a receive.
    pub unexpected: ManagedSlice<'a, UnexpectedCell<Message>>,
    /// Transfers that have not left, of data and control messages: more than
    /// `data_in_flight`.
    pub flights: ManagedSlice<'a, Option<Flight<T>>>,
    /// Data messages on their way here: as many as the configuration's
    /// `landings`; fewer limit it.
    pub landings: ManagedSlice<'a, Option<u16>>,
    /// One for each block of unexpected data ([`Layout::block_count`]).
    pub blocks: ManagedSlice<'a, u32>,
    /// [`SCRATCH_BYTES`] bytes.
    pub scratch: ManagedSlice<'a, u8>,
}

/// The sizes that the caller chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Sizes {
    /// Requests, and receives that wait.
    pub requests: usize,
    /// Unexpected messages.
    pub unexpected: usize,
    /// Transfers that have not left.
    pub flights: usize,
}

impl Default for Sizes {
    /// Chosen: 256 requests, 256 unexpected messages, 16 transfers, for small
    /// programs.
    fn default() -> Self {
        Self {
            requests: 256,
            unexpected: 256,
            flights: 16,
        }
    }
}

impl<T> Storage<'_, T> {
    /// Whether all parts have the sizes that the configuration needs.
    pub(super) fn check(&self, config: &MpiConfig, ranks: u32) -> Result<(), BootError> {
        let parts = [
            ("peers", self.peers.len(), ranks as usize),
            ("requests", self.requests.len(), 1),
            ("posted receives", self.posted.len(), 1),
            ("unexpected messages", self.unexpected.len(), 1),
            (
                "transfers",
                self.flights.len(),
                usize::from(config.data_in_flight) + 1,
            ),
            ("landings", self.landings.len(), 1),
            (
                "blocks",
                self.blocks.len(),
                Layout::block_count(config) as usize,
            ),
            ("scratch bytes", self.scratch.len(), SCRATCH_BYTES),
        ];
        for (what, len, needed) in parts {
            if len < needed {
                return Err(BootError::Storage { what, len, needed });
            }
        }
        Ok(())
    }
}

#[cfg(feature = "alloc")]
impl<T> Storage<'static, T> {
    /// Storage of its own.
    #[must_use]
    pub fn owned(config: &MpiConfig, ranks: u32, sizes: Sizes) -> Self {
        fn many<V>(n: usize, value: impl FnMut() -> V) -> alloc::vec::Vec<V> {
            core::iter::repeat_with(value).take(n).collect()
        }
        let blocks = Layout::block_count(config) as usize;
        Self {
            peers: many(ranks as usize, || Peer::EMPTY).into(),
            requests: many(sizes.requests, || RequestSlot::FREE).into(),
            posted: many(sizes.requests, || PostedCell::EMPTY).into(),
            unexpected: many(sizes.unexpected, || UnexpectedCell::EMPTY).into(),
            flights: many(
                sizes.flights.max(usize::from(config.data_in_flight) + 1),
                || None,
            )
            .into(),
            landings: many(usize::from(config.landings), || None).into(),
            blocks: many(blocks, || 0).into(),
            scratch: many(SCRATCH_BYTES, || 0).into(),
        }
    }
}

/// Bytes that an endpoint takes, part by part; nothing is allocated besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Footprint {
    /// The endpoint itself.
    pub endpoint: usize,
    /// Each rank of the world.
    pub peer: usize,
    /// Each request, its cell in the matcher included.
    pub request: usize,
    /// Each unexpected message.
    pub unexpected: usize,
    /// Each transfer that has not left.
    pub flight: usize,
    /// Each data message on its way here.
    pub landing: usize,
    /// Each block of unexpected data, beside its bytes in the arena.
    pub block: usize,
    /// Scratch memory.
    pub scratch: usize,
    /// All of it, for a world and sizes.
    pub total: usize,
    /// Bytes of the arena: node memory that the controller reaches.
    pub arena: u64,
}

impl Footprint {
    /// Of an endpoint whose transport has tokens `T`.
    #[must_use]
    pub fn of<T>(config: &MpiConfig, ranks: u32, sizes: Sizes) -> Self {
        let endpoint = size_of::<super::Endpoint<'_, T>>();
        let peer = size_of::<Peer>();
        let request = size_of::<RequestSlot>() + size_of::<PostedCell<u16>>();
        let unexpected = size_of::<UnexpectedCell<Message>>();
        let flight = size_of::<Option<Flight<T>>>();
        let landing = size_of::<Option<u16>>();
        let block = size_of::<u32>();
        let total = endpoint
            + peer * ranks as usize
            + request * sizes.requests
            + unexpected * sizes.unexpected
            + flight * sizes.flights
            + landing * usize::from(config.landings)
            + block * Layout::block_count(config) as usize
            + SCRATCH_BYTES;
        Self {
            endpoint,
            peer,
            request,
            unexpected,
            flight,
            landing,
            block,
            scratch: SCRATCH_BYTES,
            total,
            arena: Layout::bytes(config, ranks),
        }
    }
}
