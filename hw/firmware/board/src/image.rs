//! The image.

use board::{Dma, Region, config};
use firmware_support::entry;

use crate::interrupt;

static REGION: Region<{ config::DMA_BYTES }> = Region::new();

/// The DMA memory at its bus address.
fn memory() -> Option<Dma> {
    let address = REGION.address() as u32;
    REGION.take(address.wrapping_add(config::BUS_OFFSET))
}

#[cfg(feature = "plain-ram")]
#[entry]
fn main() -> ! {
    firmware_support::finish(plain::run())
}

#[cfg(not(feature = "plain-ram"))]
#[entry]
fn main() -> ! {
    match memory() {
        Some(dma) => real::run(dma),
        None => defmt::panic!("DMA memory was taken"),
    }
}

/// Plain RAM in the place of the registers.
#[cfg(feature = "plain-ram")]
mod plain {
    use board::plain_ram::{self, Failure, Ram, check_driver, check_memory, check_port};
    use board::{Hardware, config};
    use firmware_support::asked;
    #[cfg(target_arch = "riscv32")]
    use firmware_support::device::core_interrupt;
    #[cfg(target_arch = "arm")]
    use firmware_support::device::exception;
    use firmware_support::device::{Input, Timer};
    use multipc::put::{Event, Put};
    #[cfg(target_arch = "riscv32")]
    use riscv::interrupt::Interrupt;

    use super::interrupt::{self, Events, Shared};

    /// What ends a sleep when the line does not, in the processor's time.
    const FAR_US: u32 = 500_000;

    static RAM: Ram = Ram::new();

    pub fn run() -> Result<(), Failure> {
        // SAFETY: the one port on it.
        let mut port = unsafe { RAM.port() };
        check_port(&RAM, &mut port)?;
        defmt::info!("port: 64 registers in their places");
        let mut dma = super::memory().ok_or(Failure::Taken)?;
        check_memory(&mut dma, config::DMA_BYTES as u32)?;
        defmt::info!("memory: at {=u32:#010x} on the bus", dma.base());
        let mut hw = Hardware::new(port, dma, config::CPU_HZ);
        check_driver(&RAM, &mut hw, config::PAGES)?;
        defmt::info!("driver: started, one page, one report");
        check_handler(hw)
    }

    /// The same page and report, told by the handler to a loop that sleeps. With the
    /// word `deaf` nobody pulls the line, and the check must find it.
    fn check_handler(mut hw: Hardware) -> Result<(), Failure> {
        let put = plain_ram::start(&RAM, &mut hw, config::PAGES)?;
        let mut events = interrupt::start(hw, put, true).ok_or(Failure::Taken)?;
        interrupt::with(|shared| plain_ram::page_leaves(&RAM, &shared.hw, 1));
        pull();
        told(&mut events, 1, is_sent)?;
        interrupt::with(|shared| plain_ram::report_arrives(&RAM, &mut shared.hw)).transpose()?;
        pull();
        told(&mut events, 2, |event| {
            matches!(event, Event::Received { mi: 3, .. })
        })?;
        interrupt::with(|shared| plain_ram::report_is_taken(&RAM, &shared.hw)).transpose()?;
        defmt::info!("handler: two interrupts, one page, one report");
        check_full(&mut events)
    }

    /// Three pages, and a queue with room for two that nobody empties: the third
    /// interrupt serves nothing and masks the line, and only the loop that has emptied
    /// the queue lets it interrupt again.
    fn check_full(events: &mut Events) -> Result<(), Failure> {
        for nth in 2..=4 {
            interrupt::with(|Shared { hw, put, .. }| {
                plain_ram::post(hw, put, config::PAGES)?;
                plain_ram::page_leaves(&RAM, hw, nth);
                Ok::<(), Failure>(())
            })
            .transpose()?;
            pull();
        }
        for _ in 0..2 {
            look(events.next()?, 5, is_sent)?;
        }
        told(events, 6, is_sent)?;
        defmt::info!("handler: waits for room in the queue");
        check_error(events)
    }

    /// A driver that did not start is an error of each interrupt. It comes after the loop
    /// has asked: the line stays masked, and the loop does not sleep on the error.
    fn check_error(events: &mut Events) -> Result<(), Failure> {
        interrupt::with(|shared| shared.put = Put::new());
        if let event @ Some(_) = events.next()? {
            return look(event, 6, |_| false);
        }
        pull();
        Timer::arm(FAR_US);
        events.sleep();
        let taken = interrupt::with(|&mut Shared { taken, .. }| taken).unwrap_or(0);
        match events.next() {
            Err(_) if taken == 7 => {
                Timer::disarm();
                defmt::info!("handler: an error ends the sleep, the line stays masked");
                Ok(())
            }
            event => look(event?, 7, |_| false),
        }
    }

