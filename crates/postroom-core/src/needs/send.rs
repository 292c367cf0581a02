//! What commands on mail that is sent name.

use super::Needs;
use crate::{
    AddressHash, Command, DeliverySubject, QueueMessage, SendKind, SendRef, SendRow, SendThread,
    State,
    row::{DeliveryStatus, ListDirection, without_detail},
};
use postroom_types::{IdentityId, TenantId, limit};

impl Command {
    pub(super) fn needs_of_send(&self, needs: &mut Needs) {
        match self {
            Self::QueueMessage(queue) => needs.queue_message(queue),
            Self::ClaimSends(claim) => needs.sends_of(&claim.sends),
            Self::RecordOutcomes(outcomes) => {
                for outcome in outcomes.iter().take(limit::SEND_BATCH) {
                    needs.send(outcome.send);
                    needs.early_reports.extend(outcome.provider_name());
                }
            }
            Self::ExpireClaims(expire) => needs.sends_of(&expire.sends),
            Self::CancelSend {
                tenant, message, ..
            } => needs.one_send(*tenant, *message),
            Self::ResolveSend(resolve) => needs.one_send(resolve.tenant, resolve.message),
            Self::RecordDeliveries(reports) => {
                for report in reports.iter().take(limit::SEND_BATCH) {
                    needs.tenant(report.tenant);
                    match &report.subject {
                        DeliverySubject::Message(message) => {
                            needs.sends.insert(*message);
                        }
                        DeliverySubject::Provider(name) => {
                            needs.awaiting.insert(report.tenant);
                            needs.provider_ids.insert((report.tenant, name.clone()));
                        }
                    }
                }
            }
            other => other.needs_of_rules(needs),
        }
    }

    fn needs_of_rules(&self, needs: &mut Needs) {
        match self {
            Self::PutDocument(put) => {
                needs.tenant(put.scope.tenant());
                match put.id {
                    Some(id) => {
                        needs.documents.insert(id);
                    }
                    None => {
                        needs.document_counts.insert(put.scope.tenant());
                    }
                }
            }
            Self::PutDraft(put) => {
                needs.identity(put.tenant, put.identity);
                match put.id {
                    Some(id) => {
                        needs.drafts.insert(id);
                    }
                    None => {
                        needs.draft_counts.insert(put.identity);
                    }
                }
            }
            Self::RemoveDraft {
                tenant,
                identity,
                draft,
            } => {
                needs.identity(*tenant, *identity);
                needs.drafts.insert(*draft);
            }
            Self::PutUpload(put) => {
                needs.identity(put.tenant, put.identity);
                needs.upload_counts.insert(put.identity);
            }
            Self::SetPolicy(set) => {
                needs.tenant(set.tenant);
                needs.policies.insert(set.tenant);
            }
            Self::PutSuppression(put) => {
                needs.tenant(put.tenant);
                needs.suppressions.insert((put.tenant, put.hash));
            }
            Self::RemoveSuppression(remove) => {
                needs.tenant(remove.tenant);
                needs.suppressions.insert((remove.tenant, remove.hash));
            }
            Self::PutListEntry(entry) | Self::RemoveListEntry(entry) => {
                needs.tenant(entry.tenant);
                needs.list_counts.insert(entry.tenant);
                needs
                    .list_entries
                    .insert((entry.tenant, entry.direction, entry.entry.clone()));
            }
            _ => {}
        }
    }

    pub(super) fn needs_of_send_after(&self, state: &State, needs: &mut Needs) {
        match self {
            Self::ClaimSends(claim) => {
                for send in claim.sends.iter().take(limit::SEND_BATCH) {
                    let known = state.sends.get(&send.message);
                    needs.identities.extend(known.map(|row| row.identity_id));
                    needs.asked_again(known.filter(|row| claim.asks_again(row)), state);
                }
            }
            Self::RecordOutcomes(outcomes) => {
                for outcome in outcomes.iter().take(limit::SEND_BATCH) {
                    let known = state.sends.get(&outcome.send.message);
                    needs.counters_of(known);
                    let told = outcome.provider_name();
                    if told.is_some_and(|name| state.early_reports.contains_key(&name)) {
                        needs.addresses_of(known, state);
                    }
                }
            }
            Self::ExpireClaims(expire) => {
                for send in expire.sends.iter().take(limit::SEND_BATCH) {
                    needs.counters_of(state.sends.get(&send.message));
                }
            }
            Self::CancelSend { message, .. } => needs.counters_of(state.sends.get(message)),
            Self::ResolveSend(resolve) => needs.counters_of(state.sends.get(&resolve.message)),
            Self::RecordDeliveries(reports) => {
                for report in reports.iter().take(limit::SEND_BATCH) {
                    let Some(row) = state.send_of(report.tenant, &report.subject) else {
                        continue;
                    };
                    needs.counters_of(Some(row));
                    needs.addresses_of(Some(row), state);
                }
            }
            _ => {}
        }
    }
}

