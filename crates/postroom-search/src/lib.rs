//! The index as a projection of the change feed.
