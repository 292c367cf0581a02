//! Raw bytes, content-addressed.
