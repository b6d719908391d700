//! The algorithms, by name, and which one is taken.

/// Barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Barrier {
    /// `ceil(log2 P)` rounds; in round `k` to the rank `2^k` above.
    #[default]
    Dissemination,
    /// Up a binomial tree to rank 0 and down again.
    Tree,
}

/// Broadcast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Bcast {
    /// By size: `Binomial` up to [`Algorithms::short_bytes`] or with fewer than 8
    /// ranks, else `ScatterAllgather`.
    #[default]
    Auto,
    /// Binomial tree, the whole message on each edge.
    Binomial,
    /// From rank to rank in segments of [`Algorithms::segment_bytes`].
    Chain,
    /// Blocks down a binomial tree, then around a ring.
    ScatterAllgather,
}

/// Reduction to a root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Reduce {
    /// Binomial tree. Operators that do not commute: to rank 0, then to the root.
    #[default]
    Binomial,
    /// All to the root, which folds from rank 0 upwards.
    Linear,
}

/// Reduction to all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Allreduce {
    /// By size: `Ring` above [`Algorithms::short_bytes`] where the operator
    /// commutes, else `RecursiveDoubling`.
    #[default]
    Auto,
    /// Exchange with the rank at distance 1, 2, 4...; ranks beyond the largest power
    /// of two are folded onto a neighbour first.
    RecursiveDoubling,
    /// Reduce-scatter, then allgather, both around a ring. Commuting operators only.
    Ring,
    /// Binomial reduction to rank 0, then binomial broadcast.
    ReduceBcast,
}

/// Prefix reductions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Scan {
    /// `ceil(log2 P)` rounds, to the rank `2^k` above.
    #[default]
    RecursiveDoubling,
    /// From rank to rank.
    Linear,
}

/// Gather and scatter (with counts: always `Linear`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Rooted {
    /// Binomial tree.
    #[default]
    Binomial,
    /// The root exchanges with each rank.
    Linear,
}

/// Gather to all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Allgather {
    /// By total size: `Bruck` up to [`Algorithms::short_bytes`], else `Ring`.
    #[default]
    Auto,
    /// `P - 1` steps; each block goes to the rank above.
    Ring,
    /// `ceil(log2 P)` rounds with doubling runs of blocks.
    Bruck,
    /// Each rank sends its block to every other.
    Linear,
    /// Linear gather to rank 0, then binomial broadcast.
    GatherBcast,
}

/// Total exchange with equal counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Alltoall {
    /// `Bruck` for 8 ranks or more and blocks up to [`Algorithms::bruck_bytes`], else
    /// `Pairwise`.
    #[default]
    Auto,
    /// Step `k`: to the rank `k` above, from the rank `k` below.
    Pairwise,
    /// Everything at once.
    Linear,
    /// `ceil(log2 P)` rounds with about half of the data each.
    Bruck,
}

/// Total exchange with counts. Empty blocks are no messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Alltoallv {
    /// Step `k`: to the rank `k` above, from the rank `k` below.
    #[default]
    Pairwise,
    /// Everything at once.
    Linear,
}

/// Reduction with the result scattered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ReduceScatter {
    /// Each rank gets its block from every other and folds from rank 0 upwards.
    #[default]
    Pairwise,
    /// Around a ring, `P - 1` steps. Commuting operators only.
    Ring,
    /// Binomial reduction to rank 0, then linear scatter.
    ReduceScatterv,
}

/// The algorithm of each operation. It must be the same on all ranks of a
/// communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Algorithms {
    /// Barrier.
    pub barrier: Barrier,
    /// Broadcast.
    pub bcast: Bcast,
    /// Reduction to a root.
    pub reduce: Reduce,
    /// Reduction to all.
    pub allreduce: Allreduce,
    /// Prefix reductions.
    pub scan: Scan,
    /// Gather.
    pub gather: Rooted,
    /// Scatter.
    pub scatter: Rooted,
    /// Gather to all, with and without counts.
    pub allgather: Allgather,
    /// Total exchange.
    pub alltoall: Alltoall,
    /// Total exchange with counts.
    pub alltoallv: Alltoallv,
    /// Reduction with the result scattered.
    pub reduce_scatter: ReduceScatter,
    /// Up to here latency counts more than bandwidth. Chosen: 4,096 bytes, which take
    /// 62 us on the link at 66 bytes a microsecond, against 15 us for a message of any
    /// length.
    pub short_bytes: usize,
    /// Segments of the chain broadcast. Chosen: 8,192 bytes, two to a control
    /// message's slot, so that segments overlap without a rendezvous.
    pub segment_bytes: usize,
    /// Largest block of the Bruck exchange. Chosen: 256 bytes; above, its `log2(P) / 2`
    /// times as many bytes cost more than the messages it saves.
    pub bruck_bytes: usize,
}

impl Algorithms {
    /// The recommended ones.
    pub(crate) const DEFAULT: Self = Self {
        barrier: Barrier::Dissemination,
        bcast: Bcast::Auto,
        reduce: Reduce::Binomial,
        allreduce: Allreduce::Auto,
        scan: Scan::RecursiveDoubling,
        gather: Rooted::Binomial,
        scatter: Rooted::Binomial,
        allgather: Allgather::Auto,
        alltoall: Alltoall::Auto,
        alltoallv: Alltoallv::Pairwise,
        reduce_scatter: ReduceScatter::Pairwise,
        short_bytes: 4_096,
        segment_bytes: 8_192,
        bruck_bytes: 256,
    };
}

impl Default for Algorithms {
    fn default() -> Self {
        Self::DEFAULT
    }
}
