//! Todos, their attempts, settings of queues.

use super::{
    Result, array, at, damaged, json, json_text, ms, opt_at, opt_bits, opt_id, opt_ms, opt_text,
    opt_unsigned, opt_word, tenant_id, todo_id, unsigned, word,
};
use crate::sql::{Row, Value, signed};
use postroom_core::{AttemptRow, Lease, QueueRow, TodoRow};
use postroom_types::{IdentityId, KeyId, SourceId};

pub(crate) fn todo(row: &Row) -> Result<TodoRow> {
    let tags = row.opt_text(16)?;
    Ok(TodoRow {
        tenant_id: tenant_id(row, 0)?,
        id: todo_id(row, 1)?,
        identity_id: opt_id(row, 2, IdentityId::from_parts)?,
        num: unsigned(row, 3)?,
        queue: row.text(4)?,
        source_id: opt_id(row, 5, SourceId::from_parts)?,
        source: row.opt_text(6)?,
        kind: row.opt_text(7)?,
        title: row.text(8)?,
        event_id: opt_unsigned(row, 9)?,
        last_event_id: opt_unsigned(row, 10)?,
        event_count: unsigned(row, 11)?,
        payload_size: unsigned(row, 12)?,
        idempotency_key: row.opt_text(13)?,
        subject_key: row.opt_text(14)?,
        priority: -row.int(15)?,
        tags: tags.as_deref().map(json).transpose()?.unwrap_or_default(),
        assignee: opt_id(row, 17, KeyId::from_parts)?,
        quarantine_reason: opt_word(row, 18)?,
        routing_trace: row.opt_text(19)?,
        max_attempts: unsigned(row, 20)?,
        created_at: at(row, 21)?,
        state: word(row, 22)?,
        lease: lease(row)?,
        attempt: unsigned(row, 33)?,
        attempts_total: unsigned(row, 34)?,
        next_retry_at: opt_at(row, 35)?,
        dead_reason: opt_word(row, 36)?,
        updated_at: at(row, 37)?,
        completed_at: opt_at(row, 38)?,
    })
}

fn lease(row: &Row) -> Result<Option<Lease>> {
    let Some(seq) = opt_unsigned(row, 23)? else {
        return Ok(None);
    };
    let hash = row.opt_blob(30)?.ok_or(damaged("a lease"))?;
    Ok(Some(Lease {
        seq,
        key_id: opt_id(row, 24, KeyId::from_parts)?,
        claimant: row.opt_text(25)?,
        claimed_at: at(row, 26)?,
        heartbeat_at: opt_at(row, 27)?,
        expires_at: at(row, 28)?,
        seconds: unsigned(row, 29)?,
        token_hash: array(&hash)?,
        fenced: row.int(31)? != 0,
        note: row.opt_text(32)?,
    }))
}

/// What never changes of a todo, in the order of its columns.
fn fixed_values(row: &TodoRow) -> [Value; 17] {
    [
        opt_bits(row.identity_id.map(IdentityId::bits)),
        row.num.into(),
        row.queue.as_str().into(),
        opt_bits(row.source_id.map(SourceId::bits)),
        opt_text(&row.source),
        opt_text(&row.kind),
        row.title.as_str().into(),
        Value::OptInt(row.event_id.map(signed)),
        row.payload_size.into(),
        opt_text(&row.idempotency_key),
        opt_text(&row.subject_key),
        Value::OptText((!row.tags.is_empty()).then(|| json_text(&row.tags))),
        opt_bits(row.assignee.map(KeyId::bits)),
        Value::OptText(row.quarantine_reason.map(|word| word.as_str().to_owned())),
        opt_text(&row.routing_trace),
        row.max_attempts.into(),
        ms(row.created_at),
    ]
}

