//! Answers other than smooth: responses, parity.

use std::vec::Vec;

use super::*;

#[test]
fn responses_are_for_one_transaction_each() {
    let mut bench = bench();
    bench
        .bridge
        .respond_next(TargetResponse::ExtraLatency(3))
        .unwrap();
    bench
        .bridge
        .respond_next(TargetResponse::WaitStates(1))
        .unwrap();
    assert_eq!(
        bench.transfer(Command::MemoryRead, BASE, &[0; 2]).1,
        [12, 13]
    );
    assert_eq!(
        bench.transfer(Command::MemoryRead, BASE, &[0; 2]).1,
        [9, 11]
    );
    assert_eq!(
        bench.transfer(Command::MemoryRead, BASE, &[0; 2]).1,
        [9, 10]
    );
}

#[test]
fn a_ninth_response_is_refused() {
    let mut bridge = HostBridge::new(BridgeConfig::default());
    for _ in 0..8 {
        bridge.respond_next(TargetResponse::Retry).unwrap();
    }
    let error = bridge.respond_next(TargetResponse::Retry);
    assert_eq!(error, Err(BridgeError::ResponsesFull { max: 8 }));
}

#[test]
fn perr_comes_two_clocks_after_the_data_and_serr_after_the_address() {
    let master = TestMasterConfig {
        bad_parity: true,
        ..TestMasterConfig::default()
    };
    let mut bench = Bench::new(BridgeConfig::default(), master);
    bench.master.submit(Command::MemoryWrite, BASE, &[1]);
    let trace: Vec<Signals> = (0..12).map(|_| bench.step()).collect();
    let clocks = |line: fn(&Signals) -> bool| -> Vec<usize> {
        (0..12).filter(|&clock| line(&trace[clock])).collect()
    };
    assert_eq!(clocks(|bus| !bus.frame_n), [2]);
    assert_eq!(clocks(|bus| !bus.serr_n), [4]);
    assert_eq!(clocks(|bus| !bus.trdy_n), [5]);
    assert_eq!(clocks(|bus| !bus.perr_n), [7]);
    let off = BridgeConfig {
        parity_response: false,
        serr_enable: false,
        ..BridgeConfig::default()
    };
    bench.bridge = HostBridge::new(off);
    bench.master.submit(Command::MemoryWrite, BASE, &[1]);
    for _ in 0..12 {
        let bus = bench.step();
        assert!(bus.perr_n && bus.serr_n);
    }
    assert_eq!(bench.bridge.stats().data_parity_errors, 1);
}

#[test]
fn spoiled_read_data_is_noticed_by_the_initiator() {
    let mut bench = bench();
    bench
        .bridge
        .respond_next(TargetResponse::BadParity)
        .unwrap();
    let (outcome, _) = bench.transfer(Command::MemoryRead, BASE, &[0; 3]);
    assert_eq!(outcome.parity_errors, 3);
}
