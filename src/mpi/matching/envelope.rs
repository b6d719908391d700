//! What messages are matched by.

/// What a message is matched by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Envelope {
    /// Context of the communicator.
    pub context: u32,
    /// Rank of the sender in the communicator.
    pub source: u32,
    /// Tag; negative ones are the library's own.
    pub tag: i32,
}

/// What a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Pattern {
    /// Context of the communicator.
    pub context: u32,
    /// Rank of the sender; `None` is any.
    #[doc(alias = "ANY_SOURCE")]
    pub source: Option<u32>,
    /// Tag; `None` is any that is not negative.
    #[doc(alias = "ANY_TAG")]
    pub tag: Option<i32>,
}

impl Pattern {
    /// Whether a message of this envelope may go to this receive.
    #[must_use]
    pub fn matches(&self, envelope: &Envelope) -> bool {
        self.context == envelope.context
            && self.source.is_none_or(|source| source == envelope.source)
            && match self.tag {
                Some(tag) => tag == envelope.tag,
                None => envelope.tag >= 0,
            }
    }

    /// Which parts are wildcards: bit 0 the source, bit 1 the tag.
    pub(super) const fn class(&self) -> usize {
        self.source.is_none() as usize | (self.tag.is_none() as usize) << 1
    }

    /// A well-mixed number of the pattern, always the same: multiplication by
    /// odd constants (of the golden ratio and of MurmurHash3), high half folded
    /// into the low one.
    pub(super) const fn hash(&self) -> u32 {
        let source = match self.source {
            Some(source) => source as u64,
            None => 1 << 32,
        };
        let tag = match self.tag {
            Some(tag) => tag as u32 as u64,
            None => 1 << 32,
        };
        let mut h = (self.context as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ source;
        h = (h ^ h >> 32).wrapping_mul(0xFF51_AFD7_ED55_8CCD) ^ tag;
        h = (h ^ h >> 32).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
        (h >> 32) as u32
    }
}

impl Envelope {
    /// The pattern of wildcard class `class` that matches this envelope.
    pub(super) const fn pattern(&self, class: usize) -> Option<Pattern> {
        let any_tag = class & 2 != 0;
        if any_tag && self.tag < 0 {
            return None;
        }
        Some(Pattern {
            context: self.context,
            source: if class & 1 == 0 {
                Some(self.source)
            } else {
                None
            },
            tag: if any_tag { None } else { Some(self.tag) },
        })
    }
}

impl From<Envelope> for Pattern {
    /// The pattern that matches this envelope alone.
    fn from(envelope: Envelope) -> Self {
        Self {
            context: envelope.context,
            source: Some(envelope.source),
            tag: Some(envelope.tag),
        }
    }
}