impl Needs {
    fn send(&mut self, send: SendRef) {
        self.tenant(send.tenant);
        self.sends.insert(send.message);
    }

    fn sends_of(&mut self, sends: &[SendRef]) {
        for send in sends.iter().take(limit::SEND_BATCH) {
            self.send(*send);
        }
    }

    fn one_send(&mut self, tenant: TenantId, message: postroom_types::MessageId) {
        self.send(SendRef { tenant, message });
        self.messages.insert(message);
    }

    /// The counters that a change of a send may change.
    fn counters_of(&mut self, row: Option<&SendRow>) {
        if let Some(row) = row {
            self.day(row.tenant_id, row.identity_id, &row.day);
        }
    }

    /// Whether the recipients of a send, which somebody reports on, are written to.
    fn addresses_of(&mut self, row: Option<&SendRow>, state: &State) {
        let Some(row) = row else { return };
        let deliveries = state.deliveries.get(&row.message_id);
        let hashes = deliveries.into_iter().flatten();
        self.suppressions
            .extend(hashes.map(|delivery| (row.tenant_id, delivery.hash)));
    }

    /// What may keep a send that waited from its recipients, and what follows then.
    fn asked_again(&mut self, row: Option<&SendRow>, state: &State) {
        let Some(row) = row else { return };
        let tenant = row.tenant_id;
        self.policies.insert(tenant);
        self.counters_of(Some(row));
        let deliveries = state.deliveries.get(&row.message_id).into_iter().flatten();
        for delivery in deliveries.filter(|known| known.status == DeliveryStatus::Queued) {
            self.rules_of(tenant, &delivery.address, delivery.hash, delivery.base_hash);
        }
    }

    /// What may keep mail from an address.
    fn rules_of(
        &mut self,
        tenant: TenantId,
        address: &str,
        hash: AddressHash,
        base_hash: Option<AddressHash>,
    ) {
        let hashes = [Some(hash), base_hash].into_iter().flatten();
        self.suppressions.extend(hashes.map(|hash| (tenant, hash)));
        for entry in list_keys(address) {
            self.list_entries
                .insert((tenant, ListDirection::Send, entry));
        }
    }

    fn day(&mut self, tenant: TenantId, identity: IdentityId, day: &str) {
        self.usage.insert((tenant, Some(identity), day.to_owned()));
        self.usage.insert((tenant, None, day.to_owned()));
    }

    fn queue_message(&mut self, queue: &QueueMessage) {
        let (tenant, identity) = (queue.tenant, queue.identity);
        self.identity(tenant, identity);
        self.policies.insert(tenant);
        self.idempotency.insert((identity, queue.idempotency.key));
        self.day(tenant, identity, &queue.day.date);
        self.messages.extend(queue.answers);
        self.drafts.extend(queue.draft.map(|draft| draft.id));
        if let SendThread::Existing(thread) = queue.thread {
            // Automatic answers are counted over the thread.
            match queue.kind {
                SendKind::AutoReply => self.whole_threads.insert(thread),
                SendKind::Transactional | SendKind::Marketing => self.threads.insert(thread),
            };
        }
        if let Some((_, domain)) = queue.from.rsplit_once('@') {
            self.domains.insert((Some(tenant), domain.to_owned()));
            self.domains.insert((None, domain.to_owned()));
        }
        for recipient in queue.recipients.iter().take(limit::SENT_RECIPIENTS + 1) {
            self.rules_of(
                tenant,
                &recipient.address,
                recipient.hash,
                recipient.base_hash,
            );
            self.contacts.insert((identity, recipient.address.clone()));
            let base = without_detail(&recipient.address);
            self.contacts.extend(base.map(|base| (identity, base)));
        }
        if let Some(mail) = &queue.mail {
            let keys = mail.draft.keys.iter();
            self.thread_keys.extend(keys.map(|key| (identity, *key)));
        }
    }
}

/// The entries of a list that are about an address: itself, itself without its detail, its domain.
pub(crate) fn list_keys(address: &str) -> Vec<String> {
    let mut keys = vec![address.to_owned()];
    keys.extend(without_detail(address));
    keys.extend(
        address
            .rsplit_once('@')
            .map(|(_, domain)| format!("@{domain}")),
    );
    keys
}
