//! The registers at work: what reads and writes do.

use super::config::DdcConfig;
use super::errata::Erratum;
use super::quirks::Quirks;
use super::registers::{
    Access, ClassRevision, Command, Identification, Interrupt, LatencyHeader, LmiBase, LmiCurrent,
    LmiMax, LmiNew, LpeBase, LpeCurrent, LpeMax, LpeNew, LrmBase, Message, PciCommandStatus,
    R3Dout, Status, StatusMask,
};
use super::status::{Event, STOPPING, StatusBlock};

/// Status bits of 04h that are fatal: they stop the bus master and assert INTA#.
pub(super) const PCI_FATAL: u32 = 0x7900_0000;

/// Errors that erratum 17 lets pass.
const NOT_STOPPING: u32 = Event::Ep as u32 | Event::Timeout as u32;
/// Bit 31 of 04h.
const DETECTED_PARITY: u32 = 1 << 31;

/// Everything software can see.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RegisterFile {
    identification: u32,
    class: u32,
    pub(super) pci: PciCommandStatus,
    latency: u32,
    interrupt: u32,
    pub(super) status: StatusBlock,
    mask: StatusMask,
    pub(super) command: Command,
    pub(super) message: u32,
    pub(super) lpe_max: u32,
    pub(super) lpe_current: u32,
    pub(super) lpe_new: u32,
    pub(super) lpe_base: u32,
    pub(super) lmi_max: u32,
    pub(super) lmi_current: u32,
    pub(super) lmi_new: u32,
    pub(super) lmi_base: u32,
    pub(super) lrm_base: u32,
    pub(super) r3_dout: Option<u8>,
    /// An error stopped the chip and no configuration access has come since.
    halted: bool,
    pub(super) quirks: Quirks,
}

impl RegisterFile {
    pub(super) const fn new(config: &DdcConfig) -> Self {
        Self {
            identification: config.device_and_vendor,
            class: config.class_and_revision,
            pci: PciCommandStatus::from_bits(PciCommandStatus::INFO.reset),
            latency: LatencyHeader::INFO.reset,
            interrupt: Interrupt::INFO.reset,
            status: StatusBlock::RESET,
            mask: StatusMask::from_bits(StatusMask::INFO.reset),
            command: Command::from_bits(Command::INFO.reset),
            message: 0,
            lpe_max: 0,
            lpe_current: 0,
            lpe_new: 0,
            lpe_base: 0,
            lmi_max: 0,
            lmi_current: 0,
            lmi_new: 0,
            lmi_base: 0,
            lrm_base: 0,
            r3_dout: None,
            halted: false,
            quirks: Quirks::new(config),
        }
    }

    /// The register at `offset` (its low two bits are ignored); 0 where there is none.
    pub(super) const fn read(&self, offset: u8) -> u32 {
        match offset & 0xFC {
            Identification::OFFSET => self.identification,
            PciCommandStatus::OFFSET => self.pci.bits(),
            ClassRevision::OFFSET => self.class,
            LatencyHeader::OFFSET => self.latency,
            Interrupt::OFFSET => self.interrupt,
            Status::OFFSET => self.quirks.status(self.status.bits()),
            StatusMask::OFFSET => self.mask.bits(),
            Command::OFFSET => self.command.bits(),
            Message::OFFSET => self.message,
            LpeMax::OFFSET => self.lpe_max,
            LpeCurrent::OFFSET => self.lpe_current,
            LpeNew::OFFSET => self.lpe_new,
            LpeBase::OFFSET => self.lpe_base,
            LmiMax::OFFSET => self.lmi_max,
            LmiCurrent::OFFSET => self.lmi_current,
            LmiNew::OFFSET => self.lmi_new,
            LmiBase::OFFSET => self.lmi_base,
            LrmBase::OFFSET => self.lrm_base,
            _ => 0,
        }
    }

    /// The answer to a read over the bus.
    pub(super) fn answer(&mut self, offset: u8) -> u32 {
        if self.quirks.read_is_all_ones() {
            u32::MAX
        } else {
            self.read(offset)
        }
    }

