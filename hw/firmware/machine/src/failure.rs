//! Everything that can end the run.

use multipc::fabric::{HostError, WiringError};
use multipc::mpi::boot::BootError;
use multipc::mpi::endpoint::EndpointError;
use multipc::mpi::process::MpiError;
use multipc::put::{
    AddError, AttachError, InitError, Model, PortErrorOf, SapError, ServeError, WriterError,
};

use crate::boards::Board;
use crate::check::Wrong;

type Port = PortErrorOf<Board>;

/// What went wrong.
#[derive(Debug, defmt::Format)]
pub enum Failure {
    /// The checker passed bytes that were wrong, at this offset.
    Checker {
        at: usize,
    },
    /// A page is not what was sent.
    Wrong(Wrong),
    /// A page of this length was not told of in time, at sender or receiver.
    Silent {
        length: u32,
        sent: bool,
        received: bool,
    },
    /// The drivers did not tell one event of each kind.
    Extra {
        length: u32,
    },
    /// The interrupt model without interrupts, or the polling model with any.
    Interrupts {
        model: Model,
        taken: u32,
    },
    /// An interrupt that no board asked for.
    Nobody,
    /// An interrupt came before a sleep and did not end it: the timer did.
    SleptThrough {
        line: u32,
        timer: u32,
    },
    /// A line that stayed low did not interrupt until all was told.
    Edge {
        interrupts: u32,
        sent: u32,
        received: u32,
    },
    /// More events than the queue to the main loop holds.
    Lost,
    /// The handlers have no boards.
    Absent,
    Wiring(WiringError),
    Host(HostError),
    Init(InitError<Port>),
    Sap(SapError),
    Attach(AttachError),
    Add(AddError<Port>),
    Serve(ServeError<Port>),
    Writer(WriterError),
    Boot(BootError),
    Endpoint(EndpointError),
    Collective(MpiError),
    /// A word of an allreduce is not the sum.
    Sum {
        word: u32,
        found: u32,
    },
    /// Nothing more happens, and a message of this length is not over.
    Stuck {
        length: u64,
    },
    /// A static was taken twice.
    Taken,
}

impl Failure {
    /// A page of this length was not told of so and so often in time.
    pub const fn silent(length: u32, [sent, received]: [u32; 2]) -> Self {
        Self::Silent {
            length,
            sent: sent > 0,
            received: received > 0,
        }
    }
}

macro_rules! from {
    ($($variant:ident($error:ty)),* $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        }
    )*};
}

from!(
    Wrong(Wrong),
    Wiring(WiringError),
    Host(HostError),
    Init(InitError<Port>),
    Sap(SapError),
    Attach(AttachError),
    Add(AddError<Port>),
    Serve(ServeError<Port>),
    Writer(WriterError),
    Boot(BootError),
    Endpoint(EndpointError),
    Collective(MpiError),
);
