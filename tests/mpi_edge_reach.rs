//! The edges of the message layer (hw/doc/mpi.md, section "Edges"): buffers that
//! no controller reaches.
#![cfg(feature = "alloc")]

mod mpi_rig;

use mpi_rig::{Rig, free};
use multipc::mpi::endpoint::{Buffer, EndpointError, PeerState};
use multipc::mpi::{Lent, Piece, Port};
use multipc::remote::{Arrival, Progress, Transfer};

/// User memory that the controller cannot address: 4 GB up.
struct High<P>(P, u64);

const UP: u64 = 1 << 32;

impl<P: Port> Port for High<P> {
    type Token = P::Token;
    type Error = P::Error;

    fn start(&mut self, transfer: Transfer) -> Result<Option<P::Token>, P::Error> {
        self.0.start(transfer)
    }

    fn poll(&mut self) -> Result<(), P::Error> {
        self.0.poll()
    }

    fn progress(&mut self, token: &P::Token) -> Result<Progress, P::Error> {
        self.0.progress(token)
    }

    fn arrival(&mut self) -> Option<Arrival> {
        self.0.arrival()
    }

    fn load(&mut self, addr: u64, into: &mut [u8]) -> Result<(), P::Error> {
        self.0.load(addr % UP, into)
    }

    fn store(&mut self, addr: u64, bytes: &[u8]) -> Result<(), P::Error> {
        self.0.store(addr % UP, bytes)
    }

    fn piece(&self, addr: u64, len: u64) -> Option<Piece> {
        // The last 4 KB below 4 GB, and what follows.
        let addr = UP - 4096 + (addr - self.1);
        Some(Piece { addr, len })
    }
}

#[test]
fn buffers_beyond_the_controllers_reach_fail_alone() {
    // From 4 GB up, and across.
    for at in [0x2000, 0] {
        for sends in [true, false] {
            let mut rig: Rig<2> = Rig::new(free());
            let user = rig.user;
            let high = Buffer::new(user + at, 5000);
            let low = Buffer::new(user, 5000);
            let (send, recv) = if sends {
                (rig.send(0, 1, 0, high), rig.recv(1, Some(0), None, low))
            } else {
                (rig.send(0, 1, 0, low), rig.recv(1, Some(0), None, high))
            };
            for _ in 0..50 {
                for rank in 0..2 {
                    let port = Lent::new(&mut rig.writers[rank], &mut rig.memories, rank as u16);
                    if sends == (rank == 0) {
                        let mut port = High(port, user);
                        rig.endpoints[rank].progress(&mut port, rig.now, &mut ());
                    } else {
                        let mut port = port;
                        rig.endpoints[rank].progress(&mut port, rig.now, &mut ());
                    }
                }
            }
            let bad = |buffer: Buffer| EndpointError::BadBuffer {
                addr: buffer.addr,
                len: buffer.len,
            };
            if sends {
                assert_eq!(rig.test(0, send), Some(Err(bad(high))));
                assert_eq!(rig.test(1, recv), None);
            } else {
                assert_eq!(rig.test(1, recv), Some(Err(bad(high))));
                let refused = EndpointError::Refused { status: 1 };
                assert_eq!(rig.test(0, send), Some(Err(refused)));
            }
            for rank in 0..2 {
                let state = rig.endpoints[rank].peer_state(1 - rank as u32);
                assert_eq!(state, Some(PeerState::Open));
            }
        }
    }
}

#[test]
fn buffers_at_the_end_of_64_bits_fail_alone() {
    for offers in [false, true] {
        let mut config = free();
        config.offers = offers;
        for (addr, len) in [
            (u64::MAX - 10, 5000),
            (u64::MAX - 4999, 5000),
            (u64::MAX, u64::MAX),
            (1 << 32, u64::MAX),
            (u64::MAX - 10, 11),
        ] {
            let mut rig: Rig<2> = Rig::new(config);
            let (far, near) = (Buffer::new(addr, len), Buffer::new(rig.user, 5000));
            let bad = EndpointError::BadBuffer { addr, len };
            // To another and to oneself: the send fails, nothing is sent.
            for to in [1, 0] {
                let send = rig.send(0, to, 1, far);
                rig.settle();
                assert_eq!(rig.test(0, send), Some(Err(bad)), "{addr:x} {len} {to}");
            }
            // From another: the receive fails, the sender is told.
            let recv = rig.recv(1, Some(0), Some(2), far);
            rig.settle();
            let send = rig.send(0, 1, 2, near);
            rig.settle();
            assert_eq!(rig.test(1, recv), Some(Err(bad)), "{addr:x} {len}");
            let refused = EndpointError::Refused { status: 1 };
            assert_eq!(rig.test(0, send), Some(Err(refused)), "{addr:x} {len}");
            // From oneself: the receive fails.
            let recv = rig.recv(0, Some(0), Some(3), far);
            let send = rig.send(0, 0, 3, near);
            rig.settle();
            assert_eq!(rig.test(0, recv), Some(Err(bad)), "{addr:x} {len}");
            rig.done(0, send);
            for (rank, peer) in [(0, 1), (1, 0)] {
                let state = rig.endpoints[rank].peer_state(peer);
                assert_eq!(state, Some(PeerState::Open));
            }
            rig.check_idle();
        }
    }
}

#[test]
fn a_receive_may_have_room_for_more_than_there_is() {
    for offers in [false, true] {
        let mut config = free();
        config.offers = offers;
        let mut rig: Rig<2> = Rig::new(config);
        let room = Buffer::new(rig.user, u64::MAX - rig.user);
        for (tag, len) in [(1, 10), (2, 5000)] {
            let recv = rig.recv(1, Some(0), Some(tag), room);
            rig.settle();
            let send = rig.send(0, 1, tag, Buffer::new(rig.user, len));
            rig.settle();
            rig.done(0, send);
            assert_eq!(rig.done(1, recv).length, len);
        }
    }
}
