//! Sends and what rules them in the loaded slice.

use super::State;
use crate::{
    Change, DeliverySubject,
    row::{DeliveryRow, EarlyReportRow, ListDirection, ListKind, SendRow, SendState},
};
use postroom_types::TenantId;

/// What stands between a report and the mail that it speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Awaiting {
    /// Whether the tenant has claims without an outcome.
    pub claims: bool,
    /// Reports that are kept.
    pub reports: u64,
}

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

    /// Takes a report in whose mail is not known; gives whether it says anything new.
    pub fn load_early_report(&mut self, row: EarlyReportRow) -> bool {
        let name = (row.tenant_id, row.provider_message_id.clone());
        let kept = self.early_reports.entry(name).or_default();
        let new = !kept.iter().any(|known| known.repeats(&row));
        if new {
            kept.push(row);
        }
        new
    }

    /// Whether the outcome of some claim is not noted, so that a name which is not known may be its.
    pub(crate) fn awaits_names(&self, tenant: TenantId) -> bool {
        let known = self.awaiting.get(&tenant);
        let claimed = |row: &SendRow| row.tenant_id == tenant && row.state == SendState::Claimed;
        known.is_some_and(|known| known.claims) || self.sends.values().any(claimed)
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
            Change::PutEarlyReport(row) => {
                if self.load_early_report((**row).clone()) {
                    self.awaiting.entry(row.tenant_id).or_default().reports += 1;
                }
            }
            Change::RemoveEarlyReports {
                tenant_id,
                provider_message_id,
            } => {
                let name = (*tenant_id, provider_message_id.clone());
                let ended = self
                    .early_reports
                    .remove(&name)
                    .map_or(0, |kept| kept.len());
                let awaiting = self.awaiting.entry(*tenant_id).or_default();
                awaiting.reports = awaiting.reports.saturating_sub(ended as u64);
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
