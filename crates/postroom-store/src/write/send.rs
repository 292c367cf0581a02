//! Sends, deliveries, what rules them, drafts and uploads: gathered and written.

use crate::{
    blob::PackedBlob,
    load::LoadError,
    rows,
    sql::{Conn, Value},
};
use postroom_core::{
    AddressHash, Change, DeliveryRow, DraftRow, EarlyReportRow, IdempotencyRow, ListEntryRow,
    MessageStatus, PolicyRow, SendRow, Sha256Bytes, SuppressionRow, UploadRow, UsageRow,
};
use postroom_types::{DraftId, IdentityId, MessageId, TenantId, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// Until when what has ended goes.
struct Pruned {
    keys_through: Timestamp,
    uploads_ended: Timestamp,
    reports_through: Timestamp,
}

/// What was decided about sending.
#[derive(Default)]
pub(super) struct Writes {
    statuses: BTreeMap<(TenantId, u64), MessageStatus>,
    added: BTreeMap<MessageId, Box<SendRow>>,
    changed: BTreeMap<MessageId, Box<SendRow>>,
    deliveries: BTreeMap<(MessageId, u64), Box<DeliveryRow>>,
    idempotency: BTreeMap<(IdentityId, Sha256Bytes), IdempotencyRow>,
    usage: BTreeMap<(TenantId, Option<IdentityId>, String), UsageRow>,
    early_reports: Vec<EarlyReportRow>,
    /// Names of mails that are known now.
    known_names: BTreeSet<(TenantId, String)>,
    /// `None` for an address that is written to again.
    suppressions: BTreeMap<(TenantId, AddressHash), Option<SuppressionRow>>,
    /// Whether the entry is there.
    entries: BTreeMap<ListEntryRow, bool>,
    policies: BTreeMap<TenantId, Box<PolicyRow>>,
    /// `None` for a draft that was dropped.
    drafts: BTreeMap<DraftId, Option<Box<DraftRow>>>,
    uploads: Vec<(Box<UploadRow>, PackedBlob)>,
    pruned: Option<Pruned>,
}

impl Writes {
    pub(super) fn is_empty(&self) -> bool {
        let Self {
            statuses,
            added,
            changed,
            deliveries,
            idempotency,
            usage,
            early_reports,
            known_names,
            suppressions,
            entries,
            policies,
            drafts,
            uploads,
            pruned,
        } = self;
        statuses.is_empty()
            && added.is_empty()
            && changed.is_empty()
            && deliveries.is_empty()
            && idempotency.is_empty()
            && usage.is_empty()
            && early_reports.is_empty()
            && known_names.is_empty()
            && suppressions.is_empty()
            && entries.is_empty()
            && policies.is_empty()
            && drafts.is_empty()
            && uploads.is_empty()
            && pruned.is_none()
    }

    /// Whether a send waits for a transport now that did not before. Claims and outcomes are told to
    /// nobody.
    pub(super) fn has_due(&self) -> bool {
        let mut sends = self.added.values().chain(self.changed.values());
        sends.any(|send| send.next_attempt_at.is_some())
    }

    /// Takes a change; gives back one that is not about sending. `blob` has the bytes of its
    /// command.
    pub(super) fn absorb(&mut self, change: Change, blob: Option<&PackedBlob>) -> Option<Change> {
        match change {
            Change::SetStatus {
                tenant_id,
                num,
                status,
            } => {
                self.statuses.insert((tenant_id, num), status);
            }
            Change::AddSend(row) => {
                self.added.insert(row.message_id, row);
            }
            Change::PutSend(row) => {
                match self.added.get_mut(&row.message_id) {
                    Some(known) => *known = row,
                    None => {
                        self.changed.insert(row.message_id, row);
                    }
                };
            }
            Change::PutDelivery(row) => {
                self.deliveries.insert((row.message_id, row.seq), row);
            }
            Change::PutIdempotency(row) => {
                self.idempotency.insert((row.identity_id, row.key), row);
            }
            Change::PutUsage(row) => {
                let key = (row.tenant_id, row.identity_id, row.day.clone());
                self.usage.insert(key, row);
            }
            Change::PutEarlyReport(row) => self.early_reports.push(*row),
            Change::RemoveEarlyReports {
                tenant_id,
                provider_message_id,
            } => {
                self.early_reports.retain(|row| {
                    row.tenant_id != tenant_id || row.provider_message_id != provider_message_id
                });
                self.known_names.insert((tenant_id, provider_message_id));
            }
            Change::AddUpload(row) => {
                self.uploads.extend(blob.map(|blob| (row, blob.clone())));
            }
            other => return self.absorb_rules(other),
        }
        None
    }

    fn absorb_rules(&mut self, change: Change) -> Option<Change> {
        match change {
            Change::PutSuppression(row) => {
                self.suppressions
                    .insert((row.tenant_id, row.hash), Some(row));
            }
            Change::RemoveSuppression { tenant_id, hash } => {
                self.suppressions.insert((tenant_id, hash), None);
            }
            Change::PutListEntry(row) => {
                self.entries.insert(row, true);
            }
            Change::RemoveListEntry(row) => {
                self.entries.insert(row, false);
            }
            Change::PutPolicy(row) => {
                self.policies.insert(row.tenant_id, row);
            }
            Change::PutDraft(row) => {
                self.drafts.insert(row.id, Some(row));
            }
            Change::RemoveDraft { id, .. } => {
                self.drafts.insert(id, None);
            }
            Change::PruneSending {
                keys_through,
                uploads_ended,
                reports_through,
            } => {
                self.pruned = Some(Pruned {
                    keys_through,
                    uploads_ended,
                    reports_through,
                });
            }
            other => return Some(other),
        }
        None
    }

    pub(super) async fn write(mut self, conn: &Conn) -> Result<(), LoadError> {
        self.write_sends(conn).await?;
        self.write_counts(conn).await?;
        self.write_early_reports(conn).await?;
        self.write_rules(conn).await?;
        self.write_drafts(conn).await
    }

    async fn write_sends(&mut self, conn: &Conn) -> Result<(), LoadError> {
        conn.insert(
            "UPDATE messages SET status = new.column3 FROM (VALUES {}) AS new \
             WHERE messages.tenant_id = new.column1 AND messages.num = new.column2",
            3,
            flat(self.statuses.iter().map(|((tenant, num), status)| {
                [tenant.bits().into(), (*num).into(), status.as_str().into()]
            })),
        )
        .await?;
        conn.insert(
            "INSERT INTO sends (message_id, tenant_id, identity_id, num, key_id, operation, kind, \
             transport, envelope_from, rfc_message_id, sha256, size, answers, hop, idempotency, \
             state, attempt, due_at, claim, claim_process, claimed_at, provider_message_id, \
             reason, reconciled, day, metadata, queued_at, updated_at, claim_open) VALUES {}",
            29,
            flat(self.added.values().map(|row| rows::send_values(row))),
        )
        .await?;
        conn.insert(
            "UPDATE sends SET state = new.column2, attempt = new.column3, due_at = new.column4, \
             claim = new.column5, claim_process = new.column6, claimed_at = new.column7, \
             provider_message_id = new.column8, reason = new.column9, \
             reconciled = new.column10, updated_at = new.column11, claim_open = new.column12 \
             FROM (VALUES {}) AS new WHERE sends.message_id = new.column1",
            12,
            flat(
                self.changed
                    .values()
                    .map(|row| rows::send_change_values(row)),
            ),
        )
        .await?;
        conn.insert(
            "INSERT INTO deliveries (message_id, seq, tenant_id, identity_id, address, hash, \
             field, status, smtp_code, enhanced_code, bounce_type, reason, attempt, updated_at, \
             base_hash) VALUES {} ON CONFLICT (message_id, seq) DO UPDATE SET status = excluded.status, \
             smtp_code = excluded.smtp_code, enhanced_code = excluded.enhanced_code, \
             bounce_type = excluded.bounce_type, reason = excluded.reason, \
             attempt = excluded.attempt, updated_at = excluded.updated_at",
            15,
            flat(
                self.deliveries
                    .values()
                    .map(|row| rows::delivery_values(row)),
            ),
        )
        .await?;
        Ok(())
    }

    async fn write_counts(&mut self, conn: &Conn) -> Result<(), LoadError> {
        conn.insert(
            "INSERT INTO idempotency (identity_id, hash, tenant_id, fingerprint, message_id, at) \
             VALUES {} ON CONFLICT (identity_id, hash) DO UPDATE SET \
             fingerprint = excluded.fingerprint, message_id = excluded.message_id, \
             at = excluded.at",
            6,
            flat(self.idempotency.values().map(rows::idempotency_values)),
        )
        .await?;
        conn.insert(
            "INSERT INTO usage_days (tenant_id, identity_id, day, sends, held) VALUES {} \
             ON CONFLICT (tenant_id, identity_id, day) DO UPDATE SET sends = excluded.sends, \
             held = excluded.held",
            5,
            flat(self.usage.values().map(rows::usage_values)),
        )
        .await?;
        Ok(())
    }

    async fn write_early_reports(&mut self, conn: &Conn) -> Result<(), LoadError> {
        for (tenant, name) in &self.known_names {
            conn.execute(
                "DELETE FROM early_reports WHERE tenant_id = $1 AND provider_message_id = $2",
                vec![tenant.bits().into(), name.as_str().into()],
            )
            .await?;
        }
        conn.insert(
            "INSERT INTO early_reports (tenant_id, provider_message_id, identity_id, recipient, \
             event, smtp_code, enhanced_code, reason, at) VALUES {} ON CONFLICT \
             (tenant_id, provider_message_id, identity_id, recipient, event) DO NOTHING",
            9,
            flat(self.early_reports.iter().map(rows::early_report_values)),
        )
        .await?;
        Ok(())
    }

    async fn write_rules(&mut self, conn: &Conn) -> Result<(), LoadError> {
        for ((tenant, hash), row) in &self.suppressions {
            if row.is_none() {
                conn.execute(
                    "DELETE FROM suppressions WHERE tenant_id = $1 AND hash = $2",
                    vec![tenant.bits().into(), hash.as_slice().into()],
                )
                .await?;
            }
        }
        conn.insert(
            "INSERT INTO suppressions (tenant_id, hash, hint, reason, at) VALUES {} \
             ON CONFLICT (tenant_id, hash) DO UPDATE SET reason = excluded.reason, \
             at = excluded.at",
            5,
            flat(
                self.suppressions
                    .values()
                    .flatten()
                    .map(rows::suppression_values),
            ),
        )
        .await?;
        for (row, _) in self.entries.iter().filter(|(_, there)| !**there) {
            conn.execute(
                "DELETE FROM list_entries WHERE tenant_id = $1 AND direction = $2 \
                 AND entry = $3 AND kind = $4",
                vec![
                    row.tenant_id.bits().into(),
                    row.direction.as_str().into(),
                    row.entry.as_str().into(),
                    row.kind.as_str().into(),
                ],
            )
            .await?;
        }
        let there = self.entries.iter().filter(|(_, there)| **there);
        conn.insert(
            "INSERT INTO list_entries (tenant_id, direction, entry, kind, at) VALUES {} \
             ON CONFLICT (tenant_id, direction, entry, kind) DO NOTHING",
            5,
            flat(there.map(|(row, _)| rows::list_entry_values(row))),
        )
        .await?;
        conn.insert(
            "INSERT INTO policies (tenant_id, own, updated_at) VALUES {} \
             ON CONFLICT (tenant_id) DO UPDATE SET own = excluded.own, \
             updated_at = excluded.updated_at",
            3,
            flat(self.policies.values().map(|row| rows::policy_values(row))),
        )
        .await?;
        Ok(())
    }

    async fn write_drafts(self, conn: &Conn) -> Result<(), LoadError> {
        for (id, row) in &self.drafts {
            if row.is_none() {
                conn.execute("DELETE FROM drafts WHERE id = $1", vec![id.bits().into()])
                    .await?;
            }
        }
        conn.insert(
            "INSERT INTO drafts (id, tenant_id, identity_id, document, version, created_at, \
             updated_at, saved_by, scope) VALUES {} ON CONFLICT (id) DO UPDATE SET \
             document = excluded.document, version = excluded.version, \
             updated_at = excluded.updated_at, saved_by = excluded.saved_by, \
             scope = excluded.scope",
            9,
            flat(
                self.drafts
                    .values()
                    .flatten()
                    .map(|row| rows::draft_values(row)),
            ),
        )
        .await?;
        // One at a time: each may be large.
        for (row, blob) in self.uploads {
            conn.execute(
                "INSERT INTO uploads (id, tenant_id, identity_id, filename, content_type, sha256, \
                 size, created_at, expires_at, bytes) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
                rows::upload_values(&row, blob.into_inline().unwrap_or_default()).into(),
            )
            .await?;
        }
        if let Some(pruned) = self.pruned {
            for (sql, through) in [
                (
                    "DELETE FROM idempotency WHERE at <= $1",
                    pruned.keys_through,
                ),
                (
                    "DELETE FROM uploads WHERE expires_at <= $1",
                    pruned.uploads_ended,
                ),
                (
                    "DELETE FROM early_reports WHERE at <= $1",
                    pruned.reports_through,
                ),
            ] {
                conn.execute(sql, vec![through.ms().into()]).await?;
            }
        }
        Ok(())
    }
}

fn flat<const N: usize>(rows: impl IntoIterator<Item = [Value; N]>) -> Vec<Value> {
    rows.into_iter().flatten().collect()
}
