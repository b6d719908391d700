//! The router once more, wire by wire.
//!
//! An independent implementation of `hw/doc/maspar.md`, section "One ropen":
//! loops over wires and booleans, no bit sets, no state between cycles, so
//! that a slip in the bit-parallel model cannot hide in both.

// Loops over numbers are the point here.
#![allow(clippy::needless_range_loop)]

/// What a wire carries: the PE that asks and the PE it asks for.
#[derive(Clone, Copy)]
struct Request {
    source: usize,
    target: usize,
}

/// Where a PE sits.
struct Place {
    board: usize,
    cluster: usize,
    pe: usize,
}

/// The position of a PE in a machine of `boards` boards.
///
/// The array has 32 x 32 PEs a board; boards are laid 1x1, 1x2, 2x2, 2x4, 4x4
/// (rows x columns), all orders interleave the bits of row and column.
fn place(boards: usize, id: usize) -> Place {
    let columns = match boards {
        1 => 32,
        2 | 4 => 64,
        _ => 128,
    };
    let (row, column) = (id / columns, id % columns);
    let interleave = |r: usize, c: usize, digits: u32| {
        let mut out = 0;
        for digit in (0..digits).rev() {
            out = out * 4 + 2 * (r >> digit & 1) + (c >> digit & 1);
        }
        out
    };
    let board = match boards {
        1 => 0,
        2 => column / 32,
        4 => interleave(row / 32, column / 32, 2) % 4,
        8 => 4 * (column / 64) + 2 * (row / 32 % 2) + column / 32 % 2,
        _ => interleave(row / 32, column / 32, 2),
    };
    Place {
        board,
        cluster: interleave(row / 4 % 8, column / 4 % 8, 3),
        pe: interleave(row % 4, column % 4, 2),
    }
}

/// One `ropen`: the sources that are connected.
fn ropen(boards: usize, target: &[usize], tflag: &[bool]) -> Vec<usize> {
    // Each cluster puts its lowest requesting PE on its wire.
    let mut wire: Vec<Vec<Option<Request>>> = vec![vec![None; 64]; boards];
    for source in 0..target.len() {
        if !tflag[source] {
            continue;
        }
        let at = place(boards, source);
        let better = match wire[at.board][at.cluster] {
            None => true,
            Some(other) => place(boards, other.source).pe > at.pe,
        };
        if better {
            wire[at.board][at.cluster] = Some(Request {
                source,
                target: target[source],
            });
        }
    }

    // Stage 1: the first four of a board that ask for a group get its wires.
    let mut middle: Vec<Vec<Vec<Option<Request>>>> = vec![vec![vec![None; 4]; boards]; 16];
    for board in 0..boards {
        for cluster in 0..64 {
            let Some(request) = wire[board][cluster] else {
                continue;
            };
            let group = place(boards, request.target).cluster % 16;
            for w in 0..4 {
                if middle[group][board][w].is_none() {
                    middle[group][board][w] = Some(request);
                    break;
                }
            }
        }
    }

    // Stage 2: wire 3 of every board first, then 2, 1, 0.
    let mut last: Vec<Vec<Vec<Option<Request>>>> = vec![vec![vec![None; 4]; boards]; 16];
    for group in 0..16 {
        for w in [3, 2, 1, 0] {
            for board in 0..boards {
                let Some(request) = middle[group][board][w] else {
                    continue;
                };
                let to = place(boards, request.target).board;
                for v in 0..4 {
                    if last[group][to][v].is_none() {
                        last[group][to][v] = Some(request);
                        break;
                    }
                }
            }
        }
    }

    // Stage 3: wires in ascending order, one for each target cluster.
    let mut connected = Vec::new();
    for to in 0..boards {
        let mut taken = [false; 64];
        for group in 0..16 {
            for v in 0..4 {
                let Some(request) = last[group][to][v] else {
                    continue;
                };
                let cluster = place(boards, request.target).cluster;
                if !taken[cluster] {
                    taken[cluster] = true;
                    connected.push(request.source);
                }
            }
        }
    }
    connected
}

/// The whole loop: the cycle of each PE, `None` for one that is not enabled.
fn route(boards: usize, target: &[usize], enabled: &[bool]) -> Vec<Option<usize>> {
    let mut tflag = enabled.to_vec();
    let mut when = vec![None; target.len()];
    let mut cycle = 0;
    while tflag.iter().any(|&flag| flag) {
        for source in ropen(boards, target, &tflag) {
            when[source] = Some(cycle);
            tflag[source] = false;
        }
        cycle += 1;
    }
    when
}

fn profile(when: &[Option<usize>]) -> Vec<usize> {
    let cycles = when.iter().flatten().max().map_or(0, |last| last + 1);
    let mut counts = vec![0; cycles];
    for cycle in when.iter().flatten() {
        counts[*cycle] += 1;
    }
    counts
}

#[test]
fn reference_itself_meets_the_published_numbers() {
    let reversed: Vec<usize> = (0..16384)
        .map(|id: usize| (id as u16).reverse_bits() as usize >> 2)
        .collect();
    let counts = profile(&route(16, &reversed, &[true; 16384]));
    assert_eq!(counts.len(), 70);
    assert_eq!(counts.iter().filter(|&&n| n == 304).count(), 30);
    let shuffled: Vec<usize> = (0..16384).map(|id| (id << 1 | id >> 13) & 16383).collect();
    assert_eq!(profile(&route(16, &shuffled, &[true; 16384])).len(), 52);
    let shifted: Vec<usize> = (0..16384).map(|id| (id + 4711) % 16384).collect();
    assert_eq!(
        profile(&route(16, &shifted, &[true; 16384])),
        vec![1024; 16]
    );
}

/// A small generator of its own, so that nothing is shared with the model.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % n
    }
}

#[test]
fn model_and_reference_agree_on_a_thousand_random_patterns() {
    use multipc::maspar::{MachineSize, Pattern, Router, RouterConfig};

    let mut dice = Dice(0x9E37_79B9);
    let mut routers: Vec<Router> = MachineSize::ALL
        .iter()
        .map(|&size| Router::new(&RouterConfig::MP1.with_size(size)).unwrap())
        .collect();
    for round in 0..1000 {
        let router = &mut routers[dice.below(5)];
        let size = router.size();
        let pes = size.pes();
        // From few targets (many conflicts) to all, from few senders to all.
        let targets = match dice.below(4) {
            0 => 64 + dice.below(pes - 64),
            _ => pes,
        };
        let density = 1 + dice.below(8);
        let block = 1 << dice.below(5);
        let mut target: Vec<usize> = (0..pes).map(|_| dice.below(targets)).collect();
        if dice.below(2) == 0 {
            // A permutation of blocks: long runs with the same board or group.
            let mut order: Vec<usize> = (0..pes / block).collect();
            for i in (1..order.len()).rev() {
                order.swap(i, dice.below(i + 1));
            }
            target = (0..pes)
                .map(|id| order[id / block] * block + id % block)
                .collect();
        }
        let enabled: Vec<bool> = (0..pes).map(|_| dice.below(8) < density).collect();

        let expected = route(size.boards(), &target, &enabled);
        let pattern = Pattern::from_fn(size, |id| {
            enabled[id as usize].then(|| target[id as usize] as u32)
        })
        .unwrap();
        let table = router.timetable(&pattern).unwrap();
        for id in 0..pes {
            assert_eq!(
                table.when(id as u16).map(usize::from),
                expected[id],
                "round {round}, {pes} PEs, PE {id}"
            );
        }
    }
}
