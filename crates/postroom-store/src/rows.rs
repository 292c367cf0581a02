//! Rows of tables as values of `postroom-core`, both ways. Each table's column list stands beside
//! what reads and what writes it.

mod arrival;
mod document;
mod mail;
mod people;
mod send;
mod source;
mod todo;

pub(crate) use arrival::{
    event, event_change_values, event_values, feed, feed_values, import_failure,
    import_failure_values,
};
pub(crate) use document::{
    document_session, document_session_values, document_state, document_state_values,
};
pub(crate) use mail::{
    MESSAGE_DOC, contact, contact_values, message, message_values, result_set_values, thread,
    thread_key, thread_key_values, thread_values,
};
pub(crate) use people::{
    address, address_values, domain, domain_values, identity, identity_values, key, key_values,
    owner_link, owner_link_values, secret, secret_values, session, session_values, tenant,
    tenant_values,
};
pub(crate) use send::{
    delivery, delivery_values, draft, draft_values, early_report, early_report_values, idempotency,
    idempotency_values, list_entry, list_entry_values, policy, policy_values, send,
    send_change_values, send_values, suppression, suppression_values, upload, upload_values, usage,
    usage_identity, usage_values,
};
pub(crate) use source::{source, source_stats, source_values};
pub(crate) use todo::{
    attempt, attempt_values, open_todo_values, queue, queue_values, todo, todo_change_values,
    todo_values,
};

use crate::{
    StoreError,
    sql::{Row, Value},
};
use postroom_core::ulid_ms;
use postroom_types::{
    AddressId, DomainId, IdentityId, KeyId, MessageId, SourceId, TenantId, ThreadId, Timestamp,
    TodoId,
};
use std::str::FromStr;

/// The column list of each table, in the order in which its functions below read and write it.
macro_rules! columns {
    (tenant) => {
        "id, slug, name, status, mode, timezone, address_suffix, created_at, updated_at"
    };
    (domain) => {
        "id, tenant_id, name, state, created_at"
    };
    (identity) => {
        "id, tenant_id, username, display_name, purpose, status, pause_reason, owner, \
         metadata, client_id, client_digest, created_at, updated_at, signature, send_policy, resumed_at"
    };
    (address) => {
        "id, tenant_id, identity_id, address, domain_id, role, status, retire_at, \
         retired_at, created_at"
    };
    (key) => {
        "id, name, level, mode, tenant_id, identity_id, permissions, expires_at, \
         revoked_at, last_used_at, created_at, grants"
    };
    (secret) => {
        "lookup, key_id, hash, valid_until, created_at"
    };
    (owner_link) => {
        "hash, created_at, expires_at, used_at"
    };
    (session) => {
        "hash, created_at, expires_at"
    };
    (feed) => {
        "tenant_id, position, kind, identity_id, subject, num, at"
    };
    (event) => {
        "tenant_id, id, identity_id, provider, family, event_type, external_key, \
         trust_mode, verified, verify_detail, content_type, headers, sha256, \
         payload_size, source_ip, mail_from, delivered_to, received_at, occurred_at, \
         disposition, state, message_id, detail, source_id, carries_mail, redeliveries, \
         last_redelivered_at, routing_trace, todo_id, tries, next_try_at"
    };
    (message) => {
        "id, tenant_id, identity_id, num, thread_id, event_id, direction, status, kind, \
         rfc_message_id, from_address, sent_at, received_at, sort_at, unread, \
         id_conflict, sha256, size"
    };
    (thread) => {
        "id, tenant_id, identity_id, subject, first_at, first_num, last_at, last_num, \
         last_direction, last_inbound_at, snippet, message_count, unread_count, \
         participants, archived, hold"
    };
    (thread_key) => {
        "identity_id, hash, thread_id, holder"
    };
    (contact) => {
        "identity_id, address, tenant_id, name, folded, domain, first_seen_at, \
         last_seen_at, inbound_count, outbound_count, last_thread_id"
    };
    (source) => {
        "id, tenant_id, identity_id, provider, name, token_hash, sealed_token, state, \
         trust_mode, secret_origin, secrets, queue, rules, rules_version, options, \
         trusted_actors, version, created_at, rotated_at, handshake_at"
    };
    (todo) => {
        "tenant_id, id, identity_id, num, queue, source_id, source, kind, title, event_id, \
         last_event_id, event_count, payload_size, idempotency_key, subject_key, rank, tags, \
         assignee, quarantine_reason, routing_trace, max_attempts, created_at, state, \
         lease_seq, lease_key, claimant, claimed_at, heartbeat_at, lease_expires_at, \
         lease_seconds, lease_hash, fenced, note, attempt, attempts_total, next_retry_at, \
         dead_reason, updated_at, completed_at"
    };
    (attempt) => {
        "tenant_id, todo_id, seq, attempt, key_id, claimant, claimed_at, last_heartbeat_at, \
         lease_expires_at, token_hash, ended_at, outcome, disposition, summary, \
         summary_truncated, artifact, note, late_at, late_outcome, late_result"
    };
    (queue) => {
        "tenant_id, name, paused, max_in_flight, updated_at"
    };
    (send) => {
        "message_id, tenant_id, identity_id, num, key_id, operation, kind, transport, \
         envelope_from, rfc_message_id, sha256, size, answers, hop, idempotency, state, \
         attempt, due_at, claim, claim_process, claimed_at, provider_message_id, reason, \
         reconciled, day, metadata, queued_at, updated_at"
    };
    (delivery) => {
        "message_id, seq, tenant_id, identity_id, address, hash, field, status, smtp_code, \
         enhanced_code, bounce_type, reason, attempt, updated_at, base_hash"
    };
    (idempotency) => {
        "identity_id, hash, tenant_id, fingerprint, message_id, at"
    };
    (suppression) => {
        "tenant_id, hash, hint, reason, at"
    };
    (list_entry) => {
        "tenant_id, direction, entry, kind, at"
    };
    (policy) => {
        "tenant_id, own, updated_at"
    };
    (usage) => {
        "tenant_id, identity_id, day, sends, held"
    };
    (document_session) => {
        "id, tenant_id, identity_id, name, version, created_at, updated_at"
    };
    (document_state) => {
        "session_id, version, document, at, key_id"
    };
    (draft) => {
        "id, tenant_id, identity_id, document, version, created_at, updated_at, saved_by, scope"
    };
    (upload) => {
        "id, tenant_id, identity_id, filename, content_type, sha256, size, created_at, \
         expires_at"
    };
    (import_failure) => {
        "tenant_id, id, identity_id, location, reason, sha256, size, at"
    };
}

