//! From text to code: operators by how tightly they bind.

use alloc::vec::Vec;

use super::{ExprError, Op, Trouble, Two};

/// Deepest nesting of parentheses and operators.
pub(super) const DEPTH: u32 = 64;

/// Compiles a whole text.
pub(super) fn compile(text: &str) -> Result<Vec<Op>, ExprError> {
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
    Ok(parser.code)
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

    fn require(&mut self, token: &'static str) -> Result<(), ExprError> {
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
            self.require(":")?;
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
            return self.require(")");
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
        self.require("(")?;
        for argument in 0..arguments {
            if argument > 0 {
                self.require(",")?;
            }
            self.expression(0)?;
        }
        self.require(")")?;
        self.code.push(op);
        Ok(())
    }
}
