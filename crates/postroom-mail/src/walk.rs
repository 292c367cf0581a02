//! The MIME structure of a mail in one pass over its lines (RFC 2046 section 5.1), under the
//! limits on depth and parts.
//!
//! There is no recursion: open multiparts stand on a stack, and a line is a delimiter when one of
//! them says so. A message/rfc822 part is one leaf; whoever wants to read it walks its bytes.

use std::borrow::Cow;

use postroom_types::limit;

use crate::{
    Defect, DefectCode, Disposition,
    field::{self, Block},
    param::{self, Parameterised},
    transfer::Encoding,
};

/// One entity: the mail itself, a multipart or a leaf.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    pub(crate) block: Block<'a>,
    /// Content-Type, with the default of its place filled in.
    pub(crate) media: Parameterised,
    pub(crate) disposition: Option<Disposition>,
    /// Parameters of Content-Disposition.
    pub(crate) disposition_params: Parameterised,
    pub(crate) encoding: Encoding,
    /// Content-ID without angle brackets.
    pub(crate) content_id: Option<String>,
    /// The bytes as they stand; of a multipart, everything up to its end.
    pub(crate) body: Cow<'a, [u8]>,
    /// The multipart it stands in, as an index into the walk.
    pub(crate) parent: Option<usize>,
    pub(crate) is_multipart: bool,
}

impl Part<'_> {
    pub(crate) fn is(&self, media: &str) -> bool {
        self.media.value == media
    }

    /// Whether it is a mail of its own.
    pub(crate) fn is_message(&self) -> bool {
        self.is("message/rfc822") || self.is("message/global")
    }
}

/// The entities of a mail in order; the first is the mail itself.
pub(crate) fn walk<'a>(raw: &'a [u8], defects: &mut Vec<Defect>) -> Vec<Part<'a>> {
    let start = raw
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    let block = field::read_block(raw, start, |_| false, defects);
    let at = block.body;
    let root = part(block, None, false);
    let mut walk = Walk {
        raw,
        parts: Vec::with_capacity(4),
        stack: Vec::new(),
        leaf: None,
        defects,
    };
    walk.open(root, at);
    walk.run(at);
    walk.parts
}

/// A multipart whose end has not been seen.
struct Open {
    boundary: Vec<u8>,
    part: usize,
    body: usize,
    closed: bool,
    has_parts: bool,
}

struct Walk<'a, 'd> {
    raw: &'a [u8],
    parts: Vec<Part<'a>>,
    stack: Vec<Open>,
    /// The leaf whose body is being passed, and where that began.
    leaf: Option<(usize, usize)>,
    defects: &'d mut Vec<Defect>,
}

/// A line that ends an entity.
struct Delimiter {
    /// Which of the open multiparts it belongs to.
    level: usize,
    closes: bool,
    start: usize,
    next: usize,
}

