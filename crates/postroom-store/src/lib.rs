//! The only SQL: one writer, group commit, change feed, blobs.
