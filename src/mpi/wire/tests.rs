use super::*;

/// SHORT "abc", computed by hand from the table of offsets.
const SHORT: [u8; 40] = [
    0x01, 0x10, 0x03, 0x02, // kind, flags, credits
    0x04, 0x03, 0x02, 0x01, // context
    0xFB, 0xFF, 0xFF, 0xFF, // tag -5
    0x06, 0x00, 0x00, 0x00, // source
    0x03, 0x00, 0x00, 0x00, // length
    0x00, 0x01, 0x00, 0x00, // released
    0xEF, 0xBE, 0xAD, 0xDE, // incarnation
    0x09, 0x00, 0x00, 0x00, // seq
    b'a', b'b', b'c', 0x00, // payload, padding
    0x09, 0x00, 0x00, 0x00, // trailer
];

const SHORT_HEADER: Header = Header {
    kind: Kind::Short,
    flags: Flags::INTERNAL,
    credits: 0x0203,
    context: 0x0102_0304,
    tag: -5,
    src_rank: 6,
    length: 3,
    released: 256,
    incarnation: 0xDEAD_BEEF,
    seq: 9,
};

fn rsp(accept_len: u64, chunk_off: u64) -> Rsp {
    Rsp {
        sender_req: 1,
        recv_req: 0x0A0B_0C0D,
        accept_len,
        chunk_off,
        status: 0,
    }
}

fn header(kind: Kind, seq: u32) -> Header {
    Header {
        seq,
        ..Header::new(kind)
    }
}

/// `n` pages of 4 KB, one in two.
fn pages(n: u32) -> impl Iterator<Item = Entry> {
    (0..n).map(|i| Entry::new(i << 13, 4096).unwrap())
}

#[test]
fn short_lies_as_the_table_says() {
    let mut slot = [0xAA; 44];
    let payload = Payload::Short(b"abc");
    let len = emit(&SHORT_HEADER, &payload, &mut slot).unwrap();
    assert_eq!((len, &slot[..40]), (40, &SHORT[..]));
    assert_eq!(slot[40..], [0xAA; 4], "nothing behind the trailer");
    let view = parse(&SHORT).unwrap();
    assert_eq!((view.header, view.payload), (SHORT_HEADER, payload));
    assert!(view.is_complete());
}

#[test]
fn req_lies_as_the_table_says() {
    let mut slot = [0; 52];
    let req = Req {
        total_len: 0x1_0000_0002,
        sender_req: 0x0A0B_0C0D,
    };
    let payload = Payload::Req(req);
    let len = emit(&header(Kind::Req, 1), &payload, &mut slot).unwrap();
    assert_eq!(len, 52);
    let bytes = [2, 0, 0, 0, 1, 0, 0, 0, 0x0D, 0x0C, 0x0B, 0x0A, 0, 0, 0, 0];
    assert_eq!((slot[16], &slot[32..48]), (16, &bytes[..]));
    assert_eq!(parse(&slot).unwrap().payload, payload);
}

#[test]
fn rsp_lies_as_the_table_says() {
    let mut slot = [0; 84];
    let entries = [
        Entry::new(0x8000, 0x1000).unwrap(),
        Entry::new(0xFFFF_F000, 0x1000).unwrap(),
    ];
    let rsp = rsp(0x3000, 0x1000);
    let header = header(Kind::Rsp, 1);
    let emitted = emit_rsp(&header, &rsp, &mut entries.into_iter(), &mut slot).unwrap();
    let all = Emitted {
        wire_len: 84,
        end: 0x3000,
        more: false,
    };
    assert_eq!(emitted, all);
    let head = [
        1, 0, 0, 0, 0x0D, 0x0C, 0x0B, 0x0A, // requests
        0, 0x30, 0, 0, 0, 0, 0, 0, // accept_len
        0, 0x10, 0, 0, 0, 0, 0, 0, // chunk_off
        2, 0, 0, 0, 0, 0, 0, 0, // n_pages, status, 0
    ];
    let places = [
        0, 0x80, 0, 0, 0, 0x10, 0, 0, 0, 0xF0, 0xFF, 0xFF, 0, 0x10, 0, 0,
    ];
    assert_eq!((&slot[32..64], &slot[64..80]), (&head[..], &places[..]));
    let Payload::Rsp(back, listed) = parse(&slot).unwrap().payload else {
        panic!("no RSP");
    };
    assert_eq!((back, listed.total(), listed.count()), (rsp, 0x2000, 2));
    assert!(listed.eq(entries));
}

