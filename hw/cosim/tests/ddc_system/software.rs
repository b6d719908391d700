//! A driver that keeps no manners.

use multipc::ddc::lme::{Control, Descriptor};
use multipc::hsl::Symbol;
use multipc::pci::{ConfigAccess, TargetResponse};
use multipc_cosim::Random;
use multipc_cosim::ddc::Resettable;

use super::{
    Board, COMMAND, DATA, Fault, LMI_CURRENT, LMI_NEW, LOOPBACK, LPE, LPE_CURRENT, LPE_NEW,
    LRM_ENABLE, MASK, Profile, RX_INIT, Rig, STATUS, Seen, TX_INIT, next, start_writes,
};

pub struct Software {
    pub seen: Seen,
    random: Random,
    queue: [Vec<(u8, u32)>; 2],
    hold: [bool; 2],
    /// A configuration access is under way.
    waiting: [bool; 2],
}

impl Software {
    pub fn new(seed: u64) -> Self {
        Self {
            seen: Seen::default(),
            random: Random::new(seed),
            queue: Default::default(),
            hold: [false; 2],
            waiting: [false; 2],
        }
    }

    fn chance(&mut self, n: u64) -> bool {
        n != 0 && self.random.one_in(n)
    }

    pub fn run<R: Resettable>(&mut self, rig: &mut Rig<R>, profile: &Profile, cycles: u64) {
        let end = rig.pci.cycle() + cycles;
        while rig.pci.cycle() < end {
            if rig.step() {
                for board in 0..2 {
                    self.act(rig, board, profile);
                }
            } else {
                for board in 0..2 {
                    if self.chance(profile.link_faults) {
                        rig.faults[board] = Some(self.fault());
                    }
                }
                if self.chance(profile.cuts) {
                    rig.cut = 1 + self.random.below(40) as u32;
                }
            }
        }
    }

    fn fault(&mut self) -> Fault {
        match self.random.below(7) {
            0 => Fault::Flip(1 << self.random.below(9)),
            1 => Fault::Flip(1 + self.random.below(0x1FF) as u16),
            2 => Fault::Replace(Symbol::CONTROL[self.random.below(8) as usize].0),
            3 => Fault::Dead,
            4 => Fault::ExtraFcc,
            5 => Fault::NoFcc,
            _ => Fault::Insert(Symbol::from_bits(self.random.bits() as u16 & 0x1FF)),
        }
    }

    fn act<R: Resettable>(&mut self, rig: &mut Rig<R>, i: usize, profile: &Profile) {
        let board = &mut rig.boards[i];
        self.seen.look(i, board);
        if self.chance(profile.grants) {
            self.hold[i] ^= true;
            board.bridge.hold_grant(self.hold[i]);
        }
        if self.chance(profile.responses) {
            let n = self.random.below(6) as u32;
            let response = match self.random.below(6) {
                0 => TargetResponse::Retry,
                1 => TargetResponse::DisconnectAfter(n),
                2 => TargetResponse::DisconnectWith(n),
                3 => TargetResponse::ExtraLatency(n),
                4 => TargetResponse::WaitStates(n),
                _ => TargetResponse::Normal,
            };
            let _ = board.bridge.respond_next(response);
        }
        if self.chance(profile.pci_faults) {
            let n = self.random.below(6) as u32;
            match self.random.below(6) {
                0 => {
                    let _ = board.bridge.respond_next(TargetResponse::TargetAbort);
                }
                1 => {
                    let _ = board.bridge.respond_next(TargetResponse::AbortAfter(n));
                }
                2 => {
                    let _ = board.bridge.respond_next(TargetResponse::BadParity);
                }
                3 => {
                    let _ = board.bridge.respond_next(TargetResponse::Ignore);
                }
                4 => board.wrong_par = true,
                _ => board.assert_perr = true,
            }
        }
        if self.chance(profile.link_status) {
            board.r3_status = self.random.bits() as u8;
        }
        if board.bridge.take().is_some() {
            self.waiting[i] = false;
        }
        if !self.waiting[i] {
            self.configure(board, i, profile);
        }
    }

