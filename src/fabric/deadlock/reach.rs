//! Which headers can stand at the end of which channel, and what they may wait
//! for there.

use alloc::vec;
use alloc::vec::Vec;

use super::{Tables, channel_of, channels, port_of};
use crate::fabric::topology::{PortId, Topology};
use crate::hsl::word::Set;

/// Headers, half open; 32 bits so that the end of the last one fits.
pub(super) type Range = (u32, u32);

pub(super) struct Reached {
    /// For each channel the headers that its packets can have: ascending, with
    /// gaps between them.
    pub(super) ranges: Vec<Vec<Range>>,
    /// For each channel the outputs that its packets can wait for.
    pub(super) waits: Vec<u8>,
}

pub(super) fn reach<T: Tables + ?Sized>(topology: &Topology<'_>, tables: &T) -> Reached {
    let mut reached = Reached {
        ranges: vec![Vec::new(); channels(topology)],
        waits: vec![0; channels(topology)],
    };
    let everything = (0, topology.generators().len() as u32);
    let mut work: Vec<(usize, Range)> = Vec::new();
    for &at in topology.generators() {
        arrive(&mut reached.ranges, &mut work, channel_of(at), everything);
    }
    // Only what is new at a channel is passed on, so this ends.
    while let Some((channel, range)) = work.pop() {
        let router = port_of(channel).router;
        for_pieces(tables, channel, range, |piece, outputs| {
            if let Some(waits) = reached.waits.get_mut(channel) {
                *waits |= outputs;
            }
            for output in Set(outputs) {
                if let Some(peer) = topology.peer(PortId::new(router, output as u8)) {
                    arrive(&mut reached.ranges, &mut work, channel_of(peer), piece);
                }
            }
        });
    }
    reached
}

/// The lowest header of `channel` that may take `output`.
pub(super) fn witness<T: Tables + ?Sized>(
    tables: &T,
    ranges: &[Vec<Range>],
    channel: usize,
    output: u8,
) -> Option<u16> {
    let mut found = None;
    for &range in ranges.get(channel)? {
        for_pieces(tables, channel, range, |(first, _), outputs| {
            if outputs >> output & 1 == 1 && found.is_none() {
                found = Some(first as u16);
            }
        });
    }
    found
}

/// Cuts `range` where the table of the channel's router may tell headers
/// apart.
fn for_pieces<T: Tables + ?Sized>(
    tables: &T,
    channel: usize,
    (first, end): Range,
    mut each: impl FnMut(Range, u8),
) {
    let PortId { router, port } = port_of(channel);
    let mut bounds = tables.bounds(router, port);
    bounds.sort_unstable();
    let mut at = first;
    let cuts = bounds.into_iter().map(u32::from).chain([end]);
    for cut in cuts.filter(|&cut| cut > first) {
        let cut = cut.min(end);
        if cut > at {
            each((at, cut), tables.eligible(router, port, at as u16));
            at = cut;
        }
    }
}

/// Adds `range` to the headers of `channel`; what is new goes to `work`.
fn arrive(
    ranges: &mut [Vec<Range>],
    work: &mut Vec<(usize, Range)>,
    channel: usize,
    (first, end): Range,
) {
    let Some(held) = ranges.get_mut(channel) else {
        return;
    };
    // The held ranges that overlap or touch the new one become one with it.
    let from = held.partition_point(|&(_, e)| e < first);
    let to = held.partition_point(|&(f, _)| f <= end);
    let mut at = first;
    let mut merged = (first, end);
    for &(f, e) in held.get(from..to).unwrap_or(&[]) {
        if f > at {
            work.push((channel, (at, f)));
        }
        at = at.max(e);
        merged = (merged.0.min(f), merged.1.max(e));
    }
    if at < end {
        work.push((channel, (at, end)));
    }
    held.splice(from..to, [merged]);
}
