//! Rows of tables as values of `postroom-core`, both ways. Each table's column list stands beside
//! what reads and what writes it.

use crate::{
    StoreError,
    sql::{Row, Value, signed},
};
use postroom_core::{
    AddressRow, ContactRow, DomainRow, EventRow, FeedRow, IdentityRow, ImportFailureRow, KeyRow,
    KeySecretRow, Kind, MessageRow, OwnerLinkRow, ResultSetRow, SessionRow, TenantRow,
    ThreadKeyRow, ThreadRow, deployment, ulid_ms,
};
use postroom_types::{
    AddressId, DomainId, IdentityId, KeyId, MessageId, TenantId, ThreadId, Timestamp,
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
         metadata, client_id, client_digest, created_at, updated_at"
    };
    (address) => {
        "id, tenant_id, identity_id, address, domain_id, role, status, retire_at, \
         retired_at, created_at"
    };
    (key) => {
        "id, name, level, mode, tenant_id, identity_id, permissions, expires_at, \
         revoked_at, last_used_at, created_at"
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
         disposition, state, message_id, detail"
    };
    (message) => {
        "id, tenant_id, identity_id, num, thread_id, event_id, direction, status, kind, \
         rfc_message_id, from_address, sent_at, received_at, sort_at, unread, \
         id_conflict, sha256, size"
    };
    (thread) => {
        "id, tenant_id, identity_id, subject, first_at, first_num, last_at, last_num, \
         last_direction, last_inbound_at, snippet, message_count, unread_count, \
         participants, archived"
    };
    (thread_key) => {
        "identity_id, hash, thread_id, holder"
    };
    (contact) => {
        "identity_id, address, tenant_id, name, folded, domain, first_seen_at, \
         last_seen_at, inbound_count, outbound_count, last_thread_id"
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
                let bits = bits(&row.blob(place)?)?;
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
}

