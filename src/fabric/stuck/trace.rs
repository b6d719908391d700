//! Which packet is it? A header is read where it can still be seen: at the head
//! of the packet, which may be several routers ahead.

use crate::fabric::machine::Machine;
use crate::fabric::probe::Probe;
use crate::fabric::topology::PortId;
use crate::fabric::wiring::End;
use crate::hsl::Symbol;
use crate::rcube::{InputState, Rcube};

/// The header of the packet at the front of an input.
pub(super) fn header<P: Probe>(machine: &Machine<'_, P>, at: PortId) -> Option<u16> {
    let mut at = at;
    let (mut chip, mut port) = chip_of(machine, at)?;
    let mut output = match chip.input_state(port) {
        InputState::Header | InputState::Request { .. } => {
            return read(chip, port, |k| chip.input_symbol(port, k));
        }
        InputState::Stream { output } | InputState::Close { output } => output,
        InputState::Drop => return None,
    };
    // A packet that runs into itself is met again; nobody needs more steps than
    // there are routers.
    for _ in 0..=machine.routers().len() {
        let far = machine.far_end(PortId::new(at.router, output as u8))?;
        // A node's number is its header.
        let next = match far {
            End::Node(node) => return Some(node),
            End::Router { router, port } => PortId::new(router, port),
        };
        let (far_chip, far_port) = chip_of(machine, next)?;
        let ahead = u16::from(far_chip.input_queued(far_port));
        // What was sent last comes last: first the FIFO beyond, then the output
        // FIFO here. The packet is the one behind the last end in both.
        let both = |k: u16| -> Option<Symbol> {
            match k.checked_sub(ahead) {
                None => far_chip.input_symbol(far_port, k as u8),
                Some(k) => chip.output_symbol(output, u8::try_from(k).ok()?),
            }
        };
        let symbols = ahead + u16::from(chip.output_state(output).queued);
        // An end at the very back is that of this packet itself.
        let end = (0..symbols.saturating_sub(1))
            .rev()
            .find(|&k| both(k).is_some_and(Symbol::ends_packet));
        let start = match (end, far_chip.input_state(far_port)) {
            (Some(end), _) => end + 1,
            (None, InputState::Header | InputState::Request { .. }) => 0,
            (
                None,
                InputState::Stream { output: further } | InputState::Close { output: further },
            ) => {
                (at, chip, port, output) = (next, far_chip, far_port, further);
                continue;
            }
            (None, InputState::Drop) => return None,
        };
        return read(far_chip, far_port, |k| both(start + u16::from(k)));
    }
    let _ = port;
    None
}

fn chip_of<'m, P: Probe>(machine: &'m Machine<'_, P>, at: PortId) -> Option<(&'m Rcube, usize)> {
    let router = machine.routers().get(usize::from(at.router))?;
    Some((router.chip(), usize::from(at.port)))
}

/// The header at the front of these symbols, as the input `port` reads it.
fn read(chip: &Rcube, port: usize, symbol: impl Fn(u8) -> Option<Symbol>) -> Option<u16> {
    let first = symbol(0).filter(|symbol| !symbol.ends_packet())?.value();
    if chip.table().header_length >> (port & 7) & 1 == 0 {
        return Some(first.into());
    }
    let second = symbol(1).filter(|symbol| !symbol.ends_packet())?.value();
    Some(u16::from_be_bytes([first, second]))
}
