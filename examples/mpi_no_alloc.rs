//! The message layer without an allocator: two processes as polled state
//! machines over storage that the caller owns, as a firmware would run them. First two
//! messages, then collective operations.
//!
//! ```text
//!   process 0                                   process 1
//!   Endpoint over arrays                        Endpoint over arrays
//!     Lent { InMemory, memories, node 0 }         Lent { InMemory, memories, node 1 }
//! ```
//!
//! The transport is memory here; with `put::Writer` and `fabric::Host` (or the
//! registers of a board) in its place the endpoints stay as they are. Only `main`
//! prints, and only it needs a host.
//!
//! cargo run --release --example mpi_no_alloc

use core::pin::pin;

use multipc::mem::Ram;
use multipc::mpi::boot::{BootEntry, Place};
use multipc::mpi::collective::FixedOp;
use multipc::mpi::endpoint::{
    Activity, Buffer, Endpoint, Flight, Footprint, Message, Peer, Recv, RequestSlot, SCRATCH_BYTES,
    Send, Sizes, Storage,
};
use multipc::mpi::matching::{Pattern, PostedCell, UnexpectedCell};
use multipc::mpi::polled::{Courier, Group, Operation};
use multipc::mpi::process::MpiError;
use multipc::mpi::{ARENA_ALIGN, Layout, Lent, MpiConfig, MpiCost};
use multipc::remote::{InMemory, InMemoryToken, Memories};
use multipc::time::{Duration, Instant};

const RANKS: u32 = 2;
const REQUESTS: usize = 8;
const UNEXPECTED: usize = 8;
const FLIGHTS: usize = 8;
const LANDINGS: usize = 4;
/// Blocks of unexpected data.
const BLOCKS: usize = 32;
const MEMORY: usize = 192 << 10;
/// Physical addresses: the layer's arena, and the user's data behind it.
const ARENA: u64 = 0x1000;
const SHORT: u64 = 40;
const LONG: u64 = 12_000;
/// Messages of collective operations at once, and their bytes.
const CARRIED: usize = 2;
const STAGING: usize = 64;

/// Everything that an endpoint keeps, in arrays.
struct Cells {
    peers: [Peer; RANKS as usize],
    requests: [RequestSlot; REQUESTS],
    posted: [PostedCell<u16>; REQUESTS],
    unexpected: [UnexpectedCell<Message>; UNEXPECTED],
    flights: [Option<Flight<InMemoryToken>>; FLIGHTS],
    landings: [Option<u16>; LANDINGS],
    blocks: [u32; BLOCKS],
    scratch: [u8; SCRATCH_BYTES],
}

impl Cells {
    const EMPTY: Self = Self {
        peers: [const { Peer::EMPTY }; RANKS as usize],
        requests: [const { RequestSlot::FREE }; REQUESTS],
        posted: [const { PostedCell::EMPTY }; REQUESTS],
        unexpected: [const { UnexpectedCell::EMPTY }; UNEXPECTED],
        flights: [const { None }; FLIGHTS],
        landings: [None; LANDINGS],
        blocks: [0; BLOCKS],
        scratch: [0; SCRATCH_BYTES],
    };

