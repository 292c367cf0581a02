//! Outlook's `winmail.dat` (TNEF, \[MS-OXTNEF\]) taken apart: the files in it and, for mails that
//! have no other, the body.
//!
//! A stream is a row of attributes, each with its length; most facts stand in property lists inside
//! two of them. Lengths that reach past the end stop the reading: what was read until there counts,
//! and [`Contents::broken`] says that there was more.

mod props;
mod rtf;

use postroom_types::limit;

use crate::charset;
use props::{Property, Value};

/// The first four bytes of every stream.
const SIGNATURE: u32 = 0x223e_9f78;
/// Attributes read from one stream; each file has about five.
const ATTRIBUTES_MAX: usize = 8 * limit::ATTACHMENTS_KEPT;
/// `PR_ATTACH_METHOD` of a mail within the mail.
const EMBEDDED_MESSAGE: u32 = 5;

/// Attribute ids, \[MS-OXTNEF\] section 2.1.3.3.
mod attribute {
    pub(super) const BODY: u32 = 0x0002_800c;
    pub(super) const OEM_CODEPAGE: u32 = 0x0006_9007;
    pub(super) const MESSAGE_PROPS: u32 = 0x0006_9003;
    pub(super) const ATTACH_RENDERING: u32 = 0x0006_9002;
    pub(super) const ATTACH_TITLE: u32 = 0x0001_8010;
    pub(super) const ATTACH_DATA: u32 = 0x0006_800f;
    pub(super) const ATTACH_PROPS: u32 = 0x0006_9005;
}

/// Property ids, \[MS-OXPROPS\].
mod property {
    pub(super) const SUBJECT: u16 = 0x0037;
    pub(super) const BODY: u16 = 0x1000;
    pub(super) const RTF_COMPRESSED: u16 = 0x1009;
    pub(super) const HTML: u16 = 0x1013;
    pub(super) const DISPLAY_NAME: u16 = 0x3001;
    pub(super) const ATTACH_DATA: u16 = 0x3701;
    pub(super) const ATTACH_FILENAME: u16 = 0x3704;
    pub(super) const ATTACH_METHOD: u16 = 0x3705;
    pub(super) const ATTACH_LONG_FILENAME: u16 = 0x3707;
    pub(super) const ATTACH_MIME_TAG: u16 = 0x370e;
    pub(super) const ATTACH_CONTENT_ID: u16 = 0x3712;
    pub(super) const INTERNET_CODEPAGE: u16 = 0x3fde;
}

/// What a stream holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// The files in order; those of a mail within stand behind its text.
    pub(crate) files: Vec<File>,
    /// The body as text.
    pub(crate) text: Option<String>,
    /// The body as HTML, and its charset where the stream names one.
    pub(crate) html: Option<(Vec<u8>, Option<String>)>,
    /// Whether something could not be read.
    pub(crate) broken: bool,
    subject: Option<String>,
}

/// One file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) name: Option<String>,
    /// Its type as the stream says, else by its name.
    pub(crate) content_type: String,
    pub(crate) content_id: Option<String>,
    pub(crate) bytes: Vec<u8>,
}

/// Takes a stream apart; `None` when the bytes are none.
pub(crate) fn read(bytes: &[u8]) -> Option<Contents> {
    read_level(bytes, 0)
}

fn read_level(bytes: &[u8], level: usize) -> Option<Contents> {
    let mut input = Input(bytes);
    if input.u32() != Some(SIGNATURE) {
        return None;
    }
    // The key that ties attachments of mail systems before the internet to their stream.
    input.u16()?;
    let mut stream = Stream {
        contents: Contents::default(),
        codepage: None,
        level,
        open: None,
    };
    for _ in 0..ATTRIBUTES_MAX {
        if input.0.is_empty() {
            return Some(stream.end());
        }
        // Each attribute begins with its level. What else stands there was put behind the stream by
        // somebody, and is none of it.
        if !matches!(input.take(1), Some([1 | 2])) {
            return Some(stream.end());
        }
        let Some((id, data)) = next_attribute(&mut input) else {
            break;
        };
        stream.take(id, data);
        if stream.contents.files.len() >= limit::ATTACHMENTS_KEPT {
            break;
        }
    }
    stream.contents.broken = true;
    Some(stream.end())
}

