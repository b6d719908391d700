//! Routes on paper: follow the tables router by router, without chips.
//!
//! A hop here is one router crossed; a route of `n` routers crosses `n - 1`
//! cables between them.

use core::fmt;

use super::{Port, PortId, Topology};

/// The tables of a machine's routers, as far as a route needs them.
pub trait Routes {
    /// The outputs (bit `k`: port `k`) that the table of `input` on `router`
    /// offers a packet with this header; 0 for none.
    fn eligible(&self, router: u16, input: u8, header: u16) -> u8;
}

impl<R: Routes + ?Sized> Routes for &R {
    fn eligible(&self, router: u16, input: u8, header: u16) -> u8 {
        (**self).eligible(router, input, header)
    }
}

/// A router on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Hop {
    /// The router.
    pub router: u16,
    /// The port by which the packet comes in.
    pub input: u8,
    /// The port by which it leaves.
    pub output: u8,
}

/// Where a packet ends, and after how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Route {
    /// The generator that gets the packet.
    pub generator: u16,
    /// Routers crossed, at least 1.
    pub routers: u32,
}

impl Route {
    /// Cables crossed: one fewer than the routers.
    pub const fn cables(&self) -> u32 {
        self.routers.saturating_sub(1)
    }
}

/// Why a packet does not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum RouteError {
    /// There is no such generator.
    UnknownGenerator {
        /// The offending number.
        generator: u16,
        /// How many there are.
        generators: usize,
    },
    /// There is no such node number.
    UnknownNode {
        /// The offending number.
        node: u16,
        /// How many there are.
        nodes: usize,
    },
    /// A table offers no output: the router drops the packet.
    NoOutput {
        /// The header.
        header: u16,
        /// Where.
        router: u16,
        /// The input whose table it is.
        input: u8,
    },
    /// A table names a port where nothing is plugged in.
    OpenPort {
        /// The header.
        header: u16,
        /// Where.
        at: PortId,
    },
    /// The packet comes back to a port where it was before, for ever.
    Loop {
        /// The header.
        header: u16,
        /// A port of the cycle, as input.
        at: PortId,
        /// Routers in the cycle.
        length: u32,
    },
    /// The packet arrives at somebody else.
    WrongGenerator {
        /// The header.
        header: u16,
        /// Who gets it.
        arrived: u16,
        /// Who should.
        wanted: u16,
    },
}

impl fmt::Display for RouteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::UnknownGenerator {
                generator,
                generators,
            } => {
                write!(
                    f,
                    "generator {generator}, the machine has {generators} of them"
                )
            }
            Self::UnknownNode { node, nodes } => {
                write!(f, "node {node}, the machine has {nodes} of them")
            }
            Self::NoOutput {
                header,
                router,
                input,
            } => write!(
                f,
                "header {header}: the table of input {input} on router {router} offers no output"
            ),
            Self::OpenPort { header, at } => {
                write!(
                    f,
                    "header {header}: sent to {at}, where nothing is plugged in"
                )
            }
            Self::Loop { header, at, length } => {
                write!(
                    f,
                    "header {header}: comes back to {at} every {length} routers"
                )
            }
            Self::WrongGenerator {
                header,
                arrived,
                wanted,
            } => write!(
                f,
                "header {header}: arrives at generator {arrived}, belongs to generator {wanted}"
            ),
        }
    }
}

impl core::error::Error for RouteError {}

/// A packet on its way: an iterator over the routers it crosses. Where a table
/// offers several outputs the lowest is taken. Ends with the hop to a
/// generator or with the first error.
#[derive(Debug)]
pub struct Walk<'t, 'a, R: ?Sized> {
    topology: &'t Topology<'a>,
    routes: &'t R,
    header: u16,
    next: Option<Result<PortId, RouteError>>,
    // Brent's cycle search: `mark` is the input at step `mark_step`; it moves
    // up each time `step` doubles.
    mark: Option<PortId>,
    mark_step: u32,
    step: u32,
    arrived: Option<u16>,
}

/// Sends `header` from `generator`.
pub fn walk<'t, 'a, R: Routes + ?Sized>(
    topology: &'t Topology<'a>,
    routes: &'t R,
    generator: u16,
    header: u16,
) -> Walk<'t, 'a, R> {
    let generators = topology.generators();
    let next = Some(match generators.get(usize::from(generator)) {
        Some(&at) => Ok(at),
        None => Err(RouteError::UnknownGenerator {
            generator,
            generators: generators.len(),
        }),
    });
    Walk {
        topology,
        routes,
        header,
        next,
        mark: None,
        mark_step: 0,
        step: 0,
        arrived: None,
    }
}

