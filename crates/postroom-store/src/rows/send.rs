//! Sends, deliveries and what rules them; drafts and uploads.

use super::{
    Result, array, at, bits, identity_id, json, json_text, message_id, ms, opt_bits, opt_id,
    opt_ms, opt_text, opt_unsigned, opt_word, tenant_id, unsigned, word,
};
use crate::sql::{Row, Value, signed};
use postroom_core::{
    DeliveryRow, DraftRow, EarlyReportRow, IdempotencyRow, ListEntryRow, PolicyRow, SendClaim,
    SendRow, SendState, SuppressionRow, UploadRow, UsageRow, ulid_ms,
};
use postroom_types::{DraftId, IdentityId, KeyId, MessageId, Timestamp, UploadId};

fn opt_number(row: &Row, place: usize) -> Result<Option<u128>> {
    row.opt_blob(place)?.as_deref().map(bits).transpose()
}

pub(crate) fn send(row: &Row) -> Result<SendRow> {
    let claim = match (opt_number(row, 18)?, opt_number(row, 19)?, row.opt_int(20)?) {
        (Some(token), Some(process), Some(at)) => Some(SendClaim {
            token,
            process,
            at: Timestamp::from_ms(at),
        }),
        _ => None,
    };
    Ok(SendRow {
        message_id: message_id(row, 0)?,
        tenant_id: tenant_id(row, 1)?,
        identity_id: identity_id(row, 2)?,
        num: unsigned(row, 3)?,
        key_id: opt_id(row, 4, KeyId::from_parts)?,
        operation: word(row, 5)?,
        kind: word(row, 6)?,
        transport: row.text(7)?,
        envelope_from: row.text(8)?,
        rfc_message_id: row.text(9)?,
        sha256: array(row.bytes(10)?)?,
        size: unsigned(row, 11)?,
        answers: opt_id(row, 12, MessageId::from_parts)?,
        hop: unsigned(row, 13)?,
        idempotency: array(row.bytes(14)?)?,
        state: word(row, 15)?,
        attempt: unsigned(row, 16)?,
        next_attempt_at: row.opt_int(17)?.map(Timestamp::from_ms),
        claim,
        provider_message_id: row.opt_text(21)?,
        reason: row.opt_text(22)?,
        reconciled: row.int(23)? != 0,
        day: row.text(24)?,
        metadata: row
            .opt_text(25)?
            .as_deref()
            .map(json)
            .transpose()?
            .unwrap_or_default(),
        queued_at: at(row, 26)?,
        updated_at: at(row, 27)?,
    })
}

/// The columns, and behind them when it was claimed as long as somebody has it.
pub(crate) fn send_values(row: &SendRow) -> [Value; 29] {
    let claim = row.claim.as_ref();
    let open = claim.filter(|_| row.state == SendState::Claimed);
    let metadata = (!row.metadata.is_empty()).then(|| json_text(&row.metadata));
    [
        row.message_id.bits().into(),
        row.tenant_id.bits().into(),
        row.identity_id.bits().into(),
        row.num.into(),
        opt_bits(row.key_id.map(KeyId::bits)),
        row.operation.as_str().into(),
        row.kind.as_str().into(),
        row.transport.as_str().into(),
        row.envelope_from.as_str().into(),
        row.rfc_message_id.as_str().into(),
        row.sha256.as_slice().into(),
        row.size.into(),
        opt_bits(row.answers.map(MessageId::bits)),
        row.hop.into(),
        row.idempotency.as_slice().into(),
        row.state.as_str().into(),
        row.attempt.into(),
        opt_ms(row.next_attempt_at),
        opt_bits(claim.map(|claim| claim.token)),
        opt_bits(claim.map(|claim| claim.process)),
        opt_ms(claim.map(|claim| claim.at)),
        opt_text(&row.provider_message_id),
        opt_text(&row.reason),
        row.reconciled.into(),
        row.day.as_str().into(),
        Value::OptText(metadata),
        ms(row.queued_at),
        ms(row.updated_at),
        opt_ms(open.map(|claim| claim.at)),
    ]
}