#[test]
fn sizes_are_those_of_the_specification() {
    assert_eq!((MAX_PAYLOAD, Rsp::MAX_ENTRIES), (16_348, 2_039));
    assert_eq!(max_payload(SLOT_LEN), MAX_PAYLOAD);
    assert_eq!(max_payload(1 << 20), MAX_PAYLOAD);
    assert_eq!([35, 36, 39, 40, 43].map(max_payload), [0, 0, 0, 4, 4]);
    assert_eq!([0, 1, 4, 5].map(padded_len), [0, 4, 4, 8]);
    assert_eq!(wire_len(MAX_PAYLOAD), SLOT_LEN);
}

#[test]
fn a_slot_takes_16348_bytes_and_no_more() {
    let mut slot = [0; SLOT_LEN + 64];
    let data = [7; MAX_PAYLOAD + 1];
    let header = header(Kind::Short, 1);
    let full = Payload::Short(&data[..MAX_PAYLOAD]);
    assert_eq!(emit(&header, &full, &mut slot), Ok(SLOT_LEN));
    assert_eq!(parse(&slot).unwrap().payload, full);
    let length = 16_349;
    let max = MAX_PAYLOAD;
    let error = WireError::PayloadTooLong { length, max };
    let before = slot;
    assert_eq!(emit(&header, &Payload::Short(&data), &mut slot), Err(error));
    assert_eq!(slot, before, "nothing written");
    slot[16..20].copy_from_slice(&16_349_u32.to_le_bytes());
    assert_eq!(parse(&slot), Err(error));
    slot[16..20].fill(0xFF);
    let length = u32::MAX.into();
    assert_eq!(parse(&slot), Err(WireError::PayloadTooLong { length, max }));
}

#[test]
fn an_empty_short_is_a_message() {
    let mut slot = [0; 36];
    let len = emit(&header(Kind::Short, 5), &Payload::Short(&[]), &mut slot);
    assert_eq!(len, Ok(36));
    let view = poll(&slot, 5).unwrap().expect("complete");
    assert_eq!((view.header.length, view.payload), (0, Payload::Short(&[])));
}

#[test]
fn a_short_slot_is_told_at_every_length() {
    for len in 0..SHORT.len() {
        let needed = if len < 32 { 32 } else { 40 };
        let error = WireError::Truncated { len, needed };
        assert_eq!(parse(&SHORT[..len]), Err(error));
    }
    let mut small = [0; 39];
    let error = WireError::PayloadTooLong { length: 3, max: 0 };
    let payload = Payload::Short(b"abc");
    assert_eq!(emit(&SHORT_HEADER, &payload, &mut small), Err(error));
    let error = WireError::PayloadTooLong { length: 0, max: 0 };
    let crdt = header(Kind::Crdt, 1);
    assert_eq!(emit(&crdt, &Payload::Crdt, &mut small[..35]), Err(error));
}

#[test]
fn bad_headers_are_named() {
    for kind in [0, 5, 6, 0x80, 0xFF] {
        let mut slot = SHORT;
        slot[0] = kind;
        assert_eq!(parse(&slot), Err(WireError::UnknownKind { kind }));
    }
    for bit in 5..8 {
        let mut slot = SHORT;
        slot[1] |= 1 << bit;
        let flags = slot[1];
        assert_eq!(parse(&slot), Err(WireError::ReservedFlags { flags }));
    }
    let mut slot = SHORT;
    slot[1] = 0;
    let error = WireError::NegativeTag { tag: -5 };
    assert_eq!(parse(&slot), Err(error));
    let user = Header {
        flags: Flags::NONE,
        ..SHORT_HEADER
    };
    assert_eq!(emit(&user, &Payload::Short(&[]), &mut slot), Err(error));
}

#[test]
fn another_incarnation_is_named() {
    assert_eq!(SHORT_HEADER.check_incarnation(0xDEAD_BEEF), Ok(()));
    let error = WireError::Incarnation {
        found: 0xDEAD_BEEF,
        expected: 3,
    };
    assert_eq!(SHORT_HEADER.check_incarnation(3), Err(error));
}

