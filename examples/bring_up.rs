//! Bring up a driver step by step: the start of the controller, one page and
//! its report, with nothing but raw register accesses and memory.
//!
//! This is what an engineer does in the first week with a board: each step
//! reads back what the chip shows. `put::Put` does the same in its `begin`,
//! `add_entry` and `poll`; hw/doc/put.md has the sequence, hw/doc/pci-ddc.md the
//! registers.
//!
//! cargo run --example bring_up --features alloc

use std::error::Error;

use multipc::ddc::lme::{Control, Descriptor};
use multipc::ddc::lmr::Report;
use multipc::ddc::registers::{
    Command, Identification, LatencyHeader, LmiBase, LmiCurrent, LmiMax, LmiNew, LpeBase,
    LpeCurrent, LpeMax, LpeNew, LrmBase, PciCommandStatus, R3Dout, Status, StatusMask,
};
use multipc::fabric::labelling::{Labelling, Method};
use multipc::fabric::topology::Topology;
use multipc::fabric::{BoardConfig, Host, Machine, MachineConfig};
use multipc::time::Duration;

/// Rings of eight entries of 16 bytes, one behind the other, then the counters.
const ENTRIES: u32 = 8;
const LME: u32 = 0x1000;
const LMR: u32 = LME + 16 * ENTRIES;
const COUNTERS: u32 = LMR + 16 * ENTRIES;
const SOURCE: u32 = 0x8000;
const TARGET: u32 = 0x9000;

fn main() -> Result<(), Box<dyn Error>> {
    // Two boards, joined by port 1 of their routers; nothing is running.
    let pair = Topology::pair()?;
    let labelling = Labelling::new(&pair, Method::Ir)?;
    let board = BoardConfig::default();
    let mut machine = Machine::build(&pair, &labelling, MachineConfig::default(), &board)?;

    for node in [0, 1] {
        let table = labelling.table(node).emit();
        start(&mut machine.host(node)?, &table)?;
    }

    println!("\nlinks: bit i of STATUS is link i of the router");
    let mut host = machine.host(0)?;
    while host.read_register(Status::OFFSET)? & 0xFF != 0x03 {
        host.machine().run_for(Duration::from_us(10));
    }
    show(&mut host, "STATUS", Status::OFFSET)?;
    println!("  links 0 (board) and 1 (cable) work at {}", host.now());

    println!("\na page of 12 bytes from node 0 to node 1");
    host.store(SOURCE, b"remote write")?;
    let descriptor = Descriptor {
        page_length: 12,
        routing_part: 1,
        // Last page of its message; the receiver gets a report.
        control: Control::LMP.with(Control::LMI).with_mi(0x42),
        prsa: TARGET,
        plsa: SOURCE,
    };
    // First the entry, then the pointer behind it: the chip reads at once.
    host.store(LME, &descriptor.emit())?;
    println!("  {}", descriptor.control);
    host.write_register(LpeNew::OFFSET, LME + 16)?;
    let posted = host.now();
    show(&mut host, "LPE_NEW", LpeNew::OFFSET)?;
    show(&mut host, "LPE_CURRENT", LpeCurrent::OFFSET)?;

    println!("\nthe receiver waits for LMI_NEW to move");
    let mut host = machine.host(1)?;
    while host.read_register(LmiNew::OFFSET)? == LMR {}
    show(&mut host, "LMI_NEW", LmiNew::OFFSET)?;
    println!(
        "  seen {} after LPE_NEW was written",
        host.now().since(posted)
    );
    let mut entry = [0; Report::WIRE_LEN];
    host.load(LMR, &mut entry)?;
    let report = Report::parse(&entry);
    println!(
        "  report: {}, {} packet",
        report.control, report.packet_number
    );
    // The entry is ours until LMI_CURRENT is behind it. The first silicon takes
    // writes of LMI_CURRENT at the other offset; this model is an ideal chip.
    host.write_register(LmiCurrent::OFFSET, LMR + 16)?;
    let mut bytes = [0; 12];
    host.load(TARGET, &mut bytes)?;
    println!("  memory: {:?}", String::from_utf8_lossy(&bytes));
    assert_eq!(&bytes, b"remote write");
    Ok(())
}

/// The recorded start, once; silicon needs its soft reset four times.
fn start(host: &mut Host<'_, '_>, table: &[u8]) -> Result<(), Box<dyn Error>> {
    println!("start of node {}", host.node());
    show(host, "identification", Identification::OFFSET)?;
    // Rings and counters must be zero.
    host.store(LME, &[0; (COUNTERS - LME) as usize + 4 * 256])?;

    // The reset loses the latency timer.
    let latency = host.read_register(LatencyHeader::OFFSET)?;
    host.write_register(Command::OFFSET, 0x0000_8000)?;
    host.write_register(LatencyHeader::OFFSET, latency | 0xFF00)?;
    host.write_register(StatusMask::OFFSET, 0)?;

    // Send ring: MAX is the address of the last entry. Report ring the same.
    let last = 16 * (ENTRIES - 1);
    host.write_register(LpeMax::OFFSET, LME + last)?;
    for register in [LpeCurrent::OFFSET, LpeNew::OFFSET, LpeBase::OFFSET] {
        host.write_register(register, LME)?;
    }
    host.write_register(LmiMax::OFFSET, LMR + last)?;
    for register in [LmiNew::OFFSET, LmiCurrent::OFFSET, LmiBase::OFFSET] {
        host.write_register(register, LMR)?;
    }
    host.write_register(LrmBase::OFFSET, COUNTERS)?;

    // The router's table goes through the controller, last byte first.
    for &byte in table.iter().rev() {
        host.write_register(R3Dout::OFFSET, byte.into())?;
    }
    // Balanced arbitration; then transmitter, router, receiver, one by one.
    for command in [0x8000_0000, 0x8000_4000, 0x8000_6000, 0x8000_7000] {
        host.write_register(Command::OFFSET, command)?;
    }
    show(host, "COMMAND", Command::OFFSET)?;
    // Only errors raise INTA#; Bus Master is the ignition.
    host.write_register(StatusMask::OFFSET, 0x00FB_F0FF)?;
    host.write_register(PciCommandStatus::OFFSET, 0x0000_0104)?;
    show(host, "PCI command", PciCommandStatus::OFFSET)?;
    show(host, "STATUS", Status::OFFSET)
}

fn show(host: &mut Host<'_, '_>, name: &str, offset: u8) -> Result<(), Box<dyn Error>> {
    let value = host.read_register(offset)?;
    println!(
        "  {:>13}  {offset:#04x}  {name:<14} {value:#010x}",
        host.now().to_string()
    );
    Ok(())
}
