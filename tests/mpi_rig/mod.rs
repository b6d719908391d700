//! Endpoints over the in-memory transport.
#![allow(dead_code)]

use multipc::mem::Ram;
use multipc::mpi::boot::{BootEntry, Place};
use multipc::mpi::endpoint::{
    Activity, Buffer, Endpoint, EndpointError, Mode, Receipt, Recv, Request, Send, Sizes, Storage,
};
use multipc::mpi::matching::Pattern;
use multipc::mpi::{Layout, Lent, MpiConfig, MpiCost, Piece, Port, Trace};
use multipc::remote::{Arrival, InMemory, InMemoryToken, Memories, Progress, Transfer};
use multipc::time::{Duration, Instant};

/// Notifications that a node's box holds: as many as the rings.
pub const BOX: usize = 1024;
/// Where the arena of each node lies.
pub const ARENA: u64 = 0x1_0000;

pub type World<const N: usize> = Memories<'static, N, BOX>;

/// `N` processes on as many nodes.
pub struct Rig<const N: usize> {
    pub memories: World<N>,
    pub writers: Vec<InMemory<64>>,
    pub endpoints: Vec<Endpoint<'static, InMemoryToken>>,
    pub now: Instant,
    /// First byte of the user's memory, on each node.
    pub user: u64,
}

/// Costs nothing: all happens at once.
pub fn free() -> MpiConfig {
    let mut config = MpiConfig::default().with_cost(MpiCost::FREE);
    config.unexpected_bytes = 0x4_0000;
    config
}

/// Byte `i` of message `seed`.
pub fn pattern(seed: u64, len: u64) -> Vec<u8> {
    let byte = |i: u64| {
        ((i ^ i >> 8 ^ i >> 16)
            .wrapping_mul(31)
            .wrapping_add(seed * 7)) as u8
    };
    (0..len).map(byte).collect()
}

impl<const N: usize> Rig<N> {
    pub fn new(config: MpiConfig) -> Self {
        Self::starting_at(config, 1, 0x40_0000)
    }

    /// Messages are numbered from `seq`; each user has `bytes` bytes.
    pub fn starting_at(config: MpiConfig, seq: u32, bytes: u64) -> Self {
        Self::with_sizes(config, seq, bytes, Sizes::default())
    }

    pub fn with_sizes(config: MpiConfig, seq: u32, bytes: u64, sizes: Sizes) -> Self {
        let user = (ARENA + Layout::bytes(&config, N as u32)).next_multiple_of(4096);
        let size = (user + bytes) as usize;
        let memories = Memories::new([(); N].map(|()| Ram::new(0, vec![0; size])));
        let place = |rank| Place::alone(rank as u16, N as u32, ARENA);
        let entries: Vec<BootEntry> = (0..N)
            .map(|rank| BootEntry::new(&config, &place(rank)))
            .collect();
        let endpoint = |rank| {
            let storage = Storage::owned(&config, N as u32, sizes);
            Endpoint::starting_at(config, place(rank), &entries, storage, seq).unwrap()
        };
        Self {
            memories,
            writers: (0..N).map(|node| InMemory::new(node as u16)).collect(),
            endpoints: (0..N).map(endpoint).collect(),
            now: Instant::ZERO,
            user,
        }
    }

    pub fn progress(&mut self, rank: usize) -> Activity {
        self.progress_with(rank, &mut ())
    }

    pub fn progress_with(&mut self, rank: usize, trace: &mut dyn Trace) -> Activity {
        let mut port = Lent::new(&mut self.writers[rank], &mut self.memories, rank as u16);
        let activity = self.endpoints[rank].progress(&mut port, self.now, trace);
        self.endpoints[rank].check_invariants().unwrap();
        assert_eq!(self.endpoints[rank].broken_invariant(), None);
        activity
    }

    /// Each endpoint once, then a microsecond goes by.
    pub fn round(&mut self) {
        for rank in 0..N {
            self.progress(rank);
        }
        self.now = self.now + Duration::from_us(1);
    }

    /// Rounds until nothing changes any more.
    pub fn settle(&mut self) {
        let mut quiet = 0;
        for _ in 0..200_000 {
            let before: Vec<_> = self.endpoints.iter().map(Endpoint::stats).collect();
            self.round();
            let after: Vec<_> = self.endpoints.iter().map(Endpoint::stats).collect();
            let busy = (0..N).any(|rank| matches!(self.progress(rank), Activity::Busy { .. }));
            quiet = if before == after && !busy {
                quiet + 1
            } else {
                0
            };
            if quiet > 20 {
                return;
            }
        }
        panic!("it never settles");
    }

