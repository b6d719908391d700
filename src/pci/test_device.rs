//! A device with nothing but a configuration space, for tests.

use super::config::DecodeSpeed;
use super::parity::even_parity;
use super::signals::{Command, Drive, Signals};

/// How a [`TestDevice`] answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum DeviceResponse {
    /// The data moves.
    #[default]
    Data,
    /// The next accesses, this many, are retried.
    Retry(u32),
    /// STOP# without DEVSEL#.
    TargetAbort,
    /// No DEVSEL#.
    Ignore,
    /// Read data with PAR inverted.
    BadParity,
}

/// 64 registers that keep what is written, behind IDSEL.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TestDevice {
    registers: [u32; 64],
    devsel: DecodeSpeed,
    latency: u32,
    response: DeviceResponse,
    active: bool,
    write: bool,
    index: usize,
    clock: u32,
    last_frame_n: bool,
    drive: Drive,
}

impl TestDevice {
    /// A device, all registers 0, that answers DEVSEL# with this speed and
    /// moves the data `latency` clocks after the address, or as soon as the
    /// bus allows.
    pub const fn new(devsel: DecodeSpeed, latency: u32) -> Self {
        Self {
            registers: [0; 64],
            devsel,
            latency,
            response: DeviceResponse::Data,
            active: false,
            write: false,
            index: 0,
            clock: 0,
            last_frame_n: true,
            drive: Drive::RELEASED,
        }
    }

    /// How accesses are answered from now on.
    pub const fn respond(&mut self, response: DeviceResponse) {
        self.response = response;
    }

    /// The register at `offset`.
    pub fn register(&self, offset: u8) -> u32 {
        self.registers
            .get(offset as usize / 4)
            .copied()
            .unwrap_or(0)
    }

    /// What it drives in the present clock.
    pub const fn drive(&self) -> Drive {
        self.drive
    }

    /// One edge of the PCI clock.
    pub fn step(&mut self, bus: &Signals, idsel: bool) {
        let old = self.drive;
        let address = !bus.frame_n && self.last_frame_n;
        self.last_frame_n = bus.frame_n;
        let mut new = Drive::RELEASED;
        if self.active {
            self.clock = self.clock.saturating_add(1);
            if bus.is_idle() {
                self.active = false;
            } else if !bus.irdy_n && (old.trdy_n == Some(false) || old.stop_n == Some(false)) {
                if self.write && old.trdy_n == Some(false) {
                    self.store(bus.ad, !bus.cbe_n);
                }
                if bus.frame_n {
                    self.active = false;
                    if let DeviceResponse::Retry(left) = &mut self.response {
                        *left = left.saturating_sub(1);
                    }
                } else {
                    // One word only.
                    new = Drive {
                        trdy_n: Some(true),
                        stop_n: Some(false),
                        ..old
                    };
                }
            } else {
                new = self.answer();
            }
        } else if address && idsel {
            self.claim(bus);
            if self.active {
                new = self.answer();
            }
        }
        if let Some(ad) = old.ad {
            let bad = self.response == DeviceResponse::BadParity;
            new.par = Some(even_parity(ad, bus.cbe_n) != bad);
        }
        self.drive = new.after(&old);
    }

    fn claim(&mut self, bus: &Signals) {
        let write = match Command::from_bits(bus.cbe_n) {
            Command::ConfigurationRead => false,
            Command::ConfigurationWrite => true,
            _ => return,
        };
        // Type 0, function 0.
        if bus.ad & 0x703 != 0 || self.response == DeviceResponse::Ignore {
            return;
        }
        self.active = true;
        self.write = write;
        self.index = bus.ad as usize / 4 % 64;
        self.clock = 0;
    }

    /// The drive `clock` edges after the one that sampled the address.
    fn answer(&self) -> Drive {
        let claim = self.devsel.delay();
        if self.clock < claim {
            return Drive::RELEASED;
        }
        let mut new = Drive {
            devsel_n: Some(false),
            trdy_n: Some(true),
            stop_n: Some(true),
            ..Drive::RELEASED
        };
        let turn = if self.write { 0 } else { 1 };
        if self.clock >= turn && !self.write {
            new.ad = Some(self.registers.get(self.index).copied().unwrap_or(0));
        }
        match self.response {
            DeviceResponse::TargetAbort => {
                if self.clock > claim {
                    new.devsel_n = Some(true);
                    new.stop_n = Some(false);
                }
            }
            DeviceResponse::Retry(left) if left > 0 => new.stop_n = Some(false),
            _ => {
                if self.clock >= self.latency.max(claim).max(turn) {
                    new.trdy_n = Some(false);
                }
            }
        }
        new
    }

    fn store(&mut self, value: u32, enables: u8) {
        if let Some(register) = self.registers.get_mut(self.index) {
            for byte in (0..4).filter(|byte| enables >> byte & 1 == 1) {
                let mask = 0xFF << (8 * byte);
                *register = *register & !mask | value & mask;
            }
        }
    }
}
