use std::string::ToString;
use std::vec::Vec;

use super::super::testing::{Access, HostileController, Quirks};
use super::*;

const fn access(offset: u8, value: u32) -> Access {
    Access { offset, value }
}

/// The writes of one pass, by hand from the record: rings of 4 entries at
/// 0x1000, reports at 0x1040, counters at 0x1080.
fn pass(chain: &[u8]) -> Vec<Access> {
    let mut writes = Vec::from([
        access(0x48, 0x0000_8000),
        access(0x3C, 0x0000_010B),
        access(0x0C, 0x0000_2000),
        access(0x0C, 0x0000_FF00),
        access(0x44, 0x0000_0000),
        access(0x50, 0x0000_1030),
        access(0x54, 0x0000_1000),
        access(0x58, 0x0000_1000),
        access(0x5C, 0x0000_1000),
        access(0x60, 0x0000_1070),
        access(0x68, 0x0000_1040),
        access(0x64, 0x0000_1040),
        access(0x6C, 0x0000_1040),
        access(0x70, 0x0000_1080),
    ]);
    // Last byte of the chain first.
    writes.extend(
        chain
            .iter()
            .rev()
            .map(|byte| access(0x74, u32::from(*byte))),
    );
    writes.extend([
        access(0x48, 0x8000_0000),
        access(0x48, 0x8000_4000),
        access(0x48, 0x8000_6000),
        access(0x48, 0x8000_7000),
    ]);
    writes
}

#[test]
fn start_writes_the_recorded_sequence_and_nothing_else() {
    let table: Vec<u8> = (0..258).map(|i| (i % 251) as u8).collect();
    let mut hw = controller();
    let mut put = Put::new();
    let config = PutConfig {
        entries: 4,
        counters: 64,
        ..PutConfig::new(0, BASE, table.as_slice())
    };
    let started = put.init(&mut hw, &config).unwrap();
    let mut expected = Vec::new();
    for chain in [&[][..], &[][..], &[][..], &table[..]] {
        expected.extend(pass(chain));
    }
    // The latency timer read back in passes 2 to 4 is the raised one.
    let mut seen = 0;
    for write in &mut expected {
        if *write == access(0x0C, 0x2000) {
            seen += 1;
            if seen > 1 {
                write.value = 0xFF00;
            }
        }
    }
    expected.push(access(0x44, 0xC0FB_F0FF));
    expected.push(access(0x04, 0x0000_0104));
    assert_eq!(hw.writes(), expected.as_slice());
    assert_eq!(
        started,
        Started {
            hsl: true,
            status: 0x03
        }
    );
    assert_eq!(hw.waited_ns(), 1_000_000_000);
    assert_eq!(hw.chain_bytes(), 258);
    assert_eq!(put.phase(), Phase::Running);
}

#[test]
fn tables_are_zeroed_before_the_chip_starts() {
    let mut hw = controller();
    hw.ram_mut().slice_mut(0x0FF0, 0x400).unwrap().fill(0xEE);
    // 2 * 16 * 4 + 4 * 64 bytes from 0x1000.
    Put::new().init(&mut hw, &config(4)).unwrap();
    assert!(
        hw.ram()
            .slice(0x1000, 0x180)
            .unwrap()
            .iter()
            .all(|byte| *byte == 0)
    );
    assert!(
        hw.ram()
            .slice(0x0FF0, 0x10)
            .unwrap()
            .iter()
            .all(|byte| *byte == 0xEE)
    );
    assert!(
        hw.ram()
            .slice(0x1180, 0x10)
            .unwrap()
            .iter()
            .all(|byte| *byte == 0xEE)
    );
}

#[test]
fn polling_masks_pages_and_messages() {
    let (_, hw) = started(&PutConfig {
        model: Model::Polling,
        ..config(4)
    });
    assert_eq!(hw.peek(0x44), 0x00FB_F0FF);
}

