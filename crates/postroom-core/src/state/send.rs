//! Sends and what rules them in the loaded slice.

use super::State;
use crate::{
    Change, DeliverySubject,
    row::{DeliveryRow, ListDirection, ListKind, SendRow},
};
use postroom_types::TenantId;

impl State {
    /// Takes a stored send in.
    pub fn load_send(&mut self, row: SendRow) {
        if let Some(name) = &row.provider_message_id {
            self.sends_by_provider
                .insert((row.tenant_id, name.clone()), row.message_id);
        }
        self.sends.insert(row.message_id, row);
    }

    /// Takes a stored recipient of a send in.
    pub fn load_delivery(&mut self, row: DeliveryRow) {
        let deliveries = self.deliveries.entry(row.message_id).or_default();
        match deliveries.iter_mut().find(|known| known.seq == row.seq) {
            Some(known) => *known = row,
            None => deliveries.push(row),
        }
    }

    /// The send that an event speaks of.
    pub(crate) fn send_of(&self, tenant: TenantId, subject: &DeliverySubject) -> Option<&SendRow> {
        let message = match subject {
            DeliverySubject::Message(message) => Some(message),
            DeliverySubject::Provider(name) => self.sends_by_provider.get(&(tenant, name.clone())),
        };
        self.sends
            .get(message?)
            .filter(|row| row.tenant_id == tenant)
    }

    /// Whether a list of a tenant has an entry of a kind under a key.
    pub(crate) fn is_listed(
        &self,
        tenant: TenantId,
        direction: ListDirection,
        kind: ListKind,
        key: &str,
    ) -> bool {
        self.list_entries
            .get(&(tenant, direction, key.to_owned()))
            .is_some_and(|kinds| kinds.contains_key(&kind))
    }

    pub(super) fn apply_send(&mut self, change: &Change) {
        match change {
            Change::SetStatus {
                tenant_id,
                num,
                status,
            } => self.update_message(*tenant_id, *num, |row| row.status = *status),
            Change::AddSend(row) | Change::PutSend(row) => self.load_send((**row).clone()),
            Change::PutDelivery(row) => self.load_delivery((**row).clone()),
            Change::PutIdempotency(row) => {
                self.idempotency
                    .insert((row.identity_id, row.key), row.clone());
            }
            Change::PutUsage(row) => {
                let key = (row.tenant_id, row.identity_id, row.day.clone());
                self.usage.insert(key, row.clone());
            }
            Change::PutSuppression(row) => {
                self.suppressions
                    .insert((row.tenant_id, row.hash), row.clone());
            }
            Change::RemoveSuppression { tenant_id, hash } => {
                self.suppressions.remove(&(*tenant_id, *hash));
            }
            other => self.apply_rules(other),
        }
    }

    fn apply_rules(&mut self, change: &Change) {
        match change {
            Change::PutListEntry(row) => {
                let key = (row.tenant_id, row.direction, row.entry.clone());
                let kinds = self.list_entries.entry(key).or_default();
                if kinds.insert(row.kind, row.at).is_none()
                    && let Some(count) = self.list_counts.get_mut(&row.tenant_id)
                {
                    *count += 1;
                }
            }
            Change::RemoveListEntry(row) => {
                let key = (row.tenant_id, row.direction, row.entry.clone());
                if let Some(kinds) = self.list_entries.get_mut(&key) {
                    kinds.remove(&row.kind);
                }
                if let Some(count) = self.list_counts.get_mut(&row.tenant_id) {
                    *count = count.saturating_sub(1);
                }
            }
            Change::PutPolicy(row) => {
                self.policies.insert(row.tenant_id, (**row).clone());
            }
            Change::PutDocument(row, _) => {
                let known = self.documents.insert(row.id, (**row).clone());
                if let (None, Some(count)) = (known, self.document_counts.get_mut(&row.tenant_id)) {
                    *count += 1;
                }
            }
            Change::PutDraft(row) => {
                let known = self.drafts.insert(row.id, (**row).clone());
                if let (None, Some(count)) = (known, self.draft_counts.get_mut(&row.identity_id)) {
                    *count += 1;
                }
            }
            Change::RemoveDraft { id, .. } => {
                let known = self.drafts.remove(id);
                if let Some(row) = known
                    && let Some(count) = self.draft_counts.get_mut(&row.identity_id)
                {
                    *count = count.saturating_sub(1);
                }
            }
            Change::AddUpload(row) => {
                if let Some(count) = self.upload_counts.get_mut(&row.identity_id) {
                    *count += 1;
                }
            }
            _ => {}
        }
    }
}
