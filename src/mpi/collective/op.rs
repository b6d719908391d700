//! Reduction operators.

use alloc::rc::Rc;
use alloc::vec::Vec;

use bytemuck::Pod;

use super::channel::{Channel, check_count};
use crate::mpi::process::{MpiError, PointToPoint, Work};

type Combine<T> = dyn Fn(&T, &T) -> T;

/// A reduction operator on elements: associative, and commutative or not.
///
/// Operands are always combined in rank order: the left one comes from lower ranks.
/// Operators that do not commute get algorithms that keep whole runs of neighbouring
/// ranks together.
pub struct Op<T> {
    combine: Rc<Combine<T>>,
    commutative: bool,
}

impl<T> Clone for Op<T> {
    fn clone(&self) -> Self {
        Self {
            combine: Rc::clone(&self.combine),
            commutative: self.commutative,
        }
    }
}

impl<T> core::fmt::Debug for Op<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Op")
            .field("commutative", &self.commutative)
            .finish_non_exhaustive()
    }
}

#[cfg(feature = "defmt")]
impl<T> defmt::Format for Op<T> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Op {{ commutative: {} }}", self.commutative);
    }
}

/// Element types with arithmetic: all primitive integers (wrapping) and floats.
pub trait Numeric: Pod + PartialOrd {
    /// The sum; integers wrap.
    fn sum(self, right: Self) -> Self;
    /// The product; integers wrap.
    fn product(self, right: Self) -> Self;
    /// The smaller; a float that is no number gives way to the other.
    fn smaller(self, right: Self) -> Self;
    /// The larger; a float that is no number gives way to the other.
    fn larger(self, right: Self) -> Self;
}

/// Element types with bits: all primitive integers.
pub trait Bits: Pod {
    /// Bits set in both.
    fn both(self, right: Self) -> Self;
    /// Bits set in one or both.
    fn either(self, right: Self) -> Self;
    /// Bits set in exactly one.
    fn differing(self, right: Self) -> Self;
    /// Whether it is not zero.
    fn truth(self) -> bool;
    /// 1 for true, 0 for false.
    fn from_truth(truth: bool) -> Self;
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Numeric for $t {
            fn sum(self, right: Self) -> Self { self.wrapping_add(right) }
            fn product(self, right: Self) -> Self { self.wrapping_mul(right) }
            fn smaller(self, right: Self) -> Self { self.min(right) }
            fn larger(self, right: Self) -> Self { self.max(right) }
        }
        impl Bits for $t {
            fn both(self, right: Self) -> Self { self & right }
            fn either(self, right: Self) -> Self { self | right }
            fn differing(self, right: Self) -> Self { self ^ right }
            fn truth(self) -> bool { self != 0 }
            fn from_truth(truth: bool) -> Self { Self::from(truth) }
        }
    )*};
}

macro_rules! floats {
    ($($t:ty)*) => {$(
        impl Numeric for $t {
            fn sum(self, right: Self) -> Self { self + right }
            fn product(self, right: Self) -> Self { self * right }
            fn smaller(self, right: Self) -> Self { self.min(right) }
            fn larger(self, right: Self) -> Self { self.max(right) }
        }
    )*};
}

integers! { u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize }
floats! { f32 f64 }

impl<T: Pod> Op<T> {
    /// A user's operator that is associative and commutative.
    pub fn commutative(combine: impl Fn(&T, &T) -> T + 'static) -> Self {
        Self {
            combine: Rc::new(combine),
            commutative: true,
        }
    }

    /// A user's operator that is associative only: operands stay in rank order.
    pub fn ordered(combine: impl Fn(&T, &T) -> T + 'static) -> Self {
        Self {
            combine: Rc::new(combine),
            commutative: false,
        }
    }

    /// Whether operands may change places.
    pub fn is_commutative(&self) -> bool {
        self.commutative
    }

    /// The combination of two elements.
    pub fn apply(&self, left: &T, right: &T) -> T {
        (self.combine)(left, right)
    }

    /// Element by element.
    pub(super) fn join<P: PointToPoint>(
        &self,
        channel: &Channel<P>,
        left: &[T],
        right: &[T],
    ) -> Result<Vec<T>, MpiError> {
        check_count(right.len(), left.len())?;
        let bytes = (left.len() as u64).saturating_mul(size_of::<T>() as u64);
        if bytes > 0 {
            channel.process.charge(Work::Reduce { bytes });
        }
        let pairs = left.iter().zip(right);
        Ok(pairs.map(|(a, b)| self.apply(a, b)).collect())
    }
}

impl<T: Numeric> Op<T> {
    /// MPI_SUM; integers wrap.
    #[doc(alias = "MPI_SUM")]
    pub fn sum() -> Self {
        Self::commutative(|a, b| a.sum(*b))
    }

    /// MPI_PROD; integers wrap.
    #[doc(alias = "MPI_PROD")]
    pub fn prod() -> Self {
        Self::commutative(|a, b| a.product(*b))
    }

    /// MPI_MIN.
    #[doc(alias = "MPI_MIN")]
    pub fn min() -> Self {
        Self::commutative(|a, b| a.smaller(*b))
    }

    /// MPI_MAX.
    #[doc(alias = "MPI_MAX")]
    pub fn max() -> Self {
        Self::commutative(|a, b| a.larger(*b))
    }
}

impl<T: Bits> Op<T> {
    /// MPI_LAND: 1 if both are not 0, else 0.
    #[doc(alias = "MPI_LAND")]
    pub fn land() -> Self {
        Self::commutative(|a, b| T::from_truth(a.truth() && b.truth()))
    }

    /// MPI_LOR: 1 if one is not 0, else 0.
    #[doc(alias = "MPI_LOR")]
    pub fn lor() -> Self {
        Self::commutative(|a, b| T::from_truth(a.truth() || b.truth()))
    }

    /// MPI_LXOR: 1 if exactly one is not 0, else 0.
    #[doc(alias = "MPI_LXOR")]
    pub fn lxor() -> Self {
        Self::commutative(|a, b| T::from_truth(a.truth() != b.truth()))
    }

    /// MPI_BAND.
    #[doc(alias = "MPI_BAND")]
    pub fn band() -> Self {
        Self::commutative(|a, b| a.both(*b))
    }

    /// MPI_BOR.
    #[doc(alias = "MPI_BOR")]
    pub fn bor() -> Self {
        Self::commutative(|a, b| a.either(*b))
    }

    /// MPI_BXOR.
    #[doc(alias = "MPI_BXOR")]
    pub fn bxor() -> Self {
        Self::commutative(|a, b| a.differing(*b))
    }
}

/// Pairs `[value, index]`, both of one type, as the Fortran pair types of the
/// standard.
impl<T: Numeric> Op<[T; 2]> {
    /// MPI_MINLOC: the smaller value with its index; equal values, the lower index.
    #[doc(alias = "MPI_MINLOC")]
    pub fn minloc() -> Self {
        Self::commutative(|a, b| located(a, b, a[0] < b[0]))
    }

    /// MPI_MAXLOC: the larger value with its index; equal values, the lower index.
    #[doc(alias = "MPI_MAXLOC")]
    pub fn maxloc() -> Self {
        Self::commutative(|a, b| located(a, b, a[0] > b[0]))
    }
}

fn located<T: Numeric>(a: &[T; 2], b: &[T; 2], a_wins: bool) -> [T; 2] {
    if a[0] == b[0] {
        [a[0], a[1].smaller(b[1])]
    } else if a_wins {
        *a
    } else {
        *b
    }
}