#[test]
fn hsl_is_used_only_with_a_table_and_without_errors() {
    let mut hw = controller();
    let mut put = Put::new();
    let without = PutConfig {
        table: None,
        ..config(4)
    };
    assert!(!put.init(&mut hw, &without).unwrap().hsl);
    assert_eq!(
        put.add_entry(&mut hw, page(ALL)),
        Err(AddError::NotOnHsl { node: 1 })
    );
    assert!(put.set_on_hsl(1, true));
    put.add_entry(&mut hw, page(ALL)).unwrap();

    // STATUS with an error bit from the first read on.
    struct Failing(FakeController<'static>);
    impl RegisterPort for Failing {
        type Error = <FakeController<'static> as RegisterPort>::Error;
        fn read(&mut self, offset: u8) -> Result<u32, Self::Error> {
            Ok(self.0.read(offset)? | u32::from(offset == 0x40) << 20)
        }
        fn write(&mut self, offset: u8, value: u32) -> Result<(), Self::Error> {
            self.0.write(offset, value)
        }
    }
    impl DmaMemory for Failing {
        type Error = <FakeController<'static> as DmaMemory>::Error;
        fn load(&mut self, addr: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
            self.0.load(addr, bytes)
        }
        fn store(&mut self, addr: u32, bytes: &[u8]) -> Result<(), Self::Error> {
            self.0.store(addr, bytes)
        }
    }
    let mut hw = Failing(controller());
    let started = Put::new().begin(&mut hw, &config(4)).unwrap();
    assert_eq!(
        started,
        Started {
            hsl: false,
            status: 0x0010_0003
        }
    );
}

#[test]
fn wrong_configurations_are_named() {
    let mut hw = controller();
    let mut text = |config: PutConfig<'_>| {
        let mut put = Put::new();
        let error = put.init(&mut hw, &config).unwrap_err();
        assert_eq!(put.phase(), Phase::Closed);
        error.to_string()
    };
    let good = config(4);
    let short = [0; 257];
    assert_eq!(
        text(PutConfig {
            table: Some(&short),
            ..good
        }),
        "routing table of 257 bytes, must have 258"
    );
    assert_eq!(
        text(PutConfig {
            base: 0x1008,
            ..good
        }),
        "ring base 0x00001008 is not a multiple of 16"
    );
    assert_eq!(
        text(PutConfig { entries: 0, ..good }),
        "ring of 0 entries, allowed 2..=65536"
    );
    assert_eq!(
        text(PutConfig { entries: 1, ..good }),
        "ring of 1 entries, allowed 2..=65536"
    );
    assert_eq!(
        text(PutConfig {
            entries: 65_537,
            ..good
        }),
        "ring of 65537 entries, allowed 2..=65536"
    );
    assert_eq!(
        text(PutConfig {
            counters: (1 << 24) + 1,
            ..good
        }),
        "16777217 packet counters, allowed 0..=16777216"
    );
    assert_eq!(
        text(PutConfig { nodes: 0, ..good }),
        "0 nodes, allowed 1..=256"
    );
    assert_eq!(
        text(PutConfig { nodes: 257, ..good }),
        "257 nodes, allowed 1..=256"
    );
    assert_eq!(
        text(PutConfig { node: 16, ..good }),
        "own node 16 is outside 0..16"
    );
    assert_eq!(
        text(PutConfig {
            base: 0xFFFF_FF00,
            ..good
        }),
        "tables of 384 bytes at 0xffffff00 do not end below 2^32"
    );
    let broken = Capabilities {
        packet_counters: false,
        ..Capabilities::default()
    };
    assert_eq!(
        text(PutConfig {
            count_packets: true,
            capabilities: broken,
            ..good
        }),
        "packet counters asked from a revision whose counters are broken"
    );
    assert_eq!(
        text(PutConfig {
            identity: Some(7),
            ..good
        }),
        "no board: register 0x00 holds 0x00000000, expected 0x00000007"
    );
}

#[test]
fn an_open_driver_does_not_start_again_before_it_is_ended() {
    let (mut put, mut hw) = started(&config(4));
    assert_eq!(put.init(&mut hw, &config(4)), Err(InitError::AlreadyOpen));
    assert!(put.end());
    assert!(!put.end());
    assert_eq!(put.node(), None);
    assert_eq!(put.register_sap(), Err(SapError::NotOpen));
    put.init(&mut hw, &config(4)).unwrap();
    assert_eq!(put.node(), Some(0));
}

