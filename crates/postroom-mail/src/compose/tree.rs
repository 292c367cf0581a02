//! The parts of a mail and their bytes (RFC 2046): text beside HTML as alternatives, images of the
//! HTML related to it, files mixed with it all.

use sha2::{Digest, Sha256};

use super::{
    File, Outgoing,
    body::Body,
    content::is_token,
    encode::{self, Wrapping},
    write::Fields,
};
use crate::param;

enum Node<'a> {
    Text {
        subtype: &'static str,
        text: &'a str,
    },
    File(&'a File),
    Multipart {
        subtype: &'static str,
        /// The `type` parameter of related parts (RFC 2387 section 3.1).
        root: Option<&'static str>,
        parts: Vec<Node<'a>>,
    },
}

/// Writes the fields of MIME and the body behind the header fields in `out`.
pub(super) fn write(outgoing: &Outgoing, body: &Body, out: &mut Vec<u8>) {
    let tree = plan(&outgoing.content.attachments, body);
    let mut fields = Fields::behind(std::mem::take(out));
    fields.plain("MIME-Version", "1.0");
    let mut writer = Writer {
        out: fields.into_bytes(),
        seed: outgoing.boundary_seed,
        boundaries: 0,
    };
    writer.node(&tree);
    *out = writer.out;
}

fn plan<'a>(files: &'a [File], body: &'a Body) -> Node<'a> {
    let plain = Node::Text {
        subtype: "plain",
        text: &body.text,
    };
    let (mut inline, mut mixed): (Vec<&File>, Vec<&File>) = (Vec::new(), Vec::new());
    for file in files {
        // Without HTML there is nothing that could show it.
        let is_shown = file.is_inline() && body.html.is_some();
        if is_shown { &mut inline } else { &mut mixed }.push(file);
    }
    let words = match &body.html {
        None => plain,
        Some(html) => {
            let html = Node::Text {
                subtype: "html",
                text: html,
            };
            Node::Multipart {
                subtype: "alternative",
                root: None,
                parts: vec![
                    plain,
                    with_files("related", Some("text/html"), html, &inline),
                ],
            }
        }
    };
    with_files("mixed", None, words, &mixed)
}

/// The part alone, or in front of files.
fn with_files<'a>(
    subtype: &'static str,
    root: Option<&'static str>,
    first: Node<'a>,
    files: &[&'a File],
) -> Node<'a> {
    if files.is_empty() {
        return first;
    }
    let files = files.iter().map(|file| Node::File(file));
    Node::Multipart {
        subtype,
        root,
        parts: std::iter::once(first).chain(files).collect(),
    }
}

struct Writer {
    out: Vec<u8>,
    seed: [u8; 16],
    boundaries: u8,
}

impl Writer {
    fn fields(&mut self, write: impl FnOnce(&mut Fields)) {
        let mut fields = Fields::behind(std::mem::take(&mut self.out));
        write(&mut fields);
        self.out = fields.into_bytes();
        self.out.extend_from_slice(b"\r\n");
    }

    /// Begins as no line of quoted-printable or base64 can (RFC 2045 section 6.7).
    fn boundary(&mut self) -> String {
        self.boundaries += 1;
        let digest = Sha256::new()
            .chain_update(self.seed)
            .chain_update([self.boundaries])
            .finalize();
        let half = digest.get(..16).unwrap_or_default();
        format!("=_{}", crate::message::hex(half))
    }

    /// A part's fields, the blank line and its body. The tree is at most three deep.
    fn node(&mut self, node: &Node<'_>) {
        match node {
            Node::Text { subtype, text } => self.text(subtype, text),
            Node::File(file) => self.file(file),
            Node::Multipart {
                subtype,
                root,
                parts,
            } => self.multipart(subtype, *root, parts),
        }
    }

    fn text(&mut self, subtype: &str, text: &str) {
        let wrapping = Wrapping::of(text);
        self.fields(|fields| {
            fields.with_params(
                "Content-Type",
                &format!("text/{subtype}"),
                &[("charset", "utf-8")],
            );
            fields.plain("Content-Transfer-Encoding", wrapping.name());
        });
        encode::text(text, wrapping, &mut self.out);
    }

    fn multipart(&mut self, subtype: &str, root: Option<&str>, parts: &[Node<'_>]) {
        let boundary = self.boundary();
        let mut params = vec![("boundary", boundary.as_str())];
        params.extend(root.map(|root| ("type", root)));
        self.fields(|fields| {
            fields.with_params("Content-Type", &format!("multipart/{subtype}"), &params);
        });
        for (at, part) in parts.iter().enumerate() {
            let end = if at == 0 { "" } else { "\r\n" };
            self.out
                .extend_from_slice(format!("{end}--{boundary}\r\n").as_bytes());
            self.node(part);
        }
        self.out
            .extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    }

    fn file(&mut self, file: &File) {
        let given = param::read(file.content_type.as_bytes());
        let is_message = given.value.starts_with("message/");
        let as_it_stands = is_message && is_seven_bit(&file.bytes);
        // Parts of this kind may not be wrapped (RFC 2046 section 5.2): one that would have to be
        // is sent as a file of bytes.
        let media = match is_message && !as_it_stands {
            true => "application/octet-stream",
            false => given.value.as_str(),
        };
        let known = ["boundary", "name", "filename"];
        let params: Vec<(&str, &str)> = given
            .params()
            .filter(|(name, value)| {
                is_token(name)
                    && !name.contains(['*', '\'', '%'])
                    && !known.contains(name)
                    && encode::is_one_line(value)
            })
            .collect();
        let disposition = if file.is_inline() {
            "inline"
        } else {
            "attachment"
        };
        let encoding = if as_it_stands { "7bit" } else { "base64" };
        self.fields(|fields| {
            fields.with_params("Content-Type", media, &params);
            let filename = encode::one_line(&file.filename);
            fields.with_params(
                "Content-Disposition",
                disposition,
                &[("filename", &filename)],
            );
            if let Some(id) = file.bare_content_id() {
                fields.ids("Content-ID", &[id.to_owned()]);
            }
            fields.plain("Content-Transfer-Encoding", encoding);
        });
        if as_it_stands {
            self.out.extend_from_slice(&file.bytes);
        } else {
            encode::base64(&file.bytes, &mut self.out);
        }
    }
}

/// Bytes that can stand in a mail as they are: ASCII without NUL, CRLF line ends, lines of at most
/// 998 octets (RFC 5322 section 2.1.1).
fn is_seven_bit(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|byte| *byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        let line = match (line.strip_suffix(b"\r"), lines.peek()) {
            (Some(line), Some(_)) => line,
            (None, Some(_)) => return false,
            (_, None) => line,
        };
        let is_plain = |byte: &u8| matches!(byte, 1..=0x7f) && *byte != b'\r';
        if line.len() > 998 || !line.iter().all(is_plain) {
            return false;
        }
    }
    true
}
