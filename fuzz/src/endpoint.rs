//! An endpoint with a hostile peer: its slots, notifications and counter hold
//! anything.
//!
//! Input: mode bits u8 (slot arrival, counter words, offers, interrupts, costs, one
//! descriptor at a time), then acts: a kind u8 and what it needs.

use multipc::mpi::boot::{BootEntry, Place};
use multipc::mpi::credit::CreditMode;
use multipc::mpi::endpoint::{
    Buffer, Endpoint, Message, Mode, Peer, Recv, RequestSlot, SCRATCH_BYTES, Send, Storage,
};
use multipc::mpi::matching::{Pattern, PostedCell, UnexpectedCell};
use multipc::mpi::wire::{HEADER_LEN, TRAILER_LEN};
use multipc::mpi::{ArrivalMode, Layout, MpiConfig, MpiCost, Policy, Port};
use multipc::remote::{Arrival, Progress, Transfer};
use multipc::time::{Duration, Instant};

const ARENA: u64 = 0x1000;
const USER_BYTES: u64 = 0x5000;
const GUARD: u8 = 0xA5;
const ACTS: usize = 64;

/// The victim's node: its memory, and notifications that the peer made up.
struct Node<'n> {
    memory: &'n mut [u8],
    tags: &'n mut Vec<u32>,
    /// Where data of the victim may be read from.
    user: u64,
}

impl Node<'_> {
    fn range(&self, addr: u64, len: usize) -> Result<core::ops::Range<usize>, ()> {
        let start = usize::try_from(addr).map_err(|_| ())?;
        let end = start.checked_add(len).ok_or(())?;
        if end <= self.memory.len() {
            Ok(start..end)
        } else {
            Err(())
        }
    }
}

impl Port for Node<'_> {
    type Token = ();
    type Error = ();

    fn start(&mut self, transfer: Transfer) -> Result<Option<()>, ()> {
        assert_eq!(transfer.node, 1);
        // What leaves is of the arena, or of a send.
        assert!(transfer.length <= 61_440);
        let end = transfer.local + transfer.length;
        assert!(ARENA <= transfer.local && end <= self.user + USER_BYTES);
        // The controller's addresses have 32 bits.
        assert!(transfer.length > 0 && transfer.remote + transfer.length <= 1 << 32);
        Ok(Some(()))
    }

    fn poll(&mut self) -> Result<(), ()> {
        Ok(())
    }

    fn progress(&mut self, (): &()) -> Result<Progress, ()> {
        Ok(Progress::Sent)
    }

    fn arrival(&mut self) -> Option<Arrival> {
        let tag = self.tags.pop()?;
        Some(Arrival { tag })
    }

    fn load(&mut self, addr: u64, into: &mut [u8]) -> Result<(), ()> {
        let range = self.range(addr, into.len())?;
        into.copy_from_slice(&self.memory[range]);
        Ok(())
    }

    fn store(&mut self, addr: u64, bytes: &[u8]) -> Result<(), ()> {
        let range = self.range(addr, bytes.len())?;
        self.memory[range].copy_from_slice(bytes);
        Ok(())
    }
}

