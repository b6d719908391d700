//! Events of driver and chips, in one place.
//!
//! `trace!`, `debug!`, `info!`, `warn!` and `error!` go to defmt on bare metal
//! (feature `defmt`), else to the `log` facade (feature `log`), else nowhere;
//! their arguments are type-checked in each case. Hosts lack the linker script
//! of defmt, which is why its macros are used with `target_os = "none"` only.
#![allow(unused_macros)]

macro_rules! event {
    ($level:ident, $($arg:tt)*) => {{
        #[cfg(all(feature = "defmt", target_os = "none"))]
        ::defmt::$level!($($arg)*);
        #[cfg(all(feature = "log", not(all(feature = "defmt", target_os = "none"))))]
        ::log::$level!($($arg)*);
        #[cfg(not(any(feature = "log", all(feature = "defmt", target_os = "none"))))]
        if false {
            let _ = ::core::format_args!($($arg)*);
        }
    }};
}

macro_rules! trace { ($($arg:tt)*) => { event!(trace, $($arg)*) }; }
macro_rules! debug { ($($arg:tt)*) => { event!(debug, $($arg)*) }; }
macro_rules! info { ($($arg:tt)*) => { event!(info, $($arg)*) }; }
macro_rules! warning { ($($arg:tt)*) => { event!(warn, $($arg)*) }; }
macro_rules! error { ($($arg:tt)*) => { event!(error, $($arg)*) }; }
