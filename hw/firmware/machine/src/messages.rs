//! Message passing inside a microcontroller: the engine of MPI-MPC on each of two
//! boards, all of it in statics.
//!
//! ```text
//!   Endpoint (rank 0)                         Endpoint (rank 1)
//!   Writer, Put                               Writer, Put
//!   board 0 ================================= board 1
//! ```
//!
//! First messages of many lengths both ways, eager and by rendezvous, before and after
//! their receives; then a barrier and an allreduce; then a ping-pong with the software costs of the record, whose half
//! round trip is the published latency.
#![no_std]
#![no_main]

use core::pin::pin;

use firmware_support::{Stack, entry, finish};
use machine::boards::Boards;
use machine::check::{GUARD, Window, clear, fill};
use machine::failure::Failure;
use multipc::fabric::{Host, HostError, Machine};
use multipc::mpi::boot::{BootEntry, Place};
use multipc::mpi::collective::FixedOp;
use multipc::mpi::endpoint::{
    Activity, Buffer, Endpoint, Flight, Message, Peer, Recv, Request, RequestSlot, SCRATCH_BYTES,
    Send, Storage,
};
use multipc::mpi::matching::{Pattern, PostedCell, UnexpectedCell};
use multipc::mpi::polled::{Courier, Group, Operation};
use multipc::mpi::process::MpiError;
use multipc::mpi::{Layout, Lent, MpiConfig, MpiCost};
use multipc::put::{DmaMemory, Model, RegisterPort, TransferId, Writer, WriterConfig};
use multipc::time::Duration;
use static_cell::{ConstStaticCell, StaticCell};

/// Memory of a board: the driver's tables, the endpoint's arena, room for messages.
const MEMORY: usize = 0x4_0000;
/// Where the arena lies, and the two places for messages.
const ARENA: u64 = 0x2000;
const SOURCE: u32 = 0x2_0000;
const TARGET: u32 = 0x3_0000;
/// Entries of the drivers' rings.
const ENTRIES: u32 = 16;
/// Slots of a pair, and memory for eager data that nobody has received.
const SLOTS: u16 = 3;
const UNEXPECTED_BYTES: u32 = 0x2000;
/// Requests, messages and transfers that may be open at once.
const OPEN: usize = 8;
/// Blocks of 64 bytes in that memory.
const BLOCKS: usize = UNEXPECTED_BYTES as usize / 64;

/// Around the eager limit of 2048, and the length of a descriptor, 61,440.
const LENGTHS: [u32; 8] = [0, 1, 100, 2048, 2049, 20_000, 61_440, 61_445];
/// Alignments of the two places.
const SKEWS: (u32, u32) = (1, 2);
/// Ping-pongs that are measured.
const ROUNDS: u64 = 100;
/// What passes while nobody has a step under way: the record's polling period.
const POLL: Duration = Duration::from_ns(390);
/// A message is over long before so many rounds.
const PATIENCE: u32 = 1_000_000;

/// Collective operations: words that are summed, and what two messages of them take.
const WORDS: usize = 16;
const CARRIED: usize = 2;
const STAGING: usize = CARRIED * WORDS * size_of::<u32>();

type Token = TransferId;
type Messenger<'a> = Courier<'a, CARRIED>;

static MEMORIES: ConstStaticCell<[[u8; MEMORY]; 2]> = ConstStaticCell::new([[0; MEMORY]; 2]);
static WRITERS: StaticCell<[Writer; 2]> = StaticCell::new();

/// The storage of one endpoint.
struct Room {
    peers: [Peer; 2],
    requests: [RequestSlot; OPEN],
    posted: [PostedCell<u16>; OPEN],
    unexpected: [UnexpectedCell<Message>; OPEN],
    flights: [Option<Flight<Token>>; OPEN],
    landings: [Option<u16>; OPEN],
    blocks: [u32; BLOCKS],
    scratch: [u8; SCRATCH_BYTES],
}

