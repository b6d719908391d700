//! Every fault leaves every message delivered once, in order, and the machine
//! at work (hw/doc/recovery.md).
#![cfg(feature = "alloc")]

mod recovery_rig;

use multipc::fabric::topology::Topology;
use multipc::time::Duration;
use recovery_rig::{Rig, Setup};

const LIMIT: Duration = Duration::from_us(100_000);

#[test]
fn without_faults_all_is_delivered_once_and_nothing_is_sent_again() {
    for (nodes, topology) in [(2, Topology::pair()), (4, Topology::line(4))] {
        let mut rig = Rig::new(&topology.unwrap(), &Setup::default());
        for k in 0..20 {
            for from in 0..nodes {
                let to = (from + 1 + k % (nodes - 1)) % nodes;
                assert!(rig.start(from, to, [1, 3, 16, 17, 40, 700, 1500, 3000][usize::from(k) % 8]));
            }
        }
        assert!(rig.run(LIMIT), "{}", rig.explain());
        assert_eq!(rig.verdict(), (20 * usize::from(nodes), 0));
        for layer in &rig.layers {
            let stats = layer.stats();
            assert_eq!((stats.resent, stats.restarts), (0, 0), "{}", rig.explain());
        }
    }
}
