//! PCI-DDC, the network controller: PCI bus master on one side, parallel port
//! of a router on the other.
//!
//! The controller walks the ring of page descriptors ([`lme`]), reads pages,
//! sends packets ([`packet`]), writes what arrives straight to the address each
//! packet carries, and reports messages in a second ring ([`lmr`]). It is
//! programmed through PCI configuration space only ([`registers`]).
//!
//! [`Ddc`] is a synchronous machine with two clocks and registered outputs:
//!
//! ```text
//!  PCI clock                              link clock
//!  target --- registers                   port (credit, 64 symbols) --- Line
//!  master -+- transmit - TX FIFO -------- packetiser --^
//!          +- receive  - RX FIFO -------- assembler  --^
//! ```
//!
//! Document: hw/doc/pci-ddc.md.

mod assembler;
mod completion;
mod config;
mod dma;
mod errata;
mod fifo;
mod idle;
pub mod lme;
pub mod lmr;
mod master;
pub mod packet;
mod packet_error;
mod packetiser;
mod pins;
mod port;
mod quirks;
mod realign;
mod receive;
mod regfile;
mod ring;
mod shortcut;
#[macro_use]
mod table;
pub mod registers;
mod status;
mod target;
mod transmit;

use assembler::{Assembler, RxWord};
use dma::Dma;
use fifo::Fifo;
use master::Master;
use packetiser::Packetiser;
use pins::Pins;
use port::Port;
use receive::Receive;
use regfile::RegisterFile;
use target::Target;
use transmit::Transmit;

pub use config::DdcConfig;
pub use errata::{ErrataRates, Erratum, Revision};
pub use master::Transaction;

use crate::hsl::Line;
use crate::pci::{Drive, Signals};

/// What the PCI side of the chip sees at a clock edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PciInputs {
    /// The bus.
    pub bus: Signals,
    /// IDSEL, active high.
    pub idsel: bool,
    /// GNT#.
    pub gnt_n: bool,
    /// Link status of the router: bit i = link i works.
    pub r3_status: u8,
}

impl PciInputs {
    /// An idle bus, no grant, all links down.
    pub const IDLE: Self = Self {
        bus: Signals::IDLE,
        idsel: false,
        gnt_n: true,
        r3_status: 0,
    };
}

/// What the PCI side of the chip drives after a clock edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PciOutputs {
    /// The shared signals.
    pub drive: Drive,
    /// REQ#.
    pub req_n: bool,
    /// INTA#, a level.
    pub inta_n: bool,
    /// Level that releases the router.
    pub r3_init: bool,
    /// A byte for the configuration chain of the router, for one PCI cycle.
    pub r3_dout: Option<u8>,
}

/// The controller.
#[derive(Clone, Debug, PartialEq)]
pub struct Ddc {
    config: DdcConfig,
    // PCI clock.
    regs: RegisterFile,
    master: Master,
    target: Target,
    tx: Transmit,
    rx: Receive,
    inta: bool,
    r3_dout: Option<u8>,
    /// An edge with idle pins changes nothing until the link does.
    asleep: bool,
    // Both.
    tx_fifo: Fifo<u32>,
    rx_fifo: Fifo<RxWord>,
    // Link clock.
    port: Port,
    packetiser: Packetiser,
    assembler: Assembler,
    loopback: bool,
    /// An edge with this input changes nothing until the PCI side does.
    sleeps_on: Option<Line>,
}

impl Ddc {
    /// The chip after power-on.
    pub fn new(config: DdcConfig) -> Self {
        let config = config.clamped();
        Self {
            config,
            regs: RegisterFile::new(&config),
            master: Master::new(),
            target: Target::new(),
            tx: Transmit::default(),
            rx: Receive::default(),
            inta: false,
            r3_dout: None,
            asleep: false,
            tx_fifo: Fifo::new(config.fifo_words, 0),
            rx_fifo: Fifo::new(config.rx_fifo_words, RxWord::EMPTY),
            port: Port::new(),
            packetiser: Packetiser::default(),
            assembler: Assembler::default(),
            loopback: false,
            sleeps_on: None,
        }
    }

    /// The parameters in use (each inside its range).
    pub const fn config(&self) -> &DdcConfig {
        &self.config
    }

    /// Everything as after power-on, but for the bus: the target ends the access
    /// in hand, and the parity of what was on the bus is still checked.
    fn reset(&mut self) {
        debug!("soft reset");
        let (mut master, target) = (self.master, self.target);
        master.reset();
        let r3_status = self.regs.status.r3_status;
        let quirks = self.regs.quirks.after_reset(&self.config);
        *self = Self {
            master,
            target,
            ..Self::new(self.config)
        };
        self.regs.quirks = quirks;
        self.regs.status.r3_status = r3_status;
    }