/// `None` for null.
fn opt_id<I>(row: &Row, place: usize, make: impl Fn(u64, u128) -> I) -> Result<Option<I>> {
    let Some(bytes) = row.opt_blob(place)? else {
        return Ok(None);
    };
    let bits = bits(&bytes)?;
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

fn word<W: FromStr>(row: &Row, place: usize) -> Result<W> {
    row.text(place)?.parse().map_err(|_| damaged("a word"))
}

fn opt_word<W: FromStr>(row: &Row, place: usize) -> Result<Option<W>> {
    let text = row.opt_text(place)?;
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
    Value::OptBlob(value.map(|bits| bits.to_be_bytes().to_vec()))
}

pub(crate) fn tenant(row: &Row) -> Result<TenantRow> {
    Ok(TenantRow {
        id: tenant_id(row, 0)?,
        slug: row.text(1)?,
        name: row.text(2)?,
        status: word(row, 3)?,
        mode: word(row, 4)?,
        timezone: row.text(5)?,
        address_suffix: row.text(6)?,
        created_at: at(row, 7)?,
        updated_at: at(row, 8)?,
    })
}

pub(crate) fn tenant_values(row: &TenantRow) -> [Value; 9] {
    [
        row.id.bits().into(),
        row.slug.as_str().into(),
        row.name.as_str().into(),
        row.status.as_str().into(),
        row.mode.as_str().into(),
        row.timezone.as_str().into(),
        row.address_suffix.as_str().into(),
        ms(row.created_at),
        ms(row.updated_at),
    ]
}

pub(crate) fn domain(row: &Row) -> Result<DomainRow> {
    let tenant = tenant_id(row, 1)?;
    Ok(DomainRow {
        id: domain_id(row, 0)?,
        tenant_id: (tenant != deployment()).then_some(tenant),
        name: row.text(2)?,
        state: word(row, 3)?,
        created_at: at(row, 4)?,
    })
}

pub(crate) fn domain_values(row: &DomainRow) -> [Value; 5] {
    [
        row.id.bits().into(),
        row.tenant_id.unwrap_or(deployment()).bits().into(),
        row.name.as_str().into(),
        row.state.as_str().into(),
        ms(row.created_at),
    ]
}

pub(crate) fn identity(row: &Row) -> Result<IdentityRow> {
    let digest = row.opt_blob(10)?;
    Ok(IdentityRow {
        id: identity_id(row, 0)?,
        tenant_id: tenant_id(row, 1)?,
        username: row.text(2)?,
        display_name: row.text(3)?,
        purpose: row.opt_text(4)?,
        status: word(row, 5)?,
        pause_reason: opt_word(row, 6)?,
        owner: row.opt_text(7)?.as_deref().map(json).transpose()?,
        metadata: json(&row.text(8)?)?,
        client_id: row.opt_text(9)?,
        client_digest: digest.as_deref().map(array).transpose()?,
        created_at: at(row, 11)?,
        updated_at: at(row, 12)?,
    })
}

pub(crate) fn identity_values(row: &IdentityRow) -> [Value; 13] {
    [
        row.id.bits().into(),
        row.tenant_id.bits().into(),
        row.username.as_str().into(),
        row.display_name.as_str().into(),
        opt_text(&row.purpose),
        row.status.as_str().into(),
        Value::OptText(row.pause_reason.map(|reason| reason.as_str().to_owned())),
        Value::OptText(row.owner.as_ref().map(json_text)),
        Value::Text(json_text(&row.metadata)),
        opt_text(&row.client_id),
        Value::OptBlob(row.client_digest.map(|digest| digest.to_vec())),
        ms(row.created_at),
        ms(row.updated_at),
    ]
}

pub(crate) fn address(row: &Row) -> Result<AddressRow> {
    Ok(AddressRow {
        id: address_id(row, 0)?,
        tenant_id: tenant_id(row, 1)?,
        identity_id: identity_id(row, 2)?,
        address: row.text(3)?,
        domain_id: domain_id(row, 4)?,
        role: word(row, 5)?,
        status: word(row, 6)?,
        retire_at: opt_at(row, 7)?,
        retired_at: opt_at(row, 8)?,
        created_at: at(row, 9)?,
    })
}

pub(crate) fn address_values(row: &AddressRow) -> [Value; 10] {
    [
        row.id.bits().into(),
        row.tenant_id.bits().into(),
        row.identity_id.bits().into(),
        row.address.as_str().into(),
        row.domain_id.bits().into(),
        row.role.as_str().into(),
        row.status.as_str().into(),
        opt_ms(row.retire_at),
        opt_ms(row.retired_at),
        ms(row.created_at),
    ]
}

pub(crate) fn key(row: &Row) -> Result<KeyRow> {
    let permissions = row.text(6)?;
    let permissions = permissions
        .split(' ')
        .map(|name| name.parse().map_err(|_| damaged("a permission")))
        .collect::<Result<Vec<_>>>()?;
    Ok(KeyRow {
        id: key_id(row, 0)?,
        name: row.text(1)?,
        level: word(row, 2)?,
        mode: word(row, 3)?,
        tenant_id: opt_id(row, 4, TenantId::from_parts)?,
        identity_id: opt_id(row, 5, IdentityId::from_parts)?,
        permissions,
        expires_at: opt_at(row, 7)?,
        revoked_at: opt_at(row, 8)?,
        last_used_at: opt_at(row, 9)?,
        created_at: at(row, 10)?,
    })
}

pub(crate) fn key_values(row: &KeyRow) -> [Value; 11] {
    let permissions: Vec<&str> = row.permissions.iter().map(|p| p.as_str()).collect();
    [
        row.id.bits().into(),
        row.name.as_str().into(),
        row.level.as_str().into(),
        row.mode.as_str().into(),
        opt_bits(row.tenant_id.map(TenantId::bits)),
        opt_bits(row.identity_id.map(IdentityId::bits)),
        Value::Text(permissions.join(" ")),
        opt_ms(row.expires_at),
        opt_ms(row.revoked_at),
        opt_ms(row.last_used_at),
        ms(row.created_at),
    ]
}

pub(crate) fn secret(row: &Row) -> Result<KeySecretRow> {
    Ok(KeySecretRow {
        lookup: row.text(0)?,
        key_id: key_id(row, 1)?,
        hash: array(&row.blob(2)?)?,
        valid_until: opt_at(row, 3)?,
        created_at: at(row, 4)?,
    })
}

pub(crate) fn secret_values(row: &KeySecretRow) -> [Value; 5] {
    [
        row.lookup.as_str().into(),
        row.key_id.bits().into(),
        row.hash.as_slice().into(),
        opt_ms(row.valid_until),
        ms(row.created_at),
    ]
}

pub(crate) fn owner_link(row: &Row) -> Result<OwnerLinkRow> {
    Ok(OwnerLinkRow {
        hash: array(&row.blob(0)?)?,
        created_at: at(row, 1)?,
        expires_at: at(row, 2)?,
        used_at: opt_at(row, 3)?,
    })
}

pub(crate) fn owner_link_values(row: &OwnerLinkRow) -> [Value; 4] {
    [
        row.hash.as_slice().into(),
        ms(row.created_at),
        ms(row.expires_at),
        opt_ms(row.used_at),
    ]
}

pub(crate) fn session(row: &Row) -> Result<SessionRow> {
    Ok(SessionRow {
        hash: array(&row.blob(0)?)?,
        created_at: at(row, 1)?,
        expires_at: at(row, 2)?,
    })
}

pub(crate) fn session_values(row: &SessionRow) -> [Value; 3] {
    [
        row.hash.as_slice().into(),
        ms(row.created_at),
        ms(row.expires_at),
    ]
}

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
        sha256: array(&row.blob(12)?)?,
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
    })
}

pub(crate) fn event_values(row: &EventRow) -> [Value; 23] {
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
    ]
}

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
        kind: kind(&row.text(8)?)?,
        rfc_message_id: row.text(9)?,
        from_address: row.opt_text(10)?,
        sent_at: opt_at(row, 11)?,
        received_at: at(row, 12)?,
        sort_at: at(row, 13)?,
        unread: row.int(14)? != 0,
        id_conflict: row.int(15)? != 0,
        sha256: array(&row.blob(16)?)?,
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
        participants: json(&row.text(13)?)?,
        archived: row.int(14)? != 0,
    })
}

pub(crate) fn thread_values(row: &ThreadRow) -> [Value; 15] {
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
    ]
}

pub(crate) fn thread_key(row: &Row) -> Result<ThreadKeyRow> {
    Ok(ThreadKeyRow {
        identity_id: identity_id(row, 0)?,
        key: array(&row.blob(1)?)?,
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
