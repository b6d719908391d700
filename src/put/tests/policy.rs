//! Each row of the table of hw/doc/recovery.md, by its registers.

use std::vec::Vec;

use super::super::policy::{Cause, Policy, Reaction};
use super::*;

const NO_LINK: [Cause; 4] = [
    Cause::TransmittedOverflow,
    Cause::ReceivedOverflow,
    Cause::SentPackets,
    Cause::ReceivedPackets,
];

/// A board of this policy after one poll that saw `cause`: STATUS errors, 04h,
/// whether it was stopped.
fn after(policy: Policy, recovery: bool, cause: Cause) -> (u32, u32, bool) {
    let (mut put, mut hw) = started(&PutConfig {
        policy,
        recovery,
        ..config(8)
    });
    match Cause::ALL.iter().find(|(each, _)| *each == cause) {
        Some((Cause::Pci, _)) => hw.raise_pci(1 << 28),
        Some((_, bit)) => hw.raise(*bit),
        None => unreachable!(),
    }
    let mut events = Vec::new();
    put.poll(&mut hw, 8, |event| events.push(event)).unwrap();
    let [Event::Error { stopped, .. }] = events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(stopped, matches!(put.phase(), Phase::Stopped(_)));
    (hw.peek(0x40) & 0x00FF_F000, hw.peek(0x04), stopped)
}

/// Cleared, Bus Master set: the board goes on.
const GOES_ON: (u32, u32, bool) = (0, 0x0104, false);
/// The soft reset of the fake clears all registers.
const HALTED: (u32, u32, bool) = (0, 0, true);

#[test]
fn run_1_clears_everything_and_goes_on() {
    for recovery in [false, true] {
        for (cause, _) in Cause::ALL {
            let reaction = Policy::Run1.reaction(cause, recovery);
            let expected = if cause == Cause::LmiOverflow {
                Reaction::RearmEmptied
            } else {
                Reaction::Flush
            };
            assert_eq!(reaction, expected, "{cause:?}");
            // Masked: the driver never sees it.
            if cause != Cause::R3Status {
                assert_eq!(after(Policy::Run1, recovery, cause), GOES_ON, "{cause:?}");
            }
        }
    }
}

#[test]
fn run_2_halts_on_what_lost_data() {
    for cause in [
        Cause::Eep,
        Cause::CrcHeader,
        Cause::CrcData,
        Cause::Ep,
        Cause::Timeout,
        Cause::R3Status,
        Cause::IllegalLrm,
        Cause::Pci,
    ] {
        assert_eq!(Policy::Run2.reaction(cause, false), Reaction::Halt);
        if cause != Cause::R3Status {
            assert_eq!(after(Policy::Run2, false, cause), HALTED, "{cause:?}");
        }
    }
}

#[test]
fn run_2_clears_overflows_and_goes_on() {
    for policy in [Policy::Run2, Policy::Ideal] {
        for recovery in [false, true] {
            for cause in NO_LINK {
                assert_eq!(policy.reaction(cause, recovery), Reaction::Rearm);
                assert_eq!(after(policy, recovery, cause), GOES_ON, "{cause:?}");
            }
            let full = Cause::LmiOverflow;
            assert_eq!(policy.reaction(full, recovery), Reaction::RearmEmptied);
            assert_eq!(after(policy, recovery, full), GOES_ON);
        }
    }
}

#[test]
fn run_2_with_recovery_resends_after_eep_and_ep() {
    for cause in [Cause::Eep, Cause::Ep] {
        assert_eq!(Policy::Run2.reaction(cause, true), Reaction::Resend);
        assert_eq!(after(Policy::Run2, true, cause), GOES_ON);
    }
}

#[test]
fn run_2_with_recovery_clears_a_timeout_and_finds_bus_master_off_at_the_next_look() {
    assert_eq!(Policy::Run2.reaction(Cause::Timeout, true), Reaction::Clear);
    let (errors, command, stopped) = after(Policy::Run2, true, Cause::Timeout);
    assert_eq!((errors, command & 4, stopped), (0, 0, false));

    let (mut put, mut hw) = started(&PutConfig {
        policy: Policy::Run2,
        recovery: true,
        ..config(8)
    });
    hw.raise(1 << 19);
    put.poll(&mut hw, 8, |_| ()).unwrap();
    put.poll(&mut hw, 8, |_| panic!()).unwrap();
    assert_eq!(hw.peek(0x04), 0x0104);
}