    /// A configuration access: the bytes of `value` in `mask` are written.
    /// Returns whether the chip must be reset.
    pub(super) fn write(&mut self, offset: u8, value: u32, mask: u32) -> bool {
        let set = value & mask;
        let merge = |old: u32, writable: u32| {
            let take = writable & mask;
            old & !take | value & take
        };
        macro_rules! rw {
            ($register:ty, $old:expr) => {
                merge($old, const { <$register>::INFO.mask(Access::ReadWrite) })
            };
        }
        let offset = match offset & 0xFC {
            LmiCurrent::OFFSET if self.quirks.has(Erratum::SwappedReportPointers) => LmiNew::OFFSET,
            LmiNew::OFFSET if self.quirks.has(Erratum::SwappedReportPointers) => LmiCurrent::OFFSET,
            offset => offset,
        };
        let spoilt = self.quirks.write_spoils_parity();
        match offset {
            PciCommandStatus::OFFSET => {
                let was = self.pci.bus_master() == 1;
                let clear = const { PciCommandStatus::INFO.mask(Access::WriteOneClears) };
                let bits = rw!(PciCommandStatus, self.pci.bits()) & !(set & clear);
                self.pci = PciCommandStatus::from_bits(bits);
                self.quirks.bus_master(was, self.pci.bus_master() == 1);
            }
            LatencyHeader::OFFSET => self.latency = rw!(LatencyHeader, self.latency),
            Interrupt::OFFSET => self.interrupt = rw!(Interrupt, self.interrupt),
            Status::OFFSET => self.status.write(self.acknowledged(set)),
            StatusMask::OFFSET => {
                self.mask = StatusMask::from_bits(rw!(StatusMask, self.mask.bits()));
            }
            Command::OFFSET => {
                self.command = Command::from_bits(rw!(Command, self.command.bits()));
                return Command::from_bits(set).soft_reset() == 1;
            }
            LpeMax::OFFSET => self.lpe_max = rw!(LpeMax, self.lpe_max),
            LpeCurrent::OFFSET => self.lpe_current = rw!(LpeCurrent, self.lpe_current),
            LpeNew::OFFSET => self.lpe_new = rw!(LpeNew, self.lpe_new),
            LpeBase::OFFSET => self.lpe_base = rw!(LpeBase, self.lpe_base),
            LmiMax::OFFSET => self.lmi_max = rw!(LmiMax, self.lmi_max),
            LmiCurrent::OFFSET => self.lmi_current = rw!(LmiCurrent, self.lmi_current),
            LmiNew::OFFSET => self.lmi_new = rw!(LmiNew, self.lmi_new),
            LmiBase::OFFSET => self.lmi_base = rw!(LmiBase, self.lmi_base),
            LrmBase::OFFSET => self.lrm_base = rw!(LrmBase, self.lrm_base),
            R3Dout::OFFSET if mask & 0xFF != 0 => self.r3_dout = Some(value as u8),
            _ => {}
        }
        if spoilt {
            self.pci = PciCommandStatus::from_bits(self.pci.bits() | DETECTED_PARITY);
        }
        false
    }

    /// What a write to STATUS clears.
    const fn acknowledged(&self, set: u32) -> u32 {
        let (own, other) = (Event::LmiOverflow as u32, Event::IllegalLrmAccess as u32);
        if !self.quirks.has(Erratum::OverflowClearedBy13) {
            set
        } else if set & other != 0 {
            set | own
        } else {
            set & !own
        }
    }

    /// A soft reset that did not take: the configuration header is lost, and
    /// with it Bus Master; COMMAND holds what was written; the rest stays.
    pub(super) const fn lose_header(&mut self) {
        self.pci = PciCommandStatus::from_bits(PciCommandStatus::INFO.reset);
        self.latency = LatencyHeader::INFO.reset;
        self.interrupt = Interrupt::INFO.reset;
    }

    /// The end of an edge, for the errata that take time.
    #[inline]
    pub(super) fn misbehave(&mut self) {
        self.quirks
            .step(self.status.bits(), self.pci.bus_master() == 1);
    }

    /// Edges that the errata let pass.
    pub(super) fn quirks_idle_for(&self) -> u64 {
        self.quirks
            .idle_for(self.status.bits(), self.pci.bus_master() == 1)
    }

    pub(super) fn skip_quirks(&mut self, cycles: u64) {
        self.quirks.skip(cycles, self.pci.bus_master() == 1);
    }

    /// Any configuration access lets a stopped chip go on (once Bus Master is
    /// set again).
    pub(super) const fn touched(&mut self) {
        self.halted = false;
    }

    /// Transfers may start.
    pub(super) const fn dma_enabled(&self) -> bool {
        (self.pci.bus_master() == 1 || self.quirks.runs_away()) && !self.halted
    }

    /// Sets bits of the PCI status; fatal ones stop the bus master.
    pub(super) fn pci_error(&mut self, bits: u32) {
        self.pci = PciCommandStatus::from_bits(self.pci.bits() | bits);
        if bits & PCI_FATAL != 0 {
            self.stop();
        }
    }

    fn stop(&mut self) {
        warning!(
            "bus master stopped: status {:#010x}, pci {:#010x}",
            self.status.bits(),
            self.pci.bits()
        );
        self.pci = self.pci.with_bus_master(0);
        self.halted = true;
        self.quirks.stop();
    }

    /// The end of an edge: enabled errors of this edge stop the bus master.
    pub(super) fn settle(&mut self) {
        let fresh = self.status.take_fresh();
        if fresh == 0 {
            return;
        }
        let mut stopping = self.mask.bits() & STOPPING;
        if self.quirks.has(Erratum::RunawayBusMaster) {
            stopping &= !NOT_STOPPING;
        }
        if self.quirks.has(Erratum::OverflowStopsBusMaster) {
            stopping |= Event::LmiOverflow as u32;
        }
        if fresh & stopping != 0 {
            self.stop();
        }
    }

    /// INTA# is asserted.
    pub(super) fn interrupts(&self) -> bool {
        self.status.bits() & self.mask.bits() & 0xFFFF_F000 != 0
            || self.pci.bits() & PCI_FATAL != 0
            || self.quirks.interrupts()
    }

    pub(super) const fn link_status(&mut self, now: u8) {
        let enabled = self.mask.r3_status() as u8;
        self.status.link_status(now, enabled);
    }

    /// The longest packet in words that COMMAND asks for.
    pub(super) const fn packet_limit(&self, fifo_words: u16) -> u16 {
        let limit = self.command.max_packet_length() as u16;
        if limit == 0 || limit > fifo_words {
            fifo_words
        } else {
            limit
        }
    }

    pub(super) const fn latency_timer(&self) -> u16 {
        LatencyHeader::from_bits(self.latency).latency_timer() as u16
    }
}
