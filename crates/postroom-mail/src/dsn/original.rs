//! Which mail a report speaks of.

use crate::{Parsed, mail::Mail, transfer, walk::Part};

/// Above the mail that a bounce returns within its text.
pub(super) const COPY_MARKS: &[&str] = &[
    "--- below this line is a copy of the message",
    "------ this is a copy of the message",
    "------ this is a copy of your message",
    "----- original message follows -----",
    "----- unsent message follows -----",
    "----- message header follows -----",
    "----- the header of the original message is following. -----",
    "----- returned message -----",
];

/// Message-ID of the returned mail: of its part, of the copy in the text, else of what the report
/// answers. Normalised.
pub(super) fn message_id(parsed: &Parsed, mail: &Mail<'_>) -> Option<String> {
    let in_part = mail.parts.iter().skip(1).filter(|part| is_returned(part));
    in_part
        .filter_map(part_id)
        .next()
        .or_else(|| parsed.text.as_deref().and_then(text_id))
        .or_else(|| parsed.in_reply_to.first().cloned())
        .or_else(|| parsed.references.last().cloned())
}

fn is_returned(part: &Part<'_>) -> bool {
    part.is_message()
        || [
            "text/rfc822-headers",
            "text/rfc822-header",
            "message/rfc822-headers",
            "message/global-headers",
        ]
        .iter()
        .any(|media| part.is(media))
}

fn part_id(part: &Part<'_>) -> Option<String> {
    let bytes = transfer::unwrap(&part.body, part.encoding).bytes;
    // Some hosts put a blank line in front of the returned header.
    let start = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    let block = crate::field::read_block(&bytes, start, |_| false, &mut Vec::new());
    let value = block.first("message-id")?;
    crate::normalize_message_id(&String::from_utf8_lossy(value))
}

/// Of the header below a mark, or the only one in the text.
fn text_id(text: &str) -> Option<String> {
    let below = copy_at(text).and_then(|at| text.get(at..)).unwrap_or(text);
    let mut lines = below.lines();
    while let Some(line) = lines.next() {
        let line = line.trim_start_matches(['>', ' ']);
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        if name.eq_ignore_ascii_case("message-id") {
            // Folded behind its name.
            let value = match value.trim() {
                "" => lines.next().unwrap_or_default(),
                value => value,
            };
            return value
                .contains('@')
                .then(|| crate::normalize_message_id(value))
                .flatten();
        }
    }
    None
}

/// Where the returned copy begins in a text.
pub(super) fn copy_at(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let lower = line.trim_start().to_lowercase();
        if COPY_MARKS.iter().any(|mark| lower.starts_with(mark)) {
            return Some(at);
        }
        at += line.len();
    }
    None
}
