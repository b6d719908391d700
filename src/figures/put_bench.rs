//! The original benchmarks of PUT, on a two-board machine.

use core::fmt;

use crate::fabric::{HostError, Machine, Probe};
use crate::mem::OutOfMemory;
use crate::put::{AddError, Control, CostModel, Entry, PortErrorOf, Put, ServeError};
use crate::time::{Duration, Instant};

use super::PutPoint;
use super::record::RecordPoint;

/// Physical address of the page that is sent, on both nodes.
const SOURCE: u32 = 0x8_0000;
/// Physical address at which it arrives, on both nodes.
const TARGET: u32 = 0xA_0000;
/// No message takes longer, beyond [`PATIENCE_PER_BYTE`]; what does is lost.
const PATIENCE: Duration = Duration::from_us(100_000);
/// Six times what a byte takes on the link.
const PATIENCE_PER_BYTE: Duration = Duration::from_ns(100);
/// As the original: the ring is looked at once every 1001 messages.
const FLUSH_PERIOD: u32 = 1001;
/// Pages of the shorter of the two runs whose difference gives the rate.
const WARM_UP: u32 = 8;

/// Where the time of one one-way message goes; averages over the rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LatencySplit {
    /// The put call, microseconds.
    pub software_us: f64,
    /// From LPE_NEW's new value to the last byte in remote memory, microseconds.
    pub hardware_us: f64,
    /// Until the receiver's polling acts on it, microseconds.
    pub polling_us: f64,
}

impl LatencySplit {
    /// One way in all, microseconds.
    pub fn total_us(&self) -> f64 {
        self.software_us + self.hardware_us + self.polling_us
    }
}

/// Why a benchmark could not be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum BenchError {
    /// The CPU side of a node.
    Host(HostError),
    /// The driver refused a page.
    Add(AddError<PortError>),
    /// The driver could not look at its ring.
    Serve(ServeError<PortError>),
    /// A page did not arrive.
    Lost {
        /// Its length.
        bytes: u32,
        /// How long it was waited for.
        waited: Duration,
    },
}

/// What goes wrong between the driver and a simulated board.
type PortError = PortErrorOf<crate::fabric::Host<'static, 'static>>;

impl fmt::Display for BenchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(error) => error.fmt(f),
            Self::Add(error) => error.fmt(f),
            Self::Serve(error) => error.fmt(f),
            Self::Lost { bytes, waited } => {
                write!(f, "page of {bytes} bytes did not arrive within {waited}")
            }
        }
    }
}

impl core::error::Error for BenchError {}

impl From<HostError> for BenchError {
    fn from(error: HostError) -> Self {
        Self::Host(error)
    }
}

impl From<OutOfMemory> for BenchError {
    fn from(error: OutOfMemory) -> Self {
        Self::Host(HostError::Memory(error))
    }
}

impl From<AddError<PortError>> for BenchError {
    fn from(error: AddError<PortError>) -> Self {
        Self::Add(error)
    }
}

impl From<ServeError<PortError>> for BenchError {
    fn from(error: ServeError<PortError>) -> Self {
        Self::Serve(error)
    }
}

/// Two nodes, 0 and 1, with running drivers, measured as in 2000.
///
/// Each needs memory from 0x80000 to 0xC0000 that the driver does not use.
#[derive(Debug)]
pub struct PutBench<'m, 'a, P> {
    machine: &'m mut Machine<'a, P>,
    drivers: [&'m mut Put; 2],
    cost: CostModel,
    // Messages since the ring of each driver was looked at.
    unflushed: [u32; 2],
    // A register write on an idle bus: the last act of a put call.
    register_write: Duration,
}

impl<'m, 'a, P: Probe> PutBench<'m, 'a, P> {
    /// A benchmark on nodes 0 and 1 of a machine.
    ///
    /// # Errors
    /// [`BenchError::Host`] when the machine has fewer than two nodes.
    pub fn new(
        machine: &'m mut Machine<'a, P>,
        drivers: [&'m mut Put; 2],
        cost: CostModel,
    ) -> Result<Self, BenchError> {
        machine.host(1)?;
        let mut host = machine.host(0)?;
        let before = host.now();
        // LPE_BASE, rewritten with its own value: without effect.
        let base = host.read_register(0x5C)?;
        let read = host.now();
        host.write_register(0x5C, base)?;
        let register_write = host.now().since(read);
        debug!(
            "bench: register read and write took {} ps",
            host.now().since(before).ps()
        );
        Ok(Self {
            machine,
            drivers,
            cost,
            unflushed: [0; 2],
            register_write,
        })
    }

    /// The machine.
    pub fn machine(&mut self) -> &mut Machine<'a, P> {
        self.machine
    }

