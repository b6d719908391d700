//! What a MasPar router is made of.

use core::ffi::c_char;

use multipc::maspar::{InputOrder, MachineSize, Pick, RouterConfig, Stage1};

use crate::error::{Error, call, multipc_status};
use crate::raw;

/// The structure of a MasPar router; `multipc_maspar_config_preset` fills it in. What each
/// choice rests on: hw/doc/maspar.md.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct multipc_maspar_config {
    /// PEs: 1024, 2048, 4096, 8192 or 16,384.
    pub pes: u32,
    /// `ropen`, in ticks.
    pub ropen_ticks: u32,
    /// `rfetchc` without its data bits, in ticks.
    pub transfer_ticks: u32,
    /// The rest of one time round the loop, in ticks.
    pub rest_ticks: u32,
    /// The four bits of the target cluster's number that steer stage 1, most significant
    /// first.
    pub group: [u8; 4],
    /// Not 0: stage-1 chips are four crossbars instead of hyperbars.
    pub crossbars: u8,
    /// The two bits of the source cluster's number that choose the crossbar.
    pub crossbar_bits: [u8; 2],
    /// The stage-1 wires in the order of their priority at stage 2.
    pub stage2_wires: [u8; 4],
    /// Not 0: stage 2 has all wires of one board, then those of the next; else one wire of
    /// all boards, then the next wire.
    pub board_by_board: u8,
    /// The stage-2 wires in the order of their priority at stage 3.
    pub stage3_wires: [u8; 4],
    /// Not 0: a cluster puts forward its highest PE that asks, else its lowest.
    pub highest: u8,
}

/// A structure with a name, into `*config`: `mp1`, `mp2`, `no-reversal`,
/// `board-by-board`, `stage3-descending`, `crossbars`.
///
/// # Safety
/// `name` is null or a text that ends with a zero, `config` null or leads to what its type
/// says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_maspar_config_preset(
    name: *const c_char,
    config: *mut multipc_maspar_config,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let name = unsafe { raw::text(name, "name") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(config, "config") }?;
        let known = RouterConfig::PRESETS;
        let Some((_, preset)) = known.iter().find(|(known, _)| *known == name) else {
            let names = known.map(|(name, _)| name).join(", ");
            return Err(Error::argument(format!(
                "no structure is called {name:?}; known are {names}"
            )));
        };
        let (crossbars, crossbar_bits) = match preset.stage1 {
            Stage1::Crossbars(bits) => (1, bits),
            _ => (0, [5, 4]),
        };
        out.put(multipc_maspar_config {
            pes: preset.size.pes() as u32,
            ropen_ticks: preset.costs.ropen,
            transfer_ticks: preset.costs.transfer,
            rest_ticks: preset.costs.rest,
            group: preset.group,
            crossbars,
            crossbar_bits,
            stage2_wires: preset.stage2_wires,
            board_by_board: (preset.stage2_inputs == InputOrder::BoardByBoard).into(),
            stage3_wires: preset.stage3_wires,
            highest: (preset.pick == Pick::Highest).into(),
        });
        Ok(())
    })
}

impl multipc_maspar_config {
    pub(super) fn router(&self) -> Result<RouterConfig, Error> {
        let argument = |text: String| Error::argument(text);
        let mut config = RouterConfig::MP1;
        config.size =
            MachineSize::from_pes(self.pes as usize).map_err(|e| argument(e.to_string()))?;
        config.costs.ropen = self.ropen_ticks;
        config.costs.transfer = self.transfer_ticks;
        config.costs.rest = self.rest_ticks;
        config.group = self.group;
        if self.crossbars != 0 {
            config.stage1 = Stage1::Crossbars(self.crossbar_bits);
        }
        config.stage2_wires = self.stage2_wires;
        if self.board_by_board != 0 {
            config.stage2_inputs = InputOrder::BoardByBoard;
        }
        config.stage3_wires = self.stage3_wires;
        if self.highest != 0 {
            config.pick = Pick::Highest;
        }
        Ok(config)
    }
}
