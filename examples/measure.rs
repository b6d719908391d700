//! Measure: the latency of a put over 1 to 7 hops on a line of eight boards.
//!
//! ```text
//!   0 --- 1 --- 2 --- 3 --- 4 --- 5 --- 6 --- 7      a board each, 3 m of cable
//! ```
//!
//! Hardware latency is counted as in the published figures: from LPE_NEW's new
//! value to the last byte in remote memory.
//!
//! cargo run --release --example measure --features alloc

use std::error::Error;

use multipc::cluster::{Cluster, ClusterConfig};
use multipc::fabric::labelling::Method;
use multipc::fabric::topology::{Grid, Topology};
use multipc::put::{Control, Entry};
use multipc::time::Duration;

const BOARDS: u16 = 8;
const SOURCE: u32 = 0x8_0000;
const TARGET: u32 = 0xA_0000;

/// Time, and link cycles, from the posting of a page to its last byte.
fn latency(cluster: &mut Cluster, to: u16, length: u32) -> Result<(Duration, u64), Box<dyn Error>> {
    let last = TARGET + length - 1;
    cluster.store(to, last, &[0])?;
    cluster.store(0, SOURCE + length - 1, &[0xA5])?;
    let (machine, writers) = cluster.parts();
    let mut host = machine.host(0)?;
    let driver = writers[0].put_mut();
    // Room for the next one; nothing else is under way.
    driver.flush_lme(&mut host, 16, |_| {})?;
    driver.add_entry(
        &mut host,
        Entry::page(to, 0, SOURCE, TARGET, length, Control::LMP),
    )?;
    let (posted, cycle) = (machine.now(), machine.link_cycle());
    let arrived = machine.run_while_not(Duration::from_us(1_000), |machine| {
        machine
            .nodes()
            .get(usize::from(to))
            .is_some_and(|node| node.memory().slice(last, 1) == Ok(&[0xA5]))
    });
    if !arrived {
        return Err(format!("{length} bytes to node {to} did not arrive").into());
    }
    Ok((machine.now().since(posted), machine.link_cycle() - cycle))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut config = ClusterConfig::default();
    // Node numbers along the line.
    config.method = Method::DimensionOrder(Grid::mesh(&[usize::from(BOARDS)])?);
    let line = Topology::line(usize::from(BOARDS))?;
    let mut cluster = Cluster::boot(&line, &config)?;

    println!("hardware latency of a put, microseconds (link cycles)\n");
    println!("  hops  routers          4 bytes         64 bytes       1024 bytes");
    for to in 1..BOARDS {
        print!("  {to:>4}  {:>7}", to + 1);
        for length in [4, 64, 1024] {
            let (time, cycles) = latency(&mut cluster, to, length)?;
            print!("  {:>7.3} ({cycles:>5})", time.as_us_f64());
        }
        println!();
    }
    println!("\na hop more is a router: 12 cycles from pin to pin, 15 ns of cable among them;");
    println!("the bytes are seen at edges of the PCI clock, every 30 ns");
    Ok(())
}
