//! Control messages: bytes to fields and back, for any bytes and any fields.

use multipc::mpi::wire::{
    Entries, Entry, Flags, HEADER_LEN, Header, Kind, MessageId, Payload, Req, Rsp, SLOT_LEN, View,
    WireError, emit, emit_rsp, next_seq, padded_len, parse, poll, wire_len,
};
use proptest::prelude::*;

fn headers(kind: Kind) -> impl Strategy<Value = Header> {
    let words = any::<(u16, u32, u32, u32, u32)>();
    let tag = prop_oneof![0..10_i32, any::<i32>()];
    (words, tag, 0..16_u8, 1..=u32::MAX).prop_map(move |(words, tag, flags, seq)| {
        let (credits, context, src_rank, released, incarnation) = words;
        // Bit 4, INTERNAL, where the tag asks for it.
        let flags = Flags::from_bits(flags).expect("known bits");
        Header {
            flags: flags.set(Flags::INTERNAL, tag < 0),
            credits,
            context,
            tag,
            src_rank,
            released,
            incarnation,
            seq,
            ..Header::new(kind)
        }
    })
}

fn entry() -> impl Strategy<Value = Entry> {
    (any::<u32>(), any::<u32>()).prop_map(|(phys, len)| {
        // Up to the last byte below 4 GB.
        let room = (u32::MAX - phys).saturating_add(1);
        Entry::new(phys, len % room + 1).expect("below 4 GB")
    })
}

fn entries(max: usize) -> impl Strategy<Value = Vec<Entry>> {
    prop::collection::vec(entry(), 0..max)
}

/// Where it could matter for the trailer: any bytes, or the number itself.
fn old_slots(len: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), len)
}

/// The header as it has to come back: emit sets `length`, ALT and, in an RSP,
/// MORE.
fn as_emitted(header: &Header, length: usize, view: &View<'_>) -> Header {
    let mut expected = Header {
        length: length as u32,
        ..*header
    };
    for flag in [Flags::ALT, Flags::MORE] {
        if flag == Flags::ALT || header.kind == Kind::Rsp {
            let on = view.header.flags.contains(flag);
            expected.flags = expected.flags.set(flag, on);
        }
    }
    expected
}

/// Checks the bytes around the payload, and a word-by-word arrival in the slot
/// that the message overwrites.
fn check_arrival(old: &[u8], new: &[u8], len: usize, seq: u32) -> Result<(), TestCaseError> {
    prop_assert_eq!(&new[len..], &old[len..], "nothing behind the trailer");
    let mut slot = old.to_vec();
    // What the slot held is an older message, so its number is another one.
    slot[28..32].copy_from_slice(&(!seq).to_le_bytes());
    for at in (0..len).step_by(4) {
        prop_assert_eq!(poll(&slot, seq), Ok(None));
        slot[at..at + 4].copy_from_slice(&new[at..at + 4]);
    }
    prop_assert!(poll(&slot, seq).expect("a message").is_some());
    prop_assert_eq!(poll(&slot, next_seq(seq)), Ok(None));
    Ok(())
}

