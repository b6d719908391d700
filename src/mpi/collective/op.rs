//! Reduction operators.

use super::element::{Bits, Numeric};

/// A reduction operator on elements: associative, and commutative or not.
///
/// Operands are always combined in rank order: the left one comes from lower ranks.
/// Operators that do not commute get algorithms that keep whole runs of neighbouring
/// ranks together. All ranks must use the same operator.
pub trait Combine<T> {
    /// Whether operands may change places.
    fn is_commutative(&self) -> bool;

    /// The combination of two elements.
    fn combine(&self, left: &T, right: &T) -> T;
}

/// A reduction operator that is a function: no memory of its own, a constant.
///
/// The operators of the standard are here; those with a state implement [`Combine`].
#[derive(Debug)]
pub struct FixedOp<T> {
    combine: fn(&T, &T) -> T,
    commutative: bool,
}

impl<T> Clone for FixedOp<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for FixedOp<T> {}

#[cfg(feature = "defmt")]
impl<T> defmt::Format for FixedOp<T> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "FixedOp {{ commutative: {} }}", self.commutative);
    }
}

impl<T> FixedOp<T> {
    /// A user's operator that is associative and commutative.
    pub const fn commutative(combine: fn(&T, &T) -> T) -> Self {
        Self {
            combine,
            commutative: true,
        }
    }

    /// A user's operator that is associative only: operands stay in rank order.
    pub const fn ordered(combine: fn(&T, &T) -> T) -> Self {
        Self {
            combine,
            commutative: false,
        }
    }
}

impl<T> Combine<T> for FixedOp<T> {
    fn is_commutative(&self) -> bool {
        self.commutative
    }

    fn combine(&self, left: &T, right: &T) -> T {
        (self.combine)(left, right)
    }
}

impl<T: Numeric> FixedOp<T> {
    /// MPI_SUM; integers wrap.
    #[doc(alias = "MPI_SUM")]
    pub const fn sum() -> Self {
        Self::commutative(|a, b| a.sum(*b))
    }

    /// MPI_PROD; integers wrap.
    #[doc(alias = "MPI_PROD")]
    pub const fn prod() -> Self {
        Self::commutative(|a, b| a.product(*b))
    }

    /// MPI_MIN.
    #[doc(alias = "MPI_MIN")]
    pub const fn min() -> Self {
        Self::commutative(|a, b| a.smaller(*b))
    }

    /// MPI_MAX.
    #[doc(alias = "MPI_MAX")]
    pub const fn max() -> Self {
        Self::commutative(|a, b| a.larger(*b))
    }
}

impl<T: Bits> FixedOp<T> {
    /// MPI_LAND: 1 if both are not 0, else 0.
    #[doc(alias = "MPI_LAND")]
    pub const fn land() -> Self {
        Self::commutative(|a, b| T::from_truth(a.truth() && b.truth()))
    }

    /// MPI_LOR: 1 if one is not 0, else 0.
    #[doc(alias = "MPI_LOR")]
    pub const fn lor() -> Self {
        Self::commutative(|a, b| T::from_truth(a.truth() || b.truth()))
    }

    /// MPI_LXOR: 1 if exactly one is not 0, else 0.
    #[doc(alias = "MPI_LXOR")]
    pub const fn lxor() -> Self {
        Self::commutative(|a, b| T::from_truth(a.truth() != b.truth()))
    }

    /// MPI_BAND.
    #[doc(alias = "MPI_BAND")]
    pub const fn band() -> Self {
        Self::commutative(|a, b| a.both(*b))
    }

    /// MPI_BOR.
    #[doc(alias = "MPI_BOR")]
    pub const fn bor() -> Self {
        Self::commutative(|a, b| a.either(*b))
    }

    /// MPI_BXOR.
    #[doc(alias = "MPI_BXOR")]
    pub const fn bxor() -> Self {
        Self::commutative(|a, b| a.differing(*b))
    }
}

/// Pairs `[value, index]`, both of one type, as the Fortran pair types of the
/// standard.
impl<T: Numeric> FixedOp<[T; 2]> {
    /// MPI_MINLOC: the smaller value with its index; equal values, the lower index.
    #[doc(alias = "MPI_MINLOC")]
    pub const fn minloc() -> Self {
        Self::commutative(|a, b| located(a, b, a[0] < b[0]))
    }

    /// MPI_MAXLOC: the larger value with its index; equal values, the lower index.
    #[doc(alias = "MPI_MAXLOC")]
    pub const fn maxloc() -> Self {
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
