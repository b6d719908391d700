//! Communicators: a group of ranks and a context of its own.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::Cell;
use core::future::Future;

use super::failed::Senders;
use super::request::Request;
use crate::mpi::collective::channel::Channel;
use crate::mpi::collective::engine::Engine;
use crate::mpi::collective::link::tag_of;
use crate::mpi::collective::{Algorithms, Op, owned};
use crate::mpi::process::{MpiError, Pattern, PointToPoint};
use crate::time::{Duration, Instant};

/// Communicators a process can make in its life: context ids below 2^31, two to a
/// communicator; those above are left to windows.
const MAX_CONTEXTS: u32 = 1 << 30;

struct Inner<P> {
    engine: Rc<Engine<P>>,
    /// World rank of each rank, and which of them are lost.
    senders: Senders,
    rank: u32,
    /// The number `c`: context `2c` for messages, `2c + 1` for collectives.
    number: u32,
    /// Collective operations started so far.
    sequence: Cell<u32>,
    algorithms: Cell<Algorithms>,
}

/// A group of ranks that talk among themselves.
///
/// A clone is another handle of the same communicator; [`dup`](Self::dup) makes
/// another communicator. Collective calls must be made by all ranks of a
/// communicator, in the same order.
#[doc(alias = "MPI_Comm")]
pub struct Communicator<P> {
    inner: Rc<Inner<P>>,
}

impl<P> Clone for Communicator<P> {
    fn clone(&self) -> Self {
        Self {
            inner: Rc::clone(&self.inner),
        }
    }
}

impl<P> core::fmt::Debug for Communicator<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Communicator")
            .field("number", &self.inner.number)
            .field("rank", &self.inner.rank)
            .field("ranks", &self.inner.senders.ranks)
            .finish_non_exhaustive()
    }
}

#[cfg(feature = "defmt")]
impl<P> defmt::Format for Communicator<P> {
    fn format(&self, f: defmt::Formatter<'_>) {
        let (number, rank) = (self.inner.number, self.inner.rank);
        let size = self.inner.senders.ranks.len();
        defmt::write!(
            f,
            "Communicator {{ number: {}, rank: {} of {} }}",
            number,
            rank,
            size
        );
    }
}

impl<P: PointToPoint> Communicator<P> {
    /// All ranks of the world. To be called once in a process: what it makes counts
    /// the context ids of the process.
    #[doc(alias = "MPI_COMM_WORLD")]
    pub fn world(process: P) -> Self {
        let ranks = (0..process.world_size()).collect();
        let rank = process.world_rank();
        let engine = Rc::new(Engine::new(process));
        Self::make(engine, ranks, rank, 0, Algorithms::default())
    }

    fn make(
        engine: Rc<Engine<P>>,
        ranks: Rc<[u32]>,
        rank: u32,
        number: u32,
        algorithms: Algorithms,
    ) -> Self {
        Self {
            inner: Rc::new(Inner {
                engine,
                senders: Senders::new(ranks),
                rank,
                number,
                sequence: Cell::new(0),
                algorithms: Cell::new(algorithms),
            }),
        }
    }

    /// This process's rank.
    #[doc(alias = "MPI_Comm_rank")]
    pub fn rank(&self) -> u32 {
        self.inner.rank
    }

    /// Ranks in the communicator.
    #[doc(alias = "MPI_Comm_size")]
    pub fn size(&self) -> u32 {
        self.ranks().len() as u32
    }

    /// World rank of a rank.
    #[doc(alias = "MPI_Group_translate_ranks")]
    pub fn world_rank(&self, rank: u32) -> Option<u32> {
        self.ranks().get(rank as usize).copied()
    }

    /// The process below.
    pub fn process(&self) -> &P {
        &self.inner.engine.process
    }

    /// The process's time.
    #[doc(alias = "MPI_Wtime")]
    pub fn now(&self) -> Instant {
        self.process().now()
    }

    /// Stands for computation: the process's time moves on.
    pub async fn compute(&self, time: Duration) {
        self.process().compute(time).await;
    }

    /// The algorithms of collective calls.
    pub fn algorithms(&self) -> Algorithms {
        self.inner.algorithms.get()
    }

    /// Chooses the algorithms of later collective calls on this communicator (and on
    /// those made from it later); to be called alike on all of its ranks.
    pub fn set_algorithms(&self, algorithms: Algorithms) {
        self.inner.algorithms.set(algorithms);
    }

    pub(super) fn senders(&self) -> &Senders {
        &self.inner.senders
    }

    fn ranks(&self) -> &Rc<[u32]> {
        &self.inner.senders.ranks
    }

    pub(super) fn engine(&self) -> &Rc<Engine<P>> {
        &self.inner.engine
    }

    /// Context id of messages.
    pub(super) fn context(&self) -> u32 {
        self.inner.number.wrapping_mul(2)
    }

    /// The messages of the next collective operation.
    pub(super) fn channel(&self) -> Channel<P> {
        let sequence = self.inner.sequence.get();
        self.inner.sequence.set(sequence.wrapping_add(1));
        Channel {
            process: self.process().clone(),
            ranks: Rc::clone(&self.inner.senders.ranks),
            rank: self.inner.rank as usize,
            context: self.context() | 1,
            tag: tag_of(sequence),
            testing: self.inner.engine.testing(),
        }
    }

