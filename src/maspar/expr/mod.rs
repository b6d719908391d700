//! Patterns as expressions over the bits of the id, and from files (feature
//! `alloc`).
//!
//! | | |
//! |---|---|
//! | names | `id`, its row `y` and column `x`; `n`, `rows`, `cols`, `bits` of the machine |
//! | numbers | decimal, `0x...`, `0b...` |
//! | operators, loosest first | `? :`, `\|\|`, `&&`, `\|`, `^`, `&`, `== !=`, `< <= > >=`, `<< >>`, `+ -`, `* / %`, and `- ~ !` in front |
//! | functions | `rev(v, bits)`, `rotl(v, by, bits)`, `rotr(v, by, bits)`, `bit(v, k)`, `parity(v)`, `gray(v)`, `min(a, b)`, `max(a, b)` |
//!
//! Values are 64-bit integers that wrap; `%` gives no negative result, so
//! `(id - 1) % n` is the left neighbour.

mod parse;

use alloc::vec::Vec;
use core::fmt;

use crate::maspar::geometry::MachineSize;
use crate::maspar::pattern::{Pattern, PatternError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Number(i64),
    Id,
    X,
    Y,
    N,
    Rows,
    Cols,
    Bits,
    Negate,
    Invert,
    Not,
    Two(Two),
    Rev,
    RotL,
    RotR,
    Parity,
    Gray,
    Select,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Two {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    Unequal,
    Less,
    LessEqual,
    More,
    MoreEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Bit,
    Min,
    Max,
}

/// A compiled expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    // Operands first: each operator takes its operands off a stack.
    code: Vec<Op>,
}

#[cfg(feature = "defmt")]
impl defmt::Format for Expr {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Expr of {} steps", self.code.len());
    }
}

impl Expr {
    /// Compiles an expression.
    ///
    /// # Errors
    /// [`ExprError`] with the place, in bytes from 0.
    pub fn parse(text: &str) -> Result<Self, ExprError> {
        Ok(Self {
            code: parse::compile(text)?,
        })
    }

    /// The value for one PE; [`None`] for a division by zero.
    pub fn eval(&self, size: MachineSize, id: u16) -> Option<i64> {
        let mut stack: Vec<i64> = Vec::with_capacity(16);
        let id = i64::from(id);
        for op in &self.code {
            let value = match op {
                Op::Number(value) => *value,
                Op::Id => id,
                Op::X => id & (size.columns() as i64 - 1),
                Op::Y => id >> size.column_bits(),
                Op::N => size.pes() as i64,
                Op::Rows => size.rows() as i64,
                Op::Cols => size.columns() as i64,
                Op::Bits => i64::from(size.id_bits()),
                Op::Negate => stack.pop()?.wrapping_neg(),
                Op::Invert => !stack.pop()?,
                Op::Not => i64::from(stack.pop()? == 0),
                Op::Parity => i64::from(stack.pop()?.count_ones() & 1),
                Op::Gray => {
                    let v = stack.pop()?;
                    v ^ v >> 1
                }
                Op::Two(two) => {
                    let (b, a) = (stack.pop()?, stack.pop()?);
                    two.apply(a, b)?
                }
                Op::Rev => {
                    let (bits, v) = (stack.pop()?, stack.pop()?);
                    reverse(v, bits)
                }
                Op::RotL | Op::RotR => {
                    let (bits, by, v) = (stack.pop()?, stack.pop()?, stack.pop()?);
                    let by = if *op == Op::RotL {
                        by
                    } else {
                        by.wrapping_neg()
                    };
                    rotate(v, by, bits)
                }
                Op::Select => {
                    let (no, yes, which) = (stack.pop()?, stack.pop()?, stack.pop()?);
                    if which != 0 { yes } else { no }
                }
            };
            stack.push(value);
        }
        stack.pop()
    }

    /// The pattern `target = self(id)`, of the PEs for which `only` is not 0.
    ///
    /// # Errors
    /// [`ExprPatternError`] names the PE.
    pub fn pattern(
        &self,
        size: MachineSize,
        only: Option<&Self>,
    ) -> Result<Pattern, ExprPatternError> {
        let mut failed = None;
        let pattern = Pattern::from_fn(size, |pe| {
            let takes_part = only.map_or(Some(1), |only| only.eval(size, pe));
            let target = self.eval(size, pe);
            match (takes_part, target) {
                (Some(0), _) => None,
                (Some(_), Some(target)) => match u32::try_from(target) {
                    Ok(target) => Some(target),
                    Err(_) => {
                        failed.get_or_insert(ExprPatternError::Negative { pe, target });
                        None
                    }
                },
                _ => {
                    failed.get_or_insert(ExprPatternError::DivisionByZero { pe });
                    None
                }
            }
        });
        match failed {
            Some(error) => Err(error),
            None => pattern.map_err(ExprPatternError::Pattern),
        }
    }
}

