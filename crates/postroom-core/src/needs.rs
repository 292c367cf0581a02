//! What a command names, so that the store loads it before the decision.

use crate::{KeyHash, Sha256Bytes};
use postroom_types::{AddressId, IdentityId, KeyId, MessageId, TenantId, ThreadId};
use std::collections::BTreeSet;

/// The union of what some commands name. Missing rows are no fault: they are absent in the state.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Needs {
    /// Counters to lock and load (with [`crate::deployment`] for what belongs to no tenant).
    pub counters: BTreeSet<TenantId>,
    /// Tenants.
    pub tenants: BTreeSet<TenantId>,
    /// Tenants by slug.
    pub slugs: BTreeSet<String>,
    /// Domains by name: those of the tenant, and those of the deployment.
    pub domains: BTreeSet<(Option<TenantId>, String)>,
    /// Identities with all their addresses.
    pub identities: BTreeSet<IdentityId>,
    /// Identities by username.
    pub usernames: BTreeSet<(TenantId, String)>,
    /// Identities by the caller's own id.
    pub client_ids: BTreeSet<(TenantId, String)>,
    /// Addresses by their text.
    pub addresses: BTreeSet<String>,
    /// Addresses by id.
    pub address_ids: BTreeSet<AddressId>,
    /// Keys with their secrets.
    pub keys: BTreeSet<KeyId>,
    /// Tenants whose active keys are counted.
    pub key_counts: BTreeSet<TenantId>,
    /// Owner links.
    pub owner_links: BTreeSet<[u8; 32]>,
    /// Events.
    pub events: BTreeSet<(TenantId, u64)>,
    /// Events of a mailbox by the digest of their payload.
    pub event_digests: BTreeSet<(IdentityId, Sha256Bytes)>,
    /// Thread keys, with their threads.
    pub thread_keys: BTreeSet<(IdentityId, KeyHash)>,
    /// Messages with their labels and threads.
    pub messages: BTreeSet<MessageId>,
    /// Threads, by their id or an alias.
    pub threads: BTreeSet<ThreadId>,
    /// Threads of which every message is needed, by their id or an alias.
    pub whole_threads: BTreeSet<ThreadId>,
    /// Contacts.
    pub contacts: BTreeSet<(IdentityId, String)>,
    /// Failed imports by digest.
    pub import_failures: BTreeSet<(IdentityId, Sha256Bytes)>,
}
