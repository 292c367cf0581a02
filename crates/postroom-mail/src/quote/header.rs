//! Lines that introduce history.

use std::{collections::HashMap, sync::LazyLock};

use super::words;

/// Longest introduction, in bytes; longer lines are prose.
const HEADER_BYTES: usize = 600;
/// Longest field name of a header block, in bytes.
const NAME_BYTES: usize = 48;
/// Lines over which a program may break an introduction.
const HEADER_LINES: usize = 4;

/// An introduction found at some line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// How many lines it takes.
    pub(super) lines: usize,
    /// Whether it passes a mail on and does not answer one.
    pub(super) is_forward: bool,
}

impl Header {
    pub(super) fn plain(lines: usize) -> Self {
        Self {
            lines,
            is_forward: false,
        }
    }
}

/// The introduction that begins at `at`, if there is one.
pub(super) fn at(lines: &[&str], at: usize) -> Option<Header> {
    let line = lines.get(at)?;
    if line.len() > HEADER_BYTES || !may_introduce(line) {
        return None;
    }
    let line = bare(line);
    if line.is_empty() {
        return None;
    }
    title(lines, at, line)
        .or_else(|| block(lines, at, line))
        .or_else(|| unnamed_block(lines, at))
        .or_else(|| attribution(lines, at).map(Header::plain))
}

/// Whether a line has a byte without which it introduces nothing: a colon, a rule, a date or an
/// address. Most lines of prose have none and are passed here, so the loop has no early exit and
/// runs over many bytes at once.
fn may_introduce(line: &str) -> bool {
    let is_telling =
        |byte: u8| matches!(byte, b':' | b'-' | b'_' | b'=' | b'<' | b'0'..=b'9' | 0x80..);
    line.bytes()
        .fold(false, |found, byte| found | is_telling(byte))
}

/// Without blanks and the marks of bold text.
fn bare(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || c == '*')
}

fn ends_in_colon(line: &str) -> bool {
    line.trim_end_matches(|c: char| c.is_whitespace() || c == '*')
        .ends_with([':', '：'])
}

/// `-----Original Message-----`, `Begin forwarded message:` and their translations.
fn title(lines: &[&str], at: usize, line: &str) -> Option<Header> {
    let is_dash = |c: char| matches!(c, '-' | '_' | '—' | '–' | '―' | '=' | '－' | '─');
    if line.starts_with(is_dash) {
        let inner = line.trim_matches(|c: char| is_dash(c) || c.is_whitespace());
        let dashes = line.chars().take_while(|c| is_dash(*c)).count();
        if dashes < 2 || inner.is_empty() || inner.len() > 120 {
            return None;
        }
        let lower = inner.to_lowercase();
        let known = words::TITLES
            .iter()
            .find(|(title, _)| lower.contains(title));
        if let Some((_, is_forward)) = known {
            return Some(Header {
                lines: 1,
                is_forward: *is_forward,
            });
        }
        // A title in another language stands over a block of fields.
        let next = lines.get(at + 1).map(|next| bare(next)).unwrap_or_default();
        let is_title =
            dashes >= 4 && line.ends_with(is_dash) && inner.split_whitespace().count() <= 5;
        return (is_title && block(lines, at + 1, next).is_some()).then_some(Header::plain(1));
    }
    if !ends_in_colon(line) || line.len() > 120 {
        return None;
    }
    let lower = line.to_lowercase();
    words::ANNOUNCEMENTS
        .iter()
        .any(|known| lower.starts_with(known))
        .then_some(Header {
            lines: 1,
            is_forward: true,
        })
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum FieldKind {
    From,
    Sent,
    To,
    Subject,
}

/// Field names of header blocks. A name that several fields share counts as the one that is
/// asked for first: author, subject, date, reader.
static FIELDS: LazyLock<HashMap<&'static str, FieldKind>> = LazyLock::new(|| {
    let kinds = [
        (words::TO, FieldKind::To),
        (words::SENT, FieldKind::Sent),
        (words::SUBJECT, FieldKind::Subject),
        (words::FROM, FieldKind::From),
    ];
    kinds
        .into_iter()
        .flat_map(|(names, kind)| names.iter().map(move |name| (*name, kind)))
        .collect()
});