#[test]
fn run_2_with_recovery_still_halts_on_the_rest() {
    for cause in [
        Cause::CrcHeader,
        Cause::CrcData,
        Cause::IllegalLrm,
        Cause::Pci,
    ] {
        assert_eq!(after(Policy::Run2, true, cause), HALTED, "{cause:?}");
    }
}

#[test]
fn ideal_with_recovery_resends_after_every_error_of_a_packet() {
    for cause in [
        Cause::Eep,
        Cause::Ep,
        Cause::CrcHeader,
        Cause::CrcData,
        Cause::Timeout,
    ] {
        assert_eq!(Policy::Ideal.reaction(cause, true), Reaction::Resend);
        assert_eq!(after(Policy::Ideal, true, cause), GOES_ON, "{cause:?}");
    }
    for cause in [Cause::IllegalLrm, Cause::Pci] {
        assert_eq!(after(Policy::Ideal, true, cause), HALTED, "{cause:?}");
    }
}

#[test]
fn of_several_causes_the_hardest_counts() {
    let judge = |policy: Policy, status, pci| policy.judge(status, pci, true);
    assert_eq!(judge(Policy::Ideal, 0, 0), None);
    let (eep, overflow, crc) = (1 << 23, 1 << 17, 1 << 21);
    assert_eq!(
        judge(Policy::Run2, eep | overflow, 0),
        Some(Reaction::Resend)
    );
    assert_eq!(judge(Policy::Run2, eep | crc, 0), Some(Reaction::Halt));
    assert_eq!(judge(Policy::Ideal, eep | crc, 0), Some(Reaction::Resend));
    assert_eq!(judge(Policy::Ideal, eep, 1 << 29), Some(Reaction::Halt));
    // Detected parity alone is no cause.
    assert_eq!(judge(Policy::Ideal, 0, 1 << 31), None);
}

#[test]
fn run_1_forgets_no_page_and_no_message_when_it_clears_the_counts() {
    let (mut put, mut hw) = started(&PutConfig {
        policy: Policy::Run1,
        ..config(8)
    });
    put.add_entry(&mut hw, page(ALL)).unwrap();
    hw.run(10);
    assert_eq!(hw.counters(), [1, 1]);
    hw.raise(1 << 23);
    let (mut sent, mut received, mut errors) = (0, 0, 0);
    put.poll(&mut hw, 8, |event| match event {
        Event::Sent { .. } | Event::UnclaimedSent { .. } => sent += 1,
        Event::Received { .. } | Event::UnclaimedReceived { .. } => received += 1,
        Event::Error { stopped: false, .. } => errors += 1,
        event => panic!("{event:?}"),
    })
    .unwrap();
    assert_eq!((sent, received, errors), (1, 1, 1));
    assert_eq!(hw.counters(), [0, 0]);
}

#[test]
fn an_interrupt_without_cause_is_looked_at_once_on_run_1_and_again_on_run_2() {
    assert_eq!(Policy::Run1.looks(), 1);
    assert_eq!(Policy::Run2.looks(), 11);
    for policy in [Policy::Run1, Policy::Run2, Policy::Ideal] {
        let (mut put, mut hw) = started(&PutConfig {
            policy,
            ..config(8)
        });
        let served = put.on_interrupt(&mut hw, 8, |_| panic!()).unwrap();
        assert!(!served.cause);
        assert_eq!(put.stats().spurious, 1);
    }
}

#[test]
fn a_count_without_an_entry_stops_run_2_and_not_run_1() {
    for (policy, stops) in [(Policy::Run1, false), (Policy::Run2, true)] {
        let (mut put, mut hw) = started(&PutConfig {
            policy,
            ..config(8)
        });
        hw.miscount(1, 0);
        put.on_interrupt(&mut hw, 8, |_| ()).unwrap();
        assert_eq!(matches!(put.phase(), Phase::Stopped(_)), stops);
    }
}
