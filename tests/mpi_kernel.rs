//! The kernel's half of MPI-MPC 1: what the handler of interrupts does while its
//! process computes.
#![cfg(feature = "alloc")]

mod mpi_rig;

use mpi_rig::{Rig, free};
use multipc::mpi::credit::CreditMode;
use multipc::mpi::endpoint::{Activity, Buffer};
use multipc::mpi::{Cause, Lent, MpiConfig, Policy, Port, Trace};
use multipc::remote::{Arrival, Progress, Transfer};
use multipc::time::{Duration, Instant};

/// What the handler's time went to.
#[derive(Default)]
struct Spans(Vec<(Cause, Duration)>);

impl Trace for Spans {
    fn span(&mut self, cause: Cause, start: Instant, end: Instant) {
        self.0.push((cause, end.since(start)));
    }
}

fn config(kernel_credits: bool) -> MpiConfig {
    let mut config = free();
    config.policy = Policy::Interrupt;
    config.kernel_credits = kernel_credits;
    config
}

/// The handler, until it has nothing more to do.
fn interrupt(rig: &mut Rig<2>, rank: usize) -> Vec<(Cause, Duration)> {
    let mut spans = Spans::default();
    for _ in 0..1_000 {
        let mut port = Lent::new(&mut rig.writers[rank], &mut rig.memories, rank as u16);
        let activity = rig.endpoints[rank].interrupt(&mut port, rig.now, &mut spans);
        rig.endpoints[rank].check_invariants().unwrap();
        match activity {
            Activity::Busy { until } => rig.now = rig.now.max(until),
            Activity::Idle => return spans.0,
        }
    }
    panic!("it never ends");
}

/// A port without some of its parts.
struct Crippled<P> {
    inner: P,
    deaf: bool,
    full: bool,
}

impl<P: Port> Port for Crippled<P> {
    type Token = P::Token;
    type Error = P::Error;

    fn start(&mut self, transfer: Transfer) -> Result<Option<P::Token>, P::Error> {
        if self.full {
            return Ok(None);
        }
        self.inner.start(transfer)
    }

    fn poll(&mut self) -> Result<(), P::Error> {
        self.inner.poll()
    }

    fn progress(&mut self, token: &P::Token) -> Result<Progress, P::Error> {
        self.inner.progress(token)
    }

    fn arrival(&mut self) -> Option<Arrival> {
        if self.deaf {
            None
        } else {
            self.inner.arrival()
        }
    }

    fn load(&mut self, addr: u64, into: &mut [u8]) -> Result<(), P::Error> {
        self.inner.load(addr, into)
    }

    fn store(&mut self, addr: u64, bytes: &[u8]) -> Result<(), P::Error> {
        self.inner.store(addr, bytes)
    }
}

/// The library of a rank that no notification reaches, or whose transport is
/// full.
fn crippled(rig: &mut Rig<2>, rank: usize, deaf: bool, full: bool) {
    for _ in 0..10 {
        let inner = Lent::new(&mut rig.writers[rank], &mut rig.memories, rank as u16);
        let mut port = Crippled { inner, deaf, full };
        rig.endpoints[rank].progress(&mut port, rig.now, &mut ());
    }
}

fn deaf(rig: &mut Rig<2>, rank: usize) {
    crippled(rig, rank, true, false);
}

fn progress(rig: &mut Rig<2>, rank: usize) {
    for _ in 0..10 {
        rig.progress(rank);
    }
}

fn send(rig: &mut Rig<2>, from: usize, count: usize) {
    for _ in 0..count {
        let buffer = Buffer::new(rig.user, 4);
        rig.send(from, 1 - from, 0, buffer);
    }
}

fn credits(rig: &Rig<2>, rank: usize) -> (u16, u16) {
    let credit = rig.endpoints[rank].credit(1 - rank as u32).unwrap();
    (credit.tx_avail(), credit.rx_owed())
}

