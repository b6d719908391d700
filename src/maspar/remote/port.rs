//! One PE's end, with the interface of any other node.

use super::{PeArray, RemoteError};
use crate::remote::{Arrival, Progress, RemoteWrite, Transfer};

/// Names the transfer of a [`PePort`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Token(u32);

/// One PE's end of the [`PeArray`]: [`RemoteWrite`] as any other node has it.
///
/// [`poll`](RemoteWrite::poll) of any port does one router cycle for all.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PePort {
    pe: u16,
    last: u32,
    sent: bool,
    mail: Option<Arrival>,
}

impl PePort {
    /// The port of a PE.
    pub const fn new(pe: u16) -> Self {
        Self {
            pe,
            last: 0,
            sent: true,
            mail: None,
        }
    }

    /// Looks at what has left and arrived, without a router cycle.
    pub fn collect(&mut self, hw: &mut PeArray<'_>) {
        self.sent = hw.all_left(self.pe);
        if self.mail.is_none() {
            self.mail = hw.take_mail(self.pe);
        }
    }

    /// The PE.
    pub const fn pe(&self) -> u16 {
        self.pe
    }
}

impl<'a> RemoteWrite<PeArray<'a>> for PePort {
    type Token = Token;
    type Error = RemoteError;

    fn start(&mut self, hw: &mut PeArray<'a>, transfer: Transfer) -> Result<Token, RemoteError> {
        hw.post(self.pe, transfer)?;
        self.last = self.last.wrapping_add(1);
        self.sent = hw.all_left(self.pe);
        Ok(Token(self.last))
    }

    fn poll(&mut self, hw: &mut PeArray<'a>) -> Result<(), RemoteError> {
        hw.cycle();
        self.collect(hw);
        Ok(())
    }

    fn progress(&mut self, token: &Token) -> Result<Progress, RemoteError> {
        if token.0 == self.last {
            Ok(if self.sent {
                Progress::Sent
            } else {
                Progress::Pending
            })
        } else if self.last.wrapping_sub(token.0) < u32::MAX / 2 {
            // One at a time: an older one is over.
            Ok(Progress::Sent)
        } else {
            Err(RemoteError::WrongToken {
                number: token.0,
                last: self.last,
            })
        }
    }

    fn arrival(&mut self) -> Option<Arrival> {
        self.mail.take()
    }

    /// A PE has one transfer at a time; its own is over by polling, its
    /// notification once the receiver takes it.
    fn is_full(error: &RemoteError) -> bool {
        matches!(error, RemoteError::Busy { .. })
    }
}
