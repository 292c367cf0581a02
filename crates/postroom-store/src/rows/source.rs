//! Sources and what came through them.

use super::{
    Result, array, at, damaged, json, json_text, ms, opt_at, opt_bits, opt_id, opt_ms, opt_text,
    source_id, tenant_id, unsigned, word,
};
use crate::sql::{Row, Value};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use postroom_core::{Sealed, SourceRow, SourceSecret, SourceStats};
use postroom_types::{IdentityId, Timestamp};

/// A secret as the row's JSON has it.
#[derive(serde::Serialize, serde::Deserialize)]
struct Kept {
    sealed: String,
    fingerprint: String,
    set_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    valid_until: Option<i64>,
}

fn secrets(text: &str) -> Result<Vec<SourceSecret>> {
    let kept: Vec<Kept> = json(text)?;
    kept.into_iter()
        .map(|kept| {
            let sealed = URL_SAFE_NO_PAD
                .decode(&kept.sealed)
                .map_err(|_| damaged("a sealed secret"))?;
            Ok(SourceSecret {
                sealed: Sealed(sealed),
                fingerprint: kept.fingerprint,
                set_at: Timestamp::from_ms(kept.set_at),
                valid_until: kept.valid_until.map(Timestamp::from_ms),
            })
        })
        .collect()
}

fn secrets_text(secrets: &[SourceSecret]) -> String {
    let kept: Vec<Kept> = secrets
        .iter()
        .map(|secret| Kept {
            sealed: URL_SAFE_NO_PAD.encode(&secret.sealed.0),
            fingerprint: secret.fingerprint.clone(),
            set_at: secret.set_at.ms(),
            valid_until: secret.valid_until.map(Timestamp::ms),
        })
        .collect();
    json_text(&kept)
}

pub(crate) fn source(row: &Row) -> Result<SourceRow> {
    Ok(SourceRow {
        id: source_id(row, 0)?,
        tenant_id: tenant_id(row, 1)?,
        identity_id: opt_id(row, 2, IdentityId::from_parts)?,
        provider: row.text(3)?,
        name: row.text(4)?,
        token_hash: array(row.bytes(5)?)?,
        sealed_token: Sealed(row.blob(6)?),
        state: word(row, 7)?,
        trust_mode: word(row, 8)?,
        secret_origin: word(row, 9)?,
        secrets: secrets(row.str(10)?)?,
        queue: row.text(11)?,
        rules: row.opt_text(12)?,
        rules_version: unsigned(row, 13)?,
        options: row.opt_text(14)?,
        trusted_actors: row.opt_text(15)?,
        version: unsigned(row, 16)?,
        created_at: at(row, 17)?,
        rotated_at: opt_at(row, 18)?,
        handshake_at: opt_at(row, 19)?,
    })
}

/// What came through a source, from three columns that are null while nothing did.
pub(crate) fn source_stats(row: &Row, place: usize) -> Result<SourceStats> {
    let count = |place: usize| -> Result<u64> {
        let count = row.opt_int(place)?.unwrap_or(0);
        u64::try_from(count).map_err(|_| damaged("a number"))
    };
    Ok(SourceStats {
        deliveries: count(place)?,
        redeliveries: count(place + 1)?,
        last_delivery_at: opt_at(row, place + 2)?,
    })
}

pub(crate) fn source_values(row: &SourceRow) -> [Value; 20] {
    [
        row.id.bits().into(),
        row.tenant_id.bits().into(),
        opt_bits(row.identity_id.map(IdentityId::bits)),
        row.provider.as_str().into(),
        row.name.as_str().into(),
        row.token_hash.as_slice().into(),
        row.sealed_token.0.as_slice().into(),
        row.state.as_str().into(),
        row.trust_mode.as_str().into(),
        row.secret_origin.as_str().into(),
        Value::Text(secrets_text(&row.secrets)),
        row.queue.as_str().into(),
        opt_text(&row.rules),
        row.rules_version.into(),
        opt_text(&row.options),
        opt_text(&row.trusted_actors),
        row.version.into(),
        ms(row.created_at),
        opt_ms(row.rotated_at),
        opt_ms(row.handshake_at),
    ]
}
