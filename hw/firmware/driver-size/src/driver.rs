//! Every call of the driver, once.

use core::hint::black_box;
#[cfg(not(feature = "models"))]
use core::sync::atomic::AtomicU8;

use embedded_hal::delay::DelayNs;
use multipc::put::{Control, Entry, Fault, Hardware, Put, PutConfig};

/// The room of a driver that lives in a static, as it does in a firmware.
#[cfg(not(feature = "models"))]
static STATE: [AtomicU8; size_of::<Put>()] = [const { AtomicU8::new(0) }; size_of::<Put>()];

/// Starts, posts each kind of message, serves both ways, stops.
#[cfg(not(feature = "models"))]
pub fn run(board: &mut (impl Hardware + DelayNs)) {
    black_box(&STATE);
    let mut put = Put::new();
    calls(&mut put, board);
    black_box(&put);
}

/// The calls.
pub fn calls(put: &mut Put, board: &mut (impl Hardware + DelayNs)) {
    let table = black_box([0; 258]);
    let _ = black_box(put.init(board, &PutConfig::new(1, 0x1000, &table)));
    if let Ok(sap) = put.register_sap() {
        let _ = black_box(put.attach_mi_range(sap, black_box(16)));
        let _ = black_box(put.mi_range(sap));
        post(put, board);
        let _ = black_box(put.unregister_sap(sap));
    }
    let sink = |event| {
        black_box(event);
    };
    let _ = black_box(put.on_interrupt(board, 16, sink));
    let _ = black_box(put.poll(board, 16, sink));
    let _ = black_box(put.flush_lme(board, 16, sink));
    let _ = black_box(put.flush_lmr(board, 16, sink));
    let _ = black_box(put.emergency_stop(
        board,
        black_box(Fault::BadPointer {
            offset: 0,
            value: 0,
        }),
    ));
    black_box(put.end());
}

fn post(put: &mut Put, board: &mut impl Hardware) {
    let flags = Control::LMP.with(Control::NOS);
    let page = black_box(Entry::page(0, 3, 0x4000, 0x8000, 4096, flags));
    let _ = black_box(put.add_entry(board, page));
    let _ = black_box(put.add_message(board, &[page, page]));
    let _ = black_box(put.send_short(board, 0, 3, black_box([1, 2])));
    let _ = black_box(put.send_composed(board, 0, 4));
    let _ = black_box(put.expect_composed(board, 4, black_box(2)));
    let _ = black_box(put.clear_counter(board, black_box(4)));
}
