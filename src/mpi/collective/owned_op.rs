//! Reduction operators that own what they need.

use alloc::rc::Rc;

use bytemuck::Pod;

use super::element::{Bits, Numeric};
use super::op::{Combine, FixedOp};

type Shared<T> = dyn Fn(&T, &T) -> T;

/// A reduction operator on elements: associative, and commutative or not.
///
/// Operands are always combined in rank order: the left one comes from lower ranks.
/// Operators that do not commute get algorithms that keep whole runs of neighbouring
/// ranks together.
pub struct Op<T> {
    combine: Rc<Shared<T>>,
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
}

impl<T> Combine<T> for Op<T> {
    fn is_commutative(&self) -> bool {
        self.commutative
    }

    fn combine(&self, left: &T, right: &T) -> T {
        (self.combine)(left, right)
    }
}

impl<T: Pod> From<FixedOp<T>> for Op<T> {
    fn from(op: FixedOp<T>) -> Self {
        Self {
            commutative: op.is_commutative(),
            combine: Rc::new(move |left, right| op.combine(left, right)),
        }
    }
}

impl<T: Numeric> Op<T> {
    /// MPI_SUM; integers wrap.
    #[doc(alias = "MPI_SUM")]
    pub fn sum() -> Self {
        FixedOp::sum().into()
    }

    /// MPI_PROD; integers wrap.
    #[doc(alias = "MPI_PROD")]
    pub fn prod() -> Self {
        FixedOp::prod().into()
    }

    /// MPI_MIN.
    #[doc(alias = "MPI_MIN")]
    pub fn min() -> Self {
        FixedOp::min().into()
    }

    /// MPI_MAX.
    #[doc(alias = "MPI_MAX")]
    pub fn max() -> Self {
        FixedOp::max().into()
    }
}

impl<T: Bits> Op<T> {
    /// MPI_LAND: 1 if both are not 0, else 0.
    #[doc(alias = "MPI_LAND")]
    pub fn land() -> Self {
        FixedOp::land().into()
    }

    /// MPI_LOR: 1 if one is not 0, else 0.
    #[doc(alias = "MPI_LOR")]
    pub fn lor() -> Self {
        FixedOp::lor().into()
    }

    /// MPI_LXOR: 1 if exactly one is not 0, else 0.
    #[doc(alias = "MPI_LXOR")]
    pub fn lxor() -> Self {
        FixedOp::lxor().into()
    }

    /// MPI_BAND.
    #[doc(alias = "MPI_BAND")]
    pub fn band() -> Self {
        FixedOp::band().into()
    }

    /// MPI_BOR.
    #[doc(alias = "MPI_BOR")]
    pub fn bor() -> Self {
        FixedOp::bor().into()
    }

    /// MPI_BXOR.
    #[doc(alias = "MPI_BXOR")]
    pub fn bxor() -> Self {
        FixedOp::bxor().into()
    }
}

/// Pairs `[value, index]`, both of one type, as the Fortran pair types of the
/// standard.
impl<T: Numeric> Op<[T; 2]> {
    /// MPI_MINLOC: the smaller value with its index; equal values, the lower index.
    #[doc(alias = "MPI_MINLOC")]
    pub fn minloc() -> Self {
        FixedOp::minloc().into()
    }

    /// MPI_MAXLOC: the larger value with its index; equal values, the lower index.
    #[doc(alias = "MPI_MAXLOC")]
    pub fn maxloc() -> Self {
        FixedOp::maxloc().into()
    }
}
