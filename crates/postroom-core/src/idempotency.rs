//! Keys against doubles: the same key with the same request is the same send.

use crate::{Refusal, row::Sha256Bytes};
use postroom_types::{ErrorCode, limit};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The hash under which a caller's key is kept.
///
/// # Errors
/// `idempotency_key_required` for an empty key, `invalid_idempotency_key` for one that is not 1 to
/// 255 printable ASCII characters.
pub fn idempotency_key(key: &str) -> Result<Sha256Bytes, Refusal> {
    if key.is_empty() {
        return Err(ErrorCode::IdempotencyKeyRequired.into());
    }
    let printable = |byte: u8| (b' '..=b'~').contains(&byte);
    if key.len() > limit::IDEMPOTENCY_KEY_BYTES || !key.bytes().all(printable) {
        return Err(ErrorCode::InvalidIdempotencyKey.into());
    }
    Ok(Sha256::digest(key.as_bytes()).into())
}

/// What tells one request from another: SHA-256 of the operation, its target (the mailbox, or the
/// mailbox and the message) and its arguments. The order of members and white space do not
/// matter; every value does, and so does the order of a list.
pub fn fingerprint(operation: &str, target: &str, body: &Value) -> Sha256Bytes {
    let mut hash = Sha256::new();
    text(operation, &mut hash);
    text(target, &mut hash);
    value(body, &mut hash);
    hash.finalize().into()
}

/// A text with its length before it, so that no two lists of texts are the same bytes.
fn text(text: &str, hash: &mut Sha256) {
    hash.update((text.len() as u64).to_be_bytes());
    hash.update(text.as_bytes());
}

fn count(tag: u8, len: usize, hash: &mut Sha256) {
    hash.update([tag]);
    hash.update((len as u64).to_be_bytes());
}

/// A value as bytes that read back in one way only. Its nesting is bounded by what parsed it.
fn value(value_of: &Value, hash: &mut Sha256) {
    match value_of {
        Value::Null => hash.update([b'n']),
        Value::Bool(flag) => hash.update([b'b', u8::from(*flag)]),
        Value::Number(number) => {
            hash.update([b'd']);
            text(&number.to_string(), hash);
        }
        Value::String(string) => {
            hash.update([b's']);
            text(string, hash);
        }
        Value::Array(items) => {
            count(b'a', items.len(), hash);
            items.iter().for_each(|item| value(item, hash));
        }
        Value::Object(members) => {
            count(b'o', members.len(), hash);
            let mut names: Vec<&String> = members.keys().collect();
            names.sort_unstable();
            for name in names {
                text(name, hash);
                value(members.get(name).unwrap_or(&Value::Null), hash);
            }
        }
    }
}
