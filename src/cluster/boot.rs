//! From a topology to a machine whose drivers are open.

use alloc::vec::Vec;

use super::{ClusterConfig, ClusterError};
use crate::fabric::labelling::Labelling;
use crate::fabric::topology::{Port, Topology};
use crate::fabric::{Machine, Probe};
use crate::put::{Capabilities, Put, PutConfig, Started, TABLE_LEN};
use crate::time::{Duration, Instant};

/// Most links need about 170 us to start; after this they never will.
const LINK_PATIENCE: Duration = Duration::from_us(100_000);

/// What happened at boot.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BootReport {
    /// For each node: what its driver found, and when its chip was started.
    pub started: Vec<(Started, Instant)>,
    /// When the last link came up, and the link cycle of that.
    pub links_up: (Instant, u64),
    /// When all drivers were open for posting.
    pub ready: Instant,
}

#[cfg(feature = "defmt")]
impl defmt::Format for BootReport {
    fn format(&self, f: defmt::Formatter<'_>) {
        let Self {
            started,
            links_up: (at, cycle),
            ready,
        } = self;
        defmt::write!(
            f,
            "BootReport {{ started: {}, links_up: ({}, {}), ready: {} }}",
            started.as_slice(),
            at,
            cycle,
            ready
        );
    }
}

/// A driver that is open, and what it was started with.
pub(crate) struct Driver {
    pub(crate) put: Put,
    pub(crate) settings: PutConfig<'static>,
    /// The routing table, which the settings lack.
    pub(crate) table: [u8; TABLE_LEN],
}

/// A machine whose drivers are open.
pub(crate) struct Drivers<P> {
    pub(crate) machine: Machine<'static, P>,
    pub(crate) drivers: Vec<Driver>,
    pub(crate) boot: BootReport,
}

impl<P: Probe> Drivers<P> {
    pub(crate) fn boot(
        topology: &Topology<'_>,
        config: &ClusterConfig,
        probe: P,
    ) -> Result<Self, ClusterError> {
        let labelling = Labelling::new(topology, config.method)?;
        let mut board = config.board.clone();
        board.ddc.revision = board.ddc.revision.union(config.revision);
        let machine = Machine::build(topology, &labelling, config.machine, &board)?;
        let mut machine = machine.with_probe(probe);
        // Routers without a board have nobody to configure them.
        for router in (0..topology.routers()).filter(|&router| !topology.has_generator(router)) {
            machine.load_table(router, &labelling.table(router))?;
        }
        let nodes = topology.generators().len();
        let mut drivers: Vec<Driver> = Vec::with_capacity(nodes);
        let mut started = Vec::with_capacity(nodes);
        for node in 0..nodes as u16 {
            let mut put = Put::new();
            let router = labelling
                .generator_of(node)
                .and_then(|generator| topology.generators().get(usize::from(generator)));
            let table = labelling.table(router.map_or(0, |at| at.router)).emit();
            let mut settings = PutConfig::new(node, config.tables_at, &table);
            settings.nodes = nodes as u16;
            settings.entries = config.entries;
            settings.counters = config.counters;
            settings.model = config.model;
            settings.capabilities = Capabilities::from_errata(config.revision);
            settings.bounce = config.bounce_at.or_else(|| {
                let behind = u64::from(config.tables_at) + settings.table_bytes();
                let needed = !settings.capabilities.unaligned_local;
                u32::try_from(behind).ok().filter(|_| needed)
            });
            let mut host = machine.host(node)?;
            let found = put
                .begin(&mut host, &settings)
                .map_err(|error| ClusterError::Start { node, error })?;
            started.push((found, host.now()));
            drivers.push(Driver {
                put,
                settings: settings.without_table(),
                table,
            });
        }
        let begun = machine.now();
        let links_up = wait_for_links(&mut machine, topology)?;
        machine.run_until(begun + Duration::from_us(config.settle_us.into()));
        for (node, driver) in (0..).zip(&mut drivers) {
            driver
                .put
                .settled(&mut machine.host(node)?)
                .map_err(|error| ClusterError::Port { node, error })?;
        }
        let boot = BootReport {
            started,
            links_up,
            ready: machine.now(),
        };
        Ok(Self {
            machine,
            drivers,
            boot,
        })
    }
}

/// Runs until every port with something plugged in shows its link up.
fn wait_for_links<P: Probe>(
    machine: &mut Machine<'static, P>,
    topology: &Topology<'_>,
) -> Result<(Instant, u64), ClusterError> {
    let wanted: Vec<u8> = (0..topology.routers())
        .map(|router| {
            let plugged = topology
                .ports(router)
                .iter()
                .map(|port| *port != Port::Empty);
            plugged
                .rev()
                .fold(0, |mask, plugged| mask << 1 | u8::from(plugged))
        })
        .collect();
    let missing = |machine: &Machine<'static, P>| {
        (0..)
            .zip(machine.routers())
            .zip(&wanted)
            .find(|((_, router), wanted)| router.link_status() & **wanted != **wanted)
            .map(|((number, router), wanted)| (number, router.link_status(), *wanted))
    };
    machine.run_while_not(LINK_PATIENCE, |machine| missing(machine).is_none());
    match missing(machine) {
        None => Ok((machine.now(), machine.link_cycle())),
        Some((router, status, wanted)) => Err(ClusterError::LinksDown {
            router,
            status,
            wanted,
            waited: LINK_PATIENCE,
        }),
    }
}
