//! A mail of ours as the fields that the interface takes.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use postroom_mail::{self as mail, Disposition, Parsed};
use postroom_types::Mailbox;
use serde_json::{Map, Value, json};

use crate::smtp::send::Envelope;

/// Header fields that the interface has fields of its own for, or that whoever sends writes.
const TOLD_OTHERWISE: &[&str] = &[
    "bcc",
    "cc",
    "date",
    "from",
    "mime-version",
    "received",
    "reply-to",
    "return-path",
    "sender",
    "subject",
    "to",
];

/// The body of `POST /emails`; `None` for a mail that it cannot say: one without an author.
pub(super) fn of(envelope: &Envelope, raw: &[u8]) -> Option<Value> {
    let parsed = mail::parse(raw);
    let [text, html] = mail::body_sources(raw);
    let [to, cc, bcc] = recipients(envelope, &parsed)?;
    let mut email = Map::new();
    let mut put = |name: &str, value: Value| {
        email.insert(name.to_owned(), value);
    };
    put("from", shown(parsed.from.as_ref()?).into());
    put("to", to.into());
    put("subject", parsed.subject.clone().unwrap_or_default().into());
    for (name, list) in [("cc", cc), ("bcc", bcc)] {
        if !list.is_empty() {
            put(name, list.into());
        }
    }
    if !parsed.reply_to.is_empty() {
        let answers: Vec<String> = parsed.reply_to.iter().map(shown).collect();
        put("reply_to", answers.into());
    }
    if let Some(html) = html {
        put("html", html.into());
    }
    // Without it the provider would make a text of its own.
    put("text", text.unwrap_or_default().into());
    let headers = headers(&parsed);
    if !headers.is_empty() {
        put("headers", headers.into());
    }
    let files: Vec<Value> = (0..parsed.attachments.len())
        .filter_map(|index| file(raw, index))
        .collect();
    if !files.is_empty() {
        put("attachments", files.into());
    }
    Some(email.into())
}

/// The envelope's recipients by the header field that shows them, with their names: exactly those,
/// whoever else the header names.
fn recipients(envelope: &Envelope, parsed: &Parsed) -> Option<[Vec<String>; 3]> {
    let mut left: Vec<&str> = envelope.recipients().iter().map(String::as_str).collect();
    let mut named = |field: &[Mailbox]| -> Vec<String> {
        let mut found = Vec::new();
        for mailbox in field {
            let same = |path: &&str| path.eq_ignore_ascii_case(&mailbox.address);
            if let Some(at) = left.iter().position(same) {
                left.remove(at);
                found.push(shown(mailbox));
            }
        }
        found
    };
    let (mut to, mut cc) = (named(&parsed.to), named(&parsed.cc));
    let mut bcc: Vec<String> = left.into_iter().map(str::to_owned).collect();
    // The interface wants somebody there. Blind copies would all see each other, so that it is the author.
    if to.is_empty() {
        to = match (cc.is_empty(), bcc.len()) {
            (false, _) => std::mem::take(&mut cc),
            (true, 1) => std::mem::take(&mut bcc),
            (true, _) => vec![shown(parsed.from.as_ref()?)],
        };
    }
    Some([to, cc, bcc])
}

/// `Name <local@domain>`, the name quoted where it has to be (RFC 5322 section 3.4).
fn shown(mailbox: &Mailbox) -> String {
    let Mailbox { address, name } = mailbox;
    if name.is_empty() {
        return address.clone();
    }
    let plain = |c: char| c.is_alphanumeric() || c == ' ' || c == '-' || c == '_';
    if name.chars().all(plain) {
        return format!("{name} <{address}>");
    }
    let mut quoted = String::with_capacity(name.len() + 2);
    for c in name.chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(if c.is_control() { ' ' } else { c });
    }
    format!("\"{quoted}\" <{address}>")
}

fn headers(parsed: &Parsed) -> Map<String, Value> {
    let mut kept = Map::new();
    for field in &parsed.headers {
        let name = field.name.to_ascii_lowercase();
        if !TOLD_OTHERWISE.contains(&name.as_str()) && !name.starts_with("content-") {
            kept.insert(field.name.clone(), field.value.clone().into());
        }
    }
    kept
}

