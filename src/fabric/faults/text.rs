//! Faults from a TOML file. Format: hw/doc/faults.md, "As a file".

mod error;
#[cfg(test)]
mod tests;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Deserialize;
use toml::Spanned;

use super::Faults;
use super::event::{BusFault, BusWhen, CableFault, CableWhen, FaultEvent, Kind, Transfers};
use super::random::{BusRates, CableRates, RandomFaults};
use crate::fabric::End;
use crate::hsl::Symbol;
use crate::pci::TargetResponse;

pub use error::{TextError, TextProblem};

type Number = Option<Spanned<u64>>;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    random: Option<Spanned<Random>>,
    cable: Vec<Cable>,
    bus: Vec<Bus>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Random {
    seed: u64,
    boards: bool,
    cable: RandomCable,
    bus: RandomBus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RandomCable {
    corrupt: f64,
    drop: f64,
    insert: f64,
    cut: f64,
    cut_cycles: u32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RandomBus {
    retry: f64,
    disconnect: f64,
    target_abort: f64,
    no_devsel: f64,
    parity: f64,
    delay: f64,
    delay_clocks: u32,
    hold_grant: f64,
    hold_cycles: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cable {
    from: Spanned<String>,
    cycle: Number,
    character: Number,
    packet: Number,
    data: Number,
    end: Number,
    grant: Number,
    corrupt: Number,
    #[serde(default)]
    drop: bool,
    insert: Option<Spanned<String>>,
    cut: Number,
    both: Option<Spanned<bool>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bus {
    node: Spanned<u16>,
    cycle: Number,
    transaction: Number,
    read: Number,
    write: Number,
    times: Option<Spanned<u32>>,
    #[serde(default)]
    retry: bool,
    #[serde(default)]
    no_devsel: bool,
    #[serde(default)]
    parity: bool,
    disconnect_after: Option<u32>,
    disconnect_with: Option<u32>,
    target_abort_after: Option<u32>,
    extra_latency: Option<u32>,
    wait_states: Option<u32>,
    slow_reads: Option<u32>,
    cycles: Option<Spanned<u64>>,
    hold_grant: Option<u64>,
}

/// Byte offsets into lines.
struct Lines<'t>(&'t str);

impl Lines<'_> {
    fn of(&self, at: usize) -> usize {
        let before = self.0.as_bytes().get(..at).unwrap_or(self.0.as_bytes());
        1 + before.iter().filter(|&&byte| byte == b'\n').count()
    }

    fn error(&self, at: usize, problem: TextProblem) -> TextError {
        TextError {
            line: self.of(at),
            problem,
        }
    }
}

impl Faults<'static> {
    /// Faults from the text of a TOML file.
    ///
    /// ```
    /// use multipc::fabric::faults::Faults;
    ///
    /// let faults = Faults::from_toml(r#"
    ///     [[cable]]
    ///     from = "router 0 port 1"
    ///     data = 20          # the 20th data character
    ///     corrupt = 0x10
    ///
    ///     [[bus]]
    ///     node = 1
    ///     write = 3          # the third memory write
    ///     retry = true
    ///     times = 5
    /// "#)?;
    /// assert_eq!(faults.events().len(), 2);
    /// let error = Faults::from_toml("[[cable]]\nfrom = \"rooter 1\"").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     r#"line 2: "rooter 1" is no end of a cable; "node N" and "router N port P" are"#
    /// );
    /// # Ok::<(), multipc::fabric::faults::TextError>(())
    /// ```
    ///
    /// # Errors
    /// [`TextError`].
    pub fn from_toml(text: &str) -> Result<Self, TextError> {
        let lines = Lines(text);
        let file: File = toml::from_str(text).map_err(|error| {
            let message = error.message().to_string();
            let at = error.span().map_or(text.len(), |span| span.start);
            lines.error(at, TextProblem::Syntax { message })
        })?;
        let mut events = Vec::with_capacity(file.cable.len() + file.bus.len());
        for cable in &file.cable {
            events.push(cable.event(&lines)?);
        }
        for bus in &file.bus {
            events.push(bus.event(&lines)?);
        }
        let faults = Self::script(events);
        let Some(random) = file.random else {
            return Ok(faults);
        };
        let at = random.span().start;
        let random = random.into_inner().faults();
        match random.check() {
            Ok(()) => Ok(faults.with_random(random)),
            Err(error) => Err(lines.error(at, TextProblem::Rate(error))),
        }
    }
}

impl Random {
    fn faults(self) -> RandomFaults {
        let Self {
            seed,
            boards,
            cable,
            bus,
        } = self;
        RandomFaults {
            seed,
            boards,
            cable: CableRates {
                corrupt: cable.corrupt,
                drop: cable.drop,
                insert: cable.insert,
                cut: cable.cut,
                cut_cycles: cable.cut_cycles,
            },
            bus: BusRates {
                retry: bus.retry,
                disconnect: bus.disconnect,
                target_abort: bus.target_abort,
                no_devsel: bus.no_devsel,
                parity: bus.parity,
                delay: bus.delay,
                delay_clocks: bus.delay_clocks,
                hold_grant: bus.hold_grant,
                hold_cycles: bus.hold_cycles,
            },
        }
    }
}

/// The one choice that was made.
fn one<T>(
    choices: impl IntoIterator<Item = Option<T>>,
    keys: &'static str,
) -> Result<T, TextProblem> {
    let mut given = 0;
    let mut last = None;
    for choice in choices.into_iter().flatten() {
        given += 1;
        last = Some(choice);
    }
    match last {
        Some(choice) if given == 1 => Ok(choice),
        _ => Err(TextProblem::Choice { given, keys }),
    }
}

/// A key that would be read by nobody.
fn stray<T>(
    lines: &Lines<'_>,
    value: &Option<Spanned<T>>,
    used: bool,
    key: &'static str,
    of: &'static str,
) -> Result<(), TextError> {
    match value {
        Some(value) if !used => {
            Err(lines.error(value.span().start, TextProblem::Stray { key, of }))
        }
        _ => Ok(()),
    }
}

/// A number of the stream `when`, which is never 0.
fn counted<T>(
    lines: &Lines<'_>,
    key: &'static str,
    number: &Number,
    when: impl FnOnce(u64) -> T,
) -> Result<Option<T>, TextError> {
    let Some(number) = number else {
        return Ok(None);
    };
    match *number.get_ref() {
        value @ 0 => {
            let range = "1..";
            Err(lines.error(
                number.span().start,
                TextProblem::Number { key, value, range },
            ))
        }
        value => Ok(Some(when(value))),
    }
}

impl Cable {
    fn event(&self, lines: &Lines<'_>) -> Result<FaultEvent, TextError> {
        let at = self.from.span().start;
        let from = end(self.from.get_ref()).ok_or_else(|| {
            let value = self.from.get_ref().clone();
            lines.error(at, TextProblem::End { value })
        })?;
        let count = |of| move |number| CableWhen::Count { of, number };
        let when = one(
            [
                counted(lines, "cycle", &self.cycle, CableWhen::Cycle)?,
                counted(lines, "character", &self.character, count(Kind::Character))?,
                counted(lines, "packet", &self.packet, count(Kind::Packet))?,
                counted(lines, "data", &self.data, count(Kind::Data))?,
                counted(lines, "end", &self.end, count(Kind::End))?,
                counted(lines, "grant", &self.grant, count(Kind::Grant))?,
            ],
            "cycle, character, packet, data, end, grant",
        )
        .map_err(|problem| lines.error(at, problem))?;
        let corrupt = match &self.corrupt {
            None => None,
            Some(mask) => match *mask.get_ref() {
                value @ 1..=0x1FF => Some(CableFault::Corrupt(value as u16)),
                value => {
                    let (key, range) = ("corrupt", "0x001..=0x1FF");
                    let problem = TextProblem::Number { key, value, range };
                    return Err(lines.error(mask.span().start, problem));
                }
            },
        };
        let insert = match &self.insert {
            None => None,
            Some(name) => Some(CableFault::Insert(symbol(name.get_ref()).ok_or_else(
                || {
                    let value = name.get_ref().clone();
                    lines.error(name.span().start, TextProblem::Character { value })
                },
            )?)),
        };
        stray(lines, &self.both, self.cut.is_some(), "both", "cut")?;
        let both = self.both.as_ref().is_none_or(|both| *both.get_ref());
        let cut = counted(lines, "cut", &self.cut, |cycles| CableFault::Cut {
            cycles,
            both,
        })?;
        let fault = one(
            [corrupt, self.drop.then_some(CableFault::Drop), insert, cut],
            "corrupt, drop, insert, cut",
        )
        .map_err(|problem| lines.error(at, problem))?;
        Ok(FaultEvent::Cable { from, when, fault })
    }
}

impl Bus {
    fn event(&self, lines: &Lines<'_>) -> Result<FaultEvent, TextError> {
        let at = self.node.span().start;
        let count = |of| move |number| BusWhen::Count { of, number };
        let when = one(
            [
                counted(lines, "cycle", &self.cycle, BusWhen::Cycle)?,
                counted(
                    lines,
                    "transaction",
                    &self.transaction,
                    count(Transfers::All),
                )?,
                counted(lines, "read", &self.read, count(Transfers::Reads))?,
                counted(lines, "write", &self.write, count(Transfers::Writes))?,
            ],
            "cycle, transaction, read, write",
        )
        .map_err(|problem| lines.error(at, problem))?;
        use TargetResponse as T;
        let times = match &self.times {
            None => 1,
            Some(times) => match *times.get_ref() {
                0 => {
                    let (key, value, range) = ("times", 0, "1..");
                    let problem = TextProblem::Number { key, value, range };
                    return Err(lines.error(times.span().start, problem));
                }
                times => times,
            },
        };
        let cycles = self.cycles.as_ref();
        let respond = |response| BusFault::Respond { response, times };
        let fault = one(
            [
                self.retry.then(|| respond(T::Retry)),
                self.no_devsel.then(|| respond(T::Ignore)),
                self.parity.then(|| respond(T::BadParity)),
                self.disconnect_after
                    .map(|words| respond(T::DisconnectAfter(words))),
                self.disconnect_with
                    .map(|words| respond(T::DisconnectWith(words))),
                self.target_abort_after
                    .map(|words| respond(T::AbortAfter(words))),
                self.extra_latency
                    .map(|clocks| respond(T::ExtraLatency(clocks))),
                self.wait_states
                    .map(|clocks| respond(T::WaitStates(clocks))),
                self.slow_reads.map(|extra| BusFault::SlowReads {
                    extra,
                    cycles: cycles.map_or(u64::MAX, |cycles| *cycles.get_ref()),
                }),
                self.hold_grant.map(|cycles| BusFault::HoldGrant { cycles }),
            ],
            "retry, no_devsel, parity, disconnect_after, disconnect_with, target_abort_after, \
             extra_latency, wait_states, slow_reads, hold_grant",
        )
        .map_err(|problem| lines.error(at, problem))?;
        let answers = matches!(fault, BusFault::Respond { .. });
        let of = "a fault of single transactions";
        stray(lines, &self.times, answers, "times", of)?;
        let slow = self.slow_reads.is_some();
        stray(lines, &self.cycles, slow, "cycles", "slow_reads")?;
        let node = *self.node.get_ref();
        Ok(FaultEvent::Bus { node, when, fault })
    }
}

/// As [`End`] is displayed.
fn end(text: &str) -> Option<End> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match *words.as_slice() {
        ["node", node] => Some(End::Node(node.parse().ok()?)),
        ["router", router, "port", port] => Some(End::Router {
            router: router.parse().ok()?,
            port: port.parse().ok()?,
        }),
        _ => None,
    }
}

/// A name of the table, or 9 bits in hexadecimal.
fn symbol(text: &str) -> Option<Symbol> {
    if let Some(digits) = text.strip_prefix("0x") {
        let bits = u16::from_str_radix(digits, 16).ok()?;
        return (bits <= 0x1FF).then(|| Symbol::from_bits(bits));
    }
    let mut table = Symbol::CONTROL.iter();
    table
        .find(|(_, name)| *name == text)
        .map(|&(symbol, _)| symbol)
}
