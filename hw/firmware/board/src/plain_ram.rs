//! Plain RAM in the place of the registers: what the port writes lies where the data
//! sheet says, and what "the controller" (this file) puts there reaches the driver.
//!
//! RAM has no side effects: a start leaves in each register the last value written,
//! and the controller's moves are made by hand, between two calls of the driver.

use core::cell::UnsafeCell;

use multipc::put::{
    AddError, AttachError, Control, DmaMemory, Entry, Event, InitError, PortErrorOf, Put,
    PutConfig, RegisterPort, SapError, ServeError,
};
use multipc::rcube::RoutingTable;

use crate::dma::{Dma, OutsideRegion};
use crate::hardware::Hardware;
use crate::port::{MmioPort, Outside, SPACE};

const WORDS: usize = SPACE as usize / 4;

/// RAM as large as a configuration space; put it into a static.
#[repr(C, align(256))]
pub struct Ram(UnsafeCell<[u32; WORDS]>);

// SAFETY: used by one port and by the checks below, in turn, on one core.
unsafe impl Sync for Ram {}

impl Ram {
    /// All zero, as the registers that the driver asks for first.
    pub const fn new() -> Self {
        Self(UnsafeCell::new([0; WORDS]))
    }

    /// The port on it.
    ///
    /// # Safety
    /// Once for each RAM.
    pub const unsafe fn port(&'static self) -> MmioPort {
        // SAFETY: aligned, `SPACE` bytes long, lives for ever.
        unsafe { MmioPort::new(self.0.get().cast()) }
    }

    /// A register, past the port.
    fn get(&self, offset: usize) -> u32 {
        let words: *const u32 = self.0.get().cast();
        // SAFETY: reduced to the array; volatile as the port's accesses are.
        unsafe { words.wrapping_add(offset / 4 % WORDS).read_volatile() }
    }

    /// As new.
    fn clear(&self) {
        for offset in (0..SPACE as usize).step_by(4) {
            self.set(offset, 0);
        }
    }

    /// The controller changes a register.
    fn set(&self, offset: usize, value: u32) {
        let words: *mut u32 = self.0.get().cast();
        // SAFETY: as above.
        unsafe { words.wrapping_add(offset / 4 % WORDS).write_volatile(value) };
    }
}

impl Default for Ram {
    fn default() -> Self {
        Self::new()
    }
}

type Port = PortErrorOf<Hardware>;

/// What the checks found.
#[derive(Debug, defmt::Format)]
pub enum Failure {
    /// A register does not hold what it must.
    Register {
        offset: u8,
        found: u32,
        expected: u32,
    },
    /// Byte `at` of the DMA memory does not hold what it must.
    Byte { at: u32, found: u8, expected: u8 },
    /// An access that must be refused was not, or the reverse.
    Refusal { at: u32 },
    /// The driver told other events than it must.
    Events {
        sent: u32,
        received: u32,
        others: u32,
    },
    /// The handler was not entered, or not once for each event, or told another one.
    Handler {
        taken: u32,
        expected: u32,
        event: Option<Event>,
    },
    /// A static was taken twice.
    Taken,
    /// The port.
    Outside(Outside),
    /// The memory.
    OutsideRegion(OutsideRegion),
    /// The driver does not start.
    Init(InitError<Port>),
    /// The driver takes no user.
    Sap(SapError),
    /// The driver gives no identifiers.
    Attach(AttachError),
    /// The driver takes no page.
    Add(AddError<Port>),
    /// The driver serves no ring.
    Serve(ServeError<Port>),
}

macro_rules! from {
    ($($variant:ident($error:ty)),* $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        }
    )*};
}

from!(
    Outside(Outside),
    OutsideRegion(OutsideRegion),
    Init(InitError<Port>),
    Sap(SapError),
    Attach(AttachError),
    Add(AddError<Port>),
    Serve(ServeError<Port>),
);

/// Every register through the port, and each in its place.
///
/// # Errors
/// The first [`Failure`].
pub fn check_port(ram: &'static Ram, port: &mut MmioPort) -> Result<(), Failure> {
    let value = |offset: usize, salt: u32| 0x0403_0201u32.wrapping_mul(offset as u32 + 1) ^ salt;
    // All first, so that two that share a place are found.
    for offset in (0..SPACE as usize).step_by(4) {
        port.write(offset as u8, value(offset, 0))?;
    }
    for offset in (0..SPACE as usize).step_by(4) {
        expect(offset as u8, ram.get(offset), value(offset, 0))?;
        ram.set(offset, value(offset, 0xFFFF_0000));
        expect(
            offset as u8,
            port.read(offset as u8)?,
            value(offset, 0xFFFF_0000),
        )?;
        ram.set(offset, 0);
        for inside in 1..4 {
            let odd = offset as u8 + inside;
            if port.read(odd).is_ok() || port.write(odd, 1).is_ok() {
                return Err(Failure::Refusal { at: odd.into() });
            }
        }
        expect(offset as u8, ram.get(offset), 0)?;
    }
    Ok(())
}

