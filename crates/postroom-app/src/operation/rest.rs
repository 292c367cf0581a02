//! From a REST request to an operation's arguments.

/// Placeholder until the mapping is written.
#[derive(Debug, Clone, Default)]
pub struct RestParameters;

/// Why a REST request gives no arguments.
#[derive(Debug, Clone)]
pub struct RestError;
