//! Collective calls of a program, with data that tells whose it is, and what became
//! of it.

use std::vec;
use std::vec::Vec;

use bytemuck::Pod;
use crc::{CRC_64_XZ, Crc};

use super::parse::Program;
use super::run::{Report, pattern, rank};
use crate::cli::mpi::kernels::Collective;
use crate::mpi::api::{
    Algorithms, Allgather, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Blocks, Communicator,
    Op, Reduce, ReduceScatter, Rooted, Scan,
};
use crate::mpi::process::{MpiError, PointToPoint};
use crate::mpi::reference::{self, ReferenceConfig, ReferenceError};

const DIGEST: Crc<u64> = Crc::<u64>::new(&CRC_64_XZ);

/// A call and what it gave, as a check sum: no wrong byte has that of the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub which: Collective,
    digest: u64,
}

fn some<T: Pod>(result: Option<Vec<T>>) -> Vec<u8> {
    result.map_or(Vec::new(), bytes)
}

fn bytes<T: Pod>(result: Vec<T>) -> Vec<u8> {
    bytemuck::cast_slice(&result).to_vec()
}

/// One call with `bytes` to or from each rank; reductions sum 4-byte words. `number`
/// makes the data of each call another one.
pub async fn call<P: PointToPoint>(
    comm: &Communicator<P>,
    which: Collective,
    root: u32,
    length: usize,
    number: u32,
) -> Result<Call, MpiError> {
    let size = comm.size() as usize;
    let data = |length| pattern(comm.rank().wrapping_add(number.wrapping_mul(151)), length);
    let block = data(length);
    let all = data(length * size);
    let counts = vec![length; size];
    let words = |count: usize| -> Vec<u32> { bytemuck::pod_collect_to_vec(&data(4 * count)) };
    let sum = Op::sum();
    let result = match which {
        Collective::Barrier => comm.barrier().await.map(|()| Vec::new()),
        Collective::Ibarrier => comm.ibarrier().wait().await.map(|()| Vec::new()),
        Collective::Bcast => {
            let mut block = block;
            comm.bcast(&mut block, root).await.map(|()| block)
        }
        Collective::Reduce => comm.reduce(&words(length / 4), &sum, root).await.map(some),
        Collective::Allreduce => comm.allreduce(&words(length / 4), &sum).await.map(bytes),
        Collective::Scan => comm.scan(&words(length / 4), &sum).await.map(bytes),
        Collective::Gather => comm.gather(&block, root).await.map(some),
        Collective::Gatherv => comm.gatherv(&block, &counts, root).await.map(some),
        Collective::Scatter => comm.scatter(&all, length, root).await,
        Collective::Scatterv => comm.scatterv(&all, &counts, length, root).await,
        Collective::Allgather => comm.allgather(&block).await,
        Collective::Allgatherv => comm.allgatherv(&block, &counts).await,
        Collective::Alltoall => comm.alltoall(&all).await,
        Collective::Alltoallv => {
            let blocks = Blocks::packed(&counts);
            let mut to = vec![0; all.len()];
            let done = comm.alltoallv(&all, &blocks, &mut to, &blocks).await;
            done.map(|()| to)
        }
        Collective::ReduceScatter => {
            let counts = vec![length / 4; size];
            let data = words(length / 4 * size);
            comm.reduce_scatter(&data, &counts, &sum).await.map(bytes)
        }
    }?;
    let digest = DIGEST.checksum(&result);
    Ok(Call { which, digest })
}

/// Other algorithms than those that the boards run by default: what both give alike
/// is not the mistake of one of them.
fn others() -> Algorithms {
    Algorithms {
        barrier: Barrier::Tree,
        bcast: Bcast::Chain,
        reduce: Reduce::Linear,
        allreduce: Allreduce::ReduceBcast,
        scan: Scan::Linear,
        gather: Rooted::Linear,
        scatter: Rooted::Linear,
        allgather: Allgather::Linear,
        alltoall: Alltoall::Linear,
        alltoallv: Alltoallv::Linear,
        reduce_scatter: ReduceScatter::ReduceScatterv,
        ..Algorithms::default()
    }
}

/// What the collective calls of each rank have to give: the program over plain memory.
/// A rank that gives up there has none.
pub fn expected(program: &Program) -> Result<Vec<Vec<Call>>, ReferenceError> {
    let ranks = reference::run(program.ranks, ReferenceConfig::default(), |process| {
        rank(process, program.clone(), others())
    })?;
    let calls = |rank: Result<Report, _>| rank.map_or(Vec::new(), |report| report.calls);
    Ok(ranks.into_iter().map(calls).collect())
}

/// The first call whose result is not as expected: its number from 1, and which it is.
pub fn first_wrong(calls: &[Call], expected: &[Call]) -> Option<(usize, Collective)> {
    let pairs = (1..).zip(calls.iter().zip(expected));
    let wrong = pairs.into_iter().find(|(_, (call, wanted))| call != wanted);
    wrong.map(|(number, (call, _))| (number, call.which))
}
