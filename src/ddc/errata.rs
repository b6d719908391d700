//! The errata of the two silicon runs, as names.
//!
//! [`Revision`] is a set of [`Erratum`]; the chip looks here to know how to
//! misbehave, the driver to know what to work around. What each one does
//! exactly, and what answers it: hw/doc/errata.md.

use core::fmt;

/// One documented fault of the silicon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
#[repr(u8)]
pub enum Erratum {
    /// 1: writes to LMI_CURRENT and LMI_NEW reach each other.
    SwappedReportPointers = 1,
    /// 2: a page with NOS but without LMP is not counted.
    SilentPage = 2,
    /// 3: packet counters (LRM) never complete a message.
    BrokenCounters = 3,
    /// 4: control bit 24 does not reach the report. The ideal chip does the same.
    Bit24NotCarried = 4,
    /// 5: the detected-parity bit of 04h sets itself, without an interrupt.
    SpuriousParityBit = 5,
    /// 6: a soft reset does not always take.
    UnreliableReset = 6,
    /// 7: interrupts without a cause after the start.
    SpuriousStartInterrupts = 7,
    /// 8: LMP on an intermediate page ends the message for the receiver. The
    /// ideal chip does the same.
    EarlyEnd = 8,
    /// 9: packets of more than one data word carry a wrong word.
    #[doc(alias = "MPL")]
    LongPacketRace = 9,
    /// 10: a short message arrives with wrong data.
    #[doc(alias = "SM")]
    BrokenShortMessages = 10,
    /// 11: a page to an unaligned remote address that crosses a word lands
    /// beside its place.
    UnalignedRemote = 11,
    /// 12: a page from an unaligned local address that crosses a word is read
    /// from beside its place.
    UnalignedLocal = 12,
    /// 13: a page begun while another one waits makes the chip skip that one.
    OnePageOnly = 13,
    /// 14: a configuration read during a reception spoils the data written.
    #[doc(alias = "NO_CONFIG_READ")]
    ReadSpoilsReception = 14,
    /// 15: an overflow of the report ring clears Bus Master whatever the mask.
    OverflowStopsBusMaster = 15,
    /// 16: the overflow bit of the report ring is cleared by bit 13, not 12.
    OverflowClearedBy13 = 16,
    /// 17: some errors leave Bus Master set, and clearing it does not always
    /// stop the chip.
    RunawayBusMaster = 17,
    /// 18: behind a 440BX chipset, pages are lost and interrupts superfluous
    /// when several entries are outstanding.
    #[doc(alias = "LPE_SLOW")]
    #[doc(alias = "LPE_BURST")]
    #[doc(alias = "440BX")]
    LostPages440Bx = 18,
    /// 19: configuration reads sometimes give 0xFFFFFFFF.
    ReadsAllOnes = 19,
    /// 20: STATUS shows the cause later than INTA#.
    LateCause = 20,
    /// 21: a cut packet costs up to two messages.
    #[doc(alias = "AVOID_LINK_ERROR")]
    LinkErrorLosesMessages = 21,
}

impl Erratum {
    /// All of them, by number.
    pub const ALL: [Self; 21] = [
        Self::SwappedReportPointers,
        Self::SilentPage,
        Self::BrokenCounters,
        Self::Bit24NotCarried,
        Self::SpuriousParityBit,
        Self::UnreliableReset,
        Self::SpuriousStartInterrupts,
        Self::EarlyEnd,
        Self::LongPacketRace,
        Self::BrokenShortMessages,
        Self::UnalignedRemote,
        Self::UnalignedLocal,
        Self::OnePageOnly,
        Self::ReadSpoilsReception,
        Self::OverflowStopsBusMaster,
        Self::OverflowClearedBy13,
        Self::RunawayBusMaster,
        Self::LostPages440Bx,
        Self::ReadsAllOnes,
        Self::LateCause,
        Self::LinkErrorLosesMessages,
    ];

    /// Its number in hw/doc/errata.md, 1..=21.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The erratum of this number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }

