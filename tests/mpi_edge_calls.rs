//! The edges of the message layer (hw/doc/mpi.md, section "Edges"): what is full,
//! lost, alone, probed, cancelled or refused.
#![cfg(feature = "alloc")]

mod mpi_rig;

use mpi_rig::{Rig, Tap, free, pattern};
use multipc::mpi::endpoint::{Activity, Buffer, CloseReason, EndpointError, PeerState, Sizes};
use multipc::mpi::matching::Pattern;
use multipc::mpi::{Lent, MpiConfig, Policy};
use multipc::time::Duration;

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
fn probes_do_not_see_what_a_receive_called_earlier_will_take() {
    let mut config = free();
    config.policy = Policy::Interrupt;
    config.data_in_flight = 1;
    let mut rig: Rig<2> = Rig::new(config);
    let user = rig.user;
    let any = Pattern {
        context: 0,
        source: None,
        tag: None,
    };
    for (tag, len) in [(4, 10), (4, 20), (5, 30)] {
        let send = rig.send(0, 1, tag, Buffer::new(user, len));
        rig.settle();
        rig.done(0, send);
    }
    // While data of rank 1 is on its way, the pages of its next message are not
    // pinned: that call, and the receive behind it, wait.
    let there = rig.recv(0, Some(1), None, Buffer::new(user, 1_000_000));
    let long = rig.send(1, 0, 1, Buffer::new(user, 1_000_000));
    while rig.endpoints[1].stats().pieces == 0 {
        rig.round();
    }
    let next = rig.send(1, 0, 2, Buffer::new(user, 10_000));
    let recv = rig.recv(1, Some(0), Some(4), Buffer::new(user + 0x10_0000, 64));
    for _ in 0..2 {
        let found = rig.endpoints[1].iprobe(&any).map(|found| found.total);
        assert_eq!(found, None, "it is for the receive");
        rig.progress(1);
    }
    let tag_5 = Pattern {
        tag: Some(5),
        ..any
    };
    assert_eq!(rig.endpoints[1].iprobe(&tag_5).unwrap().total, 30);
    let second = rig.recv(0, Some(1), Some(2), Buffer::new(user, 10_000));
    rig.settle();
    assert_eq!(rig.done(1, recv).total, 10);
    assert_eq!(rig.endpoints[1].iprobe(&any).unwrap().total, 20);
    for (rank, request) in [(1, long), (1, next), (0, there), (0, second)] {
        rig.done(rank, request);
    }
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
