//! Property lists inside a stream (\[MS-OXTNEF\] section 2.1.3.4).

use super::{Input, text_of};

/// Properties read from one list; a mail has about a hundred.
const PROPERTIES_MAX: usize = 4_096;
/// Values of one property that are passed over.
const VALUES_MAX: u32 = 65_536;

/// One property with its first value.
pub(super) struct Property<'a> {
    pub(super) id: u16,
    pub(super) value: Value<'a>,
}

/// A value of one of the kinds that mails need.
#[derive(Debug)]
pub(super) enum Value<'a> {
    Number(u32),
    /// Characters of the stream's codepage.
    Narrow(&'a [u8]),
    /// UTF-16, little endian.
    Unicode(&'a [u8]),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub(super) fn number(&self) -> Option<u32> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn bytes(&self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) | Self::Narrow(bytes) | Self::Unicode(bytes) => Some(bytes),
            Self::Number(_) => None,
        }
    }

    pub(super) fn text(&self, codepage: Option<u32>) -> Option<String> {
        match self {
            Self::Narrow(bytes) => Some(text_of(bytes, codepage)),
            Self::Unicode(bytes) => {
                let text = encoding_rs::UTF_16LE.decode_without_bom_handling(bytes).0;
                Some(text.split('\0').next().unwrap_or_default().to_owned())
            }
            Self::Number(_) | Self::Bytes(_) => None,
        }
    }
}

/// The properties that could be read, and whether that was all of them.
pub(super) fn read(data: &[u8]) -> (Vec<Property<'_>>, bool) {
    let mut input = Input(data);
    let mut found = Vec::new();
    let Some(count) = input.u32() else {
        return (found, false);
    };
    for _ in 0..count {
        if found.len() >= PROPERTIES_MAX {
            return (found, false);
        }
        match next(&mut input) {
            Some(property) => found.push(property),
            None => return (found, false),
        }
    }
    (found, true)
}

fn next<'a>(input: &mut Input<'a>) -> Option<Property<'a>> {
    let kind = input.u16()?;
    let mut id = input.u16()?;
    if id >= 0x8000 {
        skip_name(input)?;
        // A named property's number means something in its own set only.
        id = 0xffff;
    }
    let is_many = kind & 0x1000 != 0;
    let kind = kind & 0x0fff;
    let count = if is_many || is_long(kind) {
        input.u32()?
    } else {
        1
    };
    if count > VALUES_MAX {
        return None;
    }
    let mut first = None;
    for _ in 0..count {
        let value = one_value(kind, is_many, input)?;
        first.get_or_insert(value);
    }
    if is_many && is_short(kind) && count % 2 == 1 {
        input.take(2)?;
    }
    Some(Property {
        id,
        value: first.unwrap_or(Value::Number(0)),
    })
}

/// The set's id, then a number or a name in UTF-16.
fn skip_name(input: &mut Input<'_>) -> Option<()> {
    input.take(16)?;
    if input.u32()? == 0 {
        input.u32()?;
    } else {
        let length = usize::try_from(input.u32()?).ok()?;
        padded(input, length)?;
    }
    Some(())
}

fn is_short(kind: u16) -> bool {
    matches!(kind, 0x0002 | 0x000b)
}

/// Strings, bytes and objects: each value has its length in front.
fn is_long(kind: u16) -> bool {
    matches!(kind, 0x000d | 0x001e | 0x001f | 0x0102)
}

fn one_value<'a>(kind: u16, is_many: bool, input: &mut Input<'a>) -> Option<Value<'a>> {
    if is_long(kind) {
        let length = usize::try_from(input.u32()?).ok()?;
        let bytes = padded(input, length)?;
        return Some(match kind {
            0x001e => Value::Narrow(bytes),
            0x001f => Value::Unicode(bytes),
            // An object begins with the id of its interface.
            0x000d => Value::Bytes(bytes.get(16..).unwrap_or_default()),
            _ => Value::Bytes(bytes),
        });
    }
    match kind {
        // Several short numbers stand closely; a single one is padded.
        _ if is_short(kind) && is_many => input.u16().map(|number| Value::Number(number.into())),
        0x0001 | 0x0002 | 0x0003 | 0x0004 | 0x000a | 0x000b => input.u32().map(Value::Number),
        0x0005 | 0x0006 | 0x0007 | 0x0014 | 0x0040 => input.take(8).map(Value::Bytes),
        0x0048 => input.take(16).map(Value::Bytes),
        _ => None,
    }
}

/// `length` bytes and the padding to the next four.
fn padded<'a>(input: &mut Input<'a>, length: usize) -> Option<&'a [u8]> {
    let bytes = input.take(length)?;
    let padding = length.next_multiple_of(4) - length;
    // The last value's padding is missing from some streams.
    let _ = input.take(padding.min(input.0.len()));
    Some(bytes)
}
