use super::*;
use crate::mpi::wire::{Header, Kind};

const SMALL: CreditConfig = CreditConfig {
    slots: 4,
    threshold: 2,
    mode: CreditMode::Slot,
    eager_budget: 100,
};

fn peer() -> PeerCredit {
    PeerCredit::new(SMALL).unwrap()
}

/// Sends from one to the other; the slot is not freed.
fn pass(from: &mut PeerCredit, to: &mut PeerCredit, kind: Kind) -> u16 {
    let granted = from.send(kind, 0).unwrap();
    let header = granted.fill(Header::new(kind));
    let slot = to.receive(&header).unwrap();
    assert_eq!(slot, granted.slot);
    slot
}

fn incoming(seq: u32) -> Header {
    Header {
        seq,
        ..Header::new(Kind::Short)
    }
}

#[test]
fn defaults_obey_the_rules() {
    let config = CreditConfig::default();
    assert_eq!((config.slots, config.threshold), (16, 8));
    assert_eq!(config.eager_budget, 1_048_576);
    for slots in 3..=CreditConfig::MAX_SLOTS {
        let config = CreditConfig::default().with_slots(slots);
        assert_eq!(config.check(), Ok(()));
        assert_eq!(config.threshold, 2.max(slots / 2));
    }
}

#[test]
fn numbers_that_stall_are_refused() {
    for slots in [0, 1, 2, 4097, u16::MAX] {
        let config = CreditConfig { slots, ..SMALL };
        let error = CreditConfigError::Slots { slots };
        assert_eq!(PeerCredit::new(config), Err(error));
    }
    for threshold in [0, 1, 4, 5] {
        let config = SMALL.with_threshold(threshold);
        let max = 3;
        let error = CreditConfigError::Threshold { threshold, max };
        assert_eq!(PeerCredit::new(config), Err(error));
    }
}

#[test]
fn the_last_credit_is_kept_for_crdt() {
    let mut a = peer();
    for slot in 0..3 {
        assert!(
            [Kind::Short, Kind::Req, Kind::Rsp]
                .iter()
                .all(|&k| a.can_send(k))
        );
        let granted = a.send(Kind::Rsp, 0).unwrap();
        assert_eq!((granted.slot, granted.seq), (slot, u32::from(slot) + 1));
    }
    for kind in [Kind::Short, Kind::Req, Kind::Rsp] {
        let error = CreditError::NoCredit {
            kind,
            available: 1,
            needed: 2,
        };
        let before = a;
        assert_eq!(a.send(kind, 0), Err(error));
        assert_eq!(a, before);
    }
    assert_eq!(a.send(Kind::Crdt, 0).unwrap().slot, 3);
    assert!(!a.can_send(Kind::Crdt));
    assert_eq!((a.tx_avail(), a.tx_next()), (0, 0));
}

#[test]
fn every_message_carries_all_that_is_owed() {
    let (mut a, mut b) = (peer(), peer());
    for _ in 0..3 {
        let slot = pass(&mut a, &mut b, Kind::Short);
        b.freed(slot).unwrap();
    }
    assert_eq!((a.tx_avail(), b.rx_owed()), (1, 3));
    let granted = b.send(Kind::Req, 0).unwrap();
    assert_eq!((granted.credits, b.rx_owed()), (3, 0));
    a.receive(&granted.fill(Header::new(Kind::Req))).unwrap();
    assert_eq!(a.tx_avail(), 4);
    assert!(a.is_idle() && !b.is_idle());
}

#[test]
fn a_crdt_goes_at_the_threshold_when_nothing_else_does() {
    let (mut a, mut b) = (peer(), peer());
    let slot = pass(&mut a, &mut b, Kind::Short);
    b.freed(slot).unwrap();
    assert!(!b.wants_crdt(false), "one is below the threshold");
    let slot = pass(&mut a, &mut b, Kind::Short);
    b.freed(slot).unwrap();
    assert!(b.wants_crdt(false) && !b.wants_crdt(true));
    assert_eq!(b.turn(false, false), Some(Turn::Crdt));
    assert_eq!(b.turn(false, true), Some(Turn::Envelope));
    assert_eq!(b.turn(true, true), Some(Turn::Rsp));
    for _ in 0..3 {
        b.send(Kind::Rsp, 0).unwrap();
    }
    assert_eq!(b.turn(true, true), None, "nothing is owed any more");
    for seq in 3..5 {
        let slot = b.receive(&incoming(seq)).unwrap();
        b.freed(slot).unwrap();
    }
    assert_eq!(b.turn(true, true), Some(Turn::Crdt), "with the last credit");
    b.send(Kind::Crdt, 0).unwrap();
    assert_eq!(b.turn(true, true), None);
}

