//! No words in any argument of a composed mail add a header field, a recipient or a part.
#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use postroom_mail::{
    Disposition,
    compose::{
        Content, File, Headers, Outgoing, Parent, Signature, compose, forward, references_for,
        reply_subject,
    },
};
use postroom_types::{Mailbox, Timestamp};

#[derive(Debug, Arbitrary)]
struct Words<'a> {
    name: &'a str,
    subject: &'a str,
    text: &'a str,
    html: Option<&'a str>,
    filename: &'a str,
    content_type: &'a str,
    content_id: &'a str,
    header: &'a str,
    value: &'a str,
    signature: &'a str,
    parent: &'a [u8],
    bytes: &'a [u8],
    forwards: bool,
}

libfuzzer_sys::fuzz_target!(|words: Words<'_>| {
    let person = |local: &str| Mailbox {
        address: format!("{local}@shop.example"),
        name: words.name.to_owned(),
    };
    let parent = Parent::read(words.parent);
    let content = if words.forwards {
        forward(words.parent, Some(words.text), true, |_| false)
    } else {
        Content {
            subject: words.subject.to_owned(),
            text: Some(words.text.to_owned()),
            html: words.html.map(str::to_owned),
            attachments: vec![File {
                filename: words.filename.to_owned(),
                content_type: words.content_type.to_owned(),
                bytes: words.bytes.to_vec(),
                disposition: Disposition::Inline,
                content_id: Some(words.content_id.to_owned()),
            }],
            history: None,
        }
    };
    let mut mail = Outgoing {
        from: person("desk"),
        to: vec![person("ann"), person("bo")],
        content,
        references: references_for(&parent),
        headers: Headers::check([(words.header, words.value)]).unwrap_or_default(),
        signature: Some(Signature {
            text: Some(words.signature.to_owned()),
            html: None,
        }),
        message_id: "1@shop.example".to_owned(),
        date: Timestamp::from_ms(0),
        boundary_seed: [1; 16],
        ..Outgoing::default()
    };
    let sent = compose(&mail).or_else(|_| {
        mail.content = Content {
            subject: reply_subject(parent.subject.as_deref()),
            text: Some("words".to_owned()),
            ..Content::default()
        };
        compose(&mail)
    });
    let Ok(sent) = sent else {
        panic!("an answer can always be sent");
    };
    assert!(sent.bytes.is_ascii());
    let lines = sent.bytes.split(|byte| *byte == b'\n');
    assert!(lines.clone().all(|line| line.len() <= 999));
    let read = postroom_mail::parse(&sent.bytes);
    const OWN: [&str; 11] = [
        "Message-ID",
        "Date",
        "From",
        "To",
        "Subject",
        "In-Reply-To",
        "References",
        "X-Postroom-Hop",
        "MIME-Version",
        "Content-Type",
        "Content-Transfer-Encoding",
    ];
    for field in &read.headers {
        let is_callers = mail.headers.fields().any(|(name, _)| name == field.name);
        assert!(
            is_callers || OWN.contains(&field.name.as_str()),
            "{}",
            field.name
        );
    }
    assert_eq!(read.to.len(), 2);
    assert_eq!(read.attachments.len(), mail.content.attachments.len());
});