impl Room {
    const EMPTY: Self = Self {
        peers: [Peer::EMPTY; 2],
        requests: [RequestSlot::FREE; OPEN],
        posted: [PostedCell::EMPTY; OPEN],
        unexpected: [const { UnexpectedCell::EMPTY }; OPEN],
        flights: [None; OPEN],
        landings: [None; OPEN],
        blocks: [0; BLOCKS],
        scratch: [0; SCRATCH_BYTES],
    };

    fn storage(&mut self) -> Storage<'_, Token> {
        Storage {
            peers: (&mut self.peers[..]).into(),
            requests: (&mut self.requests[..]).into(),
            posted: (&mut self.posted[..]).into(),
            unexpected: (&mut self.unexpected[..]).into(),
            flights: (&mut self.flights[..]).into(),
            landings: (&mut self.landings[..]).into(),
            blocks: (&mut self.blocks[..]).into(),
            scratch: (&mut self.scratch[..]).into(),
        }
    }
}

/// One for each board and run.
static ROOMS: ConstStaticCell<[[Room; 2]; 2]> =
    ConstStaticCell::new([const { [Room::EMPTY; 2] }; 2]);

#[entry]
fn main() -> ! {
    finish(run())
}

fn run() -> Result<(), Failure> {
    let (machine, writers) = boot()?;
    let stack = Stack::paint();
    let [free, costly] = ROOMS.take();
    defmt::info!(
        "bytes of RAM: endpoint {=usize}, its storage {=usize}, its arena {=u64}, writer {=usize}",
        size_of::<Endpoint<'static, Token>>(),
        size_of::<Room>(),
        Layout::bytes(&config(MpiCost::FREE), 2),
        size_of::<Writer>()
    );
    let mut pair = Pair::new(machine, writers, free, MpiCost::FREE)?;
    let mut moved = 0;
    for (i, length) in (0..).zip(LENGTHS) {
        for from in [0, 1] {
            for receive_first in [false, true] {
                pair.message(from, i, length, receive_first)?;
                moved += 1;
            }
        }
    }
    defmt::info!("{=u32} messages of up to 61445 bytes right", moved);
    let future = pair.collectives()?;
    defmt::info!("barrier, allreduce of {=usize} words right", WORDS);
    defmt::info!(
        "bytes of RAM: courier {=usize} and its messages {=usize}, future {=usize}",
        size_of::<Messenger<'static>>(),
        STAGING,
        future
    );

    let (machine, writers) = pair.end();
    let mut pair = Pair::new(machine, writers, costly, MpiCost::default())?;
    let half = pair.ping_pong()?;
    defmt::info!(
        "MPI-MPC 2: half round trip {=u64} ns, on record 15000",
        half
    );
    defmt::info!("bytes of stack at most: {=usize}", stack.peak_bytes());
    Ok(())
}

// Its frame, which holds chips and drivers before they are moved, must not stay.
#[inline(never)]
fn boot() -> Result<(&'static mut Machine<'static>, &'static mut [Writer; 2]), Failure> {
    let memories = MEMORIES.try_take().ok_or(Failure::Taken)?;
    let mut boards = Boards::new(memories.each_mut().map(|memory| &mut memory[..]))?;
    boards.start(Model::Polling, ENTRIES)?;
    let (machine, [left, right]) = boards.into_parts();
    let mut tags = WriterConfig::default();
    tags.tags = config(MpiCost::FREE).tags.tags();
    let writers = [Writer::new(left, tags)?, Writer::new(right, tags)?];
    let writers = WRITERS.try_init(writers).ok_or(Failure::Taken)?;
    Ok((machine, writers))
}

fn config(cost: MpiCost) -> MpiConfig {
    let mut config = MpiConfig::mpi2().with_slots(SLOTS).with_cost(cost);
    config.lmr_entries = ENTRIES;
    config.unexpected_bytes = UNEXPECTED_BYTES;
    config.landings = OPEN as u16;
    config
}

/// The CPU side of a board whose register accesses take no bus time: one loop here plays
/// both processors, and what software costs is in [`MpiCost`].
struct Untimed<'m>(Host<'m, 'static>);

impl RegisterPort for Untimed<'_> {
    type Error = HostError;

    fn read(&mut self, offset: u8) -> Result<u32, HostError> {
        self.0.peek_register(offset)
    }

    fn write(&mut self, offset: u8, value: u32) -> Result<(), HostError> {
        self.0.poke_register(offset, value)
    }
}