    /// Its name, in lower case with dashes: what configuration files say.
    pub const fn name(self) -> &'static str {
        self.texts().0
    }

    /// The erratum of this [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|erratum| erratum.name() == name)
    }

    /// What goes wrong, in one line.
    pub const fn description(self) -> &'static str {
        self.texts().1
    }

    const fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::SwappedReportPointers => (
                "swapped-report-pointers",
                "writes to LMI_CURRENT and LMI_NEW reach each other",
            ),
            Self::SilentPage => ("silent-page", "NOS without LMP is not counted"),
            Self::BrokenCounters => (
                "broken-counters",
                "packet counters never complete a message",
            ),
            Self::Bit24NotCarried => (
                "bit24-not-carried",
                "control bit 24 does not reach the report",
            ),
            Self::SpuriousParityBit => (
                "spurious-parity-bit",
                "the detected-parity bit sets itself without an interrupt",
            ),
            Self::UnreliableReset => ("unreliable-reset", "a soft reset does not always take"),
            Self::SpuriousStartInterrupts => (
                "spurious-start-interrupts",
                "interrupts without a cause after the start",
            ),
            Self::EarlyEnd => (
                "early-end",
                "LMP on an intermediate page ends the message for the receiver",
            ),
            Self::LongPacketRace => (
                "long-packet-race",
                "packets of more than one word carry a wrong word",
            ),
            Self::BrokenShortMessages => (
                "broken-short-messages",
                "short messages arrive with wrong data",
            ),
            Self::UnalignedRemote => (
                "unaligned-remote",
                "unaligned remote pages that cross a word land beside their place",
            ),
            Self::UnalignedLocal => (
                "unaligned-local",
                "unaligned local pages that cross a word are read beside their place",
            ),
            Self::OnePageOnly => (
                "one-page-only",
                "an entry that waits behind another one is skipped",
            ),
            Self::ReadSpoilsReception => (
                "read-spoils-reception",
                "a configuration read during a reception spoils the data",
            ),
            Self::OverflowStopsBusMaster => (
                "overflow-stops-bus-master",
                "a full report ring clears Bus Master whatever the mask",
            ),
            Self::OverflowClearedBy13 => (
                "overflow-cleared-by-13",
                "the report overflow bit is cleared by bit 13",
            ),
            Self::RunawayBusMaster => (
                "runaway-bus-master",
                "errors leave Bus Master set, and clearing it may not stop the chip",
            ),
            Self::LostPages440Bx => (
                "lost-pages-440bx",
                "behind a 440BX, pages are lost when several are outstanding",
            ),
            Self::ReadsAllOnes => (
                "reads-all-ones",
                "configuration reads sometimes give 0xffffffff",
            ),
            Self::LateCause => ("late-cause", "STATUS shows the cause later than INTA#"),
            Self::LinkErrorLosesMessages => (
                "link-error-loses-messages",
                "a cut packet costs up to two messages",
            ),
        }
    }

    /// The first run has it.
    pub const fn in_run_1(self) -> bool {
        Revision::RUN_1.has(self)
    }

    /// The second run has it.
    pub const fn in_run_2(self) -> bool {
        Revision::RUN_2.has(self)
    }
}

impl fmt::Display for Erratum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}: {}",
            self.number(),
            self.name(),
            self.description()
        )
    }
}

/// A set of errata.
///
/// ```
/// use multipc::ddc::{Erratum, Revision};
///
/// let chip = Revision::IDEAL.with(Erratum::SwappedReportPointers);
/// assert!(chip.has(Erratum::SwappedReportPointers));
/// assert_eq!(Revision::RUN_1.iter().count(), 15);
/// // The second run behind a 440LX.
/// let lx = Revision::RUN_2.without(Erratum::LostPages440Bx);
/// assert!(!lx.has(Erratum::LostPages440Bx));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Revision(u32);

impl Revision {
    /// The chip as specified.
    #[doc(alias = "Ideal")]
    pub const IDEAL: Self = Self(0);
    /// The first silicon run: errata 1 to 15.
    #[doc(alias = "Run1")]
    pub const RUN_1: Self = Self(0x7FFF);
    /// The second silicon run, behind a 440BX: errata 1 to 8 and 16 to 21.
    #[doc(alias = "Run2")]
    pub const RUN_2: Self = Self(0x1F_80FF);

    /// This erratum alone.
    pub const fn only(erratum: Erratum) -> Self {
        Self::IDEAL.with(erratum)
    }

    /// With this erratum.
    #[must_use]
    pub const fn with(self, erratum: Erratum) -> Self {
        Self(self.0 | 1 << (erratum.number() - 1))
    }

    /// Without this erratum.
    #[must_use]
    pub const fn without(self, erratum: Erratum) -> Self {
        Self(self.0 & !(1 << (erratum.number() - 1)))
    }

    /// The errata of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it has this erratum.
    #[inline]
    pub const fn has(self, erratum: Erratum) -> bool {
        self.0 >> (erratum.number() - 1) & 1 == 1
    }

