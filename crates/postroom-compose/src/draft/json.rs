//! JSON (RFC 8259) with the place of every value, inside strict bounds.

use postroom_types::limit;
use serde_json::Number;

use super::{Node, Object, Origin, Origins, Step, Value};
use crate::issue::Code;

/// Why a text is no document at all.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) code: Code,
    pub(crate) offset: usize,
    pub(crate) message: String,
}

/// A key that stands twice in one object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Double {
    /// The object.
    pub(crate) object: Origin,
    pub(crate) key: String,
    /// The value that does not count.
    pub(crate) lost: Node,
}

/// Reads `text`. Of keys that stand twice the last value counts; they are listed.
///
/// # Errors
/// [`Refusal`] when the text is no JSON or past a bound.
pub(crate) fn parse<'a>(text: &'a str) -> Result<(Node, Origins<'a>, Vec<Double>), Refusal> {
    if text.len() > limit::COMPOSE_BYTES {
        let message = format!(
            "The document has {} bytes; {} are allowed.",
            text.len(),
            limit::COMPOSE_BYTES
        );
        return Err(Refusal {
            code: Code::LimitSize,
            offset: limit::COMPOSE_BYTES,
            message,
        });
    }
    let mut reader = Reader {
        text,
        at: 0,
        origins: Origins::new(Some(text)),
        doubles: Vec::new(),
    };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    reader.blanks();
    let node = reader.value(0, Step::Whole, 0)?;
    reader.blanks();
    if reader.at < text.len() {
        return Err(reader.refuse("Something follows the JSON value."));
    }
    Ok((node, reader.origins, reader.doubles))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    origins: Origins<'a>,
    doubles: Vec<Double>,
}