impl DmaMemory for Untimed<'_> {
    type Error = HostError;

    fn load(&mut self, addr: u32, bytes: &mut [u8]) -> Result<(), HostError> {
        Ok(self.0.load(addr, bytes)?)
    }

    fn store(&mut self, addr: u32, bytes: &[u8]) -> Result<(), HostError> {
        Ok(self.0.store(addr, bytes)?)
    }
}

/// Two ranks.
struct Pair {
    machine: &'static mut Machine<'static>,
    writers: &'static mut [Writer; 2],
    endpoints: [Endpoint<'static, Token>; 2],
}

impl Pair {
    fn new(
        machine: &'static mut Machine<'static>,
        writers: &'static mut [Writer; 2],
        rooms: &'static mut [Room; 2],
        cost: MpiCost,
    ) -> Result<Self, Failure> {
        let config = config(cost);
        let place = |rank| Place::alone(rank, 2, ARENA);
        // What the processes tell each other at the start; here they are one program.
        let told = [0, 1].map(|rank| BootEntry::new(&config, &place(rank)));
        let [left, right] = rooms;
        let endpoints = [
            Endpoint::new(config, place(0), &told, left.storage())?,
            Endpoint::new(config, place(1), &told, right.storage())?,
        ];
        Ok(Self {
            machine,
            writers,
            endpoints,
        })
    }

    fn end(self) -> (&'static mut Machine<'static>, &'static mut [Writer; 2]) {
        (self.machine, self.writers)
    }

    /// Each engine does what it can now; then time goes on to the next step.
    fn round(&mut self) -> Result<(), Failure> {
        self.round_with(None)
    }

