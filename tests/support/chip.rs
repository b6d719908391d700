//! Registers of the controller by offset, and the errors of STATUS: from
//! hw/doc/pci-ddc.md, not from the code under test.
#![allow(dead_code, reason = "each test uses its part")]

pub const PCI_04: u8 = 0x04;
pub const STATUS: u8 = 0x40;
pub const MASK: u8 = 0x44;
pub const COMMAND: u8 = 0x48;
pub const MSG: u8 = 0x4C;
pub const LPE_CURRENT: u8 = 0x54;
pub const LPE_NEW: u8 = 0x58;
pub const LPE_BASE: u8 = 0x5C;
pub const LMI_CURRENT: u8 = 0x64;
pub const LMI_NEW: u8 = 0x68;
pub const LMI_BASE: u8 = 0x6C;

pub const EEP: u32 = 1 << 23;
pub const CRC_HEADER: u32 = 1 << 22;
pub const CRC_DATA: u32 = 1 << 21;
pub const EP: u32 = 1 << 20;
pub const TIMEOUT: u32 = 1 << 19;
pub const R3: u32 = 1 << 18;
pub const SENT_OF: u32 = 1 << 15;
pub const RECEIVED_OF: u32 = 1 << 14;
pub const ILLEGAL_LRM: u32 = 1 << 13;
pub const LMI_OF: u32 = 1 << 12;
/// All of them.
pub const ERRORS: u32 = 0x00FF_F000;
