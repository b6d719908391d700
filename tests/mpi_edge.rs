//! The edges of the message layer, one test a case (hw/doc/mpi.md, section
//! "Edges").
#![cfg(feature = "alloc")]

mod mpi_rig;

use mpi_rig::{ARENA, Rig, Tap, free, pattern};
use multipc::mpi::endpoint::{Activity, Buffer, CloseReason, EndpointError, PeerState, Sizes};
use multipc::mpi::matching::Pattern;
use multipc::mpi::wire::{self, Flags, Header, Kind, Payload, WireError};
use multipc::mpi::{ArrivalMode, Lent, MpiConfig, PageMap, Piece};
use multipc::remote::{InMemory, Transfer};
use multipc::time::Duration;

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

/// Puts `bytes` into the slot of the next message of 0 at 1, and tells 1.
fn forge(rig: &mut Rig<2>, bytes: &[u8]) {
    let config = *rig.endpoints[1].config();
    let slot = rig.endpoints[1].credit(0).unwrap().rx_next();
    let addr = multipc::mpi::Layout::new(&config, 1, 2, ARENA).slot(0, slot);
    rig.write(1, addr, bytes);
    let tag = config.tags.pack(wire::Class::Control, 0, slot).unwrap();
    notify(rig, tag);
}

/// A notification of 0 at 1, by a transfer of no bytes.
fn notify(rig: &mut Rig<2>, tag: u32) {
    use multipc::remote::{Flags, RemoteWrite};
    let flags = Flags {
        notify_receiver: true,
        tag,
    };
    let transfer = Transfer {
        node: 1,
        local: 0,
        remote: 0,
        length: 0,
        flags,
    };
    rig.writers[0].start(&mut rig.memories, transfer).unwrap();
    rig.progress(0);
    rig.progress(1);
}

fn message(header: &Header, payload: &Payload<'_>) -> Vec<u8> {
    let header = Header {
        incarnation: 1,
        seq: 1,
        ..*header
    };
    let mut bytes = vec![0; 16_384];
    let len = wire::emit(&header, payload, &mut bytes).unwrap();
    bytes.truncate(len);
    bytes
}

