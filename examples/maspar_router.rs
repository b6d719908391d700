//! `router[i].v` of MPL: fetch from and send to other PEs, with real data.
//!
//! ```text
//! cargo run --release --example maspar_router
//! ```

use multipc::maspar::{Pattern, Router, RouterConfig};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut router = Router::new(&RouterConfig::MP1)?;
    let size = router.size();
    let values: Vec<u32> = (0..size.pes() as u32).map(|id| id * id).collect();

    // b = router[bit reversal of id].a;
    let mut fetched = vec![0; size.pes()];
    let report = router.fetch(&Pattern::bit_reversal(size), &values, &mut fetched)?;
    assert_eq!(fetched[1], 8192 * 8192);
    println!(
        "fetch: {} values in {} cycles",
        report.served, report.cycles
    );

    // if (id % 3 == 0) router[first of the row].b = a;   The last one served stays.
    let race = Pattern::row_head(size).only(|id| id % 3 == 0);
    let mut stored = vec![u32::MAX; size.pes()];
    let report = router.send(&race, &values, &mut stored)?;
    let written = stored.iter().filter(|&&value| value != u32::MAX).count();
    assert_eq!(written, size.rows());
    println!(
        "send:  {} values in {} cycles, {written} survive",
        report.served, report.cycles
    );
    Ok(())
}