/// Id, length, data, checksum.
fn next_attribute<'a>(input: &mut Input<'a>) -> Option<(u32, &'a [u8])> {
    let id = input.u32()?;
    let length = usize::try_from(input.u32()?).ok()?;
    let data = input.take(length)?;
    // The checksum is left unread: streams with wrong ones are whole, and one cut short has none.
    let _ = input.u16();
    Some((id, data))
}

struct Stream {
    contents: Contents,
    /// The codepage of names and texts that are not Unicode.
    codepage: Option<u32>,
    level: usize,
    /// The attachment that is being read.
    open: Option<Attached>,
}

#[derive(Default)]
struct Attached {
    file: File,
    /// The title attribute's name, for streams whose properties give none.
    title: Option<String>,
    is_message: bool,
}

impl Stream {
    fn take(&mut self, id: u32, data: &[u8]) {
        match id {
            attribute::OEM_CODEPAGE => self.codepage = Input(data).u32(),
            attribute::BODY => {
                self.contents.text = Some(text_of(data, self.codepage));
            }
            attribute::MESSAGE_PROPS => self.message(data),
            attribute::ATTACH_RENDERING => {
                self.end_attached();
                self.open = Some(Attached::default());
            }
            attribute::ATTACH_TITLE => {
                let title = text_of(data, self.codepage);
                self.attached().title = Some(title);
            }
            attribute::ATTACH_DATA => self.attached().file.bytes = data.to_vec(),
            attribute::ATTACH_PROPS => self.attachment(data),
            _ => {}
        }
    }

    fn attached(&mut self) -> &mut Attached {
        self.open.get_or_insert_default()
    }

    fn properties<'a>(&mut self, data: &'a [u8]) -> Vec<Property<'a>> {
        let (properties, whole) = props::read(data);
        self.contents.broken |= !whole;
        properties
    }

    fn message(&mut self, data: &[u8]) {
        let properties = self.properties(data);
        let charset = properties
            .iter()
            .find(|property| property.id == property::INTERNET_CODEPAGE)
            .and_then(|property| property.value.number());
        for Property { id, value } in properties {
            match id {
                property::SUBJECT => self.contents.subject = self.text(&value),
                property::BODY => self.contents.text = self.text(&value),
                property::HTML => {
                    self.contents.html = match &value {
                        Value::Unicode(_) => self
                            .text(&value)
                            .map(|html| (html.into_bytes(), Some("utf-8".to_owned()))),
                        Value::Bytes(html) | Value::Narrow(html) => Some((
                            without_nul(html).to_vec(),
                            charset.or(self.codepage).map(label_of),
                        )),
                        Value::Number(_) => None,
                    };
                }
                property::RTF_COMPRESSED if self.contents.text.is_none() => {
                    let rtf = value.bytes().and_then(rtf::decompress);
                    self.contents.broken |= rtf.is_none();
                    self.contents.text = rtf.map(|rtf| rtf::text(&rtf));
                }
                _ => {}
            }
        }
    }

    fn attachment(&mut self, data: &[u8]) {
        let codepage = self.codepage;
        let text = |value: &Value<'_>| value.text(codepage).filter(|text| !text.is_empty());
        let mut long_name = None;
        let mut other_name = None;
        for Property { id, value } in self.properties(data) {
            let open = self.open.get_or_insert_default();
            match id {
                property::ATTACH_LONG_FILENAME => long_name = text(&value),
                property::ATTACH_FILENAME | property::DISPLAY_NAME if other_name.is_none() => {
                    other_name = text(&value);
                }
                property::ATTACH_MIME_TAG => {
                    open.file.content_type = text(&value).unwrap_or_default();
                }
                property::ATTACH_CONTENT_ID => open.file.content_id = text(&value),
                property::ATTACH_METHOD => {
                    open.is_message = value.number() == Some(EMBEDDED_MESSAGE);
                }
                property::ATTACH_DATA => {
                    open.file.bytes = value.bytes().unwrap_or_default().to_vec();
                }
                _ => {}
            }
        }
        self.attached().file.name = long_name.or(other_name);
    }

    fn text(&self, value: &Value<'_>) -> Option<String> {
        value.text(self.codepage)
    }

    fn end_attached(&mut self) {
        let Some(Attached {
            mut file,
            title,
            is_message,
        }) = self.open.take()
        else {
            return;
        };
        file.name = file.name.or(title).filter(|name| !name.is_empty());
        if file == File::default() {
            // Announced, and cut off before its first fact.
            self.contents.broken = true;
            return;
        }
        let inner = is_message.then(|| self.embedded(&file.bytes)).flatten();
        if let Some(inner) = inner {
            self.flatten(inner, file);
            return;
        }
        let declared = file.content_type.trim().to_ascii_lowercase();
        file.content_type = if is_media_type(&declared) {
            declared
        } else {
            type_by_name(file.name.as_deref().unwrap_or_default()).to_owned()
        };
        self.contents.files.push(file);
    }

    /// A mail within the mail: a stream of its own.
    fn embedded(&mut self, bytes: &[u8]) -> Option<Contents> {
        if self.level >= limit::NESTED_MESSAGES {
            self.contents.broken = true;
            return None;
        }
        read_level(bytes, self.level + 1)
    }

    /// Puts a mail within among the files: its text as one, then its own. One without words, such
    /// as an entry of an address book, stays the stream it is.
    fn flatten(&mut self, inner: Contents, stream: File) {
        let stem = inner
            .subject
            .or(stream.name)
            .unwrap_or_else(|| "message".to_owned());
        let stem: String = stem
            .chars()
            .map(|c| {
                if matches!(c, '/' | '\\' | ':') {
                    '_'
                } else {
                    c
                }
            })
            .collect();
        let (bytes, ending, content_type) = match (inner.text, inner.html) {
            (Some(text), _) => (text.into_bytes(), "txt", "text/plain"),
            (None, Some((html, _))) => (html, "html", "text/html"),
            (None, None) => (stream.bytes, "dat", "application/ms-tnef"),
        };
        self.contents.broken |= inner.broken;
        self.contents.files.push(File {
            name: Some(format!("{stem}.{ending}")),
            content_type: content_type.to_owned(),
            content_id: None,
            bytes,
        });
        self.contents.files.extend(inner.files);
        self.contents.files.truncate(limit::ATTACHMENTS_KEPT);
    }

    fn end(mut self) -> Contents {
        self.end_attached();
        let said = |text: &String| !text.trim().is_empty();
        self.contents.text = self.contents.text.filter(said);
        self.contents
    }
}

