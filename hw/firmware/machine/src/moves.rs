//! Pages of many lengths and alignments, both ways.

use multipc::fabric::HostError;
use multipc::put::{Control, Entry, Event, Model};
use multipc::time::{Duration, Instant};

use machine::boards::{Boards, PAGES};
use machine::check::{self, GUARD, Window};
use machine::failure::Failure;

use crate::world::{self, Events, World};

/// Lengths moved between all pairs of alignments: around a word, a burst, a flit,
/// and long enough for several packets' worth of bursts.
const SHORT: [u32; 11] = [1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 257];
/// Lengths moved at a few alignments: a whole page frame, and the longest page.
const LONG: [u32; 3] = [1000, 4096, 65_535];
/// Alignments of local and remote address for [`LONG`].
const SKEWS: [(u32, u32); 2] = [(0, 0), (1, 2)];

/// One page has left and arrived long before.
pub const PATIENCE: Duration = Duration::from_ns(20_000_000);
/// What the polling loop does between two rounds.
const ROUND: Duration = Duration::from_ns(1000);
/// The identifier of the messages.
const IDENTIFIER: u32 = 2;
/// Entries of each ring that one call serves.
pub const BUDGET: u16 = 8;

/// What was moved.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moved {
    pub pages: u32,
    pub bytes: u32,
}

/// One page to move.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    from: u16,
    to: u16,
    local: u32,
    remote: u32,
    pub length: u32,
    seed: u32,
}

impl Page {
    /// A word, to the `i`th of several places.
    pub const fn short(from: u16, i: u32) -> Self {
        let local = PAGES + 64 * i;
        Self {
            from,
            to: 1 - from,
            local,
            remote: local + GUARD,
            length: 4,
            seed: i,
        }
    }

    const fn window(&self) -> Window {
        Window {
            address: self.remote - GUARD,
            length: self.length,
            seed: self.seed,
        }
    }
}

/// What the two drivers have told.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    sent: u32,
    received: u32,
}

/// Moves them all; with `spoil`, one byte of the last one is changed.
pub fn all(events: &mut Events, model: Model, spoil: bool) -> Result<Moved, Failure> {
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
        post(page)?;
        match model {
            Model::Polling => poll(page)?,
            _ => interrupts(events, page)?,
        }
        world::with(|World { boards, .. }| {
            if spoil && length == 65_535 && local == 1 {
                write(boards, page.to, page.remote + length / 2, 1, |piece, _| {
                    piece.fill(0);
                })?;
            }
            compare(boards, page.to, page.window())
        })?;
        moved.pages += 1;
        moved.bytes += length;
    }
    Ok(moved)
}

/// Fills memory at both ends and gives the page to the driver.
pub fn post(page: Page) -> Result<(), Failure> {
    world::with(|world| enter(world, page))
}

/// [`post`] for who has the boards.
pub fn enter(World { boards, .. }: &mut World, page: Page) -> Result<(), Failure> {
    let Page {
        to,
        local,
        remote,
        length,
        ..
    } = page;
    write(boards, page.from, local, length, |piece, from| {
        check::fill(piece, page.seed, from);
    })?;
    let window = page.window();
    write(boards, to, window.address, window.bytes(), |piece, _| {
        check::clear(piece);
    })?;
    let flags = Control::LMP
        .with(Control::NOS)
        .with(Control::LMI)
        .with(Control::NOR);
    let (mut host, driver) = boards.board(page.from)?;
    let entry = Entry::page(to, IDENTIFIER, local, remote, length, flags);
    driver.add_entry(&mut host, entry)?;
    Ok(())
}

/// Waits for a page in the interrupt model and looks at its bytes.
pub fn finish(events: &mut Events, page: Page) -> Result<(), Failure> {
    interrupts(events, page)?;
    world::with(|world| compare(&mut world.boards, page.to, page.window()))
}

/// The main loop of the interrupt model: it looks at what the handler told, and sleeps.
fn interrupts(events: &mut Events, page: Page) -> Result<(), Failure> {
    let end = now()? + PATIENCE;
    let mut told = Told::default();
    loop {
        while let Some(event) = events.next()? {
            told.note(event);
        }
        if told.sent > 0 && told.received > 0 {
            return told.once(page);
        }
        if now()? > end {
            return Err(told.silent(page));
        }
        events.sleep();
    }
}

/// The main loop of the polling model: both drivers look, a microsecond passes.
fn poll(page: Page) -> Result<(), Failure> {
    let end = now()? + PATIENCE;
    let mut told = Told::default();
    while told.sent == 0 || told.received == 0 {
        if now()? > end {
            return Err(told.silent(page));
        }
        world::with(|World { boards, .. }| {
            for node in [page.from, page.to] {
                let (mut host, driver) = boards.board(node)?;
                driver.poll(&mut host, BUDGET, |event| told.note(event))?;
            }
            boards.run(ROUND);
            Ok(())
        })?;
    }
    told.once(page)
}

fn now() -> Result<Instant, Failure> {
    world::with(|world| Ok(world.boards.now()))
}

impl Told {
    fn note(&mut self, event: Event) {
        match event {
            Event::Sent { mi: IDENTIFIER, .. } => self.sent += 1,
            Event::Received { mi: IDENTIFIER, .. } => self.received += 1,
            other => defmt::warn!("{}", other),
        }
    }

    const fn silent(self, page: Page) -> Failure {
        Failure::silent(page.length, [self.sent, self.received])
    }

    fn once(self, page: Page) -> Result<(), Failure> {
        let length = page.length;
        if self.sent == 1 && self.received == 1 {
            Ok(())
        } else {
            Err(Failure::Extra { length })
        }
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
