//! Values that must not be printed.

use subtle::ConstantTimeEq;

/// A secret: no `Display`, a `Debug` that hides it, and no `PartialEq`; compare with
/// [`Secret::matches`].
#[derive(Clone)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Wraps a value.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// The value itself; every call is a place to look at in a review.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T: AsRef<[u8]>> Secret<T> {
    /// Compares in constant time for equal lengths.
    pub fn matches(&self, other: &[u8]) -> bool {
        self.0.as_ref().ct_eq(other).into()
    }
}

impl<T> std::fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}
