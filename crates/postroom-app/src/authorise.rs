//! From a key and arguments to what may be read.