/// What changes of a known send, behind its message.
pub(crate) fn send_change_values(row: &SendRow) -> [Value; 12] {
    let claim = row.claim.as_ref();
    let open = claim.filter(|_| row.state == SendState::Claimed);
    [
        row.message_id.bits().into(),
        row.state.as_str().into(),
        row.attempt.into(),
        opt_ms(row.next_attempt_at),
        opt_bits(claim.map(|claim| claim.token)),
        opt_bits(claim.map(|claim| claim.process)),
        opt_ms(claim.map(|claim| claim.at)),
        opt_text(&row.provider_message_id),
        opt_text(&row.reason),
        row.reconciled.into(),
        ms(row.updated_at),
        opt_ms(open.map(|claim| claim.at)),
    ]
}

pub(crate) fn delivery(row: &Row) -> Result<DeliveryRow> {
    Ok(DeliveryRow {
        message_id: message_id(row, 0)?,
        seq: unsigned(row, 1)?,
        tenant_id: tenant_id(row, 2)?,
        identity_id: identity_id(row, 3)?,
        address: row.text(4)?,
        hash: array(row.bytes(5)?)?,
        field: word(row, 6)?,
        status: word(row, 7)?,
        smtp_code: opt_unsigned(row, 8)?,
        enhanced_code: row.opt_text(9)?,
        bounce_type: opt_word(row, 10)?,
        reason: row.opt_text(11)?,
        attempt: unsigned(row, 12)?,
        updated_at: at(row, 13)?,
        base_hash: row.opt_bytes(14)?.map(array).transpose()?,
    })
}

pub(crate) fn delivery_values(row: &DeliveryRow) -> [Value; 15] {
    [
        row.message_id.bits().into(),
        row.seq.into(),
        row.tenant_id.bits().into(),
        row.identity_id.bits().into(),
        row.address.as_str().into(),
        row.hash.as_slice().into(),
        row.field.as_str().into(),
        row.status.as_str().into(),
        Value::OptInt(row.smtp_code.map(signed)),
        opt_text(&row.enhanced_code),
        Value::OptText(row.bounce_type.map(|kind| kind.as_str().to_owned())),
        opt_text(&row.reason),
        row.attempt.into(),
        ms(row.updated_at),
        Value::OptId(row.base_hash),
    ]
}

pub(crate) fn idempotency(row: &Row) -> Result<IdempotencyRow> {
    Ok(IdempotencyRow {
        identity_id: identity_id(row, 0)?,
        key: array(row.bytes(1)?)?,
        tenant_id: tenant_id(row, 2)?,
        fingerprint: array(row.bytes(3)?)?,
        message_id: message_id(row, 4)?,
        at: at(row, 5)?,
    })
}

pub(crate) fn idempotency_values(row: &IdempotencyRow) -> [Value; 6] {
    [
        row.identity_id.bits().into(),
        row.key.as_slice().into(),
        row.tenant_id.bits().into(),
        row.fingerprint.as_slice().into(),
        row.message_id.bits().into(),
        ms(row.at),
    ]
}

pub(crate) fn early_report(row: &Row) -> Result<EarlyReportRow> {
    let identity = identity_id(row, 2)?;
    let recipient = row.text(3)?;
    Ok(EarlyReportRow {
        tenant_id: tenant_id(row, 0)?,
        provider_message_id: row.text(1)?,
        identity_id: (identity != everybody()).then_some(identity),
        recipient: (!recipient.is_empty()).then_some(recipient),
        event: word(row, 4)?,
        smtp_code: opt_unsigned(row, 5)?,
        enhanced_code: row.opt_text(6)?,
        reason: row.opt_text(7)?,
        at: at(row, 8)?,
    })
}

pub(crate) fn early_report_values(row: &EarlyReportRow) -> [Value; 9] {
    [
        row.tenant_id.bits().into(),
        row.provider_message_id.as_str().into(),
        row.identity_id.unwrap_or(everybody()).bits().into(),
        row.recipient.as_deref().unwrap_or_default().into(),
        row.event.as_str().into(),
        Value::OptInt(row.smtp_code.map(signed)),
        opt_text(&row.enhanced_code),
        opt_text(&row.reason),
        ms(row.at),
    ]
}

pub(crate) fn suppression(row: &Row) -> Result<SuppressionRow> {
    Ok(SuppressionRow {
        tenant_id: tenant_id(row, 0)?,
        hash: array(row.bytes(1)?)?,
        hint: row.text(2)?,
        reason: word(row, 3)?,
        at: at(row, 4)?,
    })
}

