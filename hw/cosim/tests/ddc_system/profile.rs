//! What a random run does, and how often.

/// Which things a random run does, one in how many PCI cycles (0: never).
#[derive(Clone, Copy, Default)]
pub struct Profile {
    pub command: u32,
    /// Reads of any register.
    pub reads: u64,
    /// Writes of any value to any register.
    pub wild: u64,
    pub posts: u64,
    /// Reports given back, STATUS acknowledged, Bus Master set again.
    pub service: u64,
    /// Retry, disconnect, wait states.
    pub responses: u64,
    /// Aborts, bad parity.
    pub pci_faults: u64,
    pub grants: u64,
    pub link_faults: u64,
    pub cuts: u64,
    pub link_status: u64,
    /// COMMAND changes: MPL, balance, loopback, Rx off.
    pub commands: u64,
    pub resets: u64,
    /// Longest page.
    pub longest: u64,
    /// Short and composed messages, odd flags.
    pub kinds: bool,
    pub lrm: bool,
    /// Reports are given back only when the ring has run full.
    pub miser: bool,
    /// Now and then any address and any message identifier.
    pub wide: bool,
}

impl Profile {
    /// The bus keeps its rules: nothing is bent behind the bridge's back.
    pub fn is_legal(&self) -> bool {
        self.pci_faults == 0
    }
}