/// Bytes through the memory at each alignment, and its two ends. Ends with zeroes.
///
/// # Errors
/// The first [`Failure`].
pub fn check_memory(dma: &mut Dma, size: u32) -> Result<(), Failure> {
    let base = dma.base();
    let sent: [u8; 13] = core::array::from_fn(|i| 0x90 ^ (i as u8) << 2);
    for at in [0, 1, 2, 3, 64, size - sent.len() as u32] {
        let mut found = [0; 13];
        dma.store(base.wrapping_add(at), &sent)?;
        dma.load(base.wrapping_add(at), &mut found)?;
        for (i, (&found, &expected)) in (at..).zip(found.iter().zip(&sent)) {
            if found != expected {
                let at = i;
                return Err(Failure::Byte {
                    at,
                    found,
                    expected,
                });
            }
        }
        dma.store(base.wrapping_add(at), &[0; 13])?;
    }
    // One byte out on either side, and a length that wraps.
    for (at, len) in [(size - 12, 13), (u32::MAX, 1), (0, size as usize + 1)] {
        let refused = Err(OutsideRegion {
            address: base.wrapping_add(at),
            len,
            base,
            size: size as usize,
        });
        let short = len <= sent.len();
        let store = dma.store(base.wrapping_add(at), sent.get(..len).unwrap_or_default());
        if short && store != refused {
            return Err(Failure::Refusal { at });
        }
    }
    Ok(())
}

/// Entries of the driver's rings.
const ENTRIES: u32 = 4;

/// A start, a page and a report, with the controller's moves made by hand. `pages`
/// is where pages begin from the start of the DMA memory.
///
/// # Errors
/// The first [`Failure`].
pub fn check_driver(ram: &'static Ram, hw: &mut Hardware, pages: u32) -> Result<(), Failure> {
    let mut put = start(ram, hw, pages)?;
    page_leaves(ram, hw, 1);
    serve(hw, &mut put, [1, 0])?;
    report_arrives(ram, hw)?;
    serve(hw, &mut put, [0, 1])?;
    report_is_taken(ram, hw)
}

/// Starts the driver and posts a page, with identifier 2.
///
/// # Errors
/// The first [`Failure`].
pub fn start(ram: &'static Ram, hw: &mut Hardware, pages: u32) -> Result<Put, Failure> {
    ram.clear();
    let base = hw.dma_base();
    let report_ring = report_ring(hw);
    let bytes = RoutingTable::uniform([0, 1, 1, 1, 1, 1, 1, 1], [1, 2, 2, 2, 2, 2, 2, 2]).emit();
    let mut config = PutConfig::new(0, base, &bytes);
    config.nodes = 2;
    config.entries = ENTRIES;
    config.counters = 0;
    config.settle_us = 10;
    let mut put = Put::new();
    put.init(hw, &config)?;
    // What a start leaves: hw/doc/put.md, "Registers used" and "Start".
    for (offset, expected) in [
        (0x04, 0x0000_0104),
        (0x44, 0xC0FB_F0FF),
        (0x50, base.wrapping_add(16 * (ENTRIES - 1))),
        (0x54, base),
        (0x58, base),
        (0x5C, base),
        (0x60, report_ring.wrapping_add(16 * (ENTRIES - 1))),
        (0x64, report_ring),
        (0x68, report_ring),
        (0x6C, report_ring),
        // The last byte of the chain is the table's first.
        (0x74, 0),
    ] {
        expect(offset, ram.get(offset.into()), expected)?;
    }
    // The three enables: transmit, router, receive.
    expect(0x48, ram.get(0x48) & 0x7000, 0x7000)?;

    let sap = put.register_sap()?;
    put.attach_mi_range(sap, 4)?;
    let local = base.wrapping_add(pages);
    post(hw, &mut put, pages)?;
    expect(0x58, ram.get(0x58), base.wrapping_add(16))?;
    // The descriptor as it lies in memory: length and node, control, remote and
    // local address. NOR, LMP, LMI, NOS are bits 31, 30, 27 and 25.
    let words = [0x0001_1234, 0xCA00_0002, 0x0BAD_CAFE, local];
    let mut found = [0; 16];
    hw.load(base, &mut found)?;
    let expected = words.map(u32::to_le_bytes);
    for (at, (&found, &expected)) in (0..).zip(found.iter().zip(expected.as_flattened())) {
        if found != expected {
            return Err(Failure::Byte {
                at,
                found,
                expected,
            });
        }
    }

    Ok(put)
}

