//! The layer against a hostile controller, and small rules of its own.
//! The protocol itself is tested on the machine: tests/recovery.rs.

extern crate std;

use std::string::ToString;

use super::record::Kind;
use super::send::identifier;
use super::*;
use crate::ddc::lme::Control;
use crate::put::Model;
use crate::put::entry::Entry;
use crate::put::testing::{FakeController, HostileController};
use crate::put::tests::{config, controller};
use crate::remote::Flags;
use crate::time::Duration;

type Small = Reliable<4, 4, 8>;

fn settings() -> PutConfig<'static> {
    PutConfig {
        nodes: 4,
        model: Model::Polling,
        ..config(16)
    }
}

fn layer(hw: &mut FakeController<'_>) -> Small {
    let mut put = Put::new();
    put.init(hw, &settings()).unwrap();
    let mut recovery = RecoveryConfig::new(0x8000);
    recovery.settle = Duration::from_us(10);
    Small::new(put, &settings(), recovery, Instant::from_ps(0)).unwrap()
}

fn transfer(node: u16, length: u64) -> Transfer {
    Transfer {
        node,
        local: 0x2_0000,
        remote: 0x3_0000,
        length,
        flags: Flags {
            notify_receiver: true,
            tag: 7,
        },
    }
}

#[test]
fn identifiers_keep_bit_23_free_and_name_sender_kind_and_number() {
    assert_eq!(identifier(Kind::Data, 5, 3), 3 << 9 | 1 << 7 | 5);
    assert_eq!(identifier(Kind::State, 127, u32::MAX), (1 << 23) - 1);
}

#[test]
fn identifiers_that_are_not_the_layers_are_events_of_others() {
    let mut hw = controller();
    let mut put = Put::new();
    put.init(&mut hw, &settings()).unwrap();
    let below = put.register_sap().unwrap();
    put.attach_mi_range(below, 4).unwrap();
    let recovery = RecoveryConfig::new(0x8000);
    let mut layer = Small::new(put, &settings(), recovery, Instant::from_ps(0)).unwrap();
    // Somebody takes the layer's place and range by its back door.
    let put = layer.put_mut();
    assert!(put.end());
    put.init(&mut hw, &settings()).unwrap();
    put.register_sap().unwrap();
    let sap = put.register_sap().unwrap();
    put.attach_mi_range(sap, 4).unwrap();
    let told = Control::LMP.with(Control::NOS).with(Control::LMI);
    put.add_entry(&mut hw, Entry::page(1, 3, 0x2_0000, 0x3_0000, 8, told))
        .unwrap();
    for _ in 0..4 {
        hw.run(10);
        layer.poll(&mut hw).unwrap();
    }
    assert_eq!(layer.stats().bad_records, 0);
    let received = core::iter::from_fn(|| layer.event())
        .any(|event| matches!(event, Event::Received { mi: 3, .. }));
    assert!(received);
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let mut hw = controller();
    let mut layer = layer(&mut hw);
    let mut refused = |transfer: Transfer| layer.start(&mut hw, transfer).unwrap_err().to_string();
    assert_eq!(refused(transfer(4, 8)), "node 4 is unknown, allowed 0..4");
    let mut to_zero = transfer(1, 8);
    to_zero.remote = 0;
    assert_eq!(
        refused(to_zero),
        "8 bytes at 0x0 are not free memory in 1..2^32"
    );
    let mut into_records = transfer(1, 0x2000);
    into_records.remote = 0x7000;
    assert_eq!(
        refused(into_records),
        "8192 bytes at 0x7000 are not free memory in 1..2^32"
    );
    let mut past = transfer(1, 2);
    past.local = u64::from(u32::MAX);
    assert_eq!(
        refused(past),
        "2 bytes at 0xffffffff are not free memory in 1..2^32"
    );
}

#[test]
fn settings_out_of_range_are_refused() {
    let mut hw = controller();
    let mut put = Put::new();
    put.init(&mut hw, &settings()).unwrap();
    let made = |change: fn(&mut RecoveryConfig)| {
        let mut config = RecoveryConfig::new(0x8000);
        change(&mut config);
        let made = Small::new(put.clone(), &settings(), config, Instant::from_ps(0));
        made.err().map(|error| error.to_string())
    };
    assert_eq!(made(|_| ()), None);
    assert_eq!(
        made(|config| config.window = 6).as_deref(),
        Some("window (a power of 2) of 6, allowed 1..=64")
    );
    assert_eq!(
        made(|config| config.segment = 0).as_deref(),
        Some("segment of 0, allowed 1..=65535")
    );
    assert_eq!(
        made(|config| config.control_at = 2).as_deref(),
        Some("5120 bytes of records at 0x00000002, allowed multiples of 4 below 2^32")
    );
    let many = PutConfig {
        nodes: 5,
        ..settings()
    };
    let made = Small::new(put, &many, RecoveryConfig::default(), Instant::from_ps(0));
    assert_eq!(
        made.unwrap_err().to_string(),
        "machine of 5 nodes, allowed 1..=4"
    );
}

