//! Break it, session 3: tables that can deadlock, the certificate that says
//! so, and the machine that does.

use multipc::fabric::deadlock::certify;
use multipc::fabric::labelling::{Intervals, Labelling};
use multipc::fabric::topology::Topology;
use multipc::fabric::{BoardConfig, Machine, MachineConfig};
use multipc::put::{Control, Entry, Put, PutConfig};
use multipc::rcube::RoutingTable;
use multipc::time::Duration;

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let ring = Topology::ring(4)?;

    // Tables of our own: what is for the own board leaves by link 0, all else
    // by link 1, once round the ring.
    let tables: Vec<RoutingTable> = (0..4u16)
        .map(|own| {
            let (here, on) = (1 << 0, 1 << 1);
            let next = own + 1;
            Intervals {
                bounds: [own, next, next, next, next, next, next, next],
                selection: [here, on, on, on, on, on, on, on],
            }
            .table()
        })
        .collect();
    match certify(&ring, tables.as_slice()) {
        Ok(_) => println!("certificate: no deadlock"),
        Err(cycle) => println!("no certificate: {cycle}"),
    }

    // The drivers load them at their start.
    let labels = Labelling::tree(&ring)?;
    let mut machine = Machine::build(
        &ring,
        &labels,
        MachineConfig::default(),
        &BoardConfig::default(),
    )?;
    let mut drivers = Vec::new();
    for (node, table) in (0..).zip(&tables) {
        let table = table.emit();
        let mut driver = Put::new();
        driver.begin(
            &mut machine.host(node)?,
            &PutConfig::new(node, 0x1000, &table),
        )?;
        drivers.push(driver);
    }
    machine.run_for(Duration::from_us(1_000));

    // Long pages, all at once, each three boards on.
    for (node, driver) in (0..).zip(&mut drivers) {
        let mut host = machine.host(node)?;
        driver.settled(&mut host)?;
        let page = Entry::page((node + 3) % 4, 0, 0x8_0000, 0xA_0000, 60_000, Control::LMP);
        driver.add_entry(&mut host, page)?;
    }
    let ending = machine.run_until_stuck_or(Duration::from_us(100_000), |_| false);
    println!("\nthe run ended after {}: {ending:?}", machine.now());
    if let Some(report) = machine.stuck() {
        println!("{report}");
    }
    Ok(())
}
