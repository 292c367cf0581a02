//! The loaded slice of the store that decisions are made on.

mod send;
mod work;

pub use send::Awaiting;

use crate::{
    Change, ClaimSpec, KeyHash, Sha256Bytes,
    row::{
        AddressHash, AddressRow, AttemptRow, ContactRow, DeliveryRow, DocumentSessionRow,
        DomainRow, DraftRow, EarlyReportRow, EventRow, IdempotencyRow, IdentityRow, KeyRow,
        KeySecretRow, ListDirection, ListKind, MessageRow, OwnerLinkRow, PolicyRow, QueueRow,
        SendRow, SourceRow, SuppressionRow, TenantRow, ThreadKeyRow, ThreadRow, TodoRow, UsageRow,
    },
};
use postroom_types::{
    AddressId, DocumentSessionId, DraftId, IdentityId, KeyId, MessageId, SourceId, TenantId,
    ThreadId, Timestamp, TodoId,
};
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
    /// Addresses of each loaded identity, all of them.
    pub addresses_of: HashMap<IdentityId, BTreeSet<AddressId>>,
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
    /// Failed imports without bytes, by where and why.
    pub import_places: HashSet<(IdentityId, String, String)>,
    /// Sources.
    pub sources: HashMap<SourceId, SourceRow>,
    /// Sources of each tenant.
    pub source_counts: HashMap<TenantId, u64>,
    /// Events by source and what tells a repeated delivery.
    pub event_keys: HashMap<(SourceId, String), (TenantId, u64)>,
    /// Keys of a source that open no second todo, hashed.
    pub once_keys: HashSet<(SourceId, [u8; 16])>,
    /// Todos; taken in by [`State::load_todo`].
    pub todos: HashMap<TodoId, TodoRow>,
    /// Live todos by their key, hashed.
    pub todo_keys: HashMap<(TenantId, [u8; 16]), TodoId>,
    /// Waiting todos by their subject, hashed.
    pub subjects: HashMap<(TenantId, [u8; 16]), TodoId>,
    /// Attempts of a todo that ended, by number.
    pub attempts: HashMap<TodoId, BTreeMap<u64, AttemptRow>>,
    /// Settings of queues.
    pub queues: BTreeMap<(TenantId, String), QueueRow>,
    /// What is worked on now in each queue that has a bound.
    pub in_flight: HashMap<(TenantId, String), u64>,
    /// For each claimant that was loaded for: whether everything it would take is here.
    pub claims: HashMap<ClaimSpec, bool>,
    /// Sends; taken in by [`State::load_send`].
    pub sends: HashMap<MessageId, SendRow>,
    /// Sends by their provider's name for them.
    pub sends_by_provider: HashMap<(TenantId, String), MessageId>,
    /// Recipients of each loaded send; taken in by [`State::load_delivery`].
    pub deliveries: HashMap<MessageId, Vec<DeliveryRow>>,
    /// Reports on mails by their provider's name, where they came before it was known.
    pub early_reports: HashMap<(TenantId, String), Vec<EarlyReportRow>>,
    /// Whether such a mail may become known, and how many reports are kept.
    pub awaiting: HashMap<TenantId, Awaiting>,
    /// Keys against doubles.
    pub idempotency: HashMap<(IdentityId, Sha256Bytes), IdempotencyRow>,
    /// Suppressed addresses.
    pub suppressions: HashMap<(TenantId, AddressHash), SuppressionRow>,
    /// Entries of lists, with when each kind was put in.
    pub list_entries: HashMap<(TenantId, ListDirection, String), BTreeMap<ListKind, Timestamp>>,
    /// Entries per tenant.
    pub list_counts: HashMap<TenantId, u64>,
    /// What tenants changed of the built-in policy.
    pub policies: HashMap<TenantId, PolicyRow>,
    /// Counters of a day.
    pub usage: HashMap<(TenantId, Option<IdentityId>, String), UsageRow>,
    /// Documents that are worked on.
    pub documents: HashMap<DocumentSessionId, DocumentSessionRow>,
    /// How many of them each tenant has.
    pub document_counts: HashMap<TenantId, u64>,
    /// Drafts.
    pub drafts: HashMap<DraftId, DraftRow>,
    /// Drafts per mailbox.
    pub draft_counts: HashMap<IdentityId, u64>,
    /// Uploads per mailbox.
    pub upload_counts: HashMap<IdentityId, u64>,
    /// Todos that may be taken, the next one first: by tenant, falling priority, number.
    pub(crate) ready: BTreeSet<(TenantId, i64, u64, TodoId)>,
}