    /// Ping-pong of `rounds` one-way messages of `bytes` bytes: one page with
    /// LMP only; the receiver spins on its last byte, then answers.
    ///
    /// # Errors
    /// [`BenchError`].
    pub fn latency(&mut self, bytes: u32, rounds: u32) -> Result<LatencySplit, BenchError> {
        let (mut software, mut hardware, mut polling) = (0u64, 0u64, 0u64);
        let last = TARGET + bytes.saturating_sub(1);
        let mut polls_since = [self.machine.now(); 2];
        for round in 0..rounds {
            let (from, to) = ((round % 2) as u16, (1 - round % 2) as u16);
            let mark = 1 + (round / 2 % 255) as u8;
            self.machine.host(to)?.store(last, &[0])?;
            self.machine
                .host(from)?
                .store(SOURCE + bytes.saturating_sub(1), &[mark])?;
            let called = self.machine.now();
            let before_write = Duration::from_ps(
                self.cost
                    .put_call
                    .ps()
                    .saturating_sub(self.register_write.ps()),
            );
            self.machine.run_for(before_write);
            self.post(from, to, bytes, TARGET)?;
            let posted = self.machine.now();
            let arrived = self.wait_for(to, last, mark, [bytes, 1])?;
            let seen = next_poll(polls_since[usize::from(to)], self.cost.poll_period, arrived)
                + self.cost.poll_detect;
            self.machine.run_until(seen);
            polls_since[usize::from(from)] = posted;
            software += posted.since(called).ps();
            hardware += arrived.since(posted).ps();
            polling += seen.since(arrived).ps();
        }
        let average = |ps: u64| ps as f64 / f64::from(rounds.max(1)) / 1e6;
        Ok(LatencySplit {
            software_us: average(software),
            hardware_us: average(hardware),
            polling_us: average(polling),
        })
    }

    /// Throughput in Mbit/s of pages of `bytes` bytes, posted back to back
    /// with LMP only, the last one a byte longer. The time of a short run is
    /// taken off that of one with `pages` pages more, so that start-up does
    /// not count.
    ///
    /// # Errors
    /// [`BenchError`].
    pub fn throughput(&mut self, bytes: u32, pages: u32) -> Result<f64, BenchError> {
        let short = self.stream(bytes, WARM_UP)?;
        let long = self.stream(bytes, WARM_UP + pages)?;
        let time = Duration::from_ps(long.ps().saturating_sub(short.ps()));
        Ok(8.0 * f64::from(bytes) * f64::from(pages) / time.as_us_f64())
    }

    /// One point of the published curve.
    ///
    /// # Errors
    /// [`BenchError`].
    pub fn point(&mut self, record: RecordPoint, pages: u32) -> Result<PutPoint, BenchError> {
        Ok(PutPoint {
            bytes: record.bytes,
            record_mbit_s: record.mbit_s,
            model_mbit_s: self.throughput(record.bytes, pages)?,
        })
    }

