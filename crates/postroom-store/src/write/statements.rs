//! The statements: one for each kind of change, however many rows.

use super::{Merge, Writes};
use crate::{
    load::LoadError,
    rows,
    sql::{Conn, Rows, Value},
};
use postroom_core::{Counter, EventRow, FeedRow, LabelRow};
use postroom_types::{TenantId, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

impl Writes {
    /// Writes in the open transaction what must be written in order, and gives the rest, which is
    /// written together with what else a commit leaves.
    pub(crate) async fn write(mut self, conn: &Conn) -> Result<Vec<Rows>, LoadError> {
        let counters = self.positions();
        self.write_people(conn).await?;
        self.write_access(conn).await?;
        let old_events = std::mem::take(&mut self.old_events);
        // Before the arrivals: the same delivery may come anew in this very batch.
        old_events.remove(conn).await?;
        self.write_arrivals(conn).await?;
        self.write_mail(conn).await?;
        self.write_threads(conn).await?;
        let mut rest = std::mem::take(&mut self.work).write(conn).await?;
        std::mem::take(&mut self.sending).write(conn).await?;
        std::mem::take(&mut self.documents).write(conn).await?;
        self.write_rest(conn).await?;
        // After everything that names bytes was written.
        old_events.remove_bytes(conn).await?;
        rest.push(feed_rows(&self.feed));
        rest.push(counter_rows(&counters));
        Ok(rest)
    }

    async fn write_people(&mut self, conn: &Conn) -> Result<(), LoadError> {
        conn.insert(
            "INSERT INTO tenants (id, slug, name, status, mode, timezone, address_suffix, \
             created_at, updated_at) VALUES {} ON CONFLICT (id) DO UPDATE SET \
             name = excluded.name, status = excluded.status, timezone = excluded.timezone, \
             address_suffix = excluded.address_suffix, updated_at = excluded.updated_at",
            9,
            flat(self.tenants.values().map(rows::tenant_values)),
        )
        .await?;
        conn.insert(
            "INSERT INTO domains (id, tenant_id, name, state, created_at) VALUES {} \
             ON CONFLICT (id) DO UPDATE SET state = excluded.state",
            5,
            flat(self.domains.values().map(rows::domain_values)),
        )
        .await?;
        conn.insert(
            "INSERT INTO identities (id, tenant_id, username, display_name, purpose, status, \
             pause_reason, owner, metadata, client_id, client_digest, created_at, updated_at, \
             signature, send_policy, resumed_at) \
             VALUES {} ON CONFLICT (id) DO UPDATE SET display_name = excluded.display_name, \
             purpose = excluded.purpose, status = excluded.status, \
             pause_reason = excluded.pause_reason, owner = excluded.owner, \
             metadata = excluded.metadata, updated_at = excluded.updated_at, \
             signature = excluded.signature, send_policy = excluded.send_policy, \
             resumed_at = excluded.resumed_at",
            16,
            flat(self.identities.values().map(rows::identity_values)),
        )
        .await?;
        conn.insert(
            "INSERT INTO addresses (id, tenant_id, identity_id, address, domain_id, role, \
             status, retire_at, retired_at, created_at) VALUES {} ON CONFLICT (id) DO UPDATE SET \
             role = excluded.role, status = excluded.status, retire_at = excluded.retire_at, \
             retired_at = excluded.retired_at",
            10,
            flat(self.addresses.values().map(rows::address_values)),
        )
        .await?;
        Ok(())
    }

    async fn write_access(&mut self, conn: &Conn) -> Result<(), LoadError> {
        conn.insert(
            "INSERT INTO api_keys (id, name, level, mode, tenant_id, identity_id, permissions, \
             expires_at, revoked_at, last_used_at, created_at, grants) VALUES {} \
             ON CONFLICT (id) DO UPDATE SET revoked_at = excluded.revoked_at, \
             last_used_at = excluded.last_used_at, grants = excluded.grants",
            12,
            flat(self.keys.values().map(rows::key_values)),
        )
        .await?;
        for (lookup, secret) in &self.secrets {
            if secret.is_none() {
                conn.execute(
                    "DELETE FROM key_secrets WHERE lookup = $1",
                    vec![lookup.as_str().into()],
                )
                .await?;
            }
        }
        conn.insert(
            "INSERT INTO key_secrets (lookup, key_id, hash, valid_until, created_at) VALUES {} \
             ON CONFLICT (lookup) DO UPDATE SET valid_until = excluded.valid_until",
            5,
            flat(self.secrets.values().flatten().map(rows::secret_values)),
        )
        .await?;
        if let Some(at) = self.end_links {
            conn.execute(
                "UPDATE owner_links SET expires_at = $1 WHERE used_at IS NULL AND expires_at > $1",
                vec![at.ms().into()],
            )
            .await?;
        }
        conn.insert(
            "INSERT INTO owner_links (hash, created_at, expires_at, used_at) VALUES {} \
             ON CONFLICT (hash) DO UPDATE SET used_at = excluded.used_at, \
             expires_at = excluded.expires_at",
            4,
            flat(self.owner_links.values().map(rows::owner_link_values)),
        )
        .await?;
        for (hash, session) in &self.sessions {
            if session.is_none() {
                conn.execute(
                    "DELETE FROM sessions WHERE hash = $1",
                    vec![hash.as_slice().into()],
                )
                .await?;
            }
        }
        conn.insert(
            "INSERT INTO sessions (hash, created_at, expires_at) VALUES {} \
             ON CONFLICT (hash) DO NOTHING",
            3,
            flat(self.sessions.values().flatten().map(rows::session_values)),
        )
        .await?;
        Ok(())
    }

    async fn write_arrivals(&mut self, conn: &Conn) -> Result<(), LoadError> {
        let blobs = std::mem::take(&mut self.blobs);
        conn.insert(
            "INSERT INTO blobs (tenant_id, sha256, size, place, bytes) VALUES {} \
             ON CONFLICT (tenant_id, sha256) DO NOTHING",
            5,
            flat(
                blobs
                    .into_iter()
                    .map(|((tenant, _), blob)| blob.values(tenant)),
            ),
        )
        .await?;
        let new: BTreeSet<(TenantId, u64)> = self
            .feed
            .iter()
            .map(|row| (row.tenant_id, row.position))
            .collect();
        // An event's id is the position of the commit that brought it.
        let (added, changed): (Vec<&EventRow>, Vec<&EventRow>) = self
            .events
            .values()
            .partition(|event| new.contains(&(event.tenant_id, event.id)));
        conn.insert(
            "UPDATE events SET disposition = new.column3, state = new.column4, \
             message_id = new.column5, detail = new.column6, redeliveries = new.column7, \
             last_redelivered_at = new.column8, todo_id = new.column9, tries = new.column10, \
             next_try_at = new.column11, source_id = new.column12, \
             routing_trace = new.column13 FROM (VALUES {}) AS new \
             WHERE events.tenant_id = new.column1 AND events.id = new.column2",
            13,
            flat(changed.into_iter().map(rows::event_change_values)),
        )
        .await?;
        conn.insert(
            "INSERT INTO events (tenant_id, id, identity_id, provider, family, event_type, \
             external_key, trust_mode, verified, verify_detail, content_type, headers, sha256, \
             payload_size, source_ip, mail_from, delivered_to, received_at, occurred_at, \
             disposition, state, message_id, detail, source_id, carries_mail, redeliveries, \
             last_redelivered_at, routing_trace, todo_id, tries, next_try_at) VALUES {}",
            31,
            flat(added.into_iter().map(rows::event_values)),
        )
        .await?;
        Ok(())
    }

    async fn write_mail(&mut self, conn: &Conn) -> Result<(), LoadError> {
        let messages = std::mem::take(&mut self.messages);
        conn.insert(
            "INSERT INTO messages (id, tenant_id, identity_id, num, thread_id, event_id, \
             direction, status, kind, rfc_message_id, from_address, sent_at, received_at, sort_at, \
             unread, id_conflict, sha256, size, doc) VALUES {}",
            19,
            flat(
                messages
                    .into_iter()
                    .map(|(row, doc)| rows::message_values(&row, doc)),
            ),
        )
        .await?;
        for unread in [false, true] {
            for ((tenant, num), _) in self.unread.iter().filter(|(_, value)| **value == unread) {
                conn.execute(
                    "UPDATE messages SET unread = $1 WHERE tenant_id = $2 AND num = $3",
                    vec![unread.into(), tenant.bits().into(), (*num).into()],
                )
                .await?;
            }
        }
        for (tenant, num) in &self.conflicts {
            conn.execute(
                "UPDATE messages SET id_conflict = 1 WHERE tenant_id = $1 AND num = $2",
                vec![tenant.bits().into(), (*num).into()],
            )
            .await?;
        }
        for (label, _) in self.labels.iter().filter(|(_, thread)| thread.is_none()) {
            conn.execute(
                "DELETE FROM message_labels WHERE identity_id = $1 AND label = $2 AND num = $3",
                vec![
                    label.identity_id.bits().into(),
                    label.label.as_str().into(),
                    label.num.into(),
                ],
            )
            .await?;
        }
        let on = self
            .labels
            .iter()
            .filter_map(|(label, thread)| thread.map(|thread| label_values(label, thread)));
        conn.insert(
            "INSERT INTO message_labels (identity_id, label, num, tenant_id, thread_id) \
             VALUES {} ON CONFLICT (identity_id, label, num) DO NOTHING",
            5,
            flat(on),
        )
        .await?;
        Ok(())
    }

    /// Threads, then merges in the order in which they were decided: rows of this batch that still
    /// name a thread which was merged later are moved with the others.
    async fn write_threads(&mut self, conn: &Conn) -> Result<(), LoadError> {
        conn.insert(
            "INSERT INTO threads (id, tenant_id, identity_id, subject, first_at, first_num, \
             last_at, last_num, last_direction, last_inbound_at, snippet, message_count, \
             unread_count, participants, archived, hold) VALUES {} ON CONFLICT (id) DO UPDATE SET \
             subject = excluded.subject, first_at = excluded.first_at, \
             first_num = excluded.first_num, last_at = excluded.last_at, \
             last_num = excluded.last_num, last_direction = excluded.last_direction, \
             last_inbound_at = excluded.last_inbound_at, snippet = excluded.snippet, \
             message_count = excluded.message_count, unread_count = excluded.unread_count, \
             participants = excluded.participants, archived = excluded.archived, \
             hold = excluded.hold",
            16,
            flat(self.threads.values().map(rows::thread_values)),
        )
        .await?;
        conn.insert(
            "INSERT INTO thread_keys (identity_id, hash, thread_id, holder) VALUES {} \
             ON CONFLICT (identity_id, hash) DO UPDATE SET thread_id = excluded.thread_id, \
             holder = excluded.holder",
            4,
            flat(self.thread_keys.values().map(rows::thread_key_values)),
        )
        .await?;
        for merge in &self.merges {
            write_merge(conn, merge).await?;
        }
        Ok(())
    }

    async fn write_rest(&mut self, conn: &Conn) -> Result<(), LoadError> {
        conn.insert(
            "INSERT INTO contacts (identity_id, address, tenant_id, name, folded, domain, \
             first_seen_at, last_seen_at, inbound_count, outbound_count, last_thread_id) \
             VALUES {} ON CONFLICT (identity_id, address) DO UPDATE SET name = excluded.name, \
             folded = excluded.folded, first_seen_at = excluded.first_seen_at, \
             last_seen_at = excluded.last_seen_at, inbound_count = excluded.inbound_count, \
             outbound_count = excluded.outbound_count, last_thread_id = excluded.last_thread_id",
            11,
            flat(self.contacts.values().map(rows::contact_values)),
        )
        .await?;
        if let Some(at) = self.prune_results {
            conn.execute(
                "DELETE FROM result_sets WHERE expires_at <= $1",
                vec![at.ms().into()],
            )
            .await?;
        }
        conn.insert(
            "INSERT INTO result_sets (id, tenant_id, key_id, payload, created_at, expires_at) \
             VALUES {} ON CONFLICT (id) DO NOTHING",
            6,
            flat(self.result_sets.values().map(rows::result_set_values)),
        )
        .await?;
        conn.insert(
            "INSERT INTO import_failures (tenant_id, id, identity_id, location, reason, sha256, \
             size, at) VALUES {}",
            8,
            flat(self.import_failures.iter().map(rows::import_failure_values)),
        )
        .await?;
        Ok(())
    }
}

pub(super) fn flat<const N: usize>(rows: impl IntoIterator<Item = [Value; N]>) -> Vec<Value> {
    rows.into_iter().flatten().collect()
}

fn label_values(label: &LabelRow, thread: ThreadId) -> [Value; 5] {
    [
        label.identity_id.bits().into(),
        label.label.as_str().into(),
        label.num.into(),
        label.tenant_id.bits().into(),
        thread.bits().into(),
    ]
}

async fn write_merge(conn: &Conn, merge: &Merge) -> Result<(), LoadError> {
    let ids = || vec![merge.into.bits().into(), merge.from.bits().into()];
    for sql in [
        "UPDATE messages SET thread_id = $1 WHERE thread_id = $2",
        "UPDATE message_labels SET thread_id = $1 WHERE thread_id = $2",
        "UPDATE thread_aliases SET thread_id = $1 WHERE thread_id = $2",
    ] {
        conn.execute(sql, ids()).await?;
    }
    conn.execute(
        "INSERT INTO thread_aliases (alias, thread_id, tenant_id, identity_id) \
         VALUES ($1, $2, $3, $4)",
        vec![
            merge.from.bits().into(),
            merge.into.bits().into(),
            merge.tenant.bits().into(),
            merge.identity.bits().into(),
        ],
    )
    .await?;
    conn.execute(
        "DELETE FROM threads WHERE id = $1",
        vec![merge.from.bits().into()],
    )
    .await?;
    Ok(())
}

fn feed_rows(feed: &[FeedRow]) -> Rows {
    Rows {
        sql: "INSERT INTO feed (tenant_id, position, kind, identity_id, subject, num, at) VALUES {}",
        width: 7,
        values: flat(feed.iter().map(rows::feed_values)),
    }
}

fn counter_rows(counters: &BTreeMap<TenantId, Counter>) -> Rows {
    Rows {
        sql: "INSERT INTO counters (tenant_id, position, last_at) VALUES {} \
              ON CONFLICT (tenant_id) DO UPDATE SET position = excluded.position, \
              last_at = excluded.last_at",
        width: 3,
        values: flat(counters.iter().map(|(tenant, counter)| {
            [
                tenant.bits().into(),
                counter.position.into(),
                counter.last_at.ms().into(),
            ]
        })),
    }
}
