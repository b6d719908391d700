//! What is plugged into what: whose router is whose, and which links should work.

use multipc::fabric::labelling::Labelling;
use multipc::fabric::topology::{Port, Topology};
use multipc::time::Instant;

use crate::error::{call, multipc_status};
use crate::machine::{in_range, multipc_machine};
use crate::raw;

/// The plugs of a machine.
pub(crate) struct Cabling {
    /// The router of each node.
    routers: Vec<u16>,
    /// The ports of each router with something plugged in.
    plugged: Vec<u8>,
}

impl Cabling {
    pub(crate) fn of(topology: &Topology<'_>, labelling: &Labelling<'_>) -> Self {
        let generators = topology.generators();
        let router = |node| {
            let generator = labelling.generator_of(node)?;
            generators.get(usize::from(generator)).map(|at| at.router)
        };
        let plugged = |router| {
            let ports = (0..).zip(topology.ports(router));
            ports
                .filter(|(_, port)| **port != Port::Empty)
                .fold(0, |mask, (at, _): (u8, _)| mask | 1 << at)
        };
        Self {
            routers: (0..generators.len() as u16)
                .map(|node| router(node).unwrap_or_default())
                .collect(),
            plugged: (0..topology.routers()).map(plugged).collect(),
        }
    }
}

/// The router that a node's controller is wired to: its number is not that of the node
/// in every shape.
///
/// # Safety
/// `machine` is null or a handle, `router` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_router_of(
    machine: *const multipc_machine,
    node: u32,
    router: *mut u32,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let machine = unsafe { raw::view(machine, "machine") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(router, "router") }?;
        let routers = &machine.cabling.routers;
        let node = in_range("node", node, routers.len())?;
        let router = routers.get(usize::from(node)).copied();
        out.put(router.unwrap_or_default().into());
        Ok(())
    })
}

/// Runs until every port with something plugged in shows its link working, at most to
/// `time_ps`: 1 or 0 into `*up`. Watched pins do not stop it; their events wait.
///
/// # Safety
/// `machine` is null or a handle, `up` null or leads to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn multipc_machine_run_until_links(
    machine: *mut multipc_machine,
    time_ps: u64,
    up: *mut u8,
) -> multipc_status {
    call(|| {
        // SAFETY: promised by the caller, here and below.
        let machine = unsafe { raw::handle(machine, "machine") }?;
        // SAFETY: as above.
        let out = unsafe { raw::out(up, "up") }?;
        let plugged = &machine.cabling.plugged;
        let left = Instant::from_ps(time_ps).since(machine.machine.now());
        let up = machine.machine.run_while_not(left, |machine| {
            let mut routers = machine.routers().iter().zip(plugged);
            routers.all(|(router, plugged)| router.link_status() & plugged == *plugged)
        });
        out.put(up.into());
        Ok(())
    })
}
