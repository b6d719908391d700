//! Waveforms: a probe that writes a VCD file for GTKWave or Surfer.

use std::boxed::Box;
use std::format;
use std::io::{self, Write};
use std::vec::Vec;

use vcd::{IdCode, SimulationCommand, TimescaleUnit, VarType, Writer};

use crate::ddc::registers::REGISTERS;
use crate::fabric::{Edge, Node, Parts, Probe, Router};
use crate::hsl::Line;

struct Signal {
    id: IdCode,
    width: u8,
    last: Option<u64>,
}

/// Writes the PCI bus and the registers of each node, and the eight links of
/// each router. A link is an 11-bit vector: bit 10 no signal, bit 9 FCC pulse,
/// bit 8 control, bits 7..0 value.
pub struct VcdProbe {
    writer: Writer<Box<dyn Write>>,
    signals: Vec<Signal>,
    nodes: usize,
    routers: usize,
    failed: Option<io::Error>,
    time: Option<u64>,
}

impl core::fmt::Debug for VcdProbe {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("VcdProbe")
            .field("signals", &self.signals.len())
            .finish_non_exhaustive()
    }
}

/// The bus signals by name and width, in the order of [`node_values`].
const BUS: [(&str, u8); 13] = [
    ("AD", 32),
    ("CBE_n", 4),
    ("PAR", 1),
    ("FRAME_n", 1),
    ("IRDY_n", 1),
    ("TRDY_n", 1),
    ("DEVSEL_n", 1),
    ("STOP_n", 1),
    ("PERR_n", 1),
    ("SERR_n", 1),
    ("REQ_n", 1),
    ("GNT_n", 1),
    ("INTA_n", 1),
];

impl VcdProbe {
    /// A waveform of that many nodes and routers into `out`.
    pub fn new(out: Box<dyn Write>, nodes: usize, routers: usize) -> io::Result<Self> {
        let mut writer = Writer::new(out);
        let mut signals = Vec::new();
        writer.timescale(1, TimescaleUnit::PS)?;
        writer.add_module("multipc")?;
        let mut add = |writer: &mut Writer<Box<dyn Write>>, name: &str, width: u8| {
            let kind = if width == 1 {
                VarType::Wire
            } else {
                VarType::Reg
            };
            let id = writer.add_var(kind, width.into(), name, None)?;
            signals.push(Signal {
                id,
                width,
                last: None,
            });
            io::Result::Ok(())
        };
        for node in 0..nodes {
            writer.add_module(&format!("node{node}"))?;
            writer.add_module("pci")?;
            for (name, width) in BUS {
                add(&mut writer, name, width)?;
            }
            writer.upscope()?;
            writer.add_module("registers")?;
            for register in REGISTERS {
                add(&mut writer, register.name, 32)?;
            }
            writer.upscope()?;
            add(&mut writer, "parallel_tx", 11)?;
            writer.upscope()?;
        }
        for router in 0..routers {
            writer.add_module(&format!("router{router}"))?;
            for port in 0..8 {
                add(&mut writer, &format!("link{port}_in"), 11)?;
                add(&mut writer, &format!("link{port}_out"), 11)?;
            }
            add(&mut writer, "linkstatus", 8)?;
            writer.upscope()?;
        }
        writer.upscope()?;
        writer.enddefinitions()?;
        writer.begin(SimulationCommand::Dumpvars)?;
        writer.end()?;
        Ok(Self {
            writer,
            signals,
            nodes,
            routers,
            failed: None,
            time: None,
        })
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// The first error of the whole recording.
    pub fn finish(mut self) -> io::Result<()> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.writer.flush(),
        }
    }

    fn record(&mut self, at: u64, parts: Parts<'_, '_>) -> io::Result<()> {
        let mut next = 0;
        for node in parts.nodes.iter().take(self.nodes) {
            for value in node_values(node) {
                self.put(at, &mut next, value)?;
            }
        }
        for router in parts.routers.iter().take(self.routers) {
            for value in router_values(router) {
                self.put(at, &mut next, value)?;
            }
        }
        Ok(())
    }

    fn put(&mut self, at: u64, next: &mut usize, value: u64) -> io::Result<()> {
        let Some(signal) = self.signals.get_mut(*next) else {
            return Ok(());
        };
        *next += 1;
        if signal.last == Some(value) {
            return Ok(());
        }
        signal.last = Some(value);
        if self.time != Some(at) {
            self.time = Some(at);
            self.writer.timestamp(at)?;
        }
        if signal.width == 1 {
            self.writer.change_scalar(signal.id, value & 1 == 1)
        } else {
            let width = signal.width;
            let bits = (0..width)
                .rev()
                .map(|bit| vcd::Value::from(value >> bit & 1 == 1));
            self.writer.change_vector(signal.id, bits)
        }
    }
}

fn node_values<'n>(node: &'n Node<'_>) -> impl Iterator<Item = u64> + 'n {
    let bus = node.bus();
    let pins = node.pci_outputs();
    let signals = [
        u64::from(bus.ad),
        u64::from(bus.cbe_n),
        u64::from(bus.par),
        u64::from(bus.frame_n),
        u64::from(bus.irdy_n),
        u64::from(bus.trdy_n),
        u64::from(bus.devsel_n),
        u64::from(bus.stop_n),
        u64::from(bus.perr_n),
        u64::from(bus.serr_n),
        u64::from(pins.req_n),
        u64::from(node.bridge().ddc_gnt_n()),
        u64::from(pins.inta_n),
    ];
    let registers = REGISTERS
        .iter()
        .map(|r| u64::from(node.ddc().register(r.offset)));
    let tx = core::iter::once(line_value(node.link_output()));
    signals.into_iter().chain(registers).chain(tx)
}

fn router_values(router: &Router) -> impl Iterator<Item = u64> {
    let outputs = *router.outputs();
    let inputs = *router.inputs();
    let status = u64::from(router.link_status());
    inputs
        .into_iter()
        .zip(outputs)
        .flat_map(|(input, output)| [line_value(input), line_value(output)])
        .chain(core::iter::once(status))
}

fn line_value(line: Line) -> u64 {
    u64::from(line.bits())
}

impl Probe for VcdProbe {
    fn after_edge(&mut self, edge: Edge, parts: Parts<'_, '_>) {
        if self.failed.is_none()
            && let Err(error) = self.record(edge.at.ps(), parts)
        {
            self.failed = Some(error);
        }
    }
}
