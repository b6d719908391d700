//! A booted machine: boards, routers, and a running driver on every node.
//!
//! [`Cluster::boot`] builds a machine from a topology, runs the driver's start
//! sequence on every node (routing tables included), waits for the links, and
//! leaves a remote-write [`Writer`] on each. It needs the feature `alloc`.
//!
//! ```
//! use multipc::cluster::Cluster;
//! use multipc::fabric::topology::Topology;
//!
//! let pair = Topology::pair()?;
//! let mut cluster = Cluster::boot(&pair, &Default::default())?;
//! cluster.store(0, 0x8_0000, b"remote write")?;
//! let delivery = cluster.put(0, 1, 0x8_0000, 0xA_0000, 12)?;
//!
//! let mut there = [0; 12];
//! cluster.load(1, 0xA_0000, &mut there)?;
//! assert_eq!(&there, b"remote write");
//! assert!(delivery.arrived > delivery.started);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

mod error;

use alloc::vec::Vec;

use crate::ddc::Revision;
use crate::fabric::labelling::{Labelling, Method};
use crate::fabric::topology::{Port, Topology};
use crate::fabric::{BoardConfig, Host, Machine, MachineConfig, NoProbe, Probe};
use crate::put::{Capabilities, Model, Put, PutConfig, Started, TABLE_LEN, Writer, WriterConfig};
use crate::remote::{Flags, Progress, RemoteWrite, Transfer};
use crate::time::{Duration, Instant};

pub use error::ClusterError;

/// Most links need about 170 us to start; after this they never will.
const LINK_PATIENCE: Duration = Duration::from_us(100_000);

/// Time between two looks of a driver that reads no registers.
const BLIND_PERIOD: Duration = Duration::from_ns(400);

/// What a cluster is made of, and how its drivers run.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct ClusterConfig {
    /// Clocks and stepping.
    pub machine: MachineConfig,
    /// Every board.
    pub board: BoardConfig,
    /// How the routers' tables are made.
    pub method: Method,
    /// Interrupts or polling. Default polling.
    pub model: Model,
    /// Physical address of the driver's tables, a multiple of 16. Default
    /// 0x1000.
    pub tables_at: u32,
    /// Entries of each ring. Default 1024, as the plain build of the record.
    pub entries: u32,
    /// Packet counters. Default 65,536, as the plain build of the record.
    pub counters: u32,
    /// How long first interrupts are ignored, microseconds. Default 1 s, as
    /// the record; idle time costs the simulation nothing.
    pub settle_us: u32,
    /// The writers.
    pub writer: WriterConfig,
    /// Errata of every chip, which every driver works around. Errata in
    /// [`board`](Self::board) are the chips' alone: the drivers do not know.
    pub revision: Revision,
    /// Physical address of the drivers' bounce buffers, a multiple of 4. `None`,
    /// the default: behind the tables, where the revision needs one.
    pub bounce_at: Option<u32>,
}

impl Default for ClusterConfig {
    fn default() -> Self {
        Self {
            machine: MachineConfig::default(),
            board: BoardConfig::default(),
            method: Method::default(),
            model: Model::Polling,
            tables_at: 0x1000,
            entries: 1024,
            counters: 65_536,
            settle_us: 1_000_000,
            writer: WriterConfig::default(),
            revision: Revision::IDEAL,
            bounce_at: None,
        }
    }
}

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

/// One remote write, from the call to the notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Delivery {
    /// When the sender's driver was called.
    pub started: Instant,
    /// When the receiver's driver told of the arrival.
    pub arrived: Instant,
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

/// A machine with a running driver on every node. See the [module](self).
#[derive(Debug)]
pub struct Cluster<P = NoProbe> {
    machine: Machine<'static, P>,
    writers: Vec<Writer>,
    boot: BootReport,
}

impl Cluster {
    /// Builds and boots a machine.
    ///
    /// # Errors
    /// [`ClusterError`].
    pub fn boot(topology: &Topology<'_>, config: &ClusterConfig) -> Result<Self, ClusterError> {
        Self::boot_with_probe(topology, config, NoProbe)
    }
}

impl<P: Probe> Cluster<P> {
    /// The same, watched by a probe from the first edge on.
    ///
    /// # Errors
    /// [`ClusterError`].
    pub fn boot_with_probe(
        topology: &Topology<'_>,
        config: &ClusterConfig,
        probe: P,
    ) -> Result<Self, ClusterError> {
        let Drivers {
            machine,
            drivers,
            boot,
        } = Drivers::boot(topology, config, probe)?;
        let mut writers = Vec::with_capacity(drivers.len());
        for (node, driver) in (0..).zip(drivers) {
            let writer = Writer::new(driver.put, config.writer)
                .map_err(|error| ClusterError::Writer { node, error })?;
            writers.push(writer);
        }
        Ok(Self {
            machine,
            writers,
            boot,
        })
    }

