//! What can be chosen about a host bridge, and what a caller can get wrong.

use core::fmt;

use super::arbiter::Agent;

/// When a target answers with DEVSEL#, counted from the edge that samples the
/// address: the edge that samples DEVSEL# asserted comes 1 to 4 clocks later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum DecodeSpeed {
    /// 1 clock.
    Fast,
    /// 2 clocks.
    #[default]
    Medium,
    /// 3 clocks.
    Slow,
    /// 4 clocks.
    Subtractive,
}

impl DecodeSpeed {
    /// Edges between the one that samples the address and the one after which
    /// DEVSEL# is driven.
    pub(super) const fn delay(self) -> u32 {
        match self {
            Self::Fast => 0,
            Self::Medium => 1,
            Self::Slow => 2,
            Self::Subtractive => 3,
        }
    }
}

/// The timing of a board's chipset.
///
/// The record has sums, not parts: about 20 PCI clocks a page that do not
/// overlap with the page before, and a latency of 1.7 to 2.1 us for a page of
/// 1 to 4 bytes. The defaults add up to both (hw/doc/pci.md, "Budget").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct BridgeConfig {
    /// PCI clocks from REQ# visible to the address visible, on an idle bus; 2
    /// at least (values below count as 2). Default 2, chosen: one clock in the
    /// arbiter, one in the initiator, the least with registered pins.
    pub request_to_grant: u32,
    /// Clocks between the address and the first data of a read. Default 5,
    /// chosen: the budget. DEVSEL# and the turn-around of AD may need more.
    pub read_latency: u32,
    /// Clocks between the address and the first data of a write. Default 2,
    /// chosen: the budget; a write is posted, so it need not wait for DRAM.
    pub write_latency: u32,
    /// Clocks lost before each further word. Default 0, chosen: measured
    /// throughput leaves no room for wait states.
    pub wait_states: u32,
    /// When the memory answers with DEVSEL#. Default medium, chosen: usual for
    /// chipsets of that time, and hidden by the latencies above.
    pub devsel: DecodeSpeed,
    /// Who has the grant while nobody asks. Default nobody, chosen: then each
    /// access pays the budget's request-to-grant time.
    pub park: Option<Agent>,
    /// Idle clocks after which a granted agent that does not start loses the
    /// grant to one that asks. Default 16, from the PCI specification.
    pub idle_grant_limit: u32,
    /// Clocks from FRAME# visible to the end of a configuration access that no
    /// DEVSEL# answers (master abort); 5 at least. Default 5, from the PCI
    /// specification.
    pub master_abort_clocks: u32,
    /// Clocks without request after a retried configuration access; 2 at
    /// least. Default 2, from the PCI specification.
    pub retry_backoff: u32,
    /// Retries of one configuration access before it fails. Default 4096,
    /// chosen: far above any transfer that could hold the device busy.
    pub retry_limit: u32,
    /// Data parity errors assert PERR#. Default true.
    pub parity_response: bool,
    /// Address parity errors assert SERR#. Default true.
    pub serr_enable: bool,
}

impl Default for BridgeConfig {
    fn default() -> Self {
        Self {
            request_to_grant: 2,
            read_latency: 5,
            write_latency: 2,
            wait_states: 0,
            devsel: DecodeSpeed::Medium,
            park: None,
            idle_grant_limit: 16,
            master_abort_clocks: 5,
            retry_backoff: 2,
            retry_limit: 4096,
            parity_response: true,
            serr_enable: true,
        }
    }
}

/// How the memory answers one transaction it claims, other than smoothly: for
/// tests and faults, through [`HostBridge::respond_next`](super::HostBridge::respond_next).
///
/// A count that the burst does not reach has no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum TargetResponse {
    /// As configured.
    #[default]
    Normal,
    /// STOP# before any data.
    Retry,
    /// This many words, then STOP# without data (0 is a retry).
    DisconnectAfter(u32),
    /// STOP# together with TRDY# on the word of this number, counted from 1
    /// (0 is a retry).
    DisconnectWith(u32),
    /// STOP# with DEVSEL# deasserted, before any data.
    TargetAbort,
    /// This many words, then a target abort.
    AbortAfter(u32),
    /// This many clocks more before the first data.
    ExtraLatency(u32),
    /// This many clocks lost before each word after the first, instead of the
    /// configured ones.
    WaitStates(u32),
    /// Read data with PAR inverted.
    BadParity,
    /// No DEVSEL#: the initiator ends with a master abort.
    Ignore,
}

/// A call that a [`HostBridge`](super::HostBridge) cannot take, or an access
/// that did not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum BridgeError {
    /// The access before is still running or its outcome was not taken.
    Busy {
        /// Offset of the access before.
        offset: u8,
    },
    /// Configuration accesses are whole 32-bit registers.
    Misaligned {
        /// The offset asked for.
        offset: u8,
    },
    /// [`TargetResponse`]s wait already for as many transactions as fit.
    ResponsesFull {
        /// How many fit.
        max: usize,
    },
    /// Nobody answered with DEVSEL#.
    MasterAbort {
        /// Offset of the access.
        offset: u8,
    },
    /// The device refused: STOP# without DEVSEL#.
    TargetAbort {
        /// Offset of the access.
        offset: u8,
    },
    /// The device answered each attempt with a retry.
    RetryLimit {
        /// Offset of the access.
        offset: u8,
        /// Attempts that were retried.
        retries: u32,
        /// Retries allowed.
        max: u32,
    },
    /// The value read came with a wrong PAR.
    Parity {
        /// Offset of the access.
        offset: u8,
        /// The value as it was on AD.
        value: u32,
    },
}

impl fmt::Display for BridgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy { offset } => {
                write!(
                    f,
                    "configuration access at {offset:#04x} is not finished or not taken"
                )
            }
            Self::Misaligned { offset } => {
                write!(
                    f,
                    "configuration offset {offset:#04x} is not a multiple of 4"
                )
            }
            Self::ResponsesFull { max } => {
                write!(f, "{max} target responses wait already, {max} allowed")
            }
            Self::MasterAbort { offset } => {
                write!(
                    f,
                    "configuration access at {offset:#04x}: no DEVSEL#, master abort"
                )
            }
            Self::TargetAbort { offset } => {
                write!(f, "configuration access at {offset:#04x}: target abort")
            }
            Self::RetryLimit {
                offset,
                retries,
                max,
            } => write!(
                f,
                "configuration access at {offset:#04x}: retried {retries} times, {max} allowed"
            ),
            Self::Parity { offset, value } => write!(
                f,
                "configuration read at {offset:#04x}: wrong parity with value {value:#010x}"
            ),
        }
    }
}

impl core::error::Error for BridgeError {}