fn cases() -> u32 {
    match std::env::var_os("MULTIPC_LONG") {
        Some(_) => 1_000_000,
        None => 4_000,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn short_req_and_crdt_come_back(
        header in headers(Kind::Short),
        data in prop::collection::vec(any::<u8>(), 0..200),
        (total_len, sender_req) in any::<(u64, u32)>(),
        mut old in old_slots(256),
        stale in 0..3_u8,
        kind in 0..3,
    ) {
        let req = Req { total_len, sender_req };
        let (payload, length) = match kind {
            0 => (Payload::Short(&data), data.len()),
            1 => (Payload::Req(req), 16),
            _ => (Payload::Crdt, 0),
        };
        let header = Header { kind: payload.kind(), ..header };
        let place = HEADER_LEN + padded_len(length);
        match stale {
            0 => old[place..place + 4].copy_from_slice(&header.seq.to_le_bytes()),
            1 => old[place..place + 4].copy_from_slice(&(!header.seq).to_le_bytes()),
            _ => {}
        }
        let mut slot = old.clone();
        let len = emit(&header, &payload, &mut slot).expect("fits");
        prop_assert_eq!(len, wire_len(length));
        prop_assert!(slot[HEADER_LEN + length..place].iter().all(|&byte| byte == 0));
        let view = parse(&slot).expect("a message");
        prop_assert!(view.is_complete());
        prop_assert_eq!(view.payload, payload);
        prop_assert_eq!(view.header, as_emitted(&header, length, &view));
        prop_assert_eq!(stale == 0, view.header.flags.contains(Flags::ALT));
        check_arrival(&old, &slot, len, header.seq)?;
    }

    #[test]
    fn rsp_comes_back(
        header in headers(Kind::Rsp),
        pieces in entries(12),
        (sender_req, recv_req, status) in any::<(u32, u32, u16)>(),
        chunk_off in prop_oneof![0..1_u64 << 40, Just(0)],
        rest in prop_oneof![Just(0), 1..1_u64 << 40],
        old in old_slots(200),
    ) {
        let total: u64 = pieces.iter().map(|entry| u64::from(entry.len())).sum();
        let rsp = Rsp { sender_req, recv_req, accept_len: chunk_off + total + rest, chunk_off, status };
        let mut slot = old.clone();
        let mut left = pieces.iter().copied();
        if pieces.is_empty() && rest > 0 {
            let error = WireError::EmptyChunk { chunk_off, accept_len: rsp.accept_len };
            prop_assert_eq!(emit_rsp(&header, &rsp, &mut left, &mut slot), Err(error));
            prop_assert_eq!(slot, old);
            return Ok(());
        }
        let emitted = emit_rsp(&header, &rsp, &mut left, &mut slot).expect("fits");
        let view = parse(&slot).expect("a message");
        let Payload::Rsp(back, listed) = view.payload else {
            panic!("no RSP");
        };
        prop_assert_eq!(back, rsp);
        prop_assert!(listed.eq(pieces[..listed.count()].iter().copied()));
        prop_assert!(listed.count() == pieces.len() || listed.count() == (200 - 36 - 32) / 8);
        prop_assert_eq!(emitted.end, chunk_off + listed.total());
        prop_assert_eq!(emitted.more, emitted.end < rsp.accept_len);
        prop_assert_eq!(emitted.more, view.header.flags.contains(Flags::MORE));
        let length = 32 + 8 * listed.count();
        prop_assert_eq!(emitted.wire_len, wire_len(length));
        prop_assert_eq!(view.header, as_emitted(&header, length, &view));
        check_arrival(&old, &slot, emitted.wire_len, header.seq)?;
        // The view is as good a source as the pieces.
        let mut again = old.clone();
        let len = emit(&header, &view.payload, &mut again).expect("fits");
        prop_assert_eq!(len, emitted.wire_len);
        prop_assert_eq!(again, slot);
    }

    #[test]
    fn an_rsp_never_lists_more_than_is_accepted(
        first in entry(),
        rest in entries(39),
        accept_len in prop_oneof![0..1000_u64, any::<u64>()],
        off in any::<u64>(),
    ) {
        let chunk_off = off % accept_len.max(1);
        let rsp = Rsp { sender_req: 0, recv_req: 0, accept_len, chunk_off, status: 0 };
        let mut slot = [0; 256];
        let mut left = std::iter::once(first).chain(rest);
        let emitted = emit_rsp(&Header::new(Kind::Rsp), &rsp, &mut left, &mut slot).expect("fits");
        prop_assert!(emitted.end <= accept_len);
        prop_assert!(parse(&slot).is_ok());
    }

    #[test]
    fn any_bytes_are_a_message_or_an_error(
        mut bytes in prop::collection::vec(any::<u8>(), 0..300),
        kind in 0..6_u8,
        length in 0..300_u32,
        plausible in any::<bool>(),
    ) {
        if plausible && let Some(head) = bytes.get_mut(..HEADER_LEN) {
            head[0] = kind;
            head[1] &= 0x3F;
            head[16..20].copy_from_slice(&length.to_le_bytes());
        }
        total(&bytes)?;
    }

    #[test]
    fn any_changed_byte_is_a_message_or_an_error(
        header in headers(Kind::Rsp),
        pieces in entries(12),
        at in any::<prop::sample::Index>(),
        value in any::<u8>(),
    ) {
        let accept_len = pieces.iter().map(|entry| u64::from(entry.len())).sum();
        let rsp = Rsp { sender_req: 1, recv_req: 2, accept_len, chunk_off: 0, status: 0 };
        let mut slot = [0; 256];
        emit_rsp(&header, &rsp, &mut pieces.into_iter(), &mut slot).expect("fits");
        slot[at.index(256)] = value;
        total(&slot)?;
    }

    #[test]
    fn message_ids_come_back_and_are_24_bits(bits in any::<u32>()) {
        match MessageId::from_bits(bits) {
            Ok(id) => prop_assert_eq!(id.bits(), bits),
            Err(error) => {
                prop_assert!(bits >> 24 != 0);
                prop_assert_eq!(error, WireError::MessageIdTooLarge { bits, max: 0xFF_FFFF });
            }
        }
    }
}

/// What is accepted can be written again, to the same bytes.
fn total(bytes: &[u8]) -> Result<(), TestCaseError> {
    let view = match parse(bytes) {
        Ok(view) => view,
        Err(error) => {
            prop_assert!(!error.to_string().is_empty());
            return Ok(());
        }
    };
    prop_assert_eq!(view.payload.kind(), view.header.kind);
    let seq = view.header.seq;
    prop_assert_eq!(poll(bytes, seq), Ok(view.is_complete().then_some(view)));
    prop_assert_eq!(poll(bytes, !seq), Ok(None));
    if let Payload::Rsp(rsp, listed) = view.payload {
        prop_assert!(rsp.chunk_off.saturating_add(listed.total()) <= rsp.accept_len);
        prop_assert!(listed.count() <= Rsp::MAX_ENTRIES);
    }
    let mut slot = bytes.to_vec();
    let len = emit(&view.header, &view.payload, &mut slot).expect("it came out of a slot");
    let again = parse(&slot).expect("emitted");
    prop_assert_eq!(again.payload, view.payload);
    prop_assert!(again.is_complete());
    let length = view.header.length as usize;
    prop_assert_eq!(again.header, as_emitted(&view.header, length, &again));
    let body = HEADER_LEN + length;
    prop_assert_eq!(&slot[HEADER_LEN..body], &bytes[HEADER_LEN..body]);
    prop_assert_eq!(&slot[len..], &bytes[len..]);
    Ok(())
}

#[test]
fn every_single_bit_flip_of_each_kind_is_a_message_or_an_error() {
    let pieces = [
        Entry::new(0x1000, 64).unwrap(),
        Entry::new(0x3000, 32).unwrap(),
    ];
    let rsp = Rsp {
        sender_req: 1,
        recv_req: 2,
        accept_len: 96,
        chunk_off: 0,
        status: 0,
    };
    let mut place = [0; 128];
    emit_rsp(
        &Header::new(Kind::Rsp),
        &rsp,
        &mut pieces.into_iter(),
        &mut place,
    )
    .unwrap();
    let answer = parse(&place).unwrap().payload;
    let req = Req {
        total_len: 5,
        sender_req: 6,
    };
    for payload in [
        Payload::Short(b"hello"),
        Payload::Req(req),
        answer,
        Payload::Crdt,
    ] {
        let mut slot = [0; 128];
        let header = Header {
            seq: 77,
            ..Header::new(payload.kind())
        };
        let len = emit(&header, &payload, &mut slot).unwrap();
        for bit in 0..8 * len {
            let mut flipped = slot;
            flipped[bit / 8] ^= 1 << (bit % 8);
            total(&flipped).unwrap();
            // A flip in number or trailer leaves the message unfinished.
            let bytes = bit / 8;
            if (28..32).contains(&bytes) || bytes >= len - 4 {
                assert_eq!(poll(&flipped, 77), Ok(None), "bit {bit}");
            }
        }
        for short in 0..len {
            let error = parse(&slot[..short]).expect_err("cut");
            assert!(matches!(error, WireError::Truncated { len, .. } if len == short));
        }
    }
}

#[test]
fn a_full_slot_of_entries_comes_back() {
    let pieces: Vec<_> = (0..3000)
        .map(|i| Entry::new(i << 13, 4096).unwrap())
        .collect();
    let mut slot = vec![0; SLOT_LEN];
    let rsp = Rsp {
        sender_req: 0,
        recv_req: 0,
        accept_len: 3000 * 4096,
        chunk_off: 0,
        status: 0,
    };
    let mut left = pieces.iter().copied();
    let emitted = emit_rsp(&Header::new(Kind::Rsp), &rsp, &mut left, &mut slot).unwrap();
    assert_eq!((emitted.end, emitted.more), (8_351_744, true));
    assert_eq!(left.len(), 3000 - 2039);
    let Payload::Rsp(_, listed) = parse(&slot).unwrap().payload else {
        panic!("no RSP");
    };
    assert!(listed.eq(pieces[..2039].iter().copied()));
    assert_eq!(Entries::default().count(), 0);
}
