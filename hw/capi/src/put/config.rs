//! Opening and closing a driver.

use multipc::put::{
    Acknowledge, Capabilities, InitError, Model, Policy, PutConfig, ReportScan, TABLE_LEN,
};

use super::{multipc_put, port, taken};
use crate::ddc::{self, MULTIPC_REVISION_IDEAL, MULTIPC_REVISION_RUN_1, MULTIPC_REVISION_RUN_2};
use crate::error::{Error, MULTIPC_ERROR_BUS, MULTIPC_ERROR_BUSY, call, multipc_status};
use crate::pins::MULTIPC_TABLE_BYTES;
use crate::raw;

/// Pages that left and messages that arrived raise INTA#: `multipc_put_interrupt`.
pub const MULTIPC_MODEL_INTERRUPT: u32 = 0;
/// Only errors raise INTA#: `multipc_put_poll`.
pub const MULTIPC_MODEL_POLLING: u32 = 1;

/// What a driver is told when it is opened; `multipc_put_config_default` fills it in.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct multipc_put_config {
    /// `MULTIPC_TABLE_BYTES` for the board's router (`multipc_machine_table`), read
    /// during the call. Null: no node is reached by links.
    pub table: *const u8,
    /// Physical address of the driver's tables, a multiple of 16; they take
    /// 32 `entries` + 4 `counters` bytes.
    pub base: u32,
    /// Entries of each of the two rings, 2 to 65,536, one less usable. Default 1024.
    pub entries: u32,
    /// Packet counters, 0 to 2^24. Default 65,536.
    pub counters: u32,
    /// This node. Default: the one of the hardware.
    pub node: u32,
    /// Nodes of the machine, 1 to 256. Default 16.
    pub nodes: u32,
    /// `MULTIPC_MODEL_...`. Default interrupt.
    pub model: u32,
    /// The silicon whose faults the driver works around, `MULTIPC_REVISION_...`.
    /// Default ideal.
    pub revision: u32,
    /// Whose error handling it has: that of the drivers of the two runs, or ours,
    /// `MULTIPC_REVISION_...`. Default ideal (ours).
    pub policy: u32,
    /// Physical address, a multiple of 4, of 65,544 bytes for pages that the first run
    /// cannot read in place; 0, the default, is none.
    pub bounce: u32,
    /// Entries kept back in the count of free ones. Default 0.
    pub reserve: u32,
    /// Not 0: packets are counted; composed messages need it. Default 0.
    pub count_packets: u8,
    /// Not 0: one write acknowledges up to 4096 pages or messages. Default 0: one.
    pub weighted: u8,
    /// Not 0: reports are looked at only while a message is counted, as the driver of
    /// the record does. Default 0.
    pub when_counted: u8,
    /// Not 0: a layer above sends lost messages again, so that errors of a link do not
    /// stop the board. Default 0.
    pub recovery: u8,
    /// Not 0: register 00h may hold anything. Default 0: it must hold 0.
    pub any_identity: u8,
}

/// How an opening went.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct multipc_put_started {
    /// STATUS at the end.
    pub status: u32,
    /// 1: nodes are reached by links, since a table was loaded and the controller told
    /// no error.
    pub links: u8,
}

const _: () = assert!(MULTIPC_TABLE_BYTES == TABLE_LEN);

/// The recommended configuration for a driver.
///
/// # Safety
/// `put` is null or a handle, `config` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_put_config_default(
    put: *const multipc_put,
    config: *mut multipc_put_config,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let driver = unsafe { taken(put) }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(config, "config") }?;
        let default = PutConfig::default();
        out.put(multipc_put_config {
            table: core::ptr::null(),
            base: default.base,
            entries: default.entries,
            counters: default.counters,
            node: driver.hardware.node(),
            nodes: default.nodes.into(),
            model: MULTIPC_MODEL_INTERRUPT,
            revision: MULTIPC_REVISION_IDEAL,
            policy: MULTIPC_REVISION_IDEAL,
            bounce: 0,
            reserve: default.reserve,
            count_packets: 0,
            weighted: 0,
            when_counted: 0,
            recovery: 0,
            any_identity: 0,
        });
        Ok(())
    })
}

