//! What a command names, so that the store loads it before the decision.

mod send;
mod work;

pub(crate) use send::list_keys;
pub(crate) use work::{once_hash, owner_of};

use crate::{
    AddressHash, Command, CreateIdentity, Draft, KeyHash, ListDirection, NewAddress, Sha256Bytes,
    State, Target, deployment,
};
use postroom_types::{
    Address, AddressId, DocumentSessionId, DraftId, IdentityId, KeyId, MessageId, SourceId,
    TenantId, ThreadId, TodoId,
};
use std::collections::{BTreeMap, BTreeSet};

/// What one claimant would take: work of a tenant, or of one identity, in some queues.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimSpec {
    /// The tenant.
    pub tenant: TenantId,
    /// Only work of this identity.
    pub identity: Option<IdentityId>,
    /// Only these queues, sorted.
    pub only: Option<Vec<String>>,
    /// Not these queues; empty when `only` names some.
    pub except: Vec<String>,
    /// The key, which also takes what is assigned to it.
    pub key: Option<KeyId>,
}

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
    /// Domains by name, whoever has them.
    pub domain_names: BTreeSet<String>,
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
    /// Failed imports without bytes, by where and why.
    pub import_places: BTreeSet<(IdentityId, String, String)>,
    /// Sources.
    pub sources: BTreeSet<SourceId>,
    /// Tenants whose sources are counted.
    pub source_counts: BTreeSet<TenantId>,
    /// Events of a source by what tells a repeated delivery.
    pub event_keys: BTreeSet<(SourceId, String)>,
    /// Keys of a source that open no second todo, hashed.
    pub once_keys: BTreeSet<(SourceId, [u8; 16])>,
    /// Todos.
    pub todos: BTreeSet<(TenantId, TodoId)>,
    /// Live todos by their key, hashed.
    pub todo_keys: BTreeSet<(TenantId, [u8; 16])>,
    /// Waiting todos by their subject, hashed.
    pub subjects: BTreeSet<(TenantId, [u8; 16])>,
    /// Todos whose attempts are needed.
    pub attempts: BTreeSet<(TenantId, TodoId)>,
    /// Tenants whose queues' settings are needed, with what is in flight in bounded ones.
    pub queues: BTreeSet<TenantId>,
    /// What claimants would take: of each, as many as there are `claimants` of its tenant.
    pub claims: BTreeSet<ClaimSpec>,
    /// Claims of each tenant.
    pub claimants: BTreeMap<TenantId, usize>,
    /// Tenants of which so many overdue todos are needed.
    pub sweeps: BTreeMap<TenantId, usize>,
    /// Sends with their deliveries.
    pub sends: BTreeSet<MessageId>,
    /// The same by their provider's name for them.
    pub provider_ids: BTreeSet<(TenantId, String)>,
    /// Reports on mails that were not known by their provider's name.
    pub early_reports: BTreeSet<(TenantId, String)>,
    /// Tenants of which it is asked whether such a mail may become known.
    pub awaiting: BTreeSet<TenantId>,
    /// Keys against doubles of a mailbox, hashed.
    pub idempotency: BTreeSet<(IdentityId, Sha256Bytes)>,
    /// Suppressed addresses, hashed.
    pub suppressions: BTreeSet<(TenantId, AddressHash)>,
    /// Entries of lists.
    pub list_entries: BTreeSet<(TenantId, ListDirection, String)>,
    /// Tenants whose entries are counted.
    pub list_counts: BTreeSet<TenantId>,
    /// Tenants whose policy is needed.
    pub policies: BTreeSet<TenantId>,
    /// Counters of a day, of a mailbox or of the tenant.
    pub usage: BTreeSet<(TenantId, Option<IdentityId>, String)>,
    /// Documents that are worked on.
    pub documents: BTreeSet<DocumentSessionId>,
    /// Tenants whose such documents are counted.
    pub document_counts: BTreeSet<TenantId>,
    /// Drafts.
    pub drafts: BTreeSet<DraftId>,
    /// Mailboxes whose drafts are counted.
    pub draft_counts: BTreeSet<IdentityId>,
    /// Mailboxes whose uploads are counted.
    pub upload_counts: BTreeSet<IdentityId>,
}

impl Command {
    /// Adds what this command names to `needs`.
    pub fn needs(&self, needs: &mut Needs) {
        match self {
            Self::CreateTenant(create) => {
                needs.counters.insert(deployment());
                needs.slugs.insert(create.slug.clone());
            }
            Self::UpdateTenant { tenant, .. } => needs.tenant(*tenant),
            Self::CreateDomain(create) => {
                match create.tenant {
                    Some(tenant) => needs.tenant(tenant),
                    None => {
                        needs.counters.insert(deployment());
                    }
                }
                needs.domains.insert((create.tenant, create.name.clone()));
            }
            Self::CreateIdentity(create) => needs.new_identity(create),
            Self::UpdateIdentity(update) => needs.identity(update.tenant, update.identity),
            Self::AddAddress {
                tenant,
                identity,
                address,
                ..
            } => {
                needs.identity(*tenant, *identity);
                needs.address(*tenant, address);
            }
            Self::RetireAddress {
                tenant, address, ..
            } => {
                needs.tenant(*tenant);
                needs.address_ids.insert(*address);
            }
            Self::CreateKey(create) => {
                needs.key_owner(create.tenant);
                needs.key_counts.extend(create.tenant);
                needs.identities.extend(create.identity);
            }
            Self::RotateKey(rotate) => needs.key(rotate.tenant, rotate.key),
            Self::RevokeKey { tenant, key } | Self::TouchKey { tenant, key } => {
                needs.key(*tenant, *key);
            }
            Self::CreateOwnerLink(_) | Self::CloseSession { .. } => {
                needs.counters.insert(deployment());
            }
            Self::UseOwnerLink { link, .. } => {
                needs.counters.insert(deployment());
                needs.owner_links.insert(*link);
            }
            Self::KeepResultSet(_) => {}
            Self::SetKeyGrants { tenant, key, .. } => needs.key(Some(*tenant), *key),
            other => {
                other.needs_of_mail(needs);
                other.needs_of_work(needs);
                other.needs_of_send(needs);
            }
        }
    }