/// Whatever the peer does, the endpoint survives, writes into its arena and its
/// receives only, and its counts add up.
pub fn endpoint(data: &[u8]) {
    let mut data = data;
    let [modes] = super::take(&mut data);
    let mut config = MpiConfig::default().with_slots(4);
    if modes & 8 == 8 {
        config.policy = Policy::Interrupt;
    }
    if modes & 16 == 0 {
        config = config.with_cost(MpiCost::FREE);
    }
    config.offers = modes & 4 == 4;
    if modes & 1 == 1 {
        config = config.with_arrival(ArrivalMode::Slots);
    }
    if modes & 2 == 2 {
        config = config.with_credit_mode(CreditMode::Counter);
    }
    config.unexpected_bytes = 4096;
    config.landings = 4;
    if modes & 32 == 32 {
        config.data_in_flight = 1;
    }
    let user = ARENA + Layout::bytes(&config, 2);
    let mut memory = vec![0; (user + USER_BYTES + 0x1000) as usize];
    memory[..ARENA as usize].fill(GUARD);
    memory[user as usize..].fill(GUARD);
    let place = |rank| Place::alone(rank, 2, ARENA);
    let entries = [0, 1].map(|rank| BootEntry::new(&config, &place(rank)));
    let layout = Layout::new(&config, 0, 2, ARENA);

    let mut peers = [Peer::EMPTY; 2];
    let mut requests = [RequestSlot::FREE; 8];
    let mut posted = [const { PostedCell::<u16>::EMPTY }; 8];
    let mut unexpected = [const { UnexpectedCell::<Message>::EMPTY }; 4];
    let mut flights = [None; 8];
    let mut landings = [None; 4];
    let mut blocks = [0; 64];
    let mut scratch = vec![0; SCRATCH_BYTES];
    let storage = Storage {
        peers: (&mut peers[..]).into(),
        requests: (&mut requests[..]).into(),
        posted: (&mut posted[..]).into(),
        unexpected: (&mut unexpected[..]).into(),
        flights: (&mut flights[..]).into(),
        landings: (&mut landings[..]).into(),
        blocks: (&mut blocks[..]).into(),
        scratch: (&mut scratch[..]).into(),
    };
    let Ok(mut endpoint) = Endpoint::new(config, place(0), &entries, storage) else {
        return;
    };
    let mut tags = Vec::new();
    let mut names = Vec::new();
    let mut receives = Vec::new();
    let mut now = Instant::ZERO;
    for _ in 0..ACTS {
        if data.is_empty() {
            break;
        }
        let [act, a, b, c] = super::take(&mut data);
        let slot = endpoint.credit(1).map_or(0, |credit| credit.rx_next());
        let seq = endpoint.credit(1).map_or(1, |credit| credit.rx_seq());
        let at = layout.slot(1, slot) as usize;
        let mut computes = false;
        match act % 9 {
            // A message: its fields from the input, sequence and incarnation
            // right most of the time, the trailer where it belongs.
            0 | 1 => {
                let mut header = [0; HEADER_LEN];
                header[0] = 1 + a % 5;
                header[1] = b & !1;
                header[2] = c & 3;
                let fields: [u8; 5] = super::take(&mut data);
                header[8] = fields[0] % 3;
                header[12] = 1;
                header[16] = fields[1];
                header[17] = fields[2] & 0x0F;
                header[20] = fields[3] & 0xC0;
                header[24] = 1 + u8::from(fields[4] == 255);
                header[28..].copy_from_slice(&seq.to_le_bytes());
                let length = usize::from(u16::from_le_bytes([header[16], header[17]]));
                memory[at..at + HEADER_LEN].copy_from_slice(&header);
                let body: [u8; 48] = super::take(&mut data);
                memory[at + HEADER_LEN..][..48].copy_from_slice(&body);
                if header[0] == 3
                    && let Some(name) = names.get(usize::from(body[0]))
                {
                    let name: &u32 = name;
                    memory[at + HEADER_LEN..][..4].copy_from_slice(&name.to_le_bytes());
                }
                let end = at + HEADER_LEN + length.next_multiple_of(4);
                memory[end..end + TRAILER_LEN].copy_from_slice(&seq.to_le_bytes());
            }
            2 => {
                let bytes: [u8; 64] = super::take(&mut data);
                let offset = usize::from(u16::from_le_bytes([a, b])) % (16_384 - 64);
                // Any slot: one that is being served, too.
                let at = match c & 7 {
                    slot @ 0..4 => layout.slot(1, slot.into()) as usize,
                    _ => at,
                };
                let offset = if c & 8 == 8 { offset % 192 } else { offset };
                memory[at + offset..][..64].copy_from_slice(&bytes);
            }
            3 if c % 4 == 0 => tags.push(u32::from_le_bytes([a, b, c, 0])),
            3 => tags.push(1 << 12 | u32::from(slot)),
            4 => {
                let mut buffer = Buffer::new(user + 64 * u64::from(a), 16 * u64::from(b));
                if c & 0x20 == 0x20 {
                    // Nobody's memory: around 2^32, or at the end of 2^64.
                    let end = if c & 0x10 == 0 { 1 << 32 } else { u64::MAX };
                    buffer.addr = end - 16 * u64::from(a);
                }
                let tag = i32::from(c % 3);
                if c & 0x80 == 0 {
                    let mut send = Send::new(1, 0, tag, buffer);
                    if c & 0x40 != 0 {
                        send.mode = Mode::Synchronous;
                    }
                    if let Ok(request) = endpoint.isend(send) {
                        names.push(request.bits());
                    }
                } else {
                    let pattern = Pattern {
                        context: 0,
                        source: Some(1).filter(|_| c & 0x40 != 0),
                        tag: Some(tag),
                    };
                    let mut recv = Recv::new(pattern, buffer);
                    recv.peer = pattern.source;
                    receives.extend(endpoint.irecv(recv).ok());
                }
            }
            5 => {
                let addr = layout.counter_in(1) as usize;
                memory[addr..addr + 4].copy_from_slice(&[a, 0, 0, b & c]);
            }
            6 => {
                let body = answer(&mut data, &names, a);
                let mut header = [0; HEADER_LEN];
                header[0] = 3;
                // MORE, INTERNAL, OFFER.
                header[1] = b & 0x34;
                header[2] = c & 3;
                header[8] = c >> 2 & 3;
                // Of an offer, the rank that is to send.
                header[12] = b & 1;
                header[16..18].copy_from_slice(&(body.len() as u16).to_le_bytes());
                header[24] = 1;
                header[28..].copy_from_slice(&seq.to_le_bytes());
                memory[at..at + HEADER_LEN].copy_from_slice(&header);
                let end = at + HEADER_LEN + body.len();
                memory[at + HEADER_LEN..end].copy_from_slice(&body);
                memory[end..end + TRAILER_LEN].copy_from_slice(&seq.to_le_bytes());
                tags.push(1 << 12 | u32::from(slot));
            }
            7 => {
                if let Some(request) = receives.get(usize::from(a)) {
                    endpoint.cancel(*request);
                }
            }
            // The program computes.
            _ => computes = true,
        }
        let mut node = Node {
            memory: &mut memory,
            tags: &mut tags,
            user,
        };
        now = now + Duration::from_us(5);
        if computes {
            endpoint.interrupt(&mut node, now, &mut ());
        } else {
            endpoint.progress(&mut node, now, &mut ());
        }
        if let Err(broken) = endpoint.check_invariants() {
            panic!("{broken}");
        }
    }
    assert!(memory[..ARENA as usize].iter().all(|byte| *byte == GUARD));
    let behind = &memory[(user + 64 * 255 + 16 * 255) as usize..];
    assert!(behind.iter().all(|byte| *byte == GUARD));
}

