//! The machine around the chips: which router is cabled to which, and the
//! tables that steer packets through them.
//!
//! [`topology`] describes a machine and follows routes through it;
//! [`labelling`] computes the routers' interval tables.
//! Facts and choices: hw/doc/topology.md.

pub mod labelling;
pub mod topology;
