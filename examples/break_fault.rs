//! Break it, session 1: one character spoilt on the cable, one cable cut. First
//! what the chips say, then the same under the layer that repairs.

use multipc::cluster::{Cluster, ClusterConfig};
use multipc::fabric::faults::{CableFault, FaultEvent, Faults, Kind};
use multipc::fabric::labelling::Labelling;
use multipc::fabric::topology::Topology;
use multipc::fabric::{BoardConfig, End, Host, Machine, MachineConfig};
use multipc::put::{Model, Phase, Put, PutConfig, RecoveryConfig, Reliable};
use multipc::remote::{Flags, RemoteWrite, Transfer};
use multipc::time::Duration;

type Failure = Box<dyn core::error::Error>;

/// The direction from router 0 to router 1, hit twice: the 300th data character
/// is spoilt; with the 700th the cable is dead for 500 cycles.
fn script() -> Faults<'static> {
    let cable = End::Router { router: 0, port: 1 };
    let cut = CableFault::Cut {
        cycles: 500,
        both: true,
    };
    Faults::script(vec![
        FaultEvent::cable(cable, Kind::Data, 300, CableFault::Corrupt(0x01)),
        FaultEvent::cable(cable, Kind::Data, 700, cut),
    ])
}

fn main() -> Result<(), Failure> {
    println!("the chips alone:");
    alone()?;
    println!("\nwith the layer that repairs:");
    repaired()
}

fn alone() -> Result<(), Failure> {
    let mut cluster = Cluster::boot(&Topology::pair()?, &ClusterConfig::default())?;
    cluster.store(0, 0x8_0000, &[0xA5; 500])?;
    cluster.parts().0.set_faults(script())?;
    if let Err(error) = cluster.put(0, 1, 0x8_0000, 0xA_0000, 500) {
        println!("  {error}");
    }
    for record in cluster
        .machine()
        .faults()
        .into_iter()
        .flat_map(|faults| faults.records())
    {
        println!("  {record}");
    }
    if let Phase::Stopped(fault) = cluster.parts().1[1].put().phase() {
        println!("  the driver of node 1: {fault}");
    }
    Ok(())
}

fn repaired() -> Result<(), Failure> {
    let topology = Topology::pair()?;
    let labels = Labelling::auto(&topology)?;
    let (clocks, board) = (MachineConfig::default(), BoardConfig::default());
    let mut machine = Machine::build(&topology, &labels, clocks, &board)?;
    let tables = [0, 1].map(|router| labels.table(router).emit());
    let settings = |node: u16| {
        let mut settings = PutConfig::new(node, 0x1000, &tables[usize::from(node)]);
        settings.nodes = 2;
        settings.counters = 16;
        settings.model = Model::Polling;
        settings
    };
    let mut drivers = [Put::new(), Put::new()];
    for (node, driver) in (0..).zip(&mut drivers) {
        driver.begin(&mut machine.host(node)?, &settings(node))?;
    }
    machine.run_for(Duration::from_us(400));
    let mut layers = Vec::new();
    for (node, mut driver) in (0..).zip(drivers) {
        driver.settled(&mut machine.host(node)?)?;
        let config = RecoveryConfig::new(0x2_0000);
        layers.push(<Reliable<2, 8, 8>>::new(
            driver,
            &settings(node),
            config,
            machine.now(),
        )?);
    }

    machine.set_faults(script())?;
    let begun = machine.now();
    let mut tickets = Vec::new();
    for tag in 0..3u32 {
        let place = u64::from(tag) * 0x1000;
        let mut host = machine.host(0)?;
        host.store(0x8_0000 + place as u32, &[tag as u8 + 1; 500])?;
        let transfer = Transfer {
            node: 1,
            local: 0x8_0000 + place,
            remote: 0xA_0000 + place,
            length: 500,
            flags: Flags {
                notify_receiver: true,
                tag,
            },
        };
        tickets.push((tag, layers[0].start(&mut host, transfer)?));
    }
    while !tickets.is_empty() && machine.now().since(begun) < Duration::from_us(1_000_000) {
        for (node, layer) in (0..).zip(&mut layers) {
            let mut host = machine.host(node)?;
            layer.tick(host.now());
            layer.poll(&mut host)?;
            while let Some(arrival) = RemoteWrite::<Host<'_, '_>>::arrival(layer) {
                let at = host.now().since(begun);
                println!(
                    "  node {node} is told of message {} after {at}",
                    arrival.tag
                );
            }
        }
        while let Some((tag, ticket)) = tickets.first()
            && let Some(outcome) = layers[0].outcome(ticket)?
        {
            println!("  node 0: message {tag} {outcome:?}");
            tickets.remove(0);
        }
        machine.run_for(Duration::from_us(4));
    }
    let mut bytes = [0; 500];
    for tag in 0..3u8 {
        machine
            .host(1)?
            .load(0xA_0000 + u32::from(tag) * 0x1000, &mut bytes)?;
        let right = bytes.iter().filter(|byte| **byte == tag + 1).count();
        println!("  message {tag}: {right} of 500 bytes are right");
    }
    for record in machine
        .faults()
        .into_iter()
        .flat_map(|faults| faults.records())
    {
        println!("  {record}");
    }
    let stats = layers[0].stats();
    println!("  sent again: {}; given up: {}", stats.resent, stats.failed);
    Ok(())
}