    fn lend(&mut self) -> Storage<'_, InMemoryToken> {
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

/// The smallest layer: three slots a pair, costs of a real processor (none are
/// charged).
fn config() -> MpiConfig {
    let mut config = MpiConfig::mpi2().with_cost(MpiCost::FREE);
    config.slots = 3;
    config.threshold = 2;
    config.landings = LANDINGS as u16;
    config.data_in_flight = FLIGHTS as u16 - 2;
    config.unexpected_bytes = (BLOCKS * multipc::mpi::endpoint::BLOCK as usize) as u32;
    config
}

/// What each rank calls, one after the other: a future without a box, polled by hand.
async fn program(group: &Group<'_, '_, CARRIED>) -> Result<([u32; 4], [u32; 2]), MpiError> {
    let tens = 1 + 9 * group.rank();
    let (mut sum, mut operand) = ([tens, tens * 2, tens * 3, tens * 4], [0; 4]);
    let mut all = [0; 2];
    group.barrier().await?;
    let plus = FixedOp::sum();
    group.allreduce(&mut sum, &plus, &mut operand).await?;
    group.allgather(&[group.rank() * 100], &mut all).await?;
    Ok((sum, all))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = config();
    let user = (ARENA + Layout::bytes(&config, RANKS)).next_multiple_of(ARENA_ALIGN);
    assert!(
        user + SHORT + LONG + STAGING as u64 <= MEMORY as u64,
        "the memory is too small: {user}"
    );

    let mut memory = [[0u8; MEMORY]; 2];
    for (i, byte) in memory[0][user as usize..][..(SHORT + LONG) as usize]
        .iter_mut()
        .enumerate()
    {
        *byte = (i * 7 + i / 256) as u8;
    }
    let sent = memory[0][user as usize..][..(SHORT + LONG) as usize].to_vec();
    let [left, right] = &mut memory;
    let mut memories: Memories<2> =
        Memories::new([Ram::new(0, &mut left[..]), Ram::new(0, &mut right[..])]);

    // What the processes tell each other at the start; a real machine does it
    // over its control network.
    let places = [0, 1].map(|rank| Place::alone(rank, RANKS, ARENA));
    let entries = places.map(|place| BootEntry::new(&config, &place));
    let (mut cells_0, mut cells_1) = (Cells::EMPTY, Cells::EMPTY);
    let mut endpoints = [
        Endpoint::new(config, places[0], &entries, cells_0.lend())?,
        Endpoint::new(config, places[1], &entries, cells_1.lend())?,
    ];
    let mut writers: [InMemory<8>; 2] = [InMemory::new(0), InMemory::new(1)];

    // A short message, which is copied into a slot, and a long one, which waits
    // for its receive and then goes straight to its place.
    let short = Buffer {
        addr: user,
        len: SHORT,
    };
    let long = Buffer {
        addr: user + SHORT,
        len: LONG,
    };
    let sends = [
        endpoints[0].isend(Send::new(1, 0, 5, short))?,
        endpoints[0].isend(Send::new(1, 0, 6, long))?,
    ];
    let any = Pattern {
        context: 0,
        source: None,
        tag: Some(5),
    };
    let receives = [
        endpoints[1].irecv(Recv::new(any, short))?,
        endpoints[1].irecv(Recv::new(
            Pattern {
                tag: Some(6),
                ..any
            },
            long,
        ))?,
    ];
    let mut now = Instant::ZERO;
    let mut rounds = 0;
    while !(sends.iter().all(|r| endpoints[0].is_done(*r))
        && receives.iter().all(|r| endpoints[1].is_done(*r)))
    {
        for (rank, endpoint) in endpoints.iter_mut().enumerate() {
            let mut port = Lent::new(&mut writers[rank], &mut memories, rank as u16);
            match endpoint.progress(&mut port, now, &mut ()) {
                Activity::Busy { .. } | Activity::Idle => {}
            }
        }
        now = now + Duration::from_us(1);
        rounds += 1;
        assert!(rounds < 1000, "the messages do not arrive");
    }
    println!("two messages after {rounds} rounds of polling:");
    for receive in receives {
        let receipt = endpoints[1].test(receive).ok_or("not complete")??;
        println!(
            "  tag {}: {} bytes from rank {}",
            receipt.tag, receipt.length, receipt.source
        );
    }
    for send in sends {
        endpoints[0].test(send).ok_or("not complete")??;
    }

    // Collective operations, with the same endpoints.
    let window = user + SHORT + LONG;
    let mut staging = [[0; STAGING]; 2];
    let [staging_0, staging_1] = &mut staging;
    let couriers: [Courier<'_, CARRIED>; 2] = [
        Courier::new(staging_0, window),
        Courier::new(staging_1, window),
    ];
    let groups = [0, 1].map(|rank| Group::world(&couriers[rank], &places[rank]));
    let (first, second) = (pin!(program(&groups[0])), pin!(program(&groups[1])));
    let bytes_of_program = size_of_val(&*first);
    let mut operations = [Operation::start(first), Operation::start(second)];
    let mut steps = 0;
    while !operations
        .iter_mut()
        .fold(true, |all, one| all & one.look())
    {
        for (rank, endpoint) in endpoints.iter_mut().enumerate() {
            let mut port = Lent::new(&mut writers[rank], &mut memories, rank as u16);
            couriers[rank].progress(endpoint, &mut port, now, &mut ());
        }
        now = now + Duration::from_us(1);
        steps += 1;
        assert!(steps < 1000, "the operations do not end");
    }
    println!("barrier, allreduce, allgather after {steps} more rounds:");
    for (rank, operation) in operations.iter_mut().enumerate() {
        let (sum, all) = operation.take().ok_or("not complete")??;
        println!("  rank {rank}: sums {sum:?}, of all {all:?}");
        assert_eq!((sum, all), ([11, 22, 33, 44], [0, 100]));
    }
    drop(memories);
    assert_eq!(
        &right[user as usize..][..(SHORT + LONG) as usize],
        &sent[..]
    );
    println!("every byte of the messages as sent\n");

    let sizes = Sizes {
        requests: REQUESTS,
        unexpected: UNEXPECTED,
        flights: FLIGHTS,
    };
    let bytes = Footprint::of::<InMemoryToken>(&config, RANKS, sizes);
    println!("bytes of a process's endpoint on this host, fixed at its start:");
    println!(
        "  endpoint {}, {} a peer, {} a request, {} an unexpected message, {} a transfer,",
        bytes.endpoint, bytes.peer, bytes.request, bytes.unexpected, bytes.flight
    );
    println!(
        "  {} a long message on its way here, scratch {}: {} in all,",
        bytes.landing, bytes.scratch, bytes.total
    );
    println!(
        "  and an arena of {} that the controller reaches",
        bytes.arena
    );
    println!("of its collective operations:");
    println!(
        "  courier {} for {CARRIED} messages, their bytes {STAGING} here and in the controller's reach,",
        size_of::<Courier<'_, CARRIED>>()
    );
    println!(
        "  group {}, the program's future {bytes_of_program}",
        size_of::<Group<'_, '_, CARRIED>>()
    );
    Ok(())
}