/// What changes of a todo, after the two columns of its key.
pub(crate) fn todo_change_values(row: &TodoRow, result: Option<String>) -> [Value; 23] {
    let lease = row.lease.as_ref();
    [
        row.tenant_id.bits().into(),
        row.id.bits().into(),
        Value::OptInt(row.last_event_id.map(signed)),
        row.event_count.into(),
        Value::Int(-row.priority),
        row.state.as_str().into(),
        Value::OptInt(lease.map(|lease| signed(lease.seq))),
        opt_bits(lease.and_then(|lease| lease.key_id).map(KeyId::bits)),
        Value::OptText(lease.and_then(|lease| lease.claimant.clone())),
        opt_ms(lease.map(|lease| lease.claimed_at)),
        opt_ms(lease.and_then(|lease| lease.heartbeat_at)),
        opt_ms(lease.map(|lease| lease.expires_at)),
        Value::OptInt(lease.map(|lease| signed(lease.seconds))),
        Value::OptBlob(lease.map(|lease| lease.token_hash.to_vec())),
        Value::OptInt(lease.map(|lease| i64::from(lease.fenced))),
        Value::OptText(lease.and_then(|lease| lease.note.clone())),
        row.attempt.into(),
        row.attempts_total.into(),
        opt_ms(row.next_retry_at),
        Value::OptText(row.dead_reason.map(|word| word.as_str().to_owned())),
        ms(row.updated_at),
        opt_ms(row.completed_at),
        Value::OptText(result),
    ]
}

/// What an open todo is found by.
pub(crate) fn open_todo_values(row: &TodoRow) -> [Value; 11] {
    [
        row.tenant_id.bits().into(),
        row.id.bits().into(),
        opt_bits(row.identity_id.map(IdentityId::bits)),
        row.num.into(),
        row.queue.as_str().into(),
        Value::Int(-row.priority),
        opt_bits(row.assignee.map(KeyId::bits)),
        row.state.as_str().into(),
        opt_ms(row.due_at()),
        Value::OptId(row.dedup()),
        Value::OptId(row.subject()),
    ]
}

/// All of a new todo: what changes of it, then what never does.
pub(crate) fn todo_values(
    row: &TodoRow,
    result: Option<String>,
) -> impl Iterator<Item = Value> + use<> {
    todo_change_values(row, result)
        .into_iter()
        .chain(fixed_values(row))
}

pub(crate) fn attempt(row: &Row) -> Result<AttemptRow> {
    Ok(AttemptRow {
        tenant_id: tenant_id(row, 0)?,
        todo_id: todo_id(row, 1)?,
        seq: unsigned(row, 2)?,
        attempt: unsigned(row, 3)?,
        key_id: opt_id(row, 4, KeyId::from_parts)?,
        claimant: row.opt_text(5)?,
        claimed_at: at(row, 6)?,
        last_heartbeat_at: opt_at(row, 7)?,
        lease_expires_at: at(row, 8)?,
        token_hash: array(row.bytes(9)?)?,
        ended_at: at(row, 10)?,
        outcome: word(row, 11)?,
        disposition: word(row, 12)?,
        summary: row.opt_text(13)?,
        summary_truncated: row.int(14)? != 0,
        artifact: row.opt_text(15)?,
        note: row.opt_text(16)?,
        late_at: opt_at(row, 17)?,
        late_outcome: opt_word(row, 18)?,
        late_result: row.opt_text(19)?,
    })
}

pub(crate) fn attempt_values(row: &AttemptRow) -> [Value; 20] {
    [
        row.tenant_id.bits().into(),
        row.todo_id.bits().into(),
        row.seq.into(),
        row.attempt.into(),
        opt_bits(row.key_id.map(KeyId::bits)),
        opt_text(&row.claimant),
        ms(row.claimed_at),
        opt_ms(row.last_heartbeat_at),
        ms(row.lease_expires_at),
        row.token_hash.as_slice().into(),
        ms(row.ended_at),
        row.outcome.as_str().into(),
        row.disposition.as_str().into(),
        opt_text(&row.summary),
        row.summary_truncated.into(),
        opt_text(&row.artifact),
        opt_text(&row.note),
        opt_ms(row.late_at),
        Value::OptText(row.late_outcome.map(|word| word.as_str().to_owned())),
        opt_text(&row.late_result),
    ]
}

pub(crate) fn queue(row: &Row) -> Result<QueueRow> {
    Ok(QueueRow {
        tenant_id: tenant_id(row, 0)?,
        name: row.text(1)?,
        paused: row.int(2)? != 0,
        max_in_flight: opt_unsigned(row, 3)?,
        updated_at: at(row, 4)?,
    })
}

pub(crate) fn queue_values(row: &QueueRow) -> [Value; 5] {
    [
        row.tenant_id.bits().into(),
        row.name.as_str().into(),
        row.paused.into(),
        Value::OptInt(row.max_in_flight.map(signed)),
        ms(row.updated_at),
    ]
}