fn reason(rig: &Rig<2>) -> CloseReason {
    match rig.endpoints[1].peer_state(0) {
        Some(PeerState::Closed(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn messages_against_the_protocol_close_the_link() {
    let crdt = message(&Header::new(Kind::Crdt), &Payload::Crdt);
    let with = |at: usize, value: &[u8]| {
        let mut bytes = crdt.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        bytes
    };
    let rsp = |sender_req, accept_len, entries: &[(u32, u32)]| {
        let rsp = wire::Rsp {
            sender_req,
            recv_req: 0,
            accept_len,
            chunk_off: 0,
            status: 0,
        };
        let mut bytes = vec![0; 16_384];
        let mut pages = entries
            .iter()
            .map(|(phys, len)| wire::Entry::new(*phys, *len).unwrap());
        let header = Header {
            incarnation: 1,
            seq: 1,
            ..Header::new(Kind::Rsp)
        };
        wire::emit_rsp(&header, &rsp, &mut pages, &mut bytes).unwrap();
        bytes
    };
    // The pages of an RSP for 8 bytes, its length field changed to 4.
    let mut too_much = rsp(0, 8, &[(64, 8)]);
    too_much[40..48].copy_from_slice(&4u64.to_le_bytes());
    type Expected = fn(&CloseReason) -> bool;
    let cases: [(&str, Vec<u8>, Expected); 8] = [
        ("kind", with(0, &[9]), |r| {
            matches!(r, CloseReason::Wire(WireError::UnknownKind { kind: 9 }))
        }),
        ("length", with(16, &20_000u32.to_le_bytes()), |r| {
            matches!(
                r,
                CloseReason::Wire(WireError::PayloadTooLong { length: 20_000, .. })
            )
        }),
        ("incarnation", with(24, &[7]), |r| {
            matches!(
                r,
                CloseReason::Wire(WireError::Incarnation { found: 7, .. })
            )
        }),
        ("sequence", with(28, &[2]), |r| {
            matches!(r, CloseReason::Credit(_))
        }),
        ("credits", with(2, &[1, 0]), |r| {
            matches!(r, CloseReason::Credit(_))
        }),
        ("unknown send", rsp(0x77, 8, &[(64, 8)]), |r| {
            matches!(r, CloseReason::UnknownSend { request: 0x77 })
        }),
        ("too many pages", too_much, |r| {
            matches!(r, CloseReason::Wire(WireError::ChunkEnd { .. }))
        }),
        (
            "error",
            message(
                &Header {
                    flags: Flags::ERR,
                    ..Header::new(Kind::Crdt)
                },
                &Payload::Crdt,
            ),
            |r| matches!(r, CloseReason::Remote),
        ),
    ];
    for (name, bytes, expected) in cases {
        let mut rig: Rig<2> = Rig::new(free());
        forge(&mut rig, &bytes);
        assert!(expected(&reason(&rig)), "{name}: {:?}", reason(&rig));
        let refused = rig.endpoints[1].isend(multipc::mpi::endpoint::Send::new(
            0,
            1,
            0,
            Buffer::new(0, 0),
        ));
        assert!(matches!(
            refused,
            Err(EndpointError::PeerClosed { peer: 0, .. })
        ));
    }
}

#[test]
fn answers_that_take_more_than_was_offered_close_the_link() {
    let mut rig: Rig<2> = Rig::new(free());
    let user = rig.user;
    let send = rig.send(1, 0, 0, Buffer::new(user, 5000));
    rig.progress(1);
    // Nobody polls for 0: the answer is forged.
    let rsp = wire::Rsp {
        sender_req: send.bits(),
        recv_req: 0,
        accept_len: 6000,
        chunk_off: 0,
        status: 0,
    };
    let header = Header {
        incarnation: 1,
        seq: 1,
        ..Header::new(Kind::Rsp)
    };
    let mut bytes = vec![0; 16_384];
    let mut pages = [wire::Entry::new(64, 6000).unwrap()].into_iter();
    wire::emit_rsp(&header, &rsp, &mut pages, &mut bytes).unwrap();
    forge(&mut rig, &bytes);
    let expected = CloseReason::BadAnswer {
        offset: 6000,
        expected: 5000,
    };
    assert_eq!(reason(&rig), expected);
    let failed = rig.test(1, send).unwrap();
    let error = EndpointError::PeerClosed {
        peer: 0,
        reason: expected,
    };
    assert_eq!(failed, Err(error));
}

#[test]
fn notifications_of_nothing_close_the_link() {
    let mut rig: Rig<2> = Rig::new(free());
    let tags = rig.endpoints[1].config().tags;
    notify(&mut rig, tags.pack(wire::Class::Data, 0, 5).unwrap());
    assert_eq!(reason(&rig), CloseReason::UnknownLanding { index: 5 });
    // An empty slot.
    let mut rig: Rig<2> = Rig::new(free());
    notify(&mut rig, tags.pack(wire::Class::Control, 0, 0).unwrap());
    assert!(matches!(reason(&rig), CloseReason::Wire(_)));
    // The same slot twice, ahead of its turn.
    let mut rig: Rig<2> = Rig::new(free());
    let tag = tags.pack(wire::Class::Control, 0, 2).unwrap();
    notify(&mut rig, tag);
    notify(&mut rig, tag);
    assert_eq!(reason(&rig), CloseReason::Repeated { slot: 2 });
    // What is for nobody here.
    let mut rig: Rig<2> = Rig::new(free());
    for tag in [
        tags.pack(wire::Class::Control, 1, 0).unwrap(),
        tags.pack(wire::Class::Control, 400, 0).unwrap(),
        tags.pack(wire::Class::Other, 0, 0).unwrap(),
        tags.pack(wire::Class::Control, 0, 77).unwrap(),
        u32::MAX,
    ] {
        notify(&mut rig, tag);
    }
    assert_eq!(rig.endpoints[1].peer_state(0), Some(PeerState::Open));
    assert_eq!(rig.endpoints[1].stats().strays, 5);
}

#[test]
fn a_lost_transfer_fails_the_requests_of_that_peer_only() {
    let mut rig: Rig<3> = Rig::new(free());
    let user = rig.user;
    let long = Buffer::new(user, 50_000);
    let to_1 = rig.send(0, 1, 0, long);
    let from_1 = rig.recv(0, Some(1), None, long);
    let from_any = rig.recv(0, None, Some(5), Buffer::new(user + 0x2_0000, 8));
    let to_2 = rig.send(0, 2, 0, long);
    let at_2 = rig.recv(2, Some(0), None, Buffer::new(user + 0x2_0000, 50_000));
    let mut log = Vec::new();
    for _ in 0..100 {
        for rank in 0..3 {
            let lent = Lent::new(&mut rig.writers[rank], &mut rig.memories, rank as u16);
            let mut port = Tap::new(lent, &mut log);
            port.refuses = Some(1).filter(|_| rank == 0);
            rig.endpoints[rank].progress(&mut port, rig.now, &mut ());
            rig.endpoints[rank].check_invariants().unwrap();
        }
    }
    let error = EndpointError::PeerClosed {
        peer: 1,
        reason: CloseReason::Transfer,
    };
    assert_eq!(rig.test(0, to_1), Some(Err(error)));
    assert_eq!(rig.test(0, from_1), Some(Err(error)));
    rig.done(0, to_2);
    rig.done(2, at_2);
    assert!(!rig.endpoints[0].is_done(from_any));
    let hello = rig.send(2, 0, 5, Buffer::new(user, 8));
    rig.settle();
    rig.done(2, hello);
    assert_eq!(rig.done(0, from_any).peer, 2);
    assert_eq!(rig.endpoints[0].peer_state(2), Some(PeerState::Open));
}

#[test]
fn a_full_table_of_messages_is_told_on_both_sides() {
    let sizes = Sizes {
        unexpected: 4,
        ..Sizes::default()
    };
    let mut rig: Rig<3> = Rig::with_sizes(free(), 1, 0x1000, sizes);
    let nothing = Buffer::new(rig.user, 0);
    let keeps = rig.send(2, 1, 9, nothing);
    rig.settle();
    let sends: Vec<_> = (0..6).map(|tag| rig.send(0, 1, tag, nothing)).collect();
    rig.settle();
    for send in sends {
        rig.done(0, send);
    }
    rig.done(2, keeps);
    let state = rig.endpoints[1].peer_state(0);
    let full = PeerState::Closed(CloseReason::Resource { limit: 4 });
    assert_eq!(state, Some(full));
    assert_eq!(
        rig.endpoints[0].peer_state(1),
        Some(PeerState::Closed(CloseReason::Remote))
    );
    // The messages of others are still there.
    let recv = rig.recv(1, None, Some(9), nothing);
    rig.settle();
    assert_eq!(rig.done(1, recv).peer, 2);
}

#[test]
fn beyond_the_budget_messages_ask_first() {
    let mut config = free();
    config.unexpected_bytes = 2 * 2048;
    let mut rig: Rig<2> = Rig::new(config);
    let buffer = Buffer::new(rig.user, 1024);
    let sends: Vec<_> = (0..4).map(|tag| rig.send(0, 1, tag, buffer)).collect();
    rig.settle();
    let stats = rig.endpoints[0].stats();
    assert_eq!((stats.shorts, stats.requests), (2, 2));
    assert_eq!(rig.endpoints[1].free_blocks(), 2048 / 64);
    for tag in 0..4 {
        let recv = rig.recv(1, Some(0), Some(tag), Buffer::new(rig.user, 1024));
        rig.settle();
        rig.done(1, recv);
    }
    for send in sends {
        rig.done(0, send);
    }
    assert_eq!(rig.endpoints[1].free_blocks(), 4096 / 64);
    // The answers told the sender that there is room again.
    let recv = rig.recv(1, Some(0), Some(7), Buffer::new(rig.user, 1024));
    let send = rig.send(0, 1, 7, buffer);
    rig.settle();
    rig.done(0, send);
    rig.done(1, recv);
    assert_eq!(rig.endpoints[0].stats().shorts, 3);
}

#[test]
fn a_world_of_one_sends_to_itself() {
    let mut config = free();
    config.unexpected_bytes = 4096;
    let mut rig: Rig<1> = Rig::new(config);
    let user = rig.user;
    for (len, posted_first) in [
        (0, true),
        (10, false),
        (10, true),
        (100_000, true),
        (100_000, false),
    ] {
        let data = pattern(len, len);
        rig.write(0, user, &data);
        let (from, to) = (Buffer::new(user, len), Buffer::new(user + 0x10_0000, len));
        let early = posted_first.then(|| rig.recv(0, Some(0), Some(1), to));
        let send = rig.send(0, 0, 1, from);
        rig.settle();
        // Short ones never wait.
        assert_eq!(rig.endpoints[0].is_done(send), posted_first || len < 2048);
        let recv = early.unwrap_or_else(|| rig.recv(0, None, None, to));
        rig.settle();
        rig.done(0, send);
        assert_eq!(rig.done(0, recv).length, len);
        assert_eq!(rig.read(0, user + 0x10_0000, len), data);
    }
    rig.check_idle();
    assert_eq!(rig.endpoints[0].free_blocks(), 64);
}

#[test]
fn probes_see_what_waits_and_leave_it() {
    let mut rig: Rig<2> = Rig::new(free());
    let user = rig.user;
    let any = Pattern {
        context: 0,
        source: None,
        tag: None,
    };
    assert_eq!(rig.endpoints[1].iprobe(&any), None);
    let short = rig.send(0, 1, 4, Buffer::new(user, 10));
    let long = rig.send(0, 1, 5, Buffer::new(user, 10_000));
    rig.settle();
    let first = rig.endpoints[1].iprobe(&any).unwrap();
    assert_eq!((first.tag, first.total, first.peer), (4, 10, 0));
    let tag_5 = Pattern {
        tag: Some(5),
        ..any
    };
    assert_eq!(rig.endpoints[1].iprobe(&tag_5).unwrap().total, 10_000);
    assert_eq!(rig.endpoints[1].unexpected(0), 2);
    for tag in [5, 4] {
        let recv = rig.recv(1, Some(0), Some(tag), Buffer::new(user, 10_000));
        rig.settle();
        rig.done(1, recv);
    }
    rig.done(0, short);
    rig.done(0, long);
    assert_eq!(rig.endpoints[1].iprobe(&any), None);
}

#[test]
fn cancelled_receives_leave_the_message_to_the_next() {
    let mut rig: Rig<2> = Rig::new(free());
    let buffer = Buffer::new(rig.user, 100_000);
    let first = rig.recv(1, Some(0), Some(1), buffer);
    let second = rig.recv(1, Some(0), Some(1), buffer);
    rig.settle();
    // Before its call is over, and after.
    let third = rig.recv(1, Some(0), Some(1), buffer);
    assert!(rig.endpoints[1].cancel(third));
    assert!(rig.endpoints[1].cancel(first));
    assert!(!rig.endpoints[1].cancel(first));
    for request in [first, third] {
        assert_eq!(rig.test(1, request), Some(Err(EndpointError::Cancelled)));
    }
    assert_eq!(
        rig.test(1, first),
        Some(Err(EndpointError::UnknownRequest {
            request: first.bits()
        }))
    );
    let send = rig.send(0, 1, 1, buffer);
    for rank in [0, 0, 1] {
        rig.progress(rank);
    }
    // Matched, and not yet complete.
    assert!(!rig.endpoints[1].is_done(second));
    assert!(!rig.endpoints[1].cancel(second), "its buffer is promised");
    assert!(!rig.endpoints[0].cancel(send), "sends are not taken back");
    rig.settle();
    rig.done(1, second);
    rig.done(0, send);
    rig.check_idle();
}

#[test]
fn calls_that_cannot_be_are_refused() {
    let mut rig: Rig<2> = Rig::new(free());
    let buffer = Buffer::new(rig.user, 1);
    let mut send = multipc::mpi::endpoint::Send::new(2, 0, 0, buffer);
    let unknown = EndpointError::UnknownPeer { peer: 2, ranks: 2 };
    assert_eq!(rig.endpoints[0].isend(send), Err(unknown));
    (send.dst, send.tag) = (1, -1);
    assert_eq!(
        rig.endpoints[0].isend(send),
        Err(EndpointError::BadTag { tag: -1 })
    );
    send.internal = true;
    assert!(rig.endpoints[0].isend(send).is_ok());
    // Bytes that are not in memory, on either side and either path.
    for len in [10, 10_000] {
        let outside = Buffer::new(0xFFFF_0000, len);
        let bad = EndpointError::BadBuffer {
            addr: 0xFFFF_0000,
            len,
        };
        let request = rig.send(0, 1, 3, outside);
        rig.settle();
        assert_eq!(rig.test(0, request), Some(Err(bad)));
        let good = rig.send(0, 1, 3, Buffer::new(rig.user, len));
        let recv = rig.recv(1, Some(0), Some(3), outside);
        rig.settle();
        assert_eq!(rig.test(1, recv), Some(Err(bad)));
        let sent = rig.test(0, good).unwrap();
        assert_eq!(sent.is_ok(), len == 10);
    }
    assert_eq!(rig.endpoints[0].peer_state(1), Some(PeerState::Open));
}

#[test]
fn an_endpoint_that_is_busy_does_nothing() {
    let mut config = free();
    config.cost = MpiConfig::default().cost;
    let mut rig: Rig<2> = Rig::new(config);
    let nothing = Buffer::new(rig.user, 0);
    rig.send(0, 1, 0, nothing);
    let Activity::Busy { until } = rig.progress(0) else {
        panic!("a send call takes time");
    };
    assert_eq!(until.ps(), 4_100_000);
    rig.now = rig.now + Duration::from_ns(4_099);
    assert_eq!(rig.progress(0), Activity::Busy { until });
    rig.now = until;
    let Activity::Busy { until } = rig.progress(0) else {
        panic!("a put call takes time");
    };
    assert_eq!(until.ps(), 6_000_000);
    assert_eq!(rig.endpoints[0].stats().shorts, 0);
    rig.now = until;
    assert_eq!(rig.progress(0), Activity::Idle);
    assert_eq!(rig.endpoints[0].stats().shorts, 1);
}
