//! Remote write on top of the driver.

use core::hint::black_box;
use core::sync::atomic::AtomicU8;

use multipc::put::{Put, PutConfig, Writer, WriterConfig};
use multipc::remote::{Flags, RemoteWrite, Transfer};

use crate::board::Board;

/// The room of a writer beside that of its driver.
static STATE: [AtomicU8; size_of::<Writer>() - size_of::<Put>()] =
    [const { AtomicU8::new(0) }; size_of::<Writer>() - size_of::<Put>()];

/// One transfer from start to end.
pub fn run(board: &mut Board) {
    black_box(&STATE);
    let table = black_box([0; 258]);
    let mut put = Put::new();
    let _ = black_box(put.init(board, &PutConfig::new(1, 0x1000, &table)));
    let Ok(mut writer) = Writer::<8, 16>::new(put, WriterConfig::default()) else {
        return;
    };
    let transfer = black_box(Transfer {
        node: 0,
        local: 0x4000,
        remote: 0x8000,
        length: 100_000,
        flags: Flags::default(),
    });
    if let Ok(token) = writer.start(board, transfer) {
        let _ = black_box(writer.poll(board));
        let _ = black_box(RemoteWrite::<Board>::progress(&mut writer, &token));
    }
    black_box(RemoteWrite::<Board>::arrival(&mut writer));
    black_box(&writer);
}
