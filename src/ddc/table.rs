//! How a register is declared: once, in a form that reads like a data sheet.
//!
//! The macro yields a newtype with a getter and a `with_` setter for each
//! field, and one [`RegisterInfo`]; the tables drive the chip's write masks and
//! the generic register tests.

/// What software can do with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Access {
    /// Read only.
    ReadOnly,
    /// Read and write.
    ReadWrite,
    /// Write only: reads 0.
    WriteOnly,
    /// Set by hardware, cleared by writing 1.
    WriteOneClears,
    /// Shows that a counter holds at least this many; writing 1 takes so many off.
    Acknowledge(u16),
}

/// A field of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct FieldInfo {
    /// Its name in the code.
    pub name: &'static str,
    /// Lowest bit.
    pub low: u8,
    /// Highest bit.
    pub high: u8,
    /// What software can do with it.
    pub access: Access,
}

impl FieldInfo {
    /// The bits of the field.
    pub const fn mask(&self) -> u32 {
        (u32::MAX >> (31 - (self.high - self.low))) << self.low
    }
}

/// A register of the configuration space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct RegisterInfo {
    /// The chip's name.
    pub name: &'static str,
    /// Offset in configuration space.
    pub offset: u8,
    /// Value after reset (identification registers: the default parameters).
    pub reset: u32,
    /// Its fields, low bits first; the bits not named are reserved, read 0 and
    /// ignore writes.
    pub fields: &'static [FieldInfo],
}

impl RegisterInfo {
    /// The bits of one access kind.
    pub const fn mask(&self, access: Access) -> u32 {
        let mut mask = 0;
        let mut rest = self.fields;
        while let [field, tail @ ..] = rest {
            let same = match (field.access, access) {
                (Access::ReadOnly, Access::ReadOnly)
                | (Access::ReadWrite, Access::ReadWrite)
                | (Access::WriteOnly, Access::WriteOnly)
                | (Access::WriteOneClears, Access::WriteOneClears) => true,
                (Access::Acknowledge(a), Access::Acknowledge(b)) => a == b,
                _ => false,
            };
            if same {
                mask |= field.mask();
            }
            rest = tail;
        }
        mask
    }
}

macro_rules! access {
    (ro) => {
        $crate::ddc::registers::Access::ReadOnly
    };
    (rw) => {
        $crate::ddc::registers::Access::ReadWrite
    };
    (wo) => {
        $crate::ddc::registers::Access::WriteOnly
    };
    (w1c) => {
        $crate::ddc::registers::Access::WriteOneClears
    };
    (ack($amount:literal)) => {
        $crate::ddc::registers::Access::Acknowledge($amount)
    };
}

/// Declares registers; see the module.
macro_rules! registers {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident($chip:literal) @ $offset:literal, reset $reset:literal {
            $(
                $(#[$field_meta:meta])*
                $field:ident / $with:ident: $low:literal..=$high:literal => $access:ident $(($amount:literal))?,
            )*
        }
    )*) => {
        $(
            $(#[$meta])*
            #[doc(alias = $chip)]
            #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
            pub struct $name(u32);

            impl $name {
                /// Offset in configuration space.
                pub const OFFSET: u8 = $offset;
                /// The declaration as data.
                pub const INFO: $crate::ddc::registers::RegisterInfo = $crate::ddc::registers::RegisterInfo {
                    name: $chip,
                    offset: $offset,
                    reset: $reset,
                    fields: &[$(
                        $crate::ddc::registers::FieldInfo {
                            name: stringify!($field),
                            low: $low,
                            high: $high,
                            access: access!($access $(($amount))?),
                        },
                    )*],
                };

                /// The register that holds these bits.
                pub const fn from_bits(bits: u32) -> Self {
                    Self(bits)
                }

                /// The bits.
                pub const fn bits(self) -> u32 {
                    self.0
                }

                $(
                    $(#[$field_meta])*
                    pub const fn $field(self) -> u32 {
                        (self.0 >> $low) & (u32::MAX >> (31 - ($high - $low)))
                    }

                    /// The same register with this field set (bits that do not fit are dropped).
                    #[must_use]
                    pub const fn $with(self, value: u32) -> Self {
                        let mask = (u32::MAX >> (31 - ($high - $low))) << $low;
                        Self(self.0 & !mask | (value << $low) & mask)
                    }
                )*
            }

            impl core::fmt::Debug for $name {
                fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    write!(f, "{}={:#010x}", $chip, self.0)?;
                    $(
                        if self.$field() != 0 {
                            write!(f, " {}={:#x}", stringify!($field), self.$field())?;
                        }
                    )*
                    Ok(())
                }
            }

            #[cfg(feature = "defmt")]
            impl defmt::Format for $name {
                fn format(&self, f: defmt::Formatter<'_>) {
                    defmt::write!(f, "{=str}={=u32:#010x}", $chip, self.0);
                }
            }
        )*

        /// Every register of the chip, by offset.
        pub const REGISTERS: &[$crate::ddc::registers::RegisterInfo] = &[$($name::INFO),*];
    };
}
