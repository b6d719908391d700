//! The edges of the message layer (hw/doc/mpi.md, section "Edges"): messages and
//! notifications that cannot be.
#![cfg(feature = "alloc")]

mod mpi_rig;

use mpi_rig::{ARENA, Rig, Tap, free};
use multipc::mpi::Lent;
use multipc::mpi::endpoint::{Buffer, CloseReason, EndpointError, PeerState};
use multipc::mpi::wire::{self, Flags, Header, Kind, Payload, WireError};
use multipc::remote::Transfer;

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
    tell(rig, tag);
    rig.progress(1);
}

/// The same, before 1 looks.
fn tell(rig: &mut Rig<2>, tag: u32) {
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

/// A step of rank 1, its transfers noted.
fn step(rig: &mut Rig<2>, log: &mut Vec<Transfer>) {
    let lent = Lent::new(&mut rig.writers[1], &mut rig.memories, 1);
    let mut port = Tap::new(lent, log);
    rig.endpoints[1].progress(&mut port, rig.now, &mut ());
    rig.endpoints[1].check_invariants().unwrap();
}

/// An RSP, with `entries` whatever they say.
fn answer(rsp: &wire::Rsp, flags: u8, entries: &[(u32, u32)]) -> Vec<u8> {
    let length = (32 + 8 * entries.len()) as u32;
    let mut bytes = vec![3, flags, 0, 0];
    bytes.resize(32, 0);
    bytes[16..20].copy_from_slice(&length.to_le_bytes());
    bytes[24] = 1;
    bytes[28] = 1;
    bytes.extend(rsp.sender_req.to_le_bytes());
    bytes.extend(rsp.recv_req.to_le_bytes());
    bytes.extend(rsp.accept_len.to_le_bytes());
    bytes.extend(rsp.chunk_off.to_le_bytes());
    bytes.extend((entries.len() as u16).to_le_bytes());
    bytes.extend(rsp.status.to_le_bytes());
    bytes.extend([0; 4]);
    for (phys, len) in entries {
        bytes.extend(phys.to_le_bytes());
        bytes.extend(len.to_le_bytes());
    }
    bytes.extend(1u32.to_le_bytes());
    bytes
}

/// Rank 1 sends 5000 bytes to 0, which answers `bytes`.
fn answered(rig: &mut Rig<2>, bytes: impl Fn(u32) -> Vec<u8>) {
    let send = rig.send(1, 0, 0, Buffer::new(rig.user, 5000));
    rig.progress(1);
    forge(rig, &bytes(send.bits()));
}

/// All of it, by landing 0.
fn rsp(sender_req: u32) -> wire::Rsp {
    wire::Rsp {
        sender_req,
        recv_req: 0,
        accept_len: 5000,
        chunk_off: 0,
        status: 0,
    }
}

#[test]
fn answers_near_the_ends_of_64_bits_close_the_link() {
    let far = u64::MAX - 99;
    // Length taken, where the part starts, its entry; only the last is good.
    for (accept_len, chunk_off, entries, good) in [
        (u64::MAX, 0, &[(64, 5000)][..], false),
        (u64::MAX, u64::MAX, &[], false),
        (u64::MAX, far, &[(64, 99)], false),
        (5000, far, &[(64, 200)], false),
        (100, far, &[(64, 200)], false),
        (far, 5000, &[(64, 5000)], false),
        (5000, 5000, &[], false),
        (0, 0, &[], true),
    ] {
        for flags in [0, Flags::MORE.bits()] {
            let mut rig: Rig<2> = Rig::new(free());
            answered(&mut rig, |send| {
                let rsp = wire::Rsp {
                    accept_len,
                    chunk_off,
                    ..rsp(send)
                };
                answer(&rsp, flags, entries)
            });
            let state = rig.endpoints[1].peer_state(0);
            let open = good && flags == 0;
            assert_eq!(
                state == Some(PeerState::Open),
                open,
                "{accept_len} {chunk_off} {entries:?} {flags}: {state:?}"
            );
            assert_eq!(rig.endpoints[1].stats().pieces, 0);
        }
    }
}

#[test]
fn entries_changed_after_they_were_checked_reach_nothing_beyond_4_gb() {
    let mut config = free();
    config.data_in_flight = 1;
    // The second entry, as it reads once the first is on its way.
    for (phys, len) in [(0xFFFF_FF00u32, 3000u32), (u32::MAX, u32::MAX), (64, 0)] {
        let mut rig: Rig<2> = Rig::new(config);
        let send = rig.send(1, 0, 0, Buffer::new(rig.user, 5000));
        rig.progress(1);
        let bytes = answer(&rsp(send.bits()), 0, &[(0x100, 2000), (0x1000, 3000)]);
        let slot = multipc::mpi::Layout::new(&config, 1, 2, ARENA).slot(0, 0);
        let mut log = Vec::new();
        rig.write(1, slot, &bytes);
        let tag = config.tags.pack(wire::Class::Control, 0, 0).unwrap();
        tell(&mut rig, tag);
        for _ in 0..20 {
            step(&mut rig, &mut log);
            if log.len() == 1 {
                let mut entry = phys.to_le_bytes().to_vec();
                entry.extend(len.to_le_bytes());
                rig.write(1, slot + 72, &entry);
            }
        }
        assert_eq!(log[0].length, 2000);
        for transfer in &log {
            let end = transfer.remote + transfer.length;
            assert!(end <= 1 << 32, "{transfer:x?}");
        }
        // The transport was not even asked.
        assert_eq!(reason(&rig), CloseReason::Memory);
    }
}

#[test]
fn answers_and_offers_for_landings_without_an_identifier_close_the_link() {
    // 12 bits of a message identifier name the landing.
    for landing in [4096, 0x1_0000, 0x1_0005, u32::MAX] {
        let mut rig: Rig<2> = Rig::new(free());
        answered(&mut rig, |send| {
            let rsp = wire::Rsp {
                recv_req: landing,
                ..rsp(send)
            };
            answer(&rsp, 0, &[(64, 5000)])
        });
        assert_eq!(reason(&rig), CloseReason::NoLanding { landing });
        assert_eq!(rig.endpoints[1].stats().pieces, 0);
        let mut config = free();
        config.offers = true;
        let mut rig: Rig<2> = Rig::new(config);
        let offer = wire::Rsp {
            recv_req: landing,
            ..rsp(0)
        };
        forge(
            &mut rig,
            &answer(&offer, Flags::OFFER.bits(), &[(64, 5000)]),
        );
        let value = landing.into();
        assert_eq!(reason(&rig), CloseReason::BadOffer { value });
    }
}

#[test]
fn offers_that_nobody_agreed_to_close_the_link() {
    let mut rig: Rig<2> = Rig::new(free());
    let offer = answer(&rsp(0), Flags::OFFER.bits(), &[(64, 5000)]);
    forge(&mut rig, &offer);
    assert_eq!(reason(&rig), CloseReason::BadOffer { value: 0 });
}