/// An RSP whose numbers are near the edges, and that may be right.
fn answer(data: &mut &[u8], names: &[u32], name: u8) -> Vec<u8> {
    let [shape, landing, after, pick] = super::take(data);
    let near = |pick: u8, value: u64| match pick & 7 {
        0..=3 => value,
        4 => value.wrapping_add(1),
        5 => value.wrapping_sub(1),
        6 => u64::MAX - value,
        _ => u64::from(pick) << 29,
    };
    let name = names.get(usize::from(name));
    let name = name.map_or(u32::from(after), |name| *name);
    let mut entries = Vec::new();
    let mut total = 0_u64;
    for _ in 0..shape & 3 {
        let [phys, len, high, edge] = super::take(data);
        let len = u32::from(len) << (high & 15);
        let phys = match edge & 3 {
            0 => (u32::from(phys) << 12).wrapping_sub(len),
            1 => u32::MAX - (len.wrapping_sub(1)),
            _ => u32::from(phys) << 4,
        };
        total += u64::from(len);
        entries.extend(phys.to_le_bytes());
        entries.extend(len.to_le_bytes());
    }
    let offset = match shape >> 2 & 3 {
        0..=2 => 0,
        _ => near(pick, u64::from(landing) << 4),
    };
    let accept = near(pick >> 3, offset.wrapping_add(total));
    let mut body = Vec::new();
    body.extend(name.to_le_bytes());
    body.extend((u32::from(landing) << (shape >> 4)).to_le_bytes());
    body.extend(accept.to_le_bytes());
    body.extend(offset.to_le_bytes());
    body.extend((entries.len() as u16 / 8).to_le_bytes());
    body.extend(u16::from(pick >> 6 == 3).to_le_bytes());
    body.extend([0; 4]);
    body.extend(entries);
    body
}