    /// What happened at boot.
    pub fn boot_report(&self) -> &BootReport {
        &self.boot
    }

    /// The machine.
    pub fn machine(&self) -> &Machine<'static, P> {
        &self.machine
    }

    /// The machine and the writers, for what the shortcuts here do not cover.
    pub fn parts(&mut self) -> (&mut Machine<'static, P>, &mut [Writer]) {
        (&mut self.machine, &mut self.writers)
    }

    /// Gives up the drivers.
    pub fn into_machine(self) -> Machine<'static, P> {
        self.machine
    }

    /// The CPU side of a node.
    ///
    /// # Errors
    /// [`ClusterError::Host`] for an unknown node.
    pub fn host(&mut self, node: u16) -> Result<Host<'_, 'static, P>, ClusterError> {
        Ok(self.machine.host(node)?)
    }

    /// Copies bytes into a node's memory.
    ///
    /// # Errors
    /// [`ClusterError::Host`] for an unknown node, or bytes outside its memory.
    pub fn store(&mut self, node: u16, addr: u32, bytes: &[u8]) -> Result<(), ClusterError> {
        Ok(self
            .machine
            .host(node)?
            .store(addr, bytes)
            .map_err(crate::fabric::HostError::from)?)
    }

    /// Copies bytes out of a node's memory.
    ///
    /// # Errors
    /// [`ClusterError::Host`] for an unknown node, or bytes outside its memory.
    pub fn load(&mut self, node: u16, addr: u32, bytes: &mut [u8]) -> Result<(), ClusterError> {
        Ok(self
            .machine
            .host(node)?
            .load(addr, bytes)
            .map_err(crate::fabric::HostError::from)?)
    }

    /// Writes `length` bytes from `local` of node `from` to `remote` of node
    /// `to`, and runs the machine until the receiver is told.
    ///
    /// # Errors
    /// [`ClusterError`]; [`ClusterError::Lost`] when nothing arrives within the
    /// time of 100 ms and 1 us a byte.
    pub fn put(
        &mut self,
        from: u16,
        to: u16,
        local: u32,
        remote: u32,
        length: u32,
    ) -> Result<Delivery, ClusterError> {
        self.machine.host(to)?;
        let started = self.machine.now();
        let transfer = Transfer {
            node: to,
            local: local.into(),
            remote: remote.into(),
            length: length.into(),
            flags: Flags {
                notify_receiver: true,
                tag: 0,
            },
        };
        let patience = Duration::from_us(100_000 + u64::from(length));
        let token = self
            .with_writer(from, |writer, host| writer.start(host, transfer))?
            .map_err(|error| ClusterError::Write { node: from, error })?;
        let (mut sent, mut arrived) = (false, None);
        while !sent || arrived.is_none() {
            if self.machine.now().since(started) > patience {
                return Err(ClusterError::Lost {
                    from,
                    to,
                    length,
                    waited: patience,
                });
            }
            let before = self.machine.now();
            for node in [from, to] {
                self.with_writer(node, |writer, host| writer.poll(host))?
                    .map_err(|error| ClusterError::Write { node, error })?;
            }
            if self.machine.now() == before {
                // Silicon whose registers are not read: looking takes no time.
                self.machine.run_for(BLIND_PERIOD);
            }
            if !sent {
                let progress = self
                    .with_writer(from, |writer, _| {
                        RemoteWrite::<Host<'_, 'static, P>>::progress(writer, &token)
                    })?
                    .map_err(|error| ClusterError::Write { node: from, error })?;
                sent = progress == Progress::Sent;
            }
            if arrived.is_none()
                && self
                    .with_writer(to, |writer, _| writer.arrival())?
                    .is_some()
            {
                arrived = Some(self.machine.now());
            }
        }
        Ok(Delivery {
            started,
            arrived: arrived.unwrap_or(started),
        })
    }

    fn with_writer<R>(
        &mut self,
        node: u16,
        work: impl FnOnce(&mut Writer, &mut Host<'_, 'static, P>) -> R,
    ) -> Result<R, ClusterError> {
        let nodes = self.writers.len();
        let unknown = crate::fabric::HostError::UnknownNode { node, nodes };
        let writer = self.writers.get_mut(usize::from(node)).ok_or(unknown)?;
        Ok(work(writer, &mut self.machine.host(node)?))
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