    /// From the first put call to the last byte of the last of `pages` pages.
    fn stream(&mut self, bytes: u32, pages: u32) -> Result<Duration, BenchError> {
        let last = TARGET + bytes;
        self.machine.host(1)?.store(last, &[0])?;
        self.machine.host(0)?.store(SOURCE + bytes, &[1])?;
        let start = self.machine.now();
        let mut call = start;
        for page in 0..pages {
            self.machine.run_until(call);
            let length = if page + 1 == pages { bytes + 1 } else { bytes };
            self.post(0, 1, length, TARGET)?;
            call = call + self.cost.posting_period;
        }
        Ok(self.wait_for(1, last, 1, [bytes, pages])?.since(start))
    }

    /// One message of `bytes` bytes, in pages of 65,532 posted back to back, from
    /// the first put call until the receiver, which spins on its last byte, has
    /// seen it. All pages but the last lie at one address: it is the time that
    /// counts.
    ///
    /// # Errors
    /// [`BenchError`].
    pub fn one_way(&mut self, bytes: u32) -> Result<Duration, BenchError> {
        const PAGE: u32 = 65_532;
        const LAST_PAGE: u32 = TARGET + 0x1_0000;
        let pages = bytes.div_ceil(PAGE).max(1);
        let length = bytes.saturating_sub((pages - 1) * PAGE).max(1);
        let last = LAST_PAGE + length - 1;
        self.machine.host(1)?.store(last, &[0])?;
        self.machine.host(0)?.store(SOURCE + length - 1, &[1])?;
        let start = self.machine.now();
        let mut call = start + self.cost.put_call;
        for _ in 1..pages {
            self.machine.run_until(call);
            self.post(0, 1, PAGE, TARGET)?;
            call = call + self.cost.posting_period;
        }
        self.machine.run_until(call);
        self.post(0, 1, length, LAST_PAGE)?;
        let arrived = self.wait_for(1, last, 1, [bytes, 1])?;
        let seen = next_poll(start, self.cost.poll_period, arrived) + self.cost.poll_detect;
        Ok(seen.since(start))
    }

    /// Posts one page to `remote`; makes room in the ring when it is time to.
    fn post(&mut self, from: u16, to: u16, bytes: u32, remote: u32) -> Result<(), BenchError> {
        let index = usize::from(from & 1);
        let mut host = self.machine.host(from)?;
        let entry = Entry::page(to, 0, SOURCE, remote, bytes, Control::LMP);
        if self.unflushed[index] >= FLUSH_PERIOD {
            self.drivers[index].flush_lme(&mut host, u16::MAX, |_| {})?;
            self.unflushed[index] = 0;
        }
        loop {
            match self.drivers[index].add_entry(&mut host, entry) {
                Ok(_) => break,
                // The chip is behind: wait as the original does, looking again.
                Err(AddError::RingFull { .. }) => {
                    let served = self.drivers[index].flush_lme(&mut host, u16::MAX, |_| {})?;
                    if served.descriptors == 0 {
                        host.machine().run_for(self.cost.posting_period);
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.unflushed[index] += 1;
        Ok(())
    }

    /// When the byte at `addr` of node `to` becomes `mark`, the last of so many
    /// pages of so many bytes.
    fn wait_for(
        &mut self,
        to: u16,
        addr: u32,
        mark: u8,
        [bytes, pages]: [u32; 2],
    ) -> Result<Instant, BenchError> {
        let under_way = u64::from(bytes) * u64::from(pages);
        let waited = PATIENCE + Duration::from_ps(under_way * PATIENCE_PER_BYTE.ps());
        let arrived = self.machine.run_while_not(waited, |machine| {
            machine
                .nodes()
                .get(usize::from(to))
                .is_some_and(|node| node.memory().slice(addr, 1) == Ok(&[mark]))
        });
        if arrived {
            Ok(self.machine.now())
        } else {
            Err(BenchError::Lost { bytes, waited })
        }
    }
}

/// The first look at or after `time`, of looks every `period` from `origin` on.
fn next_poll(origin: Instant, period: Duration, time: Instant) -> Instant {
    let elapsed = time.since(origin).ps();
    let looks = elapsed.div_ceil(period.ps().max(1));
    origin + Duration::from_ps(looks * period.ps())
}
