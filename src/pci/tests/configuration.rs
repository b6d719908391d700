//! Configuration accesses and what may end them.

use super::*;

#[test]
fn configuration_write_walks_its_clocks() {
    let (outcome, trace) = bench().configure(ConfigAccess::write(0x48, 0x8000_7000));
    assert_eq!((outcome.result(), outcome.cycles), (Ok(0x8000_7000), 6));
    // 0: request, 1: grant, 2: address, 3 and 4: wait, 5: data.
    let (address, idsel) = trace[2];
    assert!(idsel && !address.frame_n && address.irdy_n);
    assert_eq!((address.ad, address.cbe_n), (0x48, 0b1011));
    let waits = trace[3].0;
    assert!(waits.frame_n && !waits.irdy_n && waits.devsel_n);
    assert_eq!(
        (waits.ad, waits.cbe_n, waits.par),
        (0x8000_7000, 0, even_parity(0x48, 0b1011))
    );
    assert!(!trace[4].0.devsel_n && trace[4].0.trdy_n);
    assert!(!trace[5].0.trdy_n);
    let idsels = trace.iter().filter(|(_, idsel)| *idsel).count();
    assert_eq!((trace.len(), idsels), (6, 1));
}

#[test]
fn configuration_read_of_nobody_gives_all_ones_after_5_clocks() {
    let mut bench = bench();
    bench.device.respond(DeviceResponse::Ignore);
    let (outcome, trace) = bench.configure(ConfigAccess::read(0x40));
    assert_eq!(
        (outcome.end, outcome.data),
        (ConfigEnd::MasterAbort, u32::MAX)
    );
    assert_eq!(
        outcome.result(),
        Err(BridgeError::MasterAbort { offset: 0x40 })
    );
    // FRAME# in clock 2, the last IRDY# in clock 6, so released in clock 7.
    assert!(!trace[2].0.frame_n && !trace[6].0.irdy_n);
    assert_eq!(trace.len(), 7);
    assert!(bench.step().is_idle());
    assert_eq!(bench.bridge.stats().master_aborts, 1);
}

#[test]
fn configuration_failures_are_typed() {
    let config = BridgeConfig {
        retry_limit: 3,
        ..BridgeConfig::default()
    };
    let mut bench = Bench::new(config, TestMasterConfig::default());
    let mut access = |response, access| {
        bench.device.respond(response);
        bench.configure(access).0
    };
    let offset = 0x44;
    let outcome = access(DeviceResponse::Retry(9), ConfigAccess::read(offset));
    let error = BridgeError::RetryLimit {
        offset,
        retries: 4,
        max: 3,
    };
    assert_eq!((outcome.result(), outcome.data), (Err(error), u32::MAX));
    let outcome = access(DeviceResponse::TargetAbort, ConfigAccess::write(offset, 5));
    assert_eq!(outcome.result(), Err(BridgeError::TargetAbort { offset }));
    let outcome = access(DeviceResponse::BadParity, ConfigAccess::read(offset));
    assert_eq!(
        outcome.result(),
        Err(BridgeError::Parity { offset, value: 0 })
    );
    let outcome = access(DeviceResponse::Data, ConfigAccess::write(offset, 5));
    assert_eq!(outcome.result(), Ok(5));
}

#[test]
fn misuse_is_named() {
    use std::string::ToString;
    let mut bridge = HostBridge::new(BridgeConfig::default());
    let error = bridge.submit(ConfigAccess::read(0x42)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "configuration offset 0x42 is not a multiple of 4"
    );
    bridge.submit(ConfigAccess::read(0x40)).unwrap();
    let error = bridge.submit(ConfigAccess::read(0x44)).unwrap_err();
    assert_eq!(error, BridgeError::Busy { offset: 0x40 });
}
