//! What differs from board to board. Every figure here is an example.

/// Where the processor finds the controller's configuration space, 256 bytes.
///
/// Host bridges that map configuration space put function `f` of device `d` on bus
/// `b` at `base + (b << 20) + (d << 15) + (f << 12)` (PCI Express, "enhanced
/// configuration access mechanism"). A bridge with an address and a data register
/// needs another [`RegisterPort`](multipc::put::RegisterPort).
pub const REGISTERS: usize = configuration_space(0x3000_0000, 0, 1, 0);

/// Whether INTA# is wired to an input of the interrupt controller; otherwise the image
/// polls. The input must be level-triggered. Which one it is stands with the vector table:
/// in the vendor's crate, here in `firmware_support::device`.
pub const INTERRUPTS: bool = true;

/// The input register and the bit at which INTA# can also be read (low: asserted), if
/// there is one. Only silicon whose registers must not be read while it receives needs it.
pub const INTA: Option<(usize, u32)> = None;

/// Processor cycles a second: how long a delay is.
pub const CPU_HZ: u32 = 100_000_000;

/// What is added to an address of the processor to get the one on the bus.
pub const BUS_OFFSET: u32 = 0;

/// This node, of two whose routers are joined by their ports 1.
pub const NODE: u16 = 0;

/// Entries of each of the driver's two rings.
pub const ENTRIES: u32 = 64;

/// Bytes of DMA memory: the rings, then pages.
pub const DMA_BYTES: usize = 64 * 1024;

/// Where pages begin, from the start of the DMA memory: behind the rings.
pub const PAGES: u32 = 0x1000;

/// The address of a function's configuration space.
pub const fn configuration_space(base: usize, bus: u8, device: u8, function: u8) -> usize {
    base + ((bus as usize) << 20) + ((device as usize) << 15) + ((function as usize) << 12)
}
