//! From the parts of a letter to the bytes of a message (RFC 5322, 2045-2047, 2183).

use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use postroom_types::Timestamp;

/// A name and an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Person {
    pub(super) name: String,
    pub(super) address: String,
}

impl Person {
    pub(super) fn new(name: &str, address: &str) -> Self {
        Self {
            name: name.to_owned(),
            address: address.to_owned(),
        }
    }

    pub(super) fn of(mailbox: super::Mailbox) -> Self {
        Self::new(mailbox.display_name(), &mailbox.address())
    }

    /// The part of the address behind the `@`.
    pub(super) fn domain(&self) -> &str {
        self.address
            .rsplit_once('@')
            .map_or("", |(_, domain)| domain)
    }

    /// The first word of the name.
    pub(super) fn first_name(&self) -> &str {
        self.name.split(' ').next().unwrap_or_default()
    }
}

/// The charset of a text body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Charset {
    #[default]
    Utf8,
    /// As old mail clients in western Europe wrote.
    Windows1252,
    /// As Japanese mail was written for thirty years.
    Iso2022Jp,
    /// As many Chinese clients still write.
    Gb18030,
}

impl Charset {
    fn label(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Windows1252 => "windows-1252",
            Self::Iso2022Jp => "iso-2022-jp",
            Self::Gb18030 => "gb18030",
        }
    }

    fn encode(self, text: &str) -> Vec<u8> {
        let encoding = match self {
            Self::Utf8 => encoding_rs::UTF_8,
            Self::Windows1252 => encoding_rs::WINDOWS_1252,
            Self::Iso2022Jp => encoding_rs::ISO_2022_JP,
            Self::Gb18030 => encoding_rs::GB18030,
        };
        encoding.encode(text).0.into_owned()
    }
}

/// A file that goes with a letter.
#[derive(Debug, Clone)]
pub(super) struct Attachment {
    pub(super) filename: String,
    pub(super) content_type: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// One letter before it is bytes.
#[derive(Debug, Clone)]
pub(super) struct Letter {
    pub(super) from: Person,
    pub(super) to: Vec<Person>,
    pub(super) cc: Vec<Person>,
    pub(super) subject: String,
    pub(super) at: Timestamp,
    pub(super) message_id: String,
    /// The ids that this one answers, oldest first.
    pub(super) references: Vec<String>,
    pub(super) text: Option<String>,
    pub(super) html: Option<String>,
    pub(super) charset: Charset,
    pub(super) attachments: Vec<Attachment>,
    /// Further header lines, as they are.
    pub(super) headers: Vec<(&'static str, String)>,
}

impl Letter {
    /// A plain letter.
    pub(super) fn new(
        desk: &mut super::Desk,
        from: &Person,
        to: &Person,
        at: Timestamp,
        subject: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self {
            message_id: desk.message_id(from.domain()),
            from: from.clone(),
            to: vec![to.clone()],
            cc: Vec::new(),
            subject: subject.into(),
            at,
            references: Vec::new(),
            text: Some(text.into()),
            html: None,
            charset: Charset::Utf8,
            attachments: Vec::new(),
            headers: Vec::new(),
        }
    }

    /// The same letter as an answer to `other`: its subject with `Re:`, its ids as references.
    pub(super) fn answering(mut self, other: &Self) -> Self {
        self.references.clone_from(&other.references);
        self.references.push(other.message_id.clone());
        self.subject = match other.subject.get(..3) {
            Some("Re:" | "AW:") => other.subject.clone(),
            _ => format!("Re: {}", other.subject),
        };
        self
    }

    /// The same letter with a file.
    pub(super) fn with(
        mut self,
        filename: impl Into<String>,
        content_type: &'static str,
        bytes: Vec<u8>,
    ) -> Self {
        self.attachments.push(Attachment {
            filename: filename.into(),
            content_type,
            bytes,
        });
        self
    }

