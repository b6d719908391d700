//! Landing offers: used by the message that the receive takes, and by no other.
#![cfg(feature = "alloc")]

mod mpi_rig;

use mpi_rig::{Rig, free, pattern};
use multipc::mpi::endpoint::Buffer;
use multipc::mpi::{ArrivalMode, MpiConfig};

fn config() -> MpiConfig {
    let mut config = free();
    config.offers = true;
    config
}

#[test]
fn a_message_to_an_offered_landing_needs_no_answer() {
    for arrival in [ArrivalMode::Reports, ArrivalMode::Slots] {
        let mut rig: Rig<2> = Rig::new(config().with_arrival(arrival));
        let data = pattern(1, 100_000);
        let (from, to) = (rig.user, rig.user + 0x10_0000);
        rig.write(0, from, &data);
        let recv = rig.recv(1, Some(0), Some(7), Buffer::new(to, 120_000));
        rig.settle();
        assert!(!rig.endpoints[1].cancel(recv), "data may be on its way");
        let send = rig.send(0, 1, 7, Buffer::new(from, 100_000));
        rig.settle();
        assert_eq!(rig.done(0, send).length, 100_000);
        let receipt = rig.done(1, recv);
        assert_eq!((receipt.length, receipt.total), (100_000, 100_000));
        assert_eq!(rig.read(1, to, 100_000), data);
        let (here, there) = (rig.endpoints[0].stats(), rig.endpoints[1].stats());
        assert_eq!((there.offers, there.answers, here.direct), (1, 0, 1));
        rig.check_idle();
    }
}

#[test]
fn an_offer_is_let_go_by_what_does_not_fit_or_is_on_its_way() {
    // Too long, short, without bytes.
    for len in [30_000, 10, 0] {
        let mut rig: Rig<2> = Rig::new(config());
        let (from, to) = (rig.user, rig.user + 0x10_0000);
        let recv = rig.recv(1, Some(0), Some(7), Buffer::new(to, 20_000));
        rig.settle();
        let send = rig.send(0, 1, 7, Buffer::new(from, len));
        rig.settle();
        rig.done(0, send);
        assert_eq!(rig.done(1, recv).length, len.min(20_000));
        assert_eq!(rig.endpoints[0].stats().direct, 0);
        rig.check_idle();
    }
    // Both at once: the envelope is sent before the offer is there.
    let mut rig: Rig<2> = Rig::new(config());
    let (from, to) = (rig.user, rig.user + 0x10_0000);
    rig.write(0, from, &pattern(1, 10));
    rig.write(0, from + 64, &pattern(2, 20_000));
    let first = rig.recv(1, Some(0), Some(7), Buffer::new(to, 20_000));
    let second = rig.recv(1, Some(0), Some(7), Buffer::new(to + 0x1_0000, 20_000));
    let one = rig.send(0, 1, 7, Buffer::new(from, 10));
    let two = rig.send(0, 1, 7, Buffer::new(from + 64, 20_000));
    rig.settle();
    rig.done(0, one);
    rig.done(0, two);
    assert_eq!(rig.done(1, first).total, 10);
    assert_eq!(rig.done(1, second).total, 20_000);
    assert_eq!(rig.read(1, to + 0x1_0000, 20_000), pattern(2, 20_000));
    rig.check_idle();
}

#[test]
fn a_receive_behind_one_that_matches_offers_nothing() {
    let mut rig: Rig<2> = Rig::new(config());
    let (from, to) = (rig.user, rig.user + 0x10_0000);
    let any = rig.recv(1, None, None, Buffer::new(to, 20_000));
    let exact = rig.recv(1, Some(0), Some(7), Buffer::new(to + 0x1_0000, 20_000));
    rig.settle();
    assert_eq!(rig.endpoints[1].stats().offers, 0);
    for seed in 0..2 {
        rig.write(0, from, &pattern(seed, 20_000));
        let send = rig.send(0, 1, 7, Buffer::new(from, 20_000));
        rig.settle();
        rig.done(0, send);
    }
    rig.done(1, any);
    rig.done(1, exact);
    assert_eq!(rig.read(1, to, 20_000), pattern(0, 20_000));
    assert_eq!(rig.read(1, to + 0x1_0000, 20_000), pattern(1, 20_000));
}

#[test]
fn random_orders_match_as_without_offers() {
    let mut direct = 0;
    for seed in 0..300u64 {
        let mut state = seed * 2 + 1;
        let mut random = |n: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % n
        };
        let mut config = config().with_slots([3, 4, 16][seed as usize % 3]);
        if seed % 2 == 1 {
            config = config.with_arrival(ArrivalMode::Slots);
        }
        let mut rig: Rig<2> = Rig::new(config);
        // Message i of a tag goes to receive i of that tag, each way.
        let (mut sends, mut recvs) = (Vec::new(), Vec::new());
        let mut counts = [[0u64; 2]; 4];
        while counts.iter().flatten().any(|count| *count < 12) {
            let way = random(4) as usize;
            let (from, tag) = (way / 2, (way % 2) as i32);
            let side = random(2) as usize;
            if counts[way][side] < 12 {
                let number = counts[way][side];
                counts[way][side] += 1;
                let place = rig.user + (way as u64 * 12 + number) * 0x2000;
                if side == 0 {
                    let len = [0, 100, 3_000, 8_000][random(4) as usize];
                    let name = way as u64 * 12 + number;
                    rig.write(from, place, &pattern(name, len));
                    let send = rig.send(from, 1 - from, tag, Buffer::new(place, len));
                    sends.push((from, send, way, number, len));
                } else {
                    let source = (random(4) > 0).then_some(from as u32);
                    let buffer = Buffer::new(place + 0x20_0000, 8_000);
                    let recv = rig.recv(1 - from, source, Some(tag), buffer);
                    recvs.push((recv, way, number));
                }
            }
            for _ in 0..random(3) {
                rig.progress(random(2) as usize);
            }
        }
        rig.settle();
        for (from, send, way, number, len) in sends {
            rig.done(from, send);
            let (recv, ..) = *recvs
                .iter()
                .find(|(_, other, n)| (*other, *n) == (way, number))
                .unwrap();
            assert_eq!(rig.done(1 - from, recv).total, len, "seed {seed}");
            let name = way as u64 * 12 + number;
            let place = rig.user + name * 0x2000 + 0x20_0000;
            assert_eq!(
                rig.read(1 - from, place, len),
                pattern(name, len),
                "seed {seed}"
            );
        }
        direct += rig.endpoints.iter().map(|e| e.stats().direct).sum::<u64>();
        rig.check_idle();
    }
    assert!(direct > 300, "{direct}");
}