impl Reader<'_> {
    fn refuse(&self, message: &str) -> Refusal {
        Refusal {
            code: Code::ParseJson,
            offset: self.at,
            message: message.to_owned(),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Refusal> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.refuse(&format!("\"{}\" is missing here.", char::from(byte))))
    }

    fn value(&mut self, parent: Origin, step: Step, depth: usize) -> Result<Node, Refusal> {
        if depth >= limit::COMPOSE_DEPTH {
            let message = format!("Values nest more than {} deep here.", limit::COMPOSE_DEPTH);
            return Err(Refusal {
                code: Code::LimitDepth,
                offset: self.at,
                message,
            });
        }
        if self.origins.len() >= limit::COMPOSE_NODES {
            let message = format!(
                "The document has more than {} values.",
                limit::COMPOSE_NODES
            );
            return Err(Refusal {
                code: Code::LimitNodes,
                offset: self.at,
                message,
            });
        }
        let origin = self.origins.add(parent, step, Some(self.at));
        let value = match self.peek() {
            Some(b'{') => self.object(origin, depth)?,
            Some(b'[') => self.array(origin, depth)?,
            Some(b'"') => Value::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Value::Bool(true))?,
            Some(b'f') => self.word("false", Value::Bool(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            Some(_) => return Err(self.refuse("No JSON value begins so.")),
            None => return Err(self.refuse("The text ends where a value is expected.")),
        };
        Ok(Node { origin, value })
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, Refusal> {
        if self
            .text
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with(word))
        {
            self.at += word.len();
            return Ok(value);
        }
        Err(self.refuse("No JSON value begins so."))
    }

    fn object(&mut self, origin: Origin, depth: usize) -> Result<Value, Refusal> {
        self.at += 1;
        let mut object = Object::default();
        // Objects of documents are small; only one that is not needs an index.
        let mut index = std::collections::HashMap::new();
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(object));
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(self.refuse("A key in quotes is expected."));
            }
            let key = self.string()?;
            self.blanks();
            self.expect(b':')?;
            self.blanks();
            let node = self.value(origin, Step::Key(key.as_str().into()), depth + 1)?;
            if key == "id"
                && let Some(id) = node.as_str()
            {
                self.origins.name(origin, id);
            }
            match place_of(&object, &mut index, &key) {
                None => object.0.push((key, node)),
                Some(at) => {
                    if let Some(place) = object.0.get_mut(at) {
                        let lost = std::mem::replace(&mut place.1, node);
                        self.doubles.push(Double {
                            object: origin,
                            key,
                            lost,
                        });
                    }
                }
            }
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::Object(object));
                }
                _ => return Err(self.refuse("\",\" or \"}\" is missing here.")),
            }
        }
    }

    fn array(&mut self, origin: Origin, depth: usize) -> Result<Value, Refusal> {
        self.at += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            self.blanks();
            items.push(self.value(origin, Step::Index(items.len()), depth + 1)?);
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::Array(items));
                }
                _ => return Err(self.refuse("\",\" or \"]\" is missing here.")),
            }
        }
    }

    /// A number as RFC 8259 section 6 has it.
    fn number(&mut self) -> Result<Value, Refusal> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.refuse("A digit is missing here.")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits()?;
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        let number: Option<Number> = serde_json::from_str(text).ok();
        number.map(Value::Number).ok_or_else(|| {
            self.at = start;
            self.refuse("The number is too large.")
        })
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        self.digits();
        if self.at == start {
            return Err(self.refuse("A digit is missing here."));
        }
        Ok(())
    }

    /// A string as RFC 8259 section 7 has it; half a surrogate pair is refused.
    fn string(&mut self) -> Result<String, Refusal> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let start = self.at;
            while !matches!(self.peek(), None | Some(b'"' | b'\\' | 0..=0x1f)) {
                self.at += 1;
            }
            text.push_str(self.text.get(start..self.at).unwrap_or_default());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => {
                    self.at += 1;
                    text.push(self.escape()?);
                }
                Some(_) => {
                    return Err(self.refuse(
                        "A control character stands in a string; a line break is written \\n.",
                    ));
                }
                None => return Err(self.refuse("The text ends inside a string.")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Refusal> {
        let plain = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(self.refuse("There is no such escape in JSON.")),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode(&mut self) -> Result<char, Refusal> {
        let first = self.hex()?;
        let code = match first {
            0xd800..=0xdbff => {
                let rest = self.text.get(self.at..).unwrap_or_default();
                if !rest.starts_with("\\u") {
                    return Err(self.refuse("Half of a surrogate pair."));
                }
                self.at += 2;
                let second = self.hex()?;
                if !(0xdc00..=0xdfff).contains(&second) {
                    return Err(self.refuse("Half of a surrogate pair."));
                }
                0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            }
            code => code,
        };
        char::from_u32(code).ok_or_else(|| self.refuse("Half of a surrogate pair."))
    }

    fn hex(&mut self) -> Result<u32, Refusal> {
        let digits = self.text.get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let value = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let value = value.ok_or_else(|| self.refuse("\\u takes four hexadecimal digits."))?;
        self.at += 4;
        Ok(value)
    }
}

/// Keys of an object past which they are looked up in an index.
const SMALL: usize = 24;

/// Where `key` stands in `object` already; it is noted in `index` otherwise, once there is one.
fn place_of(
    object: &Object,
    index: &mut std::collections::HashMap<String, usize>,
    key: &str,
) -> Option<usize> {
    if object.0.len() < SMALL {
        return object.0.iter().position(|(known, _)| known == key);
    }
    if index.is_empty() {
        let keys = object.0.iter().enumerate();
        index.extend(keys.map(|(at, (key, _))| (key.clone(), at)));
    }
    let known = index.get(key).copied();
    if known.is_none() {
        index.insert(key.to_owned(), object.0.len());
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_serde_json() {
        let texts = [
            r#"{"a":[1,-0.5e+2,true,null,"\u00e9\ud83d\ude00\n"],"b":{}}"#,
            "[]",
            " 12 ",
            "01",
            "-",
            "1.",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
            "\"a\nb\"",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\" 1}",
            "tru",
            "1 2",
            "",
            "1e999",
        ];
        for text in texts {
            let theirs: Option<serde_json::Value> = serde_json::from_str(text).ok();
            let ours = parse(text).ok().map(|(node, ..)| node.to_json());
            assert_eq!(ours, theirs, "{text}");
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_told_in_small_and_large_objects() {
        for count in [1, SMALL - 1, SMALL, SMALL + 1, 100] {
            let keys = (0..count).map(|key| format!("\"k{key}\":{key}"));
            let keys: Vec<String> = keys.chain(["\"k0\":\"last\"".to_owned()]).collect();
            let (node, _, doubles) = parse(&format!("{{{}}}", keys.join(","))).expect("JSON");
            let object = node.as_object().expect("an object");
            assert_eq!(object.0.len(), count);
            assert_eq!(object.string("k0"), Some("last"));
            let told: Vec<(Origin, &str, Option<f64>)> = doubles
                .iter()
                .map(|double| (double.object, double.key.as_str(), double.lost.as_f64()))
                .collect();
            assert_eq!(told, [(0, "k0", Some(0.0))]);
        }
    }

    #[test]
    fn bounds_hold_at_the_limit_and_not_past_it() {
        let nest = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&nest(limit::COMPOSE_DEPTH)).is_ok());
        let refused = parse(&nest(limit::COMPOSE_DEPTH + 1)).expect_err("too deep");
        assert_eq!(refused.code, Code::LimitDepth);
        let many = |count: usize| format!("[{}]", vec!["1"; count].join(","));
        assert!(parse(&many(limit::COMPOSE_NODES - 1)).is_ok());
        let refused = parse(&many(limit::COMPOSE_NODES)).expect_err("too many");
        assert_eq!(refused.code, Code::LimitNodes);
        let long = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
        assert!(parse(&long(limit::COMPOSE_BYTES)).is_ok());
        let refused = parse(&long(limit::COMPOSE_BYTES + 1)).expect_err("too long");
        assert_eq!(refused.code, Code::LimitSize);
    }

    #[test]
    fn every_value_has_its_place() {
        let text = "{\n  \"a\": [1,\n  \"é\", {\"id\": \"x\", \"b\": 2}]\n}";
        let (_, origins, _) = parse(text).expect("JSON");
        let source = origins.source(5);
        assert_eq!(
            (source.path.as_str(), source.pointer.as_str()),
            ("a.2.id", "/a/2/id")
        );
        let source = origins.source(6);
        assert_eq!(source.block_id.as_deref(), Some("x"));
        let position = source.position.expect("a place");
        assert_eq!((position.line, position.column), (3, 25));
    }
}
