//! What a step has at hand, and moving bytes with it.

use crate::mpi::pages::{Piece, Pieces};
use crate::mpi::port::Port;
use crate::mpi::trace::Trace;
use crate::time::Instant;

use super::request::Buffer;

/// The node, scratch memory and listeners, for the time of one call.
pub(super) struct Context<'c, P> {
    pub(super) port: &'c mut P,
    /// The message that is read.
    pub(super) rx: &'c mut [u8],
    /// The message that is written.
    pub(super) tx: &'c mut [u8],
    pub(super) trace: &'c mut dyn Trace,
    pub(super) now: Instant,
}

/// Bytes that cannot be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unreachable;

/// The piece at `addr`, if the map's answer makes sense.
pub(super) fn piece<P: Port>(port: &P, addr: u64, len: u64) -> Result<Piece, Unreachable> {
    let piece = port.piece(addr, len).ok_or(Unreachable)?;
    if (1..=len).contains(&piece.len) {
        Ok(piece)
    } else {
        Err(Unreachable)
    }
}

/// Whether all bytes of a buffer are mapped, and the ends of its pieces are
/// memory of this node.
pub(super) fn check<P: Port>(port: &mut P, buffer: Buffer) -> Result<(), Unreachable> {
    check_below(port, buffer, u64::MAX)
}

/// The same, and all of it lies where a controller can address it: below 2^32.
pub(super) fn check_reach<P: Port>(port: &mut P, buffer: Buffer) -> Result<(), Unreachable> {
    check_below(port, buffer, u32::MAX.into())
}

fn check_below<P: Port>(port: &mut P, buffer: Buffer, end: u64) -> Result<(), Unreachable> {
    let mut at = 0;
    while at < buffer.len {
        let addr = buffer.addr.checked_add(at).ok_or(Unreachable)?;
        let map = |addr, len| port.piece(addr, len);
        let first = Pieces::new(map, addr, buffer.len - at).next();
        let Piece { addr, len } = first.ok_or(Unreachable)?;
        let last = addr.checked_add(len - 1).filter(|last| *last <= end);
        let last = last.ok_or(Unreachable)?;
        for addr in [addr, last] {
            port.load(addr, &mut [0]).map_err(|_| Unreachable)?;
        }
        at += len;
    }
    Ok(())
}

/// Copies the first bytes of a buffer.
pub(super) fn gather<P: Port>(
    port: &mut P,
    buffer: Buffer,
    into: &mut [u8],
) -> Result<(), Unreachable> {
    let mut rest = into;
    let mut addr = buffer.addr;
    while !rest.is_empty() {
        let Piece { addr: from, len } = piece(port, addr, rest.len() as u64)?;
        let (part, behind) = rest.split_at_mut(len as usize);
        port.load(from, part).map_err(|_| Unreachable)?;
        rest = behind;
        addr = addr.checked_add(len).ok_or(Unreachable)?;
    }
    Ok(())
}

/// Copies bytes to the start of a buffer.
pub(super) fn scatter<P: Port>(
    port: &mut P,
    buffer: Buffer,
    bytes: &[u8],
) -> Result<(), Unreachable> {
    let mut rest = bytes;
    let mut addr = buffer.addr;
    while !rest.is_empty() {
        let Piece { addr: to, len } = piece(port, addr, rest.len() as u64)?;
        let (part, behind) = rest.split_at(len as usize);
        port.store(to, part).map_err(|_| Unreachable)?;
        rest = behind;
        addr = addr.checked_add(len).ok_or(Unreachable)?;
    }
    Ok(())
}

/// Copies `len` bytes from physical address `from` to the process's `to`.
pub(super) fn copy_in<P: Port>(
    port: &mut P,
    from: u64,
    to: u64,
    len: u64,
) -> Result<(), Unreachable> {
    let mut at = 0;
    while at < len {
        let to = to.checked_add(at).ok_or(Unreachable)?;
        let part = piece(port, to, len - at)?;
        let copied = port.copy(from + at, part.addr, part.len);
        copied.map_err(|_| Unreachable)?;
        at += part.len;
    }
    Ok(())
}

/// Copies `len` bytes between two places of the process.
pub(super) fn copy_across<P: Port>(
    port: &mut P,
    from: u64,
    to: u64,
    len: u64,
) -> Result<(), Unreachable> {
    let mut at = 0;
    while at < len {
        let from = from.checked_add(at).ok_or(Unreachable)?;
        let part = piece(port, from, len - at)?;
        let to = to.checked_add(at).ok_or(Unreachable)?;
        copy_in(port, part.addr, to, part.len)?;
        at += part.len;
    }
    Ok(())
}