/// What field of a header block a line is, and its value.
fn field(line: &str) -> Option<(FieldKind, &str)> {
    let line = bare(line);
    let start = crate::cut::bytes(line, NAME_BYTES);
    let colon = start.find([':', '：'])?;
    let (name, value) = line.split_at(colon);
    let value = value.trim_start_matches([':', '：']);
    if value.starts_with("//") || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let name = bare(name).to_lowercase();
    let kind = *FIELDS.get(name.as_str())?;
    Some((kind, value))
}

/// A block of fields as Outlook and phones print it: an author, a date and a reader or a subject
/// within a few lines. Itineraries look alike, so an address or a subject must be there.
fn block(lines: &[&str], at: usize, line: &str) -> Option<Header> {
    let (first, value) = field(line)?;
    if !matches!(
        first,
        FieldKind::From | FieldKind::Sent | FieldKind::Subject
    ) {
        return None;
    }
    let mut seen = vec![first];
    let mut has_address = value.contains('@');
    let mut used = 1;
    for (offset, line) in lines.iter().skip(at + 1).take(7).enumerate() {
        if bare(line).is_empty() {
            // One empty line may stand between fields, never two.
            if offset > 0
                && lines
                    .get(at + offset)
                    .is_some_and(|before| bare(before).is_empty())
            {
                break;
            }
            continue;
        }
        if let Some((kind, value)) = field(line) {
            seen.push(kind);
            has_address = has_address || value.contains('@');
            used = offset + 2;
        } else if offset + 1 > used + 1 {
            break;
        }
    }
    let has = |kind| seen.contains(&kind);
    let is_block = has(FieldKind::From)
        && has(FieldKind::Sent)
        && (has(FieldKind::To) || has(FieldKind::Subject))
        && (has_address || has(FieldKind::Subject));
    // A bare From and Subject with an address is how some phones begin.
    let is_short =
        first == FieldKind::From && has(FieldKind::Subject) && has(FieldKind::To) && has_address;
    (is_block || is_short).then_some(Header::plain(used))
}

/// A block of fields in a language that the lists do not have: under a rule, four lines with a
/// colon each, an address and a date among them.
fn unnamed_block(lines: &[&str], at: usize) -> Option<Header> {
    const FIELDS: usize = 4;
    let above = lines.get(at.checked_sub(1)?)?.trim();
    let is_rule = above.len() >= 10 && above.bytes().all(|byte| matches!(byte, b'_' | b'-'));
    if !is_rule {
        return None;
    }
    let fields = lines.get(at..at + FIELDS)?;
    let is_field = |line: &&str| {
        let name = bare(line).split([':', '：']).next().unwrap_or_default();
        name.len() < bare(line).len()
            && name.len() <= NAME_BYTES
            && name.split_whitespace().count() <= 3
    };
    let is_block = fields.iter().all(is_field)
        && fields.iter().any(|line| has_address(line))
        && fields.iter().any(|line| has_date(line));
    is_block.then_some(Header::plain(FIELDS))
}

/// How many lines an attribution at `at` takes: `On DATE, PERSON wrote:` in any language and order.
fn attribution(lines: &[&str], at: usize) -> Option<usize> {
    let first = lines.get(at)?;
    if first.trim_start().starts_with("--") {
        // Zoho writes `---- On DATE PERSON wrote ----`, Yahoo `--- On DATE, PERSON wrote:`.
        let text = first.trim();
        let inner = text.trim_matches('-').trim();
        let is_one = text.ends_with("--") || ends_in_colon(text);
        return (is_one && is_attribution(inner, false)).then_some(1);
    }
    let is_whole = ends_in_colon(first);
    // Only what may go on is looked at further.
    if !is_whole && !may_begin(first.trim()) {
        return None;
    }
    let mut text = String::new();
    for used in 1..=HEADER_LINES {
        let line = lines.get(at + used - 1)?.trim();
        if line.is_empty() || line.starts_with('>') || text.len() + line.len() > HEADER_BYTES {
            return None;
        }
        if used > 1 {
            text.push(' ');
        }
        text.push_str(line.trim_matches('*'));
        if !ends_in_colon(line) {
            continue;
        }
        let quoted_next = super::next_words(lines, at + used)
            .and_then(|next| lines.get(next))
            .is_some_and(|next| super::is_quoted(next));
        return is_attribution(&text, quoted_next).then_some(used);
    }
    None
}