/// A string of one byte per character, up to its NUL.
fn text_of(bytes: &[u8], codepage: Option<u32>) -> String {
    let label = codepage.map(label_of);
    charset::decode(without_nul(bytes), label.as_deref())
        .text
        .into_owned()
}

fn without_nul(bytes: &[u8]) -> &[u8] {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    bytes.get(..end).unwrap_or_default()
}

/// A Windows codepage as a charset label.
fn label_of(codepage: u32) -> String {
    match codepage {
        65001 => "utf-8".to_owned(),
        20127 => "us-ascii".to_owned(),
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        20866 => "koi8-r".to_owned(),
        21866 => "koi8-u".to_owned(),
        50220..=50222 => "iso-2022-jp".to_owned(),
        51932 => "euc-jp".to_owned(),
        54936 => "gb18030".to_owned(),
        28591..=28606 => format!("iso-8859-{}", codepage - 28590),
        _ => format!("windows-{codepage}"),
    }
}

fn is_media_type(text: &str) -> bool {
    let is_token = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b))
    };
    text.split_once('/')
        .is_some_and(|(kind, sub)| is_token(kind) && is_token(sub) && kind != "multipart")
}

/// The types whose text is read, by the ending of a name; Outlook rarely says one.
fn type_by_name(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending.to_ascii_lowercase().as_str() {
        "txt" | "log" => "text/plain",
        "csv" => "text/csv",
        "htm" | "html" => "text/html",
        "ics" => "text/calendar",
        "vcf" => "text/vcard",
        "xml" => "application/xml",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "rtf" => "application/rtf",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "eml" => "message/rfc822",
        _ => "application/octet-stream",
    }
}

/// Little-endian numbers and stretches off the front.
#[derive(Clone, Copy)]
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }
}
