//! What the operators of the standard ask of elements.

use bytemuck::Pod;

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