impl<R: ?Sized> Walk<'_, '_, R> {
    /// The generator that got the packet, once the last hop was taken.
    pub const fn arrived(&self) -> Option<u16> {
        self.arrived
    }

    /// Routers crossed so far.
    pub const fn routers(&self) -> u32 {
        self.step
    }
}

impl<R: Routes + ?Sized> Iterator for Walk<'_, '_, R> {
    type Item = Result<Hop, RouteError>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = match self.next.take()? {
            Ok(at) => at,
            Err(error) => return Some(Err(error)),
        };
        let header = self.header;
        if self.mark == Some(at) {
            let length = self.step - self.mark_step;
            return Some(Err(RouteError::Loop { header, at, length }));
        }
        if self.step.is_power_of_two() {
            self.mark = Some(at);
            self.mark_step = self.step;
        }
        self.step += 1;
        let PortId {
            router,
            port: input,
        } = at;
        let eligible = self.routes.eligible(router, input, header);
        if eligible == 0 {
            return Some(Err(RouteError::NoOutput {
                header,
                router,
                input,
            }));
        }
        let output = eligible.trailing_zeros() as u8;
        match self.topology.port(PortId::new(router, output)) {
            Port::Empty => {
                let at = PortId::new(router, output);
                return Some(Err(RouteError::OpenPort { header, at }));
            }
            Port::Generator(generator) => self.arrived = Some(generator),
            Port::Cable { peer, .. } => self.next = Some(Ok(peer)),
        }
        Some(Ok(Hop {
            router,
            input,
            output,
        }))
    }
}

/// Sends `header` from `generator` and sees where it ends, in a time linear
/// in the routers crossed.
///
/// # Errors
/// [`RouteError`]: it does not end at any generator.
pub fn follow<R: Routes + ?Sized>(
    topology: &Topology<'_>,
    routes: &R,
    generator: u16,
    header: u16,
) -> Result<Route, RouteError> {
    let mut walk = walk(topology, routes, generator, header);
    for hop in walk.by_ref() {
        hop?;
    }
    match walk.arrived() {
        Some(generator) => Ok(Route {
            generator,
            routers: walk.routers(),
        }),
        // Not reached: a walk ends with an error or an arrival.
        None => Err(RouteError::NoOutput {
            header,
            router: 0,
            input: 0,
        }),
    }
}

/// A pair of generators that is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Failure {
    /// The sending generator.
    pub from: u16,
    /// The generator it wants to reach.
    pub to: u16,
    /// What happens instead.
    pub error: RouteError,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "generator {} to generator {}: {}",
            self.from, self.to, self.error
        )
    }
}

/// All ordered pairs of generators, each with itself included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Survey {
    /// Pairs.
    pub pairs: u64,
    /// Pairs whose packets arrive.
    pub delivered: u64,
    /// Most routers crossed by a packet that arrives.
    pub longest: u32,
    /// Routers crossed by all packets that arrive, together.
    pub total: u64,
    /// The first pair that is not served.
    pub first_failure: Option<Failure>,
}

impl Survey {
    /// Every pair is served.
    pub const fn complete(&self) -> bool {
        self.delivered == self.pairs
    }

    /// Most cables crossed.
    pub const fn longest_cables(&self) -> u32 {
        self.longest.saturating_sub(1)
    }
}

impl fmt::Display for Survey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} pairs delivered, at most {} routers ({} cables)",
            self.delivered,
            self.pairs,
            self.longest,
            self.longest_cables()
        )?;
        match &self.first_failure {
            Some(failure) => write!(f, "; {failure}"),
            None => Ok(()),
        }
    }
}

/// Follows every pair of generators; `header_of` gives the header that names
/// a generator.
pub fn survey<R: Routes + ?Sized>(
    topology: &Topology<'_>,
    routes: &R,
    mut header_of: impl FnMut(u16) -> u16,
) -> Survey {
    let generators = topology.generators().len() as u16;
    let mut survey = Survey::default();
    for to in 0..generators {
        let header = header_of(to);
        for from in 0..generators {
            survey.pairs += 1;
            let error = match follow(topology, routes, from, header) {
                Ok(route) if route.generator == to => {
                    survey.delivered += 1;
                    survey.longest = survey.longest.max(route.routers);
                    survey.total += u64::from(route.routers);
                    continue;
                }
                Ok(route) => RouteError::WrongGenerator {
                    header,
                    arrived: route.generator,
                    wanted: to,
                },
                Err(error) => error,
            };
            survey
                .first_failure
                .get_or_insert(Failure { from, to, error });
        }
    }
    survey
}
