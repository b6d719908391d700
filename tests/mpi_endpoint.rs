//! Endpoints over the in-memory transport: what every message goes through.
#![cfg(feature = "alloc")]

mod mpi_rig;

use mpi_rig::{Rig, free, pattern};
use multipc::mpi::credit::CreditMode;
use multipc::mpi::endpoint::{Activity, Buffer, Waits};
use multipc::mpi::{ArrivalMode, Cause, MpiConfig, Policy, Trace};
use multipc::time::Instant;

/// Every combination of what can be chosen.
fn configs() -> Vec<MpiConfig> {
    let mut all = Vec::new();
    for arrival in [ArrivalMode::Reports, ArrivalMode::Slots] {
        for mode in [CreditMode::Slot, CreditMode::Counter] {
            for policy in [Policy::Polling, Policy::Interrupt] {
                for costs in [false, true] {
                    let mut config = free().with_arrival(arrival).with_credit_mode(mode);
                    config.policy = policy;
                    if costs {
                        config.cost = MpiConfig::default().cost;
                    }
                    all.push(config);
                }
            }
        }
    }
    all
}

#[test]
fn messages_of_all_sizes_arrive_in_both_orders() {
    for config in configs() {
        let mut rig: Rig<2> = Rig::new(config);
        for (i, len) in [
            0, 1, 3, 4, 100, 2048, 2049, 16_348, 16_349, 61_440, 61_441, 200_001,
        ]
        .into_iter()
        .enumerate()
        {
            for posted_first in [true, false] {
                let data = pattern(i as u64, len);
                let (from, to) = (rig.user, rig.user + 0x20_0000);
                rig.write(0, from, &data);
                rig.write(1, to, &vec![0xEE; len as usize + 8]);
                let buffer = Buffer::new(to + 4, len);
                let early = posted_first.then(|| rig.recv(1, Some(0), Some(7), buffer));
                let send = rig.send(0, 1, 7, Buffer::new(from, len));
                rig.settle();
                let recv = early.unwrap_or_else(|| rig.recv(1, Some(0), Some(7), buffer));
                rig.settle();
                let sent = rig.done(0, send);
                let got = rig.done(1, recv);
                assert_eq!((sent.length, got.length, got.total), (len, len, len));
                assert_eq!((got.source, got.tag, got.peer), (0, 7, 0));
                assert_eq!(rig.read(1, to + 4, len), data, "{len} {config:?}");
                assert_eq!(rig.read(1, to, 4), [0xEE; 4]);
                assert_eq!(rig.read(1, to + 4 + len, 4), [0xEE; 4]);
            }
        }
        rig.check_idle();
    }
}

#[test]
fn a_thousand_messages_each_way_go_round_the_rings() {
    for config in configs() {
        let mut rig: Rig<2> = Rig::new(config.with_slots(3));
        for i in 0..300u64 {
            let len = i * 37 % 3000;
            for (from, to) in [(0, 1), (1, 0)] {
                let data = pattern(i + from as u64, len);
                let user = rig.user;
                rig.write(from, user, &data);
                let send = rig.send(from, to, i as i32, Buffer::new(user, len));
                let recv = rig.recv(to, None, None, Buffer::new(user + 0x1_0000, len));
                while !rig.endpoints[to].is_done(recv) || !rig.endpoints[from].is_done(send) {
                    rig.round();
                }
                rig.done(from, send);
                assert_eq!(rig.done(to, recv).tag, i as i32);
                assert_eq!(rig.read(to, user + 0x1_0000, len), data);
            }
        }
        rig.settle();
        rig.check_idle();
    }
}

#[test]
fn synchronous_sends_wait_for_their_receive() {
    let mut rig: Rig<2> = Rig::new(free());
    let buffer = Buffer::new(rig.user, 10);
    let send = rig.ssend(0, 1, 1, buffer);
    rig.settle();
    assert!(!rig.endpoints[0].is_done(send));
    let waiting: Vec<_> = rig.endpoints[0].pending().collect();
    assert_eq!(waiting[0].waits, Waits::Match);
    let recv = rig.recv(1, Some(0), Some(1), buffer);
    rig.settle();
    rig.done(0, send);
    rig.done(1, recv);
    rig.check_idle();
}

/// Adds up what the processor was at.
#[derive(Default)]
struct Spent(std::collections::BTreeMap<Cause, u64>);

impl Trace for Spent {
    fn span(&mut self, cause: Cause, start: Instant, end: Instant) {
        *self.0.entry(cause).or_default() += end.since(start).ps();
    }
}

/// Runs until nobody has anything to do, with exact time.
fn run<const N: usize>(rig: &mut Rig<N>, spent: &mut Spent) {
    loop {
        let mut next: Option<Instant> = None;
        for _ in 0..3 {
            next = None;
            for rank in 0..N {
                if let Activity::Busy { until } = rig.progress_with(rank, spent) {
                    next = Some(next.map_or(until, |next| next.min(until)));
                }
            }
        }
        match next {
            Some(next) => rig.now = next,
            None => return,
        }
    }
}

#[test]
fn software_of_an_empty_message_closes_the_published_sums() {
    // The hardware's 2.8 us and 0.1 us of polling, of which 0.01 us is the
    // endpoint's, come on top.
    for (config, published, outside) in [
        (MpiConfig::mpi2(), 15_000_000, 2_800_000 + 90_000),
        (MpiConfig::mpi1(), 26_100_000, 2_800_000),
    ] {
        let mut rig: Rig<2> = Rig::new(config);
        let nothing = Buffer::new(rig.user, 0);
        let mut spent = Spent::default();
        let recv = rig.recv(1, Some(0), None, nothing);
        run(&mut rig, &mut spent);
        let start = rig.now;
        let send = rig.send(0, 1, 0, nothing);
        run(&mut rig, &mut spent);
        rig.done(0, send);
        rig.done(1, recv);
        let time = rig.now.since(start).ps();
        assert_eq!(time + outside, published, "{:?}", spent.0);
        assert_eq!(spent.0.values().sum::<u64>(), time, "one at a time");
        println!("{:?}: {:?}", config.policy, spent.0);
    }
}

#[test]
fn a_long_message_takes_two_more_control_messages() {
    for (config, control) in [(MpiConfig::mpi2(), 13.0), (MpiConfig::mpi1(), 24.0)] {
        let mut rig: Rig<2> = Rig::new(config);
        let buffer = Buffer::new(rig.user, 8192);
        let mut spent = Spent::default();
        let recv = rig.recv(1, Some(0), None, buffer);
        run(&mut rig, &mut spent);
        let start = rig.now;
        let send = rig.send(0, 1, 0, buffer);
        run(&mut rig, &mut spent);
        rig.done(0, send);
        rig.done(1, recv);
        let time = rig.now.since(start).as_us_f64();
        let answer = spent.0[&Cause::Control] as f64 / 1e6;
        // Answer out and in, end of data in.
        assert!((answer - (3.1 + 2.0 * 5.1)).abs() < 1e-6, "{:?}", spent.0);
        assert!(!spent.0.contains_key(&Cause::Copy), "nothing is copied");
        assert!(time > control, "{time}");
        assert_eq!(
            spent.0.contains_key(&Cause::Pin),
            config.policy == Policy::Interrupt
        );
    }
}
