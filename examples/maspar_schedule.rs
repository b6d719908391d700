//! A schedule, compiled once and used for any bytes: remote write on the array.
//!
//! ```text
//! cargo run --release --example maspar_schedule
//! ```

use multipc::maspar::remote::{Method, PeArray, Slot};
use multipc::maspar::schedule::{Best, Bound, Scheduler};
use multipc::maspar::{Pattern, Router, RouterConfig};
use multipc::remote::{Flags, Transfer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = RouterConfig::MP1;
    let pes = config.size.pes();
    let mut router = Router::new(&config)?;
    let pattern = Pattern::bit_reversal(config.size);
    let bound = Bound::of(&router, &pattern)?;
    let mut scheduler = Box::new(Best::default());
    let schedule = scheduler.schedule(&mut router, &pattern)?;
    println!(
        "{} phases by {}; bound {}: {bound}",
        schedule.phases(),
        scheduler.name(),
        bound.phases
    );

    // Every PE sends 40 bytes to the PE with its id reversed.
    const BYTES: usize = 128;
    let mut memory: Vec<u8> = (0..pes * BYTES).map(|i| (i / BYTES) as u8).collect();
    let mut slots = vec![Slot::IDLE; pes];
    let mut array = PeArray::new(&config, &mut memory[..], &mut slots[..])?;
    let flags = Flags::default();
    let transfers: Vec<(u16, Transfer)> = pattern
        .pairs()
        .map(|(pe, node)| {
            (
                pe,
                Transfer {
                    node,
                    local: 0,
                    remote: 64,
                    length: 40,
                    flags,
                },
            )
        })
        .collect();
    for (name, method) in [
        ("loop", Method::Loop),
        ("schedule", Method::Schedule(&schedule)),
    ] {
        let cost = array.write(&transfers, method)?;
        let time = config.costs.time(cost.ticks);
        println!(
            "{name:9} {} cycles, {} ticks, {time}",
            cost.cycles, cost.ticks
        );
    }
    assert_eq!(array.memory(8192)[64..104], [1; 40]);
    Ok(())
}