    /// The same letter with a header line.
    pub(super) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The bytes of the message; `serial` makes its boundaries its own.
    pub(super) fn to_bytes(&self, serial: u32) -> Vec<u8> {
        let mut head = String::new();
        let date = super::dates::rfc2822(self.at);
        let _ = write!(
            head,
            "Received: from mx.{0} (mx.{0} [192.0.2.{1}])\r\n\tby mail.{2} with ESMTPS id {serial:06x};\r\n\t{date}\r\n",
            self.from.domain(),
            serial % 200 + 10,
            super::DOMAIN,
        );
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let _ = write!(
            head,
            "From: {}\r\nTo: {}\r\n",
            mailbox(&self.from),
            mailboxes(&self.to)
        );
        if !self.cc.is_empty() {
            let _ = write!(head, "Cc: {}\r\n", mailboxes(&self.cc));
        }
        let _ = write!(
            head,
            "Subject: {}\r\nDate: {date}\r\nMessage-ID: <{}>\r\n",
            encoded_words(&self.subject),
            self.message_id
        );
        if let Some(parent) = self.references.last() {
            let ids: Vec<String> = self.references.iter().map(|id| format!("<{id}>")).collect();
            let _ = write!(
                head,
                "In-Reply-To: <{parent}>\r\nReferences: {}\r\n",
                ids.join("\r\n ")
            );
        }
        head.push_str("MIME-Version: 1.0\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend(self.body(serial));
        bytes
    }

    fn body(&self, serial: u32) -> Vec<u8> {
        let readable = match (&self.text, &self.html) {
            (Some(text), Some(html)) => multipart(
                "alternative",
                &format!("=_alt_{serial:x}"),
                &[
                    text_part("plain", text, self.charset),
                    text_part("html", html, self.charset),
                ],
            ),
            (None, Some(html)) => text_part("html", html, self.charset),
            (text, None) => text_part("plain", text.as_deref().unwrap_or_default(), self.charset),
        };
        if self.attachments.is_empty() {
            return readable;
        }
        let mut parts = vec![readable];
        parts.extend(self.attachments.iter().map(attachment_part));
        multipart("mixed", &format!("=_mix_{serial:x}"), &parts)
    }
}

fn mailboxes(people: &[Person]) -> String {
    people
        .iter()
        .map(mailbox)
        .collect::<Vec<_>>()
        .join(",\r\n ")
}

fn mailbox(person: &Person) -> String {
    if person.name.is_empty() {
        return person.address.clone();
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || c == ' ' || c == '-';
    let name = if person.name.chars().all(plain) {
        person.name.clone()
    } else if person.name.is_ascii() {
        format!(
            "\"{}\"",
            person.name.replace('\\', "\\\\").replace('"', "\\\"")
        )
    } else {
        encoded_words(&person.name)
    };
    format!("{name} <{}>", person.address)
}

/// RFC 2047 words in UTF-8, each at most 75 characters; ASCII text stays as it is.
fn encoded_words(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut words = Vec::new();
    let mut chunk = String::new();
    for c in text.chars() {
        if chunk.len() + c.len_utf8() > 42 {
            words.push(std::mem::take(&mut chunk));
        }
        chunk.push(c);
    }
    words.push(chunk);
    let words: Vec<String> = words
        .iter()
        .map(|word| format!("=?utf-8?B?{}?=", BASE64.encode(word)))
        .collect();
    words.join("\r\n ")
}

fn text_part(subtype: &str, text: &str, charset: Charset) -> Vec<u8> {
    let text = text.replace("\r\n", "\n").replace('\n', "\r\n");
    let bytes = charset.encode(&text);
    let (encoding, body) =
        if charset == Charset::Iso2022Jp || (bytes.is_ascii() && short_lines(&bytes)) {
            ("7bit", bytes)
        } else if bytes.iter().filter(|byte| !byte.is_ascii()).count() * 4 < bytes.len() {
            ("quoted-printable", quoted_printable(&bytes))
        } else {
            ("base64", base64_lines(&bytes))
        };
    let mut part = format!(
        "Content-Type: text/{subtype}; charset={}\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n",
        charset.label()
    )
    .into_bytes();
    part.extend(body);
    part.extend(b"\r\n");
    part
}

fn short_lines(bytes: &[u8]) -> bool {
    bytes
        .split(|byte| *byte == b'\n')
        .all(|line| line.len() < 900)
}

fn attachment_part(attachment: &Attachment) -> Vec<u8> {
    // RFC 2231 where the name leaves ASCII; a quoted string otherwise.
    let name = if attachment.filename.is_ascii() {
        format!("filename=\"{}\"", attachment.filename.replace('"', "\\\""))
    } else {
        let mut value = String::new();
        for byte in attachment.filename.bytes() {
            if byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-' {
                value.push(char::from(byte));
            } else {
                let _ = write!(value, "%{byte:02X}");
            }
        }
        format!("filename*=utf-8''{value}")
    };
    let mut part = format!(
        "Content-Type: {}\r\nContent-Disposition: attachment; {name}\r\nContent-Transfer-Encoding: base64\r\n\r\n",
        attachment.content_type
    )
    .into_bytes();
    part.extend(base64_lines(&attachment.bytes));
    part.extend(b"\r\n");
    part
}

/// A multipart entity of parts that bring their own headers.
pub(super) fn multipart(subtype: &str, boundary: &str, parts: &[Vec<u8>]) -> Vec<u8> {
    let mut out =
        format!("Content-Type: multipart/{subtype}; boundary=\"{boundary}\"\r\n\r\n").into_bytes();
    for part in parts {
        out.extend(format!("--{boundary}\r\n").into_bytes());
        out.extend_from_slice(part);
    }
    out.extend(format!("--{boundary}--\r\n").into_bytes());
    out
}

fn base64_lines(bytes: &[u8]) -> Vec<u8> {
    let text = BASE64.encode(bytes);
    let lines: Vec<&[u8]> = text.as_bytes().chunks(76).collect();
    lines.join(&b"\r\n"[..])
}

/// RFC 2045 section 6.7; lines end in CRLF already.
fn quoted_printable(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() * 2);
    let mut column = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\r\n").unwrap_or(line);
        for (place, byte) in text.iter().enumerate() {
            let last = place + 1 == text.len();
            let literal = matches!(byte, b'!'..=b'<' | b'>'..=b'~') || (*byte == b' ' && !last);
            if column > 70 {
                out.extend(b"=\r\n");
                column = 0;
            }
            if literal {
                out.push(*byte);
                column += 1;
            } else {
                out.extend(format!("={byte:02X}").into_bytes());
                column += 3;
            }
        }
        if text.len() < line.len() {
            out.extend(b"\r\n");
        }
        column = 0;
    }
    out
}
