//! rcube.
