//! Writing what a batch of decisions came to, set-based: changes of a kind are gathered, the last
//! one of a row wins, and each kind is written by few statements.

mod document;
mod old;
mod send;
mod statements;
mod work;

use crate::{
    blob::PackedBlob,
    feed::{FeedPosition, Stirred},
};
use postroom_core::{
    AddressRow, Change, ContactRow, Counter, DomainRow, EventRow, EventState, Family, FeedRow,
    IdentityRow, ImportFailureRow, KeyHash, KeyRow, KeySecretRow, LabelRow, MessageRow,
    OwnerLinkRow, ResultSetRow, SessionRow, Sha256Bytes, TenantRow, ThreadKeyRow, ThreadRow,
};
use postroom_types::{AddressId, DomainId, IdentityId, KeyId, TenantId, ThreadId, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// What the decisions of a batch came to.
#[derive(Default)]
pub(crate) struct Writes {
    tenants: BTreeMap<TenantId, TenantRow>,
    domains: BTreeMap<DomainId, DomainRow>,
    identities: BTreeMap<IdentityId, IdentityRow>,
    addresses: BTreeMap<AddressId, AddressRow>,
    keys: BTreeMap<KeyId, KeyRow>,
    /// `None` for a secret that ended early.
    secrets: BTreeMap<String, Option<KeySecretRow>>,
    end_links: Option<Timestamp>,
    owner_links: BTreeMap<[u8; 32], OwnerLinkRow>,
    /// `None` for a session that was closed.
    sessions: BTreeMap<[u8; 32], Option<SessionRow>>,
    events: BTreeMap<(TenantId, u64), EventRow>,
    old_events: old::Events,
    blobs: BTreeMap<(TenantId, Sha256Bytes), PackedBlob>,
    messages: Vec<(MessageRow, Vec<u8>)>,
    unread: BTreeMap<(TenantId, u64), bool>,
    conflicts: BTreeSet<(TenantId, u64)>,
    /// The thread of a label that goes on, `None` for one that goes off.
    labels: BTreeMap<LabelRow, Option<ThreadId>>,
    threads: BTreeMap<ThreadId, ThreadRow>,
    merges: Vec<Merge>,
    thread_keys: BTreeMap<(IdentityId, KeyHash), ThreadKeyRow>,
    contacts: BTreeMap<(IdentityId, String), ContactRow>,
    prune_results: Option<Timestamp>,
    result_sets: BTreeMap<String, ResultSetRow>,
    import_failures: Vec<ImportFailureRow>,
    work: work::Writes,
    sending: send::Writes,
    documents: document::Writes,
    feed: Vec<FeedRow>,
}

/// Whether the search index follows a change.
fn is_indexed(row: &FeedRow) -> bool {
    row.kind.adds_message() || row.kind.changes_labels()
}

struct Merge {
    tenant: TenantId,
    identity: IdentityId,
    from: ThreadId,
    into: ThreadId,
}

impl Writes {
    /// Whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        let Self {
            tenants,
            domains,
            identities,
            addresses,
            keys,
            secrets,
            end_links,
            owner_links,
            sessions,
            events,
            old_events,
            blobs,
            messages,
            unread,
            conflicts,
            labels,
            threads,
            merges,
            thread_keys,
            contacts,
            prune_results,
            result_sets,
            import_failures,
            work,
            sending,
            documents,
            feed,
        } = self;
        tenants.is_empty()
            && domains.is_empty()
            && identities.is_empty()
            && addresses.is_empty()
            && keys.is_empty()
            && secrets.is_empty()
            && end_links.is_none()
            && owner_links.is_empty()
            && sessions.is_empty()
            && events.is_empty()
            && old_events.is_empty()
            && blobs.is_empty()
            && messages.is_empty()
            && unread.is_empty()
            && conflicts.is_empty()
            && labels.is_empty()
            && threads.is_empty()
            && merges.is_empty()
            && thread_keys.is_empty()
            && contacts.is_empty()
            && prune_results.is_none()
            && result_sets.is_empty()
            && import_failures.is_empty()
            && work.is_empty()
            && sending.is_empty()
            && documents.is_empty()
            && feed.is_empty()
    }

    /// The last feed position of each tenant that this batch reached.
    pub(crate) fn positions(&self) -> BTreeMap<TenantId, Counter> {
        let mut out: BTreeMap<TenantId, Counter> = BTreeMap::new();
        for row in &self.feed {
            let counter = out.entry(row.tenant_id).or_default();
            counter.position = counter.position.max(row.position);
            counter.last_at = counter.last_at.max(row.at);
        }
        out
    }

    /// The same for those who listen.
    pub(crate) fn told(&self) -> Vec<(TenantId, FeedPosition)> {
        let indexed = |tenant: TenantId| {
            let rows = self.feed.iter().filter(|row| row.tenant_id == tenant);
            let told = rows.filter(|row| is_indexed(row)).map(|row| row.position);
            told.max().unwrap_or(0)
        };
        let positions = self.positions().into_iter();
        positions
            .map(|(tenant, counter)| {
                let told = FeedPosition {
                    last: counter.position,
                    indexed: indexed(tenant),
                };
                (tenant, told)
            })
            .collect()
    }

    /// Which workers have something to do.
    pub(crate) fn stirred(&self) -> Stirred {
        let pending = |mail: bool| {
            let mut events = self.events.values();
            events.any(|event| {
                event.state == EventState::Pending && (event.family == Family::Mail) == mail
            })
        };
        Stirred {
            mail: pending(true),
            delivery: pending(false),
            send: self.sending.has_due(),
            index: self.feed.iter().any(is_indexed),
            tenant: !self.tenants.is_empty(),
        }
    }

    /// Takes one decision's changes; `blob` and `doc` are the bytes of its command.
    pub(crate) fn absorb(&mut self, changes: Vec<Change>, blob: Option<&PackedBlob>, doc: &[u8]) {
        for change in changes {
            match change {
                Change::PutEvent(row) => {
                    self.events.insert((row.tenant_id, row.id), *row);
                }
                Change::RemoveEvent {
                    tenant_id,
                    id,
                    bytes,
                    at,
                } => {
                    self.events.remove(&(tenant_id, id));
                    self.old_events.insert((tenant_id, id), bytes, at);
                }
                Change::AddBlob {
                    tenant_id, sha256, ..
                } => {
                    if let Some(blob) = blob {
                        let key = (tenant_id, sha256);
                        self.blobs.entry(key).or_insert_with(|| blob.clone());
                    }
                }
                Change::AddMessage(row) => self.messages.push((row, doc.to_vec())),
                Change::SetUnread {
                    tenant_id,
                    num,
                    unread,
                } => {
                    self.unread.insert((tenant_id, num), unread);
                }
                Change::MarkConflict { tenant_id, num } => {
                    self.conflicts.insert((tenant_id, num));
                }
                Change::AddLabel(row, thread) => {
                    self.labels.insert(row, Some(thread));
                }
                Change::RemoveLabel(row) => {
                    self.labels.insert(row, None);
                }
                Change::PutThread(row) => {
                    self.threads.insert(row.id, row);
                }
                Change::MergeThread {
                    tenant_id,
                    identity_id,
                    from,
                    into,
                } => {
                    self.threads.remove(&from);
                    self.merges.push(Merge {
                        tenant: tenant_id,
                        identity: identity_id,
                        from,
                        into,
                    });
                }
                Change::PutThreadKey(row) => {
                    self.thread_keys.insert((row.identity_id, row.key), row);
                }
                Change::PutContact(row) => {
                    self.contacts
                        .insert((row.identity_id, row.address.clone()), row);
                }
                Change::PruneResultSets(at) => {
                    self.prune_results = self.prune_results.max(Some(at));
                }
                Change::PutResultSet(row) => {
                    self.result_sets.insert(row.id.clone(), row);
                }
                Change::PutImportFailure(row) => self.import_failures.push(row),
                Change::Feed(row) => self.feed.push(row),
                other => {
                    let other = self.sending.absorb(other, blob);
                    if let Some(other) = other.and_then(|other| self.documents.absorb(other)) {
                        self.absorb_access(other);
                    }
                }
            }
        }
    }

    fn absorb_access(&mut self, change: Change) {
        match change {
            Change::PutTenant(row) => {
                self.tenants.insert(row.id, row);
            }
            Change::PutDomain(row) => {
                self.domains.insert(row.id, row);
            }
            Change::PutIdentity(row) => {
                self.identities.insert(row.id, row);
            }
            Change::PutAddress(row) => {
                self.addresses.insert(row.id, row);
            }
            Change::PutKey(row) => {
                self.keys.insert(row.id, row);
            }
            Change::PutSecret(row) => {
                self.secrets.insert(row.lookup.clone(), Some(row));
            }
            Change::RemoveSecret { lookup, .. } => {
                self.secrets.insert(lookup, None);
            }
            Change::PutOwnerLink(row) => {
                self.owner_links.insert(row.hash, row);
            }
            Change::EndUnusedOwnerLinks(at) => {
                self.end_links = self.end_links.max(Some(at));
                for link in self.owner_links.values_mut() {
                    if link.used_at.is_none() {
                        link.expires_at = link.expires_at.min(at);
                    }
                }
            }
            Change::PutSession(row) => {
                self.sessions.insert(row.hash, Some(row));
            }
            Change::RemoveSession(hash) => {
                self.sessions.insert(hash, None);
            }
            other => self.work.absorb(other),
        }
    }
}
