//! The signals of one clock, and what each agent drives.
//!
//! Names ending in `_n` are active low: `false` is asserted. Every agent
//! samples [`Signals`] at the rising edge and changes what it drives
//! ([`Drive`]) after it, so outputs are registered and agents can be stepped
//! in any order.

/// The bus as it stands just before a rising edge of the PCI clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Signals {
    /// `AD[31:0]`.
    pub ad: u32,
    /// `C/BE#[3:0]`: the command in the address phase; in data phases byte
    /// enables, active low.
    pub cbe_n: u8,
    /// PAR: makes AD, C/BE# and PAR of the *previous* clock even.
    pub par: bool,
    /// FRAME#.
    pub frame_n: bool,
    /// IRDY#.
    pub irdy_n: bool,
    /// TRDY#.
    pub trdy_n: bool,
    /// DEVSEL#.
    pub devsel_n: bool,
    /// STOP#.
    pub stop_n: bool,
    /// PERR#.
    pub perr_n: bool,
    /// SERR#.
    pub serr_n: bool,
}

impl Signals {
    /// Nobody drives: control lines are pulled up, AD floats (read as ones).
    pub const IDLE: Self = Self {
        ad: u32::MAX,
        cbe_n: 0xF,
        par: true,
        frame_n: true,
        irdy_n: true,
        trdy_n: true,
        devsel_n: true,
        stop_n: true,
        perr_n: true,
        serr_n: true,
    };

    /// Bus idle: neither FRAME# nor IRDY# is asserted.
    pub const fn is_idle(&self) -> bool {
        self.frame_n && self.irdy_n
    }
}

impl Default for Signals {
    fn default() -> Self {
        Self::IDLE
    }
}

/// What one agent drives: `None` is high impedance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Drive {
    /// `AD[31:0]`.
    pub ad: Option<u32>,
    /// `C/BE#[3:0]`.
    pub cbe_n: Option<u8>,
    /// PAR.
    pub par: Option<bool>,
    /// FRAME#.
    pub frame_n: Option<bool>,
    /// IRDY#.
    pub irdy_n: Option<bool>,
    /// TRDY#.
    pub trdy_n: Option<bool>,
    /// DEVSEL#.
    pub devsel_n: Option<bool>,
    /// STOP#.
    pub stop_n: Option<bool>,
    /// PERR#.
    pub perr_n: Option<bool>,
    /// SERR# (open drain: only ever `Some(false)` or `None`).
    pub serr_n: Option<bool>,
}

impl Drive {
    /// Nothing is driven.
    pub const RELEASED: Self = Self {
        ad: None,
        cbe_n: None,
        par: None,
        frame_n: None,
        irdy_n: None,
        trdy_n: None,
        devsel_n: None,
        stop_n: None,
        perr_n: None,
        serr_n: None,
    };

    /// This drive as it may follow `before` of the same agent: a sustained
    /// tri-state line (FRAME#, IRDY#, TRDY#, DEVSEL#, STOP#, PERR#) that was
    /// asserted is driven high for one clock before it is released.
    #[must_use]
    pub fn after(mut self, before: &Self) -> Self {
        let sustain = |line: &mut Option<bool>, before: Option<bool>| {
            if line.is_none() && before == Some(false) {
                *line = Some(true);
            }
        };
        sustain(&mut self.frame_n, before.frame_n);
        sustain(&mut self.irdy_n, before.irdy_n);
        sustain(&mut self.trdy_n, before.trdy_n);
        sustain(&mut self.devsel_n, before.devsel_n);
        sustain(&mut self.stop_n, before.stop_n);
        sustain(&mut self.perr_n, before.perr_n);
        self
    }
}

/// The bus that results when `agents` drive it: pull-ups where nobody drives;
/// an asserted (low) control line wins; on AD, C/BE# and PAR the last driver
/// wins (two drivers at once are a protocol violation, which the
/// checker reports).
pub fn resolve(agents: &[Drive]) -> Signals {
    let mut bus = Signals::IDLE;
    for agent in agents {
        bus.ad = agent.ad.unwrap_or(bus.ad);
        bus.cbe_n = agent.cbe_n.unwrap_or(bus.cbe_n);
        bus.par = agent.par.unwrap_or(bus.par);
        bus.frame_n &= agent.frame_n.unwrap_or(true);
        bus.irdy_n &= agent.irdy_n.unwrap_or(true);
        bus.trdy_n &= agent.trdy_n.unwrap_or(true);
        bus.devsel_n &= agent.devsel_n.unwrap_or(true);
        bus.stop_n &= agent.stop_n.unwrap_or(true);
        bus.perr_n &= agent.perr_n.unwrap_or(true);
        bus.serr_n &= agent.serr_n.unwrap_or(true);
    }
    bus
}

/// The bus commands in use (C/BE# of the address phase).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Command {
    /// 0110b.
    MemoryRead,
    /// 0111b.
    MemoryWrite,
    /// 1010b.
    ConfigurationRead,
    /// 1011b.
    ConfigurationWrite,
    /// Any other: kept as it is.
    Other(u8),
}

impl Command {
    /// The command of these 4 bits.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 0xF {
            0b0110 => Self::MemoryRead,
            0b0111 => Self::MemoryWrite,
            0b1010 => Self::ConfigurationRead,
            0b1011 => Self::ConfigurationWrite,
            other => Self::Other(other),
        }
    }

    /// The 4 bits on C/BE#.
    pub const fn bits(self) -> u8 {
        match self {
            Self::MemoryRead => 0b0110,
            Self::MemoryWrite => 0b0111,
            Self::ConfigurationRead => 0b1010,
            Self::ConfigurationWrite => 0b1011,
            Self::Other(bits) => bits & 0xF,
        }
    }

    /// The initiator drives the data phases.
    pub const fn is_write(self) -> bool {
        self.bits() & 1 == 1
    }
}
