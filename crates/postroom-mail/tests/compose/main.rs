//! What leaves: composed mails as other programs read them, answers, forwards, reports about them.
#![allow(clippy::expect_used)]

mod answer;
mod forward;
mod header;
mod hostile;
mod report;
mod shape;
mod size;
mod threads;

use postroom_mail::{
    Disposition,
    compose::{Content, File, Outgoing},
};
use postroom_types::{Mailbox, Timestamp};

/// 2026-11-30T12:00:00Z.
const NOW_MS: i64 = 1_796_040_000_000;

fn mailbox(address: &str, name: &str) -> Mailbox {
    Mailbox {
        address: address.to_owned(),
        name: name.to_owned(),
    }
}

/// A plain mail to start from.
fn outgoing() -> Outgoing {
    Outgoing {
        from: mailbox("desk@agents.example", "Desk"),
        to: vec![mailbox("ann@shop.example", "Ann Doe")],
        content: Content {
            subject: "Invoice 4711".to_owned(),
            text: Some("Hello Ann,\n\nall is paid.".to_owned()),
            ..Content::default()
        },
        hop: 1,
        message_id: "01m@agents.example".to_owned(),
        date: Timestamp::from_ms(NOW_MS),
        boundary_seed: [7; 16],
        ..Outgoing::default()
    }
}

fn file(filename: &str, content_type: &str, bytes: &[u8]) -> File {
    File {
        filename: filename.to_owned(),
        content_type: content_type.to_owned(),
        bytes: bytes.to_vec(),
        disposition: Disposition::Attachment,
        content_id: None,
    }
}

fn inline(filename: &str, content_type: &str, bytes: &[u8], id: &str) -> File {
    File {
        disposition: Disposition::Inline,
        content_id: Some(id.to_owned()),
        ..file(filename, content_type, bytes)
    }
}

/// Composed, as text: what leaves is ASCII.
fn composed(outgoing: &Outgoing) -> String {
    let composed = postroom_mail::compose::compose(outgoing).expect("composed");
    assert_wire(&composed.bytes);
    String::from_utf8(composed.bytes).expect("ASCII")
}

/// What holds for the bytes of every mail that leaves.
fn assert_wire(bytes: &[u8]) {
    assert!(bytes.is_ascii(), "eight bits");
    assert!(bytes.ends_with(b"\r\n"));
    assert!(!bytes.contains(&0), "NUL");
    for line in bytes.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        assert!(!line.contains(&b'\r'), "bare CR");
        assert!(line.len() <= 998, "{}", line.len());
    }
    let feeds = bytes.iter().filter(|byte| **byte == b'\n').count();
    let ends = bytes.windows(2).filter(|pair| pair == b"\r\n").count();
    assert_eq!(feeds, ends, "bare LF");
    let mut parts = bytes.split(|byte| *byte == b'\n');
    let header = parts.by_ref().take_while(|line| *line != b"\r");
    for line in header {
        assert!(!line.trim_ascii().is_empty(), "a blank folded line");
    }
}

/// The header block of a composed mail.
fn header(mail: &str) -> &str {
    mail.split_once("\r\n\r\n")
        .map_or(mail, |(header, _)| header)
}

/// The value of a field, unfolded, as it stands.
fn raw_field(mail: &str, name: &str) -> Option<String> {
    let header = header(mail).replace("\r\n ", " ");
    header.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        (found == name).then(|| value.trim().to_owned())
    })
}