    /// Whether it has none.
    #[inline]
    pub const fn is_ideal(self) -> bool {
        self.0 == 0
    }

    /// Its errata, by number.
    pub fn iter(self) -> impl Iterator<Item = Erratum> {
        Erratum::ALL
            .into_iter()
            .filter(move |erratum| self.has(*erratum))
    }

    /// The set of these.
    pub fn of(errata: &[Erratum]) -> Self {
        errata.iter().fold(Self::IDEAL, |set, &e| set.with(e))
    }
}

impl From<Erratum> for Revision {
    fn from(erratum: Erratum) -> Self {
        Self::only(erratum)
    }
}

/// `ideal`, `run 1`, `run 2`, or the numbers.
impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::IDEAL => f.write_str("ideal"),
            Self::RUN_1 => f.write_str("run 1"),
            Self::RUN_2 => f.write_str("run 2"),
            _ => {
                f.write_str("errata")?;
                let mut separator = ' ';
                for erratum in self.iter() {
                    write!(f, "{separator}{}", erratum.number())?;
                    separator = ',';
                }
                Ok(())
            }
        }
    }
}

impl fmt::Debug for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Revision({self})")
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Revision {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Revision({=u32:#x})", self.0);
    }
}

/// Where the record says that something happens sometimes, how often it does
/// here. All are chosen: short enough to be met in a test, and countable, so
/// that every run repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct ErrataRates {
    /// Erratum 5: of so many configuration writes one sets the parity bit.
    pub parity_writes: u16,
    /// Erratum 6: of so many soft resets one takes. The record's driver does 4.
    pub resets: u8,
    /// Erratum 7: PCI cycles, counted while Bus Master is set, for which there
    /// are spurious interrupts after a reset. Chosen: 2^24, half a second, since
    /// the record's driver ignores interrupts for a second.
    pub spurious_window: u32,
    /// Erratum 7: PCI cycles from one to the next.
    pub spurious_period: u32,
    /// Erratum 7: PCI cycles that each lasts.
    pub spurious_length: u32,
    /// Erratum 17: of so many writes that clear Bus Master one does not stop
    /// the chip.
    pub runaway_clears: u8,
    /// Erratum 18: of so many pages begun while another entry waits one is lost.
    pub lost_pages: u8,
    /// Erratum 19: the period of the wrong reads, in reads.
    pub all_ones_period: u16,
    /// Erratum 19: wrong reads in a row; the record's driver tries 11 times.
    pub all_ones_run: u16,
    /// Erratum 20: PCI cycles that STATUS is late. Chosen: 64; the record's
    /// driver looks 11 times, which are some 200 cycles.
    pub cause_delay: u16,
}

impl Default for ErrataRates {
    fn default() -> Self {
        Self {
            parity_writes: 8,
            resets: 4,
            spurious_window: 1 << 24,
            spurious_period: 4096,
            spurious_length: 32,
            runaway_clears: 2,
            lost_pages: 2,
            all_ones_period: 16,
            all_ones_run: 3,
            cause_delay: 64,
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    #[test]
    fn runs_have_the_recorded_errata() {
        let numbers = |revision: Revision| revision.iter().map(Erratum::number).collect::<Vec<_>>();
        assert_eq!(numbers(Revision::RUN_1), (1..=15).collect::<Vec<_>>());
        let second: Vec<u8> = (1..=8).chain(16..=21).collect();
        assert_eq!(numbers(Revision::RUN_2), second);
        assert_eq!(numbers(Revision::IDEAL), [0u8; 0]);
    }

    #[test]
    fn each_erratum_has_its_own_number_and_name() {
        for (number, erratum) in (1..).zip(Erratum::ALL) {
            assert_eq!(erratum.number(), number);
            assert_eq!(Erratum::from_number(number), Some(erratum));
            assert_eq!(Erratum::from_name(erratum.name()), Some(erratum));
            assert_eq!(
                Revision::only(erratum).iter().collect::<Vec<_>>(),
                [erratum]
            );
            assert!(Revision::only(erratum).without(erratum).is_ideal());
        }
        assert_eq!(Erratum::from_number(0), None);
        assert_eq!(Erratum::from_number(22), None);
    }

    #[test]
    fn a_set_prints_as_its_run_or_its_numbers() {
        assert_eq!(Revision::RUN_2.to_string(), "run 2");
        let odd = Revision::of(&[Erratum::LateCause, Erratum::SilentPage]);
        assert_eq!(odd.to_string(), "errata 2,20");
    }
}
