//! Patterns from text files: a `source,target` pair a line (feature `alloc`).

use alloc::vec::Vec;
use core::fmt;

use super::geometry::MachineSize;
use super::pattern::{Pattern, PatternError};

/// Reads a pattern: one `source,target` pair a line. Empty lines, lines that
/// start with `#` and a first line without digits (a heading) are skipped.
///
/// # Errors
/// [`FileError`] with the number of the line, from 1.
pub fn parse_pairs(size: MachineSize, text: &str) -> Result<Pattern, FileError> {
    let mut lines = Vec::new();
    let mut pairs = Vec::new();
    let mut heading = true;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let first = core::mem::replace(&mut heading, false);
        if first && !line.contains(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let at = number + 1;
        let pair = line.split_once(',').and_then(|(source, target)| {
            Some((source.trim().parse().ok()?, target.trim().parse().ok()?))
        });
        pairs.push(pair.ok_or(FileError {
            line: at,
            trouble: FileTrouble::NotAPair,
        })?);
        lines.push(at);
    }
    Pattern::from_pairs(size, pairs.iter().copied()).map_err(|error| {
        let pair = match error {
            PatternError::SourceOutOfRange { pair, .. }
            | PatternError::DuplicateSource { pair, .. } => Some(pair),
            PatternError::TargetOutOfRange { source, .. } => pairs
                .iter()
                .position(|&(from, _)| from == u32::from(source)),
            PatternError::Length { .. } => None,
        };
        let line = pair.and_then(|pair| lines.get(pair)).copied().unwrap_or(0);
        FileError {
            line,
            trouble: FileTrouble::Pattern(error),
        }
    })
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum FileTrouble {
    /// It is not two numbers with a comma between them.
    NotAPair,
    /// The pair cannot be.
    Pattern(PatternError),
}

/// A file that is no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct FileError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub trouble: FileTrouble,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match self.trouble {
            FileTrouble::NotAPair => f.write_str("expected 'source,target'"),
            FileTrouble::Pattern(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for FileError {}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn headings_comments_and_spaces_are_skipped() {
        let text = "source,target\n# two PEs\n\n 5 , 6\n7,8\n";
        let pattern = parse_pairs(MachineSize::Pes1024, text).unwrap();
        assert!(pattern.pairs().eq([(5, 6), (7, 8)]));
    }

    #[test]
    fn bad_lines_are_named() {
        let error = |text| {
            parse_pairs(MachineSize::Pes1024, text)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(error("1,2\n\n3;4"), "line 3: expected 'source,target'");
        assert_eq!(
            error("1,2\n1,3"),
            "line 2: pair 1 gives PE 1 a second target"
        );
        assert_eq!(
            error("#\n1,2\n2,1024"),
            "line 3: target 1024 of PE 2 is outside 0..1024"
        );
        assert_eq!(
            error("4096,0"),
            "line 1: source 4096 of pair 0 is outside 0..1024"
        );
        assert_eq!(error("1,-2"), "line 1: expected 'source,target'");
    }
}
