//! Typed ids: a three-letter prefix, an underscore and a 26-character upper-case ULID.

use std::{fmt, str::FromStr};

/// Crockford base32, the alphabet of a ULID (no I, L, O, U).
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Characters of a ULID.
const ULID_CHARS: usize = 26;

/// Why a string is not an id of the kind asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no {kind} id: expected {prefix}_ and 26 characters of Crockford base32")]
pub struct IdError {
    /// What kind of id was expected, in words.
    pub kind: &'static str,
    /// The prefix that was expected.
    pub prefix: &'static str,
}

fn encode(value: u128) -> [u8; ULID_CHARS] {
    let mut out = [b'0'; ULID_CHARS];
    for (place, slot) in out.iter_mut().rev().enumerate() {
        let digit = (value >> (5 * place)) & 31;
        *slot = ALPHABET.get(digit as usize).copied().unwrap_or(b'0');
    }
    out
}

fn decode(text: &str) -> Option<u128> {
    if text.len() != ULID_CHARS {
        return None;
    }
    let mut value: u128 = 0;
    for (place, byte) in text.bytes().enumerate() {
        let digit = ALPHABET.iter().position(|known| *known == byte)? as u128;
        // 26 digits hold 130 bits; the first digit may only carry three.
        if place == 0 && digit > 7 {
            return None;
        }
        value = (value << 5) | digit;
    }
    Some(value)
}

macro_rules! typed_id {
    ($($(#[$doc:meta])* $name:ident, $prefix:literal, $kind:literal;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $name(u128);

            impl $name {
                /// The prefix before the underscore.
                pub const PREFIX: &'static str = $prefix;

                /// Builds an id from milliseconds since 1970 and random bits (the low 80 are used).
                pub fn from_parts(unix_ms: u64, random: u128) -> Self {
                    Self((u128::from(unix_ms & ((1 << 48) - 1)) << 80) | (random & ((1 << 80) - 1)))
                }

                /// The 128 bits of the ULID.
                pub fn bits(self) -> u128 {
                    self.0
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str($prefix)?;
                    f.write_str("_")?;
                    for byte in encode(self.0) {
                        fmt::Write::write_char(f, char::from(byte))?;
                    }
                    Ok(())
                }
            }

            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    fmt::Display::fmt(self, f)
                }
            }

            impl FromStr for $name {
                type Err = IdError;

                fn from_str(text: &str) -> Result<Self, IdError> {
                    text.strip_prefix(concat!($prefix, "_"))
                        .and_then(decode)
                        .map(Self)
                        .ok_or(IdError { kind: $kind, prefix: $prefix })
                }
            }

            impl serde::Serialize for $name {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.collect_str(self)
                }
            }

            impl<'de> serde::Deserialize<'de> for $name {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                    text.parse().map_err(serde::de::Error::custom)
                }
            }

            impl schemars::JsonSchema for $name {
                fn inline_schema() -> bool {
                    true
                }

                fn schema_name() -> std::borrow::Cow<'static, str> {
                    stringify!($name).into()
                }

                fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                    schemars::json_schema!({
                        "type": "string",
                        "pattern": concat!("^", $prefix, "_[0-9A-HJKMNP-TV-Z]{26}$"),
                    })
                }
            }
        )*

        /// The kind of thing that a string's prefix names, for hints ("this is a thread id").
        pub fn kind_of(text: &str) -> Option<&'static str> {
            match text.split_once('_')?.0 {
                $($prefix => Some($kind),)*
                _ => None,
            }
        }
    };
}

typed_id! {
    /// A workspace.
    TenantId, "ten", "tenant";
    /// One mailbox.
    IdentityId, "idn", "identity";
    /// One address of an identity.
    AddressId, "adr", "address";
    /// A mail domain.
    DomainId, "dom", "domain";
    /// A thread of messages.
    ThreadId, "thr", "thread";
    /// A message.
    MessageId, "msg", "message";
    /// An attachment of a message.
    AttachmentId, "att", "attachment";
    /// An API credential.
    KeyId, "key", "key";
    /// One request, named in its answer and in the log.
    RequestId, "req", "request";
    /// A way in: a provider's webhook with its secret and rules.
    SourceId, "src", "source";
    /// Work opened by a rule or a person.
    TodoId, "tod", "todo";
    /// A mail that somebody writes and has not sent.
    DraftId, "dft", "draft";
    /// A file that was put in, to be attached.
    UploadId, "upl", "upload";
    /// An address that is not written to: the keyed hash of it.
    SuppressionId, "sup", "suppression";
    /// A document that is worked on in rounds.
    DocumentSessionId, "ses", "session";
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn printing_then_reading_gives_the_same_id(ms in 0u64..(1 << 48), random: u128) {
            let id = MessageId::from_parts(ms, random);
            prop_assert_eq!(id.to_string().parse::<MessageId>(), Ok(id));
        }

        #[test]
        fn any_text_is_read_without_panic(text: String) {
            let _ = text.parse::<ThreadId>().is_ok();
        }
    }

    #[test]
    fn another_prefix_is_refused_and_its_kind_is_named() {
        let thread = ThreadId::from_parts(1, 2).to_string();
        assert!(thread.parse::<MessageId>().is_err());
        assert_eq!(kind_of(&thread), Some("thread"));
    }

    #[test]
    fn order_of_ids_is_order_of_time() {
        assert!(MessageId::from_parts(1, u128::MAX) < MessageId::from_parts(2, 0));
        assert!(
            MessageId::from_parts(1, u128::MAX).to_string()
                < MessageId::from_parts(2, 0).to_string()
        );
    }

    #[test]
    fn lower_case_and_overflow_are_refused() {
        assert!(
            "msg_01h00000000000000000000000"
                .parse::<MessageId>()
                .is_err()
        );
        assert!(
            "msg_80000000000000000000000000"
                .parse::<MessageId>()
                .is_err()
        );
        assert!(
            "msg_7ZZZZZZZZZZZZZZZZZZZZZZZZZ"
                .parse::<MessageId>()
                .is_ok()
        );
    }
}
