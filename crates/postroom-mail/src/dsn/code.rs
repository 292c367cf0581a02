//! Codes, addresses and words as reports write them.

use postroom_types::limit;

use super::Recipient;
use crate::compose::one_line;

/// An address out of `rfc822; <ann@shop.example> (comment)`: lower case; `None` when it has no `@`.
pub(super) fn address(text: &str) -> Option<String> {
    let text = text.split_once(';').map_or(text, |(_, address)| address);
    bare_address(text.split('(').next().unwrap_or_default())
}

/// The text as an address, angle brackets aside.
pub(super) fn bare_address(text: &str) -> Option<String> {
    let text = text.trim();
    let inner = text
        .strip_prefix('<')
        .and_then(|text| text.split('>').next());
    let text = inner.unwrap_or(text);
    let is_one = |byte: u8| byte.is_ascii_graphic() && !b"<>,;:\"()[]".contains(&byte);
    let (local, domain) = text.rsplit_once('@')?;
    let fits = !local.is_empty() && !domain.is_empty() && text.len() <= 320;
    (fits && text.bytes().all(is_one)).then(|| text.to_lowercase())
}

/// A host out of `dns; mx.shop.example. (192.0.2.1)`.
pub(super) fn host(text: &str) -> Option<String> {
    let text = text.split_once(';').map_or(text, |(_, host)| host);
    let host = text.split_whitespace().next()?.trim_end_matches('.');
    let shown: String = one_line(host).chars().take(limit::NAME_CHARS).collect();
    (!shown.is_empty()).then_some(shown)
}

/// What the far side said: on one line, cut, without its type.
pub(super) fn diagnostic(text: &str) -> Option<String> {
    let text = match text.split_once(';') {
        Some((kind, words))
            if kind
                .trim()
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-') =>
        {
            words
        }
        _ => text,
    };
    let words = one_line(text);
    let words = crate::cut::chars(words.trim(), limit::REPORT_DIAGNOSTIC_CHARS).trim_end();
    (!words.is_empty()).then(|| words.to_owned())
}

/// The first enhanced code (RFC 3463) in a text: `2`, `4` or `5` and two numbers.
pub(super) fn enhanced(text: &str) -> Option<String> {
    let is_apart = |c: char| !(c.is_ascii_digit() || c == '.');
    text.split(is_apart).find_map(|token| {
        let mut parts = token.trim_end_matches('.').split('.');
        let class = parts
            .next()
            .filter(|class| matches!(*class, "2" | "4" | "5"))?;
        let mut number = || {
            let part = parts.next()?;
            (1..=3).contains(&part.len()).then_some(part)
        };
        let (subject, detail) = (number()?, number()?);
        parts
            .next()
            .is_none()
            .then(|| format!("{class}.{subject}.{detail}"))
    })
}

/// The first SMTP reply code in a text, of the class of `status` when that is known.
pub(super) fn reply(text: &str, status: Option<&str>) -> Option<u16> {
    let class = status.and_then(|status| status.bytes().next());
    let mut words = text.split([' ', '\t', ':', '#', '(', '"', '\n']);
    words.find_map(|word| {
        let digits = word.split('-').next()?;
        let code: u16 = (digits.len() == 3).then(|| digits.parse().ok())??;
        let first = digits.bytes().next();
        let fits = match class {
            Some(class) => first == Some(class),
            None => matches!(first, Some(b'4' | b'5')),
        };
        (fits && (200..=599).contains(&code)).then_some(code)
    })
}

impl Recipient {
    /// Fills what follows from the diagnostic: the reply code, and a status where the report says
    /// only the class (`5.0.0`) or nothing.
    pub(super) fn complete(&mut self) {
        let said = self.diagnostic.as_deref().unwrap_or_default();
        let in_words = enhanced(said);
        let is_vague = self
            .status
            .as_deref()
            .is_none_or(|status| status.ends_with(".0.0"));
        let class = |status: &Option<String>| status.as_deref().and_then(|s| s.chars().next());
        let agrees = self.status.is_none() || class(&self.status) == class(&in_words);
        if is_vague && agrees && in_words.is_some() {
            self.status = in_words;
        }
        self.smtp_code = reply(said, self.status.as_deref());
    }
}
