//! The router chip: 64 inputs, 16 groups of 4 outputs.
//!
//! One chip serves all three stages. As a *hyperbar* the four outputs of a
//! group are interchangeable: of the inputs that ask for the group the first
//! four, by position, get outputs 0, 1, 2, 3. As *four crossbars* an input
//! belongs to one of four 16 x 16 crossbars and can get only that crossbar's
//! output of the group. Priority is by position and fixed, nothing is kept
//! from one opening to the next. Source: hw/doc/maspar.md, "Stages".
//!
//! Requests come in as one 64-bit set for each group, so one arbitration of a
//! group is a dozen machine instructions.

use super::geometry::{GROUPS, WIRES};

/// What the outputs of a group are to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Personality {
    /// Interchangeable.
    #[default]
    Hyperbar,
    /// Output `k` belongs to crossbar `k`; the mask of each crossbar's inputs.
    Crossbars([u64; WIRES]),
}

impl Personality {
    /// Crossbars whose number is two bits of the input's position, the more
    /// significant one first. Bits are taken modulo 6, 64 inputs have no more.
    pub const fn crossbars_by(bits: [u8; 2]) -> Self {
        let mut masks = [0u64; WIRES];
        let mut input = 0u8;
        while input < 64 {
            let number = (input >> (bits[0] % 6) & 1) << 1 | input >> (bits[1] % 6) & 1;
            masks[number as usize & 3] |= 1 << input;
            input += 1;
        }
        Self::Crossbars(masks)
    }

    /// The inputs that get an output, of those that ask for one group.
    #[inline]
    pub fn winners(&self, wants: u64) -> u64 {
        match self {
            Self::Hyperbar => first_four(wants),
            Self::Crossbars(masks) => masks.iter().fold(0, |won, mask| won | lowest(wants & mask)),
        }
    }

    /// The input on each output of the group, [`None`](Option::None) for an
    /// idle one.
    #[inline]
    pub fn outputs(&self, wants: u64) -> [Option<u8>; WIRES] {
        let mut out = [None; WIRES];
        match self {
            Self::Hyperbar => {
                let mut left = wants;
                for output in &mut out {
                    if left == 0 {
                        break;
                    }
                    *output = Some(left.trailing_zeros() as u8);
                    left &= left - 1;
                }
            }
            Self::Crossbars(masks) => {
                for (output, mask) in out.iter_mut().zip(masks) {
                    let mine = wants & mask;
                    if mine != 0 {
                        *output = Some(mine.trailing_zeros() as u8);
                    }
                }
            }
        }
        out
    }
}

/// The lowest set bit alone.
#[inline]
pub(crate) const fn lowest(set: u64) -> u64 {
    set & set.wrapping_neg()
}

/// The four lowest set bits.
#[inline]
pub(crate) const fn first_four(set: u64) -> u64 {
    let a = set & set.wrapping_sub(1);
    let b = a & a.wrapping_sub(1);
    let c = b & b.wrapping_sub(1);
    let d = c & c.wrapping_sub(1);
    set ^ d
}

/// One router chip and the paths it holds.
///
/// Ports: `wants[g]` -- input, the set of inputs that ask for group `g`,
/// sampled by [`open`](Self::open); `outputs[g][k]` -- output, the input
/// connected to output `k` of group `g`, from a register.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RouterChip {
    personality: Personality,
    outputs: [[Option<u8>; WIRES]; GROUPS],
}

impl RouterChip {
    /// A chip without paths.
    pub const fn new(personality: Personality) -> Self {
        Self {
            personality,
            outputs: [[None; WIRES]; GROUPS],
        }
    }

    /// How its groups arbitrate.
    pub const fn personality(&self) -> Personality {
        self.personality
    }

    /// Arbitrates all groups at once; the paths hold until the next opening
    /// or [`close`](Self::close). An input that asks for two groups is given
    /// both: the chip does not look.
    pub fn open(&mut self, wants: &[u64; GROUPS]) {
        for (outputs, &wants) in self.outputs.iter_mut().zip(wants) {
            *outputs = self.personality.outputs(wants);
        }
    }

    /// Takes all paths down.
    pub fn close(&mut self) {
        self.outputs = [[None; WIRES]; GROUPS];
    }

    /// The input on each output, by group.
    pub const fn outputs(&self) -> &[[Option<u8>; WIRES]; GROUPS] {
        &self.outputs
    }

    /// The inputs that have a path.
    pub fn connected(&self) -> u64 {
        self.outputs
            .iter()
            .flatten()
            .flatten()
            .fold(0, |set, &input| set | 1 << (input & 63))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_four_are_the_lowest() {
        assert_eq!(first_four(0), 0);
        assert_eq!(first_four(0b1011), 0b1011);
        assert_eq!(first_four(0xFF00), 0x0F00);
        assert_eq!(first_four(u64::MAX), 0xF);
    }

    #[test]
    fn hyperbar_gives_wires_in_order_of_position() {
        let mut chip = RouterChip::new(Personality::Hyperbar);
        let mut wants = [0; GROUPS];
        wants[5] = 1 << 63 | 1 << 40 | 1 << 7 | 1 << 8 | 1 << 9;
        chip.open(&wants);
        assert_eq!(chip.outputs()[5], [Some(7), Some(8), Some(9), Some(40)]);
        assert_eq!(chip.connected(), 1 << 7 | 1 << 8 | 1 << 9 | 1 << 40);
        chip.close();
        assert_eq!(chip.connected(), 0);
    }

    #[test]
    fn crossbar_gives_each_input_only_its_own_wire() {
        let personality = Personality::crossbars_by([1, 0]);
        assert_eq!(personality.outputs(0b1_0001), [Some(0), None, None, None]);
        assert_eq!(personality.outputs(0b1010), [None, Some(1), None, Some(3)]);
        assert_eq!(personality.winners(0b1_1010), 0b1_1010);
    }

    #[test]
    fn winners_are_the_inputs_on_the_outputs() {
        for personality in [Personality::Hyperbar, Personality::crossbars_by([5, 2])] {
            let mut state = 1u64;
            for _ in 0..1000 {
                state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                let wants = state & state.rotate_left(17);
                let set = personality
                    .outputs(wants)
                    .iter()
                    .flatten()
                    .fold(0, |s, &i| s | 1 << i);
                assert_eq!(personality.winners(wants), set);
            }
        }
    }
}