#[test]
fn payloads_of_the_wrong_length_are_named() {
    let mut slot = [0; 128];
    for (kind, length, needed) in [
        (Kind::Req, 0, 16),
        (Kind::Req, 15, 16),
        (Kind::Req, 17, 16),
        (Kind::Rsp, 0, 32),
        (Kind::Rsp, 31, 32),
        (Kind::Rsp, 40, 32),
        (Kind::Rsp, 33, 32),
        (Kind::Crdt, 1, 0),
    ] {
        let header = Header {
            length,
            ..header(kind, 1)
        };
        slot[..32].copy_from_slice(&header.emit());
        let error = WireError::PayloadLength {
            kind,
            length,
            needed,
        };
        assert_eq!(parse(&slot), Err(error));
    }
}

#[test]
fn reserved_words_are_zero() {
    let mut slot = [0; 84];
    let req = Req {
        total_len: 1,
        sender_req: 2,
    };
    emit(&header(Kind::Req, 1), &Payload::Req(req), &mut slot).unwrap();
    slot[32 + 14] = 1;
    let [offset, value] = [12, 0x1_0000];
    let offset = offset as u8;
    assert_eq!(parse(&slot), Err(WireError::ReservedWord { offset, value }));
    emit_rsp(
        &header(Kind::Rsp, 1),
        &rsp(4096, 0),
        &mut pages(1),
        &mut slot,
    )
    .unwrap();
    slot[32 + 28] = 9;
    let [offset, value] = [28, 9];
    let offset = offset as u8;
    assert_eq!(parse(&slot), Err(WireError::ReservedWord { offset, value }));
}

#[test]
fn entries_are_not_empty_and_end_below_4_gb() {
    let empty = WireError::EmptyEntry { phys: 5 };
    assert_eq!(Entry::new(5, 0), Err(empty));
    assert!(Entry::new(0, u32::MAX).is_ok());
    assert!(Entry::new(u32::MAX, 1).is_ok(), "the very last byte");
    let (phys, len) = (u32::MAX, 2);
    assert_eq!(
        Entry::new(phys, len),
        Err(WireError::EntryWraps { phys, len })
    );

    let mut slot = [0; 84];
    emit_rsp(
        &header(Kind::Rsp, 1),
        &rsp(4096, 0),
        &mut pages(1),
        &mut slot,
    )
    .unwrap();
    slot[64..68].copy_from_slice(&5_u32.to_le_bytes());
    slot[68..72].fill(0);
    assert_eq!(parse(&slot), Err(empty));
    slot[64..68].fill(0xFF);
    slot[68] = 2;
    assert_eq!(parse(&slot), Err(WireError::EntryWraps { phys, len }));
}

#[test]
fn entries_beyond_what_was_accepted_are_an_error() {
    let mut slot = [0; 84];
    emit_rsp(
        &header(Kind::Rsp, 1),
        &rsp(8192, 0),
        &mut pages(2),
        &mut slot,
    )
    .unwrap();
    assert!(parse(&slot).is_ok());
    let mut patched = |accept_len: u64, more: bool| {
        slot[1] = Flags::NONE.set(Flags::MORE, more).bits();
        slot[40..48].copy_from_slice(&accept_len.to_le_bytes());
        parse(&slot).map(|view| view.header.seq)
    };
    let error = |accept_len, more| {
        Err(WireError::ChunkEnd {
            end: 8192,
            accept_len,
            more,
        })
    };
    assert_eq!(patched(8191, false), error(8191, false));
    assert_eq!(patched(8193, false), error(8193, false), "a hole");
    assert_eq!(patched(8193, true), Ok(1));
    assert_eq!(patched(8192, true), error(8192, true), "nothing can follow");
}

#[test]
fn entries_past_the_last_byte_that_a_message_can_have_are_an_error() {
    let mut slot = [0; 84];
    let top = u64::MAX - 4096;
    let place = &mut pages(1);
    emit_rsp(&header(Kind::Rsp, 1), &rsp(u64::MAX, top), place, &mut slot).unwrap();
    assert!(parse(&slot).is_ok(), "up to the last byte");
    slot[48..56].copy_from_slice(&(top + 1).to_le_bytes());
    let passed = WireError::ChunkWraps {
        end: top + 1,
        len: 4096,
    };
    assert_eq!(parse(&slot).map(|view| view.header.seq), Err(passed));
    assert_eq!(
        heapless::format!(96; "{passed}").unwrap(),
        "page of 4096 bytes at byte 18446744073709547520 of the message passes 2^64"
    );
}

