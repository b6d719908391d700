//! How the memory is read and written, clock by clock.

use super::*;

/// Clocks from REQ# visible to the edge that samples the first word.
fn first_word(config: BridgeConfig, command: Command) -> u64 {
    let (_, moved) = Bench::new(config, TestMasterConfig::default()).transfer(command, BASE, &[0]);
    moved[0]
}

#[test]
fn descriptor_read_takes_12_clocks() {
    let (outcome, moved) = bench().transfer(Command::MemoryRead, BASE, &[0; 4]);
    assert_eq!(outcome.end, TransferEnd::Done);
    assert_eq!(moved, [9, 10, 11, 12]);
}

#[test]
fn write_of_a_word_takes_6_clocks() {
    let mut bench = bench();
    let (outcome, moved) = bench.transfer(Command::MemoryWrite, BASE + 8, &[0x1234_5678]);
    assert_eq!(outcome.end, TransferEnd::Done);
    assert_eq!(moved, [2 + 1 + 2 + 1]);
    assert_eq!(bench.memory.read_word(BASE + 8), 0x1234_5678);
    assert_eq!(bench.memory.read_word(BASE + 12), 0xA000_0003);
}

#[test]
fn read_brings_the_words_in_order() {
    let mut bench = bench();
    let (outcome, _) = bench.transfer(Command::MemoryRead, BASE + 0x10, &[0; 5]);
    assert_eq!(
        (outcome.words, outcome.attempts, outcome.parity_errors),
        (5, 1, 0)
    );
    assert_eq!(
        bench.master.data(),
        [4, 5, 6, 7, 8].map(|word| 0xA000_0000 + word)
    );
}

#[test]
fn each_latency_moves_the_first_word_by_as_much() {
    let default = BridgeConfig::default();
    let read = Command::MemoryRead;
    assert_eq!(
        first_word(
            BridgeConfig {
                request_to_grant: 5,
                ..default
            },
            read
        ),
        9 + 3
    );
    assert_eq!(
        first_word(
            BridgeConfig {
                read_latency: 9,
                ..default
            },
            read
        ),
        9 + 4
    );
    assert_eq!(
        first_word(
            BridgeConfig {
                write_latency: 9,
                ..default
            },
            read
        ),
        9
    );
    let write = Command::MemoryWrite;
    assert_eq!(
        first_word(
            BridgeConfig {
                write_latency: 9,
                ..default
            },
            write
        ),
        6 + 7
    );
}

#[test]
fn data_waits_for_devsel_and_for_the_turn_around() {
    let fastest = BridgeConfig {
        read_latency: 0,
        write_latency: 0,
        ..BridgeConfig::default()
    };
    for (devsel, read, write) in [
        (DecodeSpeed::Fast, 1, 0),
        (DecodeSpeed::Medium, 1, 1),
        (DecodeSpeed::Slow, 2, 2),
        (DecodeSpeed::Subtractive, 3, 3),
    ] {
        let config = BridgeConfig { devsel, ..fastest };
        assert_eq!(
            first_word(config, Command::MemoryRead),
            2 + 1 + read + 1,
            "{devsel:?}"
        );
        assert_eq!(
            first_word(config, Command::MemoryWrite),
            2 + 1 + write + 1,
            "{devsel:?}"
        );
    }
}

#[test]
fn wait_states_part_the_words() {
    let config = BridgeConfig {
        wait_states: 2,
        ..BridgeConfig::default()
    };
    let mut bench = Bench::new(config, TestMasterConfig::default());
    let (_, moved) = bench.transfer(Command::MemoryRead, BASE, &[0; 3]);
    assert_eq!(moved, [9, 12, 15]);
}

#[test]
fn only_linear_bursts_go_beyond_a_word() {
    let mut bench = bench();
    bench
        .master
        .submit(Command::MemoryRead, BASE | 0b10, &[0; 2]);
    for _ in 0..60 {
        bench.step();
    }
    let outcome = bench.master.take().unwrap();
    assert_eq!((outcome.words, outcome.attempts), (2, 2));
}

#[test]
fn the_other_memory_commands_are_known() {
    for (command, write) in [(0b1100, false), (0b1110, false), (0b1111, true)] {
        let mut bench = bench();
        bench.transfer(Command::Other(command), BASE, &[7]);
        assert_eq!(bench.memory.read_word(BASE) == 7, write);
        assert_eq!(bench.bridge.stats().transactions, 1);
    }
}

#[test]
fn a_burst_does_not_wrap_round_the_address_space() {
    let mut bench = bench();
    let store = std::boxed::Box::leak(std::vec![0u8; 4].into_boxed_slice());
    bench.memory = Ram::new(0xFFFF_FFFC, store);
    let (outcome, moved) = bench.transfer(Command::MemoryRead, 0xFFFF_FFFC, &[0; 2]);
    assert_eq!((outcome.end, moved.len()), (TransferEnd::MasterAbort, 1));
}
