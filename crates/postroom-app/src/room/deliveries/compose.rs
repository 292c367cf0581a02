//! A mail out of the fields that a provider tells of it.
//!
//! The same fields give the same bytes, always: a mailbox knows a mail again by them. What comes out
//! is RFC 5322 with UTF-8 in its header (RFC 6532) and every part in Base64.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use postroom_webhook::inbound::{InboundAttachment, InboundMessage};
use sha2::{Digest as _, Sha256};

/// Characters of a header line that is kept.
const LINE_CHARS: usize = 8_000;
/// Headers that are written out of fields, or that speak of a body that is written anew.
const OWN: &[&str] = &[
    "bcc",
    "cc",
    "date",
    "from",
    "message-id",
    "mime-version",
    "subject",
    "to",
];

/// Writes the mail.
pub(super) fn compose(message: &InboundMessage) -> Vec<u8> {
    let mut out = String::new();
    let mut header = |name: &str, value: &str| {
        let value = line(value);
        if !value.is_empty() {
            out.push_str(name);
            out.push_str(": ");
            out.push_str(&value);
            out.push_str("\r\n");
        }
    };
    for (name, value) in &message.headers {
        let lower = name.to_ascii_lowercase();
        let kept = !OWN.contains(&lower.as_str())
            && !lower.starts_with("content-")
            && !lower.is_empty()
            && lower
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if kept {
            header(name, value);
        }
    }
    let given = |wanted: &str| {
        let mut headers = message.headers.iter();
        let found = headers.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.clone())
    };
    header("From", &message.from);
    header("To", &message.to.join(", "));
    header("Cc", &message.cc.join(", "));
    header("Subject", &message.subject);
    if let Some(date) = given("date").or_else(|| message.received_at.and_then(date)) {
        header("Date", &date);
    }
    let id = given("message-id")
        .unwrap_or_else(|| format!("<{}@inbound-mail.invalid>", digest(message.id.as_bytes())));
    header("Message-ID", &id);
    header("MIME-Version", "1.0");
    out.push_str(&body(message));
    out.into_bytes()
}

/// Content headers and content.
fn body(message: &InboundMessage) -> String {
    let mut texts: Vec<String> = Vec::new();
    if let Some(text) = &message.text {
        texts.push(part("text/plain; charset=utf-8", "", text.as_bytes()));
    }
    if let Some(html) = &message.html {
        texts.push(part("text/html; charset=utf-8", "", html.as_bytes()));
    }
    if texts.is_empty() {
        texts.push(part("text/plain; charset=utf-8", "", b""));
    }
    let seed = digest(message.id.as_bytes());
    let mut inner = match texts.as_slice() {
        [only] => only.clone(),
        several => multipart("alternative", &format!("alternative-{seed}"), several),
    };
    let files: Vec<String> = message.attachments.iter().filter_map(attachment).collect();
    if !files.is_empty() {
        let mut parts = vec![inner];
        parts.extend(files);
        inner = multipart("mixed", &format!("mixed-{seed}"), &parts);
    }
    inner
}

fn multipart(kind: &str, boundary: &str, parts: &[String]) -> String {
    let mut out = format!("Content-Type: multipart/{kind}; boundary=\"{boundary}\"\r\n\r\n");
    for part in parts {
        out.push_str(&format!("--{boundary}\r\n{part}\r\n"));
    }
    out.push_str(&format!("--{boundary}--\r\n"));
    out
}

/// A part with its content headers; `more` are whole header lines.
fn part(content_type: &str, more: &str, content: &[u8]) -> String {
    let mut out =
        format!("Content-Type: {content_type}\r\n{more}Content-Transfer-Encoding: base64\r\n\r\n");
    let encoded = STANDARD.encode(content);
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (row, behind) = rest.split_at(rest.len().min(76));
        out.push_str(row);
        out.push_str("\r\n");
        rest = behind;
    }
    out
}

