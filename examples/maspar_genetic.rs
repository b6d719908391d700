//! tmp
use multipc::maspar::schedule::*;
use multipc::maspar::*;
fn main() {
    let size = MachineSize::Pes16384;
    let mut router = Router::new(&RouterConfig::MP1).unwrap();
    let p = Pattern::bit_reversal(size);
    for seed in 1..3 {
        let mut c = GeneticConfig::default();
        c.seed = seed;
        let t = std::time::Instant::now();
        Genetic::new(c)
            .search(&mut router, &p, |g| {
                if g.number % 40 == 0 || g.number == 439 {
                    println!("{g:?} {:?}", t.elapsed());
                }
                true
            })
            .unwrap();
    }
}
