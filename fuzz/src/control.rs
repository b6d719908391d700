//! Control messages of the message layer.
//!
//! Input: the bytes of a slot. The first byte chooses, when its high bit is
//! set, to mend what random bytes never get right (kind, flags, length), and
//! then holds the kind; it is taken as 0 else.

use multipc::mpi::credit::{CreditConfig, CreditMode, PeerCredit};
use multipc::mpi::matching::{Envelope, Matcher, PostedCell, UnexpectedCell};
use multipc::mpi::wire::{self, Flags, HEADER_LEN, Header, MessageId, Payload, Rsp, View};

/// Any bytes in a slot: an error or a message that can be written again, and
/// nothing that flow control or matching trips over.
pub fn control(data: &[u8]) {
    let mut data = data;
    let [mend] = super::take(&mut data);
    let mut slot = data.to_vec();
    if mend & 0x80 != 0 && slot.len() > HEADER_LEN {
        let length = slot.len().saturating_sub(HEADER_LEN + 4) as u32;
        slot[0] = mend & 7;
        slot[1] &= 0x3F;
        slot[16..20].copy_from_slice(&length.to_le_bytes());
    }
    match wire::parse(&slot) {
        Ok(view) => message(&slot, &view),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if let Some(head) = slot.first_chunk() {
        header(head);
        let seq = wire::peek_seq(head);
        assert_eq!(wire::poll(&slot, seq ^ 1), Ok(None));
        if let Ok(Some(view)) = wire::poll(&slot, seq) {
            assert!(view.is_complete());
            assert_eq!(wire::parse(&slot), Ok(view));
        }
    }
    for bytes in slot.as_chunks::<4>().0 {
        let bits = u32::from_le_bytes(*bytes);
        if let Ok(id) = MessageId::from_bits(bits) {
            assert_eq!(id.bits(), bits);
        }
    }
}

fn header(bytes: &[u8; HEADER_LEN]) {
    let Ok(header) = Header::parse(bytes) else {
        return;
    };
    assert_eq!(header.emit(), *bytes);
    assert!(header.to_string().contains("seq="));
    credits(&header);
    matching(&header);
}

fn message(slot: &[u8], view: &View<'_>) {
    assert_eq!(view.payload.kind(), view.header.kind);
    if let Payload::Rsp(rsp, entries) = view.payload {
        assert!(rsp.chunk_off + entries.total() <= rsp.accept_len);
        assert!(entries.count() <= Rsp::MAX_ENTRIES);
        assert_eq!(entries.count(), Iterator::count(entries));
        assert_eq!(entries.get(0), entries.into_iter().next());
        assert_eq!(entries.get(entries.count()), None);
        for entry in entries {
            assert!(entry.len() > 0);
            assert!(u64::from(entry.phys()) + u64::from(entry.len()) <= 1 << 32);
        }
    }
    let mut copy = slot.to_vec();
    let len = wire::emit(&view.header, &view.payload, &mut copy).expect("it came out of a slot");
    let again = wire::parse(&copy).expect("emitted");
    assert!(again.is_complete() && len <= copy.len());
    assert_ne!(again.trailer, view.trailer, "the old word may be stale");
    assert_eq!(again.payload, view.payload);
    let flags = view.header.flags;
    let alt = again.header.flags.contains(Flags::ALT);
    let expected = Header {
        flags: flags.set(Flags::ALT, alt),
        ..view.header
    };
    assert_eq!(again.header, expected);
    assert_eq!(copy[len..], slot[len..]);
}

/// A hostile header is refused and changes nothing, or keeps the counts in
/// their range.
fn credits(header: &Header) {
    for mode in [CreditMode::Slot, CreditMode::Counter] {
        let config = CreditConfig::default().with_slots(4).with_mode(mode);
        let start = PeerCredit::starting_at(config, 1, header.seq);
        let mut peer = start.expect("numbers that work");
        peer.send(wire::Kind::Short, 100).expect("four credits");
        let before = peer;
        match peer.receive(header) {
            Ok(slot) => {
                assert!(slot < 4 && peer.tx_avail() <= 4 && peer.eager_out() <= 100);
                peer.freed(slot).expect("full");
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                assert_eq!(peer, before);
            }
        }
        let _ = peer.counter_read(header.context);
        assert!(peer.tx_avail() <= 4);
    }
}

fn matching(header: &Header) {
    let mut posted: [PostedCell<()>; 2] = Default::default();
    let mut unexpected: [UnexpectedCell<()>; 2] = Default::default();
    let mut matcher = Matcher::new(&mut posted[..], &mut unexpected[..]);
    let envelope = Envelope {
        context: header.context,
        source: header.src_rank,
        tag: header.tag,
    };
    for _ in 0..2 {
        matcher.arrive(envelope, ()).expect("room for two");
    }
    assert!(matcher.arrive(envelope, ()).is_err());
    assert_eq!(matcher.take(&envelope.into()), Some((envelope, ())));
    assert_eq!(matcher.unexpected_len(), 1);
}