#[test]
fn the_handler_takes_credits_in() {
    for (on, avail) in [(true, 16), (false, 8)] {
        let mut rig: Rig<2> = Rig::new(config(on));
        send(&mut rig, 0, 8);
        deaf(&mut rig, 0);
        progress(&mut rig, 1);
        assert_eq!(rig.endpoints[1].stats().credits, 1);
        assert_eq!(credits(&rig, 0), (8, 0));
        interrupt(&mut rig, 0);
        assert_eq!(credits(&rig, 0).0, avail);
        // The process finds the same in the end.
        progress(&mut rig, 0);
        assert_eq!(credits(&rig, 0), (16, 1));
    }
}

#[test]
fn a_message_for_the_process_keeps_what_is_behind_it() {
    let mut rig: Rig<2> = Rig::new(config(true));
    send(&mut rig, 0, 8);
    deaf(&mut rig, 0);
    send(&mut rig, 1, 1);
    deaf(&mut rig, 1);
    progress(&mut rig, 1);
    assert_eq!(rig.endpoints[1].stats().credits, 1);
    interrupt(&mut rig, 0);
    assert_eq!(credits(&rig, 0), (8, 0));
    assert_eq!(rig.endpoints[0].unexpected(0), 0);
    progress(&mut rig, 0);
    assert_eq!(credits(&rig, 0), (16, 2));
    assert_eq!(rig.endpoints[0].unexpected(0), 1);
}

#[test]
fn the_handler_gives_slots_back_and_costs_no_system_call() {
    for on in [true, false] {
        let mut config = config(on).with_slots(5);
        config.threshold = 2;
        let record = MpiConfig::mpi1().cost;
        (config.cost.interrupt, config.cost.credit) = (record.interrupt, record.credit);
        (config.cost.put, config.cost.system_call) = (record.put, record.system_call);
        let mut rig: Rig<2> = Rig::new(config);
        let settled = |rig: &mut Rig<2>, rank, hears: bool| {
            for _ in 0..40 {
                rig.now = rig.now + Duration::from_us(20);
                crippled(rig, rank, !hears, false);
            }
        };
        // Rank 0 gives its last credit away with two slots.
        send(&mut rig, 0, 4);
        settled(&mut rig, 0, false);
        send(&mut rig, 1, 2);
        settled(&mut rig, 1, false);
        settled(&mut rig, 0, true);
        assert_eq!(credits(&rig, 0), (0, 0));
        // It owes two more, and cannot say so.
        send(&mut rig, 1, 2);
        settled(&mut rig, 1, false);
        settled(&mut rig, 0, true);
        assert_eq!(credits(&rig, 0), (0, 2));
        // It computes; credits come back to it.
        settled(&mut rig, 1, true);
        assert_eq!(credits(&rig, 1), (2, 0));
        rig.now = rig.now + Duration::from_us(20);
        let spans = interrupt(&mut rig, 0);
        let mut expected = vec![(Cause::Interrupt, record.interrupt)];
        if on {
            // In, and out.
            expected.push((Cause::Control, record.credit));
            expected.push((Cause::Control, record.credit));
            expected.push((Cause::Put, record.put));
        }
        assert_eq!(spans, expected);
        // The transport carries it when it is next looked after.
        assert_eq!(interrupt(&mut rig, 0), []);
        settled(&mut rig, 1, true);
        let back = if on { 5 } else { 2 };
        assert_eq!(credits(&rig, 1).0, back);
    }
}

#[test]
fn the_handler_writes_counters_that_found_the_transport_full() {
    for on in [true, false] {
        let config = config(on).with_credit_mode(CreditMode::Counter);
        let mut rig: Rig<2> = Rig::new(config);
        send(&mut rig, 1, 8);
        progress(&mut rig, 1);
        crippled(&mut rig, 0, false, true);
        assert_eq!(credits(&rig, 0), (16, 8));
        interrupt(&mut rig, 0);
        assert_eq!(credits(&rig, 0).1, if on { 0 } else { 8 });
    }
}
