//! A walked mail and the roles of its parts: which is the text, which the HTML, which are
//! attachments. Every entry point of the room reads a mail through this, so that an attachment's
//! index means the same everywhere.

use std::borrow::Cow;

use postroom_types::limit;

use crate::{
    Attachment, Defect, DefectCode, Disposition, charset, cut,
    field::Block,
    flowed, invisible,
    opaque::{self, Envelope},
    param::Parameterised,
    tnef::{self, Contents},
    transfer::{self, Encoding},
    walk::{self, Part},
    word,
};

/// Bytes in which an HTML document may name its charset.
const META_BYTES: usize = 2_048;

/// The largest mail that is read: what comes in is smaller, what leaves may have this size.
const READ_BYTES: usize = if limit::SENT_MAIL_BYTES > limit::RAW_MAIL_BYTES {
    limit::SENT_MAIL_BYTES
} else {
    limit::RAW_MAIL_BYTES
};

/// The raw bytes as they are read: within the size limit, with line feeds.
pub(crate) fn prepare<'a>(raw: &'a [u8], defects: &mut Vec<Defect>) -> Cow<'a, [u8]> {
    let kept = raw.get(..READ_BYTES).unwrap_or(raw);
    if kept.len() < raw.len() {
        defects.push(Defect::new(DefectCode::SizeCut));
    }
    let fed = with_line_feeds(kept);
    match opaque::opened(&fed) {
        Some(opened) => {
            defects.push(Defect::new(DefectCode::OpaqueSigned));
            opened.into()
        }
        None => fed,
    }
}

/// A mail whose lines end in carriage returns alone, with line feeds.
fn with_line_feeds(kept: &[u8]) -> Cow<'_, [u8]> {
    let has_feed = memchr::memchr(b'\n', kept).is_some();
    if has_feed || memchr::memchr(b'\r', kept).is_none() {
        return kept.into();
    }
    let feeds = |byte: &u8| if *byte == b'\r' { b'\n' } else { *byte };
    kept.iter().map(feeds).collect::<Vec<u8>>().into()
}

/// A mail's parts and their roles.
pub(crate) struct Mail<'a> {
    pub(crate) parts: Vec<Part<'a>>,
    /// The part that is the text body.
    pub(crate) text: Option<usize>,
    /// The part that is the HTML body.
    pub(crate) html: Option<usize>,
    /// The parts that are attachments, in order.
    pub(crate) attachments: Vec<usize>,
    pub(crate) encrypted: bool,
}

impl<'a> Mail<'a> {
    pub(crate) fn read(raw: &'a [u8], defects: &mut Vec<Defect>) -> Self {
        let mut mail = Self {
            parts: walk::walk(raw, defects),
            text: None,
            html: None,
            attachments: Vec::new(),
            encrypted: false,
        };
        mail.encrypted = mail.parts.iter().any(is_encrypted);
        for index in 0..mail.parts.len() {
            mail.take(index);
        }
        if mail.text.is_none() && mail.html.is_none() {
            mail.take_other_text();
        }
        mail.attachments.sort_unstable();
        mail.unpack(defects);
        if mail.attachments.len() > limit::ATTACHMENTS_KEPT {
            mail.attachments.truncate(limit::ATTACHMENTS_KEPT);
            defects.push(Defect::new(DefectCode::AttachmentsCut));
        }
        mail
    }

