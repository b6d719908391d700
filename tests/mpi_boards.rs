//! Endpoints on two simulated boards, with rings so short that they wrap in the
//! middle of messages.
#![cfg(feature = "alloc")]

use multipc::cluster::{Cluster, ClusterConfig};
use multipc::fabric::topology::Topology;
use multipc::mpi::boot::{BootEntry, Place};
use multipc::mpi::endpoint::{Activity, Buffer, Endpoint, Recv, Request, Send, Sizes};
use multipc::mpi::matching::Pattern;
use multipc::mpi::{Layout, Lent, MpiConfig, MpiCost};
use multipc::put::{Model, TransferId};
use multipc::time::Duration;

const ARENA: u64 = 0x10_0000;
const USER: u64 = 0x20_0000;

struct Boards {
    cluster: Cluster,
    endpoints: Vec<Endpoint<'static, TransferId>>,
}

impl Boards {
    fn new(mut config: MpiConfig, entries: u32) -> Self {
        config = config.with_slots(4);
        config.lmr_entries = entries;
        config.unexpected_bytes = 0x1_0000;
        assert!(ARENA + Layout::bytes(&config, 2) <= USER);
        let mut machine = ClusterConfig::default();
        machine.entries = entries;
        machine.settle_us = 1000;
        machine.board.memory_bytes = 0x40_0000;
        machine.writer.tags = config.tags.tags();
        machine.model = match config.policy {
            multipc::mpi::Policy::Interrupt => Model::Interrupt,
            _ => Model::Polling,
        };
        let cluster = Cluster::boot(&Topology::pair().unwrap(), &machine).unwrap();
        let place = |rank| Place::alone(rank, 2, ARENA);
        let entries = [0, 1].map(|rank| BootEntry::new(&config, &place(rank)));
        let endpoint =
            |rank| Endpoint::owned(config, place(rank), &entries, Sizes::default()).unwrap();
        Self {
            cluster,
            endpoints: vec![endpoint(0), endpoint(1)],
        }
    }

    fn round(&mut self) {
        let (machine, writers) = self.cluster.parts();
        let mut next = machine.now() + Duration::from_ns(390);
        for (node, writer) in writers.iter_mut().enumerate() {
            let mut host = machine.host(node as u16).unwrap();
            let now = host.now();
            let mut port = Lent::new(writer, &mut host, node as u16);
            let activity = self.endpoints[node].progress(&mut port, now, &mut ());
            self.endpoints[node].check_invariants().unwrap();
            if let Activity::Busy { until } = activity {
                next = next.min(until);
            }
        }
        machine.run_until(next);
    }

    fn send(&mut self, from: usize, tag: i32, buffer: Buffer) -> Request {
        let send = Send::new(1 - from as u32, from as u32, tag, buffer);
        self.endpoints[from].isend(send).unwrap()
    }

    fn recv(&mut self, at: usize, tag: i32, buffer: Buffer) -> Request {
        let pattern = Pattern {
            context: 0,
            source: Some(1 - at as u32),
            tag: Some(tag),
        };
        self.endpoints[at]
            .irecv(Recv::new(pattern, buffer))
            .unwrap()
    }

    fn wait(&mut self, rank: usize, request: Request) {
        for _ in 0..200_000 {
            if let Some(result) = self.endpoints[rank].test(request) {
                result.unwrap();
                return;
            }
            self.round();
        }
        panic!("{:?}", self.endpoints[rank].pending().collect::<Vec<_>>());
    }
}

fn bytes(seed: usize, len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 13 + i / 251 + seed) as u8).collect()
}

#[test]
fn rings_wrap_while_messages_are_open_and_each_is_told_once() {
    let mut config = MpiConfig::default().with_cost(MpiCost::FREE);
    config.data_in_flight = 6;
    // 15 usable entries: 4 slots and 11 landings of reports; a message of 20
    // descriptors goes round the ring of descriptors in its middle.
    let mut boards = Boards::new(config, 16);
    let long = 20 * 61_440 - 7;
    let mut told = 0;
    for i in 0..12usize {
        let len = if i % 4 == 3 { long } else { i * 700 };
        let data = bytes(i, len);
        boards.cluster.store(0, USER as u32 + 1, &data).unwrap();
        let from = Buffer::new(USER + 1, len as u64);
        let to = Buffer::new(USER + 3, len as u64);
        let recv = boards.recv(1, i as i32, to);
        let send = boards.send(0, i as i32, from);
        // The other way, at the same time.
        let back_recv = boards.recv(0, i as i32, Buffer::new(USER + 0x18_0000, 64));
        let back = boards.send(1, i as i32, Buffer::new(USER + 0x18_0000, 64));
        boards.wait(1, recv);
        boards.wait(0, send);
        boards.wait(1, back);
        boards.wait(0, back_recv);
        let mut got = vec![0; len];
        boards.cluster.load(1, USER as u32 + 3, &mut got).unwrap();
        assert!(got == data, "message {i}");
        told += u64::from(len > 2048);
    }
    let stats = [0, 1].map(|rank| boards.endpoints[rank].stats());
    assert_eq!(stats[1].landed, told);
    // Each ring went round several times.
    assert!(stats[0].pieces > 3 * 16, "{stats:?}");
    assert!(stats[1].received + stats[1].landed > 16, "{stats:?}");
    assert_eq!([stats[0].strays, stats[1].strays], [0, 0]);
    assert_eq!([stats[0].closed, stats[1].closed], [0, 0]);
}