#[test]
fn chunks_cover_a_long_message_without_a_gap() {
    // 5 GB of pages of 1 MB; 2039 fit into a slot.
    let total = 5 << 30;
    let mut pieces = (0..5 * 1024_u32).map(|i| Entry::new((i % 4096) << 20, 1 << 20).unwrap());
    let mut slot = [0; SLOT_LEN];
    let mut chunk_off = 0;
    for (count, seq) in [(2039, 1), (2039, 2), (1042, 3)] {
        let head = header(Kind::Rsp, seq);
        let emitted = emit_rsp(&head, &rsp(total, chunk_off), &mut pieces, &mut slot).unwrap();
        let view = poll(&slot, seq).unwrap().expect("complete");
        let Payload::Rsp(rsp, entries) = view.payload else {
            panic!("no RSP");
        };
        assert_eq!((rsp.chunk_off, entries.count()), (chunk_off, count));
        assert_eq!(emitted.end, chunk_off + entries.total());
        assert_eq!(view.header.flags.contains(Flags::MORE), emitted.more);
        assert_eq!(emitted.more, seq < 3);
        chunk_off = emitted.end;
    }
    assert_eq!(chunk_off, total);
}

#[test]
fn the_last_entry_is_cut_at_what_is_accepted() {
    let mut slot = [0; 256];
    let mut pieces = pages(3);
    let head = header(Kind::Rsp, 1);
    let emitted = emit_rsp(&head, &rsp(4097, 0), &mut pieces, &mut slot).unwrap();
    assert_eq!((emitted.end, emitted.more), (4097, false));
    let Payload::Rsp(_, entries) = parse(&slot).unwrap().payload else {
        panic!("no RSP");
    };
    assert!(entries.map(Entry::len).eq([4096, 1]));
    assert!(pieces.next().is_some(), "the third was not taken");
}

#[test]
fn nothing_accepted_is_an_rsp_without_entries() {
    let mut slot = [0; SLOT_LEN];
    let head = header(Kind::Rsp, 1);
    let emitted = emit_rsp(&head, &rsp(0, 0), &mut pages(9), &mut slot).unwrap();
    assert_eq!((emitted.wire_len, emitted.more), (68, false));
    assert!(parse(&slot).is_ok());
    // Not even room for one entry is needed.
    let exact = emit_rsp(&head, &rsp(7, 7), &mut pages(0), &mut slot[..68]);
    assert!(exact.is_ok_and(|emitted| !emitted.more));
    let beyond = emit_rsp(&head, &rsp(4, 5), &mut pages(1), &mut slot);
    let error = WireError::ChunkEnd {
        end: 5,
        accept_len: 4,
        more: false,
    };
    assert_eq!(beyond, Err(error));
}

#[test]
fn an_rsp_that_places_nothing_of_what_is_left_is_an_error() {
    let mut slot = [0; 128];
    let head = header(Kind::Rsp, 1);
    let error = WireError::EmptyChunk {
        chunk_off: 5,
        accept_len: 9,
    };
    let none = emit_rsp(&head, &rsp(9, 5), &mut pages(0), &mut slot);
    assert_eq!((none, slot), (Err(error), [0; 128]));
    emit_rsp(&head, &rsp(5, 5), &mut pages(0), &mut slot).unwrap();
    slot[40] = 9;
    for flags in [Flags::NONE, Flags::MORE] {
        slot[1] = flags.bits();
        assert_eq!(parse(&slot), Err(error));
    }
}

#[test]
fn header_and_payload_are_of_one_kind() {
    let mut slot = [0; 128];
    let req = Req {
        total_len: 0,
        sender_req: 0,
    };
    let error = WireError::PayloadLength {
        kind: Kind::Short,
        length: 0,
        needed: 16,
    };
    let head = header(Kind::Short, 1);
    assert_eq!(emit(&head, &Payload::Req(req), &mut slot), Err(error));
    assert!(emit_rsp(&head, &rsp(0, 0), &mut pages(0), &mut slot).is_err());
    assert_eq!(slot, [0; 128]);
}