    fn is_sent(event: Event) -> bool {
        matches!(event, Event::Sent { mi: 2, .. })
    }

    /// Pulls the line.
    fn pull() {
        Input::drive(!asked("deaf"));
    }

    /// Sleeps, and looks at the one event, after so many interrupts.
    fn told(
        events: &mut Events,
        expected: u32,
        right: impl Fn(Event) -> bool,
    ) -> Result<(), Failure> {
        Timer::arm(FAR_US);
        events.sleep();
        look(events.next()?, expected, right)?;
        match events.next()? {
            None => Ok(()),
            event => look(event, expected, |_| false),
        }
    }

    /// Whether this is the right event, after so many interrupts.
    fn look(
        event: Option<Event>,
        expected: u32,
        right: impl Fn(Event) -> bool,
    ) -> Result<(), Failure> {
        let taken = interrupt::with(|&mut Shared { taken, .. }| taken).unwrap_or(0);
        if event.is_some_and(right) && taken == expected {
            Ok(())
        } else {
            Err(Failure::Handler {
                taken,
                expected,
                event,
            })
        }
    }

    #[cfg_attr(target_arch = "arm", exception)]
    #[cfg_attr(target_arch = "riscv32", core_interrupt(Interrupt::MachineTimer))]
    #[allow(non_snake_case)]
    fn SysTick() {
        Timer::disarm();
    }
}

/// The registers of the configuration.
#[cfg(not(feature = "plain-ram"))]
mod real {
    use board::{Dma, Hardware, MmioPort, config};
    use multipc::put::{Control, DmaMemory, Entry, Model, Put, PutConfig};
    use multipc::rcube::RoutingTable;

    use super::interrupt::{self, Events, Shared};

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
        let mut settings = PutConfig::new(config::NODE, hw.dma_base(), &table);
        settings.nodes = 2;
        settings.entries = config::ENTRIES;
        settings.counters = 0;
        if !config::INTERRUPTS {
            settings.model = Model::Polling;
        }
        // The start waits for the links; the line interrupts only afterwards.
        let mut put = Put::new();
        match put.init(&mut hw, &settings) {
            Ok(started) => defmt::info!("{}", started),
            Err(error) => defmt::panic!("{}", error),
        }
        let user = put.register_sap().map(|sap| put.attach_mi_range(sap, 4));
        defmt::info!("user: {}", user);

        let Some(mut events) = interrupt::start(hw, put, config::INTERRUPTS) else {
            defmt::panic!("the queue of events was taken")
        };
        defmt::info!("posted: {}", interrupt::with(greet));
        loop {
            if let Err(error) = round(&mut events) {
                defmt::panic!("{}", error);
            }
        }
    }

    /// The main loop: what is told, then sleep.
    fn round(events: &mut Events) -> Result<(), interrupt::Error> {
        while let Some(event) = events.next()? {
            defmt::info!("{}", event);
        }
        if config::INTERRUPTS {
            events.sleep();
            Ok(())
        } else {
            events.poll()
        }
    }

    /// A page to the other board, into the place from which it sends its own.
    fn greet(Shared { hw, put, .. }: &mut Shared) -> bool {
        let page = hw.dma_base().wrapping_add(config::PAGES);
        let told = Control::LMP
            .with(Control::NOS)
            .with(Control::LMI)
            .with(Control::NOR);
        let length = GREETING.len() as u32;
        let target = page.wrapping_add(length);
        let entry = Entry::page(1 - config::NODE, IDENTIFIER, page, target, length, told);
        hw.store(page, &GREETING).is_ok() && put.add_entry(hw, entry).is_ok()
    }

    /// Headers of this node to port 0 of its router, all others to port 1.
    fn table() -> [u8; RoutingTable::WIRE_LEN] {
        let (zero, above) = if config::NODE == 0 { (1, 2) } else { (2, 1) };
        let mut outputs = [above; 8];
        outputs[0] = zero;
        RoutingTable::uniform([0, 1, 1, 1, 1, 1, 1, 1], outputs).emit()
    }
}
