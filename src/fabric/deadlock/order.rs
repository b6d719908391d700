//! Numbers the channels so that each waits for higher ones only, or finds a
//! ring.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use super::{channel_of, port_of};
use crate::fabric::topology::{PORTS, PortId, Topology};
use crate::hsl::word::Set;

const NOBODY: usize = usize::MAX;

/// For each channel its number, from 1; or a ring as (channel, output it waits
/// for). `waits`: the outputs that each channel waits
/// for.
pub(super) fn number(topology: &Topology<'_>, waits: &[u8]) -> Result<Vec<u32>, Vec<(usize, u8)>> {
    let mut waiters = vec![0u8; waits.len()];
    for channel in 0..waits.len() {
        for (_, next) in after(topology, waits, channel) {
            if let Some(count) = waiters.get_mut(next) {
                *count += 1;
            }
        }
    }
    // A channel is numbered once all that wait for it are: Kahn's algorithm.
    let mut ready: Vec<usize> = (0..waits.len())
        .filter(|&c| waiters.get(c) == Some(&0))
        .collect();
    let mut numbers = vec![0u32; waits.len()];
    let mut last = 0;
    while let Some(channel) = ready.pop() {
        if let Some(number) = numbers.get_mut(channel) {
            last += 1;
            *number = last;
        }
        for (_, next) in after(topology, waits, channel) {
            if let Some(count) = waiters.get_mut(next) {
                *count -= 1;
                if *count == 0 {
                    ready.push(next);
                }
            }
        }
    }
    match waiters.iter().position(|&count| count > 0) {
        None => Ok(numbers),
        Some(left) => Err(ring(topology, waits, &waiters, left)),
    }
}

/// The channels that `channel` waits for, each with the output where it begins.
fn after<'t>(
    topology: &'t Topology<'_>,
    waits: &[u8],
    channel: usize,
) -> impl Iterator<Item = (u8, usize)> + use<'t> {
    let PortId { router, .. } = port_of(channel);
    let outputs = waits.get(channel).copied().unwrap_or(0);
    Set(outputs).filter_map(move |output| {
        let output = output as u8;
        let peer = topology.peer(PortId::new(router, output))?;
        Some((output, channel_of(peer)))
    })
}

/// The channels that wait for `channel`.
fn before<'t>(
    topology: &'t Topology<'_>,
    waits: &'t [u8],
    channel: usize,
) -> impl Iterator<Item = usize> + use<'t> {
    let start = topology.peer(port_of(channel));
    (0..PORTS).filter_map(move |input| {
        let start = start?;
        let other = channel_of(PortId::new(start.router, input));
        let outputs = waits.get(other)?;
        (outputs >> start.port & 1 == 1).then_some(other)
    })
}

/// A ring, when `left` was not numbered: `waiters` counts for each channel
/// those in front of it that were not numbered either.
fn ring(topology: &Topology<'_>, waits: &[u8], waiters: &[u8], left: usize) -> Vec<(usize, u8)> {
    let is_left = |c: usize| waiters.get(c).is_some_and(|&count| count > 0);
    // Whoever was not numbered has somebody before it who was not either: going
    // back, the way must close.
    let mut seen = vec![false; waits.len()];
    let mut start = left;
    while let Some(flag) = seen.get_mut(start) {
        if core::mem::replace(flag, true) {
            break;
        }
        match before(topology, waits, start).find(|&c| is_left(c)) {
            Some(back) => start = back,
            None => break,
        }
    }
    shortest(topology, waits, start, is_left)
}

/// The shortest ring through `start`: breadth first.
fn shortest(
    topology: &Topology<'_>,
    waits: &[u8],
    start: usize,
    is_left: impl Fn(usize) -> bool,
) -> Vec<(usize, u8)> {
    // Who found a channel, and by which output.
    let mut found = vec![(NOBODY, 0u8); waits.len()];
    let mut queue = VecDeque::from([start]);
    'search: while let Some(channel) = queue.pop_front() {
        for (output, next) in after(topology, waits, channel).filter(|&(_, c)| is_left(c)) {
            let Some(entry) = found.get_mut(next).filter(|entry| entry.0 == NOBODY) else {
                continue;
            };
            *entry = (channel, output);
            if next == start {
                break 'search;
            }
            queue.push_back(next);
        }
    }
    let mut ring = Vec::new();
    let mut at = start;
    while let Some(&(back, output)) = found.get(at).filter(|entry| entry.0 != NOBODY) {
        ring.push((back, output));
        at = back;
        if at == start {
            break;
        }
    }
    ring.reverse();
    ring
}
