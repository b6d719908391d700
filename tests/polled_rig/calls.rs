//! One of each collective call: over a courier, with allocated data, and serially.

use multipc::mpi::api::Communicator;
use multipc::mpi::collective::{
    Algorithms, Allgather, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Blocks, FixedOp, Op,
    Reduce, ReduceScatter, Rooted, Scan,
};
use multipc::mpi::process::{MpiError, PointToPoint};

use super::Team;

/// An affine map of wrapping integers: x becomes `[0] x + [1]`.
pub type E = [u32; 2];

pub const ZERO: E = [0; 2];

/// First the left map, then the right one: associative, and not commutative.
pub fn then(left: &E, right: &E) -> E {
    let [a, b] = *left;
    let [c, d] = *right;
    [a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d)]
}

pub fn both(left: &E, right: &E) -> E {
    [left[0].wrapping_add(right[0]), left[1] ^ right[1]]
}

#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub size: usize,
    pub count: usize,
    pub root: usize,
    pub algorithms: Algorithms,
}

/// What a call gave, by name; nothing where it gives nothing.
pub type Given = Vec<(&'static str, Vec<E>)>;

/// The `n`th of each operation's algorithms.
pub fn algorithms(n: usize) -> Algorithms {
    fn pick<A: Copy>(n: usize, of: &[A]) -> A {
        of[n % of.len()]
    }
    let mut a = Algorithms::default();
    a.barrier = pick(n, &[Barrier::Dissemination, Barrier::Tree]);
    a.bcast = pick(
        n,
        &[
            Bcast::Auto,
            Bcast::Binomial,
            Bcast::Chain,
            Bcast::ScatterAllgather,
        ],
    );
    a.reduce = pick(n, &[Reduce::Binomial, Reduce::Linear]);
    a.allreduce = pick(
        n,
        &[
            Allreduce::Auto,
            Allreduce::RecursiveDoubling,
            Allreduce::ReduceBcast,
            Allreduce::Ring,
        ],
    );
    a.scan = pick(n, &[Scan::RecursiveDoubling, Scan::Linear]);
    a.gather = pick(n, &[Rooted::Binomial, Rooted::Linear]);
    a.scatter = pick(n, &[Rooted::Binomial, Rooted::Linear]);
    a.allgather = pick(
        n,
        &[
            Allgather::Auto,
            Allgather::Ring,
            Allgather::Bruck,
            Allgather::Linear,
            Allgather::GatherBcast,
        ],
    );
    a.alltoall = pick(
        n,
        &[
            Alltoall::Auto,
            Alltoall::Pairwise,
            Alltoall::Linear,
            Alltoall::Bruck,
        ],
    );
    a.alltoallv = pick(n, &[Alltoallv::Pairwise, Alltoallv::Linear]);
    a.reduce_scatter = pick(
        n,
        &[
            ReduceScatter::Pairwise,
            ReduceScatter::ReduceScatterv,
            ReduceScatter::Ring,
        ],
    );
    // Small, so that short and long occur, and chains have a few segments.
    a.short_bytes = 256;
    a.segment_bytes = 160;
    a.bruck_bytes = 64;
    a
}

pub fn data(rank: usize, salt: u32, count: usize) -> Vec<E> {
    let element = |i: usize| {
        let x = (rank as u32 * 7919 + i as u32 * 31 + salt * 1009 + 1).wrapping_mul(0x9e37_79b9);
        [x | 1, x >> 7]
    };
    (0..count).map(element).collect()
}

impl Case {
    /// Elements of a rank's block, some of them none.
    fn counts(&self) -> Vec<usize> {
        let count = |rank| (self.count + rank * 5 + 1) % 4 * self.count.min(9) / 2;
        (0..self.size).map(count).collect()
    }

    /// What rank `a` sends to rank `b`.
    fn pair(&self, a: usize, b: usize) -> usize {
        (a * 3 + b * 5 + self.count) % 4
    }

    fn ring(&self) -> bool {
        self.algorithms.allreduce == Allreduce::Ring
    }

    fn scatter_ring(&self) -> bool {
        self.algorithms.reduce_scatter == ReduceScatter::Ring
    }

    /// Of all ranks, in their order.
    fn fold(&self, ranks: std::ops::Range<usize>, count: usize, ordered: bool) -> Vec<E> {
        let op = if ordered { then } else { both };
        let all = ranks.map(|rank| data(rank, 2, count));
        all.reduce(|a, b| a.iter().zip(&b).map(|(a, b)| op(a, b)).collect())
            .unwrap_or_else(|| vec![ZERO; count])
    }

    pub fn expected(&self, rank: usize) -> Given {
        let Self {
            size, count, root, ..
        } = *self;
        let here = |v: Vec<E>| if rank == root { v } else { Vec::new() };
        let counts = self.counts();
        let mut given: Given = vec![
            ("bcast", data(root, 1, count)),
            ("reduce", here(self.fold(0..size, count, true))),
            ("reduce, commuting", here(self.fold(0..size, count, false))),
            ("allreduce", self.fold(0..size, count, !self.ring())),
            ("allreduce, commuting", self.fold(0..size, count, false)),
            ("scan", self.fold(0..rank + 1, count, true)),
            ("exscan", self.fold(0..rank, count, true)),
        ];
        let all = |each: &dyn Fn(usize) -> Vec<E>| (0..size).flat_map(each).collect::<Vec<E>>();
        given.push(("gather", here(all(&|r| data(r, 3, count)))));
        given.push(("gatherv", here(all(&|r| data(r, 4, counts[r])))));
        let total = data(root, 5, count * size);
        given.push(("scatter", total[rank * count..][..count].to_vec()));
        let total = data(root, 6, counts.iter().sum());
        let start: usize = counts[..rank].iter().sum();
        given.push(("scatterv", total[start..][..counts[rank]].to_vec()));
        given.push(("allgather", all(&|r| data(r, 7, count))));
        given.push(("allgatherv", all(&|r| data(r, 8, counts[r]))));
        let block = |r: usize| data(r, 9, count * size)[rank * count..][..count].to_vec();
        given.push(("alltoall", all(&block)));
        let block = |r: usize| {
            let start: usize = (0..rank).map(|to| self.pair(r, to)).sum();
            let length: usize = (0..size).map(|to| self.pair(r, to)).sum();
            data(r, 10, length)[start..][..self.pair(r, rank)].to_vec()
        };
        given.push(("alltoallv", all(&block)));
        let sum = self.fold(0..size, counts.iter().sum(), !self.scatter_ring());
        given.push((
            "reduce_scatter",
            sum[start_of(&counts, rank)..][..counts[rank]].to_vec(),
        ));
        given
    }

    pub async fn polled(&self, team: &Team<'_, '_>) -> Result<Given, MpiError> {
        let Self {
            size, count, root, ..
        } = *self;
        team.set_algorithms(self.algorithms);
        let rank = team.rank() as usize;
        let counts = self.counts();
        let (ordered, commuting) = (FixedOp::ordered(then), FixedOp::commutative(both));
        let at_root = rank == root;
        let here = |v: Vec<E>| if at_root { v } else { Vec::new() };
        let to = root as u32;
        let mut given: Given = Vec::new();

        team.barrier().await?;
        let mut buffer = match at_root {
            true => data(root, 1, count),
            false => vec![ZERO; count],
        };
        team.bcast(&mut buffer, to).await?;
        given.push(("bcast", buffer));
        let mut work = vec![ZERO; team.reduce_room(count, to)?];
        let mut sum = data(rank, 2, count);
        team.reduce(&mut sum, &ordered, to, &mut work).await?;
        given.push(("reduce", here(sum)));
        let mut sum = data(rank, 2, count);
        team.reduce(&mut sum, &commuting, to, &mut work).await?;
        given.push(("reduce, commuting", here(sum)));
        let mut work = vec![ZERO; count];
        let mut sum = data(rank, 2, count);
        let op = if self.ring() { &commuting } else { &ordered };
        team.allreduce(&mut sum, op, &mut work).await?;
        given.push(("allreduce", sum));
        let mut sum = data(rank, 2, count);
        team.allreduce(&mut sum, &commuting, &mut work).await?;
        given.push(("allreduce, commuting", sum));
        let mut sum = data(rank, 2, count);
        team.scan(&mut sum, &ordered, &mut work).await?;
        given.push(("scan", sum));
        let (mut with, mut below) = (data(rank, 2, count), vec![ZERO; count]);
        team.exscan(&mut with, &mut below, &ordered, &mut work)
            .await?;
        given.push(("exscan", below));
        let mut all = vec![ZERO; team.gather_room(count, to)?];
        team.gather(&data(rank, 3, count), &mut all, to).await?;
        given.push(("gather", here(all)));
        let total: usize = counts.iter().sum();
        let mut all = here(vec![ZERO; total]);
        let own = data(rank, 4, counts[rank]);
        team.gatherv(&own, &mut all, &counts, to).await?;
        given.push(("gatherv", all));
        let mut own = vec![ZERO; count];
        let mut work = vec![ZERO; team.scatter_room(count, to)?];
        team.scatter(&here(data(root, 5, count * size)), &mut own, to, &mut work)
            .await?;
        given.push(("scatter", own));
        let mut own = vec![ZERO; counts[rank]];
        team.scatterv(&here(data(root, 6, total)), &counts, &mut own, to)
            .await?;
        given.push(("scatterv", own));
        let mut all = vec![ZERO; count * size];
        team.allgather(&data(rank, 7, count), &mut all).await?;
        given.push(("allgather", all));
        let mut all = vec![ZERO; total];
        team.allgatherv(&data(rank, 8, counts[rank]), &mut all, &counts)
            .await?;
        given.push(("allgatherv", all));
        let mut out = vec![ZERO; count * size];
        let mut work = vec![ZERO; team.alltoall_room::<E>(count)];
        team.alltoall(&data(rank, 9, count * size), &mut out, &mut work)
            .await?;
        given.push(("alltoall", out));
        let sent: Vec<usize> = (0..size).map(|to| self.pair(rank, to)).collect();
        let wanted: Vec<usize> = (0..size).map(|from| self.pair(from, rank)).collect();
        let mut out = vec![ZERO; wanted.iter().sum()];
        let mine = data(rank, 10, sent.iter().sum());
        team.alltoallv(&mine, &sent, &mut out, &wanted).await?;
        given.push(("alltoallv", out));
        let op = if self.scatter_ring() {
            &commuting
        } else {
            &ordered
        };
        let (mut mine, mut own) = (data(rank, 2, total), vec![ZERO; counts[rank]]);
        let mut work = vec![ZERO; team.reduce_scatter_room(&counts)?];
        team.reduce_scatter(&mut mine, &counts, op, &mut own, &mut work)
            .await?;
        given.push(("reduce_scatter", own));
        Ok(given)
    }

    pub async fn owned<P: PointToPoint>(self, comm: Communicator<P>) -> Result<Given, MpiError> {
        let Self {
            size, count, root, ..
        } = self;
        comm.set_algorithms(self.algorithms);
        let rank = comm.rank() as usize;
        let counts = self.counts();
        let (ordered, commuting) = (Op::ordered(then), Op::commutative(both));
        let to = root as u32;
        let total: usize = counts.iter().sum();
        let mut given: Given = Vec::new();

        comm.barrier().await?;
        let mut buffer = match rank == root {
            true => data(root, 1, count),
            false => vec![ZERO; count],
        };
        comm.bcast(&mut buffer, to).await?;
        given.push(("bcast", buffer));
        let mine = data(rank, 2, count);
        let sum = comm.reduce(&mine, &ordered, to).await?;
        given.push(("reduce", sum.unwrap_or_default()));
        let sum = comm.reduce(&mine, &commuting, to).await?;
        given.push(("reduce, commuting", sum.unwrap_or_default()));
        let op = if self.ring() { &commuting } else { &ordered };
        given.push(("allreduce", comm.allreduce(&mine, op).await?));
        let sum = comm.allreduce(&mine, &commuting).await?;
        given.push(("allreduce, commuting", sum));
        given.push(("scan", comm.scan(&mine, &ordered).await?));
        let below = comm.exscan(&mine, &ordered).await?;
        given.push(("exscan", below.unwrap_or(vec![ZERO; count])));
        let all = comm.gather(&data(rank, 3, count), to).await?;
        given.push(("gather", all.unwrap_or_default()));
        let mine = data(rank, 4, counts[rank]);
        let all = comm.gatherv(&mine, &counts, to).await?;
        given.push(("gatherv", all.unwrap_or_default()));
        let whole = data(root, 5, count * size);
        given.push(("scatter", comm.scatter(&whole, count, to).await?));
        let whole = data(root, 6, total);
        let own = comm.scatterv(&whole, &counts, counts[rank], to).await?;
        given.push(("scatterv", own));
        let all = comm.allgather(&data(rank, 7, count)).await?;
        given.push(("allgather", all));
        let mine = data(rank, 8, counts[rank]);
        let all = comm.allgatherv(&mine, &counts).await?;
        given.push(("allgatherv", all));
        let out = comm.alltoall(&data(rank, 9, count * size)).await?;
        given.push(("alltoall", out));
        let sent: Vec<usize> = (0..size).map(|to| self.pair(rank, to)).collect();
        let wanted: Vec<usize> = (0..size).map(|from| self.pair(from, rank)).collect();
        let mut out = vec![ZERO; wanted.iter().sum()];
        let (sent, wanted) = (Blocks::packed(&sent), Blocks::packed(&wanted));
        let mine = data(rank, 10, sent.end());
        comm.alltoallv(&mine, &sent, &mut out, &wanted).await?;
        given.push(("alltoallv", out));
        let op = if self.scatter_ring() {
            &commuting
        } else {
            &ordered
        };
        let mine = data(rank, 2, total);
        let own = comm.reduce_scatter(&mine, &counts, op).await?;
        given.push(("reduce_scatter", own));
        Ok(given)
    }
}

fn start_of(counts: &[usize], rank: usize) -> usize {
    counts[..rank].iter().sum()
}
