//! What a node knows of another one: numbers sent, numbers accepted, and who
//! was asked what.
//!
//! ```text
//!               something to send                    state of this epoch
//!   UNKNOWN ------------------------> ASKING ------------------------------> OPEN
//!      ^                              |    ^                                  |
//!      |   attempts used up: given up |    |  timeout, something is missing,  |
//!      +------------------------------+    |  board restarted, silence        |
//!                                          +----------------------------------+
//! ```

use super::jobs::is_before;
use crate::put::Sequence;
use crate::time::Instant;

/// Whether messages may go to the node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Contact {
    /// It was never heard, or given up.
    #[default]
    Unknown,
    /// It was asked what it has accepted: nothing is sent until it tells.
    Asking {
        /// Questions without answer.
        attempts: u8,
        /// The question must be put, once more.
        due: bool,
        /// Whatever it tells is where the numbers start.
        fresh: bool,
    },
    /// It takes messages.
    Open,
}

/// What the node is owed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owed {
    #[default]
    Nothing,
    /// How far its messages were accepted.
    State,
    /// The same, and that something is missing.
    Missing,
}

/// What an answer tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// Nothing new.
    Nothing,
    /// Accepted up to the number told.
    Progress,
    /// The answer to a question: go on from the number told, and so many are
    /// sent again.
    Resume { again: u32 },
    /// The node does not remember what it had accepted; go on from what it tells.
    Forgotten,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Peer {
    pub(super) contact: Contact,
    pub(super) epoch: u32,
    /// Numbers: the next one, and the oldest that is not acknowledged.
    pub(super) next: u32,
    pub(super) acked: u32,
    /// Since when nothing has changed, and when it was heard last.
    pub(super) since: Instant,
    pub(super) heard: Instant,
    /// The board was restarted for it, and will not be once more: neither in
    /// this round of questions, nor, while others are heard, before it was heard
    /// or was given up 1, 2, 4, 8... times.
    pub(super) restarted: bool,
    /// Times in a row that it was given up: it is asked more and more rarely.
    pub(super) given_up: u8,
    /// It sent something since the board was started.
    pub(super) talked: bool,
    /// The last entries posted to it, until they have left.
    pub(super) query: Option<Sequence>,
    pub(super) state: Option<Sequence>,
    pub(super) data: Option<Sequence>,
    /// The other direction: its epoch, the number that comes next.
    pub(super) epoch_in: u32,
    pub(super) expected: u32,
    pub(super) owed: Owed,
}

impl Peer {
    pub(super) const fn in_flight(&self) -> u32 {
        self.next.wrapping_sub(self.acked)
    }

    pub(super) const fn is_asking(&self) -> bool {
        matches!(self.contact, Contact::Asking { .. })
    }

