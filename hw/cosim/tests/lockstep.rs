//! The bench itself: a difference is found in its cycle and shown.

use multipc_cosim::{Device, Lockstep, pins};

pins! {
    /// Something to add.
    pub struct AddIn {
        /// Added each cycle.
        pub value: u8 [8],
    }
}

pins! {
    /// Sums so far.
    pub struct AddOut {
        /// The sum, and its complement.
        pub sums: [u16; 2] [16],
        /// Never moves.
        pub still: u8 [1],
    }
}

/// Adds, and goes wrong from a cycle on.
struct Adder {
    sum: u16,
    good: u32,
}

impl Device for Adder {
    type In = AddIn;
    type Out = AddOut;

    fn step(&mut self, inputs: &AddIn) -> AddOut {
        self.sum = self.sum.wrapping_add(inputs.value.into());
        self.good = self.good.saturating_sub(1);
        let wrong = u16::from(self.good == 0);
        AddOut {
            sums: [self.sum, !self.sum ^ wrong],
            still: 0,
        }
    }
}

#[test]
fn first_difference_is_reported_with_twenty_cycles_and_a_waveform() {
    let right = Adder {
        sum: 0,
        good: u32::MAX,
    };
    let wrong = Adder { sum: 0, good: 31 };
    let mut bench = Lockstep::new("lockstep_self_test", right, wrong);
    for _ in 0..30 {
        bench.step(&AddIn { value: 3 }).expect("equal so far");
    }
    let found = bench
        .step(&AddIn { value: 4 })
        .expect_err("the 31st differs");
    assert_eq!(found.cycle, 30);
    assert_eq!(
        found.pins,
        [("sums[1]".to_owned(), 0xFFFF - 94, (0xFFFF - 94) ^ 1)]
    );
    let text = found.to_string();
    let edges = text
        .lines()
        .find(|line| line.starts_with("edge"))
        .expect("a row of numbers");
    assert_eq!(edges.split_whitespace().count(), 21, "{text}");
    assert!(
        text.contains("out sums[1] RTL") && !text.contains("still"),
        "{text}"
    );

    let path = found.waveform.expect("written");
    let mut parser = vcd::Parser::new(std::io::BufReader::new(
        std::fs::File::open(path).expect("there"),
    ));
    let header = parser.parse_header().expect("a header");
    assert!(
        header
            .find_var(&["lockstep_self_test", "rtl", "sums_1"])
            .is_some()
    );
    assert!(
        header
            .find_var(&["lockstep_self_test", "inputs", "value"])
            .is_some()
    );
    let stamps = parser
        .filter(|command| matches!(command, Ok(vcd::Command::Timestamp(_))))
        .count();
    assert_eq!(stamps, 31);
}