fn file(raw: &[u8], index: usize) -> Option<Value> {
    let body = mail::attachment(raw, index)?;
    let about = body.attachment;
    let filename = about
        .filename
        .unwrap_or_else(|| format!("attachment-{}", index + 1));
    let mut file = json!({
        "filename": filename,
        "content": BASE64_STANDARD.encode(&body.bytes),
        "content_type": about.content_type,
    });
    if about.disposition == Some(Disposition::Inline)
        && let Some(id) = about.content_id
        && let Some(fields) = file.as_object_mut()
    {
        fields.insert("content_id".to_owned(), id.into());
    }
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIL: &str = "From: \"Agent, the first\" <me@here.example>\r\n\
        To: Bob <bob@there.example>, carol@there.example\r\n\
        Cc: Dave <DAVE@there.example>\r\n\
        Reply-To: <me+t.abc@here.example>\r\n\
        Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\
        Message-ID: <1@here.example>\r\n\
        In-Reply-To: <0@there.example>\r\n\
        Date: Mon, 30 Nov 2026 12:00:00 +0000\r\n\
        MIME-Version: 1.0\r\n\
        X-Case: 17\r\n\
        Content-Type: multipart/mixed; boundary=x\r\n\r\n\
        --x\r\nContent-Type: multipart/alternative; boundary=y\r\n\r\n\
        --y\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nHi\r\n\r\n> quoted\r\n\
        --y\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p style=\"color:red\">Hi</p>\r\n--y--\r\n\
        --x\r\nContent-Type: image/png; name=a.png\r\nContent-Disposition: inline; filename=a.png\r\n\
        Content-ID: <logo>\r\nContent-Transfer-Encoding: base64\r\n\r\nAQID\r\n--x--\r\n";

    fn email(recipients: &[&str]) -> Option<Value> {
        let recipients = recipients.iter().map(|&path| path.to_owned()).collect();
        let envelope = Envelope::new("me@here.example", recipients).expect("an envelope");
        of(&envelope, MAIL.as_bytes())
    }

    #[test]
    fn every_part_of_a_mail_is_in_its_field() {
        let everybody = [
            "bob@there.example",
            "carol@there.example",
            "dave@there.example",
        ];
        let seen = email(&everybody).expect("an email");
        let expected = json!({
            "from": "\"Agent, the first\" <me@here.example>",
            "to": ["Bob <bob@there.example>", "carol@there.example"],
            "cc": ["Dave <dave@there.example>"],
            "reply_to": ["me+t.abc@here.example"],
            "subject": "Gr\u{fc}\u{df}e",
            "text": "Hi\n\n> quoted",
            "html": "<p style=\"color:red\">Hi</p>",
            "headers": {
                "Message-ID": "<1@here.example>",
                "In-Reply-To": "<0@there.example>",
                "X-Case": "17",
            },
            "attachments": [{
                "filename": "a.png",
                "content": "AQID",
                "content_type": "image/png",
                "content_id": "logo",
            }],
        });
        assert_eq!(seen, expected);
    }

    #[test]
    fn the_envelope_decides_who_gets_it() {
        let lists = |recipients: &[&str]| {
            let email = email(recipients)?;
            Some((
                email["to"].clone(),
                email["cc"].clone(),
                email["bcc"].clone(),
            ))
        };
        // Whom a filter took out gets nothing, although the header shows them.
        assert_eq!(
            lists(&["carol@there.example", "eve@there.example"]),
            Some((
                json!(["carol@there.example"]),
                Value::Null,
                json!(["eve@there.example"])
            ))
        );
        assert_eq!(
            lists(&["dave@there.example"]),
            Some((
                json!(["Dave <dave@there.example>"]),
                Value::Null,
                Value::Null
            ))
        );
        assert_eq!(
            lists(&["eve@there.example"]),
            Some((json!(["eve@there.example"]), Value::Null, Value::Null))
        );
        // They would see each other.
        assert_eq!(
            lists(&["eve@there.example", "frank@there.example"]),
            Some((
                json!(["\"Agent, the first\" <me@here.example>"]),
                Value::Null,
                json!(["eve@there.example", "frank@there.example"])
            ))
        );
    }

    #[test]
    fn names_are_quoted_where_they_have_to_be() {
        for (name, expected) in [
            ("", "a@b.example"),
            ("Ann Lee", "Ann Lee <a@b.example>"),
            ("J\u{f6}rg", "J\u{f6}rg <a@b.example>"),
            ("Lee, Ann", "\"Lee, Ann\" <a@b.example>"),
            ("An\"n\\", "\"An\\\"n\\\\\" <a@b.example>"),
            ("a <x@y.example>", "\"a <x@y.example>\" <a@b.example>"),
        ] {
            let mailbox = Mailbox {
                address: "a@b.example".to_owned(),
                name: name.to_owned(),
            };
            assert_eq!(shown(&mailbox), expected);
        }
    }
}
