//! What stands at the two ends of a cable: a node (host memory, PCI bus with
//! its host bridge, PCI-DDC) and a router with its eight ports.

use crate::ddc::{Ddc, DdcConfig, PciInputs, PciOutputs};
use crate::hsl::Line;
use crate::hsl::word::Set;
use crate::mem::Ram;
use crate::pci::{BridgeConfig, Checker, HostBridge, Observation, Signals, resolve};
use crate::rcube::{Rcube, RcubeConfig};

use super::news::Watch;
use super::probe::Probe;
use super::stand_in::{ControllerPins, RouterPins};
use super::wiring::Wire;

/// "Not connected", for the channel numbers below.
pub(super) const NOWHERE: u16 = u16::MAX;

/// When a chip last stepped, and when it has to step next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    /// The last edge that the chip has seen, stepped or skipped.
    pub seen: u64,
    /// The next edge at which it cannot be skipped.
    pub due: u64,
}

impl Schedule {
    pub const NEW: Self = Self { seen: 0, due: 0 };

    pub fn wake(&mut self, cycle: u64) {
        self.due = self.due.min(cycle);
    }
}

/// A host with its network controller: memory, PCI bus, host bridge, PCI-DDC.
#[derive(Debug)]
pub struct Node<'a> {
    pub(super) memory: Ram<'a>,
    pub(super) bridge: HostBridge,
    pub(super) ddc: Ddc,
    /// The pins of whoever plays PCI-DDC.
    pub(super) shown: Option<ControllerPins>,
    pub(super) checker: Option<Checker>,
    pub(super) bus: Signals,
    pub(super) tx: u16,
    pub(super) rx: u16,
    pub(super) router: u16,
    pub(super) owns_router: bool,
    pub(super) r3_status: u8,
    /// What the link side of PCI-DDC samples while it sleeps.
    pub(super) held: Line,
    pub(super) pci_schedule: Schedule,
    pub(super) link_schedule: Schedule,
    /// Slot of the faults on the bus, and when they need a look at it.
    pub(super) fault: u16,
    pub(super) fault_due: u64,
    /// What its software waits for, and whether it has come.
    pub(super) watch: Watch,
    pub(super) news: bool,
}

impl<'a> Node<'a> {
    /// A node that is not attached yet, after power-on.
    pub fn new(memory: Ram<'a>, bridge: BridgeConfig, ddc: DdcConfig) -> Self {
        Self {
            memory,
            bridge: HostBridge::new(bridge),
            ddc: Ddc::new(ddc),
            shown: None,
            checker: None,
            bus: Signals::IDLE,
            tx: NOWHERE,
            rx: NOWHERE,
            router: NOWHERE,
            owns_router: false,
            r3_status: 0,
            held: Line::DEAD,
            pci_schedule: Schedule::NEW,
            link_schedule: Schedule::NEW,
            fault: NOWHERE,
            fault_due: u64::MAX,
            watch: Watch::Nothing,
            news: false,
        }
    }

    /// The same with a protocol checker on its bus.
    #[must_use]
    pub fn with_checker(mut self) -> Self {
        self.checker = Some(Checker::new());
        self
    }

    /// The host's memory.
    pub fn memory(&self) -> &Ram<'a> {
        &self.memory
    }

    /// The host's memory, for its CPU to write. The chips are not told: they
    /// see it when they read.
    pub fn memory_mut(&mut self) -> &mut Ram<'a> {
        &mut self.memory
    }

    /// The model of the controller.
    pub fn ddc(&self) -> &Ddc {
        &self.ddc
    }

    /// The host bridge.
    pub fn bridge(&self) -> &HostBridge {
        &self.bridge
    }

    /// The bus signals that the last PCI edge sampled.
    pub fn bus(&self) -> &Signals {
        &self.bus
    }

    /// The protocol checker, when there is one.
    pub fn checker(&self) -> Option<&Checker> {
        self.checker.as_ref()
    }

    /// INTA#: false is asserted.
    pub fn inta_n(&self) -> bool {
        self.pci_outputs().inta_n
    }

    /// What the controller drives on its PCI side and on the configuration
    /// chain, whoever plays it.
    pub fn pci_outputs(&self) -> PciOutputs {
        match &self.shown {
            Some(pins) => pins.pci,
            None => self.ddc.pci_outputs(),
        }
    }

    /// What the controller drives on its port, whoever plays it.
    pub fn link_output(&self) -> Line {
        match &self.shown {
            Some(pins) => pins.link,
            None => self.ddc.link_output(),
        }
    }

    /// One PCI edge of the whole board. `link_status` is what the router shows.
    pub(super) fn step_pci<P: Probe>(
        &mut self,
        number: u16,
        link_status: u8,
        ddc_first: bool,
        probe: &mut P,
    ) {
        // Known to be the model's at compile time when nobody stands in.
        let pins = match probe.stand_in() {
            Some(_) => self.pci_outputs(),
            None => self.ddc.pci_outputs(),
        };
        let bridge = self.bridge.drive();
        self.bus = resolve(&[bridge, pins.drive]);
        let inputs = PciInputs {
            bus: self.bus,
            idsel: self.bridge.idsel(),
            gnt_n: self.bridge.ddc_gnt_n(),
            r3_status: link_status,
        };
        if let Some(checker) = &mut self.checker {
            checker.observe(&Observation {
                bus: self.bus,
                bridge,
                ddc: pins.drive,
                ddc_req_n: pins.req_n,
                ddc_gnt_n: inputs.gnt_n,
                bridge_gnt_n: self.bridge.bridge_gnt_n(),
                idsel: inputs.idsel,
            });
        }
        self.r3_status = link_status;
        if ddc_first {
            self.step_ddc(number, &inputs, probe);
        }
        self.bridge.step(&self.bus, pins.req_n, &mut self.memory);
        if !ddc_first {
            self.step_ddc(number, &inputs, probe);
        }
    }

    #[inline]
    fn step_ddc<P: Probe>(&mut self, number: u16, inputs: &PciInputs, probe: &mut P) {
        if let Some(stand_in) = probe.stand_in()
            && let Some(pins) = stand_in.controller_pci_edge(number, inputs)
        {
            self.shown = Some(pins);
        } else {
            self.ddc.step_pci(inputs);
        }
    }

    /// PCI edges that may be skipped while nothing else happens to the board.
    pub(super) fn pci_idle_for(&self) -> u64 {
        self.bridge.idle_for().min(self.ddc.pci_idle_for())
    }

    /// Lets the bus see the PCI edges up to `cycle` that it slept through.
    pub(super) fn catch_up_pci(&mut self, cycle: u64) {
        let slept = cycle.saturating_sub(self.pci_schedule.seen);
        if slept > 0 {
            self.pci_schedule.seen = cycle;
            self.bridge.skip(slept);
            self.ddc.skip_pci(slept);
            if let Some(checker) = &mut self.checker {
                checker.skip(slept);
            }
        }
    }

    /// Lets the link side of PCI-DDC see the link edges up to `cycle` that it
    /// slept through.
    pub(super) fn catch_up_link(&mut self, cycle: u64) {
        let slept = cycle.saturating_sub(self.link_schedule.seen);
        if slept > 0 {
            self.link_schedule.seen = cycle;
            self.ddc.skip_link(slept, self.held);
        }
    }
}