#[test]
fn a_side_that_only_receives_gives_credits_back() {
    let (mut a, mut b) = (peer(), peer());
    let mut crdts = 0;
    for _ in 0..1000 {
        let slot = pass(&mut a, &mut b, Kind::Short);
        b.freed(slot).unwrap();
        if b.turn(false, false) == Some(Turn::Crdt) {
            let slot = pass(&mut b, &mut a, Kind::Crdt);
            a.freed(slot).unwrap();
            crdts += 1;
        }
        assert_ne!(a.turn(false, false), Some(Turn::Crdt), "no need");
    }
    assert!(crdts <= 500, "{crdts}");
}

#[test]
fn k_plus_1_messages_each_way_before_receiving_wait_and_go() {
    let (mut a, mut b) = (peer(), peer());
    let sent: [_; 3] = core::array::from_fn(|_| {
        (
            a.send(Kind::Short, 0).unwrap(),
            b.send(Kind::Short, 0).unwrap(),
        )
    });
    assert_eq!((a.turn(false, true), b.turn(false, true)), (None, None));
    for (from_a, from_b) in sent {
        let slot = b.receive(&from_a.fill(Header::new(Kind::Short))).unwrap();
        b.freed(slot).unwrap();
        let slot = a.receive(&from_b.fill(Header::new(Kind::Short))).unwrap();
        a.freed(slot).unwrap();
    }
    // Both may only send a CRDT now; one is enough to get both going.
    assert_eq!(a.turn(false, true), Some(Turn::Crdt));
    let slot = pass(&mut a, &mut b, Kind::Crdt);
    b.freed(slot).unwrap();
    assert_eq!(b.turn(false, true), Some(Turn::Envelope));
    let slot = pass(&mut b, &mut a, Kind::Short);
    a.freed(slot).unwrap();
    assert_eq!(a.turn(false, true), Some(Turn::Envelope));
}

#[test]
fn a_repeated_or_skipped_number_is_an_error() {
    for found in [0, 2, u32::MAX] {
        let mut b = peer();
        let error = CreditError::Sequence { found, expected: 1 };
        assert_eq!(b.receive(&incoming(found)), Err(error));
        assert_eq!(b, peer());
    }
    let mut b = peer();
    b.receive(&incoming(1)).unwrap();
    let (found, expected) = (1, 2);
    let error = CreditError::Sequence { found, expected };
    assert_eq!(b.receive(&incoming(1)), Err(error));
}

#[test]
fn a_message_into_a_slot_not_given_back_is_an_error() {
    let mut b = peer();
    for seq in 1..=4 {
        b.receive(&incoming(seq)).unwrap();
    }
    let error = CreditError::NotGranted { held: 4 };
    assert_eq!(b.receive(&incoming(5)), Err(error));
    b.freed(0).unwrap();
    assert_eq!(b.receive(&incoming(5)), Err(error), "freed, but not told");
    b.send(Kind::Crdt, 0).unwrap();
    assert_eq!(b.receive(&incoming(5)), Ok(0));
    let (found, expected) = (3, 1);
    let error = CreditError::Slot { found, expected };
    assert_eq!(b.receive_in(3, &incoming(6)), Err(error));
}

#[test]
fn credits_that_were_not_out_are_an_error() {
    let mut a = peer();
    a.send(Kind::Short, 0).unwrap();
    let before = a;
    let header = Header {
        credits: 2,
        ..incoming(1)
    };
    let error = CreditError::TooManyCredits {
        credits: 2,
        outstanding: 1,
    };
    assert_eq!(a.receive(&header), Err(error));
    assert_eq!(a, before);
}

#[test]
fn slots_are_freed_once_and_in_order() {
    let mut b = peer();
    assert_eq!(b.freed(0), Err(CreditError::NothingToFree));
    for seq in 1..=3 {
        b.receive(&incoming(seq)).unwrap();
    }
    let (slot, expected) = (1, 0);
    let error = CreditError::FreedOutOfOrder { slot, expected };
    assert_eq!(b.freed(1), Err(error));
    for slot in 0..3 {
        assert_eq!(b.oldest_full(), slot);
        b.freed(slot).unwrap();
    }
    assert_eq!(b.freed(3), Err(CreditError::NothingToFree));
}

#[test]
fn numbers_go_on_behind_the_wrap() {
    let mut a = PeerCredit::starting_at(SMALL, u32::MAX - 2, 7).unwrap();
    let mut b = PeerCredit::starting_at(SMALL, 7, u32::MAX - 2).unwrap();
    for seq in [u32::MAX - 2, u32::MAX - 1, u32::MAX, 1, 2, 3, 4, 5, 6] {
        assert_eq!(a.tx_seq(), seq);
        let slot = pass(&mut a, &mut b, Kind::Short);
        b.freed(slot).unwrap();
        let slot = pass(&mut b, &mut a, Kind::Short);
        a.freed(slot).unwrap();
    }
    assert!(PeerCredit::starting_at(SMALL, 0, 0) == PeerCredit::new(SMALL));
}

