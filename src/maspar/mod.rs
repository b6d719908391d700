//! maspar.