pub(crate) use columns;

type Result<T> = std::result::Result<T, StoreError>;

/// What a stored word or length that nobody wrote here means.
fn damaged(what: &'static str) -> StoreError {
    StoreError::Damaged(what)
}

pub(crate) fn bits(bytes: &[u8]) -> Result<u128> {
    let bytes: [u8; 16] = bytes.try_into().map_err(|_| damaged("an id"))?;
    Ok(u128::from_be_bytes(bytes))
}

pub(crate) fn array<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    bytes.try_into().map_err(|_| damaged("a digest"))
}

macro_rules! ids {
    ($($function:ident: $id:ident;)*) => {
        $(
            pub(crate) fn $function(row: &Row, place: usize) -> Result<$id> {
                let bits = bits(row.bytes(place)?)?;
                Ok($id::from_parts(ulid_ms(bits), bits))
            }
        )*
    };
}

ids! {
    tenant_id: TenantId;
    domain_id: DomainId;
    identity_id: IdentityId;
    address_id: AddressId;
    key_id: KeyId;
    message_id: MessageId;
    thread_id: ThreadId;
    source_id: SourceId;
    todo_id: TodoId;
}

/// `None` for null.
fn opt_id<I>(row: &Row, place: usize, make: impl Fn(u64, u128) -> I) -> Result<Option<I>> {
    let Some(bytes) = row.opt_bytes(place)? else {
        return Ok(None);
    };
    let bits = bits(bytes)?;
    Ok(Some(make(ulid_ms(bits), bits)))
}

pub(crate) fn at(row: &Row, place: usize) -> Result<Timestamp> {
    Ok(Timestamp::from_ms(row.int(place)?))
}

fn opt_at(row: &Row, place: usize) -> Result<Option<Timestamp>> {
    Ok(row.opt_int(place)?.map(Timestamp::from_ms))
}

pub(crate) fn unsigned(row: &Row, place: usize) -> Result<u64> {
    u64::try_from(row.int(place)?).map_err(|_| damaged("a number"))
}

fn opt_unsigned(row: &Row, place: usize) -> Result<Option<u64>> {
    let Some(value) = row.opt_int(place)? else {
        return Ok(None);
    };
    u64::try_from(value)
        .map(Some)
        .map_err(|_| damaged("a number"))
}

pub(crate) fn word<W: FromStr>(row: &Row, place: usize) -> Result<W> {
    row.str(place)?.parse().map_err(|_| damaged("a word"))
}

fn opt_word<W: FromStr>(row: &Row, place: usize) -> Result<Option<W>> {
    let text = row.opt_str(place)?;
    text.map(|text| text.parse().map_err(|_| damaged("a word")))
        .transpose()
}

fn json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|_| damaged("a document"))
}

pub(crate) fn json_text<T: serde::Serialize>(value: &T) -> String {
    // Maps with string keys and plain structs: this cannot fail.
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

fn ms(value: Timestamp) -> Value {
    Value::Int(value.ms())
}

fn opt_ms(value: Option<Timestamp>) -> Value {
    Value::OptInt(value.map(Timestamp::ms))
}

fn opt_text(value: &Option<String>) -> Value {
    Value::OptText(value.clone())
}

pub(crate) fn opt_bits(value: Option<u128>) -> Value {
    Value::OptId(value.map(u128::to_be_bytes))
}