    pub(crate) fn part(&self, index: Option<usize>) -> Option<&Part<'a>> {
        self.parts.get(index?)
    }

    /// Gives a leaf its role.
    fn take(&mut self, index: usize) {
        let Some(part) = self.parts.get(index) else {
            return;
        };
        let (plain, html) = (is_plain(part), part.is("text/html"));
        if part.is_multipart || (plain || html) && self.is_nothing(index) {
            return;
        }
        let has_body = self.text.is_some() || self.html.is_some();
        let is_file = part.disposition == Some(Disposition::Attachment)
            || has_body && declared_filename(part).is_some();
        if is_file || !(plain || html) {
            self.attachments.push(index);
        } else if plain && is_pgp_message(part) {
            self.encrypted = true;
            self.attachments.push(index);
        } else if plain {
            // Words under a finished HTML body are a footer that a list put there.
            let is_footer = self
                .html
                .is_some_and(|html| !self.are_alternatives(html, index));
            match self.text {
                None if is_footer => self.attachments.push(index),
                None => self.text = Some(index),
                Some(before) if self.replaces(before, index) => {
                    self.attachments.push(before);
                    self.text = Some(index);
                }
                Some(_) => self.attachments.push(index),
            }
        } else {
            match self.html {
                None => self.html = Some(index),
                Some(before) if self.replaces(before, index) => {
                    self.attachments.push(before);
                    self.html = Some(index);
                }
                Some(_) => self.attachments.push(index),
            }
        }
    }

    /// A text part of a larger mail without a name and without a word: what list programs and
    /// phones leave between the others.
    fn is_nothing(&self, index: usize) -> bool {
        self.parts.get(index).is_some_and(|part| {
            part.parent.is_some()
                && part.disposition != Some(Disposition::Attachment)
                && part.body.trim_ascii().is_empty()
                && declared_filename(part).is_none()
        })
    }

    /// The last alternative of a type counts (RFC 2046 section 5.1.4); an empty part never does.
    fn replaces(&self, before: usize, after: usize) -> bool {
        let (Some(old), Some(new)) = (self.parts.get(before), self.parts.get(after)) else {
            return false;
        };
        let in_alternative = old.parent == new.parent
            && self
                .part(old.parent)
                .is_some_and(|parent| parent.is("multipart/alternative"));
        let is_blank = |part: &Part<'_>| part.body.trim_ascii().is_empty();
        (in_alternative || is_blank(old)) && !is_blank(new)
    }

    /// Whether two parts stand under one multipart/alternative.
    fn are_alternatives(&self, one: usize, other: usize) -> bool {
        let above = |mut index: usize| {
            let mut found = Vec::new();
            while let Some(parent) = self.parts.get(index).and_then(|part| part.parent) {
                if self
                    .parts
                    .get(parent)
                    .is_some_and(|p| p.is("multipart/alternative"))
                {
                    found.push(parent);
                }
                index = parent;
            }
            found
        };
        let others = above(other);
        above(one).iter().any(|parent| others.contains(parent))
    }

    /// A mail without plain or HTML text may still have words in another text type.
    fn take_other_text(&mut self) {
        let found = self.attachments.iter().position(|index| {
            self.parts.get(*index).is_some_and(|part| {
                part.disposition != Some(Disposition::Attachment)
                    && declared_filename(part).is_none()
                    && part.media.value.starts_with("text/")
                    && !part.is("text/calendar")
                    && !part.is("text/rfc822-headers")
                    && !is_pgp_message(part)
            })
        });
        self.text = found.map(|position| self.attachments.remove(position));
    }

    /// Puts what a winmail.dat holds in its place.
    fn unpack(&mut self, defects: &mut Vec<Defect>) {
        for index in std::mem::take(&mut self.attachments) {
            let packed = self.part(Some(index)).filter(|part| is_tnef(part));
            let Some(part) = packed else {
                self.attachments.push(index);
                continue;
            };
            let contents = tnef::read(&transfer::unwrap(&part.body, part.encoding).bytes);
            let Some(contents) = contents else {
                defects.push(Defect::new(DefectCode::TnefBroken));
                self.attachments.push(index);
                continue;
            };
            let broken = contents.broken;
            let found = self.unpacked(index, contents);
            if found {
                defects.push(Defect::new(DefectCode::TnefUnpacked));
            }
            if broken {
                defects.push(Defect::new(DefectCode::TnefBroken));
            }
            if broken || !found {
                self.attachments.push(index);
            }
        }
    }

    /// Takes files in as attachments, and the body where the mail has no words of its own; answers
    /// whether there was anything.
    fn unpacked(&mut self, parent: usize, contents: Contents) -> bool {
        let before = self.parts.len();
        let is_wordless =
            |part: Option<&Part<'_>>| part.is_none_or(|part| part.body.trim_ascii().is_empty());
        let has_html = !is_wordless(self.part(self.html));
        let has_text = !is_wordless(self.part(self.text));
        if let Some((html, label)) = contents.html.filter(|_| !has_html) {
            let params = label.as_deref().map(|label| ("charset", label));
            let media = Parameterised::of("text/html", params.as_slice());
            self.html = Some(self.parts.len());
            self.parts.push(made_part(parent, media, html));
        }
        if let Some(text) = contents.text.filter(|_| !has_text && !has_html) {
            let media = Parameterised::of("text/plain", &[("charset", "utf-8")]);
            self.text = Some(self.parts.len());
            self.parts.push(made_part(parent, media, text.into_bytes()));
        }
        for file in contents.files {
            let media = Parameterised::of(&file.content_type, &[]);
            let mut part = made_part(parent, media, file.bytes);
            let name = file.name.as_deref().map(|name| ("filename", name));
            part.disposition = Some(Disposition::Attachment);
            part.disposition_params = Parameterised::of("attachment", name.as_slice());
            part.content_id = file
                .content_id
                .as_deref()
                .and_then(crate::normalize_message_id);
            self.attachments.push(self.parts.len());
            self.parts.push(part);
        }
        self.parts.len() > before
    }

    /// The attachment's facts.
    pub(crate) fn attachment(&self, index: usize, defects: &mut Vec<Defect>) -> Option<Attachment> {
        let part = self.part(self.attachments.get(index).copied())?;
        let unwrapped = transfer::unwrap(&part.body, part.encoding);
        note_encoding(part, unwrapped.broken, defects);
        let filename = filename_of(part, &unwrapped.bytes);
        let content_id = part.content_id.as_deref();
        Some(Attachment {
            index,
            filename,
            content_type: cut::chars(&part.media.value, limit::NAME_CHARS).to_owned(),
            size: unwrapped.bytes.len() as u64,
            disposition: part.disposition,
            content_id: content_id.map(|id| cut::chars(id, limit::NAME_CHARS).to_owned()),
            is_tnef: is_tnef(part),
            nested: part.is_message(),
        })
    }

    /// Whether messages stand within messages deeper than they are read.
    pub(crate) fn is_nested_too_deep(&self, level: usize) -> bool {
        self.parts
            .iter()
            .filter(|part| part.is_message())
            .any(|part| {
                if level >= limit::NESTED_MESSAGES {
                    return true;
                }
                let inner = transfer::unwrap(&part.body, part.encoding).bytes;
                let walked = Mail {
                    parts: walk::walk(&inner, &mut Vec::new()),
                    text: None,
                    html: None,
                    attachments: Vec::new(),
                    encrypted: false,
                };
                walked.is_nested_too_deep(level + 1)
            })
    }
}

