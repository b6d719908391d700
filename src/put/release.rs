//! One page at a time: what is posted waits in the ring until the page before
//! has left.

use super::driver::{Hardware, Put};
use super::error::PortErrorOf;
use super::pieces::crosses;
use super::start::{load, store, write};
use crate::ddc::lme::Descriptor;
use crate::ddc::registers::LpeNew;

/// Bytes copied at a time.
const CHUNK: usize = 64;

impl Put {
    /// Gives the next waiting page to the chip, if it has none.
    pub(crate) fn release<H: Hardware + ?Sized>(
        &mut self,
        hw: &mut H,
    ) -> Result<(), PortErrorOf<H>> {
        if !self.settings.capabilities.one_page || self.ring.outstanding() != 0 {
            return Ok(());
        }
        let Some(index) = self.ring.staged() else {
            return Ok(());
        };
        if !self.settings.capabilities.unaligned_local {
            self.bounce(hw, self.layout.lme(index))?;
        }
        let next = super::ring::after(index, self.layout.entries());
        write(hw, LpeNew::OFFSET, self.layout.lme(next))?;
        self.ring.publish_one();
        self.presumed = false;
        Ok(())
    }

    /// Copies the page of the entry at `address` into the bounce buffer, if the
    /// chip cannot read it in place. The buffer is free: no page is outstanding.
    fn bounce<H: Hardware + ?Sized>(&self, hw: &mut H, address: u32) -> Result<(), PortErrorOf<H>> {
        let mut bytes = [0; Descriptor::WIRE_LEN];
        load(hw, address, &mut bytes)?;
        let mut descriptor = Descriptor::parse(&bytes);
        let length = descriptor.page_length;
        let Some(buffer) = self.settings.bounce else {
            return Ok(());
        };
        if descriptor.control.is_short() || !crosses(descriptor.plsa, length) {
            return Ok(());
        }
        let mut chunk = [0; CHUNK];
        let mut done = 0;
        while done < u32::from(length) {
            let n = (u32::from(length) - done).min(CHUNK as u32);
            let part = chunk.get_mut(..n as usize).unwrap_or_default();
            load(hw, descriptor.plsa.wrapping_add(done), part)?;
            store(hw, buffer.wrapping_add(done), part)?;
            done += n;
        }
        descriptor.plsa = buffer;
        store(hw, address, &descriptor.emit())
    }
}
