//! The two queues.

use managed::ManagedSlice;

use super::table::{PostedCell, Table, UnexpectedCell};
use super::{Envelope, MatchError, Pattern};

/// Names an entry of a queue; never that of another entry, however often the
/// cell is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Handle {
    index: u32,
    sequence: u64,
}

/// What became of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Posted<P, U> {
    /// It waits.
    Waits(Handle),
    /// It took a message that had been waiting.
    Matched {
        /// The receive.
        receive: P,
        /// The message's envelope.
        envelope: Envelope,
        /// The message.
        message: U,
    },
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Arrived<P, U> {
    /// No receive matches: it waits.
    Unexpected(Handle),
    /// It went to a receive that had been waiting.
    Matched {
        /// The message.
        message: U,
        /// What the receive named.
        pattern: Pattern,
        /// The receive.
        receive: P,
    },
}

/// The queues of posted receives and of unexpected messages of one process.
///
/// `P` is what the caller knows a receive by, `U` what it knows a message by;
/// both are meant to be small, such as the index of a request.
///
/// ```
/// use multipc::mpi::matching::{
///     Arrived, Envelope, Matcher, Pattern, PostedCell, UnexpectedCell,
/// };
///
/// let mut posted = [PostedCell::EMPTY; 4];
/// let mut unexpected = [UnexpectedCell::EMPTY; 4];
/// let mut matcher = Matcher::new(&mut posted[..], &mut unexpected[..]);
/// let from_anyone = Pattern { context: 0, source: None, tag: Some(7) };
/// matcher.post(from_anyone, "receive")?;
/// let envelope = Envelope { context: 0, source: 3, tag: 7 };
/// let Arrived::Matched { receive, .. } = matcher.arrive(envelope, "message")? else {
///     panic!("a receive was waiting");
/// };
/// assert_eq!(receive, "receive");
/// # Ok::<(), multipc::mpi::matching::MatchError>(())
/// ```
#[derive(Debug)]
pub struct Matcher<'s, P, U> {
    posted: Table<'s, Pattern, P, 1>,
    unexpected: Table<'s, Envelope, U, 4>,
    /// Posted receives of each wildcard class: most arrivals need not look for
    /// wildcards.
    classes: [usize; 4],
    sequence: u64,
}

impl<'s, P, U> Matcher<'s, P, U> {
    /// Two empty queues; what the cells held is dropped.
    pub fn new(
        posted: impl Into<ManagedSlice<'s, PostedCell<P>>>,
        unexpected: impl Into<ManagedSlice<'s, UnexpectedCell<U>>>,
    ) -> Self {
        Self {
            posted: Table::new(posted.into()),
            unexpected: Table::new(unexpected.into()),
            classes: [0; 4],
            sequence: 0,
        }
    }

    /// Posts a receive: it takes the earliest waiting message that matches, or
    /// waits behind all others.
    ///
    /// # Errors
    /// [`MatchError::PostedFull`], when it would have to wait.
    pub fn post(&mut self, pattern: Pattern, receive: P) -> Result<Posted<P, U>, MatchError> {
        if let Some((envelope, message)) = self.take(&pattern) {
            return Ok(Posted::Matched {
                receive,
                envelope,
                message,
            });
        }
        let sequence = self.next_sequence();
        let Some(index) = self.posted.insert(pattern, receive, sequence) else {
            return Err(MatchError::PostedFull {
                capacity: self.posted.capacity(),
            });
        };
        if let Some(count) = self.classes.get_mut(pattern.class()) {
            *count += 1;
        }
        Ok(Posted::Waits(Handle { index, sequence }))
    }

    /// A message is here: it goes to the earliest posted receive that matches,
    /// or waits behind all others.
    ///
    /// # Errors
    /// [`MatchError::UnexpectedFull`], when it would have to wait.
    pub fn arrive(&mut self, envelope: Envelope, message: U) -> Result<Arrived<P, U>, MatchError> {
        if let Some((index, sequence)) = self.find_posted(&envelope)
            && let Some((pattern, receive)) = self.remove_posted(index, sequence)
        {
            return Ok(Arrived::Matched {
                message,
                pattern,
                receive,
            });
        }
        let sequence = self.next_sequence();
        match self.unexpected.insert(envelope, message, sequence) {
            Some(index) => Ok(Arrived::Unexpected(Handle { index, sequence })),
            None => Err(MatchError::UnexpectedFull {
                capacity: self.unexpected.capacity(),
            }),
        }
    }

