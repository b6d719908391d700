//! Total exchange, with and without counts.

use bytemuck::Pod;

use super::algorithms::{Algorithms, Alltoall, Alltoallv};
use super::cut::Cut;
use super::link::{
    Link, List, Receiving, bytes_of, check_count, check_room, part, part_mut, place,
};
use super::tree;
use crate::mpi::process::MpiError;

/// What `Auto` means for blocks of so many elements.
pub(crate) fn choose<T>(algorithms: &Algorithms, each: usize, size: usize) -> Alltoall {
    let short = each.saturating_mul(size_of::<T>()) <= algorithms.bruck_bytes;
    match algorithms.alltoall {
        Alltoall::Auto if size >= 8 && short => Alltoall::Bruck,
        Alltoall::Auto => Alltoall::Pairwise,
        chosen => chosen,
    }
}

/// Elements of room that a rank needs for blocks of `each`.
pub(crate) fn room(chosen: Alltoall, size: usize, each: usize) -> usize {
    match chosen {
        // So many ways, at most, have a given bit set.
        Alltoall::Bruck => (size / 2).saturating_mul(each),
        _ => 0,
    }
}

/// Block `j` of `data` to rank `j`; the blocks for this rank in rank order in `out`. In
/// `work` there must be [`room`].
pub(crate) async fn alltoall<L: Link, T: Pod>(
    link: &L,
    algorithms: &Algorithms,
    data: &[T],
    out: &mut [T],
    work: &mut [T],
) -> Result<(), MpiError> {
    let size = link.size();
    let each = data.len() / size.max(1);
    check_count(data.len(), each * size)?;
    check_count(out.len(), data.len())?;
    bytes_of::<T>(each)?;
    let chosen = choose::<T>(algorithms, each, size);
    check_room(work.len(), room(chosen, size, each))?;
    let cut = Cut::same(each, size)?;
    match chosen {
        Alltoall::Auto | Alltoall::Pairwise => pairwise(link, data, cut, out, cut).await,
        Alltoall::Linear => linear(link, data, cut, out, cut).await,
        Alltoall::Bruck => bruck(link, data, each, out, work).await,
    }
}

/// The received blocks where `to` wants them; elements of no block stay as they are.
pub(crate) async fn alltoallv<L: Link, T: Pod>(
    link: &L,
    algorithm: Alltoallv,
    data: &[T],
    from: Cut<'_>,
    out: &mut [T],
    to: Cut<'_>,
) -> Result<(), MpiError> {
    check_count(from.parts(), link.size())?;
    check_count(to.parts(), link.size())?;
    bytes_of::<T>(to.end())?;
    check_room(data.len(), from.end())?;
    check_room(out.len(), to.end())?;
    match algorithm {
        Alltoallv::Pairwise => pairwise(link, data, from, out, to).await,
        Alltoallv::Linear => linear(link, data, from, out, to).await,
    }
}

/// Own block of `from` to own place in `to`.
fn own<L: Link, T: Pod>(
    link: &L,
    data: &[T],
    from: Cut<'_>,
    out: &mut [T],
    to: Cut<'_>,
) -> Result<(), MpiError> {
    let (start, count) = from.run(link.rank());
    let (there, wanted) = to.run(link.rank());
    check_count(count, wanted)?;
    place(out, there, part(data, start, count)?)?;
    link.copied::<T>(count);
    Ok(())
}

async fn pairwise<L: Link, T: Pod>(
    link: &L,
    data: &[T],
    from: Cut<'_>,
    out: &mut [T],
    to: Cut<'_>,
) -> Result<(), MpiError> {
    own(link, data, from, out, to)?;
    for step in 1..link.size() {
        let (up, down) = (link.above(step), link.below(step));
        let (start, count) = from.run(up);
        let (there, wanted) = to.run(down);
        let sent = part(data, start, count)?;
        let room = part_mut(out, there, wanted)?;
        link.exchange_some(up, sent, down, room).await?;
    }
    Ok(())
}

async fn linear<L: Link, T: Pod>(
    link: &L,
    data: &[T],
    from: Cut<'_>,
    out: &mut [T],
    to: Cut<'_>,
) -> Result<(), MpiError> {
    let mut receives = L::List::default();
    for step in 1..link.size() {
        let rank = link.below(step);
        let wanted = to.count(rank);
        if wanted > 0 {
            receives.add((rank, link.irecv::<T>(rank, wanted)?))?;
        }
    }
    let mut sends = L::List::default();
    for step in 1..link.size() {
        let rank = link.above(step);
        let (start, count) = from.run(rank);
        if count > 0 {
            sends.add(link.isend(rank, part(data, start, count)?)?)?;
        }
    }
    own(link, data, from, out, to)?;
    for (rank, receive) in receives {
        let (start, count) = to.run(rank);
        receive.fill(part_mut(out, start, count)?).await?;
    }
    L::all_sent(sends).await
}

/// In the round of distance `d`, every block whose way has bit `d` set goes `d` ranks
/// up; after the last round each is where it belongs.
async fn bruck<L: Link, T: Pod>(
    link: &L,
    data: &[T],
    each: usize,
    out: &mut [T],
    packed: &mut [T],
) -> Result<(), MpiError> {
    let size = link.size();
    // Slot `way` starts with the block for the rank `way` above.
    for way in 0..size {
        place(out, way * each, part(data, link.above(way) * each, each)?)?;
    }
    link.copied::<T>(data.len());
    for distance in tree::distances(size) {
        let moving = (0..size).filter(|way| way & distance != 0);
        let mut length = 0;
        for way in moving.clone() {
            place(packed, length, part(out, way * each, each)?)?;
            length += each;
        }
        link.copied::<T>(length);
        let (to, from) = (link.above(distance), link.below(distance));
        let run = (0, length);
        link.exchange_within(packed, to, run, from, run).await?;
        for (i, way) in moving.enumerate() {
            place(out, way * each, part(packed, i * each, each)?)?;
        }
        link.copied::<T>(length);
    }
    // Slot `way` now holds what came from the rank `way` below: the blocks are turned
    // around, then on to their places.
    if each > 0 {
        out.reverse();
        out.chunks_mut(each).for_each(<[T]>::reverse);
        out.rotate_right((link.rank() + 1) % size * each);
    }
    link.copied::<T>(data.len());
    Ok(())
}
