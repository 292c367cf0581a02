//! Sends and their deliveries: what waits, what somebody has, what became of it.

use crate::{
    Store, StoreError, WorkerScope,
    rows::{self, columns},
    select::{self, Select},
};
use postroom_core::{
    DeliveryRow, IdempotencyRow, IdentityStatus, MessageStatus, PauseReason, SendRef, SendRow,
    SendState, Sha256Bytes, key_hash,
};
use postroom_types::{IdentityId, MessageId, TenantId, TenantScope, Timestamp, limit};
use std::collections::HashMap;

/// Which sends are listed.
#[derive(Debug, Clone, Default)]
pub struct SendFilter {
    /// Only of this mailbox.
    pub identity: Option<IdentityId>,
    /// Only in this state.
    pub state: Option<SendState>,
    /// Only those that as a whole came to this.
    pub status: Option<MessageStatus>,
    /// Only with a number below this.
    pub below: Option<u64>,
    /// At most so many.
    pub limit: usize,
}

/// A send that waits for a transport.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueSend {
    /// Which.
    pub send: SendRef,
    /// Since when it may be claimed.
    pub due_at: Timestamp,
}

/// A claim without an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenClaim {
    /// Whose.
    pub send: SendRef,
    /// The process that claimed.
    pub process: u128,
    /// When.
    pub claimed_at: Timestamp,
}

/// One send, by its message.
pub async fn send(
    store: &Store,
    scope: &TenantScope,
    message: MessageId,
) -> Result<Option<SendRow>, StoreError> {
    Select::new(concat!(
        "SELECT ",
        columns!(send),
        " FROM sends WHERE message_id = "
    ))
    .value(message.bits())
    .text(" AND ")
    .scope(scope)
    .first(store, rows::send)
    .await
}

/// Sends, newest first.
pub async fn sends(
    store: &Store,
    scope: &TenantScope,
    filter: &SendFilter,
) -> Result<Vec<SendRow>, StoreError> {
    Select::new(concat!("SELECT ", columns!(send), " FROM sends WHERE "))
        .scope(scope)
        .filter(" AND identity_id = ", filter.identity.map(IdentityId::bits))
        .filter(" AND state = ", filter.state.map(SendState::as_str))
        .filter(
            " AND message_id IN (SELECT id FROM messages WHERE messages.tenant_id = sends.tenant_id \
             AND messages.num = sends.num AND messages.status = ",
            filter.status.map(MessageStatus::as_str),
        )
        .text(if filter.status.is_some() { ")" } else { "" })
        .filter(" AND num < ", filter.below)
        .text(" ORDER BY num DESC LIMIT ")
        .value(select::rows(filter.limit))
        .all(store, rows::send)
        .await
}

/// Sends by their messages, in no order; those out of reach are left out.
pub async fn sends_of(
    store: &Store,
    scope: &TenantScope,
    messages: &[MessageId],
) -> Result<HashMap<MessageId, SendRow>, StoreError> {
    let mut out = HashMap::new();
    for messages in messages.chunks(LIST) {
        let found = Select::new(concat!("SELECT ", columns!(send), " FROM sends WHERE "))
            .scope(scope)
            .text(" AND message_id IN ")
            .list(messages.iter().map(|id| id.bits().into()))
            .all(store, rows::send)
            .await?;
        out.extend(found.into_iter().map(|row| (row.message_id, row)));
    }
    Ok(out)
}

/// Recipients of one message, in the order in which they were named; none of an inbound one.
pub async fn deliveries(
    store: &Store,
    scope: &TenantScope,
    message: MessageId,
) -> Result<Vec<DeliveryRow>, StoreError> {
    Select::new(concat!(
        "SELECT ",
        columns!(delivery),
        " FROM deliveries WHERE message_id = "
    ))
    .value(message.bits())
    .text(" AND ")
    .scope(scope)
    .text(" ORDER BY seq")
    .all(store, rows::delivery)
    .await
}

