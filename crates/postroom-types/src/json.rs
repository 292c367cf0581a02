//! JSON in which every name of an object stands once.
//!
//! RFC 8259 section 4 leaves open what a repeated name means; two readers of one request may then
//! see two different requests. So a request that repeats a name is refused.

use std::{cell::Cell, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Characters of a repeated name that are told.
const NAME_CHARS: usize = 64;

/// Why bytes are no JSON value that can be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonFault {
    /// No JSON.
    #[error("not valid JSON")]
    Malformed,
    /// An object has this name twice (its first 64 characters).
    #[error("the name {0:?} stands twice in one object")]
    Repeated(String),
}

/// Reads one JSON value.
///
/// # Errors
/// [`JsonFault`].
pub fn parse(bytes: &[u8]) -> Result<Value, JsonFault> {
    let repeated = Cell::new(None);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Strict(&repeated)
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value));
    value.map_err(|_| {
        repeated
            .take()
            .map_or(JsonFault::Malformed, JsonFault::Repeated)
    })
}

/// Reads a value and notes the first repeated name.
#[derive(Clone, Copy)]
struct Strict<'a>(&'a Cell<Option<String>>);

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if object.contains_key(&name) {
                self.0.set(Some(name.chars().take(NAME_CHARS).collect()));
                return Err(A::Error::custom("a name stands twice"));
            }
            let value = members.next_value_seed(self)?;
            object.insert(name, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_repeated_name_is_told_wherever_it_stands() {
        for (text, name) in [
            (r#"{"a":1,"a":1}"#, "a"),
            (r#"{"a":{"b":[{"c":1,"c":2}]}}"#, "c"),
            (r#"{"q":1,"\u0071":2}"#, "q"),
            (r#"[{"":1,"":2}]"#, ""),
        ] {
            assert_eq!(
                parse(text.as_bytes()),
                Err(JsonFault::Repeated(name.to_owned())),
                "{text}"
            );
        }
        let long = "x".repeat(100);
        assert_eq!(
            parse(format!(r#"{{"{long}":1,"{long}":2}}"#).as_bytes()),
            Err(JsonFault::Repeated("x".repeat(NAME_CHARS)))
        );
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in [
            "",
            "{",
            "{} {}",
            "{\"a\":1,}",
            "nul",
            "\u{feff}{}",
            &"[".repeat(200),
        ] {
            assert_eq!(
                parse(text.as_bytes()),
                Err(JsonFault::Malformed),
                "{text:?}"
            );
        }
        assert_eq!(parse(&[b'"', 0xff, b'"']), Err(JsonFault::Malformed));
    }

    proptest! {
        #[test]
        fn reads_as_the_common_reader_does(bytes in proptest::collection::vec(
            prop::sample::select(b"{}[],:\"ab01.-e\\ntu ".to_vec()), 0..24)
        ) {
            let common: Option<Value> = serde_json::from_slice(&bytes).ok();
            match parse(&bytes) {
                Ok(value) => prop_assert_eq!(Some(value), common),
                Err(JsonFault::Malformed) => prop_assert_eq!(None, common),
                Err(JsonFault::Repeated(_)) => {}
            }
        }
    }
}