#[test]
fn a_stale_word_equal_to_the_number_is_not_taken_for_the_trailer() {
    // Message 1 leaves the number of message 5 where the trailer of 5 will be.
    let mut staging = [0; 64];
    let mut data = [0; 12];
    data[4..8].copy_from_slice(&5_u32.to_le_bytes());
    emit(
        &header(Kind::Short, 1),
        &Payload::Short(&data),
        &mut staging,
    )
    .unwrap();
    let mut slot = staging;
    let len = emit(
        &header(Kind::Short, 5),
        &Payload::Short(b"abcd"),
        &mut staging,
    )
    .unwrap();
    assert_eq!(len, 40);
    // The words arrive one by one.
    for arrived in (0..len).step_by(4) {
        assert_eq!(poll(&slot, 5), Ok(None), "after {arrived} bytes");
        slot[arrived..arrived + 4].copy_from_slice(&staging[arrived..arrived + 4]);
    }
    let view = poll(&slot, 5).unwrap().expect("complete");
    assert!(view.header.flags.contains(Flags::ALT));
    assert_eq!(view.trailer, !5);
    assert_eq!(view.payload, Payload::Short(b"abcd"));
}

#[test]
fn a_stale_complement_is_not_taken_for_the_trailer() {
    let mut staging = [0; 64];
    staging[36..40].copy_from_slice(&(!5_u32).to_le_bytes());
    let mut slot = staging;
    emit(
        &header(Kind::Short, 5),
        &Payload::Short(b"abcd"),
        &mut staging,
    )
    .unwrap();
    slot[..36].copy_from_slice(&staging[..36]);
    assert_eq!(poll(&slot, 5), Ok(None));
    slot[36..40].copy_from_slice(&staging[36..40]);
    assert!(poll(&slot, 5).unwrap().is_some());
}

#[test]
fn the_trailer_differs_from_the_old_word() {
    for seq in [1, 2, 0x7FFF_FFFF, 0x8000_0000, u32::MAX] {
        for old in [0, seq, !seq, seq - 1] {
            let trailer = trailer_for(seq, old);
            assert_ne!(trailer.word, old);
            assert_eq!(trailer.alt, old == seq);
            let flags = Flags::NONE.set(Flags::ALT, trailer.alt);
            let header = Header {
                flags,
                ..header(Kind::Crdt, seq)
            };
            assert!(is_complete(&header, trailer.word));
            assert!(!is_complete(&header, old));
        }
    }
}

#[test]
fn an_old_alt_flag_is_cleared() {
    let mut slot = [0; 64];
    let old = Header {
        flags: Flags::ALT,
        ..header(Kind::Crdt, 3)
    };
    emit(&old, &Payload::Crdt, &mut slot).unwrap();
    assert!(!parse(&slot).unwrap().header.flags.contains(Flags::ALT));
}

#[test]
fn numbers_wrap_past_zero() {
    assert_eq!([1, u32::MAX - 1, u32::MAX].map(next_seq), [2, u32::MAX, 1]);
}

#[test]
fn message_ids_lie_as_the_table_says() {
    let id = MessageId::new(Class::Data, 0x3FF, 0xABC).unwrap();
    assert_eq!(id.bits(), 0x7F_FABC);
    assert_eq!(MessageId::new(Class::Control, 1, 2).unwrap().bits(), 0x1002);
    assert_eq!(
        MessageId::new(Class::Other, 0, 0).unwrap().bits(),
        0xC0_0000
    );
    let error = WireError::SourceTooLarge {
        source: 1024,
        max: 1023,
    };
    assert_eq!(MessageId::new(Class::Get, 1024, 0), Err(error));
    let error = WireError::IndexTooLarge {
        index: 4096,
        max: 4095,
    };
    assert_eq!(MessageId::new(Class::Get, 0, 4096), Err(error));
    let (bits, max) = (0x100_0000, 0xFF_FFFF);
    let error = WireError::MessageIdTooLarge { bits, max };
    assert_eq!(MessageId::from_bits(bits), Err(error));
}

#[test]
fn message_ids_come_back() {
    for bits in (0..=MessageId::MAX_BITS).step_by(101) {
        let id = MessageId::from_bits(bits).unwrap();
        assert_eq!(id.bits(), bits);
        let again = MessageId::new(id.class(), id.source(), id.index());
        assert_eq!(again, Ok(id));
    }
}
