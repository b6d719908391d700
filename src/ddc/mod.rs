//! ddc.