fn is_plain(part: &Part<'_>) -> bool {
    part.is("text/plain") || part.media.value.starts_with("multipart/")
}

fn is_encrypted(part: &Part<'_>) -> bool {
    match part.media.value.as_str() {
        "multipart/encrypted" | "application/pgp-encrypted" => true,
        "application/pkcs7-mime" | "application/x-pkcs7-mime" => {
            match opaque::open(&transfer::unwrap(&part.body, part.encoding).bytes) {
                Some(Envelope::Other { is_compressed }) => !is_compressed,
                Some(Envelope::Signed(_) | Envelope::Empty) => false,
                // Damaged: what the part says of itself.
                None => {
                    let kind = part.media.param("smime-type").unwrap_or_default();
                    !["signed-data", "certs-only", "compressed-data"]
                        .iter()
                        .any(|known| kind.eq_ignore_ascii_case(known))
                }
            }
        }
        _ => false,
    }
}

/// Outlook's winmail.dat, whatever type it was given on its way.
fn is_tnef(part: &Part<'_>) -> bool {
    part.is("application/ms-tnef")
        || part.is("application/vnd.ms-tnef")
        || declared_filename(part).is_some_and(|name| name.eq_ignore_ascii_case("winmail.dat"))
}

/// A part that no boundary encloses.
fn made_part<'a>(parent: usize, media: Parameterised, body: Vec<u8>) -> Part<'a> {
    Part {
        block: Block::default(),
        media,
        disposition: None,
        disposition_params: Parameterised::default(),
        encoding: Encoding::Identity,
        content_id: None,
        body: body.into(),
        parent: Some(parent),
        is_multipart: false,
    }
}

/// A body that is one OpenPGP message (RFC 9580 section 6.2).
fn is_pgp_message(part: &Part<'_>) -> bool {
    part.body
        .trim_ascii_start()
        .starts_with(b"-----BEGIN PGP MESSAGE-----")
}

fn note_encoding(part: &Part<'_>, broken: bool, defects: &mut Vec<Defect>) {
    if part.encoding == Encoding::Unknown {
        let name = part
            .block
            .first("content-transfer-encoding")
            .unwrap_or_default();
        let name = String::from_utf8_lossy(name);
        defects.push(Defect::with_token(DefectCode::EncodingUnknown, &name));
    }
    if broken {
        defects.push(Defect::new(DefectCode::BrokenBase64));
    }
}

