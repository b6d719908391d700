//! Stochastic arithmetic: three samples, each operation rounded up or down at
//! random, and from their spread the number of digits that are exact.
//!
//! The method is that of CESTAC and CADNA (J. Vignes): with three samples the
//! number of exact decimal digits at 95 % is
//! `log10(sqrt(3) |mean| / (deviation * 4.303))`, 4.303 being Student's value
//! for two degrees of freedom.

use bytemuck::Pod;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Where random roundings come from: one stream for each (row, step) of the
/// elimination, so that a result does not depend on who computes it.
pub struct Rounding(Xoshiro256PlusPlus);

impl Rounding {
    pub fn of(row: usize, step: usize) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(
            (row as u64) << 32 | step as u64,
        ))
    }

    /// `nearest` or its neighbour on the other side of the exact value, which
    /// lies `error` away from it (only the sign counts).
    fn of_value(&mut self, nearest: f64, error: f64) -> f64 {
        if error == 0.0 || !nearest.is_finite() || self.0.next_u64() & 1 == 0 {
            nearest
        } else if error > 0.0 {
            nearest.next_up()
        } else {
            nearest.next_down()
        }
    }
}

/// What the elimination computes with.
pub trait Number: Pod + Default {
    const NAME: &'static str;
    fn exact(value: f64) -> Self;
    fn value(self) -> f64;
    /// `a - b * c`.
    fn reduced(self, b: Self, c: Self, rounding: &mut Rounding) -> Self;
    fn divided(self, by: Self, rounding: &mut Rounding) -> Self;
    /// Decimal digits known to be exact; `None` without samples.
    fn digits(self) -> Option<f64>;
}

impl Number for f64 {
    const NAME: &'static str = "plain";
    fn exact(value: f64) -> Self {
        value
    }
    fn value(self) -> f64 {
        self
    }
    fn reduced(self, b: Self, c: Self, _: &mut Rounding) -> Self {
        self - b * c
    }
    fn divided(self, by: Self, _: &mut Rounding) -> Self {
        self / by
    }
    fn digits(self) -> Option<f64> {
        None
    }
}

/// Student's value for two degrees of freedom at 95 %.
const STUDENT: f64 = 4.303;
/// Decimal digits of an f64.
const MOST_DIGITS: f64 = 15.95;

impl Number for [f64; 3] {
    const NAME: &'static str = "stochastic";
    fn exact(value: f64) -> Self {
        [value; 3]
    }
    fn value(self) -> f64 {
        self.iter().sum::<f64>() / 3.0
    }
    fn reduced(self, b: Self, c: Self, rounding: &mut Rounding) -> Self {
        core::array::from_fn(|i| {
            let nearest = b[i] * c[i];
            let product = rounding.of_value(nearest, b[i].mul_add(c[i], -nearest));
            difference(self[i], product, rounding)
        })
    }
    fn divided(self, by: Self, rounding: &mut Rounding) -> Self {
        core::array::from_fn(|i| {
            let nearest = self[i] / by[i];
            let rest = (-nearest).mul_add(by[i], self[i]);
            rounding.of_value(nearest, rest * by[i].signum())
        })
    }
    fn digits(self) -> Option<f64> {
        let mean = self.value();
        let variance = self
            .iter()
            .map(|sample| (sample - mean).powi(2))
            .sum::<f64>()
            / 2.0;
        let spread = variance.sqrt() * STUDENT;
        Some(if spread == 0.0 {
            MOST_DIGITS
        } else {
            (3f64.sqrt() * mean.abs() / spread)
                .log10()
                .clamp(0.0, MOST_DIGITS)
        })
    }
}

/// `a - b`; the error of the nearest value is exact (Knuth's two-sum).
fn difference(a: f64, b: f64, rounding: &mut Rounding) -> f64 {
    let nearest = a - b;
    let virtual_b = nearest - a;
    let error = (a - (nearest - virtual_b)) - (b + virtual_b);
    rounding.of_value(nearest, error)
}
