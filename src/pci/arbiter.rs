//! The central arbiter: round robin between the bridge and PCI-DDC.
//!
//! GNT# moves from one agent to the other in one clock only while a
//! transaction runs; on an idle bus a clock without any grant lies between, so
//! that two agents never start, or drive the parked bus, at once.

use super::config::BridgeConfig;
use super::signals::Signals;

/// Who can own the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Agent {
    /// The host bridge: configuration accesses.
    Bridge,
    /// PCI-DDC: its DMA.
    Ddc,
}

impl Agent {
    const fn other(self) -> Self {
        match self {
            Self::Bridge => Self::Ddc,
            Self::Ddc => Self::Bridge,
        }
    }
}

/// The arbiter's registers.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Arbiter {
    grant: Option<Agent>,
    last: Agent,
    /// Clocks each agent's request has been seen, saturating.
    age: [u32; 2],
    /// Idle clocks the granted agent has let pass.
    unused: u32,
    hold: bool,
}

impl Arbiter {
    pub(super) const fn new() -> Self {
        // The bridge is "last", so PCI-DDC wins the first tie.
        Self {
            grant: None,
            last: Agent::Bridge,
            age: [0; 2],
            unused: 0,
            hold: false,
        }
    }

    pub(super) const fn grant(&self) -> Option<Agent> {
        self.grant
    }

    pub(super) const fn hold(&mut self, hold: bool) {
        self.hold = hold;
    }

    /// Nothing would change while nobody asks.
    pub(super) fn is_settled(&self, park: Option<Agent>) -> bool {
        let parked = if self.hold && park == Some(Agent::Ddc) {
            None
        } else {
            park
        };
        self.grant == parked && self.age == [0; 2] && self.unused == 0
    }

    /// One edge. `runner` is the agent whose transaction is on the bus.
    /// Returns whether an agent newly got the grant for its request.
    pub(super) fn step(
        &mut self,
        bus: &Signals,
        wants: [bool; 2],
        runner: Agent,
        config: &BridgeConfig,
    ) -> bool {
        for (age, want) in self.age.iter_mut().zip(wants) {
            *age = if want { age.saturating_add(1) } else { 0 };
        }
        let wanted = |agent: Agent| wants[agent as usize];
        let idle = bus.is_idle();
        let next = match self.grant {
            None => self.pick(config),
            Some(Agent::Ddc) if self.hold => None,
            Some(owner) if idle => {
                let other = self.ready(owner.other(), config);
                if wanted(owner) {
                    self.unused = self.unused.saturating_add(1);
                    (!(other && self.unused >= config.idle_grant_limit)).then_some(owner)
                } else {
                    (config.park == Some(owner) && !other).then_some(owner)
                }
            }
            Some(owner) => {
                let other = owner.other();
                let leaves = !wanted(owner) && bus.frame_n && config.park != Some(owner);
                if self.ready(other, config) && (runner == owner || !wanted(owner)) {
                    Some(other)
                } else {
                    (!leaves).then_some(owner)
                }
            }
        };
        let fresh = next.is_some() && next != self.grant;
        if !idle || next != self.grant {
            self.unused = 0;
        }
        if let Some(agent) = next {
            if fresh && wanted(agent) {
                self.last = agent;
            }
        } else if let Some(loser) = self.grant {
            // One that did not use its grant has had its turn.
            self.last = loser;
        }
        self.grant = next;
        fresh && next.is_some_and(wanted)
    }

    fn ready(&self, agent: Agent, config: &BridgeConfig) -> bool {
        let held = self.hold && agent == Agent::Ddc;
        self.age[agent as usize] >= config.request_to_grant.saturating_sub(1).max(1) && !held
    }

    fn pick(&self, config: &BridgeConfig) -> Option<Agent> {
        let first = self.last.other();
        if self.ready(first, config) {
            Some(first)
        } else if self.ready(self.last, config) {
            Some(self.last)
        } else if self.age == [0; 2] {
            config
                .park
                .filter(|&agent| !(self.hold && agent == Agent::Ddc))
        } else {
            None
        }
    }
}