    fn round_with(&mut self, couriers: Option<&[Messenger<'_>; 2]>) -> Result<(), Failure> {
        let mut next = self.machine.now() + POLL;
        let ends = self.writers.iter_mut().zip(&mut self.endpoints);
        for (node, (writer, endpoint)) in (0..).zip(ends) {
            let host = self.machine.host(node)?;
            let now = host.now();
            let mut host = Untimed(host);
            let mut port = Lent::new(writer, &mut host, node);
            let activity = match couriers.and_then(|both| both.get(usize::from(node))) {
                Some(courier) => courier.progress(endpoint, &mut port, now, &mut ()),
                None => endpoint.progress(&mut port, now, &mut ()),
            };
            if let Activity::Busy { until } = activity {
                next = next.min(until);
            }
        }
        self.machine.run_until(next);
        Ok(())
    }

    fn send(&mut self, from: usize, tag: i32, length: u64) -> Result<Request, Failure> {
        let buffer = Buffer::new((SOURCE + SKEWS.0).into(), length);
        let send = Send::new(1 - from as u32, from as u32, tag, buffer);
        Ok(self.endpoints[from].isend(send)?)
    }

    fn receive(&mut self, at: usize, tag: i32, length: u64) -> Result<Request, Failure> {
        let pattern = Pattern {
            context: 0,
            source: Some(1 - at as u32),
            tag: Some(tag),
        };
        let buffer = Buffer::new((TARGET + GUARD + SKEWS.1).into(), length);
        Ok(self.endpoints[at].irecv(Recv::new(pattern, buffer))?)
    }

    fn wait(&mut self, rank: usize, request: Request, length: u64) -> Result<(), Failure> {
        for _ in 0..PATIENCE {
            if let Some(receipt) = self.endpoints[rank].test(request) {
                receipt?;
                return Ok(());
            }
            self.round()?;
        }
        Err(Failure::Stuck { length })
    }

    /// One message, checked with the memory around it.
    fn message(&mut self, from: usize, tag: i32, length: u32, first: bool) -> Result<(), Failure> {
        let to = 1 - from;
        let window = Window {
            address: TARGET + SKEWS.1,
            length,
            seed: tag as u32 * 2 + from as u32,
        };
        let mut piece = [0; 64];
        for at in (0..length).step_by(piece.len()) {
            fill(&mut piece, window.seed, at);
            self.store(from, SOURCE + SKEWS.0 + at, &piece)?;
        }
        clear(&mut piece);
        for at in (0..window.bytes()).step_by(piece.len()) {
            self.store(to, window.address + at, &piece)?;
        }
        let bytes = u64::from(length);
        let early = if first {
            Some(self.receive(to, tag, bytes)?)
        } else {
            None
        };
        let send = self.send(from, tag, bytes)?;
        if !first {
            // It arrives before anybody has asked for it.
            for _ in 0..100 {
                self.round()?;
            }
        }
        let receive = match early {
            Some(receive) => receive,
            None => self.receive(to, tag, bytes)?,
        };
        self.wait(to, receive, bytes)?;
        self.wait(from, send, bytes)?;
        for at in (0..window.bytes()).step_by(piece.len()) {
            let n = (window.bytes() - at).min(piece.len() as u32) as usize;
            let piece = piece.get_mut(..n).unwrap_or_default();
            let host = self.machine.host(to as u16)?;
            host.load(window.address + at, piece)
                .map_err(HostError::from)?;
            window.compare(piece, at)?;
        }
        Ok(())
    }

    fn store(&mut self, node: usize, address: u32, bytes: &[u8]) -> Result<(), Failure> {
        let mut host = self.machine.host(node as u16)?;
        Ok(host.store(address, bytes).map_err(HostError::from)?)
    }

    /// Both ranks in a barrier and an allreduce; the bytes of a rank's future.
    #[inline(never)]
    fn collectives(&mut self) -> Result<usize, Failure> {
        let mut staging = [[0; STAGING]; 2];
        // The messages before are over: their place is free.
        let couriers = staging
            .each_mut()
            .map(|bytes| Courier::new(bytes, SOURCE.into()));
        let [left, right] = &self.endpoints;
        let places = [*left.place(), *right.place()];
        let [left, right] = &couriers;
        let [first, second] = &places;
        let groups = [Group::world(left, first), Group::world(right, second)];
        let [left, right] = &groups;
        let (first, second) = (pin!(sum_up(left)), pin!(sum_up(right)));
        let bytes = size_of_val(&*first);
        let mut operations = [Operation::start(first), Operation::start(second)];
        for _ in 0..PATIENCE {
            if operations
                .iter_mut()
                .fold(true, |all, one| all & one.look())
            {
                for operation in &mut operations {
                    let sum = operation.take().ok_or(Failure::Taken)??;
                    let wrong = (0..).zip(sum).find(|(i, found)| *found != 2 * i + 1);
                    if let Some((word, found)) = wrong {
                        return Err(Failure::Sum { word, found });
                    }
                }
                return Ok(bytes);
            }
            self.round_with(Some(&couriers))?;
        }
        Err(Failure::Stuck { length: 0 })
    }

    /// Half the time of an empty message there and back, in nanoseconds.
    fn ping_pong(&mut self) -> Result<u64, Failure> {
        // Each rank receives again as soon as it has sent, as a program does.
        let mut receives = [None, Some(self.receive(1, 0, 0)?)];
        // The first round warms up: rank 1 has called its receive before.
        let mut start = self.machine.now();
        for round in 0..=ROUNDS {
            if round == 1 {
                start = self.machine.now();
            }
            for from in [0, 1] {
                let send = self.send(from, 0, 0)?;
                receives[from] = Some(self.receive(from, 0, 0)?);
                if let Some(receive) = receives[1 - from].take() {
                    self.wait(1 - from, receive, 0)?;
                }
                self.wait(from, send, 0)?;
            }
        }
        let time = self.machine.now().since(start);
        Ok(time.ps() / (2 * ROUNDS) / 1000)
    }
}

/// Word `i` of rank `r` is `i + r`; the sums of all.
async fn sum_up(group: &Group<'_, '_, CARRIED>) -> Result<[u32; WORDS], MpiError> {
    let mut sum = core::array::from_fn(|i| i as u32 + group.rank());
    let mut operand = [0; WORDS];
    group.barrier().await?;
    let plus = FixedOp::sum();
    group.allreduce(&mut sum, &plus, &mut operand).await?;
    Ok(sum)
}
