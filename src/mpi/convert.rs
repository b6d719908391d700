//! Between the vocabulary of programs and that of the engine.

use crate::mpi::endpoint::{Buffer, EndpointError, Mode, Receipt, Recv, Send};
use crate::mpi::process::{MpiError, Outgoing, Pattern, SendMode, Status};

pub(in crate::mpi) fn send(to: &Outgoing, addr: u64, len: u64) -> Send {
    Send {
        dst: to.dst,
        context: to.context,
        src_rank: to.src_rank,
        tag: to.tag,
        internal: to.internal,
        mode: match to.mode {
            SendMode::Synchronous => Mode::Synchronous,
            SendMode::Ready => Mode::Ready,
            _ => Mode::Standard,
        },
        buffer: Buffer { addr, len },
    }
}

pub(in crate::mpi) fn receive(from: &Pattern, peer: Option<u32>, addr: u64, len: u64) -> Recv {
    Recv {
        pattern: *from,
        buffer: Buffer { addr, len },
        peer,
    }
}

pub(in crate::mpi) fn status(receipt: Receipt) -> Status {
    Status {
        source: receipt.source,
        tag: receipt.tag,
        length: receipt.length,
        total: receipt.total,
    }
}

pub(in crate::mpi) fn error(error: EndpointError) -> MpiError {
    match error {
        EndpointError::PeerClosed { peer, .. } => MpiError::PeerClosed { rank: peer },
        EndpointError::Cancelled => MpiError::Cancelled,
        EndpointError::NoRequest { limit }
        | EndpointError::PostedFull { limit }
        | EndpointError::UnexpectedFull { limit } => MpiError::Resource {
            limit: limit as u64,
        },
        EndpointError::BadBuffer { addr, len } => MpiError::Unreachable { addr, len },
        _ => MpiError::Unsupported,
    }
}
