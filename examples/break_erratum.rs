//! Break it, session 2: a chip of the first run, driven as if it were ideal,
//! and as the original driver did.

use multipc::cluster::{Cluster, ClusterConfig, ClusterError};
use multipc::ddc::{Erratum, Revision};
use multipc::fabric::topology::Topology;

const LENGTH: u32 = 1001;

/// Sends one odd page between odd addresses; says what came of it.
fn try_it(pair: &Topology<'_>, config: &ClusterConfig) -> Result<(), ClusterError> {
    let mut cluster = Cluster::boot(pair, config)?;
    let sent: Vec<u8> = (0..LENGTH).map(|i| (i * 7) as u8).collect();
    cluster.store(0, 0x8_0003, &sent)?;
    let delivery = cluster.put(0, 1, 0x8_0003, 0xA_0001, LENGTH);
    let mut there = vec![0; LENGTH as usize];
    cluster.load(1, 0xA_0001, &mut there)?;
    let right = sent.iter().zip(&there).filter(|(a, b)| a == b).count();
    match delivery {
        Ok(delivery) => {
            let time = delivery.arrived.since(delivery.started);
            println!("  told after {time}; {right} of {LENGTH} bytes are right");
        }
        Err(error) => println!("  {error}; {right} of {LENGTH} bytes are right"),
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn core::error::Error>> {
    println!("errata of the first run:");
    for erratum in Revision::RUN_1.iter() {
        println!(
            "  {:2} {}: {}",
            erratum.number(),
            erratum.name(),
            erratum.description()
        );
    }

    let pair = Topology::pair()?;
    let mut config = ClusterConfig::default();
    println!("\nan ideal chip:");
    try_it(&pair, &config)?;

    // The chip misbehaves, the driver does not know.
    config.board.ddc.revision = Revision::only(Erratum::UnalignedRemote);
    println!(
        "\nerratum {} alone, without the workaround:",
        Erratum::UnalignedRemote.number()
    );
    try_it(&pair, &config)?;

    // `revision` tells both.
    config.board.ddc.revision = Revision::IDEAL;
    config.revision = Revision::only(Erratum::UnalignedRemote);
    println!("\nthe same with the workaround:");
    try_it(&pair, &config)?;

    config.revision = Revision::RUN_1;
    println!("\nthe whole first run, with all workarounds:");
    try_it(&pair, &config)?;
    Ok(())
}
