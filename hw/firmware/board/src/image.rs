//! The image.

use board::{Dma, Region, config};
use firmware_support::entry;

static REGION: Region<{ config::DMA_BYTES }> = Region::new();

/// The DMA memory at its bus address.
fn memory() -> Option<Dma> {
    let address = REGION.address() as u32;
    REGION.take(address.wrapping_add(config::BUS_OFFSET))
}

#[cfg(feature = "plain-ram")]
#[entry]
fn main() -> ! {
    use board::plain_ram::{Failure, Ram, check_driver, check_memory, check_port};
    use board::{Hardware, MmioPort};
    use firmware_support::{Verdict, exit};

    static RAM: Ram = Ram::new();

    fn check(mut port: MmioPort, mut dma: Dma) -> Result<(), Failure> {
        check_port(&RAM, &mut port)?;
        defmt::info!("port: 64 registers in their places");
        check_memory(&mut dma, config::DMA_BYTES as u32)?;
        defmt::info!("memory: at {=u32:#010x} on the bus", dma.base());
        let mut hw = Hardware::new(port, dma, config::CPU_HZ);
        check_driver(&RAM, &mut hw, config::PAGES)?;
        defmt::info!("driver: started, one page, one report");
        Ok(())
    }

    // SAFETY: the one port on it.
    let port = unsafe { RAM.port() };
    let verdict = match memory().map(|dma| check(port, dma)) {
        Some(Ok(())) => Verdict::Passed,
        Some(Err(failure)) => {
            defmt::error!("{}", failure);
            Verdict::Failed
        }
        None => Verdict::Failed,
    };
    defmt::info!("{}", verdict);
    exit(verdict)
}

#[cfg(not(feature = "plain-ram"))]
#[entry]
fn main() -> ! {
    match memory() {
        Some(dma) => real::run(dma),
        None => defmt::panic!("DMA memory was taken"),
    }
}

/// The registers of the configuration.
#[cfg(not(feature = "plain-ram"))]
mod real {
    use board::{Dma, Hardware, MmioPort, config};
    use embedded_hal::digital::InputPin;
    use multipc::put::{Control, DmaMemory, Entry, Event, Model, Put, PutConfig};
    use multipc::rcube::RoutingTable;

    /// Entries of each ring that one call serves.
    const BUDGET: u16 = 16;
    const GREETING: [u8; 12] = *b"remote write";
    const IDENTIFIER: u32 = 0;

    pub fn run(dma: Dma) -> ! {
        // SAFETY: the configuration names the registers of the board, and this is
        // the one port on them.
        let port =
            unsafe { MmioPort::new(core::ptr::with_exposed_provenance_mut(config::REGISTERS)) };
        let mut hw = Hardware::new(port, dma, config::CPU_HZ);
        if let Some((register, mask)) = config::INTA {
            // SAFETY: as above, an input register.
            hw = unsafe { hw.with_inta(core::ptr::with_exposed_provenance(register), mask) };
        }

        let table = table();
        let base = hw.dma_base();
        let mut settings = PutConfig::new(config::NODE, base, &table);
        settings.nodes = 2;
        settings.entries = config::ENTRIES;
        settings.counters = 0;
        if !hw.has_inta() {
            settings.model = Model::Polling;
        }
        let mut put = Put::new();
        match put.init(&mut hw, &settings) {
            Ok(started) => defmt::info!("{}", started),
            Err(error) => defmt::panic!("{}", error),
        }
        let user = put.register_sap().map(|sap| put.attach_mi_range(sap, 4));
        defmt::info!("user: {}", user);

        // A page to the other board, into the place from which it sends its own.
        let page = base.wrapping_add(config::PAGES);
        let told = Control::LMP
            .with(Control::NOS)
            .with(Control::LMI)
            .with(Control::NOR);
        let length = GREETING.len() as u32;
        let target = page.wrapping_add(length);
        let entry = Entry::page(1 - config::NODE, IDENTIFIER, page, target, length, told);
        defmt::info!("memory: {}", hw.store(page, &GREETING));
        defmt::info!("posted: {}", put.add_entry(&mut hw, entry).is_ok());

        loop {
            let sink = |event: Event| defmt::info!("{}", event);
            let asserted = matches!(hw.is_low(), Ok(true));
            let served = match settings.model {
                Model::Polling => put.poll(&mut hw, BUDGET, sink),
                _ if asserted => put.on_interrupt(&mut hw, BUDGET, sink),
                // A real image sleeps until the line's interrupt.
                _ => continue,
            };
            if let Err(error) = served {
                defmt::panic!("{}", error);
            }
        }
    }

    /// Headers of this node to port 0 of its router, all others to port 1.
    fn table() -> [u8; RoutingTable::WIRE_LEN] {
        let (zero, above) = if config::NODE == 0 { (1, 2) } else { (2, 1) };
        let mut outputs = [above; 8];
        outputs[0] = zero;
        RoutingTable::uniform([0, 1, 1, 1, 1, 1, 1, 1], outputs).emit()
    }
}