/// What became of the recipients of a mailbox's latest sends since an instant, the latest first.
pub async fn recent_deliveries(
    store: &Store,
    scope: &TenantScope,
    identity: IdentityId,
    since: Timestamp,
    most: usize,
) -> Result<Vec<DeliveryRow>, StoreError> {
    Select::new(concat!(
        "SELECT ",
        columns!(delivery),
        " FROM deliveries WHERE "
    ))
    .scope(scope)
    .text(" AND message_id IN (SELECT message_id FROM sends WHERE sends.identity_id = ")
    .value(identity.bits())
    .text(" ORDER BY num DESC LIMIT ")
    .value(select::rows(most))
    .text(") AND updated_at > ")
    .value(since.ms())
    .text(" ORDER BY updated_at DESC, message_id, seq LIMIT ")
    .value(select::rows(most))
    .all(store, rows::delivery)
    .await
}

/// Recipients of several messages; those out of reach are left out.
pub async fn deliveries_of(
    store: &Store,
    scope: &TenantScope,
    messages: &[MessageId],
) -> Result<HashMap<MessageId, Vec<DeliveryRow>>, StoreError> {
    let mut out: HashMap<MessageId, Vec<DeliveryRow>> = HashMap::new();
    for messages in messages.chunks(LIST) {
        let found = Select::new(concat!(
            "SELECT ",
            columns!(delivery),
            " FROM deliveries WHERE "
        ))
        .scope(scope)
        .text(" AND message_id IN ")
        .list(messages.iter().map(|id| id.bits().into()))
        .text(" ORDER BY message_id, seq")
        .all(store, rows::delivery)
        .await?;
        for row in found {
            out.entry(row.message_id).or_default().push(row);
        }
    }
    Ok(out)
}

/// Sends that were queued for a transport and may be claimed at `now`, the longest due first, so that
/// none waits behind those of another transport. Those of suspended tenants and paused mailboxes
/// wait.
pub async fn due_sends(
    store: &Store,
    scope: &WorkerScope,
    transport: &str,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<DueSend>, StoreError> {
    let WorkerScope(()) = scope;
    Select::new(
        "SELECT sends.tenant_id, sends.message_id, sends.due_at FROM sends \
         JOIN identities ON identities.id = sends.identity_id \
         JOIN tenants ON tenants.id = sends.tenant_id \
         WHERE sends.due_at IS NOT NULL AND identities.status = 'active' \
         AND tenants.status = 'active' AND sends.transport = ",
    )
    .value(transport)
    .text(" AND sends.due_at <= ")
    .value(now.ms())
    .text(" ORDER BY sends.due_at LIMIT ")
    .value(select::rows(limit))
    .all(store, |row| {
        Ok(DueSend {
            send: SendRef {
                tenant: rows::tenant_id(row, 0)?,
                message: rows::message_id(row, 1)?,
            },
            due_at: rows::at(row, 2)?,
        })
    })
    .await
}

/// When the next send is due, whoever's it is.
pub async fn next_due_send(
    store: &Store,
    scope: &WorkerScope,
) -> Result<Option<Timestamp>, StoreError> {
    let WorkerScope(()) = scope;
    Select::new("SELECT due_at FROM sends WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1")
        .first(store, |row| rows::at(row, 0))
        .await
}

/// What keeps mail of the deployment from leaving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendingTrouble {
    /// Mails that wait after a try that failed.
    pub put_off: u64,
    /// Mailboxes paused because too much of their mail came back or was called spam.
    pub paused_for_abuse: u64,
}

/// What keeps mail of the deployment from leaving.
pub async fn sending_trouble(
    store: &Store,
    scope: &WorkerScope,
) -> Result<SendingTrouble, StoreError> {
    let WorkerScope(()) = scope;
    let count = async |select: Select| {
        let found = select.first(store, |row| rows::unsigned(row, 0)).await?;
        Ok::<u64, StoreError>(found.unwrap_or(0))
    };
    let put_off =
        Select::new("SELECT COUNT(*) FROM sends WHERE due_at IS NOT NULL AND attempt > 0");
    let paused = Select::new("SELECT COUNT(*) FROM identities WHERE status = ")
        .value(IdentityStatus::Paused.as_str())
        .text(" AND pause_reason = ")
        .value(PauseReason::AbuseThreshold.as_str());
    Ok(SendingTrouble {
        put_off: count(put_off).await?,
        paused_for_abuse: count(paused).await?,
    })
}

