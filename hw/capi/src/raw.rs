//! Pointers of the caller: the only place that dereferences them.
//!
//! Each function checks what can be checked (null, alignment, length) and needs of its
//! caller, the foreign side, the rest: the pointer leads to memory of the named type
//! that nobody else uses during the call.

use core::ffi::{CStr, c_char};
use core::slice;

use crate::error::{Error, MULTIPC_ERROR_NULL};

fn check<T>(pointer: *const T, name: &str) -> Result<(), Error> {
    if pointer.is_null() {
        Err(Error::new(MULTIPC_ERROR_NULL, format!("{name} is null")))
    } else if !pointer.is_aligned() {
        Err(Error::argument(format!(
            "{name} is not a multiple of {}",
            align_of::<T>()
        )))
    } else {
        Ok(())
    }
}

/// A copy of what `pointer` leads to; `T` must be valid for any bytes.
///
/// # Safety
/// See the module.
pub unsafe fn read<T: Copy>(pointer: *const T, name: &str) -> Result<T, Error> {
    check(pointer, name)?;
    // SAFETY: not null, aligned; the rest is the caller's promise.
    Ok(unsafe { pointer.read() })
}

/// An output of a call: checked at its start, written at its end.
pub struct Out<T>(*mut T);

/// An output at `pointer`.
///
/// # Safety
/// See the module.
pub unsafe fn out<T>(pointer: *mut T, name: &str) -> Result<Out<T>, Error> {
    check(pointer, name)?;
    Ok(Out(pointer))
}

impl<T> Out<T> {
    /// Writes it.
    pub fn put(self, value: T) {
        // SAFETY: checked by `out`, whose caller promised the rest. What was there is
        // plain data and is not dropped.
        unsafe { self.0.write(value) }
    }
}

/// A handle.
///
/// # Safety
/// See the module; the handle came from its `new` and was not freed.
pub unsafe fn handle<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T, Error> {
    check(pointer, name)?;
    // SAFETY: not null, aligned; the rest is the caller's promise.
    Ok(unsafe { &mut *pointer })
}

/// A handle that is only looked at.
///
/// # Safety
/// As [`handle`].
pub unsafe fn view<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Error> {
    check(pointer, name)?;
    // SAFETY: as above.
    Ok(unsafe { &*pointer })
}

/// Frees a handle; null is nothing.
///
/// # Safety
/// As [`handle`]; the handle is not used again.
pub unsafe fn free<T>(pointer: *mut T) {
    if !pointer.is_null() && pointer.is_aligned() {
        // SAFETY: made by `Box::into_raw` in `new`.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

/// A new handle into `out`.
///
/// # Safety
/// See the module.
pub unsafe fn give<T>(
    pointer: *mut *mut T,
    make: impl FnOnce() -> Result<T, Error>,
) -> Result<(), Error> {
    // SAFETY: promised by our caller.
    let out = unsafe { out(pointer, "out") }?;
    out.put(Box::into_raw(Box::new(make()?)));
    Ok(())
}

/// Bytes to read; `len` may be 0, then `pointer` may be null.
///
/// # Safety
/// See the module.
pub unsafe fn slice<'a, T>(pointer: *const T, len: usize, name: &str) -> Result<&'a [T], Error> {
    if len == 0 {
        return Ok(&[]);
    }
    check(pointer, name)?;
    fits::<T>(len, name)?;
    // SAFETY: not null, aligned, no longer than memory can be.
    Ok(unsafe { slice::from_raw_parts(pointer, len) })
}

/// Bytes to write; `len` may be 0, then `pointer` may be null.
///
/// # Safety
/// See the module.
pub unsafe fn slice_mut<'a, T>(
    pointer: *mut T,
    len: usize,
    name: &str,
) -> Result<&'a mut [T], Error> {
    if len == 0 {
        return Ok(&mut []);
    }
    check(pointer, name)?;
    fits::<T>(len, name)?;
    // SAFETY: as above.
    Ok(unsafe { slice::from_raw_parts_mut(pointer, len) })
}

fn fits<T>(len: usize, name: &str) -> Result<(), Error> {
    let max = isize::MAX as usize / size_of::<T>().max(1);
    if len > max {
        return Err(Error::argument(format!(
            "{name} of {len} elements, at most {max}"
        )));
    }
    Ok(())
}

/// A text.
///
/// # Safety
/// See the module; it ends with a zero.
pub unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Result<&'a str, Error> {
    check(pointer, name)?;
    // SAFETY: not null; the rest is the caller's promise.
    unsafe { CStr::from_ptr(pointer) }
        .to_str()
        .map_err(|_| Error::argument(format!("{name} is not UTF-8")))
}

/// Writes a text with a zero behind it, cut where the room ends; `capacity` counts the
/// zero.
///
/// # Safety
/// See the module.
pub unsafe fn put_text(
    words: &str,
    pointer: *mut c_char,
    capacity: usize,
    name: &str,
) -> Result<(), Error> {
    if capacity == 0 {
        return Err(Error::argument(format!("{name} of 0 bytes, at least 1")));
    }
    // SAFETY: promised by our caller.
    let room = unsafe { slice_mut(pointer.cast::<u8>(), capacity, name) }?;
    // Not in the middle of a character.
    let most = words.len().min(capacity - 1);
    let end = (0..=most).rev().find(|&at| words.is_char_boundary(at));
    let end = end.unwrap_or(0);
    if let (Some(text), Some(bytes)) = (room.get_mut(..end), words.as_bytes().get(..end)) {
        text.copy_from_slice(bytes);
    }
    if let Some(zero) = room.get_mut(end) {
        *zero = 0;
    }
    Ok(())
}