/// A first line of a broken attribution: a known beginning, or a date near the start.
fn may_begin(line: &str) -> bool {
    if !line.bytes().any(|byte| byte.is_ascii_digit()) && !line.contains('<') {
        return false;
    }
    date_near_start(line) || starts_known(line)
}

fn starts_known(line: &str) -> bool {
    let start = crate::cut::bytes(line, 32).to_lowercase();
    let first = start.as_bytes().first();
    words::STARTS
        .iter()
        .any(|known| known.as_bytes().first() == first && start.starts_with(known))
}

fn date_near_start(line: &str) -> bool {
    let start = crate::cut::chars(line, 24);
    start.bytes().filter(|byte| byte.is_ascii_digit()).count() >= 3
}

fn is_attribution(text: &str, quoted_next: bool) -> bool {
    // The cheapest question first: most lines that end in a colon have no date.
    let has_date = has_date(text);
    if !has_date && !quoted_next {
        return false;
    }
    let lower = text.to_lowercase();
    let has_verb = words::WROTE.iter().any(|verb| lower.contains(verb));
    let has_address = has_address(text);
    if !has_verb && !has_address {
        return false;
    }
    if quoted_next && text.len() <= 200 && (has_date || has_verb && ends_with_verb(&lower)) {
        return true;
    }
    has_date && (has_address || has_verb && (starts_known(text) || date_near_start(text)))
}

/// `ann@x` or `<ann@x>` somewhere.
fn has_address(text: &str) -> bool {
    text.split(|c: char| {
        c.is_whitespace() || matches!(c, '<' | '>' | '(' | ')' | '[' | ']' | '"' | ',')
    })
    .any(|word| {
        word.split_once('@').is_some_and(|(local, host)| {
            !local.is_empty() && host.contains('.') && !local.contains("//")
        })
    })
}

fn ends_with_verb(lower: &str) -> bool {
    let end = lower.trim_end_matches(|c: char| !c.is_alphanumeric() && c != ')');
    let tail_from = end.char_indices().rev().nth(40).map_or(0, |(at, _)| at);
    let tail = end.get(tail_from..).unwrap_or_default();
    words::WROTE
        .iter()
        .any(|verb| tail.contains(verb.trim_end_matches(':')))
}

/// A time of day, or a day with its year.
fn has_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let has_time = memchr::memchr_iter(b':', bytes)
        .any(|at| at > 0 && digit(at - 1) && digit(at + 1) && digit(at + 2));
    if has_time {
        return true;
    }
    if text
        .split(|c: char| !(c.is_ascii_digit() || matches!(c, '/' | '.' | '-')))
        .any(is_numeric_date)
    {
        return true;
    }
    let mut numbers = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|number| !number.is_empty());
    let (mut year, mut day) = (false, false);
    for number in numbers.by_ref().take(12) {
        match (number.len(), number.parse::<u32>()) {
            (4, Ok(1980..=2099)) => year = true,
            (1 | 2, Ok(1..=31)) => day = true,
            _ => {}
        }
    }
    year && day
}

/// `30.11.26`, `11/30/26`, `2026-11-30`
fn is_numeric_date(word: &str) -> bool {
    let mut parts = word.trim_end_matches('.').split(['/', '.', '-']);
    let mut small = || parts.next().is_some_and(|part| matches!(part.len(), 1..=4));
    let has_three = small() && small() && small();
    has_three && parts.next().is_none() && word.len() >= 6
}
