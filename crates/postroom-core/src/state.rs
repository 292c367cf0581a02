//! The loaded slice of the store that decisions are made on.

use crate::{
    Change, KeyHash, Sha256Bytes, deployment,
    row::{
        AddressRow, ContactRow, DomainRow, EventRow, IdentityRow, KeyRow, KeySecretRow, MessageRow,
        OwnerLinkRow, TenantRow, ThreadKeyRow, ThreadRow,
    },
};
use postroom_types::{AddressId, IdentityId, KeyId, MessageId, TenantId, ThreadId, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A tenant's counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counter {
    /// The last position given out.
    pub position: u64,
    /// The latest `received_at` given out.
    pub last_at: Timestamp,
}

/// A message with its labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedMessage {
    /// The message.
    pub row: MessageRow,
    /// Its labels.
    pub labels: BTreeSet<String>,
}

/// What was loaded, and what the decisions of this round made of it.
///
/// The store fills the maps with what [`crate::Needs`] names; [`State::apply`] keeps them true
/// while commands are decided one after the other.
#[derive(Debug, Default)]
pub struct State {
    /// Counters.
    pub counters: HashMap<TenantId, Counter>,
    /// Tenants.
    pub tenants: HashMap<TenantId, TenantRow>,
    /// Slugs in use.
    pub slugs: HashMap<String, TenantId>,
    /// Domains.
    pub domains: HashMap<(Option<TenantId>, String), DomainRow>,
    /// Identities.
    pub identities: HashMap<IdentityId, IdentityRow>,
    /// Usernames in use.
    pub usernames: HashMap<(TenantId, String), IdentityId>,
    /// Callers' own ids in use.
    pub client_ids: HashMap<(TenantId, String), IdentityId>,
    /// Addresses.
    pub addresses: HashMap<AddressId, AddressRow>,
    /// Addresses by text.
    pub address_ids: HashMap<String, AddressId>,
    /// Keys.
    pub keys: HashMap<KeyId, KeyRow>,
    /// Secrets of keys.
    pub secrets: HashMap<KeyId, Vec<KeySecretRow>>,
    /// Active keys per tenant.
    pub key_counts: HashMap<TenantId, u64>,
    /// Owner links.
    pub owner_links: HashMap<[u8; 32], OwnerLinkRow>,
    /// Events.
    pub events: HashMap<(TenantId, u64), EventRow>,
    /// Events by mailbox and digest.
    pub event_digests: HashMap<(IdentityId, Sha256Bytes), (TenantId, u64)>,
    /// Thread keys.
    pub thread_keys: HashMap<(IdentityId, KeyHash), ThreadKeyRow>,
    /// Threads.
    pub threads: HashMap<ThreadId, ThreadRow>,
    /// Aliases of threads.
    pub aliases: HashMap<ThreadId, ThreadId>,
    /// Threads of which every message is here.
    pub whole_threads: HashSet<ThreadId>,
    /// Messages.
    pub messages: HashMap<MessageId, LoadedMessage>,
    /// Contacts.
    pub contacts: HashMap<(IdentityId, String), ContactRow>,
    /// Failed imports by digest.
    pub import_failures: HashSet<(IdentityId, Sha256Bytes)>,
}