    fn configure<R: Resettable>(&mut self, board: &mut Board<R>, i: usize, profile: &Profile) {
        let mut access = None;
        if !self.queue[i].is_empty() {
            let (offset, value) = self.queue[i].remove(0);
            access = Some(ConfigAccess::write(offset, value));
        } else if self.chance(profile.resets) {
            self.queue[i] = start_writes(profile.command);
            board.soft_new = LPE;
            access = Some(ConfigAccess::write(COMMAND, 0x8000));
            self.seen.resets += 1;
        } else if self.chance(profile.posts) {
            let count = 1 + self.random.below(3);
            for _ in 0..count {
                let at = next(board.soft_new, LPE);
                if at != board.register(LPE_CURRENT) && board.soft_new >= LPE {
                    let descriptor = self.descriptor(profile);
                    board.post(&descriptor);
                }
            }
            access = Some(ConfigAccess::write(LPE_NEW, board.soft_new));
        } else if self.chance(profile.service) {
            let full = board.register(STATUS) >> 12 & 1 == 1;
            access = Some(match self.random.below(4) {
                0 if !profile.miser || full => {
                    ConfigAccess::write(LMI_CURRENT, board.register(LMI_NEW))
                }
                1 => ConfigAccess::write(STATUS, self.random.bits() as u32),
                2 => ConfigAccess::write(STATUS, 0xC0FF_F000),
                _ => ConfigAccess::write(0x04, 0xFF00_0144),
            });
        } else if self.chance(profile.commands) {
            let r = self.random.bits();
            let mut command = profile.command & 0x0000_FFFF | (r as u32 & 0xF000_0000);
            if r & 3 == 0 {
                command |= (self.random.below(160) as u32) << 16;
            }
            if r >> 8 & 7 == 0 {
                command ^= LOOPBACK;
            }
            if r >> 12 & 7 == 0 {
                command ^= RX_INIT;
            }
            if r >> 16 & 7 == 0 {
                command ^= TX_INIT;
            }
            if r >> 20 & 7 == 0 {
                command ^= LRM_ENABLE;
            }
            access = Some(match r >> 24 & 7 {
                0 => ConfigAccess::write(0x0C, (r >> 32) as u32),
                1 => ConfigAccess::write(MASK, (r >> 32) as u32),
                _ => ConfigAccess::write(COMMAND, command),
            });
        } else if self.chance(profile.wild) {
            let offset = 4 * self.random.below(0x40) as u8;
            let mut value = self.random.bits() as u32;
            if offset == COMMAND {
                value &= !0x8000;
            }
            access = Some(ConfigAccess::write(offset, value));
        } else if self.chance(profile.reads) {
            let offset = 4 * self.random.below(0x40) as u8;
            access = Some(ConfigAccess::read(offset));
        }
        if let Some(access) = access {
            self.waiting[i] = board.bridge.submit(access).is_ok();
        }
    }

    fn descriptor(&mut self, profile: &Profile) -> Descriptor {
        let r = self.random.bits();
        let length = match r & 7 {
            0 => self.random.below(9),
            1..=4 => self.random.below(100),
            _ => self.random.below(profile.longest + 1),
        } as u16;
        let mut flags = Control::NOS;
        let (lmp, lmi, nor) = (r >> 8 & 3 != 0, r >> 10 & 3 != 0, r >> 12 & 3 != 0);
        for (on, flag) in [
            (lmp, Control::LMP),
            (lmi, Control::LMI),
            (nor, Control::NOR),
        ] {
            if on {
                flags = flags.with(flag);
            }
        }
        if profile.lrm && r >> 14 & 1 == 1 {
            flags = flags.with(Control::LRM);
        }
        let mut length = length;
        if profile.kinds {
            match r >> 16 & 15 {
                0..=3 => {
                    flags = flags.with(Control::SM);
                    length = 0;
                }
                4 => flags = flags.with(Control::CM),
                5 => flags = flags.with(Control::CM).with(Control::SM),
                _ => {}
            }
        }
        let mut descriptor = Descriptor {
            page_length: length,
            routing_part: (r >> 32) as u16,
            control: flags.with_mi((r >> 48) as u32 & 7),
            prsa: DATA + self.random.below(0x4_0000) as u32,
            plsa: DATA + self.random.below(0x4_0000) as u32,
        };
        if profile.wide && r >> 20 & 7 == 0 {
            match r >> 23 & 3 {
                0 => descriptor.prsa = self.random.bits() as u32,
                1 => descriptor.plsa = self.random.bits() as u32,
                2 => descriptor.control = flags.with_mi(self.random.bits() as u32),
                _ => descriptor.page_length = self.random.bits() as u16,
            }
        }
        descriptor
    }
}
