//! Derived datatypes: which elements of a buffer are a message.

use alloc::vec::Vec;

use bytemuck::Pod;

use super::communicator::Communicator;
use super::point::Received;
use super::status::{Peer, Source, Status, Tag};
use crate::mpi::process::{MpiError, PointToPoint};

/// A run of neighbouring elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Segment {
    /// First element, from the origin of the layout; may be negative.
    pub offset: i64,
    /// Elements, at least 1.
    pub length: u64,
}

/// Elements of a buffer in the order in which they are sent, and the distance from
/// one copy of the pattern to the next. The unit is one element of the buffer.
///
/// ```
/// use multipc::mpi::api::Layout;
///
/// // A column of a 3 x 4 matrix in row order.
/// let column = Layout::vector(3, 1, 4)?;
/// let matrix: Vec<u16> = (0..12).collect();
/// assert_eq!(column.pack(&matrix, 1, 1)?, [1, 5, 9]);
/// # Ok::<(), multipc::mpi::process::MpiError>(())
/// ```
#[doc(alias = "MPI_Datatype")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    segments: Vec<Segment>,
    lower: i64,
    extent: i64,
    size: u64,
}

#[cfg(feature = "defmt")]
impl defmt::Format for Layout {
    fn format(&self, f: defmt::Formatter<'_>) {
        let segments = self.segments.as_slice();
        defmt::write!(f, "Layout {{ {}, extent {} }}", segments, self.extent);
    }
}

/// Arithmetic left the range of 64 bits.
const TOO_LONG: MpiError = MpiError::TooLong {
    length: u64::MAX,
    max: i64::MAX as u64,
};

impl Layout {
    fn of(blocks: impl IntoIterator<Item = (i64, u64)>) -> Result<Self, MpiError> {
        let mut segments: Vec<Segment> = Vec::new();
        let (mut lower, mut upper, mut size) = (i64::MAX, i64::MIN, 0u64);
        for (offset, length) in blocks.into_iter().filter(|(_, length)| *length > 0) {
            let end = i64::try_from(length)
                .ok()
                .and_then(|length| offset.checked_add(length))
                .ok_or(TOO_LONG)?;
            (lower, upper) = (lower.min(offset), upper.max(end));
            size = size.checked_add(length).ok_or(TOO_LONG)?;
            match segments.last_mut() {
                // Neighbours in order are one run.
                Some(last) if last.offset.checked_add_unsigned(last.length) == Some(offset) => {
                    last.length += length;
                }
                _ => segments.push(Segment { offset, length }),
            }
        }
        if segments.is_empty() {
            (lower, upper) = (0, 0);
        }
        Ok(Self {
            segments,
            lower,
            extent: upper.checked_sub(lower).ok_or(TOO_LONG)?,
            size,
        })
    }

    /// `count` neighbouring elements.
    ///
    /// # Errors
    /// [`MpiError::TooLong`] beyond 63 bits.
    #[doc(alias = "MPI_Type_contiguous")]
    pub fn contiguous(count: u64) -> Result<Self, MpiError> {
        Self::of([(0, count)])
    }

    /// `count` blocks of `block` elements, whose beginnings are `stride` apart; a
    /// negative stride goes down.
    ///
    /// # Errors
    /// [`MpiError::TooLong`] beyond 63 bits.
    #[doc(alias = "MPI_Type_vector")]
    pub fn vector(count: u32, block: u64, stride: i64) -> Result<Self, MpiError> {
        stride.checked_mul(i64::from(count)).ok_or(TOO_LONG)?;
        Self::of((0..i64::from(count)).map(|i| (i * stride, block)))
    }

    /// Blocks of (offset, length) in this order; offsets may be negative and in any
    /// order.
    ///
    /// # Errors
    /// [`MpiError::TooLong`] beyond 63 bits.
    #[doc(alias = "MPI_Type_indexed")]
    pub fn indexed(blocks: &[(i64, u64)]) -> Result<Self, MpiError> {
        Self::of(blocks.iter().copied())
    }

    /// `count` copies of this layout, each an extent behind the one before.
    ///
    /// # Errors
    /// [`MpiError::TooLong`] beyond 63 bits.
    pub fn repeated(&self, count: u32) -> Result<Self, MpiError> {
        let mut blocks = Vec::new();
        for copy in 0..i64::from(count) {
            let base = self.extent.checked_mul(copy).ok_or(TOO_LONG)?;
            for segment in &self.segments {
                let offset = segment.offset.checked_add(base).ok_or(TOO_LONG)?;
                blocks.push((offset, segment.length));
            }
        }
        let mut whole = Self::of(blocks)?;
        whole.lower = self.lower;
        let copies = i64::from(count);
        whole.extent = self.extent.checked_mul(copies).ok_or(TOO_LONG)?;
        Ok(whole)
    }

    /// The same elements with another lower bound and extent.
    #[doc(alias = "MPI_Type_create_resized")]
    #[must_use]
    pub fn resized(mut self, lower: i64, extent: i64) -> Self {
        (self.lower, self.extent) = (lower, extent);
        self
    }

    /// Elements in one copy.
    #[doc(alias = "MPI_Type_size")]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Lower bound: the lowest element, unless resized.
    pub fn lower(&self) -> i64 {
        self.lower
    }

    /// Distance from one copy to the next.
    #[doc(alias = "MPI_Type_get_extent")]
    pub fn extent(&self) -> i64 {
        self.extent
    }