impl<'a> Walk<'a, '_> {
    fn run(&mut self, mut at: usize) {
        while let Some(delimiter) = self.next_delimiter(at) {
            self.end_leaf(line_end_before(self.raw, delimiter.start, at));
            self.end_inner(delimiter.level, delimiter.start);
            at = delimiter.next;
            let Some(open) = self.stack.last_mut() else {
                break;
            };
            if delimiter.closes {
                open.closed = true;
                continue;
            }
            if self.parts.len() > limit::MIME_PARTS {
                self.defects.push(Defect::new(DefectCode::MimePartsCut));
                self.stack.iter_mut().for_each(|open| open.closed = true);
                self.end_inner(0, self.raw.len());
                break;
            }
            (open.has_parts, open.closed) = (true, false);
            let parent = open.part;
            at = self.read_part(at, parent);
        }
        self.end_leaf(self.raw.len());
        while !self.stack.is_empty() {
            self.end_last(self.raw.len());
        }
    }

    /// Reads the header of the part at `at` and answers where its body begins.
    fn read_part(&mut self, at: usize, parent: usize) -> usize {
        let raw = self.raw;
        let stack = &self.stack;
        let block = field::read_block(
            raw,
            at,
            |line| match_line(stack, line).is_some(),
            self.defects,
        );
        let body = block.body;
        let in_digest = self
            .parts
            .get(parent)
            .is_some_and(|part| part.is("multipart/digest"));
        self.open(part(block, Some(parent), in_digest), body);
        body
    }

    /// Takes a part in: a multipart with a boundary is opened, anything else is a leaf.
    fn open(&mut self, mut part: Part<'a>, body: usize) {
        let index = self.parts.len();
        let boundary = self.boundary_of(&mut part, body);
        if let Some(boundary) = boundary {
            part.is_multipart = true;
            self.stack.push(Open {
                boundary,
                part: index,
                body,
                closed: false,
                has_parts: false,
            });
        } else {
            self.leaf = Some((index, body));
        }
        self.parts.push(part);
    }

    fn boundary_of(&mut self, part: &mut Part<'_>, body: usize) -> Option<Vec<u8>> {
        if !part.media.value.starts_with("multipart/") {
            return None;
        }
        if self.stack.len() >= limit::MIME_DEPTH {
            self.defects.push(Defect::new(DefectCode::MimeDepthCut));
            // Listed as one attachment: its parts are nobody's text.
            part.media.value = "application/octet-stream".to_owned();
            return None;
        }
        let rest = self.raw.get(body..).unwrap_or_default();
        let named = part.media.param("boundary").map(str::trim_end);
        let named = named.filter(|boundary| !boundary.is_empty());
        match named {
            // Looking ahead is for the mail itself only, or many multiparts would each cost a pass.
            Some(boundary) if part.parent.is_some() || has_delimiter(rest, boundary.as_bytes()) => {
                Some(boundary.as_bytes().to_vec())
            }
            _ => {
                self.defects.push(Defect::new(DefectCode::MissingBoundary));
                part.parent
                    .is_none()
                    .then(|| sniff_boundary(rest))
                    .flatten()
            }
        }
    }

    fn next_delimiter(&self, at: usize) -> Option<Delimiter> {
        if self.stack.is_empty() {
            return None;
        }
        let mut from = at;
        loop {
            let rest = self.raw.get(from..)?;
            let start = if from == at && rest.starts_with(b"--") {
                from
            } else {
                from + memchr::memmem::find(rest, b"\n--")? + 1
            };
            let (line, next) = field::line(self.raw, start);
            if let Some((level, closes)) = match_line(&self.stack, line) {
                return Some(Delimiter {
                    level,
                    closes,
                    start,
                    next,
                });
            }
            // The line end stays in reach: the next line may be the delimiter.
            from = start + 1;
        }
    }

    fn end_leaf(&mut self, end: usize) {
        if let Some((index, start)) = self.leaf.take()
            && let Some(part) = self.parts.get_mut(index)
        {
            let body = self.raw.get(start..end.max(start));
            part.body = body.unwrap_or_default().into();
        }
    }

    /// Closes what stands within the multipart at `level`.
    fn end_inner(&mut self, level: usize, end: usize) {
        while self.stack.len() > level + 1 {
            self.end_last(end);
        }
    }

    fn end_last(&mut self, end: usize) {
        let Some(open) = self.stack.pop() else {
            return;
        };
        if let Some(part) = self.parts.get_mut(open.part) {
            let body = self.raw.get(open.body..end.max(open.body));
            part.body = body.unwrap_or_default().into();
            // A multipart without one delimiter is a text somebody mislabelled.
            part.is_multipart = open.has_parts;
        }
        if !open.closed {
            let code = if open.has_parts {
                DefectCode::MissingClosingBoundary
            } else {
                DefectCode::MissingBoundary
            };
            self.defects.push(Defect::new(code));
        }
    }
}

/// Where the body before a delimiter at `start` ends: the line end belongs to the delimiter
/// (RFC 2046 section 5.1.1).
fn line_end_before(raw: &[u8], start: usize, from: usize) -> usize {
    let before = raw.get(from..start).unwrap_or_default();
    let trimmed = before.strip_suffix(b"\n").unwrap_or(before);
    let trimmed = trimmed.strip_suffix(b"\r").unwrap_or(trimmed);
    from + trimmed.len()
}

