//! The register tables against the chip, over the bus.

mod ddc_rig;

use ddc_rig::*;
use multipc::ddc::registers::{Access, Command, PciCommandStatus, REGISTERS, Status};
use multipc::ddc::{Ddc, DdcConfig, PciInputs};
use multipc::pci::{BridgeConfig, Command as BusCommand, Signals, even_parity};

fn fresh() -> Rig {
    Rig::new(DdcConfig::default(), BridgeConfig::default())
}

#[test]
fn reset_values_are_those_of_the_table() {
    let mut rig = fresh();
    rig.boards[0].r3_status = 0;
    for register in REGISTERS {
        assert_eq!(
            rig.read(0, register.offset),
            register.reset,
            "{}",
            register.name
        );
    }
    rig.assert_clean();
}

#[test]
fn tables_name_each_bit_once_and_offsets_rise() {
    for register in REGISTERS {
        let mut seen = 0u32;
        for field in register.fields {
            assert_eq!(seen & field.mask(), 0, "{} {}", register.name, field.name);
            seen |= field.mask();
        }
        assert!(register.offset.is_multiple_of(4));
    }
    assert!(
        REGISTERS
            .windows(2)
            .all(|pair| pair[0].offset < pair[1].offset)
    );
}

#[test]
fn walking_ones_reach_exactly_the_writable_bits() {
    for register in REGISTERS {
        let writable = register.mask(Access::ReadWrite);
        for bit in 0..32 {
            let value = 1u32 << bit;
            if register.name == "COMMAND" && bit == 15 {
                continue; // resets the chip
            }
            let mut rig = fresh();
            rig.boards[0].r3_status = 0;
            rig.write(0, register.offset, value);
            let expected = register.reset & !writable | value & writable;
            assert_eq!(
                rig.read(0, register.offset),
                expected,
                "{} bit {bit}",
                register.name
            );
            rig.write(0, register.offset, !value & !(1 << 15));
            let expected = register.reset & !writable | !value & !(1 << 15) & writable;
            assert_eq!(rig.read(0, register.offset) & writable, expected & writable);
        }
    }
}

#[test]
fn a_write_reaches_its_own_register_only() {
    for register in REGISTERS {
        let mut rig = fresh();
        rig.boards[0].r3_status = 0;
        rig.write(0, register.offset, 0xA5A5_25A5);
        for other in REGISTERS
            .iter()
            .filter(|other| other.offset != register.offset)
        {
            assert_eq!(
                rig.read(0, other.offset),
                other.reset,
                "{} {}",
                register.name,
                other.name
            );
        }
    }
}

#[test]
fn unlisted_offsets_read_0_and_ignore_writes() {
    let mut rig = fresh();
    rig.boards[0].r3_status = 0;
    for offset in (0..=0xFC).step_by(4) {
        if REGISTERS.iter().all(|register| register.offset != offset) {
            rig.write(0, offset, u32::MAX);
            assert_eq!(rig.read(0, offset), 0, "{offset:#x}");
        }
    }
    for register in REGISTERS {
        assert_eq!(
            rig.read(0, register.offset),
            register.reset,
            "{}",
            register.name
        );
    }
}

#[test]
fn errors_clear_one_by_one_and_only_when_written() {
    let mut rig = fresh();
    rig.start(0, ALL_ON);
    rig.write(0, MASK, 0xFF);
    // EEP, and a fall of the link status.
    rig.feed(0, &[multipc::hsl::Symbol::EEP]);
    rig.boards[0].r3_status = 0;
    rig.run(2);
    assert_eq!(rig.read(0, STATUS), 1 << 23 | 1 << 18);
    rig.write(0, STATUS, !(1 << 18 | 1 << 23));
    assert_eq!(rig.read(0, STATUS), 1 << 23 | 1 << 18);
    rig.write(0, STATUS, 1 << 18);
    assert_eq!(rig.read(0, STATUS), 1 << 23);
    rig.write(0, STATUS, 1 << 23);
    assert_eq!(rig.read(0, STATUS), 0);
}

#[test]
fn soft_reset_loses_latency_timer_and_interrupt_line() {
    let mut rig = fresh();
    rig.start(0, ALL_ON);
    rig.write(0, 0x3C, 0x0B);
    assert_eq!((rig.read(0, 0x3C), rig.read(0, 0x0C)), (0x010B, 0xFF00));
    rig.write(0, COMMAND, ALL_ON | 0x8000);
    assert_eq!((rig.read(0, 0x3C), rig.read(0, 0x0C)), (0x0100, 0));
    assert_eq!(rig.read(0, COMMAND), 0);
    rig.assert_clean();
}

