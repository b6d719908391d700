//! Symbols and control codes: the one table.
//!
//! Only EP is on record; the other control codes are chosen, all distinct
//! (hw/doc/hsl.md, "Control codes").

use core::fmt;

/// One 9-bit character: bit 8 marks a control character.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Symbol(u16);

impl Symbol {
    /// Normal end of packet. On record.
    pub const EP: Self = Self(0x12B);
    /// Exceptional end of packet. Chosen.
    pub const EEP: Self = Self(0x14B);
    /// Flow control: 32 more characters may be sent. Chosen.
    pub const FCC: Self = Self(0x18B);
    /// Filler. Chosen.
    pub const IDLE: Self = Self(0x1AB);
    /// Start-up request. Chosen.
    #[doc(alias = "REQ")]
    pub const REQUEST: Self = Self(0x1C3);
    /// Start-up acknowledge. Chosen.
    #[doc(alias = "ACK")]
    pub const ACKNOWLEDGE: Self = Self(0x1E3);
    /// PCI-DDC: begin of a packet; routers pass it. Chosen.
    pub const BP: Self = Self(0x11B);
    /// PCI-DDC: end of the data of a packet; routers pass it. Chosen.
    pub const ED: Self = Self(0x13B);

    /// The table: every control code with its name.
    pub const CONTROL: [(Self, &'static str); 8] = [
        (Self::EP, "EP"),
        (Self::EEP, "EEP"),
        (Self::FCC, "FCC"),
        (Self::IDLE, "IDLE"),
        (Self::REQUEST, "REQUEST"),
        (Self::ACKNOWLEDGE, "ACKNOWLEDGE"),
        (Self::BP, "BP"),
        (Self::ED, "ED"),
    ];

    /// A data character.
    pub const fn data(value: u8) -> Self {
        Self(value as u16)
    }

    /// The character of these 9 bits (higher bits are dropped).
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & 0x1FF)
    }

    /// The 9 bits.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The low 8 bits.
    pub const fn value(self) -> u8 {
        self.0 as u8
    }

    /// Bit 8.
    pub const fn is_control(self) -> bool {
        self.0 & 0x100 != 0
    }

    /// EP or EEP: ends a packet and releases the circuit.
    pub const fn ends_packet(self) -> bool {
        self.0 == Self::EP.0 || self.0 == Self::EEP.0
    }

    /// FCC, IDLE and the start-up characters: they live between two ends of a
    /// link, cost no credit and are never stored or routed.
    pub const fn is_link_level(self) -> bool {
        matches!(
            self,
            Self::FCC | Self::IDLE | Self::REQUEST | Self::ACKNOWLEDGE
        )
    }

    /// The name of a control code in the table.
    pub fn name(self) -> Option<&'static str> {
        Self::CONTROL
            .iter()
            .find(|(code, _)| *code == self)
            .map(|&(_, name)| name)
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None if self.is_control() => write!(f, "control {:#05x}", self.0),
            None => write!(f, "{:02x}", self.0),
        }
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What one direction of a port carries in one link cycle.
///
/// A serial port carries a symbol, or no signal while its sender is in reset.
/// A parallel port carries a symbol with `senddata` high, or IDLE for
/// `senddata` low, and beside it the pulse `sendfcc` (seen by the other side as
/// `fccreceived`): there FCC takes no character time.
///
/// ```text
/// bit  15..11   10         9          8        7..0
///      0        no signal  FCC pulse  control  value
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Line(u16);

impl Line {
    const FCC_PULSE: u16 = 0x200;
    const NO_SIGNAL: u16 = 0x400;

    /// Nothing to say, signal present.
    pub const IDLE: Self = Self(Symbol::IDLE.0);
    /// No signal: the sender is held in reset, its output is forced to 0.
    pub const DEAD: Self = Self(Self::NO_SIGNAL);

    /// A line that carries `symbol`.
    pub const fn symbol_of(symbol: Symbol) -> Self {
        Self(symbol.0)
    }

    /// The line of these bits; higher bits are dropped.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & 0x7FF)
    }

    /// The bits, laid out as above.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The same with the FCC pulse of a parallel port.
    pub const fn with_fcc_pulse(self) -> Self {
        Self(self.0 | Self::FCC_PULSE)
    }

    /// The FCC pulse of a parallel port.
    pub const fn fcc_pulse(self) -> bool {
        self.0 & Self::FCC_PULSE != 0
    }

    /// A signal is there (possibly IDLE).
    pub const fn has_signal(self) -> bool {
        self.0 & Self::NO_SIGNAL == 0
    }

    /// The symbol; meaningless without signal.
    pub const fn symbol(self) -> Symbol {
        Symbol(self.0 & 0x1FF)
    }

    /// IDLE or no signal, and no pulse: it can go on for ever.
    pub const fn is_quiet(self) -> bool {
        self.0 == Self::IDLE.0 || self.0 == Self::DEAD.0
    }
}

impl Default for Line {
    fn default() -> Self {
        Self::DEAD
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.has_signal(), self.fcc_pulse()) {
            (false, _) => f.write_str("-"),
            (true, true) => write!(f, "{}+fcc", self.symbol()),
            (true, false) => write!(f, "{}", self.symbol()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_codes_are_distinct_and_control() {
        for (i, (code, name)) in Symbol::CONTROL.iter().enumerate() {
            assert!(code.is_control(), "{name}");
            assert!(
                Symbol::CONTROL
                    .iter()
                    .skip(i + 1)
                    .all(|(other, _)| other != code),
                "{name}"
            );
        }
    }

    #[test]
    fn ep_is_the_recorded_code() {
        assert_eq!(Symbol::EP.bits(), 0b1_0010_1011);
    }

    #[test]
    fn a_line_keeps_its_parts() {
        let line = Line::symbol_of(Symbol::data(0xA5)).with_fcc_pulse();
        assert_eq!(line.symbol(), Symbol::data(0xA5));
        assert!(line.fcc_pulse() && line.has_signal() && !line.is_quiet());
        assert!(Line::IDLE.is_quiet() && Line::DEAD.is_quiet() && !Line::DEAD.has_signal());
    }
}
