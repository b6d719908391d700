//! Total exchange, with and without counts.

use alloc::vec::Vec;

use bytemuck::Pod;

use super::algorithms::{Algorithms, Alltoall, Alltoallv};
use super::channel::{Channel, bytes_of, check_count, part, place};
use super::tree;
use crate::mpi::process::{MpiError, PointToPoint};

/// Where the block of each rank lies in a buffer, in elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    /// Elements of each rank's block.
    pub counts: Vec<usize>,
    /// First element of each rank's block; not looked at where the count is 0.
    pub displacements: Vec<usize>,
}

#[cfg(feature = "defmt")]
impl defmt::Format for Blocks {
    fn format(&self, f: defmt::Formatter<'_>) {
        let (counts, displacements) = (self.counts.as_slice(), self.displacements.as_slice());
        defmt::write!(f, "Blocks {{ {} at {} }}", counts, displacements);
    }
}

impl Blocks {
    /// Blocks one behind the other.
    pub fn packed(counts: &[usize]) -> Self {
        let starts = counts.iter().scan(0usize, |sum, count| {
            let start = *sum;
            *sum = sum.saturating_add(*count);
            Some(start)
        });
        Self {
            counts: counts.to_vec(),
            displacements: starts.collect(),
        }
    }

    /// One past the last element of any block.
    pub fn end(&self) -> usize {
        let ends = self.counts.iter().zip(&self.displacements);
        let ends = ends.filter(|(count, _)| **count > 0);
        ends.map(|(count, start)| start.saturating_add(*count))
            .max()
            .unwrap_or(0)
    }

    fn check(&self, size: usize) -> Result<(), MpiError> {
        check_count(self.counts.len(), size)?;
        check_count(self.displacements.len(), size)
    }

    fn block(&self, rank: usize) -> (usize, usize) {
        let count = self.counts.get(rank).copied().unwrap_or(0);
        let start = self.displacements.get(rank).copied().unwrap_or(0);
        (if count == 0 { 0 } else { start }, count)
    }

    /// The elements two blocks share, if any do.
    pub(crate) fn overlap(&self) -> Option<usize> {
        let blocks = self.displacements.iter().zip(&self.counts);
        let mut used: Vec<(usize, usize)> = blocks
            .filter(|(_, count)| **count > 0)
            .map(|(start, count)| (*start, start.saturating_add(*count)))
            .collect();
        used.sort_unstable();
        used.windows(2).find_map(|pair| match pair {
            [(_, end), (start, _)] if start < end => Some(*start),
            _ => None,
        })
    }
}

/// Block `j` of `data` to rank `j`; the blocks for this rank in rank order.
pub(crate) async fn alltoall<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithms: &Algorithms,
    data: Vec<T>,
) -> Result<Vec<T>, MpiError> {
    let size = channel.size();
    let count = data.len() / size.max(1);
    check_count(data.len(), count * size)?;
    let bytes = bytes_of::<T>(count)?;
    let blocks = Blocks::packed(&alloc::vec![count; size]);
    match algorithms.alltoall {
        Alltoall::Auto if size >= 8 && bytes <= algorithms.bruck_bytes => {
            bruck(channel, &data, count).await
        }
        Alltoall::Auto | Alltoall::Pairwise => pairwise(channel, &data, &blocks, &blocks).await,
        Alltoall::Linear => linear(channel, &data, &blocks, &blocks).await,
        Alltoall::Bruck => bruck(channel, &data, count).await,
    }
}

/// The received blocks where `to` wants them; elements of no block are zero.
pub(crate) async fn alltoallv<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    algorithm: Alltoallv,
    data: Vec<T>,
    from: &Blocks,
    to: &Blocks,
) -> Result<Vec<T>, MpiError> {
    from.check(channel.size())?;
    to.check(channel.size())?;
    bytes_of::<T>(to.end())?;
    match algorithm {
        Alltoallv::Pairwise => pairwise(channel, &data, from, to).await,
        Alltoallv::Linear => linear(channel, &data, from, to).await,
    }
}

/// Own block of `from` to own place in `to`.
fn own<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: &[T],
    from: &Blocks,
    to: &Blocks,
    out: &mut [T],
) -> Result<(), MpiError> {
    let (start, count) = from.block(channel.rank);
    let (there, wanted) = to.block(channel.rank);
    check_count(count, wanted)?;
    place(out, there, part(data, start, count)?)?;
    channel.copied::<T>(count);
    Ok(())
}

async fn pairwise<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: &[T],
    from: &Blocks,
    to: &Blocks,
) -> Result<Vec<T>, MpiError> {
    let mut out = alloc::vec![T::zeroed(); to.end()];
    own(channel, data, from, to, &mut out)?;
    for step in 1..channel.size() {
        let (up, down) = (channel.above(step), channel.below(step));
        let (start, count) = from.block(up);
        let (there, wanted) = to.block(down);
        let sent = part(data, start, count)?;
        let received = channel.exchange_some(up, sent, down, wanted).await?;
        place(&mut out, there, &received)?;
    }
    Ok(out)
}

async fn linear<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: &[T],
    from: &Blocks,
    to: &Blocks,
) -> Result<Vec<T>, MpiError> {
    let mut out = alloc::vec![T::zeroed(); to.end()];
    let mut receives = Vec::new();
    let mut sends = Vec::new();
    for step in 1..channel.size() {
        let rank = channel.below(step);
        let (there, wanted) = to.block(rank);
        if wanted > 0 {
            receives.push((there, channel.irecv(rank, wanted)?));
        }
    }
    for step in 1..channel.size() {
        let rank = channel.above(step);
        let (start, count) = from.block(rank);
        if count > 0 {
            sends.push(channel.isend(rank, part(data, start, count)?)?);
        }
    }
    own(channel, data, from, to, &mut out)?;
    for (there, receive) in receives {
        place(&mut out, there, &receive.done().await?)?;
    }
    Channel::all_sent(sends).await?;
    Ok(out)
}

/// In the round of distance `d`, every block whose way has bit `d` set goes `d` ranks
/// up; after the last round each is where it belongs.
async fn bruck<P: PointToPoint, T: Pod>(
    channel: &Channel<P>,
    data: &[T],
    count: usize,
) -> Result<Vec<T>, MpiError> {
    let size = channel.size();
    // Slot `way` starts with the block for the rank `way` above.
    let mut slots: Vec<Vec<T>> = Vec::with_capacity(size);
    for way in 0..size {
        slots.push(part(data, channel.above(way) * count, count)?.to_vec());
    }
    channel.copied::<T>(data.len());
    for distance in tree::distances(size) {
        let moving = (0..size).filter(|way| way & distance != 0);
        let mut packed = Vec::new();
        for way in moving.clone() {
            if let Some(slot) = slots.get(way) {
                packed.extend_from_slice(slot);
            }
        }
        channel.copied::<T>(packed.len());
        let (to, from) = (channel.above(distance), channel.below(distance));
        let length = packed.len();
        let received = channel.exchange_some(to, &packed, from, length).await?;
        for (i, way) in moving.enumerate() {
            if let Some(slot) = slots.get_mut(way) {
                *slot = part(&received, i * count, count)?.to_vec();
            }
        }
        channel.copied::<T>(length);
    }
    // Slot `way` now holds what came from the rank `way` below.
    let mut out = alloc::vec![T::zeroed(); data.len()];
    for (way, slot) in slots.iter().enumerate() {
        place(&mut out, channel.below(way) * count, slot)?;
    }
    channel.copied::<T>(data.len());
    Ok(out)
}