/// The text of a text part: unwrapped, decoded, with line feeds, without NUL bytes.
pub(crate) fn text_of(part: &Part<'_>, defects: &mut Vec<Defect>) -> String {
    let unwrapped = transfer::unwrap(&part.body, part.encoding);
    note_encoding(part, unwrapped.broken, defects);
    let label = part.media.param("charset");
    let meta = match label {
        None if part.is("text/html") && !unwrapped.bytes.is_ascii() => {
            meta_charset(&unwrapped.bytes)
        }
        _ => None,
    };
    let label = label.or(meta.as_deref());
    let decoded = charset::decode(&unwrapped.bytes, label);
    if decoded.guessed {
        defects.push(Defect::with_token(
            DefectCode::CharsetGuessed,
            label.unwrap_or_default(),
        ));
    }
    if decoded.errors {
        defects.push(Defect::with_token(
            DefectCode::CharsetErrors,
            label.unwrap_or_default(),
        ));
    }
    let mut text = with_feeds(decoded.text);
    if memchr::memchr(0, text.as_bytes()).is_some() {
        defects.push(Defect::new(DefectCode::NulBytes));
        text.retain(|c| c != '\0');
    }
    let is_flowed = part
        .media
        .param("format")
        .is_some_and(|format| format.eq_ignore_ascii_case("flowed"));
    if is_flowed && is_plain(part) {
        let delsp = part.media.param("delsp");
        text = flowed::unfold(
            &text,
            delsp.is_some_and(|yes| yes.eq_ignore_ascii_case("yes")),
        );
    } else if part.is("text/enriched") || part.is("text/richtext") {
        text = without_commands(&text);
    }
    text
}

fn with_feeds(text: Cow<'_, str>) -> String {
    let Some(first) = memchr::memchr(b'\r', text.as_bytes()) else {
        return text.into_owned();
    };
    let (before, mut rest) = text.split_at(first);
    let mut out = String::with_capacity(text.len());
    out.push_str(before);
    while let Some(after) = rest.strip_prefix('\r') {
        out.push('\n');
        let after = after.strip_prefix('\n').unwrap_or(after);
        let next = memchr::memchr(b'\r', after.as_bytes()).unwrap_or(after.len());
        let (line, tail) = after.split_at(next);
        out.push_str(line);
        rest = tail;
    }
    out
}

/// `<meta charset>` of a document whose part names none.
fn meta_charset(bytes: &[u8]) -> Option<String> {
    let start = bytes.get(..META_BYTES).unwrap_or(bytes);
    let text = String::from_utf8_lossy(start).to_ascii_lowercase();
    let (_, after) = text.split_once("charset=")?;
    let label: String = after
        .trim_start_matches(['"', '\'', ' '])
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'))
        .collect();
    (!label.is_empty()).then_some(label)
}

/// text/enriched (RFC 1896): commands go, `<<` is a bracket.
fn without_commands(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('<') {
            out.push('<');
            rest = after;
        } else {
            rest = after.split_once('>').map_or("", |(_, after)| after);
        }
    }
    out.push_str(rest);
    out
}

/// The name a part's header gives, wherever it stands.
fn declared_filename(part: &Part<'_>) -> Option<String> {
    let name = part
        .disposition_params
        .param("filename")
        .or_else(|| part.media.param("name"))
        .or_else(|| part.disposition_params.param("name"))
        .or_else(|| part.media.param("filename"))?;
    clean_filename(name)
}

/// As declared, or made of a nested mail's subject.
fn filename_of(part: &Part<'_>, bytes: &[u8]) -> Option<String> {
    declared_filename(part).or_else(|| {
        if !part.is_message() {
            return None;
        }
        let block = crate::field::read_block(bytes, 0, |_| false, &mut Vec::new());
        let subject = block.first("subject").map(|value| word::decode(value).0);
        let stem: String = subject
            .unwrap_or_default()
            .chars()
            .map(|c| {
                if matches!(c, '/' | '\\' | ':') {
                    '_'
                } else {
                    c
                }
            })
            .take(limit::NAME_CHARS - 4)
            .collect();
        let stem = if stem.trim().is_empty() {
            "message"
        } else {
            stem.trim()
        };
        clean_filename(&format!("{stem}.eml"))
    })
}

/// Without folders, control and invisible characters, cut at its limit.
fn clean_filename(name: &str) -> Option<String> {
    let name = invisible::strip(name).text;
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name
        .chars()
        .filter(|c| !c.is_control())
        .take(limit::NAME_CHARS)
        .collect();
    let name = name.trim();
    (!name.is_empty() && name != "." && name != "..").then(|| name.to_owned())
}
