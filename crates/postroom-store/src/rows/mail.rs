//! Messages, threads and their keys, contacts, kept results.

use super::{
    Result, array, at, damaged, identity_id, json, json_text, message_id, ms, opt_at, opt_bits,
    opt_id, opt_ms, opt_text, opt_unsigned, tenant_id, thread_id, unsigned, word,
};
use crate::sql::{Row, Value, signed};
use postroom_core::{ContactRow, Kind, MessageRow, ResultSetRow, ThreadKeyRow, ThreadRow};
use postroom_types::{KeyId, ThreadId};

/// Where the document stands when it is asked for behind a message's columns.
pub(crate) const MESSAGE_DOC: usize = 18;

pub(crate) fn message(row: &Row) -> Result<MessageRow> {
    Ok(MessageRow {
        id: message_id(row, 0)?,
        tenant_id: tenant_id(row, 1)?,
        identity_id: identity_id(row, 2)?,
        num: unsigned(row, 3)?,
        thread_id: thread_id(row, 4)?,
        event_id: opt_unsigned(row, 5)?,
        direction: word(row, 6)?,
        status: word(row, 7)?,
        kind: kind(row.str(8)?)?,
        rfc_message_id: row.text(9)?,
        from_address: row.opt_text(10)?,
        sent_at: opt_at(row, 11)?,
        received_at: at(row, 12)?,
        sort_at: at(row, 13)?,
        unread: row.int(14)? != 0,
        id_conflict: row.int(15)? != 0,
        sha256: array(row.bytes(16)?)?,
        size: unsigned(row, 17)?,
    })
}

fn kind(text: &str) -> Result<Kind> {
    [
        Kind::Normal,
        Kind::Dsn,
        Kind::Mdn,
        Kind::List,
        Kind::Automated,
        Kind::Calendar,
        Kind::Transactional,
        Kind::Marketing,
        Kind::AutoReply,
    ]
    .into_iter()
    .find(|kind| kind.as_str() == text)
    .ok_or(damaged("a kind"))
}

pub(crate) fn message_values(row: &MessageRow, doc: Vec<u8>) -> [Value; 19] {
    [
        row.id.bits().into(),
        row.tenant_id.bits().into(),
        row.identity_id.bits().into(),
        row.num.into(),
        row.thread_id.bits().into(),
        Value::OptInt(row.event_id.map(signed)),
        row.direction.as_str().into(),
        row.status.as_str().into(),
        row.kind.as_str().into(),
        row.rfc_message_id.as_str().into(),
        opt_text(&row.from_address),
        opt_ms(row.sent_at),
        ms(row.received_at),
        ms(row.sort_at),
        row.unread.into(),
        row.id_conflict.into(),
        row.sha256.as_slice().into(),
        row.size.into(),
        Value::Blob(doc),
    ]
}

pub(crate) fn thread(row: &Row) -> Result<ThreadRow> {
    Ok(ThreadRow {
        id: thread_id(row, 0)?,
        tenant_id: tenant_id(row, 1)?,
        identity_id: identity_id(row, 2)?,
        subject: row.opt_text(3)?,
        first_at: at(row, 4)?,
        first_num: unsigned(row, 5)?,
        last_at: at(row, 6)?,
        last_num: unsigned(row, 7)?,
        last_direction: word(row, 8)?,
        last_inbound_at: opt_at(row, 9)?,
        snippet: row.text(10)?,
        message_count: unsigned(row, 11)?,
        unread_count: unsigned(row, 12)?,
        participants: json(row.str(13)?)?,
        archived: row.int(14)? != 0,
        hold: row.opt_text(15)?.as_deref().map(json).transpose()?,
    })
}

pub(crate) fn thread_values(row: &ThreadRow) -> [Value; 16] {
    [
        row.id.bits().into(),
        row.tenant_id.bits().into(),
        row.identity_id.bits().into(),
        opt_text(&row.subject),
        ms(row.first_at),
        row.first_num.into(),
        ms(row.last_at),
        row.last_num.into(),
        row.last_direction.as_str().into(),
        opt_ms(row.last_inbound_at),
        row.snippet.as_str().into(),
        row.message_count.into(),
        row.unread_count.into(),
        Value::Text(json_text(&row.participants)),
        row.archived.into(),
        Value::OptText(row.hold.as_ref().map(json_text)),
    ]
}

pub(crate) fn thread_key(row: &Row) -> Result<ThreadKeyRow> {
    Ok(ThreadKeyRow {
        identity_id: identity_id(row, 0)?,
        key: array(row.bytes(1)?)?,
        thread_id: thread_id(row, 2)?,
        holder: opt_unsigned(row, 3)?,
    })
}

pub(crate) fn thread_key_values(row: &ThreadKeyRow) -> [Value; 4] {
    [
        row.identity_id.bits().into(),
        row.key.as_slice().into(),
        row.thread_id.bits().into(),
        Value::OptInt(row.holder.map(signed)),
    ]
}

pub(crate) fn contact(row: &Row) -> Result<ContactRow> {
    Ok(ContactRow {
        identity_id: identity_id(row, 0)?,
        address: row.text(1)?,
        tenant_id: tenant_id(row, 2)?,
        name: row.opt_text(3)?,
        folded: row.text(4)?,
        domain: row.text(5)?,
        first_seen_at: at(row, 6)?,
        last_seen_at: at(row, 7)?,
        inbound_count: unsigned(row, 8)?,
        outbound_count: unsigned(row, 9)?,
        last_thread_id: opt_id(row, 10, ThreadId::from_parts)?,
    })
}

pub(crate) fn contact_values(row: &ContactRow) -> [Value; 11] {
    [
        row.identity_id.bits().into(),
        row.address.as_str().into(),
        row.tenant_id.bits().into(),
        opt_text(&row.name),
        row.folded.as_str().into(),
        row.domain.as_str().into(),
        ms(row.first_seen_at),
        ms(row.last_seen_at),
        row.inbound_count.into(),
        row.outbound_count.into(),
        opt_bits(row.last_thread_id.map(ThreadId::bits)),
    ]
}

pub(crate) fn result_set_values(row: &ResultSetRow) -> [Value; 6] {
    [
        row.id.as_str().into(),
        row.tenant_id.bits().into(),
        opt_bits(row.key_id.map(KeyId::bits)),
        row.payload.as_slice().into(),
        ms(row.created_at),
        ms(row.expires_at),
    ]
}