/// Claims without an outcome, the oldest first, at most [`limit::SEND_BATCH`].
pub async fn open_claims(store: &Store, scope: &WorkerScope) -> Result<Vec<OpenClaim>, StoreError> {
    let WorkerScope(()) = scope;
    Select::new(
        "SELECT tenant_id, message_id, claim_process, claim_open FROM sends \
         WHERE claim_open IS NOT NULL ORDER BY claim_open LIMIT ",
    )
    .value(select::rows(limit::SEND_BATCH))
    .all(store, |row| {
        Ok(OpenClaim {
            send: SendRef {
                tenant: rows::tenant_id(row, 0)?,
                message: rows::message_id(row, 1)?,
            },
            process: rows::bits(&row.blob(2)?)?,
            claimed_at: rows::at(row, 3)?,
        })
    })
    .await
}

/// What an earlier call with a key against doubles sent, as long as the key counts; `key` is what
/// [`postroom_core::idempotency_key`] gives. Only a look ahead: the writer looks again.
pub async fn idempotent(
    store: &Store,
    scope: &TenantScope,
    identity: IdentityId,
    key: &Sha256Bytes,
) -> Result<Option<IdempotencyRow>, StoreError> {
    let found = Select::new(concat!(
        "SELECT ",
        columns!(idempotency),
        " FROM idempotency WHERE identity_id = "
    ))
    .value(identity.bits())
    .text(" AND hash = ")
    .value(key.as_slice())
    .text(" AND ")
    .scope(scope)
    .first(store, rows::idempotency)
    .await?;
    Ok(found.filter(|row| row.counts(store.now())))
}

/// The message of ours that a mailbox sent under a normalised Message-ID, for what comes back.
pub async fn sent_message(
    store: &Store,
    scope: &TenantScope,
    identity: IdentityId,
    rfc_message_id: &str,
) -> Result<Option<MessageId>, StoreError> {
    Select::new(
        "SELECT messages.id FROM thread_keys JOIN messages \
         ON messages.num = thread_keys.holder WHERE thread_keys.identity_id = ",
    )
    .value(identity.bits())
    .text(" AND thread_keys.hash = ")
    .value(key_hash(rfc_message_id).as_slice())
    .text(" AND messages.direction = 'outbound' AND ")
    .scope_by(scope, "messages.tenant_id", "messages.identity_id")
    .first(store, |row| rows::message_id(row, 0))
    .await
}

/// Sends whose fate is not known, among those queued since `since`, newest first: candidates for a
/// provider's event that names no message.
pub async fn uncertain_sends(
    store: &Store,
    scope: &TenantScope,
    since: Timestamp,
    limit: usize,
) -> Result<Vec<SendRow>, StoreError> {
    Select::new(concat!("SELECT ", columns!(send), " FROM sends WHERE "))
        .scope(scope)
        .text(" AND state = 'uncertain' AND queued_at >= ")
        .value(since.ms())
        .text(" ORDER BY num DESC LIMIT ")
        .value(select::rows(limit))
        .all(store, rows::send)
        .await
}

/// The very bytes of sends of one tenant, to be unpacked where it may block; in the order of
/// `digests`, `None` for one that is missing.
pub async fn wire(
    store: &Store,
    scope: &WorkerScope,
    tenant: TenantId,
    digests: &[Sha256Bytes],
) -> Result<Vec<Option<super::KeptBytes>>, StoreError> {
    let WorkerScope(()) = scope;
    super::blob::kept_of(store, tenant, digests).await
}

/// Values of one list in a statement.
const LIST: usize = 256;
