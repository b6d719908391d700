//! The language of `multipc mpi app`.

use core::fmt;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use crate::cli::mpi::kernels::Collective;
use crate::time::Duration;

/// A program for a number of ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    pub ranks: u32,
    pub lines: Vec<Line>,
}

/// Who does something, or lines that are repeated.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    Do(Who, Action),
    Repeat(u32, Vec<Line>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Who {
    All,
    Even,
    Odd,
    Ranks(Vec<(u32, u32)>),
}

impl Who {
    pub fn has(&self, rank: u32) -> bool {
        match self {
            Self::All => true,
            Self::Even => rank.is_multiple_of(2),
            Self::Odd => rank % 2 == 1,
            Self::Ranks(ranges) => ranges
                .iter()
                .any(|(from, to)| (*from..=*to).contains(&rank)),
        }
    }
}

/// A peer, seen from a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    Rank(u32),
    Ahead(i64),
    Xor(u32),
    Any,
}

impl Peer {
    /// The rank; `None` is any.
    pub fn of(self, rank: u32, ranks: u32) -> Option<u32> {
        match self {
            Self::Rank(rank) => Some(rank),
            Self::Ahead(by) => Some((i64::from(rank) + by).rem_euclid(i64::from(ranks)) as u32),
            Self::Xor(mask) => Some(rank ^ mask),
            Self::Any => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    Send {
        to: Peer,
        bytes: usize,
        tag: i32,
        wait: Wait,
    },
    Receive {
        from: Peer,
        bytes: usize,
        tag: i32,
        wait: bool,
    },
    Exchange {
        to: Peer,
        from: Peer,
        bytes: usize,
        tag: i32,
    },
    WaitAll,
    Compute(Duration),
    Collective {
        which: Collective,
        root: u32,
        bytes: usize,
    },
}

/// What a send waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Free,
    Matched,
    Later,
}

/// A line that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    line: usize,
    what: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.what)
    }
}

/// Most bytes of a message.
const MOST_BYTES: usize = 4 << 20;
const MOST_RANKS: u32 = 128;

const TO_ANY: &str = "a message to 'any'";
const HOW_MANY: &str = "how many ranks? ('ranks N', or --ranks N)";

/// Reads a program; `ask` overrides what it says.
pub fn program(text: &str, ask: Option<u32>) -> Result<Program, ParseError> {
    let mut ranks = ask;
    let mut first = true;
    // The innermost open block is the last one.
    let mut open: Vec<(u32, usize, Vec<Line>)> = Vec::new();
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let words: Vec<&str> = line
            .split('#')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        let failed = |what: String| ParseError { line: number, what };
        if words.is_empty() {
            continue;
        }
        let first = core::mem::take(&mut first);
        match words[..] {
            ["ranks", _] if !first => {
                return Err(failed("'ranks' is the first line, or none".to_string()));
            }
            ["ranks", count] => {
                let count: u32 = parsed(count, "ranks").map_err(failed)?;
                if !(1..=MOST_RANKS).contains(&count) {
                    return Err(failed(format!("{count} ranks, allowed 1 to {MOST_RANKS}")));
                }
                ranks = ask.or(Some(count));
            }
            ["repeat", times] => {
                let times = parsed(times, "repeat").map_err(failed)?;
                open.push((times, number, core::mem::take(&mut lines)));
            }
            ["end"] => {
                let (times, _, outer) = open
                    .pop()
                    .ok_or_else(|| failed("'end' without 'repeat'".to_string()))?;
                let block = core::mem::replace(&mut lines, outer);
                lines.push(Line::Repeat(times, block));
            }
            [who, operation, ref arguments @ ..] => {
                let who = parse_who(who).map_err(failed)?;
                let action = parse_action(operation, arguments).map_err(failed)?;
                let ranks = ranks.ok_or_else(|| failed(HOW_MANY.to_string()))?;
                check(&who, action, ranks).map_err(failed)?;
                lines.push(Line::Do(who, action));
            }
            [] | [_] => {
                let word = words.concat();
                return Err(failed(format!("'{word}' alone: WHO OPERATION ARGUMENTS")));
            }
        }
    }
    if let Some((_, line, _)) = open.last() {
        return Err(ParseError {
            line: *line,
            what: "'repeat' without 'end'".to_string(),
        });
    }
    let ranks = ranks.ok_or(ParseError {
        line: 1,
        what: HOW_MANY.to_string(),
    })?;
    Ok(Program { ranks, lines })
}

fn parsed<T: core::str::FromStr>(text: &str, what: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("{what}: '{text}' is no number that fits"))
}

