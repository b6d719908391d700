//! Something with pins and a clock.

use std::ffi::{CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Pins;

/// A model or RTL behind the same pins.
pub trait Device {
    /// Sampled at the edge.
    type In: Pins;
    /// What its registers show after the edge.
    type Out: Pins;

    /// One rising edge of the clock.
    fn step(&mut self, inputs: &Self::In) -> Self::Out;
}

/// The functions that `shim/shim.h` gives for a top.
#[repr(C)]
pub struct ShimTable {
    in_size: usize,
    out_size: usize,
    create: unsafe extern "C" fn() -> *mut c_void,
    destroy: unsafe extern "C" fn(*mut c_void),
    step: unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_void),
    settle: unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_void),
    coverage: unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int,
}

/// A Verilated top; made by [`verilated!`](crate::verilated).
///
/// When the environment names a folder in `COSIM_COVERAGE` and the build counts,
/// the counters are written there as `<top>-<process>-<number>.dat` when the
/// device is dropped.
pub struct Verilated<I, O> {
    name: &'static str,
    shim: &'static ShimTable,
    handle: NonNull<c_void>,
    pins: PhantomData<(I, O)>,
}

static COUNT: AtomicU32 = AtomicU32::new(0);

impl<I: Pins, O: Pins> Verilated<I, O> {
    /// An instance of the top.
    ///
    /// # Safety
    /// `shim` has to be the table that `SHIM` in `shim/<name>.cpp` defines, with
    /// an `In` and `Out` of the layout of `I` and `O`.
    ///
    /// # Panics
    /// When the sizes of the structs differ between C++ and Rust.
    pub unsafe fn from_shim(name: &'static str, shim: &'static ShimTable) -> Self {
        assert_eq!(
            shim.in_size,
            size_of::<I>(),
            "size of the input pins of {name}"
        );
        assert_eq!(
            shim.out_size,
            size_of::<O>(),
            "size of the output pins of {name}"
        );
        // SAFETY: no argument; C++'s `new` gives an object or ends the process.
        let handle = unsafe { (shim.create)() };
        Self {
            name,
            shim,
            handle: NonNull::new(handle).expect("Verilated model"),
            pins: PhantomData,
        }
    }

    /// The inputs without an edge: asynchronous reset, combinational pins.
    pub fn settle(&mut self, inputs: &I) -> O {
        let mut outputs = O::default();
        // SAFETY: as in `step`.
        unsafe {
            (self.shim.settle)(
                self.handle.as_ptr(),
                (&raw const *inputs).cast(),
                (&raw mut outputs).cast(),
            );
        }
        outputs
    }
}

impl<I: Pins, O: Pins> Device for Verilated<I, O> {
    type In = I;
    type Out = O;

    fn step(&mut self, inputs: &I) -> O {
        let mut outputs = O::default();
        // SAFETY: the handle lives as long as `self`; both structs are plain
        // integers of the size that was checked.
        unsafe {
            (self.shim.step)(
                self.handle.as_ptr(),
                (&raw const *inputs).cast(),
                (&raw mut outputs).cast(),
            );
        }
        outputs
    }
}

impl<I, O> Drop for Verilated<I, O> {
    fn drop(&mut self) {
        if let Some(folder) = std::env::var_os("COSIM_COVERAGE") {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let file = format!("{}-{}-{number}.dat", self.name, std::process::id());
            let path = PathBuf::from(folder).join(file);
            if let Ok(path) = CString::new(path.to_string_lossy().into_owned()) {
                // SAFETY: handle and string are alive.
                unsafe { (self.shim.coverage)(self.handle.as_ptr(), path.as_ptr()) };
            }
        }
        // SAFETY: the handle came from `create` and is not used again.
        unsafe { (self.shim.destroy)(self.handle.as_ptr()) };
    }
}

/// Makes a device of a Verilated top: type, name of the top, its shim, pins.
///
/// `verilated!(/** The router. */ pub RcubeRtl = "rcube", rcube_shim, RcubeIn => RcubeOut);`
#[macro_export]
macro_rules! verilated {
    ($(#[$meta:meta])* pub $ty:ident = $name:literal, $shim:ident, $in:ty => $out:ty) => {
        $(#[$meta])*
        pub struct $ty($crate::device::Verilated<$in, $out>);

        impl $ty {
            /// A fresh instance.
            #[allow(clippy::new_without_default)]
            pub fn new() -> Self {
                unsafe extern "C" {
                    safe static $shim: $crate::device::ShimTable;
                }
                let (name, shim) = ($name, &$shim);
                // SAFETY: the shim of this top; the sizes are checked.
                Self(unsafe { $crate::device::Verilated::from_shim(name, shim) })
            }

            /// The inputs without an edge: asynchronous reset, combinational pins.
            pub fn settle(&mut self, inputs: &$in) -> $out {
                self.0.settle(inputs)
            }
        }

        impl $crate::Device for $ty {
            type In = $in;
            type Out = $out;

            fn step(&mut self, inputs: &$in) -> $out {
                self.0.step(inputs)
            }
        }
    };
}