/// A file whose content is there.
fn attachment(file: &InboundAttachment) -> Option<String> {
    let content = file.content_base64.as_ref()?;
    let content: String = content
        .chars()
        .filter(|c| !c.is_ascii_whitespace())
        .collect();
    let bytes = STANDARD.decode(content).ok()?;
    let given = file.content_type.as_deref().unwrap_or_default();
    // Its parameters are not ours to judge: the type alone is kept.
    let media = given.split(';').next().unwrap_or_default().trim();
    let is_media = media.split('/').count() == 2
        && media.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'+' | b'-' | b'_')
        });
    let media = if is_media {
        media
    } else {
        "application/octet-stream"
    };
    let inline = file
        .content_disposition
        .as_deref()
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("inline"));
    let kind = if inline { "inline" } else { "attachment" };
    let mut more = format!("Content-Disposition: {kind}");
    if let Some(name) = &file.filename {
        more.push_str(&format!("; filename*=utf-8''{}", percent(name)));
    }
    more.push_str("\r\n");
    if let Some(id) = &file.content_id {
        let id: String = line(id)
            .chars()
            .filter(|c| !matches!(c, '<' | '>'))
            .collect();
        more.push_str(&format!("Content-ID: <{id}>\r\n"));
    }
    Some(part(media, &more, &bytes))
}

/// RFC 8187: everything but letters and digits as `%XX`.
fn percent(text: &str) -> String {
    text.chars()
        .take(256)
        .collect::<String>()
        .bytes()
        .map(|byte| match byte {
            byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

/// One line: what would begin another is a space.
fn line(text: &str) -> String {
    let text: String = text
        .chars()
        .take(LINE_CHARS)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    text.trim().to_owned()
}

fn date(seconds: i64) -> Option<String> {
    let instant = jiff::Timestamp::from_second(seconds).ok()?;
    jiff::fmt::rfc2822::DateTimePrinter::new()
        .timestamp_to_string(&instant)
        .ok()
}

fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes).get(..12).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> InboundMessage {
        InboundMessage {
            id: "mail-1".to_owned(),
            from: "Mía Lund <mia@garage.example>".to_owned(),
            to: vec!["ann+van@room.example".to_owned()],
            subject: "Deposit\r\nBcc: evil@x.example".to_owned(),
            text: Some("The deposit is due.\n".repeat(20)),
            html: Some("<p>The deposit is due.</p>".to_owned()),
            headers: vec![
                ("Message-ID".to_owned(), "<first@garage.example>".to_owned()),
                ("References".to_owned(), "<zero@garage.example>".to_owned()),
                ("Content-Type".to_owned(), "text/evil".to_owned()),
                ("X-Odd\r\nBcc".to_owned(), "evil@x.example".to_owned()),
            ],
            attachments: vec![InboundAttachment {
                id: None,
                filename: Some("préavis \"1\".txt".to_owned()),
                content_type: Some("text/plain; name=x".to_owned()),
                content_disposition: None,
                content_id: None,
                size: None,
                content_base64: Some(STANDARD.encode("Terms of hire.")),
            }],
            received_at: Some(1_790_000_000),
            ..InboundMessage::default()
        }
    }

    #[test]
    fn what_is_written_reads_back_and_is_always_the_same() {
        let raw = compose(&message());
        assert_eq!(raw, compose(&message()));
        let parsed = postroom_mail::parse(&raw);
        assert_eq!(parsed.message_id, "first@garage.example");
        assert_eq!(parsed.references, ["zero@garage.example"]);
        assert_eq!(
            parsed.subject.as_deref(),
            Some("Deposit  Bcc: evil@x.example")
        );
        assert!(
            parsed
                .text
                .is_some_and(|text| text.contains("The deposit is due."))
        );
        assert!(parsed.has_html);
        let file = parsed.attachments.first().expect("a file");
        assert_eq!(file.filename.as_deref(), Some("préavis \"1\".txt"));
        let text = String::from_utf8(raw).expect("UTF-8");
        assert!(
            !text.to_lowercase().contains("\r\nbcc"),
            "no line of an outsider's"
        );
        assert!(!text.contains("text/evil"));
    }

    #[test]
    fn a_mail_without_words_is_a_mail() {
        let message = InboundMessage {
            id: "x".to_owned(),
            from: "a@b.example".to_owned(),
            ..InboundMessage::default()
        };
        let parsed = postroom_mail::parse(&compose(&message));
        assert!(parsed.message_id.ends_with("@inbound-mail.invalid"));
    }
}
