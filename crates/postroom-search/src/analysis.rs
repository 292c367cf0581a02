//! Words of a text as the index has them.
