//! The driver against a hostile device: registers and rings answer anything.
//!
//! Input: errata of the driver's chip u32, a seed u64, how many accesses fail
//! u8, then pairs of a call and its budget; what is left after the first zero
//! call is the script of the device's answers.

use multipc::put::testing::HostileController;
use multipc::put::{BOUNCE_BYTES, Capabilities, Control, Entry, Put, PutConfig, Revision};

const BASE: u32 = 0x1000;
const CALLS: usize = 64;
const TABLE: [u8; 258] = [0; 258];

/// Any answers, any calls: no call hangs, none writes beside the memory that
/// the driver was given.
pub fn driver(data: &[u8]) {
    let mut data = data;
    let errata = u32::from_le_bytes(super::take(&mut data));
    let seed = u64::from_le_bytes(super::take(&mut data));
    let [failures] = super::take(&mut data);
    let end = data
        .iter()
        .step_by(2)
        .take(CALLS)
        .position(|call| *call == 0)
        .map_or(data.len().min(2 * CALLS), |at| 2 * at);
    let (calls, script) = data.split_at(end.min(data.len()));

    let mut hw = HostileController::new(script, seed);
    hw.quiet = true;
    let mut config = PutConfig::new(0, BASE, &TABLE);
    (config.entries, config.counters, config.nodes) = (24, 20, 3);
    let revision = multipc::put::Erratum::ALL
        .iter()
        .enumerate()
        .filter(|(i, _)| errata >> i & 1 == 1)
        .fold(Revision::IDEAL, |set, (_, erratum)| set.with(*erratum));
    config.capabilities = Capabilities::from_errata(revision);
    let buffer = BASE + config.table_bytes() as u32;
    config.bounce = Some(buffer);
    let mut put = Put::new();
    if put.init(&mut hw, &config).is_err() {
        return;
    }
    if let Ok(sap) = put.register_sap() {
        let _ = put.attach_mi_range(sap, 64);
    }
    hw.quiet = false;
    hw.failures = failures.into();
    let last = Control::LMP
        .with(Control::NOS)
        .with(Control::LMI)
        .with(Control::NOR);
    for pair in calls.chunks_exact(2) {
        let (call, budget) = (pair[0], u16::from(pair[1]));
        let before = hw.accesses();
        let mut events = 0u32;
        let mut sink = |_| events += 1;
        match call % 7 {
            0 => {
                let skew = u32::from(budget % 8);
                let _ = put.add_entry(
                    &mut hw,
                    Entry::page(1, 5, 0x101 + skew, 0x204 - skew, 100, last),
                );
            }
            1 => drop(put.send_short(&mut hw, 2, 7, [seed as u32, budget.into()])),
            2 => drop(put.poll(&mut hw, budget, &mut sink)),
            3 => drop(put.on_interrupt(&mut hw, budget, &mut sink)),
            4 => drop(put.flush_lme(&mut hw, budget, &mut sink)),
            5 => drop(put.flush_lmr(&mut hw, budget, &mut sink)),
            _ => drop(put.settled(&mut hw)),
        }
        assert!(
            events <= 2 * u32::from(budget) + 2,
            "{events} events of a budget of {budget}"
        );
        assert!(
            hw.accesses() - before <= 40_000,
            "a call that does not come back"
        );
    }
    let (low, high) = hw.stored();
    assert!(low >= u64::from(BASE) && high <= u64::from(buffer + BOUNCE_BYTES));
}