    /// The runs of one copy, in sending order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Lowest element and one past the highest that `count` copies touch, from the
    /// origin; `None` if they touch none.
    ///
    /// # Errors
    /// [`MpiError::TooLong`] beyond 63 bits.
    pub fn span(&self, count: u64) -> Result<Option<(i64, i64)>, MpiError> {
        let lows = self.segments.iter().map(|s| s.offset);
        let ends = self
            .segments
            .iter()
            .map(|s| s.offset.saturating_add_unsigned(s.length));
        let (Some(low), Some(high)) = (lows.min(), ends.max()) else {
            return Ok(None);
        };
        let Some(last) = count.checked_sub(1) else {
            return Ok(None);
        };
        let last = i64::try_from(last).map_err(|_| TOO_LONG)?;
        let shift = self.extent.checked_mul(last).ok_or(TOO_LONG)?;
        let low = low.checked_add(shift.min(0)).ok_or(TOO_LONG)?;
        let high = high.checked_add(shift.max(0)).ok_or(TOO_LONG)?;
        Ok(Some((low, high)))
    }

    /// The runs of `count` copies as ranges of a buffer of `length` elements with the
    /// origin at element `origin`.
    fn ranges(
        &self,
        length: usize,
        origin: usize,
        count: u64,
    ) -> Result<impl Iterator<Item = (usize, usize)> + '_, MpiError> {
        let base = i64::try_from(origin).map_err(|_| TOO_LONG)?;
        if let Some((low, high)) = self.span(count)? {
            let low = base.checked_add(low).ok_or(TOO_LONG)?;
            let high = base.checked_add(high).ok_or(TOO_LONG)?;
            let outside = |index| MpiError::OutOfBounds {
                index,
                length: length as u64,
            };
            if low < 0 {
                return Err(outside(low));
            }
            if high as u64 > length as u64 {
                return Err(outside(high - 1));
            }
        }
        // Within the span, so nothing below leaves its range.
        let copies = (0..count).map(move |copy| base + self.extent * copy as i64);
        Ok(copies.flat_map(move |base| {
            let runs = self.segments.iter();
            runs.map(move |s| ((base + s.offset) as usize, s.length as usize))
        }))
    }

    /// The elements of `count` copies, one behind the other.
    ///
    /// # Errors
    /// [`MpiError::OutOfBounds`] when a copy reaches outside of the buffer,
    /// [`MpiError::TooLong`] beyond 63 bits.
    #[doc(alias = "MPI_Pack")]
    pub fn pack<T: Pod>(
        &self,
        buffer: &[T],
        origin: usize,
        count: u64,
    ) -> Result<Vec<T>, MpiError> {
        let mut packed = Vec::new();
        if self.size == 0 {
            return Ok(packed);
        }
        for (start, length) in self.ranges(buffer.len(), origin, count)? {
            if let Some(run) = buffer.get(start..start + length) {
                packed.extend_from_slice(run);
            }
        }
        Ok(packed)
    }

    /// Puts packed elements back into `count` copies; fewer elements fill the first
    /// ones, in order.
    ///
    /// # Errors
    /// As [`pack`](Self::pack); [`MpiError::InvalidCount`] for more elements than
    /// there are places, [`MpiError::OutOfBounds`] naming an element with two places:
    /// nothing is written then.
    #[doc(alias = "MPI_Unpack")]
    pub fn unpack<T: Pod>(
        &self,
        packed: &[T],
        buffer: &mut [T],
        origin: usize,
        count: u64,
    ) -> Result<(), MpiError> {
        let places = self.size.saturating_mul(count);
        if packed.len() as u64 > places {
            return Err(MpiError::InvalidCount {
                count: packed.len() as u64,
                expected: places,
            });
        }
        if places == 0 {
            return Ok(());
        }
        let ranges: Vec<(usize, usize)> = self.ranges(buffer.len(), origin, count)?.collect();
        let mut sorted = ranges.clone();
        sorted.sort_unstable();
        for pair in sorted.windows(2) {
            if let [(start, length), (next, _)] = pair
                && start + length > *next
            {
                return Err(MpiError::OutOfBounds {
                    index: *next as i64,
                    length: buffer.len() as u64,
                });
            }
        }
        let mut rest = packed;
        for (start, length) in ranges {
            let (run, more) = rest.split_at(length.min(rest.len()));
            if let Some(place) = buffer.get_mut(start..start + run.len()) {
                place.copy_from_slice(run);
            }
            rest = more;
        }
        Ok(())
    }
}

impl<P: PointToPoint> Communicator<P> {
    /// Sends the elements of `count` copies of a layout.
    ///
    /// # Errors
    /// Those of [`Layout::pack`] and [`send`](Self::send).
    pub async fn send_layout<T: Pod>(
        &self,
        buffer: &[T],
        origin: usize,
        layout: &Layout,
        count: u64,
        dst: impl Into<Peer>,
        tag: i32,
    ) -> Result<(), MpiError> {
        let packed = layout.pack(buffer, origin, count)?;
        self.send(&packed, dst, tag).await
    }

    /// Receives into the elements of `count` copies of a layout.
    ///
    /// # Errors
    /// Those of [`Layout::unpack`], found before the receive is posted, and of
    /// [`recv`](Self::recv).
    pub async fn recv_layout<T: Pod>(
        &self,
        buffer: &mut [T],
        origin: usize,
        layout: &Layout,
        count: u64,
        source: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Status, MpiError> {
        layout.unpack(&[], buffer, origin, count)?;
        let capacity = usize::try_from(layout.size.saturating_mul(count)).map_err(|_| TOO_LONG)?;
        let (packed, status): Received<T> = self.recv(capacity, source, tag).await?;
        layout.unpack(&packed, buffer, origin, count)?;
        Ok(status)
    }
}
