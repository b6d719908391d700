//! The edges of the message layer, one test a case (hw/doc/mpi.md, section
//! "Edges"): data and slots. Others are in mpi_edge_boot.rs, mpi_edge_calls.rs,
//! mpi_edge_forged.rs and mpi_edge_reach.rs.
#![cfg(feature = "alloc")]

mod mpi_rig;

use mpi_rig::{ARENA, Rig, Tap, free, pattern};
use multipc::mpi::endpoint::Buffer;
use multipc::mpi::{ArrivalMode, Lent, PageMap, Piece};
use multipc::remote::{InMemory, Transfer};

/// Sends `data` from 0 to 1, receive first, with `room` bytes of room, both at
/// these addresses; gives what came.
fn pass(rig: &mut Rig<2>, from: u64, to: u64, data: &[u8], room: u64) -> Vec<u8> {
    rig.write(0, from, data);
    rig.write(1, to - 4, &vec![0xEE; data.len() + 8]);
    let recv = rig.recv(1, Some(0), Some(3), Buffer::new(to, room));
    let send = rig.send(0, 1, 3, Buffer::new(from, data.len() as u64));
    rig.settle();
    let sent = rig.done(0, send);
    let got = rig.done(1, recv);
    assert_eq!(sent.length, data.len() as u64);
    assert_eq!(got.total, data.len() as u64);
    assert_eq!(got.length, room.min(got.total));
    assert_eq!(rig.read(1, to - 4, 4), [0xEE; 4]);
    assert_eq!(rig.read(1, to + got.length, 4), [0xEE; 4]);
    rig.read(1, to, got.length)
}

#[test]
fn messages_of_no_bytes_are_matched_whatever_their_kind() {
    let mut rig: Rig<2> = Rig::new(free());
    let nothing = Buffer::new(rig.user, 0);
    let recvs = [5, 6].map(|tag| rig.recv(1, Some(0), Some(tag), nothing));
    let short = rig.send(0, 1, 5, nothing);
    let asked = rig.ssend(0, 1, 6, nothing);
    rig.settle();
    for recv in recvs {
        assert_eq!(rig.done(1, recv).total, 0);
    }
    rig.done(0, short);
    rig.done(0, asked);
    let stats = rig.endpoints[0].stats();
    assert_eq!((stats.shorts, stats.requests, stats.pieces), (1, 1, 0));
    rig.check_idle();
}

#[test]
fn the_eager_limit_divides_the_two_paths() {
    for (eager_max, len, short) in [
        (100, 100, true),
        (100, 101, false),
        (16_348, 16_348, true),
        (16_348, 16_349, false),
    ] {
        let mut config = free();
        config.eager_max = eager_max;
        let mut rig: Rig<2> = Rig::new(config);
        let (from, to) = (rig.user, rig.user + 0x1_0000);
        let data = pattern(1, len);
        assert_eq!(pass(&mut rig, from, to, &data, len), data);
        let stats = rig.endpoints[0].stats();
        let paths = (u64::from(short), u64::from(!short));
        assert_eq!((stats.shorts, stats.requests), paths, "{len}");
    }
    let mut config = free();
    config.eager_max = 16_349;
    let error = config.check(2).unwrap_err().to_string();
    assert_eq!(error, "eager_max of 16349, allowed 0..=16348");
}

/// Pages of `self.0` bytes that lie in the opposite order, a gap after each.
struct Scattered(u64, u64);

impl PageMap for Scattered {
    fn piece(&self, addr: u64, len: u64) -> Option<Piece> {
        let (page, within) = (addr.checked_sub(self.1)? / self.0, (addr - self.1) % self.0);
        let frame = 15u64.checked_sub(page)?;
        let addr = self.1 + frame * (self.0 + 8) + within;
        let len = len.min(self.0 - within);
        Some(Piece { addr, len })
    }
}

