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

use alloc::vec::Vec;
use core::fmt;

use super::geometry::MachineSize;
use super::pattern::{Pattern, PatternError};

/// Deepest nesting of parentheses and operators.
const DEPTH: u32 = 64;

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

/// Operators with how tightly they bind; longer spellings first.
const OPERATORS: [(&str, Two, u32); 18] = [
    ("||", Two::Or, 1),
    ("&&", Two::And, 2),
    ("==", Two::Equal, 6),
    ("!=", Two::Unequal, 6),
    ("<<", Two::ShiftLeft, 8),
    (">>", Two::ShiftRight, 8),
    ("<=", Two::LessEqual, 7),
    (">=", Two::MoreEqual, 7),
    ("|", Two::BitOr, 3),
    ("^", Two::BitXor, 4),
    ("&", Two::BitAnd, 5),
    ("<", Two::Less, 7),
    (">", Two::More, 7),
    ("+", Two::Add, 9),
    ("-", Two::Subtract, 9),
    ("*", Two::Multiply, 10),
    ("/", Two::Divide, 10),
    ("%", Two::Remainder, 10),
];

const FUNCTIONS: [(&str, Op, usize); 8] = [
    ("rev", Op::Rev, 2),
    ("rotl", Op::RotL, 3),
    ("rotr", Op::RotR, 3),
    ("bit", Op::Two(Two::Bit), 2),
    ("parity", Op::Parity, 1),
    ("gray", Op::Gray, 1),
    ("min", Op::Two(Two::Min), 2),
    ("max", Op::Two(Two::Max), 2),
];

const NAMES: [(&str, Op); 7] = [
    ("id", Op::Id),
    ("x", Op::X),
    ("y", Op::Y),
    ("n", Op::N),
    ("rows", Op::Rows),
    ("cols", Op::Cols),
    ("bits", Op::Bits),
];

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
        let mut parser = Parser {
            text,
            at: 0,
            depth: 0,
            code: Vec::new(),
        };
        parser.expression(0)?;
        parser.space();
        if parser.at < text.len() {
            return Err(parser.error(Trouble::Unexpected));
        }
        Ok(Self { code: parser.code })
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