    /// One edge of the PCI clock.
    pub fn step_pci(&mut self, pins: &PciInputs) {
        if self.asleep
            && pins.bus.is_idle()
            && pins.gnt_n
            && pins.r3_status == self.regs.status.r3_status
            && self.sees_all_of_link()
        {
            return;
        }
        let on_bus = self.master.on_bus();
        self.regs.link_status(pins.r3_status);
        self.r3_dout = self.regs.r3_dout.take();
        let mut dma = Dma {
            regs: &mut self.regs,
            tx: &mut self.tx,
            rx: &mut self.rx,
            tx_fifo: &mut self.tx_fifo,
            rx_fifo: &mut self.rx_fifo,
            config: &self.config,
        };
        self.master.step(&pins.bus, pins.gnt_n, &mut dma);
        let writing = on_bus == Some(Transaction::DataWrite);
        self.rx
            .step(&mut self.regs, &mut self.rx_fifo, writing, &self.config);
        self.tx.step(&mut self.regs, &self.tx_fifo, &self.config);
        self.regs.settle();
        let receive = self.rx.wants(&self.rx_fifo, &self.config);
        let enabled = self.regs.dma_enabled();
        let balance = self.regs.command.txrx_balance();
        self.master
            .arbitrate(self.tx.wants(), receive, enabled, balance);
        let reset = self
            .target
            .step(&pins.bus, pins.idsel, on_bus.is_some(), &mut self.regs);
        if let Some(value) = self.target.answered() {
            self.rx.config_read(value, &self.regs);
        }
        // The flip-flops that bring the link's counters over.
        self.rx_fifo.clock_reader();
        self.tx_fifo.clock_writer();
        self.tx.left.clock();
        self.rx.ends.clock();
        if reset {
            if self.regs.quirks.reset_takes() {
                self.reset();
            } else {
                self.regs.lose_header();
            }
        }
        self.regs.misbehave();
        self.inta = self.regs.interrupts();
        if !self.target.is_idle() {
            // A register may have changed.
            self.sleeps_on = None;
        }
        self.asleep = self.master.is_idle() && self.pci_idle_for() == u64::MAX;
    }

    /// What the PCI side drives.
    pub fn pci_outputs(&self) -> PciOutputs {
        PciOutputs {
            drive: Pins::both(self.master.pins(), self.target.pins()),
            req_n: !self.master.requests(),
            inta_n: !self.inta,
            r3_init: self.regs.command.r3_init() == 1,
            r3_dout: self.r3_dout,
        }
    }

    /// R3_INIT and R3_DOUT of [`pci_outputs`](Self::pci_outputs), for the router
    /// to look at after each PCI edge.
    #[inline]
    pub fn chain_pins(&self) -> (bool, Option<u8>) {
        (self.regs.command.r3_init() == 1, self.r3_dout)
    }

    /// One edge of the link clock.
    pub fn step_link(&mut self, input: Line) {
        if self.sleeps_on == Some(input) && self.sees_all_of_pci() {
            return;
        }
        let receives = self.regs.command.rx_init() == 1;
        let loopback = self.regs.command.loopback() == 1;
        let outside = receives && !loopback;
        let gone = self.port.is_up() && (!(outside && input.has_signal()) || self.port.is_broken());
        if gone || loopback != self.loopback {
            self.loopback = loopback;
            self.port.down();
            self.packetiser.abort();
            self.assembler.close();
        }
        let ready = if loopback {
            receives && self.port.has_room()
        } else {
            self.port.has_credit()
        };
        if self.assembler.ready(&mut self.rx_fifo, &mut self.rx.ends)
            && let Some(symbol) = self.port.pop()
        {
            self.assembler
                .take(symbol, &mut self.rx_fifo, &mut self.rx.ends);
        }
        let sent = self.packetiser.step(
            &self.tx.order,
            self.tx.go.seen(),
            &mut self.tx_fifo,
            &mut self.tx.left,
            ready,
            &self.config,
        );
        if loopback {
            if let Some(symbol) = sent {
                self.port.push(symbol);
            }
            self.port.silence();
        } else if !receives || gone {
            // Without signal for an edge, so that the router starts over, too.
            self.port.silence();
        } else {
            if input.has_signal() && !self.port.is_up() {
                self.port.come_up();
            }
            self.port.drive(sent, &self.config);
            if input.has_signal() {
                self.port.receive(input);
            }
        }
        self.tx_fifo.clock_reader();
        self.rx_fifo.clock_writer();
        self.tx.go.clock();
        let quiet = input.is_quiet() && self.port.is_quiet();
        self.sleeps_on = (quiet && self.link_idle_for(input) > 0).then_some(input);
    }

    /// What the link side drives.
    pub const fn link_output(&self) -> Line {
        self.port.output()
    }

    /// The register at `offset`, without the side effects of a read over the bus.
    pub const fn register(&self, offset: u8) -> u32 {
        self.regs.read(offset)
    }

    /// Whether a page was posted that has not left whole: for a watchdog.
    pub fn has_unsent(&self) -> bool {
        self.tx.has_page() || self.regs.lpe_current != self.regs.lpe_new
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Ddc {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Ddc");
        for register in registers::REGISTERS {
            let value = self.register(register.offset);
            if value != register.reset {
                defmt::write!(f, " {=str}={=u32:#010x}", register.name, value);
            }
        }
    }
}