#[test]
fn pieces_around_65536_bytes_neither_vanish_nor_wrap() {
    for page in [65_535, 65_536, 65_537] {
        let mut rig: Rig<2> = Rig::new(free());
        let map = Scattered(page, rig.user);
        let data = pattern(page, 3 * page + 100);
        for (i, part) in data.chunks(page as usize).enumerate() {
            let at = map.piece(rig.user + i as u64 * page, 1).unwrap().addr;
            rig.write(0, at, part);
        }
        let len = data.len() as u64;
        let recv = rig.recv(1, Some(0), None, Buffer::new(rig.user + 5, len));
        let send = rig.send(0, 1, 0, Buffer::new(rig.user, len));
        let mut log = Vec::new();
        for _ in 0..200 {
            for rank in 0..2 {
                let node = rank as u16;
                let lent = Lent::new(&mut rig.writers[rank], &mut rig.memories, node);
                let mut port = Tap::new(lent.with_pages(&map), &mut log);
                rig.endpoints[rank].progress(&mut port, rig.now, &mut ());
            }
        }
        assert_eq!(rig.done(1, recv).length, len);
        rig.done(0, send);
        let to_user = |t: &Transfer| t.node == 1 && t.remote >= rig.user;
        let data_transfers: Vec<Transfer> = log.into_iter().filter(to_user).collect();
        let total: u64 = data_transfers.iter().map(|t| t.length).sum();
        assert_eq!(total, len);
        // Four pieces on each side, and at most one cut of each more.
        assert!((8..=7 + 4).contains(&data_transfers.len()));
        for transfer in &data_transfers {
            assert!((1..=61_440).contains(&transfer.length), "{transfer:?}");
        }
        // One notification a message, on its last descriptor.
        let told = data_transfers.iter().filter(|t| t.flags.notify_receiver);
        assert_eq!(told.count(), 1);
        assert!(data_transfers.last().unwrap().flags.notify_receiver);
        let mut got = Vec::new();
        while got.len() < data.len() {
            let addr = rig.user + 5 + got.len() as u64;
            let piece = map.piece(addr, (data.len() - got.len()) as u64).unwrap();
            got.extend(rig.read(1, piece.addr, piece.len));
        }
        assert!(got == data, "pages of {page}");
    }
}

#[test]
fn smaller_receives_take_the_start_and_leave_later_messages_unharmed() {
    for len in [1000, 100_000] {
        let mut rig: Rig<2> = Rig::new(free());
        let (from, to) = (rig.user, rig.user + 0x10_0000);
        let data = pattern(9, len);
        for room in [0, 1, len - 1, len / 2] {
            let start = &data[..room as usize];
            assert_eq!(pass(&mut rig, from, to, &data, room), start);
            assert_eq!(pass(&mut rig, from, to, &data, len), data);
        }
        rig.check_idle();
    }
}

#[test]
fn all_alignments_carry_the_same_bytes() {
    for aligned_cuts in [false, true] {
        let mut config = free();
        config.aligned_cuts = aligned_cuts;
        let mut rig: Rig<2> = Rig::new(config);
        for len in [5, 2050, 2051, 61_441, 125_003] {
            let data = pattern(len, len);
            for local in 0..4 {
                for remote in 0..4 {
                    let (from, to) = (rig.user + 64 + local, rig.user + 0x10_0000 + remote);
                    assert_eq!(pass(&mut rig, from, to, &data, len), data);
                }
            }
        }
    }
}

#[test]
fn aligned_cuts_give_aligned_remote_addresses() {
    let mut config = free();
    config.aligned_cuts = true;
    let mut rig: Rig<2> = Rig::new(config);
    let len = 200_000;
    let recv = rig.recv(1, Some(0), None, Buffer::new(rig.user + 3, len));
    let send = rig.send(0, 1, 0, Buffer::new(rig.user + 0x10_0001, len));
    let mut log = Vec::new();
    for _ in 0..100 {
        for rank in 0..2 {
            let lent = Lent::new(&mut rig.writers[rank], &mut rig.memories, rank as u16);
            let mut port = Tap::new(lent, &mut log);
            rig.endpoints[rank].progress(&mut port, rig.now, &mut ());
        }
    }
    rig.done(0, send);
    rig.done(1, recv);
    let user = rig.user;
    let data: Vec<_> = log
        .iter()
        .filter(|t| t.node == 1 && t.remote >= user)
        .collect();
    assert_eq!((data[0].remote % 4, data[0].length), (3, 1));
    assert!(data[1..].iter().all(|t| t.remote % 4 == 0));
}

#[test]
fn a_full_queue_in_the_middle_of_a_message_only_delays_it() {
    let mut config = free();
    config.data_in_flight = 15;
    let mut rig: Rig<2> = Rig::new(config);
    // The transport holds two, the endpoint would have fifteen.
    let mut writers: [InMemory<2>; 2] = [InMemory::new(0), InMemory::new(1)];
    let len = 40 * 61_440;
    let data = pattern(4, len);
    let user = rig.user;
    rig.write(0, user, &data);
    let small = Buffer::new(user, 8);
    let recv = rig.recv(1, Some(0), Some(1), Buffer::new(user, len));
    let small_recv = rig.recv(1, Some(0), Some(2), Buffer::new(user + len, 8));
    let send = rig.send(0, 1, 1, Buffer::new(user, len));
    let small_send = rig.send(0, 1, 2, small);
    let mut order = Vec::new();
    for _ in 0..500 {
        for (rank, writer) in writers.iter_mut().enumerate() {
            let mut port = Lent::new(writer, &mut rig.memories, rank as u16);
            rig.endpoints[rank].progress(&mut port, rig.now, &mut ());
            rig.endpoints[rank].check_invariants().unwrap();
        }
        for (name, request) in [("long", recv), ("short", small_recv)] {
            if rig.endpoints[1].is_done(request) && !order.contains(&name) {
                order.push(name);
            }
        }
    }
    assert!(rig.endpoints[0].stats().full > 0);
    assert_eq!(order, ["short", "long"], "control messages pass data");
    rig.done(0, send);
    rig.done(0, small_send);
    rig.done(1, recv);
    rig.done(1, small_recv);
    assert!(rig.read(1, user, len) == data);
}