    /// Adds what this command names once its first needs are loaded.
    pub fn needs_after(&self, state: &State, needs: &mut Needs) {
        match self {
            Self::CreateIdentity(create) => {
                if let NewAddress::Username { username, domain } = &create.address
                    && let Some(tenant) = state.tenants.get(&create.tenant)
                {
                    let suffix = &tenant.address_suffix;
                    needs
                        .addresses
                        .insert(format!("{username}{suffix}@{domain}"));
                }
            }
            Self::Ingest(ingest) => {
                let event = state.events.get(&(ingest.tenant, ingest.event_id));
                needs
                    .messages
                    .extend(event.and_then(|event| event.message_id));
                needs.mail_work(ingest, state);
            }
            other => {
                other.needs_of_work_after(state, needs);
                other.needs_of_send_after(state, needs);
            }
        }
    }

    fn needs_of_mail(&self, needs: &mut Needs) {
        match self {
            Self::Receive(receive) => {
                for recipient in &receive.recipients {
                    needs.identity(recipient.tenant, recipient.identity);
                    needs
                        .event_digests
                        .insert((recipient.identity, receive.raw.sha256));
                }
            }
            Self::Ingest(ingest) => {
                needs.identity(ingest.tenant, ingest.identity);
                needs.events.insert((ingest.tenant, ingest.event_id));
                needs.draft(ingest.identity, &ingest.draft);
                if let Some(work) = &ingest.work {
                    needs.judged(work.source, &work.routing);
                }
            }
            Self::Import(import) => {
                let recipient = &import.recipient;
                needs.identity(recipient.tenant, recipient.identity);
                needs
                    .event_digests
                    .insert((recipient.identity, import.raw.sha256));
                needs.draft(recipient.identity, &import.draft);
            }
            Self::FailEvent(fail) => {
                needs.tenant(fail.tenant);
                needs.events.insert((fail.tenant, fail.event_id));
            }
            Self::UpdateLabels(update) => {
                needs.identity(update.tenant, update.identity);
                match update.target {
                    Target::Message(id) => needs.messages.insert(id),
                    Target::Thread(id) => needs.whole_threads.insert(id),
                };
            }
            Self::ArchiveThread(archive) => {
                needs.identity(archive.tenant, archive.identity);
                needs.threads.insert(archive.thread);
            }
            Self::RecordImportFailure(failure) => {
                needs.identity(failure.tenant, failure.identity);
                match &failure.raw {
                    Some(raw) => {
                        needs.import_failures.insert((failure.identity, raw.sha256));
                    }
                    None => {
                        needs.import_places.insert(failure.place());
                    }
                }
            }
            _ => {}
        }
    }
}

impl Needs {
    fn tenant(&mut self, tenant: TenantId) {
        self.counters.insert(tenant);
        self.tenants.insert(tenant);
    }

    fn identity(&mut self, tenant: TenantId, identity: IdentityId) {
        self.tenant(tenant);
        self.identities.insert(identity);
    }

    fn address(&mut self, tenant: TenantId, address: &Address) {
        self.addresses.insert(address.base().to_owned());
        self.domain(tenant, address.domain());
    }

    /// Who has a domain is decided for the whole deployment, so its counter is locked too: of two
    /// nodes whose tenants name a new domain at once, the second sees the first one's row.
    fn domain(&mut self, tenant: TenantId, name: &str) {
        self.counters.insert(deployment());
        self.counters.insert(tenant);
        self.domain_names.insert(name.to_owned());
    }

    fn new_identity(&mut self, create: &CreateIdentity) {
        self.tenant(create.tenant);
        if let Some(client_id) = &create.client_id {
            self.client_ids.insert((create.tenant, client_id.clone()));
        }
        match &create.address {
            NewAddress::Address(address) => {
                self.address(create.tenant, address);
                self.usernames
                    .insert((create.tenant, address.local().to_owned()));
            }
            NewAddress::Username { username, domain } => {
                self.usernames.insert((create.tenant, username.clone()));
                self.domain(create.tenant, domain);
                // The whole address needs the tenant's suffix: see `Command::needs_after`.
            }
        }
    }

    fn key_owner(&mut self, tenant: Option<TenantId>) {
        match tenant {
            Some(tenant) => self.tenant(tenant),
            None => {
                self.counters.insert(deployment());
            }
        }
    }

    fn key(&mut self, tenant: Option<TenantId>, key: KeyId) {
        self.key_owner(tenant);
        self.keys.insert(key);
    }

    fn draft(&mut self, identity: IdentityId, draft: &Draft) {
        self.thread_keys
            .extend(draft.keys.iter().map(|key| (identity, *key)));
        self.threads.extend(draft.thread);
        if let Some(address) = draft.from_address() {
            self.contacts.insert((identity, address.to_owned()));
        }
    }
}