/// The innermost multipart whose delimiter this line is, and whether it closes it. A line that is
/// one to the letter comes first; after that its beginning counts (RFC 2046 section 5.1.2), unless
/// the boundary is too plain to tell.
fn match_line(stack: &[Open], line: &[u8]) -> Option<(usize, bool)> {
    let rest = line.strip_prefix(b"--")?.trim_ascii_end();
    let levels = || stack.iter().enumerate().rev();
    let exact =
        levels().find_map(
            |(level, open)| match rest.strip_prefix(open.boundary.as_slice())? {
                b"" => Some((level, false)),
                b"--" => Some((level, true)),
                _ => None,
            },
        );
    exact.or_else(|| {
        levels().find_map(|(level, open)| {
            let tail = rest.strip_prefix(open.boundary.as_slice())?;
            let is_telling = open.boundary.iter().any(u8::is_ascii_alphanumeric);
            is_telling.then(|| (level, tail.starts_with(b"--")))
        })
    })
}

fn has_delimiter(body: &[u8], boundary: &[u8]) -> bool {
    memchr::memmem::find_iter(body, boundary).any(|at| {
        at >= 2
            && body.get(at - 2..at) == Some(b"--")
            && (at == 2 || body.get(at - 3) == Some(&b'\n'))
    })
}

/// The boundary a mail uses without naming it rightly: the first line that begins with two hyphens
/// and has a MIME field under it.
fn sniff_boundary(body: &[u8]) -> Option<Vec<u8>> {
    let mut at = 0;
    while at < body.len() {
        let rest = body.get(at..)?;
        let start = if at == 0 && rest.starts_with(b"--") {
            0
        } else {
            at + memchr::memmem::find(rest, b"\n--")? + 1
        };
        let (line, next) = field::line(body, start);
        let (following, _) = field::line(body, next);
        let name = line.get(2..).unwrap_or_default().trim_ascii_end();
        let is_mime = following
            .get(..8)
            .is_some_and(|start| start.eq_ignore_ascii_case(b"content-"));
        if is_mime && !name.is_empty() && name.len() <= 200 {
            return Some(name.to_vec());
        }
        at = start + 1;
    }
    None
}

fn part<'a>(block: Block<'a>, parent: Option<usize>, in_digest: bool) -> Part<'a> {
    let mut media = block
        .first("content-type")
        .map(param::read)
        .unwrap_or_default();
    if !media.value.contains('/') {
        // RFC 2045 section 5.2; RFC 2046 section 5.1.5 for digests. `text` alone is from before.
        media.value = match media.value.as_str() {
            "" if in_digest => "message/rfc822".to_owned(),
            "" | "text" | "plain" => "text/plain".to_owned(),
            "html" => "text/html".to_owned(),
            "multipart" => "multipart/mixed".to_owned(),
            _ => "application/octet-stream".to_owned(),
        };
    }
    let disposition_params = block
        .first("content-disposition")
        .map(param::read)
        .unwrap_or_default();
    let disposition = match disposition_params.value.as_str() {
        "inline" => Some(Disposition::Inline),
        // RFC 2183 section 2.8: a type nobody knows is treated as attachment; garbage is no type.
        token
            if token
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-')
                && !token.is_empty() =>
        {
            Some(Disposition::Attachment)
        }
        _ => None,
    };
    let encoding = block
        .first("content-transfer-encoding")
        .map(|value| Encoding::from_name(&String::from_utf8_lossy(value)))
        .unwrap_or_default();
    let content_id = block
        .first("content-id")
        .and_then(|value| crate::normalize_message_id(&String::from_utf8_lossy(value)));
    Part {
        block,
        media,
        disposition,
        disposition_params,
        encoding,
        content_id,
        body: Cow::default(),
        parent,
        is_multipart: false,
    }
}
