//! S/MIME signatures that hold the mail inside them (RFC 8551 section 3.5.2): the content is taken
//! out of the CMS envelope (RFC 5652 section 5.1), which is read as BER, since most signers write
//! lengths without an end. Nothing is verified here.

use postroom_types::limit;

use crate::{
    field::{self, Field},
    param,
    transfer::{self, Encoding},
};

/// `id-signedData`, RFC 5652 section 5.1.
const SIGNED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02];
/// What starts the ids of all of CMS's own types.
const PKCS7: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07];
/// Elements within elements.
const DEPTH_MAX: usize = 8;
/// Pieces of one content; signers write 1 to 64 KiB each.
const PIECES_MAX: usize = 100_000;

const OCTETS: u8 = 0x04;
const OBJECT_ID: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
const TAGGED: u8 = 0xa0;

/// The mail with the content in place of the signature around it; `None` for every other mail.
pub(crate) fn opened(raw: &[u8]) -> Option<Vec<u8>> {
    let mut opened: Option<Vec<u8>> = None;
    for _ in 0..limit::SIGNED_LAYERS {
        let Some(next) = open_layer(opened.as_deref().unwrap_or(raw)) else {
            break;
        };
        opened = Some(next);
    }
    opened
}

fn open_layer(raw: &[u8]) -> Option<Vec<u8>> {
    let header = raw.get(..limit::HEADER_BYTES).unwrap_or(raw);
    // Nearly every mail ends here.
    let is_named = |name| memchr::memmem::find(header, name).is_some();
    if !(is_named(b"pkcs7-") || is_named(b"PKCS7-")) {
        return None;
    }
    let start = raw.len() - raw.trim_ascii_start().len();
    let outer = field::read_block(raw, start, |_| false, &mut Vec::new());
    let media = param::read(outer.first("content-type")?).value;
    if !matches!(
        media.as_str(),
        "application/pkcs7-mime" | "application/x-pkcs7-mime"
    ) {
        return None;
    }
    let encoding = outer.first("content-transfer-encoding").unwrap_or_default();
    let encoding = Encoding::from_name(&String::from_utf8_lossy(encoding));
    let Some(Envelope::Signed(content)) =
        open(&transfer::unwrap(raw.get(outer.body..)?, encoding).bytes)
    else {
        return None;
    };
    let inner = field::read_block(&content, 0, |_| false, &mut Vec::new());
    // Who wrote to whom is said by the mail, not by what it carries.
    let is_content = |field: &&Field<'_>| {
        field
            .name
            .get(..8)
            .is_some_and(|start| start.eq_ignore_ascii_case(b"content-"))
    };
    let of_mail = outer.fields.iter().filter(|field| !is_content(field));
    let of_content = inner.fields.iter().filter(is_content);
    let mut made = Vec::with_capacity(outer.body + content.len());
    for field in of_mail.chain(of_content) {
        made.extend_from_slice(field.name);
        made.push(b':');
        made.extend_from_slice(field.value);
        made.extend_from_slice(b"\r\n");
    }
    made.extend_from_slice(b"\r\n");
    made.extend_from_slice(content.get(inner.body..)?);
    Some(made)
}

/// What an envelope is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Envelope {
    /// Signed, with the content in it.
    Signed(Vec<u8>),
    /// Signed, and only certificates in it.
    Empty,
    /// One of the other types, of which only the compressed one is no encryption.
    Other { is_compressed: bool },
}

