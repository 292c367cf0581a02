//! The feed, events, failed imports.

use super::{
    Result, array, at, bits, identity_id, json, json_text, ms, opt_at, opt_bits, opt_id, opt_ms,
    opt_text, opt_unsigned, tenant_id, unsigned, word,
};
use crate::sql::{Row, Value, signed};
use postroom_core::{EventRow, FeedRow, ImportFailureRow};
use postroom_types::{IdentityId, MessageId, SourceId, TodoId};

pub(crate) fn feed(row: &Row) -> Result<FeedRow> {
    let subject = row.opt_blob(4)?;
    Ok(FeedRow {
        tenant_id: tenant_id(row, 0)?,
        position: unsigned(row, 1)?,
        kind: word(row, 2)?,
        identity_id: opt_id(row, 3, IdentityId::from_parts)?,
        subject: subject.as_deref().map(bits).transpose()?,
        num: opt_unsigned(row, 5)?,
        at: at(row, 6)?,
    })
}

pub(crate) fn feed_values(row: &FeedRow) -> [Value; 7] {
    [
        row.tenant_id.bits().into(),
        row.position.into(),
        row.kind.as_str().into(),
        opt_bits(row.identity_id.map(IdentityId::bits)),
        opt_bits(row.subject),
        Value::OptInt(row.num.map(signed)),
        ms(row.at),
    ]
}

pub(crate) fn event(row: &Row) -> Result<EventRow> {
    Ok(EventRow {
        tenant_id: tenant_id(row, 0)?,
        id: unsigned(row, 1)?,
        identity_id: opt_id(row, 2, IdentityId::from_parts)?,
        provider: row.text(3)?,
        family: word(row, 4)?,
        event_type: row.opt_text(5)?,
        external_key: row.opt_text(6)?,
        trust_mode: word(row, 7)?,
        verified: row.int(8)? != 0,
        verify_detail: row.opt_text(9)?,
        content_type: row.opt_text(10)?,
        headers: row
            .opt_text(11)?
            .as_deref()
            .map(json)
            .transpose()?
            .unwrap_or_default(),
        sha256: array(row.bytes(12)?)?,
        payload_size: unsigned(row, 13)?,
        source_ip: row.opt_text(14)?,
        mail_from: row.opt_text(15)?,
        delivered_to: row.opt_text(16)?,
        received_at: at(row, 17)?,
        occurred_at: opt_at(row, 18)?,
        disposition: word(row, 19)?,
        state: word(row, 20)?,
        message_id: opt_id(row, 21, MessageId::from_parts)?,
        detail: row.opt_text(22)?,
        source_id: opt_id(row, 23, SourceId::from_parts)?,
        carries_mail: row.int(24)? != 0,
        redeliveries: unsigned(row, 25)?,
        last_redelivered_at: opt_at(row, 26)?,
        routing_trace: row.opt_text(27)?,
        todo_id: opt_id(row, 28, TodoId::from_parts)?,
        tries: unsigned(row, 29)?,
        next_try_at: opt_at(row, 30)?,
    })
}

pub(crate) fn event_values(row: &EventRow) -> [Value; 31] {
    let headers = (!row.headers.is_empty()).then(|| json_text(&row.headers));
    [
        row.tenant_id.bits().into(),
        row.id.into(),
        opt_bits(row.identity_id.map(IdentityId::bits)),
        row.provider.as_str().into(),
        row.family.as_str().into(),
        opt_text(&row.event_type),
        opt_text(&row.external_key),
        row.trust_mode.as_str().into(),
        row.verified.into(),
        opt_text(&row.verify_detail),
        opt_text(&row.content_type),
        Value::OptText(headers),
        row.sha256.as_slice().into(),
        row.payload_size.into(),
        opt_text(&row.source_ip),
        opt_text(&row.mail_from),
        opt_text(&row.delivered_to),
        ms(row.received_at),
        opt_ms(row.occurred_at),
        row.disposition.as_str().into(),
        row.state.as_str().into(),
        opt_bits(row.message_id.map(MessageId::bits)),
        opt_text(&row.detail),
        opt_bits(row.source_id.map(SourceId::bits)),
        row.carries_mail.into(),
        row.redeliveries.into(),
        opt_ms(row.last_redelivered_at),
        opt_text(&row.routing_trace),
        opt_bits(row.todo_id.map(TodoId::bits)),
        row.tries.into(),
        opt_ms(row.next_try_at),
    ]
}

/// What may change of an event, behind its key.
pub(crate) fn event_change_values(row: &EventRow) -> [Value; 13] {
    [
        row.tenant_id.bits().into(),
        row.id.into(),
        row.disposition.as_str().into(),
        row.state.as_str().into(),
        opt_bits(row.message_id.map(MessageId::bits)),
        opt_text(&row.detail),
        row.redeliveries.into(),
        opt_ms(row.last_redelivered_at),
        opt_bits(row.todo_id.map(TodoId::bits)),
        row.tries.into(),
        opt_ms(row.next_try_at),
        opt_bits(row.source_id.map(SourceId::bits)),
        opt_text(&row.routing_trace),
    ]
}

pub(crate) fn import_failure(row: &Row) -> Result<ImportFailureRow> {
    let sha256 = row.opt_blob(5)?;
    Ok(ImportFailureRow {
        tenant_id: tenant_id(row, 0)?,
        id: unsigned(row, 1)?,
        identity_id: identity_id(row, 2)?,
        location: row.text(3)?,
        reason: row.text(4)?,
        sha256: sha256.as_deref().map(array).transpose()?,
        size: unsigned(row, 6)?,
        at: at(row, 7)?,
    })
}

pub(crate) fn import_failure_values(row: &ImportFailureRow) -> [Value; 8] {
    [
        row.tenant_id.bits().into(),
        row.id.into(),
        row.identity_id.bits().into(),
        row.location.as_str().into(),
        row.reason.as_str().into(),
        Value::OptBlob(row.sha256.map(|sha| sha.to_vec())),
        row.size.into(),
        ms(row.at),
    ]
}