impl State {
    /// A thread's own id, given that id or an alias.
    pub fn canonical(&self, thread: ThreadId) -> ThreadId {
        let mut id = thread;
        // An alias points at a thread that was alive when it was written; a merge of this round
        // can add one step at a time, never a circle, because the younger always becomes the alias.
        while let Some(next) = self.aliases.get(&id) {
            id = *next;
        }
        id
    }

    /// The thread that a key of a mailbox belongs to.
    pub(crate) fn thread_of_key(&self, identity: IdentityId, key: &KeyHash) -> Option<ThreadId> {
        let row = self.thread_keys.get(&(identity, *key))?;
        Some(self.canonical(row.thread_id))
    }

    /// Whether an address, with or without detail, is the identity's own.
    pub(crate) fn is_own(&self, identity: IdentityId, address: &str) -> bool {
        let known = |text: &str| {
            self.address_ids
                .get(text)
                .and_then(|id| self.addresses.get(id))
                .is_some_and(|row| row.identity_id == identity)
        };
        if known(address) {
            return true;
        }
        let Some((local, domain)) = address.rsplit_once('@') else {
            return false;
        };
        match local.split_once('+') {
            Some((base, _)) => known(&format!("{base}@{domain}")),
            None => false,
        }
    }

    /// The messages of a thread that are here, oldest first.
    pub(crate) fn messages_of(&self, thread: ThreadId) -> Vec<&LoadedMessage> {
        let mut found: Vec<&LoadedMessage> = self
            .messages
            .values()
            .filter(|message| message.row.thread_id == thread)
            .collect();
        found.sort_by_key(|message| (message.row.sort_at, message.row.num));
        found
    }

    /// Takes a decision's changes in, so that the next decision sees them.
    pub fn apply(&mut self, changes: &[Change]) {
        for change in changes {
            self.apply_one(change);
        }
    }

    fn apply_one(&mut self, change: &Change) {
        match change {
            Change::PutEvent(row) => self.put_event(row),
            Change::AddMessage(row) => {
                let loaded = LoadedMessage {
                    row: row.clone(),
                    labels: BTreeSet::new(),
                };
                self.messages.insert(row.id, loaded);
            }
            Change::SetUnread {
                tenant_id,
                num,
                unread,
            } => self.update_message(*tenant_id, *num, |row| row.unread = *unread),
            Change::MarkConflict { tenant_id, num } => {
                self.update_message(*tenant_id, *num, |row| row.id_conflict = true);
            }
            Change::AddLabel(label, _) => self.update_labels(label, true),
            Change::RemoveLabel(label) => self.update_labels(label, false),
            Change::PutThread(row) => {
                // A thread that begins in this round has no message that is not here.
                if !self.threads.contains_key(&row.id) && row.message_count == 1 {
                    self.whole_threads.insert(row.id);
                }
                self.threads.insert(row.id, row.clone());
            }
            Change::MergeThread { from, into, .. } => self.merge(*from, *into),
            Change::PutThreadKey(row) => {
                self.thread_keys
                    .insert((row.identity_id, row.key), row.clone());
            }
            Change::PutContact(row) => {
                self.contacts
                    .insert((row.identity_id, row.address.clone()), row.clone());
            }
            Change::PutImportFailure(row) => match row.sha256 {
                Some(sha256) => {
                    self.import_failures.insert((row.identity_id, sha256));
                }
                None => {
                    let (location, reason) = (row.location.clone(), row.reason.clone());
                    self.import_places
                        .insert((row.identity_id, location, reason));
                }
            },
            Change::Feed(row) => {
                let counter = self.counters.entry(row.tenant_id).or_default();
                counter.position = counter.position.max(row.position);
                counter.last_at = counter.last_at.max(row.at);
            }
            Change::AddBlob { .. } | Change::PutResultSet(_) | Change::PruneResultSets(_) => {}
            other => {
                self.apply_access(other);
                self.apply_work(other);
                self.apply_send(other);
            }
        }
    }

