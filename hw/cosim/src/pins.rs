//! What goes into and comes out of a device in one cycle.

/// One value of a pin struct: a vector of up to 64 wires, or several alike.
pub trait Wire {
    /// All wires low. (`Default` is there for short arrays only.)
    const LOW: Self;

    /// Calls `f` with the index (for arrays) and the value of each vector.
    fn each(&self, f: &mut dyn FnMut(Option<usize>, u64));
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Wire for $ty {
            const LOW: Self = 0;

            fn each(&self, f: &mut dyn FnMut(Option<usize>, u64)) {
                f(None, u64::from(*self));
            }
        }
    )*};
}
integers!(u8 u16 u32 u64);

impl Wire for bool {
    const LOW: Self = false;

    fn each(&self, f: &mut dyn FnMut(Option<usize>, u64)) {
        f(None, u64::from(*self));
    }
}

impl<T: Copy + Into<u64> + Wire, const N: usize> Wire for [T; N] {
    const LOW: Self = [T::LOW; N];

    fn each(&self, f: &mut dyn FnMut(Option<usize>, u64)) {
        for (k, value) in self.iter().enumerate() {
            f(Some(k), (*value).into());
        }
    }
}

/// A struct of pins; made by [`pins!`](crate::pins).
pub trait Pins: Copy + Default + PartialEq + 'static {
    /// Calls `f` with name, index, width in bits and value of each vector, in
    /// the order of the declaration.
    fn each(&self, f: &mut dyn FnMut(&'static str, Option<usize>, u32, u64));
}

/// Declares a `repr(C)` struct of pins; `[n]` is the width of a vector in bits.
///
/// ```
/// multipc_cosim::pins! {
///     /// What the thing is told.
///     pub struct ThingIn {
///         /// Characters, one a port.
///         pub character: [u16; 8] [9],
///         /// One bit a port.
///         pub valid: u8 [8],
///     }
/// }
/// ```
#[macro_export]
macro_rules! pins {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$about:meta])* pub $field:ident: $ty:ty [$width:literal],)*
    }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[$about])* pub $field: $ty,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: <$ty as $crate::Wire>::LOW,)* }
            }
        }

        impl $crate::Pins for $name {
            fn each(&self, f: &mut dyn FnMut(&'static str, Option<usize>, u32, u64)) {
                $($crate::Wire::each(&self.$field, &mut |index, value| {
                    f(stringify!($field), index, $width, value);
                });)*
            }
        }
    };
}

/// The names of all vectors, with index.
pub(crate) fn names<P: Pins>() -> Vec<(String, u32)> {
    let mut names = Vec::new();
    P::default().each(&mut |name, index, width, _| {
        names.push((
            match index {
                Some(index) => format!("{name}[{index}]"),
                None => name.to_owned(),
            },
            width,
        ));
    });
    names
}

/// The values of all vectors.
pub(crate) fn values<P: Pins>(pins: &P) -> Vec<u64> {
    let mut values = Vec::new();
    pins.each(&mut |_, _, _, value| values.push(value));
    values
}
