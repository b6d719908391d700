use super::*;

#[test]
fn named_permutations_are_permutations_on_every_size() {
    for size in MachineSize::ALL {
        for (name, pattern) in [
            ("bit reversal", Pattern::bit_reversal(size)),
            ("shuffle", Pattern::shuffle(size)),
            ("unshuffle", Pattern::unshuffle(size)),
            ("butterfly", Pattern::butterfly(size)),
            ("transpose", Pattern::transpose(size)),
            ("reversal", Pattern::reversal(size)),
            ("gray", Pattern::gray(size)),
            ("inverse gray", Pattern::inverse_gray(size)),
            ("row bit reversal", Pattern::row_bit_reversal(size)),
            ("exchange", Pattern::exchange(size, 3)),
            ("stride", Pattern::stride(size, 129)),
            ("shift", Pattern::shift(size, -77)),
            ("random", Pattern::random_permutation(size, 9)),
        ] {
            let hit: PeSet = pattern.pairs().map(|(_, to)| to).collect();
            assert_eq!(hit.len(), size.pes(), "{name} {size:?}");
        }
    }
}

#[test]
fn opposite_permutations_cancel() {
    let size = MachineSize::Pes8192;
    let identity = Pattern::shift(size, 0);
    for (one, other) in [
        (Pattern::shuffle(size), Pattern::unshuffle(size)),
        (Pattern::gray(size), Pattern::inverse_gray(size)),
        (Pattern::shift(size, 5), Pattern::shift(size, -5)),
    ] {
        assert_eq!(one.then(&other), Ok(identity.clone()));
    }
}

#[test]
fn bad_pairs_are_named() {
    extern crate std;
    use std::string::ToString;
    let size = MachineSize::Pes1024;
    let error = |pairs: &[(u32, u32)]| {
        Pattern::from_pairs(size, pairs.iter().copied())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error(&[(1, 2), (1, 3)]),
        "pair 1 gives PE 1 a second target"
    );
    assert_eq!(
        error(&[(1024, 2)]),
        "source 1024 of pair 0 is outside 0..1024"
    );
    assert_eq!(
        error(&[(7, 99_999)]),
        "target 99999 of PE 7 is outside 0..1024"
    );
    assert_eq!(
        Pattern::from_targets(size, &[0; 3]),
        Err(PatternError::Length { len: 3, pes: 1024 })
    );
}