    /// Starts a collective operation.
    pub(super) fn start<R: 'static>(
        &self,
        operation: impl Future<Output = Result<R, MpiError>> + 'static,
    ) -> Request<P, R> {
        let engine = self.engine();
        Request::operation(engine, engine.start(operation))
    }

    /// The lowest number that no rank of this communicator has used. A collective
    /// call.
    async fn next_number(&self) -> Result<u32, MpiError> {
        let engine = self.engine();
        let channel = self.channel();
        let own = engine.next_context.get();
        // Fixed algorithms: ranks agree on numbers whatever was chosen.
        let request = self.start(async move {
            let algorithms = Algorithms::default();
            owned::allreduce(&channel, &algorithms, alloc::vec![own], &Op::max()).await
        });
        let agreed = request.wait().await?;
        let number = agreed.first().copied().unwrap_or(own);
        if number >= MAX_CONTEXTS {
            return Err(MpiError::NoContext {
                limit: MAX_CONTEXTS,
            });
        }
        engine.next_context.set(number + 1);
        Ok(number)
    }

    /// Another communicator of the same ranks. A collective call.
    ///
    /// # Errors
    /// [`MpiError::NoContext`]; those of messages.
    #[doc(alias = "MPI_Comm_dup")]
    pub async fn dup(&self) -> Result<Self, MpiError> {
        let number = self.next_number().await?;
        let ranks = Rc::clone(&self.inner.senders.ranks);
        let engine = Rc::clone(self.engine());
        let algorithms = self.algorithms();
        Ok(Self::make(engine, ranks, self.rank(), number, algorithms))
    }

    /// One communicator for each colour, its ranks ordered by `key`, then by rank
    /// here. `None` for the ranks without a colour (MPI_UNDEFINED). A collective call.
    ///
    /// # Errors
    /// [`MpiError::NoContext`]; those of messages.
    #[doc(alias = "MPI_Comm_split")]
    pub async fn split(&self, color: Option<u32>, key: i32) -> Result<Option<Self>, MpiError> {
        let number = self.next_number().await?;
        let channel = self.channel();
        let own = [
            u32::from(color.is_some()),
            color.unwrap_or(0),
            key.cast_unsigned(),
        ];
        let request = self.start(async move {
            let algorithms = Algorithms::default();
            owned::allgather(&channel, &algorithms, alloc::vec![own]).await
        });
        let all = request.wait().await?;
        if color.is_none() {
            return Ok(None);
        }
        let world = self.ranks().iter().enumerate();
        let mut members: Vec<(i32, usize, u32)> = all
            .iter()
            .zip(world)
            .filter(|(theirs, _)| theirs[..2] == own[..2])
            .map(|(theirs, (rank, world))| (theirs[2].cast_signed(), rank, *world))
            .collect();
        members.sort_unstable();
        let here = self.inner.rank as usize;
        let rank = members.iter().position(|(_, rank, _)| *rank == here);
        let ranks = members.iter().map(|(_, _, world)| *world).collect();
        let engine = Rc::clone(self.engine());
        Ok(rank.map(|rank| Self::make(engine, ranks, rank as u32, number, self.algorithms())))
    }

    /// Ends the communicator. A collective call; all operations on it must be
    /// complete.
    ///
    /// # Errors
    /// [`MpiError::MessagesLeft`] when messages for this rank were never received;
    /// they are received and dropped.
    #[doc(alias = "MPI_Comm_free")]
    pub async fn free(self) -> Result<(), MpiError> {
        // After it, whatever was sent before and kept the order has arrived.
        self.barrier().await?;
        let pattern = Pattern {
            context: self.context(),
            source: None,
            tag: None,
        };
        let mut messages = 0u32;
        while let Some(status) = self.process().iprobe(pattern).await {
            let exact = Pattern {
                context: pattern.context,
                source: Some(status.source),
                tag: Some(status.tag),
            };
            let id = self.process().irecv(exact, 0)?;
            Request::message(self.engine(), id, |_| Ok(()))
                .wait()
                .await?;
            messages = messages.saturating_add(1);
        }
        match messages {
            0 => Ok(()),
            _ => Err(MpiError::MessagesLeft {
                context: pattern.context,
                messages,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::reference::{ReferenceConfig, run};

    #[test]
    fn collectives_go_on_where_tags_wrap() {
        let results = run(3, ReferenceConfig::default(), |process| async move {
            let comm = Communicator::world(process);
            comm.inner.sequence.set(0x7fff_fffe);
            let mut sum = 0;
            for _ in 0..4 {
                sum += comm.allreduce(&[1u32], &Op::sum()).await?[0];
            }
            Ok::<_, MpiError>(sum)
        });
        assert_eq!(results, Ok(alloc::vec![Ok(12); 3]));
    }

    #[test]
    fn the_last_context_is_used_and_no_other_after_it() {
        let results = run(3, ReferenceConfig::default(), |process| async move {
            let comm = Communicator::world(process);
            if comm.rank() == 1 {
                comm.engine().next_context.set(MAX_CONTEXTS - 1);
            }
            let last = comm.dup().await?;
            // Its contexts lie below those of windows.
            assert_eq!(last.context(), (1 << 31) - 2);
            assert_eq!(last.allreduce(&[1u32], &Op::sum()).await?, [3]);
            let limit = MAX_CONTEXTS;
            assert_eq!(comm.dup().await.err(), Some(MpiError::NoContext { limit }));
            Ok::<_, MpiError>(())
        });
        assert_eq!(results, Ok(alloc::vec![Ok(()); 3]));
    }
}