/// Opens the driver: soft resets, rings, routing table, enables (hw/doc/put.md, "Start").
/// On silicon a second passes before `multipc_put_ready`; on a machine it is enough that
/// the links work.
///
/// # Safety
/// `put` is null or a handle, the others are null or lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_put_open(
    put: *mut multipc_put,
    config: *const multipc_put_config,
    started: *mut multipc_put_started,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let driver = &mut *unsafe { taken(put) }?;
        // SAFETY: as above.
        let config = unsafe { raw::read(config, "config") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(started, "started") }?;
        let table;
        let table = if config.table.is_null() {
            None
        } else {
            let bytes = config.table.cast::<[u8; TABLE_LEN]>();
            // SAFETY: as above.
            table = unsafe { raw::read(bytes, "table") }?;
            Some(&table[..])
        };
        let settings = config.settings(table)?;
        let begun = driver.put.begin(&mut driver.hardware, &settings);
        let begun = begun.map_err(|error| match error {
            InitError::Port(error) => port(error),
            InitError::AlreadyOpen => Error::new(MULTIPC_ERROR_BUSY, error.to_string()),
            InitError::NoBoard { .. } => Error::new(MULTIPC_ERROR_BUS, error.to_string()),
            _ => Error::argument(error.to_string()),
        })?;
        driver.saps = Default::default();
        driver.events.clear();
        out.put(multipc_put_started {
            status: begun.status,
            links: begun.hsl.into(),
        });
        Ok(())
    })
}

/// Ends the time after an opening in which what the board tells is ignored; in other
/// phases nothing.
///
/// # Safety
/// `put` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_put_ready(put: *mut multipc_put) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller.
        let driver = &mut *unsafe { taken(put) }?;
        driver.put.settled(&mut driver.hardware).map_err(port)
    })
}

/// Closes the driver: users, identifiers and events that wait are gone. The board is not
/// touched.
///
/// # Safety
/// `put` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_put_close(put: *mut multipc_put) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller.
        let driver = &mut *unsafe { taken(put) }?;
        driver.put.end();
        driver.saps = Default::default();
        driver.events.clear();
        Ok(())
    })
}

impl multipc_put_config {
    fn settings<'t>(&self, table: Option<&'t [u8]>) -> Result<PutConfig<'t>, Error> {
        let short = |name: &str, value: u32| {
            u16::try_from(value)
                .map_err(|_| Error::argument(format!("{name} {value}, allowed 0..65536")))
        };
        let mut settings = PutConfig::default();
        settings.table = table;
        settings.base = self.base;
        settings.entries = self.entries;
        settings.counters = self.counters;
        settings.node = short("node", self.node)?;
        settings.nodes = short("nodes", self.nodes)?;
        settings.model = match self.model {
            MULTIPC_MODEL_INTERRUPT => Model::Interrupt,
            MULTIPC_MODEL_POLLING => Model::Polling,
            other => return Err(Error::argument(format!("model {other}, known are 0, 1"))),
        };
        settings.capabilities = Capabilities::from_errata(ddc::config(self.revision)?.revision);
        settings.policy = match self.policy {
            MULTIPC_REVISION_IDEAL => Policy::Ideal,
            MULTIPC_REVISION_RUN_1 => Policy::Run1,
            MULTIPC_REVISION_RUN_2 => Policy::Run2,
            other => {
                return Err(Error::argument(format!(
                    "policy {other}, known are 0, 1, 2"
                )));
            }
        };
        settings.bounce = (self.bounce != 0).then_some(self.bounce);
        settings.reserve = self.reserve;
        settings.count_packets = self.count_packets != 0;
        if self.weighted != 0 {
            settings.acknowledge = Acknowledge::Weighted;
        }
        if self.when_counted != 0 {
            settings.scan = ReportScan::WhenCounted;
        }
        settings.recovery = self.recovery != 0;
        settings.identity = (self.any_identity == 0).then_some(0);
        Ok(settings)
    }
}
