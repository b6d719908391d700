//! The published experiment: bit reversal on 16,384 PEs takes 70 router cycles.
//!
//! ```text
//! cargo run --release --example maspar_profile
//! ```

use multipc::maspar::{Pattern, Router, RouterConfig, Width};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut router = Router::new(&RouterConfig::MP1)?;
    let pattern = Pattern::bit_reversal(router.size());
    let mut profile = Vec::new();
    let report = router.route(&pattern, Width::W32, |cycle, _path| {
        profile.resize(cycle as usize + 1, 0);
        profile[cycle as usize] += 1;
    })?;
    for (cycle, count) in profile.iter().enumerate() {
        println!("{cycle:3} {count:5} {}", "#".repeat(count / 8));
    }
    let time = router.config().costs.time(report.ticks);
    println!("{} cycles, {} ticks, {time}", report.cycles, report.ticks);
    assert_eq!(report.cycles, 70);
    Ok(())
}
