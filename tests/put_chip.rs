//! The driver on the clocked chip: two controllers on one cable, each with its
//! own bus, bridge and memory, every bus clock watched by a protocol checker.

mod ddc_rig;

use std::convert::Infallible;

use ddc_rig::Rig;
use embedded_hal::delay::DelayNs;
use multipc::ddc::DdcConfig;
use multipc::mem::OutOfMemory;
use multipc::pci::BridgeConfig;
use multipc::put::{
    Acknowledge, Control, DmaMemory, Entry, Event, Model, Phase, Put, PutConfig, RegisterPort, Sap,
    Writer, WriterConfig,
};
use multipc::remote::{Arrival, Flags, Progress, RemoteWrite, Transfer};

const TABLE: [u8; 258] = [0; 258];
const NEAR: u32 = 0x2_0000;
const FAR: u32 = 0x5_0000;

/// One board of the rig, lent to its driver.
struct Board<'a> {
    rig: &'a mut Rig,
    board: usize,
}

fn at(rig: &mut Rig, board: usize) -> Board<'_> {
    Board { rig, board }
}

impl RegisterPort for Board<'_> {
    type Error = Infallible;
    fn read(&mut self, offset: u8) -> Result<u32, Infallible> {
        Ok(self.rig.read(self.board, offset))
    }
    fn write(&mut self, offset: u8, value: u32) -> Result<(), Infallible> {
        self.rig.write(self.board, offset, value);
        Ok(())
    }
}

impl DmaMemory for Board<'_> {
    type Error = OutOfMemory;
    fn load(&mut self, addr: u32, bytes: &mut [u8]) -> Result<(), OutOfMemory> {
        let memory = &self.rig.boards[self.board].memory;
        bytes.copy_from_slice(memory.slice(addr, bytes.len())?);
        Ok(())
    }
    fn store(&mut self, addr: u32, bytes: &[u8]) -> Result<(), OutOfMemory> {
        let memory = &mut self.rig.boards[self.board].memory;
        memory.slice_mut(addr, bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }
}

impl DelayNs for Board<'_> {
    fn delay_ns(&mut self, ns: u32) {
        self.rig.run(u64::from(ns / 30));
    }
}

fn config(node: u16, entries: u32) -> PutConfig<'static> {
    let mut config = PutConfig::new(node, 0x1000, &TABLE);
    config.entries = entries;
    config.counters = 64;
    // The links of the rig start within microseconds.
    config.settle_us = 20;
    config
}

