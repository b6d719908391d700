//! Two boards on one cable: controller (model and RTL in lock-step), bridge and
//! memory each. A driver that keeps no manners makes the traffic.
#![allow(dead_code, unused_imports)]

mod board;
mod profile;
mod rig;
mod seen;
mod software;

pub use board::{Board, next, page};
pub use profile::Profile;
pub use rig::{Fault, Rig, start_writes};
pub use seen::Seen;
pub use software::Software;

pub const MEMORY: usize = 1 << 20;
pub const LPE: u32 = 0x1000;
pub const LMI: u32 = 0x2000;
pub const ENTRIES: u32 = 16;
pub const LRM: u32 = 0x4000;
pub const DATA: u32 = 0x1_0000;

pub const STATUS: u8 = 0x40;
pub const MASK: u8 = 0x44;
pub const COMMAND: u8 = 0x48;
pub const LPE_CURRENT: u8 = 0x54;
pub const LPE_NEW: u8 = 0x58;
pub const LMI_CURRENT: u8 = 0x64;
pub const LMI_NEW: u8 = 0x68;

pub const TX_INIT: u32 = 1 << 14;
pub const R3_INIT: u32 = 1 << 13;
pub const RX_INIT: u32 = 1 << 12;
pub const LRM_ENABLE: u32 = 1 << 9;
pub const LOOPBACK: u32 = 1 << 8;
pub const ALL_ON: u32 = 8 << 28 | TX_INIT | R3_INIT | RX_INIT;
