//! Remote writes and the settings of a writer.

use multipc::put::{WriteError, Writer, WriterConfig, WriterError};
use multipc::remote::{Flags, RemoteWrite, Transfer};
use multipc::time::Duration;

use super::{pair, still_works, text};

#[test]
fn remote_writes() {
    let mut cluster = pair();
    let (machine, writers) = cluster.parts();
    let mut host = machine.host(0).unwrap();
    let good = Transfer {
        node: 1,
        local: 0x1_0000,
        remote: 0x2_0000,
        length: 8,
        flags: Flags {
            notify_receiver: true,
            tag: 0,
        },
    };
    let mut refused = |transfer| text(writers[0].start(&mut host, transfer));
    assert_eq!(
        refused(Transfer { node: 9, ..good }),
        "node 9 is unknown, allowed 0..2"
    );
    let tag = Flags {
        tag: 65_536,
        ..good.flags
    };
    assert_eq!(
        refused(Transfer { flags: tag, ..good }),
        "tag 65536, allowed 0..65536"
    );
    assert_eq!(
        refused(Transfer {
            remote: 0xFFFF_FFF9,
            ..good
        }),
        "8 bytes at 0xfffffff9 do not end below 2^32"
    );
    assert_eq!(
        refused(Transfer {
            local: 1 << 40,
            ..good
        }),
        "8 bytes at 0x10000000000 do not end below 2^32"
    );
    assert_eq!(
        refused(Transfer { local: 0, ..good }),
        "local address of a page is 0"
    );
    for _ in 0..8 {
        writers[0].start(&mut host, good).unwrap();
    }
    let ninth = writers[0].start(&mut host, good);
    assert_eq!(ninth, Err(WriteError::QueueFull { limit: 8 }));
    assert_eq!(text(ninth), "queue full: 8 transfers in progress");
    machine.run_for(Duration::from_us(100));
    for node in [0, 1] {
        let mut host = machine.host(node).unwrap();
        let writer = &mut writers[usize::from(node)];
        RemoteWrite::poll(writer, &mut host).unwrap();
    }
    assert_eq!(std::iter::from_fn(|| writers[1].arrival()).count(), 8);
    still_works(&mut cluster);
}

#[test]
fn settings_of_a_writer() {
    let refused = |change: fn(&mut WriterConfig)| {
        let mut config = WriterConfig::default();
        change(&mut config);
        let put = pair().parts().1[0].put().clone();
        text::<Writer, WriterError>(Writer::new(put, config))
    };
    assert_eq!(
        refused(|config| config.page = 65_536),
        "writer pages of 65536 bytes, allowed 1..=65535"
    );
    assert_eq!(
        refused(|config| config.page = 0),
        "writer pages of 0 bytes, allowed 1..=65535"
    );
    assert_eq!(
        refused(|config| config.pages_per_message = 0),
        "writer messages of 0 pages, allowed 1.."
    );
    assert_eq!(
        refused(|config| config.budget = 0),
        "writer budget of 0, allowed 1..=65535"
    );
    assert_eq!(
        refused(|config| config.tags = 0),
        "writer with 0 tags, allowed 1..=16777216"
    );
    assert_eq!(
        refused(|config| config.tags = 5),
        "range of 5 message identifiers is not a power of 2"
    );
}
