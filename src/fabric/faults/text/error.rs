//! What can be wrong with a file of faults.

use alloc::string::String;
use core::fmt;

use crate::fabric::faults::RateError;

/// What is wrong with a file of faults.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TextProblem {
    /// Not TOML, an unknown key, or a value of the wrong type or range.
    Syntax {
        /// What the parser says.
        message: String,
    },
    /// No end of a cable.
    End {
        /// The offending text.
        value: String,
    },
    /// Not exactly one of the keys that belong to one choice.
    Choice {
        /// How many there are.
        given: usize,
        /// The keys.
        keys: &'static str,
    },
    /// A key that says nothing about the fault that was chosen.
    Stray {
        /// The key.
        key: &'static str,
        /// What it belongs to.
        of: &'static str,
    },
    /// A number out of range.
    Number {
        /// The key.
        key: &'static str,
        /// The offending value.
        value: u64,
        /// The allowed range.
        range: &'static str,
    },
    /// No character of 9 bits and no name of one.
    Character {
        /// The offending text.
        value: String,
    },
    /// A rate is no probability.
    Rate(RateError),
}

/// An error in a file of faults, and its line.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: TextProblem,
}

#[cfg(feature = "defmt")]
impl defmt::Format for TextProblem {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{}", defmt::Display2Format(self));
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for TextError {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{}", defmt::Display2Format(self));
    }
}

impl fmt::Display for TextProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { message } => f.write_str(message.lines().next().unwrap_or("no TOML")),
            Self::End { value } => write!(
                f,
                "{value:?} is no end of a cable; \"node N\" and \"router N port P\" are"
            ),
            Self::Choice { given, keys } => {
                write!(f, "{given} of the keys {keys}, exactly 1 is needed")
            }
            Self::Stray { key, of } => write!(f, "{key} without {of}, which it belongs to"),
            Self::Number { key, value, range } => {
                write!(f, "{key} = {value} is outside {range}")
            }
            Self::Character { value } => write!(
                f,
                "{value:?} is no character; 0x000 to 0x1FF, EP, EEP, FCC, IDLE, REQUEST, ACKNOWLEDGE, BP and ED are"
            ),
            Self::Rate(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl core::error::Error for TextError {}