/// A router of the machine: the chip and the cables on its eight ports.
#[derive(Debug)]
pub struct Router {
    pub(super) chip: Rcube,
    /// The pins of whoever plays the chip.
    pub(super) shown: Option<RouterPins>,
    pub(super) tx: [u16; 8],
    pub(super) rx: [u16; 8],
    /// The ports with a cable.
    pub(super) cabled: u8,
    pub(super) owner: u16,
    pub(super) r3_init: bool,
    pub(super) inputs: [Line; 8],
    pub(super) schedule: Schedule,
}

impl Router {
    /// A router without cables, after power-on.
    pub fn new(config: RcubeConfig) -> Self {
        Self {
            chip: Rcube::new(config),
            shown: None,
            tx: [NOWHERE; 8],
            rx: [NOWHERE; 8],
            cabled: 0,
            owner: NOWHERE,
            r3_init: false,
            inputs: [Line::DEAD; 8],
            schedule: Schedule::NEW,
        }
    }

    /// The model of the chip.
    pub fn chip(&self) -> &Rcube {
        &self.chip
    }

    /// What each output pin carries, whoever plays the chip.
    pub fn outputs(&self) -> &[Line; 8] {
        match &self.shown {
            Some(pins) => &pins.outputs,
            None => self.chip.outputs(),
        }
    }

    /// The links that are up, a bit each, whoever plays the chip.
    pub fn link_status(&self) -> u8 {
        match &self.shown {
            Some(pins) => pins.link_status,
            None => self.chip.link_status(),
        }
    }

    /// What the eight ports sampled last.
    pub fn inputs(&self) -> &[Line; 8] {
        &self.inputs
    }

    /// What each port samples at edge `cycle`.
    pub(super) fn sample(&mut self, cycle: u64, wires: &[Wire]) {
        for port in Set(self.cabled) {
            if let Some(wire) = wires.get(usize::from(self.rx[port])) {
                self.inputs[port] = wire.line.read(cycle);
            }
        }
    }

    /// Whether the inputs stay as they are from edge `cycle` on.
    pub(super) fn inputs_hold(&self, cycle: u64, wires: &[Wire]) -> bool {
        Set(self.cabled).all(|port| {
            wires.get(usize::from(self.rx[port])).is_none_or(|wire| {
                wire.line.is_settled(cycle) && wire.line.last() == self.inputs[port]
            })
        })
    }

    /// Lets the chip see the link edges up to `cycle` that it slept through.
    pub(super) fn catch_up(&mut self, cycle: u64) {
        let slept = cycle.saturating_sub(self.schedule.seen);
        if slept > 0 {
            self.schedule.seen = cycle;
            self.chip.skip(slept, &self.inputs);
        }
    }

    /// Takes the configuration chain's pins from its owner, at link cycle
    /// `cycle`; true when the router has to wake for it.
    #[inline]
    pub(super) fn take_chain(&mut self, r3_init: bool, r3_dout: Option<u8>, cycle: u64) -> bool {
        if r3_dout.is_none() && r3_init == self.r3_init {
            return false;
        }
        self.catch_up(cycle);
        self.r3_init = r3_init;
        if self.shown.is_none() {
            self.chip.chain(r3_init, r3_dout);
        }
        self.schedule.wake(cycle + 1);
        true
    }
}
