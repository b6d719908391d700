//! The main job's brief table, chips of board 0 as RTL beside models alone.
//!
//! `cargo run --bin board [router|controller|both] [microseconds of settling]`

use std::error::Error;
use std::time::Instant;

use multipc::figures::record::{self, latency};
use multipc_cosim::board::{Bench, Job, Outcome, Rtl, run};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let which = arguments.next().unwrap_or_else(|| "router".to_owned());
    let rtl = match which.as_str() {
        "router" => Rtl {
            router: true,
            controller: false,
        },
        "controller" => Rtl {
            router: false,
            controller: true,
        },
        "both" => Rtl {
            router: true,
            controller: true,
        },
        _ => return Err(format!("chip {which}, router, controller or both").into()),
    };
    let settle_us = arguments.next().map_or(Ok(1_000), |text| text.parse())?;
    // As `multipc put --brief`.
    let job = Job {
        settle_us,
        rounds: 100,
        points: &record::THROUGHPUT,
        pages: 200,
    };
    let models = timed(Rtl::default(), &job)?;
    let mixed = timed(rtl, &job)?;
    print(&which, &models, &mixed);
    let same = models.boot == mixed.boot
        && models.latency == mixed.latency
        && models.points == mixed.points
        && cycles(&models) == cycles(&mixed);
    if same {
        println!("same: every figure, and {} link cycles", cycles(&mixed));
        Ok(())
    } else {
        Err("the machines differ".into())
    }
}

fn timed(rtl: Rtl, job: &Job<'_>) -> Result<Outcome, Box<dyn Error>> {
    let start = Instant::now();
    let outcome = run(Bench::new(rtl, false), job)?;
    let [router, controller] = outcome.cluster.machine().probe().rtl_edges();
    eprintln!(
        "{rtl:?}: {:.1} s, RTL edges {router} (router), {controller} (controller)",
        start.elapsed().as_secs_f64()
    );
    Ok(outcome)
}

fn cycles(outcome: &Outcome) -> u64 {
    outcome.cluster.machine().link_cycle()
}

fn print(which: &str, models: &Outcome, mixed: &Outcome) {
    let rtl = match which {
        "both" => "RTL board 0".to_owned(),
        chip => format!("RTL {chip} 0"),
    };
    println!("{:24} {:>12} {:>10} {rtl:>16}", "", "record", "models");
    let row = |name: &str, record: String, value: fn(&Outcome) -> f64| {
        println!(
            "{name:24} {record:>12} {:>10.3} {:>16.3}",
            value(models),
            value(mixed)
        );
    };
    let range = |range: record::Range| format!("{} .. {}", range.min_us, range.max_us);
    row("links up (us)", String::new(), |o| {
        o.boot.links_up.0.ps() as f64 / 1e6
    });
    row("software (us)", latency::SOFTWARE_US.to_string(), |o| {
        o.latency.software_us
    });
    row("hardware (us)", range(latency::HARDWARE), |o| {
        o.latency.hardware_us
    });
    row("polling (us)", range(latency::POLLING), |o| {
        o.latency.polling_us
    });
    row("one way (us)", latency::TOTAL_US.to_string(), |o| {
        o.latency.total_us()
    });
    let of = models.points.len().to_string();
    row("points inside the band", of, |o| {
        o.points.iter().filter(|point| point.passes()).count() as f64
    });
    row("worst difference (%)", String::new(), |o| {
        o.points
            .iter()
            .map(|point| 100.0 * point.difference().abs())
            .fold(0.0, f64::max)
    });
}
