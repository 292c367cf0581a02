//! The values behind operators, checked and normalised.

use jiff::civil::Date;
use postroom_types::{Address, Timestamp};

use crate::{AttachmentType, Day, Direction, DurationUnit, Leaf, Text, TextForm, Who};

/// What would have been right, when a value is not.
type Expected = String;

/// Characters that a prefix needs before its star.
const PREFIX_CHARS: usize = 2;

/// A bare word, or a prefix when it ends in a star.
pub(super) fn term(word: &str) -> Result<Text, &'static str> {
    let stem = word.trim_end_matches('*');
    if stem.len() == word.len() {
        return Ok(Text {
            form: TextForm::Term,
            text: word.to_owned(),
        });
    }
    if stem.chars().count() < PREFIX_CHARS {
        return Err("at least 2 characters before *");
    }
    Ok(Text {
        form: TextForm::Prefix,
        text: stem.to_owned(),
    })
}

/// The leaf of an operator.
pub(super) fn leaf(name: &str, value: &str, quoted: bool) -> Result<Leaf, Expected> {
    match name {
        "from" => part(value, quoted).map(|part| Leaf::From(who(part))),
        "to" => part(value, quoted).map(|part| Leaf::To(who(part))),
        "participant" => part(value, quoted).map(|part| Leaf::Participant(who(part))),
        "filename" => part(value, quoted).map(Leaf::Filename),
        "subject" => subject(value, quoted),
        "ref" => Ok(Leaf::Ref(value.to_owned())),
        "label" => label(value),
        "type" => attachment_type(value),
        "after" => day(value).map(Leaf::After),
        "before" => day(value).map(Leaf::Before),
        "newer_than" => span(value).map(|(count, unit)| Leaf::NewerThan(count, unit)),
        "older_than" => span(value).map(|(count, unit)| Leaf::OlderThan(count, unit)),
        "thread" => value
            .parse()
            .map(Leaf::Thread)
            .map_err(|_| "a thread id: thr_ and 26 characters".to_owned()),
        "category" => category(value),
        _ => choice(name, value),
    }
}

/// Operators whose values are a short list of words.
fn choice(name: &str, value: &str) -> Result<Leaf, Expected> {
    let choices: &[(&str, Leaf)] = match name {
        "has" => &[("attachment", Leaf::HasAttachment)],
        "in" => &[
            ("inbound", Leaf::In(Direction::Inbound)),
            ("outbound", Leaf::In(Direction::Outbound)),
        ],
        _ => &[
            ("unread", Leaf::Unread),
            ("needs_reply", Leaf::NeedsReply),
            ("quarantined", Leaf::Quarantined),
        ],
    };
    choices
        .iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(value))
        .map(|(_, leaf)| leaf.clone())
        .ok_or_else(|| {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            match words.as_slice() {
                [one] => (*one).to_owned(),
                words => format!("one of {}", words.join(", ")),
            }
        })
}

fn subject(value: &str, quoted: bool) -> Result<Leaf, Expected> {
    if quoted {
        let form = TextForm::Phrase;
        let text = value.to_owned();
        return Ok(Leaf::Subject(Text { form, text }));
    }
    Ok(Leaf::Subject(term(value)?))
}

/// Lower case, one character for one: a value never grows by it.
fn lower(value: &str) -> String {
    value
        .chars()
        .map(|written| {
            let mut lower = written.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(one), None) => one,
                _ => written,
            }
        })
        .collect()
}

/// A part of a name, lower case. A star at the end says nothing that a part does not say already.
fn part(value: &str, quoted: bool) -> Result<String, Expected> {
    let part = lower(value.trim());
    let part = if quoted {
        part.as_str()
    } else {
        part.trim_end_matches('*')
    };
    if part.is_empty() {
        return Err("a value other than *".to_owned());
    }
    Ok(part.to_owned())
}

fn who(part: String) -> Who {
    if let Some(domain) = part.strip_prefix('@') {
        return match domain_name(domain) {
            Some(domain) => Who::Domain(domain),
            None => Who::Part(part),
        };
    }
    if part.contains('@') {
        return match Address::parse(&part) {
            Ok(address) => Who::Address(whole(&address)),
            Err(_) => Who::Part(part),
        };
    }
    // An A-label as the canonical form prints it holds digits and hyphens.
    let is_top = |top: &str| {
        (top.chars().count() > 1 && top.chars().all(char::is_alphabetic))
            || top
                .get(..4)
                .is_some_and(|prefix| prefix.eq_ignore_ascii_case("xn--"))
    };
    let dotted = part.rsplit_once('.').is_some_and(|(_, top)| is_top(top));
    match domain_name(&part) {
        Some(domain) if dotted => Who::Bare(domain),
        _ => Who::Part(part),
    }
}

