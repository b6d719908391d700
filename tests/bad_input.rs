//! Bad input gives a typed error whose text names the thing, the value and what
//! is allowed; and the machine is as usable afterwards as before.
#![cfg(feature = "alloc")]

#[path = "bad_input/machine.rs"]
mod machine;
mod machine_rig;
#[path = "bad_input/posting.rs"]
mod posting;
#[path = "bad_input/starting.rs"]
mod starting;
#[path = "bad_input/writing.rs"]
mod writing;

use std::error::Error;
use std::fmt::Debug;

use machine_rig::{assert_clean, quick};
use multipc::cluster::Cluster;
use multipc::fabric::topology::Topology;
use multipc::put::{Control, Entry};

/// The text of an error that is a [`core::error::Error`], one line.
fn text<T: Debug, E: Error>(result: Result<T, E>) -> String {
    let text = result.unwrap_err().to_string();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

fn pair() -> Cluster {
    Cluster::boot(&Topology::pair().unwrap(), &quick()).unwrap()
}

/// Refuses nothing and loses nothing: what every test ends with.
fn still_works(cluster: &mut Cluster) {
    cluster.store(0, 0x1_0000, b"as before").unwrap();
    cluster.put(0, 1, 0x1_0000, 0x2_0001, 9).unwrap();
    let mut there = [0; 9];
    cluster.load(1, 0x2_0001, &mut there).unwrap();
    assert_eq!(&there, b"as before");
    assert_clean(cluster.machine());
}

fn page(node: u16, length: u32) -> Entry {
    Entry::page(node, 0, 0x1_0000, 0x2_0000, length, Control::LMP)
}
