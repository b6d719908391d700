//! Pages of many lengths and alignments, both ways.

use multipc::fabric::HostError;
use multipc::put::{Control, Entry, Event, Model};
use multipc::time::Duration;

use machine::boards::{Boards, PAGES};
use machine::check::{self, GUARD, Window};
use machine::failure::Failure;

/// Lengths moved between all pairs of alignments: around a word, a burst, a flit,
/// and long enough for several packets' worth of bursts.
const SHORT: [u32; 11] = [1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 257];
/// Lengths moved at a few alignments: a whole page frame, and the longest page.
const LONG: [u32; 3] = [1000, 4096, 65_535];
/// Alignments of local and remote address for [`LONG`].
const SKEWS: [(u32, u32); 2] = [(0, 0), (1, 2)];

/// One page has left and arrived long before.
const PATIENCE: Duration = Duration::from_ns(20_000_000);
/// What the polling loop does between two rounds.
const ROUND: Duration = Duration::from_ns(1000);
/// The identifier of the messages.
const IDENTIFIER: u32 = 2;
/// Entries of each ring that one call serves.
const BUDGET: u16 = 8;

/// What was moved.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moved {
    pub pages: u32,
    pub bytes: u32,
}

/// One page to move.
#[derive(Clone, Copy, Debug)]
struct Page {
    from: u16,
    to: u16,
    local: u32,
    remote: u32,
    length: u32,
    seed: u32,
}

/// What the two drivers have told.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    sent: u32,
    received: u32,
}

/// Moves them all; with `spoil`, one byte of the last one is changed.
pub fn all(boards: &mut Boards, spoil: bool) -> Result<Moved, Failure> {
    let skews = || (0..4).flat_map(|local| (0..4).map(move |remote| (local, remote)));
    let short = SHORT
        .into_iter()
        .flat_map(|length| skews().map(move |skew| (length, skew)));
    let long = LONG
        .into_iter()
        .flat_map(|length| SKEWS.map(move |skew| (length, skew)));
    let mut moved = Moved::default();
    for (length, (local, remote)) in short.chain(long) {
        // Back and forth in turn.
        let from = (moved.pages % 2) as u16;
        let page = Page {
            from,
            to: 1 - from,
            local: PAGES + local,
            remote: PAGES + GUARD + remote,
            length,
            seed: moved.pages,
        };
        let spoilt = spoil && length == 65_535 && local == 1;
        one(boards, page, spoilt)?;
        moved.pages += 1;
        moved.bytes += length;
    }
    Ok(moved)
}

fn one(boards: &mut Boards, page: Page, spoil: bool) -> Result<(), Failure> {
    let window = Window {
        address: page.remote - GUARD,
        length: page.length,
        seed: page.seed,
    };
    write(boards, page.from, page.local, page.length, |piece, from| {
        check::fill(piece, page.seed, from);
    })?;
    write(
        boards,
        page.to,
        window.address,
        window.bytes(),
        |piece, _| {
            check::clear(piece);
        },
    )?;

    let flags = Control::LMP
        .with(Control::NOS)
        .with(Control::LMI)
        .with(Control::NOR);
    let Page {
        to,
        local,
        remote,
        length,
        ..
    } = page;
    let (mut host, driver) = boards.board(page.from)?;
    driver.add_entry(
        &mut host,
        Entry::page(to, IDENTIFIER, local, remote, length, flags),
    )?;
    let told = match driver.model() {
        Model::Polling => poll(boards, page)?,
        _ => interrupts(boards, page)?,
    };
    if told.sent != 1 || told.received != 1 {
        return Err(Failure::Extra { length });
    }
    if spoil {
        write(boards, to, remote + length / 2, 1, |piece, _| piece.fill(0))?;
    }
    compare(boards, to, window)
}

/// The main loop of the interrupt model: nothing is done before INTA# falls.
fn interrupts(boards: &mut Boards, page: Page) -> Result<Told, Failure> {
    let end = boards.now() + PATIENCE;
    let mut told = Told::default();
    while told.sent == 0 || told.received == 0 {
        let left = end.since(boards.now());
        let asserted = boards
            .machine()
            .run_while_not(left, |machine| machine.nodes().iter().any(|n| !n.inta_n()));
        if !asserted {
            return Err(silent(page, told));
        }
        for node in [page.from, page.to] {
            let (mut host, driver) = boards.board(node)?;
            if host.interrupt() {
                driver.on_interrupt(&mut host, BUDGET, |event| told.note(event))?;
            }
        }
    }
    Ok(told)
}

/// The main loop of the polling model: both drivers look, a microsecond passes.
fn poll(boards: &mut Boards, page: Page) -> Result<Told, Failure> {
    let end = boards.now() + PATIENCE;
    let mut told = Told::default();
    while told.sent == 0 || told.received == 0 {
        if boards.now() > end {
            return Err(silent(page, told));
        }
        for node in [page.from, page.to] {
            let (mut host, driver) = boards.board(node)?;
            driver.poll(&mut host, BUDGET, |event| told.note(event))?;
        }
        boards.machine().run_for(ROUND);
    }
    Ok(told)
}

impl Told {
    fn note(&mut self, event: Event) {
        match event {
            Event::Sent { mi: IDENTIFIER, .. } => self.sent += 1,
            Event::Received { mi: IDENTIFIER, .. } => self.received += 1,
            other => defmt::warn!("{}", other),
        }
    }
}

fn silent(page: Page, told: Told) -> Failure {
    Failure::Silent {
        length: page.length,
        sent: told.sent > 0,
        received: told.received > 0,
    }
}

/// Bytes that the CPU of a board copies at a time.
const PIECE: usize = 64;

/// The CPU of a board writes `length` bytes at `address`, piece by piece.
fn write(
    boards: &mut Boards,
    node: u16,
    address: u32,
    length: u32,
    make: impl Fn(&mut [u8], u32),
) -> Result<(), Failure> {
    let (mut host, _) = boards.board(node)?;
    let mut buffer = [0; PIECE];
    for from in (0..length).step_by(PIECE) {
        let n = (length - from).min(PIECE as u32) as usize;
        let piece = buffer.get_mut(..n).unwrap_or_default();
        make(piece, from);
        host.store(address + from, piece).map_err(HostError::from)?;
    }
    Ok(())
}

/// The CPU of a board looks at every byte of a window.
fn compare(boards: &mut Boards, node: u16, window: Window) -> Result<(), Failure> {
    let (host, _) = boards.board(node)?;
    let mut buffer = [0; PIECE];
    for from in (0..window.bytes()).step_by(PIECE) {
        let n = (window.bytes() - from).min(PIECE as u32) as usize;
        let piece = buffer.get_mut(..n).unwrap_or_default();
        host.load(window.address + from, piece)
            .map_err(HostError::from)?;
        window.compare(piece, from)?;
    }
    Ok(())
}