/// The address with what stood behind its plus.
fn whole(address: &Address) -> String {
    match address.detail() {
        None => address.base().to_owned(),
        Some(detail) => format!("{}+{detail}@{}", address.local(), address.domain()),
    }
}

/// The domain as A-label, when it is one.
fn domain_name(text: &str) -> Option<String> {
    let spelled = text
        .split('.')
        .all(|label| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-'));
    let address = Address::parse(&format!("postmaster@{text}")).ok()?;
    spelled.then(|| address.domain().to_owned())
}

fn label(value: &str) -> Result<Leaf, Expected> {
    let label = value.to_ascii_lowercase();
    let begins = label
        .bytes()
        .next()
        .is_some_and(|first| first.is_ascii_lowercase() || first.is_ascii_digit());
    let spelled = label
        .bytes()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || b"_:-".contains(&c));
    if begins && spelled && label.len() <= 64 {
        return Ok(Leaf::Label(label));
    }
    Err("a label: 1 to 64 of a-z 0-9 _ : -, beginning with a letter or digit".to_owned())
}

fn category(value: &str) -> Result<Leaf, Expected> {
    let name = value.to_ascii_lowercase();
    let begins = name
        .bytes()
        .next()
        .is_some_and(|first| first.is_ascii_lowercase());
    let spelled = name
        .bytes()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_');
    if begins && spelled && name.len() <= 32 {
        return Ok(Leaf::Category(name));
    }
    Err("a category: 1 to 32 of a-z 0-9 _, beginning with a letter".to_owned())
}

fn attachment_type(value: &str) -> Result<Leaf, Expected> {
    let value = value.to_ascii_lowercase();
    if let Some(class) = AttachmentType::class_named(&value) {
        return Ok(Leaf::Type(class));
    }
    let token = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|c| c.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&c))
    };
    match value.split_once('/') {
        Some((kind, sub)) if token(kind) && token(sub) => {
            Ok(Leaf::Type(AttachmentType::Media(value)))
        }
        _ => {
            let classes: Vec<&str> = AttachmentType::CLASSES
                .iter()
                .map(AttachmentType::name)
                .collect();
            Err(format!(
                "one of {}, or a media type such as application/pdf",
                classes.join(", ")
            ))
        }
    }
}

fn day(value: &str) -> Result<Day, Expected> {
    let expected = || "YYYY-MM-DD, YYYY/MM/DD or an RFC 3339 instant".to_owned();
    if !value.is_ascii() {
        return Err(expected());
    }
    if value.len() == 10 {
        return civil_date(value).map(Day::Local).ok_or_else(expected);
    }
    // RFC 3339 has seconds and an offset; the reader takes looser forms.
    let strict = value.len() >= 20
        && matches!(value.as_bytes().get(10), Some(b'T' | b't' | b' '))
        && value.as_bytes().get(16) == Some(&b':')
        && !value.contains('[');
    match value.parse::<Timestamp>() {
        Ok(instant) if strict => Ok(Day::Instant(instant)),
        _ => Err(expected()),
    }
}

fn civil_date(value: &str) -> Option<Date> {
    let separator = value.as_bytes().get(4).copied()?;
    if !matches!(separator, b'-' | b'/') || value.as_bytes().get(7) != Some(&separator) {
        return None;
    }
    let number = |range: std::ops::Range<usize>| {
        let digits = value.get(range)?;
        let all = digits.bytes().all(|digit| digit.is_ascii_digit());
        all.then(|| digits.parse::<i16>().ok()).flatten()
    };
    let month = i8::try_from(number(5..7)?).ok()?;
    let day = i8::try_from(number(8..10)?).ok()?;
    Date::new(number(0..4)?, month, day).ok()
}

fn span(value: &str) -> Result<(u32, DurationUnit), Expected> {
    let expected = "a number and h, d, w, m or y, such as 7d";
    let unit = value
        .chars()
        .next_back()
        .and_then(|letter| DurationUnit::of_letter(letter.to_ascii_lowercase()))
        .ok_or(expected)?;
    let digits = value.get(..value.len() - 1).unwrap_or_default();
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(expected.to_owned());
    }
    match digits.parse::<u32>() {
        Ok(count) if (1..=unit.most()).contains(&count) => Ok((count, unit)),
        _ => Err(format!("1 to {} for {}", unit.most(), unit.letter())),
    }
}
