//! The rules, one line each.

use core::fmt;

macro_rules! rules {
    ($($kind:ident $name:ident: $text:literal,)*) => {
        /// A rule of the bus that a [`Checker`](super::Checker) holds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = concat!("Broken when ", $text, ".")] $name,)*
        }

        impl Rule {
            /// Every rule.
            pub const ALL: [Self; [$(Self::$name),*].len()] = [$(Self::$name),*];

            /// What breaks the rule.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// Slow, but not wrong: the rule is about time only.
            pub const fn is_warning(self) -> bool {
                match self { $(Self::$name => rules!(@ $kind),)* }
            }
        }
    };
    (@ error) => { false };
    (@ warning) => { true };
}

rules! {
    error AdConflict: "two agents drive AD in one clock",
    error CbeConflict: "two agents drive C/BE# in one clock",
    error ParConflict: "two agents drive PAR in one clock",
    error ControlConflict: "two agents drive one of FRAME#, IRDY#, TRDY#, DEVSEL#, STOP#, PERR# in one clock",
    error AdTurnaround: "AD, C/BE# or PAR goes from one agent to the other without a clock in between",
    error ControlTurnaround: "a sustained tri-state line goes from one agent to the other without a clock in between",
    error NotRestored: "a sustained tri-state line is released without being driven high for a clock",
    error TwoGrants: "both GNT# are asserted",
    error GrantSwitchedIdle: "GNT# goes from one agent to the other on an idle bus without a clock in between",
    error AddressWithoutGrant: "FRAME# is asserted by an agent without GNT# in the clock before",
    error AddressOnBusyBus: "FRAME# is asserted by the other agent without an idle clock in between",
    error FrameReasserted: "FRAME# is asserted again within a transaction",
    error FrameReleasedEarly: "FRAME# is deasserted while IRDY# is not asserted",
    error FrameChangedInPhase: "FRAME# changes while IRDY# waits for the target",
    error IrdyDropped: "IRDY# is deasserted before the data phase completes",
    error IrdyWithoutTransaction: "IRDY# is asserted without transaction",
    error EnablesChanged: "C/BE# changes while IRDY# waits for the target",
    error WriteDataChanged: "AD changes while IRDY# waits for the target of a write",
    error StopIgnored: "FRAME# stays asserted after a data phase that STOP# ended",
    error MasterAbortEarly: "the initiator gives up sooner than 5 clocks after FRAME#",
    error DevselLate: "DEVSEL# is asserted later than 4 clocks after FRAME#",
    error DevselDropped: "DEVSEL# is deasserted within a transaction without a target abort",
    error TrdyWithoutDevsel: "TRDY# is asserted while DEVSEL# is not",
    error StopWithoutDevsel: "STOP# is asserted before DEVSEL#, or without it together with TRDY#",
    error TargetWithoutTransaction: "TRDY#, DEVSEL# or STOP# is asserted without transaction or in its address clock",
    error TargetChangedInPhase: "TRDY#, DEVSEL# or STOP# changes while the target waits for IRDY#",
    error StopReleasedEarly: "STOP# is deasserted while FRAME# is still asserted",
    error DataAfterStop: "TRDY# is asserted after a data phase that STOP# ended",
    error ReadDataChanged: "AD changes while the target of a read waits for IRDY#",
    error ParityMissing: "nobody drives PAR in the clock after an address or valid data",
    error ParityWrong: "PAR does not fit the AD and C/BE# of the clock before",
    error PerrUnexpected: "PERR# is asserted without data two clocks before",
    error IdselMisplaced: "IDSEL is high outside the address clock of a configuration access",
    warning FirstDataLate: "the target takes more than 16 clocks from FRAME# to the first TRDY# or STOP#",
    warning NextDataLate: "the target takes more than 8 clocks from one data phase to the next TRDY# or STOP#",
    warning IrdyLate: "the initiator takes more than 8 clocks in a data phase to assert IRDY#",
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// A broken rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Violation {
    /// The clock, counted from 0 at the first observation.
    pub cycle: u64,
    /// The rule.
    pub rule: Rule,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PCI clock {}: {}", self.cycle, self.rule)
    }
}