    fn apply_access(&mut self, change: &Change) {
        match change {
            Change::PutTenant(row) => {
                self.slugs.insert(row.slug.clone(), row.id);
                self.tenants.insert(row.id, row.clone());
            }
            Change::PutDomain(row) => {
                self.domains
                    .insert((row.tenant_id, row.name.clone()), row.clone());
            }
            Change::PutIdentity(row) => {
                self.usernames
                    .insert((row.tenant_id, row.username.clone()), row.id);
                if let Some(client_id) = &row.client_id {
                    self.client_ids
                        .insert((row.tenant_id, client_id.clone()), row.id);
                }
                self.identities.insert(row.id, row.clone());
            }
            Change::PutAddress(row) => self.put_address(row.clone()),
            Change::PutKey(row) => self.put_key(row),
            Change::PutSecret(row) => {
                let secrets = self.secrets.entry(row.key_id).or_default();
                secrets.retain(|secret| secret.lookup != row.lookup);
                secrets.push(row.clone());
            }
            Change::RemoveSecret { key_id, lookup } => {
                if let Some(secrets) = self.secrets.get_mut(key_id) {
                    secrets.retain(|secret| secret.lookup != *lookup);
                }
            }
            Change::PutOwnerLink(row) => {
                self.owner_links.insert(row.hash, row.clone());
            }
            Change::EndUnusedOwnerLinks(at) => {
                for link in self.owner_links.values_mut() {
                    if link.used_at.is_none() {
                        link.expires_at = link.expires_at.min(*at);
                    }
                }
            }
            _ => {}
        }
    }

    fn put_event(&mut self, row: &EventRow) {
        if let Some(identity) = row.identity_id {
            self.event_digests
                .insert((identity, row.sha256), (row.tenant_id, row.id));
        }
        if let (Some(source), Some(key)) = (row.source_id, &row.external_key) {
            self.event_keys
                .insert((source, key.clone()), (row.tenant_id, row.id));
        }
        self.events.insert((row.tenant_id, row.id), row.clone());
    }

    /// Takes an address in.
    pub fn put_address(&mut self, row: AddressRow) {
        self.addresses_of
            .entry(row.identity_id)
            .or_default()
            .insert(row.id);
        self.address_ids.insert(row.address.clone(), row.id);
        self.addresses.insert(row.id, row);
    }

    fn put_key(&mut self, row: &KeyRow) {
        let was_active = self
            .keys
            .get(&row.id)
            .map(|known| known.revoked_at.is_none());
        if let Some(count) = row.tenant_id.and_then(|id| self.key_counts.get_mut(&id)) {
            match (was_active, row.revoked_at.is_none()) {
                (None | Some(false), true) => *count += 1,
                (Some(true), false) => *count = count.saturating_sub(1),
                _ => {}
            }
        }
        self.keys.insert(row.id, row.clone());
    }

    fn update_message(&mut self, tenant: TenantId, num: u64, update: impl FnOnce(&mut MessageRow)) {
        let found = self
            .messages
            .values_mut()
            .find(|message| message.row.num == num && message.row.tenant_id == tenant);
        if let Some(message) = found {
            update(&mut message.row);
        }
    }

    fn update_labels(&mut self, label: &crate::LabelRow, on: bool) {
        let found = self.messages.values_mut().find(|message| {
            message.row.num == label.num && message.row.identity_id == label.identity_id
        });
        if let Some(message) = found {
            if on {
                message.labels.insert(label.label.clone());
            } else {
                message.labels.remove(&label.label);
            }
        }
    }

    fn merge(&mut self, from: ThreadId, into: ThreadId) {
        if !self.whole_threads.remove(&from) {
            self.whole_threads.remove(&into);
        }
        self.threads.remove(&from);
        self.aliases.insert(from, into);
        for message in self.messages.values_mut() {
            if message.row.thread_id == from {
                message.row.thread_id = into;
            }
        }
    }
}