/// Two boards started by their drivers.
fn machine(change: impl Fn(&mut PutConfig<'static>)) -> (Rig, [Put; 2]) {
    let mut rig = Rig::new(DdcConfig::default(), BridgeConfig::default());
    let puts = [0, 1].map(|board| {
        let mut config = config(board as u16, 16);
        change(&mut config);
        let mut put = Put::new();
        let mut hw = at(&mut rig, board);
        let started = put.init(&mut hw, &config).unwrap();
        assert!(started.hsl, "{started:?}");
        put
    });
    (rig, puts)
}

fn with_saps(puts: &mut [Put; 2]) -> Sap {
    let saps = puts.each_mut().map(|put| {
        let sap = put.register_sap().unwrap();
        put.attach_mi_range(sap, 64).unwrap();
        sap
    });
    saps[0]
}

fn fill(rig: &mut Rig, len: usize) -> Vec<u8> {
    let bytes: Vec<u8> = (0..len).map(|at| (at * 37 + at / 255) as u8).collect();
    rig.boards[0].bytes_mut(NEAR, len).copy_from_slice(&bytes);
    bytes
}

#[test]
fn the_recorded_start_opens_the_chip() {
    let (rig, puts) = machine(|_| ());
    for (board, put) in rig.boards.iter().zip(&puts) {
        assert_eq!(put.phase(), Phase::Running);
        assert_eq!(board.ddc.register(0x50), 0x10F0);
        assert_eq!(board.ddc.register(0x60), 0x11F0);
        assert_eq!(board.ddc.register(0x70), 0x1200);
        assert_eq!(board.ddc.register(0x48), 0x8000_7000);
        assert_eq!(board.ddc.register(0x04) & 0xFFFF, 0x0104);
        assert_eq!(board.ddc.register(0x0C) & 0xFF00, 0xFF00);
    }
    rig.assert_clean();
}

#[test]
fn a_page_is_told_at_both_ends_and_inta_falls() {
    for acknowledge in [Acknowledge::Single, Acknowledge::Weighted] {
        let (mut rig, mut puts) = machine(|config| config.acknowledge = acknowledge);
        let sap = with_saps(&mut puts);
        let bytes = fill(&mut rig, 1000);
        let last = Control::LMP
            .with(Control::NOS)
            .with(Control::LMI)
            .with(Control::NOR);
        let entry = Entry::page(1, 7, NEAR + 1, FAR + 2, 999, last);
        puts[0].add_entry(&mut at(&mut rig, 0), entry).unwrap();
        rig.until(20_000, |rig| rig.boards.iter().all(|board| board.intr()));
        let mut told = Vec::new();
        for (board, put) in puts.iter_mut().enumerate() {
            let mut hw = at(&mut rig, board);
            put.on_interrupt(&mut hw, 8, |event| told.push(event))
                .unwrap();
            rig.run(10);
            assert!(!rig.boards[board].intr());
        }
        assert!(matches!(
            told[..],
            [
                Event::Sent { mi: 7, .. },
                Event::Received {
                    mi: 7,
                    data: None,
                    packets: 2,
                    ..
                }
            ]
        ));
        assert!(matches!(told[1], Event::Received { sap: owner, .. } if owner == sap));
        assert_eq!(rig.boards[1].bytes(FAR + 2, 999), &bytes[1..]);
        rig.assert_clean();
    }
}

#[test]
fn short_and_composed_messages_work_on_the_chip() {
    let (mut rig, mut puts) = machine(|config| config.count_packets = true);
    with_saps(&mut puts);
    let [near, far] = &mut puts;
    near.send_short(&mut at(&mut rig, 0), 1, 5, [0xCAFE_F00D, 42])
        .unwrap();
    near.send_composed(&mut at(&mut rig, 0), 1, 6).unwrap();
    far.expect_composed(&mut at(&mut rig, 1), 6, 2).unwrap();
    near.send_composed(&mut at(&mut rig, 0), 1, 6).unwrap();
    rig.run(2_000);
    let mut told = Vec::new();
    let mut hw = at(&mut rig, 1);
    far.poll(&mut hw, 8, |event| told.push(event)).unwrap();
    assert!(
        matches!(
            told[..],
            [
                Event::Received {
                    mi: 5,
                    data: Some([0xCAFE_F00D, 42]),
                    ..
                },
                Event::Received {
                    mi: 6,
                    data: None,
                    ..
                }
            ]
        ),
        "{told:?}"
    );
    rig.assert_clean();
}

#[test]
fn remote_write_carries_long_transfers_in_both_models() {
    for model in [Model::Interrupt, Model::Polling] {
        let (mut rig, puts) = machine(|config| {
            config.model = model;
            config.entries = 4;
        });
        let bytes = fill(&mut rig, 70_000);
        let [mut near, mut far] =
            puts.map(|put| Writer::<4, 8>::new(put, WriterConfig::default()).unwrap());
        let mut start = |local: u32, remote: u32, length, tag| {
            let flags = Flags {
                notify_receiver: true,
                tag,
            };
            let (local, remote) = (local.into(), remote.into());
            let transfer = Transfer {
                node: 1,
                local,
                remote,
                length,
                flags,
            };
            near.start(&mut at(&mut rig, 0), transfer).unwrap()
        };
        let tokens = [
            start(NEAR + 3, FAR + 1, 69_990, 11),
            start(NEAR, FAR + 0x2_0000, 1, 12),
        ];
        let mut arrivals = Vec::new();
        for _ in 0..2_000 {
            rig.run(100);
            near.poll(&mut at(&mut rig, 0)).unwrap();
            far.poll(&mut at(&mut rig, 1)).unwrap();
            arrivals.extend(far.arrival());
            if arrivals.len() == 2 {
                break;
            }
        }
        assert_eq!(arrivals, [Arrival { tag: 11 }, Arrival { tag: 12 }]);
        near.poll(&mut at(&mut rig, 0)).unwrap();
        for token in tokens {
            assert_eq!(near.progress(&token), Ok(Progress::Sent));
        }
        assert_eq!(rig.boards[1].bytes(FAR + 1, 69_990), &bytes[3..69_993]);
        assert_eq!(rig.boards[1].bytes(FAR + 0x2_0000, 1), &bytes[..1]);
        rig.assert_clean();
    }
}

#[test]
fn a_full_report_ring_on_the_chip_loses_no_message() {
    let (mut rig, mut puts) = machine(|config| config.entries = 4);
    with_saps(&mut puts);
    let [near, far] = &mut puts;
    let last = Control::LMP.with(Control::LMI).with(Control::NOR);
    let mut posted = 0;
    let mut told = Vec::new();
    let mut overflows = 0;
    for _ in 0..400 {
        while posted < 30 {
            let entry = Entry::page(1, posted, NEAR, FAR, 4, last);
            if near.add_entry(&mut at(&mut rig, 0), entry).is_err() {
                break;
            }
            posted += 1;
        }
        rig.run(400);
        near.poll(&mut at(&mut rig, 0), 8, |event| panic!("{event:?}"))
            .unwrap();
        // The receiver is slow: it looks once in a while.
        if posted % 7 == 0 || posted == 30 {
            let mut hw = at(&mut rig, 1);
            far.poll(&mut hw, 8, |event| match event {
                Event::Received { mi, .. } => told.push(mi),
                Event::Error { stopped: false, .. } => overflows += 1,
                event => panic!("{event:?}"),
            })
            .unwrap();
        } else if rig.boards[1].ddc.register(0x40) & 1 << 12 != 0 {
            let mut hw = at(&mut rig, 1);
            far.on_interrupt(&mut hw, 2, |event| match event {
                Event::Received { mi, .. } => told.push(mi),
                Event::Error { stopped: false, .. } => overflows += 1,
                event => panic!("{event:?}"),
            })
            .unwrap();
        }
    }
    assert_eq!(told, (0..30).collect::<Vec<_>>());
    assert!(overflows > 0);
    rig.assert_clean();
}