#[test]
fn r3_dout_is_a_pulse_of_one_cycle_and_r3_init_a_level() {
    let mut rig = fresh();
    let mut pulses = Vec::new();
    let access = multipc::pci::ConfigAccess::write(0x74, 0xFFFF_FF5A);
    rig.boards[0].bridge.submit(access).unwrap();
    for _ in 0..60 {
        rig.step();
        let out = rig.boards[0].ddc.pci_outputs();
        assert!(!out.r3_init);
        pulses.push((rig.pci.cycle(), out.r3_dout));
    }
    pulses.retain(|(_, byte)| byte.is_some());
    pulses.dedup();
    assert_eq!(pulses.iter().map(|p| p.1).collect::<Vec<_>>(), [Some(0x5A)]);
    let _ = rig.boards[0].bridge.take();
    assert_eq!(rig.read(0, 0x74), 0);
    rig.write(0, COMMAND, R3_INIT);
    assert!(rig.boards[0].ddc.pci_outputs().r3_init);
    rig.write(0, COMMAND, 0);
    assert!(!rig.boards[0].ddc.pci_outputs().r3_init);
}

#[test]
fn setters_and_getters_agree_with_the_bits() {
    let command = Command::from_bits(0)
        .with_txrx_balance(8)
        .with_tx_init(1)
        .with_soft_reset(1);
    assert_eq!(command.bits(), 0x8000_C000);
    assert_eq!(
        command.with_max_packet_length(0xFFFF).max_packet_length(),
        0xFFF
    );
    assert_eq!(Status::from_bits(0x0000_0503).transaction(), 5);
    assert_eq!(PciCommandStatus::from_bits(4).bus_master(), 1);
    assert_eq!(
        format!("{command:?}"),
        "COMMAND=0x8000c000 tx_init=0x1 soft_reset=0x1 txrx_balance=0x8"
    );
}

/// An initiator for what the bridge never does: byte enables, bursts, other
/// functions. Returns the word read and the clocks with DEVSEL# asserted.
fn access(
    ddc: &mut Ddc,
    address: u32,
    write: Option<u32>,
    cbe_n: u8,
    words: u32,
) -> (Option<u32>, u32) {
    let command = if write.is_some() {
        BusCommand::ConfigurationWrite
    } else {
        BusCommand::ConfigurationRead
    };
    let mut bus = Signals {
        frame_n: false,
        ad: address,
        cbe_n: command.bits(),
        ..Signals::IDLE
    };
    let mut idsel = true;
    let (mut got, mut selected, mut left) = (None, 0, words);
    for _ in 0..12 {
        let drive = ddc.pci_outputs().drive;
        let own = bus;
        bus.trdy_n = drive.trdy_n.unwrap_or(true);
        bus.devsel_n = drive.devsel_n.unwrap_or(true);
        bus.stop_n = drive.stop_n.unwrap_or(true);
        bus.ad = drive.ad.unwrap_or(bus.ad);
        selected += u32::from(!bus.devsel_n);
        ddc.step_pci(&PciInputs {
            bus,
            idsel,
            gnt_n: true,
            r3_status: 0,
        });
        let par = even_parity(bus.ad, bus.cbe_n);
        if !bus.irdy_n && !bus.trdy_n {
            got.get_or_insert(bus.ad);
            left -= 1;
        }
        let over = !bus.irdy_n && bus.frame_n && (!bus.trdy_n || !bus.stop_n);
        let stopped = !bus.irdy_n && !bus.stop_n;
        bus = if over || own.is_idle() {
            Signals {
                par,
                ..Signals::IDLE
            }
        } else {
            Signals {
                frame_n: left <= 1 || stopped,
                irdy_n: false,
                ad: write.unwrap_or(u32::MAX),
                cbe_n,
                par,
                ..Signals::IDLE
            }
        };
        idsel = false;
    }
    (got, selected)
}

#[test]
fn byte_enables_are_honoured() {
    let mut ddc = Ddc::new(DdcConfig::default());
    access(&mut ddc, 0x50, Some(0x1122_3344), 0b0000, 1);
    assert_eq!(ddc.register(0x50), 0x1122_3344);
    access(&mut ddc, 0x50, Some(0xAABB_CCDD), 0b1010, 1);
    assert_eq!(ddc.register(0x50), 0x11BB_33DD);
    access(&mut ddc, 0x50, Some(u32::MAX), 0b1111, 1);
    assert_eq!(ddc.register(0x50), 0x11BB_33DD);
    assert_eq!(access(&mut ddc, 0x50, None, 0, 1).0, Some(0x11BB_33DD));
    // Neither a soft reset nor a byte for the router without its byte enabled.
    access(&mut ddc, 0x48, Some(0x8000), 0b0010, 1);
    assert_eq!(ddc.register(0x50), 0x11BB_33DD);
}

#[test]
fn a_burst_is_disconnected_after_its_first_word() {
    let mut ddc = Ddc::new(DdcConfig::default());
    access(&mut ddc, 0x50, Some(7), 0, 3);
    assert_eq!((ddc.register(0x50), ddc.register(0x54)), (7, 0));
    // The next access is served as ever.
    assert_eq!(access(&mut ddc, 0x50, None, 0, 1).0, Some(7));
}

#[test]
fn other_functions_and_type_1_are_not_claimed() {
    for address in [0x150, 0x750, 0x51] {
        let mut ddc = Ddc::new(DdcConfig::default());
        assert_eq!(
            access(&mut ddc, address, Some(7), 0, 1).1,
            0,
            "{address:#x}"
        );
        assert_eq!(ddc.register(0x50), 0);
    }
}