#[test]
fn k_plus_one_messages_each_way_before_any_receive_do_not_stall() {
    for slots in [3, 4, 16, 64] {
        let config = free().with_slots(slots);
        let mut rig: Rig<2> = Rig::new(config);
        let count = i32::from(slots) + 1;
        let user = rig.user;
        let mut sends = Vec::new();
        for tag in 0..count {
            for (from, to) in [(0, 1), (1, 0)] {
                sends.push((from, rig.send(from, to, tag, Buffer::new(user, 40))));
            }
        }
        rig.settle();
        let mut recvs = Vec::new();
        for _ in 0..count {
            for at in [0, 1] {
                recvs.push((at, rig.recv(at, None, None, Buffer::new(user + 64, 40))));
            }
        }
        rig.settle();
        for (rank, send) in sends {
            rig.done(rank, send);
        }
        for (i, (rank, recv)) in recvs.into_iter().enumerate() {
            assert_eq!(rig.done(rank, recv).tag, i as i32 / 2);
        }
        rig.check_idle();
    }
}

#[test]
fn a_side_that_never_sends_gives_its_credits_back_by_crdt() {
    let mut rig: Rig<2> = Rig::new(free().with_slots(4));
    let user = rig.user;
    for tag in 0..100 {
        let recv = rig.recv(1, Some(0), Some(tag), Buffer::new(user, 8));
        let send = rig.send(0, 1, tag, Buffer::new(user, 8));
        rig.settle();
        rig.done(0, send);
        rig.done(1, recv);
    }
    let (sender, receiver) = (rig.endpoints[0].stats(), rig.endpoints[1].stats());
    assert_eq!((sender.shorts, receiver.shorts), (100, 0));
    assert_eq!(receiver.credits, 100 / 2);
    // At most one for two consumed messages, CRDTs included.
    assert!(sender.credits <= receiver.credits / 2 + 1);
    rig.check_idle();
}

#[test]
fn sequence_numbers_wrap_from_2_32_minus_1_to_1() {
    for arrival in [ArrivalMode::Reports, ArrivalMode::Slots] {
        let config = free().with_arrival(arrival);
        let mut rig: Rig<2> = Rig::starting_at(config, u32::MAX - 20, 0x40_0000);
        let user = rig.user;
        for i in 0..60u64 {
            let data = pattern(i, 10 * i);
            assert_eq!(pass(&mut rig, user, user + 0x1000, &data, 10 * i), data);
        }
        let credit = rig.endpoints[0].credit(1).unwrap();
        assert!(credit.tx_seq() > 30 && credit.tx_seq() < 100);
    }
}

#[test]
fn a_stale_word_equal_to_the_trailer_is_not_taken_for_it() {
    let config = free().with_arrival(ArrivalMode::Slots).with_slots(3);
    let mut rig: Rig<2> = Rig::new(config);
    let user = rig.user;
    // Message 1 goes to slot 0 and leaves the word 4 where the trailer of
    // message 4, in the same slot and of 8 bytes, will be.
    let old = 4u32.to_le_bytes().repeat(10);
    pass(&mut rig, user, user + 0x1000, &old, 40);
    for _ in 0..2 {
        pass(&mut rig, user, user + 0x1000, &[1; 8], 8);
    }
    assert_eq!(rig.endpoints[0].credit(1).unwrap().tx_seq(), 4);
    let recv = rig.recv(1, Some(0), Some(3), Buffer::new(user, 8));
    rig.send(0, 1, 3, Buffer::new(user, 8));
    // The sender's transfer waits in its queue; half of it arrives.
    rig.progress(0);
    let staging = multipc::mpi::Layout::new(&config, 0, 2, ARENA).staging(1, 0);
    let slot = multipc::mpi::Layout::new(&config, 1, 2, ARENA).slot(0, 0);
    let message = rig.read(0, staging, 44);
    assert_eq!(rig.read(1, slot + 40, 4), 4u32.to_le_bytes());
    rig.write(1, slot, &message[..40]);
    for _ in 0..10 {
        rig.progress(1);
        assert!(!rig.endpoints[1].is_done(recv), "the trailer has not come");
    }
    rig.write(1, slot + 40, &message[40..]);
    rig.progress(1);
    assert_eq!(rig.done(1, recv).length, 8);
}
