//! Patterns by name, as a command line gives them.

use core::fmt;
use core::str::FromStr;

use super::geometry::MachineSize;
use super::pattern::Pattern;

/// A pattern that has a name.
///
/// Names: `identity`, `bit-reversal`, `shuffle`, `unshuffle`, `butterfly`,
/// `transpose`, `reversal`, `gray`, `inverse-gray`, `row-bit-reversal`,
/// `row-head`, `nobody`, `exchange:BIT`, `stride:FACTOR`, `shift:DISTANCE`,
/// `random:SEED`, `random-function:SEED`, `all-to:PE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Named {
    /// Everyone to itself.
    Identity,
    /// [`Pattern::bit_reversal`].
    BitReversal,
    /// [`Pattern::shuffle`].
    Shuffle,
    /// [`Pattern::unshuffle`].
    Unshuffle,
    /// [`Pattern::butterfly`].
    Butterfly,
    /// [`Pattern::transpose`].
    Transpose,
    /// [`Pattern::reversal`].
    Reversal,
    /// [`Pattern::gray`].
    Gray,
    /// [`Pattern::inverse_gray`].
    InverseGray,
    /// [`Pattern::row_bit_reversal`].
    RowBitReversal,
    /// [`Pattern::row_head`].
    RowHead,
    /// [`Pattern::nobody`].
    Nobody,
    /// [`Pattern::exchange`] of that bit.
    Exchange(u32),
    /// [`Pattern::stride`] by that factor.
    Stride(u32),
    /// [`Pattern::shift`] by that distance.
    Shift(i32),
    /// [`Pattern::random_permutation`] from that seed.
    Random(u64),
    /// [`Pattern::random_function`] from that seed.
    RandomFunction(u64),
    /// [`Pattern::all_to`] that PE.
    AllTo(u16),
}

const PLAIN: [(&str, Named); 12] = [
    ("identity", Named::Identity),
    ("bit-reversal", Named::BitReversal),
    ("shuffle", Named::Shuffle),
    ("unshuffle", Named::Unshuffle),
    ("butterfly", Named::Butterfly),
    ("transpose", Named::Transpose),
    ("reversal", Named::Reversal),
    ("gray", Named::Gray),
    ("inverse-gray", Named::InverseGray),
    ("row-bit-reversal", Named::RowBitReversal),
    ("row-head", Named::RowHead),
    ("nobody", Named::Nobody),
];

impl Named {
    /// The pattern on a machine of `size`.
    ///
    /// # Errors
    /// [`NamedError::OutOfRange`] for a bit or a PE that the machine lacks.
    pub fn pattern(self, size: MachineSize) -> Result<Pattern, NamedError> {
        let below = |value: u32, limit: u32| {
            if value < limit {
                Ok(())
            } else {
                Err(NamedError::OutOfRange { value, limit })
            }
        };
        Ok(match self {
            Self::Identity => Pattern::shift(size, 0),
            Self::BitReversal => Pattern::bit_reversal(size),
            Self::Shuffle => Pattern::shuffle(size),
            Self::Unshuffle => Pattern::unshuffle(size),
            Self::Butterfly => Pattern::butterfly(size),
            Self::Transpose => Pattern::transpose(size),
            Self::Reversal => Pattern::reversal(size),
            Self::Gray => Pattern::gray(size),
            Self::InverseGray => Pattern::inverse_gray(size),
            Self::RowBitReversal => Pattern::row_bit_reversal(size),
            Self::RowHead => Pattern::row_head(size),
            Self::Nobody => Pattern::nobody(size),
            Self::Exchange(bit) => {
                below(bit, size.id_bits())?;
                Pattern::exchange(size, bit)
            }
            Self::Stride(factor) => Pattern::stride(size, factor),
            Self::Shift(distance) => Pattern::shift(size, distance),
            Self::Random(seed) => Pattern::random_permutation(size, seed),
            Self::RandomFunction(seed) => Pattern::random_function(size, seed),
            Self::AllTo(pe) => {
                below(u32::from(pe), size.pes() as u32)?;
                Pattern::all_to(size, pe)
            }
        })
    }
}

impl FromStr for Named {
    type Err = NamedError;

    fn from_str(text: &str) -> Result<Self, NamedError> {
        if let Some((_, named)) = PLAIN.iter().find(|(name, _)| *name == text) {
            return Ok(*named);
        }
        let (name, value) = text.split_once(':').ok_or(NamedError::Unknown)?;
        fn number<T: FromStr>(text: &str) -> Result<T, NamedError> {
            text.parse().map_err(|_| NamedError::Number)
        }
        match name {
            "exchange" => Ok(Self::Exchange(number(value)?)),
            "stride" => Ok(Self::Stride(number(value)?)),
            "shift" => Ok(Self::Shift(number(value)?)),
            "random" => Ok(Self::Random(number(value)?)),
            "random-function" => Ok(Self::RandomFunction(number(value)?)),
            "all-to" => Ok(Self::AllTo(number(value)?)),
            _ => Err(NamedError::Unknown),
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exchange(bit) => write!(f, "exchange:{bit}"),
            Self::Stride(factor) => write!(f, "stride:{factor}"),
            Self::Shift(distance) => write!(f, "shift:{distance}"),
            Self::Random(seed) => write!(f, "random:{seed}"),
            Self::RandomFunction(seed) => write!(f, "random-function:{seed}"),
            Self::AllTo(pe) => write!(f, "all-to:{pe}"),
            plain => match PLAIN.iter().find(|(_, named)| named == plain) {
                Some((name, _)) => f.write_str(name),
                None => Ok(()),
            },
        }
    }
}

/// A name that stands for no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum NamedError {
    /// No pattern is called that.
    Unknown,
    /// What follows the colon is no number, or too large.
    Number,
    /// The machine lacks that bit or PE.
    OutOfRange {
        /// The number given.
        value: u32,
        /// The first that is too large.
        limit: u32,
    },
}

impl fmt::Display for NamedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => {
                f.write_str("no pattern is called that; the names are")?;
                for (name, _) in PLAIN {
                    write!(f, " {name},")?;
                }
                f.write_str(
                    " exchange:BIT, stride:FACTOR, shift:DISTANCE, random:SEED, \
                     random-function:SEED, all-to:PE",
                )
            }
            Self::Number => f.write_str("the part behind the colon is no number in range"),
            Self::OutOfRange { value, limit } => write!(f, "{value} is outside 0..{limit}"),
        }
    }
}

impl core::error::Error for NamedError {}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for (_, named) in PLAIN {
            assert_eq!(named.to_string().parse(), Ok(named));
        }
        for text in [
            "shift:-5",
            "random:18446744073709551615",
            "all-to:16383",
            "exchange:13",
        ] {
            assert_eq!(text.parse::<Named>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn wrong_names_are_refused() {
        assert_eq!("sort".parse::<Named>(), Err(NamedError::Unknown));
        assert_eq!("shift:".parse::<Named>(), Err(NamedError::Number));
        assert_eq!("all-to:70000".parse::<Named>(), Err(NamedError::Number));
        assert_eq!(
            Named::AllTo(1024).pattern(MachineSize::Pes1024),
            Err(NamedError::OutOfRange {
                value: 1024,
                limit: 1024
            })
        );
        assert_eq!(
            Named::Exchange(10).pattern(MachineSize::Pes1024),
            Err(NamedError::OutOfRange {
                value: 10,
                limit: 10
            })
        );
    }
}
