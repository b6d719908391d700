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

mod boot;
mod config;
mod error;

use alloc::vec::Vec;

use crate::fabric::topology::Topology;
use crate::fabric::{Host, Machine, NoProbe, Probe};
use crate::put::Writer;
use crate::remote::{Flags, Progress, RemoteWrite, Transfer};
use crate::time::{Duration, Instant};

pub use boot::BootReport;
pub(crate) use boot::{Driver, Drivers};
pub use config::ClusterConfig;
pub use error::ClusterError;

/// Time between two looks of a driver that reads no registers.
const BLIND_PERIOD: Duration = Duration::from_ns(400);

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
