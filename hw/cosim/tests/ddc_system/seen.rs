//! What a random run has met.

use multipc_cosim::ddc::Resettable;

use super::{Board, LMI_NEW, LPE_CURRENT, STATUS};

/// What happened, for a bench in which nothing does would agree, too.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub reports: u64,
    pub pages: u64,
    /// Rises of STATUS 31:12.
    pub status: [u64; 20],
    /// Rises of 04h 31:24.
    pub pci: [u64; 8],
    /// Transfers of each kind.
    pub kinds: [u64; 7],
    pub stops: u64,
    pub resets: u64,
    last: [[u32; 4]; 2],
}

impl Seen {
    pub(super) fn look<R: Resettable>(&mut self, i: usize, board: &Board<R>) {
        let now = [STATUS, 4, LMI_NEW, LPE_CURRENT].map(|offset| board.register(offset));
        let was = std::mem::replace(&mut self.last[i], now);
        for (k, count) in self.status.iter_mut().enumerate() {
            *count += u64::from(now[0] & !was[0]) >> (12 + k) & 1;
        }
        for (k, count) in self.pci.iter_mut().enumerate() {
            *count += u64::from(now[1] & !was[1]) >> (24 + k) & 1;
        }
        self.stops += u64::from(!now[1] & was[1]) >> 2 & 1;
        self.reports += u64::from(now[2] != was[2]);
        self.pages += u64::from(now[3] != was[3]);
        let kind = (now[0] >> 8 & 0xF) as usize;
        if kind != (was[0] >> 8 & 0xF) as usize {
            self.kinds[kind] += 1;
        }
    }
}

impl Seen {
    pub fn add(&mut self, other: &Self) {
        self.reports += other.reports;
        self.pages += other.pages;
        self.stops += other.stops;
        self.resets += other.resets;
        let add = |a: &mut [u64], b: &[u64]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        add(&mut self.status, &other.status);
        add(&mut self.pci, &other.pci);
        add(&mut self.kinds, &other.kinds);
    }
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "  {} pages, {} reports, {} stops of the bus master, {} resets",
            self.pages, self.reports, self.stops, self.resets
        )?;
        writeln!(f, "  transfers 1 to 6 {:?}", &self.kinds[1..])?;
        writeln!(f, "  rises of STATUS 12 to 31 {:?}", self.status)?;
        write!(f, "  rises of 04h 24 to 31 {:?}", self.pci)
    }
}
