//! A message of more than 4 GB, on nodes whose page maps are made up.
#![cfg(feature = "alloc")]

use std::collections::VecDeque;

use multipc::mpi::boot::{BootEntry, Place};
use multipc::mpi::endpoint::{Buffer, Endpoint, Recv, Send, Sizes};
use multipc::mpi::matching::Pattern;
use multipc::mpi::{Layout, MpiConfig, MpiCost, Piece, Port};
use multipc::remote::{Arrival, Progress, Transfer};
use multipc::time::Instant;

/// Where the process sees its buffer.
const BUFFER: u64 = 1 << 40;
/// Its pages, on each node: the same memory again and again.
const PAGES: [(u64, u64); 2] = [(0x8000_0000, 1 << 20), (0xC000_0000, (1 << 20) + 4096)];
const TOTAL: u64 = (5 << 30) + 123;

/// Memories of the arenas; bytes of the buffers are only counted.
struct Net {
    memories: [Vec<u8>; 2],
    boxes: [VecDeque<Arrival>; 2],
    done: u64,
    told: u32,
}

struct Node<'n> {
    net: &'n mut Net,
    node: usize,
}

impl Node<'_> {
    fn range(&self, addr: u64, len: usize) -> Option<std::ops::Range<usize>> {
        let end = addr as usize + len;
        (end <= self.net.memories[0].len()).then_some(addr as usize..end)
    }
}

impl Port for Node<'_> {
    type Token = ();
    type Error = ();

    fn start(&mut self, transfer: Transfer) -> Result<Option<()>, ()> {
        let Transfer {
            node,
            local,
            remote,
            length,
            flags,
        } = transfer;
        let to = usize::from(node);
        if local >= PAGES[0].0 {
            let [(here, p), (there, q)] = PAGES;
            assert_eq!(local, here + self.net.done % p);
            assert_eq!(remote, there + self.net.done % q);
            assert!((1..=61_440).contains(&length));
            self.net.done += length;
            self.net.told += u32::from(flags.notify_receiver);
        } else {
            let from = self.range(local, length as usize).ok_or(())?;
            let bytes = self.net.memories[self.node][from].to_vec();
            let into = self.range(remote, bytes.len()).ok_or(())?;
            self.net.memories[to][into].copy_from_slice(&bytes);
        }
        if flags.notify_receiver {
            self.net.boxes[to].push_back(Arrival { tag: flags.tag });
        }
        Ok(Some(()))
    }

    fn poll(&mut self) -> Result<(), ()> {
        Ok(())
    }

    fn progress(&mut self, (): &()) -> Result<Progress, ()> {
        Ok(Progress::Sent)
    }

    fn arrival(&mut self) -> Option<Arrival> {
        self.net.boxes[self.node].pop_front()
    }

    fn load(&mut self, addr: u64, into: &mut [u8]) -> Result<(), ()> {
        if addr < PAGES[0].0 {
            let range = self.range(addr, into.len()).ok_or(())?;
            into.copy_from_slice(&self.net.memories[self.node][range]);
        }
        Ok(())
    }

    fn store(&mut self, addr: u64, bytes: &[u8]) -> Result<(), ()> {
        let range = self.range(addr, bytes.len()).ok_or(())?;
        self.net.memories[self.node][range].copy_from_slice(bytes);
        Ok(())
    }

    fn piece(&self, addr: u64, len: u64) -> Option<Piece> {
        let (first, period) = PAGES[self.node];
        let within = addr.checked_sub(BUFFER)? % period;
        let len = len.min(period - within);
        Some(Piece {
            addr: first + within,
            len,
        })
    }
}

#[test]
fn five_gigabytes_go_as_one_message() {
    let mut config = MpiConfig::default().with_cost(MpiCost::FREE);
    config.unexpected_bytes = 0;
    let size = Layout::bytes(&config, 2) as usize;
    let place = |rank| Place::alone(rank, 2, 0);
    let entries = [0, 1].map(|rank| BootEntry::new(&config, &place(rank)));
    let endpoint = |rank| Endpoint::owned(config, place(rank), &entries, Sizes::default()).unwrap();
    let mut endpoints = [endpoint(0), endpoint(1)];
    let mut net = Net {
        memories: [vec![0; size], vec![0; size]],
        boxes: Default::default(),
        done: 0,
        told: 0,
    };
    let any = Pattern {
        context: 0,
        source: None,
        tag: None,
    };
    let send = endpoints[0]
        .isend(Send::new(1, 0, 1, Buffer::new(BUFFER, TOTAL)))
        .unwrap();
    let room = Buffer::new(BUFFER, TOTAL + 1000);
    let recv = endpoints[1].irecv(Recv::new(any, room)).unwrap();
    while !(endpoints[0].is_done(send) && endpoints[1].is_done(recv)) {
        for (node, endpoint) in endpoints.iter_mut().enumerate() {
            let mut port = Node {
                net: &mut net,
                node,
            };
            endpoint.progress(&mut port, Instant::ZERO, &mut ());
        }
    }
    assert_eq!((net.done, net.told), (TOTAL, 1));
    let receipt = endpoints[1].test(recv).unwrap().unwrap();
    assert_eq!((receipt.length, receipt.total), (TOTAL, TOTAL));
    // 5116 pieces do not fit one answer.
    assert_eq!(endpoints[1].stats().answers, 3);
}