pub(crate) fn suppression_values(row: &SuppressionRow) -> [Value; 5] {
    [
        row.tenant_id.bits().into(),
        row.hash.as_slice().into(),
        row.hint.as_str().into(),
        row.reason.as_str().into(),
        ms(row.at),
    ]
}

pub(crate) fn list_entry(row: &Row) -> Result<ListEntryRow> {
    Ok(ListEntryRow {
        tenant_id: tenant_id(row, 0)?,
        direction: word(row, 1)?,
        entry: row.text(2)?,
        kind: word(row, 3)?,
        at: at(row, 4)?,
    })
}

pub(crate) fn list_entry_values(row: &ListEntryRow) -> [Value; 5] {
    [
        row.tenant_id.bits().into(),
        row.direction.as_str().into(),
        row.entry.as_str().into(),
        row.kind.as_str().into(),
        ms(row.at),
    ]
}

pub(crate) fn policy(row: &Row) -> Result<PolicyRow> {
    Ok(PolicyRow {
        tenant_id: tenant_id(row, 0)?,
        own: json(row.str(1)?)?,
        updated_at: at(row, 2)?,
    })
}

pub(crate) fn policy_values(row: &PolicyRow) -> [Value; 3] {
    [
        row.tenant_id.bits().into(),
        Value::Text(json_text(&row.own)),
        ms(row.updated_at),
    ]
}

/// The mailbox whose counters are the tenant's sum.
fn everybody() -> IdentityId {
    IdentityId::from_parts(0, 0)
}

/// The mailbox of counters as it is stored.
pub(crate) fn usage_identity(identity: Option<IdentityId>) -> u128 {
    identity.unwrap_or(everybody()).bits()
}

pub(crate) fn usage(row: &Row) -> Result<UsageRow> {
    let identity = identity_id(row, 1)?;
    Ok(UsageRow {
        tenant_id: tenant_id(row, 0)?,
        identity_id: (identity != everybody()).then_some(identity),
        day: row.text(2)?,
        sends: unsigned(row, 3)?,
        held: unsigned(row, 4)?,
    })
}

pub(crate) fn usage_values(row: &UsageRow) -> [Value; 5] {
    [
        row.tenant_id.bits().into(),
        usage_identity(row.identity_id).into(),
        row.day.as_str().into(),
        row.sends.into(),
        row.held.into(),
    ]
}

pub(crate) fn draft(row: &Row) -> Result<DraftRow> {
    let id = bits(row.bytes(0)?)?;
    Ok(DraftRow {
        id: DraftId::from_parts(ulid_ms(id), id),
        tenant_id: tenant_id(row, 1)?,
        identity_id: identity_id(row, 2)?,
        document: row.text(3)?,
        version: unsigned(row, 4)?,
        created_at: at(row, 5)?,
        updated_at: at(row, 6)?,
        saved_by: opt_id(row, 7, KeyId::from_parts)?,
        scope: word(row, 8)?,
    })
}

pub(crate) fn draft_values(row: &DraftRow) -> [Value; 9] {
    [
        row.id.bits().into(),
        row.tenant_id.bits().into(),
        row.identity_id.bits().into(),
        row.document.as_str().into(),
        row.version.into(),
        ms(row.created_at),
        ms(row.updated_at),
        opt_bits(row.saved_by.map(KeyId::bits)),
        row.scope.as_str().into(),
    ]
}

pub(crate) fn upload(row: &Row) -> Result<UploadRow> {
    let id = bits(row.bytes(0)?)?;
    Ok(UploadRow {
        id: UploadId::from_parts(ulid_ms(id), id),
        tenant_id: tenant_id(row, 1)?,
        identity_id: identity_id(row, 2)?,
        filename: row.text(3)?,
        content_type: row.text(4)?,
        sha256: array(row.bytes(5)?)?,
        size: unsigned(row, 6)?,
        created_at: at(row, 7)?,
        expires_at: at(row, 8)?,
    })
}

pub(crate) fn upload_values(row: &UploadRow, packed: Vec<u8>) -> [Value; 10] {
    [
        row.id.bits().into(),
        row.tenant_id.bits().into(),
        row.identity_id.bits().into(),
        row.filename.as_str().into(),
        row.content_type.as_str().into(),
        row.sha256.as_slice().into(),
        row.size.into(),
        ms(row.created_at),
        ms(row.expires_at),
        Value::Blob(packed),
    ]
}
