use core::ffi::c_void;
use core::ptr::null_mut;

use multipc_capi::*;

use crate::common::{blank, last, ok};

#[test]
fn hardware_that_calls_its_driver_finds_it_busy() {
    use std::sync::atomic::{AtomicI32, Ordering};
    static STATUS: AtomicI32 = AtomicI32::new(-1);
    unsafe extern "C" fn read(user: *mut c_void, _: u32, _: u8, value: *mut u32) -> i32 {
        let mut state = blank();
        // SAFETY: the slot of the handle, the handle, outputs.
        unsafe {
            let put = user.cast::<*mut multipc_put>().read();
            STATUS.store(multipc_put_look(put, &mut state), Ordering::Relaxed);
            value.write(0xBAD);
        }
        MULTIPC_OK
    }
    unsafe extern "C" fn write(_: *mut c_void, _: u32, _: u8, _: u32) -> i32 {
        MULTIPC_OK
    }
    unsafe extern "C" fn load(_: *mut c_void, _: u32, _: u32, _: *mut u8, _: usize) -> i32 {
        MULTIPC_OK
    }
    unsafe extern "C" fn store(_: *mut c_void, _: u32, _: u32, _: *const u8, _: usize) -> i32 {
        MULTIPC_OK
    }
    let mut slot = null_mut::<multipc_put>();
    let hardware = multipc_hardware {
        user: (&raw mut slot).cast(),
        node: 0,
        read: Some(read),
        write: Some(write),
        load: Some(load),
        store: Some(store),
        inta: None,
    };
    let (mut config, mut started) = (blank(), blank());
    // SAFETY: locals and the handle.
    unsafe {
        let mut put = null_mut();
        ok(multipc_put_new(&hardware, &mut put));
        (&raw mut slot).write(put);
        ok(multipc_put_config_default(put, &mut config));
        let status = multipc_put_open(put, &config, &mut started);
        assert_eq!(status, MULTIPC_ERROR_BUS);
        assert_eq!(
            last(),
            "no board: register 0x00 holds 0x00000bad, expected 0x00000000"
        );
        multipc_put_free(put);
    }
    assert_eq!(STATUS.load(Ordering::Relaxed), MULTIPC_ERROR_BUSY);
}
