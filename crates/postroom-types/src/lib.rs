//! Words of the domain.
//!
//! What every other room speaks in: typed ids, addresses, instants, permissions and the
//! [`TenantScope`] that reads require, [`Secret`] and [`Tainted`] wrappers, the one table of
//! limits and the one catalogue of error codes.
//!
//! This crate does no IO, reads no clock and makes no randomness: an id is built from an instant
//! and random bits that the caller hands in.

mod address;
mod code;
mod id;
pub mod json;
pub mod limit;
mod permission;
mod scope;
mod secret;
mod taint;
mod time;

pub use address::{Address, AddressError, Mailbox};
pub use code::{Dialect, ErrorCode};
pub use id::{
    AddressId, AttachmentId, DocumentSessionId, DomainId, DraftId, IdError, IdentityId, KeyId,
    MessageId, RequestId, SourceId, SuppressionId, TenantId, ThreadId, TodoId, UploadId, kind_of,
};
pub use permission::{Level, Permission, UnknownPermission};
pub use scope::{Reach, TenantScope};
pub use secret::Secret;
pub use taint::Tainted;
pub use time::{Timestamp, TimestampError};
