//! A header block cut into fields under its budget (RFC 5322 section 2.2).

use postroom_types::limit;

use crate::{Defect, DefectCode};

/// Continuations of a damaged line that are looked past.
const FOLDS_SKIPPED: usize = 4;

/// One field as it stands in the bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<'a> {
    pub(crate) name: &'a [u8],
    /// The value with its folding, without the final line end.
    pub(crate) value: &'a [u8],
    /// Where the value begins in the raw bytes.
    start: usize,
}

/// The fields of one entity and where its body begins.
#[derive(Debug, Default)]
pub(crate) struct Block<'a> {
    pub(crate) fields: Vec<Field<'a>>,
    pub(crate) body: usize,
}

impl<'a> Block<'a> {
    /// The first field of a name.
    pub(crate) fn first(&self, name: &str) -> Option<&'a [u8]> {
        self.all(name).next()
    }

    /// Every field of a name, in order.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.fields
            .iter()
            .filter(move |field| field.name.eq_ignore_ascii_case(name.as_bytes()))
            .map(|field| field.value)
    }
}

/// The line at `at` without its line end, and where the next begins.
pub(crate) fn line(raw: &[u8], at: usize) -> (&[u8], usize) {
    let rest = raw.get(at..).unwrap_or_default();
    match memchr::memchr(b'\n', rest) {
        Some(end) => {
            let line = rest.get(..end).unwrap_or_default();
            (line.strip_suffix(b"\r").unwrap_or(line), at + end + 1)
        }
        None => (rest.strip_suffix(b"\r").unwrap_or(rest), raw.len()),
    }
}

/// Reads the fields from `at` on. `is_boundary` tells the lines that end an entity wherever they
/// stand. What is past the budget is skipped to the body and listed.
pub(crate) fn read_block<'a>(
    raw: &'a [u8],
    at: usize,
    is_boundary: impl Fn(&[u8]) -> bool,
    defects: &mut Vec<Defect>,
) -> Block<'a> {
    let mut block = Block::default();
    let mut scan = Scan::default();
    let mut at = at;
    while at < raw.len() {
        let (text, next) = line(raw, at);
        if text.is_empty() || is_boundary(text) {
            block.body = if text.is_empty() { next } else { at };
            return block;
        }
        scan.lines += 1;
        scan.bytes += next - at;
        if scan.is_over(defects) {
            at = next;
            continue;
        }
        if matches!(text, [b' ' | b'\t', ..]) {
            extend_last(raw, &mut block, at + text.len(), scan.dropped);
        } else if let Some(field) = split_field(text, at) {
            scan.dropped = false;
            block.fields.push(field);
        } else if !is_mbox_line(text) {
            if is_body_start(raw, next, &block) {
                block.body = at;
                return block;
            }
            scan.dropped = true;
            defects.push(Defect::new(DefectCode::BrokenHeader));
        }
        at = next;
    }
    block.body = raw.len();
    block
}

#[derive(Default)]
struct Scan {
    lines: usize,
    bytes: usize,
    /// The line before was no field, so that its continuation belongs to nothing.
    dropped: bool,
    over: bool,
}

impl Scan {
    fn is_over(&mut self, defects: &mut Vec<Defect>) -> bool {
        if self.over {
            return true;
        }
        let code = if self.lines > limit::HEADER_LINES {
            DefectCode::HeaderLinesCut
        } else if self.bytes > limit::HEADER_BYTES {
            DefectCode::HeaderBytesCut
        } else {
            return false;
        };
        self.over = true;
        defects.push(Defect::new(code));
        true
    }
}

/// Joins a folded line, which ends at `end`, to the field before it.
fn extend_last<'a>(raw: &'a [u8], block: &mut Block<'a>, end: usize, dropped: bool) {
    if let Some(last) = block.fields.last_mut().filter(|_| !dropped) {
        last.value = raw.get(last.start..end).unwrap_or(last.value);
    }
}

/// `name: value`; blanks before the colon are forgiven, inside the name they are not.
fn split_field(text: &[u8], at: usize) -> Option<Field<'_>> {
    let colon = memchr::memchr(b':', text)?;
    let (name, value) = text.split_at(colon);
    let name = name.trim_ascii_end();
    let is_name = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    is_name.then(|| Field {
        name,
        value: value.get(1..).unwrap_or_default(),
        start: at + colon + 1,
    })
}

/// A mailbox file's separator that was left in (`From sender date`), or a quoted one.
fn is_mbox_line(text: &[u8]) -> bool {
    text.starts_with(b"From ") || text.starts_with(b">From ")
}

/// A line that is no field: damage inside the header when a field follows, else the body of a mail
/// whose separating blank line was lost.
fn is_body_start(raw: &[u8], next: usize, block: &Block<'_>) -> bool {
    // The damaged line may have been folded.
    let (mut following, mut after) = line(raw, next);
    for _ in 0..FOLDS_SKIPPED {
        if !following.starts_with(b" ") && !following.starts_with(b"\t") {
            break;
        }
        (following, after) = line(raw, after);
    }
    let Some(field) = split_field(following, next) else {
        return true;
    };
    if block.fields.is_empty() {
        // Words before the first field: only a field every mail has makes them damage.
        return !COMMON
            .iter()
            .any(|name| field.name.eq_ignore_ascii_case(name));
    }
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    field.name.len() < 2 || !field.name.iter().all(is_plain)
}

const COMMON: &[&[u8]] = &[
    b"received",
    b"return-path",
    b"delivered-to",
    b"from",
    b"to",
    b"subject",
    b"date",
    b"message-id",
    b"mime-version",
    b"content-type",
];
