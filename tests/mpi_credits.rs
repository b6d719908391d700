//! Flow control of two processes, in every order of events.

mod credit_rig;

use credit_rig::{Book, Both, Finding, Real, Report, explore, explore_with_handler};
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
    let name = format!("K={slots} T={threshold} {mode:?}, {messages} messages each");
    let explored = explore(&both(slots, threshold, mode), messages);
    judge(&name, explored, messages, threshold);
}

fn is_clean_with_handler(slots: u8, threshold: u8, mode: CreditMode, messages: u8) {
    let name = format!("K={slots} T={threshold} {mode:?}, handler, {messages} messages each");
    let explored = explore_with_handler(&both(slots, threshold, mode), messages);
    judge(&name, explored, messages, threshold);
}

fn judge(name: &str, explored: Result<Report, Finding>, messages: u8, threshold: u8) {
    match explored {
        Ok(report) => {
            println!("{name}: {report}");
            assert!(report.states > 1000, "{report}");
            // Each message of its own that brings credits back is paid for by
            // T that were consumed; CRDT are consumed too.
            let crdts = usize::from(2 * messages) / (usize::from(threshold) - 1);
            assert!(report.crdts <= crdts, "{report}");
        }
        Err(finding) => panic!("{name}: {finding}"),
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

/// The handler of MPI-MPC 1, which takes CRDT in and gives slots back while its
/// process computes, at any point of both sides.
#[test]
fn a_handler_of_interrupts_neither_stalls_nor_overruns() {
    is_clean_with_handler(3, 2, CreditMode::Slot, MESSAGES);
}

#[test]
fn a_handler_beside_counter_words_neither_stalls_nor_overruns() {
    is_clean_with_handler(3, 2, CreditMode::Counter, MESSAGES);
}

fn finding_with_handler(broken: &Book) -> Finding {
    let found = explore_with_handler(broken, MESSAGES).expect_err("the rules are broken");
    println!("{found}");
    found
}

#[test]
fn a_handler_that_gives_single_slots_back_goes_round() {
    let mut broken = Book::new(3, 2);
    broken.handler_threshold = 1;
    let found = finding_with_handler(&broken);
    assert!(matches!(found, Finding::Endless { .. }), "{found}");
}

#[test]
fn a_handler_without_regard_to_credits_is_found() {
    let mut broken = Book::new(3, 2);
    broken.handler_needs = 0;
    let found = finding_with_handler(&broken);
    assert!(matches!(found, Finding::Overrun(_)), "{found}");
}

#[test]
fn a_handler_that_takes_credits_in_out_of_order_is_found() {
    let mut broken = Book::new(3, 2);
    broken.handler_overtakes = true;
    let found = finding_with_handler(&broken);
    assert!(matches!(found, Finding::Refused(..)), "{found}");
}