impl Two {
    fn apply(self, a: i64, b: i64) -> Option<i64> {
        let shift = u32::try_from(b).unwrap_or(64);
        Some(match self {
            Self::Or => i64::from(a != 0 || b != 0),
            Self::And => i64::from(a != 0 && b != 0),
            Self::BitOr => a | b,
            Self::BitXor => a ^ b,
            Self::BitAnd => a & b,
            Self::Equal => i64::from(a == b),
            Self::Unequal => i64::from(a != b),
            Self::Less => i64::from(a < b),
            Self::LessEqual => i64::from(a <= b),
            Self::More => i64::from(a > b),
            Self::MoreEqual => i64::from(a >= b),
            Self::ShiftLeft => a.checked_shl(shift).unwrap_or(0),
            Self::ShiftRight => a.checked_shr(shift).unwrap_or(if a < 0 { -1 } else { 0 }),
            Self::Add => a.wrapping_add(b),
            Self::Subtract => a.wrapping_sub(b),
            Self::Multiply => a.wrapping_mul(b),
            Self::Divide => a.checked_div_euclid(b)?,
            Self::Remainder => a.checked_rem_euclid(b)?,
            Self::Bit => a.checked_shr(shift).unwrap_or(0) & 1,
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        })
    }
}

/// A mask of 1 to 63 bits. From the top: one more than the widest overflows.
const fn low_bits(bits: u32) -> i64 {
    i64::MAX >> (63 - bits)
}

/// The low `bits` of a value reversed, the others kept.
fn reverse(v: i64, bits: i64) -> i64 {
    match u32::try_from(bits) {
        Ok(bits @ 1..64) => {
            let mask = low_bits(bits);
            v & !mask
                | ((v & mask) as u64)
                    .reverse_bits()
                    .checked_shr(64 - bits)
                    .unwrap_or(0) as i64
        }
        _ => v,
    }
}

/// The low `bits` of a value rotated left, the others kept.
fn rotate(v: i64, by: i64, bits: i64) -> i64 {
    if !(1..64).contains(&bits) {
        return v;
    }
    let (mask, by) = (low_bits(bits as u32), by.rem_euclid(bits));
    let low = v & mask;
    v & !mask | (low << by | low >> (bits - by)) & mask
}

/// What is wrong with an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Trouble {
    /// Something that cannot stand here, or the end.
    Unexpected,
    /// Another token is needed here.
    Expected(&'static str),
    /// Neither a name nor a function.
    UnknownName,
    /// No number of 63 bits.
    Number,
    /// More than 64 levels.
    TooDeep,
}

/// An expression that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct ExprError {
    /// Where, in bytes from 0.
    pub at: usize,
    /// What.
    pub trouble: Trouble,
}

impl fmt::Display for ExprError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: ", self.at)?;
        match self.trouble {
            Trouble::Unexpected => f.write_str("expected a number, a name or an operator"),
            Trouble::Expected(token) => write!(f, "expected '{token}'"),
            Trouble::UnknownName => f.write_str(
                "unknown name; there are id x y n rows cols bits \
                 rev rotl rotr bit parity gray min max",
            ),
            Trouble::Number => f.write_str("number of more than 63 bits or with wrong digits"),
            Trouble::TooDeep => write!(f, "more than {} levels", parse::DEPTH),
        }
    }
}

impl core::error::Error for ExprError {}

/// An expression that gives no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ExprPatternError {
    /// It divides by zero.
    DivisionByZero {
        /// For this PE.
        pe: u16,
    },
    /// It is negative, or far beyond any id.
    Negative {
        /// For this PE.
        pe: u16,
        /// The value.
        target: i64,
    },
    /// The machine lacks a target.
    Pattern(PatternError),
}

impl fmt::Display for ExprPatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DivisionByZero { pe } => write!(f, "division by zero for PE {pe}"),
            Self::Negative { pe, target } => write!(f, "target {target} of PE {pe} is no id"),
            Self::Pattern(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ExprPatternError {}

#[cfg(test)]
mod tests;