/// Whether all ranks that a line names are there.
fn check(who: &Who, action: Action, ranks: u32) -> Result<(), String> {
    let most = ranks.saturating_sub(1);
    let there = |rank: u32, what: &str| {
        if rank <= most {
            return Ok(());
        }
        Err(format!("{what}rank {rank}, allowed 0 to {most}"))
    };
    if let Who::Ranks(ranges) = who {
        for &(from, to) in ranges {
            there(from, "")?;
            there(to, "")?;
            if from > to {
                return Err(format!("ranks {from}-{to}, from the lower to the higher"));
            }
        }
    }
    let peers = match action {
        Action::Exchange { to: Peer::Any, .. } => return Err(TO_ANY.to_string()),
        Action::Send { to, .. } => [Some(to), None],
        Action::Receive { from, .. } => [Some(from), None],
        Action::Exchange { to, from, .. } => [Some(to), Some(from)],
        Action::Collective { root, .. } => return there(root, "root "),
        Action::WaitAll | Action::Compute(_) => [None, None],
    };
    for rank in (0..ranks).filter(|rank| who.has(*rank)) {
        for peer in peers.into_iter().flatten() {
            if let Some(peer) = peer.of(rank, ranks) {
                there(peer, &format!("peer of rank {rank}: "))?;
            }
        }
    }
    Ok(())
}

fn parse_who(text: &str) -> Result<Who, String> {
    Ok(match text {
        "all" => Who::All,
        "even" => Who::Even,
        "odd" => Who::Odd,
        _ => {
            let wrong = || format!("'{text}' is nobody: all, even, odd, or ranks as 0,2-5");
            let ranges = text.split(',').map(|range| {
                let (from, to) = range.split_once('-').unwrap_or((range, range));
                let from = from.parse().map_err(|_| wrong())?;
                Ok((from, to.parse().map_err(|_| wrong())?))
            });
            Who::Ranks(ranges.collect::<Result<_, String>>()?)
        }
    })
}

fn parse_peer(text: &str) -> Result<Peer, String> {
    let wrong = |_| format!("'{text}' is no peer: a rank, +N, -N, ^N or any");
    Ok(match text.as_bytes() {
        b"any" => Peer::Any,
        [b'+' | b'-', ..] => Peer::Ahead(text.parse::<i32>().map_err(wrong)?.into()),
        [b'^', ..] => Peer::Xor(text.trim_start_matches('^').parse().map_err(wrong)?),
        _ => Peer::Rank(text.parse().map_err(wrong)?),
    })
}

fn parse_bytes(text: &str) -> Result<usize, String> {
    let bytes: usize = parsed(text, "bytes")?;
    if bytes > MOST_BYTES {
        return Err(format!("{bytes} bytes, allowed 0 to {MOST_BYTES}"));
    }
    Ok(bytes)
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is no time: a number and ns, us, ms or s");
    let split = text
        .find(|c: char| c.is_ascii_alphabetic())
        .ok_or_else(wrong)?;
    let (number, unit) = text.split_at(split);
    let ps = match unit {
        "ns" => 1e3,
        "us" => 1e6,
        "ms" => 1e9,
        "s" => 1e12,
        _ => return Err(wrong()),
    };
    match number.parse::<f64>() {
        Ok(number) if (0.0..1e6).contains(&number) => Ok(Duration::from_ps((number * ps) as u64)),
        Ok(number) if number >= 1e6 => Err(format!("'{text}': below 1000000 of a unit")),
        _ => Err(wrong()),
    }
}

/// Takes `tag N` off the end.
fn split_tag<'t, 'w>(arguments: &'t [&'w str]) -> Result<(&'t [&'w str], Option<i32>), String> {
    match arguments {
        [rest @ .., "tag", tag] => match parsed(tag, "tag")? {
            tag if tag >= 0 => Ok((rest, Some(tag))),
            tag => Err(format!("tag {tag}, allowed 0 and more")),
        },
        _ => Ok((arguments, None)),
    }
}

fn parse_action(operation: &str, arguments: &[&str]) -> Result<Action, String> {
    let (words, tag) = split_tag(arguments)?;
    let tag = tag.unwrap_or(0);
    let send = |wait| match words {
        [to, bytes] => match parse_peer(to)? {
            Peer::Any => Err(TO_ANY.to_string()),
            to => Ok(Action::Send {
                to,
                bytes: parse_bytes(bytes)?,
                tag,
                wait,
            }),
        },
        _ => Err(format!("{operation} TO BYTES [tag N]")),
    };
    let receive = |wait| match words {
        [from, bytes] => Ok(Action::Receive {
            from: parse_peer(from)?,
            bytes: parse_bytes(bytes)?,
            tag,
            wait,
        }),
        _ => Err(format!("{operation} FROM BYTES [tag N]")),
    };
    match operation {
        "send" => send(Wait::Free),
        "ssend" => send(Wait::Matched),
        "isend" => send(Wait::Later),
        "recv" => receive(true),
        "irecv" => receive(false),
        "sendrecv" => match words {
            [to, from, bytes] => Ok(Action::Exchange {
                to: parse_peer(to)?,
                from: parse_peer(from)?,
                bytes: parse_bytes(bytes)?,
                tag,
            }),
            _ => Err("sendrecv TO FROM BYTES [tag N]".to_string()),
        },
        "waitall" if words.is_empty() => Ok(Action::WaitAll),
        "compute" => match words {
            [time] => Ok(Action::Compute(parse_time(time)?)),
            _ => Err("compute TIME".to_string()),
        },
        _ => parse_collective(operation, words),
    }
}

