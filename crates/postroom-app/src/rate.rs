//! Rate buckets.

/// A rate bucket beyond the key's and the tenant's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bucket {
    /// Searches, related, contacts.
    Search,
}

/// The buckets of the process.
#[derive(Debug, Default)]
pub struct Rates;
