//! Values that are put away in little memory: written as JSON, compressed, and read back when they are needed.
//!
//! What a long session holds is looked at seldom. A few dozen values are packed at a time: then one is read back in a
//! fraction of a millisecond.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Some values of one type, put away.
#[derive(Clone, PartialEq, Eq)]
pub struct Packed(Box<[u8]>);

impl Packed {
    /// Puts values away; `None` when one of them has no written form.
    pub fn pack<T: Serialize>(values: &[T]) -> Option<Self> {
        let written = serde_json::to_vec(values).ok()?;
        Some(Self::of_written(&written))
    }

    /// Puts values away that are written as JSON, one behind the other.
    pub(crate) fn of_written(written: &[u8]) -> Self {
        Self(lz4_flex::compress_prepend_size(written).into_boxed_slice())
    }

    /// Reads such values back, as far as they are of this type.
    pub(crate) fn written_values<T: DeserializeOwned>(&self) -> Vec<T> {
        let written = lz4_flex::decompress_size_prepended(&self.0).unwrap_or_default();
        serde_json::Deserializer::from_slice(&written).into_iter::<T>().map_while(Result::ok).collect()
    }

    /// Reads the values back; `None` when they were of another type.
    pub fn values<T: DeserializeOwned>(&self) -> Option<Vec<T>> {
        let written = lz4_flex::decompress_size_prepended(&self.0).ok()?;
        serde_json::from_slice(&written).ok()
    }
}

impl std::fmt::Debug for Packed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Packed({} bytes)", self.0.len())
    }
}