/// Posts a page, with identifier 2.
///
/// # Errors
/// The driver's.
pub fn post(hw: &mut Hardware, put: &mut Put, pages: u32) -> Result<(), Failure> {
    let flags = Control::LMP
        .with(Control::NOS)
        .with(Control::LMI)
        .with(Control::NOR);
    let local = hw.dma_base().wrapping_add(pages);
    put.add_entry(hw, Entry::page(1, 2, local, 0x0BAD_CAFE, 0x1234, flags))?;
    Ok(())
}

/// The controller has read the `nth` entry, from 1, and counts a page that left.
pub fn page_leaves(ram: &'static Ram, hw: &Hardware, nth: u32) {
    ram.set(0x54, hw.dma_base().wrapping_add(16 * (nth % ENTRIES)));
    ram.set(0x40, 1 << 31);
}

/// It has put a report, with identifier 3, into the LMR and counts that.
///
/// # Errors
/// The first [`Failure`].
pub fn report_arrives(ram: &'static Ram, hw: &mut Hardware) -> Result<(), Failure> {
    let ring = report_ring(hw);
    let report = [1u32, 0x8800_0003, 0, 0].map(u32::to_le_bytes);
    hw.store(ring, report.as_flattened())?;
    ram.set(0x68, ring.wrapping_add(16));
    ram.set(0x40, 1 << 30);
    Ok(())
}

/// The report is taken back.
///
/// # Errors
/// The first [`Failure`].
pub fn report_is_taken(ram: &'static Ram, hw: &Hardware) -> Result<(), Failure> {
    expect(0x64, ram.get(0x64), report_ring(hw).wrapping_add(16))
}

fn report_ring(hw: &Hardware) -> u32 {
    hw.dma_base().wrapping_add(16 * ENTRIES)
}

/// One interrupt, which must tell of so many pages sent and messages received.
fn serve(hw: &mut Hardware, put: &mut Put, expected: [u32; 2]) -> Result<(), Failure> {
    let (mut sent, mut received, mut others) = (0, 0, 0);
    put.on_interrupt(hw, 8, |event| match event {
        Event::Sent { mi: 2, .. } => sent += 1,
        Event::Received { mi: 3, .. } => received += 1,
        _ => others += 1,
    })?;
    if [sent, received] == expected && others == 0 {
        Ok(())
    } else {
        Err(Failure::Events {
            sent,
            received,
            others,
        })
    }
}

fn expect(offset: u8, found: u32, expected: u32) -> Result<(), Failure> {
    if found == expected {
        Ok(())
    } else {
        Err(Failure::Register {
            offset,
            found,
            expected,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dma::Region;

    #[test]
    fn registers_lie_where_the_data_sheet_says() {
        static RAM: Ram = Ram::new();
        // SAFETY: the one port on it.
        let mut port = unsafe { RAM.port() };
        check_port(&RAM, &mut port).unwrap();
    }

    #[test]
    fn memory_is_reached_at_its_bus_address_and_no_byte_beside_it() {
        static REGION: Region<256> = Region::new();
        let mut dma = REGION.take(0x8000_0000).unwrap();
        assert!(REGION.take(0).is_none());
        check_memory(&mut dma, 256).unwrap();
    }

    #[test]
    fn the_driver_starts_posts_and_serves_over_plain_ram() {
        static RAM: Ram = Ram::new();
        static REGION: Region<4096> = Region::new();
        // SAFETY: the one port on it.
        let port = unsafe { RAM.port() };
        let mut hw = Hardware::new(port, REGION.take(0x1000).unwrap(), 1);
        check_driver(&RAM, &mut hw, 512).unwrap();
    }

    #[test]
    fn a_register_out_of_place_is_found() {
        static RAM: Ram = Ram::new();
        static OTHER: Ram = Ram::new();
        // SAFETY: the one port on it.
        let mut port = unsafe { OTHER.port() };
        assert!(matches!(
            check_port(&RAM, &mut port),
            Err(Failure::Register {
                offset: 0,
                found: 0,
                ..
            })
        ));
    }
}