    /// Starts an epoch: asks what was accepted, unless that is asked already.
    pub(super) fn ask(&mut self, now: Instant) -> bool {
        let fresh = match self.contact {
            Contact::Asking { .. } => return false,
            Contact::Unknown => true,
            Contact::Open => false,
        };
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            // Kept for "never heard".
            self.epoch = 1;
        }
        self.contact = Contact::Asking {
            attempts: 0,
            due: true,
            fresh,
        };
        self.since = now;
        true
    }

    /// Somebody has something for it again: questions put out of curiosity do
    /// not count against that.
    pub(super) fn wanted(&mut self, now: Instant) {
        if let Contact::Asking { attempts, due, .. } = &mut self.contact {
            (*attempts, *due) = (0, true);
            self.since = now;
        }
    }

    /// It was not heard any more.
    pub(super) fn give_up(&mut self, now: Instant) {
        self.contact = Contact::Unknown;
        self.heard = now;
        self.given_up = self.given_up.saturating_add(1);
        // A link may have broken after the last restart.
        self.restarted &= !self.given_up.is_power_of_two();
        self.owed = Owed::Nothing;
    }

    /// The board was restarted: what was posted is gone.
    pub(super) fn restart(&mut self, now: Instant) {
        (self.query, self.state, self.data) = (None, None, None);
        if let Contact::Asking { due, .. } = &mut self.contact {
            *due = true;
            self.since = now;
        } else if self.in_flight() > 0 {
            self.ask(now);
        }
        // It will ask by itself if nobody tells; whoever does not talk may be
        // what the board was stuck on.
        self.owed = if self.talked {
            Owed::Missing
        } else {
            Owed::Nothing
        };
        self.talked = false;
    }

    /// Owes the node at least this much.
    pub(super) fn owe(&mut self, owed: Owed) {
        self.owed = self.owed.max(owed);
    }

    /// The node tells that it has accepted, under `epoch`, all before `number`.
    pub(super) fn told(&mut self, epoch: u32, number: u32, missing: bool, now: Instant) -> Told {
        self.heard = now;
        self.restarted = false;
        self.given_up = 0;
        let known = number.wrapping_sub(self.acked) <= self.in_flight();
        match self.contact {
            Contact::Asking { fresh, .. } if epoch == self.epoch => {
                let again = self.next.wrapping_sub(number);
                self.contact = Contact::Open;
                self.since = now;
                (self.acked, self.next) = (number, number);
                if known && !fresh {
                    Told::Resume { again }
                } else {
                    Told::Forgotten
                }
            }
            Contact::Open if epoch == self.epoch => {
                let progress = known && number != self.acked;
                if progress {
                    self.acked = number;
                    self.since = now;
                }
                if missing && self.in_flight() > 0 {
                    self.ask(now);
                }
                if progress {
                    Told::Progress
                } else {
                    Told::Nothing
                }
            }
            // It has forgotten our epoch, or has not heard of it yet.
            Contact::Open if missing => {
                self.ask(now);
                Told::Nothing
            }
            _ => Told::Nothing,
        }
    }

    /// Whether message `number` of `epoch` is the one to accept; what is owed
    /// for it otherwise.
    pub(super) fn wants(&self, epoch: u32, number: u32) -> Result<(), Owed> {
        if epoch != self.epoch_in {
            Err(Owed::Missing)
        } else if number == self.expected {
            Ok(())
        } else if is_before(number, self.expected) {
            Err(Owed::State)
        } else {
            Err(Owed::Missing)
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    const T0: Instant = Instant::from_ps(0);

    fn open(acked: u32, next: u32) -> Peer {
        Peer {
            contact: Contact::Open,
            epoch: 7,
            acked,
            next,
            ..Peer::default()
        }
    }

    #[test]
    fn first_contact_takes_the_number_that_the_receiver_expects() {
        let mut peer = Peer::default();
        assert!(peer.ask(T0) && !peer.ask(T0));
        assert_eq!(peer.told(99, 5, false, T0), Told::Nothing);
        assert_eq!(peer.told(1, 500, false, T0), Told::Forgotten);
        assert_eq!(
            (peer.contact, peer.next, peer.acked),
            (Contact::Open, 500, 500)
        );
    }

    #[test]
    fn what_comes_while_a_heartbeat_asks_has_all_its_questions() {
        let mut peer = Peer::default();
        peer.wanted(T0);
        assert_eq!(peer.contact, Contact::Unknown);
        peer.ask(T0);
        let epoch = peer.epoch;
        peer.contact = Contact::Asking {
            attempts: 7,
            due: false,
            fresh: true,
        };
        peer.wanted(T0);
        let asking = Contact::Asking {
            attempts: 0,
            due: true,
            fresh: true,
        };
        assert_eq!((peer.contact, peer.epoch), (asking, epoch));
    }

    #[test]
    fn the_board_is_restarted_again_after_1_2_4_and_8_rounds_in_vain() {
        let mut peer = Peer::default();
        let mut rounds = std::vec::Vec::new();
        for round in 0..20 {
            if !core::mem::replace(&mut peer.restarted, true) {
                rounds.push(round);
            }
            peer.give_up(T0);
        }
        assert_eq!(rounds, [0, 1, 2, 4, 8, 16]);
    }

    #[test]
    fn acknowledgements_are_cumulative_and_never_go_back() {
        let mut peer = open(u32::MAX - 1, 3);
        assert_eq!(peer.told(7, 1, false, T0), Told::Progress);
        assert_eq!(peer.told(7, u32::MAX, false, T0), Told::Nothing);
        assert_eq!(peer.told(7, 4, false, T0), Told::Nothing);
        assert_eq!((peer.acked, peer.in_flight()), (1, 2));
    }

    #[test]
    fn something_missing_starts_one_epoch() {
        let mut peer = open(10, 14);
        assert_eq!(peer.told(7, 11, true, T0), Told::Progress);
        assert_eq!((peer.epoch, peer.is_asking()), (8, true));
        // Late ones of the old epoch change nothing.
        assert_eq!(peer.told(7, 11, true, T0), Told::Nothing);
        assert_eq!(peer.told(8, 12, false, T0), Told::Resume { again: 2 });
        assert_eq!((peer.acked, peer.next), (12, 12));
    }

    #[test]
    fn nothing_in_flight_is_missing_nothing() {
        let mut peer = open(10, 10);
        assert_eq!(peer.told(7, 10, true, T0), Told::Nothing);
        assert_eq!(peer.contact, Contact::Open);
    }

    #[test]
    fn a_receiver_that_lost_its_memory_is_noticed() {
        let mut peer = open(10, 14);
        // Its first answer carries no epoch of ours.
        assert_eq!(peer.told(0, 0, true, T0), Told::Nothing);
        assert_eq!(peer.told(8, 0, false, T0), Told::Forgotten);
        assert_eq!((peer.acked, peer.next), (0, 0));
    }

    #[test]
    fn only_the_next_number_of_the_epoch_is_accepted() {
        let peer = Peer {
            epoch_in: 3,
            expected: 0,
            ..Peer::default()
        };
        assert_eq!(peer.wants(3, 0), Ok(()));
        assert_eq!(peer.wants(3, u32::MAX), Err(Owed::State));
        assert_eq!(peer.wants(3, 1), Err(Owed::Missing));
        assert_eq!(peer.wants(2, 0), Err(Owed::Missing));
    }
}