#[test]
fn a_register_is_read_eleven_times_before_it_is_given_up() {
    let mut hw = controller();
    hw.quirks = Quirks {
        dead_reads: 10,
        ..Quirks::default()
    };
    Put::new().init(&mut hw, &config(4)).unwrap();
    hw.quirks.dead_reads = 200;
    let error = Put::new()
        .init(
            &mut hw,
            &PutConfig {
                identity: None,
                ..config(4)
            },
        )
        .unwrap_err();
    assert_eq!(error, InitError::Port(PortError::NoAnswer { offset: 0x3C }));
    assert_eq!(
        error.to_string(),
        "register 0x3c read as 0xffffffff 11 times"
    );
    // The first read of a start: an empty slot of the bus.
    let error = Put::new().init(&mut hw, &config(4)).unwrap_err();
    assert_eq!(
        error,
        InitError::NoBoard {
            found: u32::MAX,
            expected: 0
        }
    );
}

#[test]
fn a_failing_port_is_named_wherever_the_start_meets_it() {
    for after in 0..200 {
        let mut hw = controller();
        hw.quirks.fail_after = Some(after);
        let mut put = Put::new();
        let error = put.init(&mut hw, &config(4)).unwrap_err();
        assert!(
            matches!(error, InitError::Port(PortError::Register { .. })),
            "{error:?}"
        );
        assert!(error.to_string().ends_with("failed: Injected"));
        let restarted = match put.phase() {
            Phase::Closed => put.init(&mut hw, &config(4)).is_ok(),
            // Everything but the end of the settling time was done.
            _ => put.settled(&mut hw).is_ok(),
        };
        assert!(restarted, "after {after} accesses");
    }
}

#[test]
fn interrupts_while_starting_are_flushed_but_their_messages_are_not_lost() {
    let (mut peer, mut far) = started(&config(4));
    let mut near = controller();
    let mut put = Put::new();
    put.begin(&mut near, &config(4)).unwrap();
    assert_eq!(put.add_entry(&mut near, page(ALL)), Err(AddError::Starting));
    peer.add_entry(&mut far, page(ALL)).unwrap();
    while far.step_to(&mut near) {}
    near.raise(1 << 23);
    assert!(near.inta());
    put.on_interrupt(&mut near, 8, |event| panic!("{event:?}"))
        .unwrap();
    assert!(!near.inta());
    put.settled(&mut near).unwrap();
    let sap = put.register_sap().unwrap();
    put.attach_mi_range(sap, 4).unwrap();
    let events = poll(&mut put, &mut near, 8);
    assert_eq!(
        events,
        [Event::Received {
            sap,
            mi: 3,
            data: None,
            packets: 1
        }]
    );
    assert_eq!(near.counters(), [0, 0]);
    // The error took Bus Master away; the flush gave it back.
    assert_eq!(near.peek(0x04) & 0xFFFF, 0x0104);
}

#[test]
fn emergency_stop_clears_bus_master_then_resets() {
    let (mut put, mut hw) = started(&config(4));
    put.emergency_stop(&mut hw, Fault::InterruptLoop { status: 0 })
        .unwrap();
    assert_eq!(hw.writes(), [access(0x04, 0x0100), access(0x48, 0x8000)]);
    assert_eq!(put.add_entry(&mut hw, page(ALL)), Err(AddError::Stopped));
    assert_eq!(put.poll(&mut hw, 1, |_| ()), Err(ServeError::Stopped));
    assert_eq!(put.init(&mut hw, &config(4)), Err(InitError::AlreadyOpen));
    put.end();
    put.init(&mut hw, &config(4)).unwrap();
    put.add_entry(&mut hw, page(ALL)).unwrap();
}

#[test]
fn the_lmi_consumer_pointer_is_written_where_the_revision_decodes_it() {
    let swapped = Capabilities {
        lmi_writes_swapped: true,
        ..Capabilities::default()
    };
    assert_eq!(Capabilities::default().lmi_current_write_offset(), 0x64);
    assert_eq!(swapped.lmi_current_write_offset(), 0x68);
}

#[test]
fn a_start_on_noise_ends_with_an_error_or_a_driver() {
    for seed in 0..200 {
        let mut hw = HostileController::new(&[], seed);
        hw.failures = if seed % 2 == 0 { 0 } else { 500 };
        let mut put = Put::new();
        match put.init(
            &mut hw,
            &PutConfig {
                identity: None,
                ..config(8)
            },
        ) {
            Ok(_) => assert_eq!(put.phase(), Phase::Running),
            Err(error) => assert!(matches!(error, InitError::Port(_)), "{error}"),
        }
    }
}