fn parse_collective(operation: &str, words: &[&str]) -> Result<Action, String> {
    let which = Collective::ALL
        .into_iter()
        .find(|collective| collective.name() == operation)
        .ok_or_else(|| format!("'{operation}' is no operation (--help lists them)"))?;
    let rooted = matches!(
        which,
        Collective::Bcast
            | Collective::Reduce
            | Collective::Gather
            | Collective::Gatherv
            | Collective::Scatter
            | Collective::Scatterv
    );
    let (root, bytes) = match words {
        [] if !which.has_sizes() => (0, 0),
        [root, bytes] if rooted => (parsed(root, "root")?, parse_bytes(bytes)?),
        [bytes] if which.has_sizes() && !rooted => (0, parse_bytes(bytes)?),
        _ if rooted => return Err(format!("{operation} ROOT BYTES")),
        _ if which.has_sizes() => return Err(format!("{operation} BYTES")),
        _ => return Err(format!("{operation} takes no arguments")),
    };
    Ok(Action::Collective { which, root, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn a_program_is_read_with_its_blocks() {
        let text =
            "ranks 4 # boards\n\nrepeat 3\nall sendrecv +1 -1 64 tag 2\nend\n0,2-3 compute 1.5us\n";
        let program = program(text, None).unwrap();
        let exchange = Action::Exchange {
            to: Peer::Ahead(1),
            from: Peer::Ahead(-1),
            bytes: 64,
            tag: 2,
        };
        let pause = Action::Compute(Duration::from_ns(1500));
        assert_eq!(program.ranks, 4);
        assert_eq!(
            program.lines,
            [
                Line::Repeat(3, vec![Line::Do(Who::All, exchange)]),
                Line::Do(Who::Ranks(vec![(0, 0), (2, 3)]), pause),
            ]
        );
    }

    #[test]
    fn peers_are_absolute_round_the_ring_or_across() {
        assert_eq!(Peer::Rank(2).of(0, 4), Some(2));
        assert_eq!(Peer::Ahead(-1).of(0, 4), Some(3));
        assert_eq!(Peer::Ahead(5).of(3, 4), Some(0));
        assert_eq!(Peer::Xor(1).of(2, 4), Some(3));
        assert_eq!(Peer::Any.of(2, 4), None);
    }

    #[test]
    fn errors_name_line_and_word() {
        let error = |text: &str| program(text, Some(2)).unwrap_err().to_string();
        assert_eq!(
            error("all barrier\nall dance"),
            "2: 'dance' is no operation (--help lists them)"
        );
        assert_eq!(
            error("all compute 5"),
            "1: '5' is no time: a number and ns, us, ms or s"
        );
        assert_eq!(error("0 send any 4"), "1: a message to 'any'");
        assert_eq!(
            error("0 send 1 5000000"),
            "1: 5000000 bytes, allowed 0 to 4194304"
        );
        assert_eq!(error("repeat 2\nall barrier"), "1: 'repeat' without 'end'");
        assert_eq!(error("0 send 1 4 tag -1"), "1: tag -1, allowed 0 and more");
        assert_eq!(
            error("nobody barrier"),
            "1: 'nobody' is nobody: all, even, odd, or ranks as 0,2-5"
        );
        assert_eq!(error("0 sendrecv any 1 4"), "1: a message to 'any'");
        assert_eq!(
            error("all compute 10000000s"),
            "1: '10000000s': below 1000000 of a unit"
        );
        assert_eq!(error("all"), "1: 'all' alone: WHO OPERATION ARGUMENTS");
        assert_eq!(
            program("all barrier", None).unwrap_err().to_string(),
            "1: how many ranks? ('ranks N', or --ranks N)"
        );
    }

    #[test]
    fn ranks_that_are_not_there_are_errors_of_their_line() {
        let error = |line: &str| {
            let text = format!("\nranks 6\n{line}");
            program(&text, None).unwrap_err().to_string()
        };
        assert_eq!(error("6 barrier"), "3: rank 6, allowed 0 to 5");
        assert_eq!(error("0,2-7 barrier"), "3: rank 7, allowed 0 to 5");
        assert_eq!(
            error("3-1 barrier"),
            "3: ranks 3-1, from the lower to the higher"
        );
        assert_eq!(
            error("0 send 6 4"),
            "3: peer of rank 0: rank 6, allowed 0 to 5"
        );
        assert_eq!(
            error("all recv ^4 8"),
            "3: peer of rank 2: rank 6, allowed 0 to 5"
        );
        assert_eq!(error("all bcast 9 8"), "3: root rank 9, allowed 0 to 5");
        let later = "all barrier\nranks 4";
        assert_eq!(error(later), "4: 'ranks' is the first line, or none");
        let across = program("ranks 6\n0-1 sendrecv ^4 ^4 8", None);
        assert!(across.is_ok());
        let fewer = program("ranks 6\n5 barrier", Some(4)).unwrap_err();
        assert_eq!(fewer.to_string(), "2: rank 5, allowed 0 to 3");
    }
}