    /// Whether an arriving message would go to a receive at once, and to which.
    #[must_use]
    pub fn would_match(&self, envelope: &Envelope) -> Option<(&Pattern, &P)> {
        let (index, sequence) = self.find_posted(envelope)?;
        self.posted.get(index, sequence).map(|(p, r)| (p, r))
    }

    /// The message that a receive of this pattern would take; it stays.
    #[must_use]
    pub fn probe(&self, pattern: &Pattern) -> Option<(&Envelope, &U)> {
        let (index, sequence) = self.unexpected.find(pattern)?;
        self.unexpected.get(index, sequence).map(|(e, m)| (e, m))
    }

    /// Takes the message that a receive of this pattern would take (a matched
    /// probe).
    pub fn take(&mut self, pattern: &Pattern) -> Option<(Envelope, U)> {
        let (index, sequence) = self.unexpected.find(pattern)?;
        self.unexpected.remove(index, sequence)
    }

    /// Takes a receive back. `None` when it is matched (or was cancelled): too
    /// late.
    pub fn cancel(&mut self, handle: Handle) -> Option<P> {
        let (_, receive) = self.remove_posted(handle.index, handle.sequence)?;
        Some(receive)
    }

    /// A message that still waits.
    pub fn unexpected_mut(&mut self, handle: Handle) -> Option<&mut U> {
        self.unexpected.get_mut(handle.index, handle.sequence)
    }

    /// Takes a message that still waits out of the queue, whatever its place.
    pub fn discard(&mut self, handle: Handle) -> Option<(Envelope, U)> {
        self.unexpected.remove(handle.index, handle.sequence)
    }

    /// The receives that wait, in no order of time (the same in each run).
    pub fn posted(&self) -> impl Iterator<Item = (Handle, &Pattern, &P)> {
        let named =
            |(index, sequence, pattern, receive)| (Handle { index, sequence }, pattern, receive);
        self.posted.iter().map(named)
    }

    /// The messages that wait, in no order of time (the same in each run).
    pub fn unexpected(&self) -> impl Iterator<Item = (Handle, &Envelope, &U)> {
        let named =
            |(index, sequence, envelope, message)| (Handle { index, sequence }, envelope, message);
        self.unexpected.iter().map(named)
    }

    /// Receives that wait.
    #[must_use]
    pub fn posted_len(&self) -> usize {
        self.posted.len()
    }

    /// Messages that wait.
    #[must_use]
    pub fn unexpected_len(&self) -> usize {
        self.unexpected.len()
    }

    /// Receives that may yet be posted without a match.
    #[must_use]
    pub fn posted_room(&self) -> usize {
        self.posted.capacity() - self.posted.len()
    }

    /// Messages that may yet arrive without a match.
    #[must_use]
    pub fn unexpected_room(&self) -> usize {
        self.unexpected.capacity() - self.unexpected.len()
    }

    /// The earliest of the heads of four chains.
    fn find_posted(&self, envelope: &Envelope) -> Option<(u32, u64)> {
        let classes = self.classes.iter().enumerate();
        classes
            .filter(|(_, count)| **count > 0)
            .filter_map(|(class, _)| self.posted.find(&envelope.pattern(class)?))
            .min_by_key(|(_, sequence)| *sequence)
    }

    fn remove_posted(&mut self, index: u32, sequence: u64) -> Option<(Pattern, P)> {
        let (pattern, receive) = self.posted.remove(index, sequence)?;
        if let Some(count) = self.classes.get_mut(pattern.class()) {
            *count -= 1;
        }
        Some((pattern, receive))
    }

    fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }
}

#[cfg(feature = "alloc")]
impl<P, U> Matcher<'static, P, U> {
    /// Two queues of these capacities in storage of their own.
    #[must_use]
    pub fn owned(posted: usize, unexpected: usize) -> Self {
        use super::table::Cell;

        fn cells<K, V, const N: usize>(n: usize) -> alloc::vec::Vec<Cell<K, V, N>> {
            core::iter::repeat_with(|| Cell::EMPTY).take(n).collect()
        }
        Self::new(cells(posted), cells(unexpected))
    }
}
