//! The only SQL: one writer, group commit, change feed, blobs.
//!
//! For: keeping what `postroom-core` decides, on SQLite or PostgreSQL behind one set of functions,
//! and reading it back for the rooms above.
//!
//! Never: no decision is made here, and nothing is answered before its commit is synced. No read
//! goes without a [`TenantScope`](postroom_types::TenantScope) (or a scope that only workers and
//! platform keys have); a foreign id and a missing one read the same.
//!
//! How data passes through: [`Store::transact`] packs a command's bytes in the caller's task and
//! queues it; the writer, a task of its own, takes all that wait, loads the state they name,
//! decides them in order, writes the changes set-based, commits once, answers all, and publishes
//! the new feed positions. Reads go past the writer through a pool of read-only connections.

mod blob;
mod commit;
mod connect;
mod credential;
pub mod cursor;
mod error;
mod feed;
mod load;
pub mod read;
mod rows;
mod schema;
mod scope;
mod seal;
mod secret;
mod select;
mod sql;
mod store;
mod write;

pub use credential::{MintedKey, MintedToken};
pub use error::StoreError;
pub use feed::{FeedPosition, Wake};
pub use scope::{PlatformScope, WorkerScope};
pub use seal::SealedFor;
pub use secret::Subkeys;
pub use store::{Clock, DatabaseInfo, DatabaseKind, LOCK_FILE, Store, StoreOptions};
