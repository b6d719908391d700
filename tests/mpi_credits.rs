//! Flow control of two processes, in every order of events.

mod credit_rig;

use credit_rig::{Book, Both, Finding, Real, explore};
use multipc::mpi::credit::CreditMode;

/// Messages of each side.
const MESSAGES: u8 = 6;

fn both(slots: u8, threshold: u8, mode: CreditMode) -> Both {
    let book = match mode {
        CreditMode::Counter => Book::by_word(slots, threshold),
        _ => Book::new(slots, threshold),
    };
    Both(Real::new(slots.into(), threshold.into(), mode), book)
}

fn is_clean(slots: u8, threshold: u8, mode: CreditMode, messages: u8) {
    match explore(&both(slots, threshold, mode), messages) {
        Ok(report) => {
            println!("K={slots} T={threshold} {mode:?}, {messages} messages each: {report}");
            assert!(report.states > 1000, "{report}");
            // Each message of its own that brings credits back is paid for by
            // T that were consumed; CRDT are consumed too.
            let crdts = usize::from(2 * messages) / (usize::from(threshold) - 1);
            assert!(report.crdts <= crdts, "{report}");
        }
        Err(finding) => panic!("K={slots} T={threshold} {mode:?}: {finding}"),
    }
}

fn finding(broken: &Book) -> Finding {
    let found = explore(broken, MESSAGES).expect_err("the rules are broken");
    println!("{found}");
    found
}

#[test]
fn three_slots_never_stall_or_overrun() {
    is_clean(3, 2, CreditMode::Slot, MESSAGES);
}

#[test]
fn three_slots_with_a_counter_word_never_stall_or_overrun() {
    is_clean(3, 2, CreditMode::Counter, MESSAGES);
}

#[test]
fn other_sizes_never_stall_or_overrun() {
    let (largest, messages) = match std::env::var_os("MULTIPC_LONG") {
        Some(_) => (5, 6),
        None => (4, 4),
    };
    for slots in 4..=largest {
        for threshold in 2..slots {
            is_clean(slots, threshold, CreditMode::Slot, messages);
            is_clean(slots, threshold, CreditMode::Counter, messages);
        }
    }
}

#[test]
fn without_the_kept_credit_both_sides_stall() {
    let mut broken = Book::new(3, 2);
    broken.ordinary_needs = 1;
    let found = finding(&broken);
    assert!(matches!(found, Finding::Stall(_)), "{found}");
}

#[test]
fn a_threshold_of_one_answers_crdt_by_crdt_for_ever() {
    let found = finding(&Book::new(3, 1));
    assert!(matches!(found, Finding::Endless { .. }), "{found}");
}

#[test]
fn a_threshold_of_all_slots_stalls() {
    let found = finding(&Book::new(3, 3));
    assert!(matches!(found, Finding::Stall(_)), "{found}");
}

#[test]
fn two_slots_stall_or_go_round() {
    // With the threshold that they allow, and with the one that they need.
    let found = finding(&Book::new(2, 1));
    assert!(matches!(found, Finding::Endless { .. }), "{found}");
    let found = finding(&Book::new(2, 2));
    assert!(matches!(found, Finding::Stall(_)), "{found}");
}

#[test]
fn credits_given_back_twice_are_found() {
    let mut broken = Book::new(3, 2);
    broken.owes_again = true;
    let found = finding(&broken);
    assert!(matches!(found, Finding::Unbalanced(..)), "{found}");
    // And what comes of it when nobody counts.
    broken.looks_away = true;
    let found = finding(&broken);
    assert!(matches!(found, Finding::Overrun(_)), "{found}");
}