    pub fn write(&mut self, rank: usize, addr: u64, bytes: &[u8]) {
        let ram = self.memories.ram_mut(rank as u16).unwrap();
        let place = ram.slice_mut(addr as u32, bytes.len()).unwrap();
        place.copy_from_slice(bytes);
    }

    pub fn read(&self, rank: usize, addr: u64, len: u64) -> Vec<u8> {
        let ram = self.memories.ram(rank as u16).unwrap();
        ram.slice(addr as u32, len as usize).unwrap().to_vec()
    }

    pub fn send(&mut self, from: usize, to: usize, tag: i32, buffer: Buffer) -> Request {
        let send = Send::new(to as u32, from as u32, tag, buffer);
        self.endpoints[from].isend(send).unwrap()
    }

    pub fn ssend(&mut self, from: usize, to: usize, tag: i32, buffer: Buffer) -> Request {
        let mut send = Send::new(to as u32, from as u32, tag, buffer);
        send.mode = Mode::Synchronous;
        self.endpoints[from].isend(send).unwrap()
    }

    pub fn recv(
        &mut self,
        at: usize,
        source: Option<u32>,
        tag: Option<i32>,
        buffer: Buffer,
    ) -> Request {
        let pattern = Pattern {
            context: 0,
            source,
            tag,
        };
        let mut recv = Recv::new(pattern, buffer);
        recv.peer = source;
        self.endpoints[at].irecv(recv).unwrap()
    }

    pub fn test(
        &mut self,
        rank: usize,
        request: Request,
    ) -> Option<Result<Receipt, EndpointError>> {
        self.endpoints[rank].test(request)
    }

    /// The receipt of a request that must be complete, and good.
    pub fn done(&mut self, rank: usize, request: Request) -> Receipt {
        self.test(rank, request)
            .expect("it is complete")
            .expect("it is good")
    }

    /// Whether every credit is at home or owed, and nothing is left over.
    pub fn check_idle(&self) {
        for (a, endpoint) in self.endpoints.iter().enumerate() {
            assert_eq!(endpoint.requests_in_use(), 0, "requests of {a}");
            for (b, other) in self.endpoints.iter().enumerate() {
                if let (Some(here), Some(there)) =
                    (endpoint.credit(b as u32), other.credit(a as u32))
                {
                    let sum = here.tx_avail() + there.rx_owed() + there.rx_full();
                    // A counter that was written and not read counts, too.
                    if here.config().mode == multipc::mpi::credit::CreditMode::Slot {
                        assert_eq!(sum, here.config().slots, "from {a} to {b}");
                    }
                    assert_eq!(there.rx_full(), 0, "from {a} to {b}");
                }
            }
        }
    }
}

/// A port that keeps a list of transfers, and may refuse a node.
pub struct Tap<'t, P> {
    pub inner: P,
    pub log: &'t mut Vec<Transfer>,
    /// Transfers to this node fail.
    pub refuses: Option<u16>,
}

impl<'t, P> Tap<'t, P> {
    pub fn new(inner: P, log: &'t mut Vec<Transfer>) -> Self {
        Self {
            inner,
            log,
            refuses: None,
        }
    }
}

impl<P: Port> Port for Tap<'_, P> {
    type Token = P::Token;
    type Error = Option<P::Error>;

    fn start(&mut self, transfer: Transfer) -> Result<Option<P::Token>, Self::Error> {
        if self.refuses == Some(transfer.node) {
            return Err(None);
        }
        let token = self.inner.start(transfer).map_err(Some)?;
        if token.is_some() {
            self.log.push(transfer);
        }
        Ok(token)
    }

    fn poll(&mut self) -> Result<(), Self::Error> {
        self.inner.poll().map_err(Some)
    }

    fn progress(&mut self, token: &P::Token) -> Result<Progress, Self::Error> {
        self.inner.progress(token).map_err(Some)
    }

    fn arrival(&mut self) -> Option<Arrival> {
        self.inner.arrival()
    }

    fn load(&mut self, addr: u64, into: &mut [u8]) -> Result<(), Self::Error> {
        self.inner.load(addr, into).map_err(Some)
    }

    fn store(&mut self, addr: u64, bytes: &[u8]) -> Result<(), Self::Error> {
        self.inner.store(addr, bytes).map_err(Some)
    }

    fn piece(&self, addr: u64, len: u64) -> Option<Piece> {
        self.inner.piece(addr, len)
    }
}
