//! Speed of the router model: `cargo bench --bench maspar --features std`.
//!
//! Each line ends in a checksum of what was delivered: a faster wrong model
//! must not look better.

use std::hint::black_box;
use std::time::Instant;

use multipc::maspar::schedule::{Best, Genetic, GeneticConfig, Scheduler};
use multipc::maspar::{MachineSize, Pattern, Router, RouterConfig};

const SIZE: MachineSize = MachineSize::Pes16384;

/// Seconds of the fastest of many batches, for one call. Batches are short,
/// so that some of them run undisturbed on a busy machine.
fn fastest(batch: u32, mut call: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..200 {
        let start = Instant::now();
        for _ in 0..batch {
            call();
        }
        best = best.min(start.elapsed().as_secs_f64() / f64::from(batch));
    }
    best
}

fn main() {
    let mut router = Router::new(&RouterConfig::MP1).expect("the preset is a router");
    println!("bytes of state: {}", size_of::<Router>());

    let random = Pattern::random_permutation(SIZE, 1);
    router.load(&random).expect("sizes agree");
    let seconds = fastest(1_000, || {
        router.ropen();
        black_box(router.connected());
    });
    println!(
        "one ropen, full load: {:.0} ns, {} connected",
        seconds * 1e9,
        router.connected()
    );

    for (name, pattern) in [
        ("bit reversal", Pattern::bit_reversal(SIZE)),
        ("shuffle", Pattern::shuffle(SIZE)),
        ("shift 1", Pattern::shift(SIZE, 1)),
        ("random permutation 1", random),
    ] {
        router.set_addresses(&pattern).expect("sizes agree");
        let setup = fastest(5, || router.set_tflags(black_box(pattern.enabled())));
        let mut cycles = 0;
        let seconds = fastest(5, || {
            router.set_tflags(pattern.enabled());
            cycles = black_box(router.drain());
        });
        println!(
            "full run, {name}: {:.1} us ({:.1} of it setting tflags), {cycles} cycles, {:.0} runs/s, hash {:016x}",
            seconds * 1e6,
            setup * 1e6,
            1.0 / seconds,
            router.timetable(&pattern).expect("sizes agree").fnv64()
        );
    }

    let mut best = Box::new(Best::new(1));
    let shift = Pattern::shift(SIZE, 37);
    for (name, pattern) in [
        ("bit reversal", Pattern::bit_reversal(SIZE)),
        ("shuffle", Pattern::shuffle(SIZE)),
        ("random permutation 1", Pattern::random_permutation(SIZE, 1)),
        ("random permutation 2", Pattern::random_permutation(SIZE, 2)),
        (
            "shift 37, then bit reversal",
            shift
                .then(&Pattern::bit_reversal(SIZE))
                .expect("sizes agree"),
        ),
    ] {
        let mut phases = 0;
        let start = Instant::now();
        let mut seconds = f64::MAX;
        while start.elapsed().as_secs_f64() < 0.5 {
            let start = Instant::now();
            phases = best
                .schedule(&mut router, &pattern)
                .expect("there is one")
                .phases();
            seconds = seconds.min(start.elapsed().as_secs_f64());
        }
        println!(
            "schedule, {name}: {:.2} ms, {phases} phases, {}",
            seconds * 1e3,
            best.name()
        );
    }

    for (name, pattern) in [
        ("bit reversal", Pattern::bit_reversal(SIZE)),
        ("shuffle", Pattern::shuffle(SIZE)),
    ] {
        for threads in [1, 0] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.expect("threads can be started");
            let mut config = GeneticConfig::default();
            config.generations = 60;
            let start = Instant::now();
            let mut last = None;
            pool.install(|| {
                Genetic::new(config).search(&mut router, &pattern, |generation| {
                    last = Some(*generation);
                    true
                })
            })
            .expect("sizes agree");
            let last = last.expect("there are generations");
            println!(
                "genetic search, {name}, {} threads: {:.0} schedules/s, best {} in generation {}",
                pool.current_num_threads(),
                last.evaluations as f64 / start.elapsed().as_secs_f64(),
                last.best,
                last.number
            );
        }
    }
}
