//! Instants: Unix milliseconds inside, RFC 3339 UTC outside.

use std::{fmt, str::FromStr};

/// An instant in milliseconds since 1970-01-01T00:00:00Z, shown as RFC 3339 in UTC with
/// milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// A string that is no RFC 3339 instant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 instant such as 2026-11-30T12:00:00Z")]
pub struct TimestampError;

/// 0000-01-01 and 9999-12-31, the instants that RFC 3339 can write.
const MS_MIN: i64 = -62_167_219_200_000;
const MS_MAX: i64 = 253_402_300_799_999;

impl Timestamp {
    /// From milliseconds since 1970; instants that RFC 3339 cannot write are clamped.
    pub fn from_ms(ms: i64) -> Self {
        Self(ms.clamp(MS_MIN, MS_MAX))
    }

    /// Milliseconds since 1970.
    pub fn ms(self) -> i64 {
        self.0
    }

    /// Milliseconds since 1970 for a ULID, zero for instants before.
    pub fn ulid_ms(self) -> u64 {
        u64::try_from(self.0).unwrap_or(0)
    }

    /// This instant moved by `ms` milliseconds.
    pub fn plus_ms(self, ms: i64) -> Self {
        Self::from_ms(self.0.saturating_add(ms))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(instant) => write!(f, "{instant:.3}"),
            Err(_) => f.write_str("1970-01-01T00:00:00.000Z"),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let instant: jiff::Timestamp = text.parse().map_err(|_| TimestampError)?;
        Ok(Self::from_ms(instant.as_millisecond()))
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "format": "date-time"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn printing_then_reading_gives_the_same_instant(ms in MS_MIN..=MS_MAX) {
            let instant = Timestamp::from_ms(ms);
            prop_assert_eq!(instant.to_string().parse::<Timestamp>(), Ok(instant));
        }
    }

    #[test]
    fn shown_in_utc_with_milliseconds() {
        let instant: Timestamp = "2026-11-30T14:00:00+02:00".parse().expect("valid");
        assert_eq!(instant.to_string(), "2026-11-30T12:00:00.000Z");
    }
}