#[test]
fn the_queue_fills_and_a_transfer_of_nothing_needs_no_place() {
    let mut hw = controller();
    let mut layer = layer(&mut hw);
    for _ in 0..4 {
        layer.start(&mut hw, transfer(1, 8)).unwrap();
    }
    let error = layer.start(&mut hw, transfer(1, 8)).unwrap_err();
    assert_eq!(error, ReliableError::QueueFull { limit: 4 });
    let mut nothing = transfer(1, 0);
    nothing.flags.notify_receiver = false;
    let ticket = layer.start(&mut hw, nothing).unwrap();
    assert_eq!(layer.outcome(&ticket), Ok(Some(Outcome::Delivered)));
    assert_eq!(layer.outcome(&Ticket(4)), Err(UnknownTicket { id: 4 }));
}

#[test]
fn a_node_that_never_answers_is_given_up() {
    let mut hw = controller();
    let mut layer = layer(&mut hw);
    let ticket = layer.start(&mut hw, transfer(1, 8)).unwrap();
    let mut now = Instant::from_ps(0);
    for _ in 0..10_000 {
        now = now + Duration::from_us(100);
        layer.tick(now);
        layer.poll(&mut hw).unwrap();
        // The fake sends to itself; what arrives carries no number of ours.
        hw.run(10);
    }
    let why = Failure::Unreachable {
        node: 1,
        attempts: 10,
    };
    assert_eq!(layer.outcome(&ticket), Ok(Some(Outcome::Failed(why))));
    let error =
        <Small as RemoteWrite<FakeController<'_>>>::progress(&mut layer, &ticket).unwrap_err();
    assert!(
        matches!(error, ReliableError::<PortErrorOf<FakeController<'_>>>::Failed(f) if f == why)
    );
    assert_eq!(layer.pending(), 0);
}

#[test]
fn bytes_that_cannot_be_read_fail_their_transfer_only() {
    let mut hw = controller();
    let mut layer = layer(&mut hw);
    // Node 0 is the node itself: the fake sends to itself.
    let mut outside = transfer(0, 64);
    outside.local = 0x3F_0000;
    let bad = layer.start(&mut hw, outside).unwrap();
    let good = layer.start(&mut hw, transfer(0, 64)).unwrap();
    let mut now = Instant::from_ps(0);
    for _ in 0..100 {
        now = now + Duration::from_us(1);
        layer.tick(now);
        layer.poll(&mut hw).unwrap();
        hw.run(10);
    }
    let why = Failure::LocalMemory { address: 0x3F_0000 };
    assert_eq!(layer.outcome(&bad), Ok(Some(Outcome::Failed(why))));
    assert_eq!(layer.outcome(&good), Ok(Some(Outcome::Delivered)));
    assert_eq!(layer.arrival_from(), Some((0, Arrival { tag: 7 })));
    assert_eq!(layer.arrival_from(), None);
}

#[test]
fn a_board_that_stays_stopped_is_restarted_and_then_given_up() {
    let mut hw = controller();
    let mut layer = layer(&mut hw);
    let ticket = layer.start(&mut hw, transfer(0, 64)).unwrap();
    // Every access fails from here on.
    let mut dead = HostileController::new(&[], 1);
    dead.failures = 1;
    let mut now = Instant::from_ps(0);
    let mut ended = false;
    for _ in 0..1_000 {
        now = now + Duration::from_us(100);
        layer.tick(now);
        ended |= layer.poll(&mut dead).is_err();
    }
    assert!(ended);
    assert_eq!(
        layer.outcome(&ticket),
        Ok(Some(Outcome::Failed(Failure::BoardLost)))
    );
    let error = layer.start(&mut dead, transfer(0, 64)).unwrap_err();
    assert!(matches!(error, ReliableError::BoardLost { restarts: 8 }));
}

#[test]
fn a_hostile_controller_can_neither_stop_nor_overrun_the_layer() {
    for seed in 0..300 {
        let mut hw = controller();
        let mut layer = layer(&mut hw);
        let mut hostile = HostileController::new(&[], seed);
        hostile.failures = (seed % 3) as u32 * 40;
        hostile.quiet = seed % 7 == 0;
        let mut now = Instant::from_ps(0);
        let mut accepted = 0;
        for step in 0..200u64 {
            now = now + Duration::from_us(step % 5 * 500);
            layer.tick(now);
            accepted += u64::from(
                layer
                    .start(&mut hostile, transfer((step % 4) as u16, step))
                    .is_ok(),
            );
            let before = hostile.accesses();
            let _ = layer.poll(&mut hostile);
            // A restart writes the tables and the router's chain; a report costs
            // the reading of a message.
            assert!(hostile.accesses() - before < 5_000);
            while layer.arrival_from().is_some() {}
            while layer.event().is_some() {}
            while layer.failed().is_some() {}
        }
        let stats = layer.stats();
        let nothing = u64::from(accepted > 0);
        assert!(
            stats.delivered + stats.failed + layer.pending() as u64 + nothing >= stats.accepted
        );
    }
}