/// The low `bits` of a value reversed, the others kept.
fn reverse(v: i64, bits: i64) -> i64 {
    match u32::try_from(bits) {
        Ok(bits @ 1..64) => {
            let mask = (1i64 << bits) - 1;
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
    let (mask, by) = ((1i64 << bits) - 1, by.rem_euclid(bits));
    let low = v & mask;
    v & !mask | (low << by | low >> (bits - by)) & mask
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: u32,
    code: Vec<Op>,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn error(&self, trouble: Trouble) -> ExprError {
        ExprError {
            at: self.at,
            trouble,
        }
    }

    fn take(&mut self, token: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &'static str) -> Result<(), ExprError> {
        if self.take(token) {
            Ok(())
        } else {
            Err(self.error(Trouble::Expected(token)))
        }
    }

    /// An expression of operators that bind more tightly than `least`; 0
    /// takes in the choice `? :` too.
    fn expression(&mut self, least: u32) -> Result<(), ExprError> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.error(Trouble::TooDeep));
        }
        self.operand()?;
        loop {
            self.space();
            let rest = self.rest();
            let found = OPERATORS
                .iter()
                .find(|(token, _, _)| rest.starts_with(token));
            match found {
                Some(&(token, two, tight)) if tight > least => {
                    self.at += token.len();
                    self.expression(tight)?;
                    self.code.push(Op::Two(two));
                }
                _ => break,
            }
        }
        if least == 0 && self.take("?") {
            self.expression(0)?;
            self.expect(":")?;
            self.expression(0)?;
            self.code.push(Op::Select);
        }
        self.depth -= 1;
        Ok(())
    }

    fn operand(&mut self) -> Result<(), ExprError> {
        self.space();
        let front = match self.rest().bytes().next() {
            Some(b'-') => Some(Op::Negate),
            Some(b'~') => Some(Op::Invert),
            Some(b'!') => Some(Op::Not),
            _ => None,
        };
        if let Some(op) = front {
            self.at += 1;
            self.depth += 1;
            if self.depth > DEPTH {
                return Err(self.error(Trouble::TooDeep));
            }
            self.operand()?;
            self.depth -= 1;
            self.code.push(op);
            return Ok(());
        }
        if self.take("(") {
            self.expression(0)?;
            return self.expect(")");
        }
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let len = self.rest().find(|c| !word(c)).unwrap_or(self.rest().len());
        let token = self.rest().get(..len).unwrap_or_default();
        if token.starts_with(|c: char| c.is_ascii_digit()) {
            let value = match (token.strip_prefix("0x"), token.strip_prefix("0b")) {
                (Some(digits), _) => i64::from_str_radix(digits, 16),
                (_, Some(digits)) => i64::from_str_radix(digits, 2),
                _ => token.parse(),
            };
            let value = value.map_err(|_| self.error(Trouble::Number))?;
            self.code.push(Op::Number(value));
            self.at += len;
            return Ok(());
        }
        if let Some(&(_, op)) = NAMES.iter().find(|(name, _)| *name == token) {
            self.code.push(op);
            self.at += len;
            return Ok(());
        }
        let Some(&(_, op, arguments)) = FUNCTIONS.iter().find(|(name, _, _)| *name == token) else {
            let trouble = if len == 0 {
                Trouble::Unexpected
            } else {
                Trouble::UnknownName
            };
            return Err(self.error(trouble));
        };
        self.at += len;
        self.expect("(")?;
        for argument in 0..arguments {
            if argument > 0 {
                self.expect(",")?;
            }
            self.expression(0)?;
        }
        self.expect(")")?;
        self.code.push(op);
        Ok(())
    }
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
            Trouble::TooDeep => write!(f, "more than {DEPTH} levels"),
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
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    const SIZE: MachineSize = MachineSize::Pes16384;

    fn pattern(text: &str) -> Pattern {
        Expr::parse(text).unwrap().pattern(SIZE, None).unwrap()
    }

    #[test]
    fn expressions_spell_the_named_patterns() {
        for (text, named) in [
            ("rev(id, 14)", Pattern::bit_reversal(SIZE)),
            ("rotl(id, 1, bits)", Pattern::shuffle(SIZE)),
            ("rotr(id, 1, bits)", Pattern::unshuffle(SIZE)),
            ("x * rows + y", Pattern::transpose(SIZE)),
            ("~id & n - 1", Pattern::reversal(SIZE)),
            ("gray(id)", Pattern::gray(SIZE)),
            ("id ^ id >> 1", Pattern::gray(SIZE)),
            ("(id - 5) % n", Pattern::shift(SIZE, -5)),
            ("y << 7", Pattern::row_head(SIZE)),
            ("rev(id, 7)", Pattern::row_bit_reversal(SIZE)),
            (
                "bit(id, 0) == bit(id, 13) ? id : id ^ 0x2001",
                Pattern::butterfly(SIZE),
            ),
        ] {
            assert_eq!(pattern(text), named, "{text}");
        }
    }

    #[test]
    fn operators_bind_as_the_table_says() {
        let value = |text| Expr::parse(text).unwrap().eval(SIZE, 0).unwrap();
        assert_eq!(value("1 + 2 * 3 - 4"), 3);
        assert_eq!(value("10 - 3 - 2"), 5);
        assert_eq!(value("1 | 6 ^ 2 & 3"), 1 | (6 ^ (2 & 3)));
        assert_eq!(value("1 << 2 + 1 == 8 && !0"), 1);
        assert_eq!(value("-7 % 5"), 3);
        assert_eq!(value("1 ? 2 : 0 ? 3 : 4"), 2);
        assert_eq!(value("min(3, max(1, 2)) + parity(0b111)"), 3);
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let error = |text| Expr::parse(text).unwrap_err().to_string();
        assert_eq!(
            error("id +"),
            "at byte 4: expected a number, a name or an operator"
        );
        assert_eq!(error("(id"), "at byte 3: expected ')'");
        assert_eq!(
            error("id 3"),
            "at byte 3: expected a number, a name or an operator"
        );
        assert_eq!(error("rev(id)"), "at byte 6: expected ','");
        assert_eq!(Expr::parse("0xZZ").unwrap_err().trouble, Trouble::Number);
        assert_eq!(
            Expr::parse("foo").unwrap_err().trouble,
            Trouble::UnknownName
        );
        assert_eq!(
            Expr::parse(&"(".repeat(999)).unwrap_err().trouble,
            Trouble::TooDeep
        );
        assert_eq!(
            Expr::parse(&"-".repeat(999)).unwrap_err().trouble,
            Trouble::TooDeep
        );
    }

    #[test]
    fn values_that_are_no_ids_are_named_with_their_pe() {
        let error = |text, only: Option<&str>| {
            let only = only.map(|only| Expr::parse(only).unwrap());
            Expr::parse(text)
                .unwrap()
                .pattern(SIZE, only.as_ref())
                .map(|_| ())
                .map_err(|e| e.to_string())
        };
        assert_eq!(
            error("id / (id - 3)", Some("id == 3")),
            Err("division by zero for PE 3".into())
        );
        assert_eq!(
            error("id - 1", None),
            Err("target -1 of PE 0 is no id".into())
        );
        assert_eq!(
            error("id + 1", None),
            Err("target 16384 of PE 16383 is outside 0..16384".into())
        );
        assert_eq!(error("id + 1", Some("id < n - 1")), Ok(()));
    }
}