#[test]
fn eager_bytes_wait_within_the_budget() {
    let (mut a, mut b) = (peer(), peer());
    assert!(a.within_budget(100) && !a.within_budget(101));
    let granted = a.send(Kind::Short, 60).unwrap();
    b.receive(&granted.fill(Header::new(Kind::Short))).unwrap();
    a.send(Kind::Req, 16).unwrap();
    assert_eq!(a.eager_out(), 60, "a REQ costs no budget");
    assert!(a.within_budget(40) && !a.within_budget(41));
    assert!(!a.within_budget(u32::MAX));
    b.matched(60);
    let granted = b.send(Kind::Short, 1).unwrap();
    assert_eq!(granted.released, 60);
    a.receive(&granted.fill(Header::new(Kind::Short))).unwrap();
    assert_eq!(a.eager_out(), 0);
    let header = Header {
        released: 1,
        ..incoming(2)
    };
    let (released, outstanding) = (1, 0);
    let error = CreditError::TooMuchReleased {
        released,
        outstanding,
    };
    assert_eq!(a.receive(&header), Err(error));
}

fn counters() -> (PeerCredit, PeerCredit) {
    let peer = PeerCredit::new(SMALL.with_mode(CreditMode::Counter)).unwrap();
    (peer, peer)
}

#[test]
fn a_counter_word_gives_credits_back_without_a_message() {
    let (mut a, mut b) = counters();
    let mut word = 0;
    for round in 1..=1000 {
        for _ in 0..4 {
            let slot = pass(&mut a, &mut b, Kind::Short);
            b.freed(slot).unwrap();
        }
        assert!(!a.can_send(Kind::Short), "all four, none is kept");
        assert!(!b.wants_crdt(false));
        assert_eq!(conservation(&a, &b, 0, 0), Ok(()));
        word = b.counter_to_write().expect("above the threshold");
        assert_eq!(word, 4 * round);
        b.counter_written(word);
        assert_eq!((b.rx_owed(), b.counter_to_write()), (0, None));
        assert_eq!(conservation(&a, &b, 0, 4), Ok(()));
        assert_eq!(a.counter_read(word), Ok(4));
        assert_eq!(a.counter_read(word), Ok(0), "the same again");
    }
    assert_eq!(a.counter_read(word - 1), Ok(0), "from before");
    let (credits, outstanding) = (1, 0);
    let error = CreditError::TooManyCredits {
        credits,
        outstanding,
    };
    assert_eq!(a.counter_read(word + 1), Err(error));
}

#[test]
fn a_counter_word_late_by_some_messages_still_counts() {
    let (mut a, mut b) = counters();
    for _ in 0..3 {
        let slot = pass(&mut a, &mut b, Kind::Short);
        b.freed(slot).unwrap();
    }
    let word = b.counter_to_write().expect("above the threshold");
    // One more is consumed before the write is accepted.
    let slot = pass(&mut a, &mut b, Kind::Short);
    b.freed(slot).unwrap();
    b.counter_written(word);
    assert_eq!(b.rx_owed(), 1);
    assert_eq!(a.counter_read(word), Ok(3));
    assert_eq!(conservation(&a, &b, 0, 0), Ok(()));
}

#[test]
fn a_counter_word_goes_on_behind_the_wrap() {
    let (a, b) = counters();
    let (mut a, mut b) = (a.with_counters(u32::MAX - 1), b.with_counters(u32::MAX - 1));
    for expected in [0, 2, 4] {
        for _ in 0..2 {
            let slot = pass(&mut a, &mut b, Kind::Short);
            b.freed(slot).unwrap();
        }
        let word = b.counter_to_write().expect("at the threshold");
        assert_eq!(word, expected);
        b.counter_written(word);
        assert_eq!(a.counter_read(word), Ok(2));
        assert_eq!(a.counter_read(word.wrapping_sub(3)), Ok(0), "from before");
    }
}

#[test]
fn credits_by_message_beside_a_counter_word_are_an_error() {
    let (mut a, _) = counters();
    a.send(Kind::Short, 0).unwrap();
    let header = Header {
        credits: 1,
        ..incoming(1)
    };
    let error = CreditError::CreditsByMessage { credits: 1 };
    assert_eq!(a.receive(&header), Err(error));
    let header = Header {
        kind: Kind::Crdt,
        ..incoming(1)
    };
    let error = CreditError::CreditsByMessage { credits: 0 };
    assert_eq!(a.receive(&header), Err(error));
    assert!(!a.can_send(Kind::Crdt));
    assert!(a.send(Kind::Crdt, 0).is_err());
}

#[test]
fn what_is_out_of_balance_is_told() {
    let (a, b) = (peer(), peer());
    assert_eq!(conservation(&a, &b, 0, 0), Ok(()));
    let (sum, slots) = (5, 4);
    assert_eq!(conservation(&a, &b, 1, 0), Err(Unbalanced { sum, slots }));
}
