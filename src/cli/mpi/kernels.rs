//! The programs that are timed: one function a micro-benchmark, over any machine.

use std::vec;
use std::vec::Vec;

use crate::mpi::api::{Blocks, Communicator, Op, waitall};
use crate::mpi::process::{MpiError, PointToPoint};

const TAG: i32 = 1;
const ANSWER: i32 = 2;

/// Longer messages are measured less often: their times hardly scatter.
pub const LONG: usize = 65_536;
/// Messages under way at a time in the bandwidth kernels.
pub const WINDOW: usize = 64;
/// The same for messages from [`LONG`] on.
pub const LONG_WINDOW: usize = 8;

/// Rounds before the clock starts.
pub const fn warm_up(bytes: usize) -> u32 {
    if bytes < LONG { 4 } else { 1 }
}

/// Messages under way at a time.
pub const fn window(bytes: usize) -> usize {
    if bytes < LONG { WINDOW } else { LONG_WINDOW }
}

/// Half of a round trip, microseconds, as rank 0 sees it.
pub async fn latency<P: PointToPoint>(
    process: P,
    bytes: usize,
    rounds: u32,
) -> Result<f64, MpiError> {
    let comm = Communicator::world(process);
    let data = vec![0u8; bytes];
    let warm_up = warm_up(bytes);
    let mut start = comm.now();
    for round in 0..warm_up + rounds {
        if round == warm_up {
            start = comm.now();
        }
        match comm.rank() {
            0 => {
                comm.send(&data, 1, TAG).await?;
                comm.recv::<u8>(bytes, 1, TAG).await?;
            }
            1 => {
                comm.recv::<u8>(bytes, 0, TAG).await?;
                comm.send(&data, 0, TAG).await?;
            }
            _ => {}
        }
    }
    Ok(comm.now().since(start).as_us_f64() / f64::from(2 * rounds.max(1)))
}

/// Microseconds a message, of windows of messages one way (or both ways at once),
/// each window answered by four bytes.
pub async fn stream<P: PointToPoint>(
    process: P,
    bytes: usize,
    windows: u32,
    both: bool,
) -> Result<f64, MpiError> {
    let comm = Communicator::world(process);
    let data = vec![0u8; bytes];
    let rank = comm.rank();
    if rank > 1 {
        return Ok(0.0);
    }
    let peer = 1 - rank;
    let mut start = comm.now();
    for turn in 0..=windows {
        // The first one is not counted.
        if turn == 1 {
            start = comm.now();
        }
        let mut receives = Vec::new();
        let mut sends = Vec::new();
        if both || rank == 1 {
            for _ in 0..window(bytes) {
                receives.push(comm.irecv::<u8>(bytes, peer, TAG)?);
            }
        }
        if both || rank == 0 {
            for _ in 0..window(bytes) {
                sends.push(comm.isend(&data, peer, TAG)?);
            }
        }
        waitall(receives).await?;
        waitall(sends).await?;
        if both {
            comm.sendrecv::<u32, u32>(&[0], peer, ANSWER, 1, peer, ANSWER)
                .await?;
        } else if rank == 0 {
            comm.recv::<u32>(1, peer, ANSWER).await?;
        } else {
            comm.send(&[0u32], peer, ANSWER).await?;
        }
    }
    let messages = windows.max(1) as usize * window(bytes) * if both { 2 } else { 1 };
    Ok(comm.now().since(start).as_us_f64() / messages as f64)
}

/// A collective operation of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Collective {
    Barrier,
    Ibarrier,
    Bcast,
    Reduce,
    Allreduce,
    Scan,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    #[value(name = "reduce_scatter")]
    ReduceScatter,
}

impl Collective {
    /// All, in the order in which they run.
    pub const ALL: [Self; 15] = [
        Self::Barrier,
        Self::Ibarrier,
        Self::Bcast,
        Self::Reduce,
        Self::Allreduce,
        Self::Scan,
        Self::Gather,
        Self::Gatherv,
        Self::Scatter,
        Self::Scatterv,
        Self::Allgather,
        Self::Allgatherv,
        Self::Alltoall,
        Self::Alltoallv,
        Self::ReduceScatter,
    ];

    /// Whether it moves data, so that there is a row for each size.
    pub const fn has_sizes(self) -> bool {
        !matches!(self, Self::Barrier | Self::Ibarrier)
    }

    /// Its name in the standard, small.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Ibarrier => "ibarrier",
            Self::Bcast => "bcast",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::Scan => "scan",
            Self::Gather => "gather",
            Self::Gatherv => "gatherv",
            Self::Scatter => "scatter",
            Self::Scatterv => "scatterv",
            Self::Allgather => "allgather",
            Self::Allgatherv => "allgatherv",
            Self::Alltoall => "alltoall",
            Self::Alltoallv => "alltoallv",
            Self::ReduceScatter => "reduce_scatter",
        }
    }
}

/// Microseconds of one call on this rank, with a barrier between calls; `bytes` is
/// the size of a message to one rank.
pub async fn collective<P: PointToPoint>(
    process: P,
    which: Collective,
    bytes: usize,
    rounds: u32,
) -> Result<f64, MpiError> {
    let comm = Communicator::world(process);
    let warm_up = warm_up(bytes);
    let mut total = 0.0;
    for round in 0..warm_up + rounds {
        comm.barrier().await?;
        let start = comm.now();
        once(&comm, which, 0, bytes).await?;
        if round >= warm_up {
            total += comm.now().since(start).as_us_f64();
        }
    }
    Ok(total / f64::from(rounds.max(1)))
}

/// One call with `bytes` to or from each rank; reductions sum 4-byte words.
pub async fn once<P: PointToPoint>(
    comm: &Communicator<P>,
    which: Collective,
    root: u32,
    bytes: usize,
) -> Result<(), MpiError> {
    let size = comm.size() as usize;
    let block = vec![0u8; bytes];
    let all = vec![0u8; bytes * size];
    let words = vec![1u32; bytes / 4];
    let counts = vec![bytes; size];
    match which {
        Collective::Barrier => comm.barrier().await,
        Collective::Ibarrier => comm.ibarrier().wait().await,
        Collective::Bcast => comm.bcast(&mut block.clone(), root).await,
        Collective::Reduce => comm.reduce(&words, &Op::sum(), root).await.map(drop),
        Collective::Allreduce => comm.allreduce(&words, &Op::sum()).await.map(drop),
        Collective::Scan => comm.scan(&words, &Op::sum()).await.map(drop),
        Collective::Gather => comm.gather(&block, root).await.map(drop),
        Collective::Gatherv => comm.gatherv(&block, &counts, root).await.map(drop),
        Collective::Scatter => comm.scatter(&all, bytes, root).await.map(drop),
        Collective::Scatterv => comm.scatterv(&all, &counts, bytes, root).await.map(drop),
        Collective::Allgather => comm.allgather(&block).await.map(drop),
        Collective::Allgatherv => comm.allgatherv(&block, &counts).await.map(drop),
        Collective::Alltoall => comm.alltoall(&all).await.map(drop),
        Collective::Alltoallv => {
            let blocks = Blocks::packed(&counts);
            comm.alltoallv(&all, &blocks, &mut all.clone(), &blocks)
                .await
        }
        Collective::ReduceScatter => {
            let counts = vec![bytes / 4; size];
            let words = vec![1u32; bytes / 4 * size];
            comm.reduce_scatter(&words, &counts, &Op::sum())
                .await
                .map(drop)
        }
    }
}
