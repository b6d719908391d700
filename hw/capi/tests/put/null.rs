use core::ffi::c_char;
use core::ptr::{null, null_mut};

use multipc_capi::*;

use crate::common::{blank, is_null, machine, ok};
use crate::{driver, free};

#[test]
fn null_pointers_are_errors_with_the_name_of_the_pointer() {
    let m = machine(c"pair");
    let p = driver(m, 0);
    let (mut hardware, mut config, mut started) = (blank(), blank(), blank());
    let (mut state, mut served, mut event) = (blank(), blank(), blank());
    let (mut number, mut sequence, mut flag) = (0u32, 0u64, 0u8);
    let mut other = null_mut();
    let mut text = [0 as c_char; 8];
    // SAFETY: a handle, outputs.
    unsafe {
        ok(multipc_machine_hardware(m, 0, &mut hardware));
        ok(multipc_put_config_default(p, &mut config));
    }
    is_null!(
        "machine",
        multipc_machine_hardware(null_mut(), 0, &mut hardware)
    );
    is_null!("hardware", multipc_machine_hardware(m, 0, null_mut()));
    is_null!("machine", multipc_machine_router_of(null(), 0, &mut number));
    is_null!("router", multipc_machine_router_of(m, 0, null_mut()));
    is_null!(
        "machine",
        multipc_machine_run_until_links(null_mut(), 0, &mut flag)
    );
    is_null!("up", multipc_machine_run_until_links(m, 0, null_mut()));
    is_null!("hardware", multipc_put_new(null(), &mut other));
    is_null!("out", multipc_put_new(&hardware, null_mut()));
    macro_rules! without {
        ($call:ident, $name:literal) => {
            let holed = multipc_hardware {
                $call: None,
                ..hardware
            };
            is_null!($name, multipc_put_new(&holed, &mut other));
        };
    }
    without!(read, "hardware.read");
    without!(write, "hardware.write");
    without!(load, "hardware.load");
    without!(store, "hardware.store");
    is_null!("put", multipc_put_look(null(), &mut state));
    is_null!("state", multipc_put_look(p, null_mut()));
    is_null!("put", multipc_put_config_default(null(), &mut config));
    is_null!("config", multipc_put_config_default(p, null_mut()));
    is_null!("put", multipc_put_open(null_mut(), &config, &mut started));
    is_null!("config", multipc_put_open(p, null(), &mut started));
    is_null!("started", multipc_put_open(p, &config, null_mut()));
    is_null!("put", multipc_put_ready(null_mut()));
    is_null!("put", multipc_put_close(null_mut()));
    is_null!("put", multipc_put_register_sap(null_mut(), &mut number));
    is_null!("sap", multipc_put_register_sap(p, null_mut()));
    is_null!("put", multipc_put_unregister_sap(null_mut(), 0));
    is_null!("put", multipc_put_attach(null_mut(), 0, 1, &mut number));
    is_null!("start", multipc_put_attach(p, 0, 1, null_mut()));
    is_null!("put", multipc_put_reach(null_mut(), 0, 1));
    is_null!(
        "put",
        multipc_put_post(null_mut(), null(), 0, &mut sequence)
    );
    is_null!("entries", multipc_put_post(p, null(), 1, &mut sequence));
    is_null!("sequence", multipc_put_post(p, null(), 0, null_mut()));
    is_null!("put", multipc_put_has_left(null(), 0, &mut flag));
    is_null!("left", multipc_put_has_left(p, 0, null_mut()));
    is_null!("put", multipc_put_expect(null_mut(), 0, 1));
    is_null!(
        "put",
        multipc_put_poll(null_mut(), 1, null_mut(), 0, &mut served)
    );
    is_null!("events", multipc_put_poll(p, 1, null_mut(), 1, &mut served));
    is_null!("served", multipc_put_poll(p, 1, null_mut(), 0, null_mut()));
    is_null!(
        "put",
        multipc_put_interrupt(null_mut(), 1, null_mut(), 0, &mut served)
    );
    is_null!(
        "event",
        multipc_put_event_text(null(), text.as_mut_ptr(), 8)
    );
    event = multipc_put_event {
        kind: MULTIPC_PUT_SENT,
        ..event
    };
    is_null!("text", multipc_put_event_text(&event, null_mut(), 8));
    assert!(other.is_null(), "a failed call changes nothing");
    free(m, [p, null_mut()]);
}