/// Opens an envelope; `None` when the bytes are none.
pub(crate) fn open(bytes: &[u8]) -> Option<Envelope> {
    let mut input = Input(bytes);
    input.enter(SEQUENCE)?;
    let kind = input.element(OBJECT_ID)?;
    if kind != SIGNED_DATA {
        // id-ct-compressedData, RFC 3274, stands outside PKCS #7.
        const SMIME_CONTENT: &[u8] = &[
            0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x01, 0x09,
        ];
        let is_compressed = kind == SMIME_CONTENT;
        let is_known =
            is_compressed || kind.starts_with(PKCS7) || kind.starts_with(SMIME_CONTENT.get(..9)?);
        return is_known.then_some(Envelope::Other { is_compressed });
    }
    input.enter(TAGGED)?;
    input.enter(SEQUENCE)?;
    // Version, then the set of digest algorithms.
    input.skip(0)?;
    input.skip(0)?;
    let mut content = input.enter(SEQUENCE)?;
    content.element(OBJECT_ID)?;
    if content.enter(TAGGED).is_none() {
        return Some(Envelope::Empty);
    }
    let mut out = Vec::new();
    let mut pieces = 0;
    content.octets(&mut out, 0, &mut pieces)?;
    Some(if out.is_empty() {
        Envelope::Empty
    } else {
        Envelope::Signed(out)
    })
}

/// One element's head.
struct Head {
    tag: u8,
    /// `None` when an end mark closes it.
    length: Option<usize>,
}

#[derive(Clone, Copy)]
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    /// X.690 sections 8.1.2 and 8.1.3; tags of several bytes do not occur.
    fn head(&mut self) -> Option<Head> {
        let tag = self.byte()?;
        if tag & 0x1f == 0x1f {
            return None;
        }
        let first = self.byte()?;
        let length = match first {
            0..=0x7f => Some(usize::from(first)),
            0x80 => None,
            _ => {
                let mut length = 0usize;
                for _ in 0..usize::from(first & 0x7f) {
                    length = length.checked_mul(256)? + usize::from(self.byte()?);
                }
                Some(length)
            }
        };
        Some(Head { tag, length })
    }

    /// Steps into an element, and answers with its inside. What follows it is out of reach from
    /// then on, which is all that this reading needs.
    fn enter(&mut self, tag: u8) -> Option<Self> {
        let before = *self;
        let head = self.head()?;
        if head.tag != tag {
            *self = before;
            return None;
        }
        // A length past the end is a mail cut short: what is there is read.
        let length = head.length.unwrap_or(self.0.len()).min(self.0.len());
        self.0 = self.0.get(..length)?;
        Some(*self)
    }

    /// The bytes of a plain element.
    fn element(&mut self, tag: u8) -> Option<&'a [u8]> {
        let head = self.head()?;
        let (bytes, rest) = self.0.split_at_checked(head.length?)?;
        self.0 = rest;
        (head.tag == tag).then_some(bytes)
    }

    /// Passes over one element.
    fn skip(&mut self, depth: usize) -> Option<()> {
        let head = self.head()?;
        if let Some(length) = head.length {
            self.0 = self.0.get(length..)?;
            return Some(());
        }
        if depth >= DEPTH_MAX {
            return None;
        }
        while !self.ends()? {
            self.skip(depth + 1)?;
        }
        Some(())
    }

    /// Whether an end mark stands here; it is taken.
    fn ends(&mut self) -> Option<bool> {
        if self.0.is_empty() {
            return None;
        }
        let rest = self.0.strip_prefix(&[0, 0]);
        self.0 = rest.unwrap_or(self.0);
        Some(rest.is_some())
    }

    /// An octet string, in one piece or many (X.690 section 8.7.3).
    fn octets(&mut self, out: &mut Vec<u8>, depth: usize, pieces: &mut usize) -> Option<()> {
        let head = self.head()?;
        *pieces += 1;
        if depth > DEPTH_MAX || *pieces > PIECES_MAX {
            return None;
        }
        if head.tag == OCTETS {
            let length = head.length?.min(self.0.len());
            let (bytes, rest) = self.0.split_at_checked(length)?;
            out.extend_from_slice(bytes);
            self.0 = rest;
            return Some(());
        }
        if head.tag != OCTETS | 0x20 {
            return None;
        }
        let Some(length) = head.length else {
            while !self.0.is_empty() && !self.ends()? {
                self.octets(out, depth + 1, pieces)?;
            }
            return Some(());
        };
        let (inside, rest) = self.0.split_at_checked(length.min(self.0.len()))?;
        let mut inside = Self(inside);
        while !inside.0.is_empty() {
            inside.octets(out, depth + 1, pieces)?;
        }
        self.0 = rest;
        Some(())
    }
}
