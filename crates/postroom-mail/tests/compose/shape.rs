//! Bodies: which parts there are and that every byte arrives.

use mail_parser::{MessageParser, MimeHeaders, PartType};
use postroom_mail::{
    Disposition, attachment,
    compose::{Disclosure, Signature, Unsubscribe, compose},
    html, parse,
};
use proptest::prelude::*;

use super::{composed, file, inline, outgoing};

/// The parts as an outline: types with their children in brackets.
fn outline(mail: &str) -> String {
    let message = MessageParser::new().parse(mail.as_bytes()).expect("read");
    fn describe(message: &mail_parser::Message<'_>, index: u32) -> String {
        let part = &message.parts[index as usize];
        let media = part.content_type().map_or("none".to_owned(), |media| {
            format!("{}/{}", media.ctype(), media.subtype().unwrap_or_default())
        });
        match &part.body {
            PartType::Multipart(children) => {
                let inner: Vec<_> = children
                    .iter()
                    .map(|child| describe(message, *child))
                    .collect();
                format!("{media}[{}]", inner.join(" "))
            }
            _ => media,
        }
    }
    describe(&message, 0)
}

#[test]
fn parts_stand_in_the_tree_that_clients_expect() {
    let mut mail = outgoing();
    assert_eq!(outline(&composed(&mail)), "text/plain");
    mail.content.html = Some("<p>Hi <img src=\"cid:logo\"></p>".to_owned());
    assert_eq!(
        outline(&composed(&mail)),
        "multipart/alternative[text/plain text/html]"
    );
    mail.content.attachments = vec![inline("l.png", "image/png", b"\x89PNG", "logo")];
    assert_eq!(
        outline(&composed(&mail)),
        "multipart/alternative[text/plain multipart/related[text/html image/png]]"
    );
    mail.content
        .attachments
        .push(file("a.pdf", "application/pdf", b"%PDF"));
    assert_eq!(
        outline(&composed(&mail)),
        "multipart/mixed[multipart/alternative[text/plain multipart/related[text/html image/png]] \
         application/pdf]"
    );
    mail.content.html = None;
    assert_eq!(
        outline(&composed(&mail)),
        "multipart/mixed[text/plain image/png application/pdf]"
    );
}

#[test]
fn text_is_made_of_html_and_html_of_nothing() {
    let mut mail = outgoing();
    mail.content.text = None;
    mail.content.html = Some("<h1>Hi</h1><p>See <a href='https://x.example/a'>this</a></p>".into());
    let sent = composed(&mail);
    let read = parse(sent.as_bytes());
    assert_eq!(
        read.text.as_deref(),
        Some("Hi\n\nSee this (https://x.example/a)")
    );
    assert!(read.has_html);
    // A blank text counts as none.
    mail.content.text = Some(" \n".into());
    assert_eq!(composed(&mail), sent);
    mail.content.text = Some("Only words".into());
    mail.content.html = None;
    assert!(!parse(composed(&mail).as_bytes()).has_html);
}

#[test]
fn what_must_stand_below_stands_below_once() {
    let mut mail = outgoing();
    mail.content.html = Some("<html><body><p>Hi</p></BODY></html>".into());
    mail.signature = Some(Signature {
        text: Some("Desk\nShop & Co".into()),
        html: None,
    });
    mail.disclosure = Disclosure::Footer("Written by a program.".into());
    mail.unsubscribe = Some(Unsubscribe::check("https://u.example/x?a=1&b=2").expect("a URL"));
    let sent = compose(&mail).expect("composed");
    assert_eq!(
        sent.text,
        "Hello Ann,\n\nall is paid.\n\n-- \nDesk\nShop & Co\n\nWritten by a program.\n\n\
         Unsubscribe: https://u.example/x?a=1&b=2\n"
    );
    let read = parse(&sent.bytes);
    assert_eq!(
        read.extracted_text.as_deref(),
        Some("Hello Ann,\n\nall is paid.")
    );
    let body = html(&sent.bytes).expect("HTML");
    assert!(body.contains("Desk<br>\nShop &amp; Co"), "{body}");
    assert!(body.contains("Written by a program."), "{body}");
    let raw = MessageParser::new().parse(&sent.bytes).expect("read");
    let raw = raw.body_html(0).expect("HTML").into_owned();
    assert!(raw.trim_end().ends_with("</BODY></html>"), "{raw}");
    assert_eq!(
        raw.matches("https://u.example/x?a=1&amp;b=2").count(),
        1,
        "{raw}"
    );

    // Named already, it is not said again.
    mail.content.text = Some("Leave: https://u.example/x?a=1&b=2".into());
    mail.content.html = Some("<a href=\"https://u.example/x?a=1&amp;b=2\">leave</a>".into());
    let sent = compose(&mail).expect("composed");
    assert_eq!(sent.text.matches("https://u.example").count(), 1);
    let raw = MessageParser::new().parse(&sent.bytes).expect("read");
    assert_eq!(
        raw.body_html(0)
            .expect("HTML")
            .matches("https://u.example")
            .count(),
        1
    );
}

#[test]
fn a_signature_of_either_form_gives_both() {
    let mut mail = outgoing();
    mail.content.html = Some("<p>Hi</p>".into());
    mail.signature = Some(Signature {
        text: None,
        html: Some("<b>Desk</b><br>Shop".into()),
    });
    let sent = compose(&mail).expect("composed");
    assert!(
        sent.text.ends_with("\n\n-- \nDesk\nShop\n"),
        "{}",
        sent.text
    );
    mail.signature = Some(Signature {
        text: Some("-- \nDesk".into()),
        html: None,
    });
    assert!(
        compose(&mail)
            .expect("composed")
            .text
            .ends_with("\n\n-- \nDesk\n")
    );
    mail.signature = Some(Signature::default());
    assert!(!compose(&mail).expect("composed").text.contains("-- "));
    mail.disclosure = Disclosure::Footer(String::new());
    let text = compose(&mail).expect("composed").text;
    assert!(text.contains("AI agent"), "{text}");
}

#[test]
fn text_is_wrapped_as_it_needs() {
    for (text, encoding) in [
        ("plain", "7bit"),
        ("two\nlines", "7bit"),
        ("trailing blank \nx", "quoted-printable"),
        ("From here on", "quoted-printable"),
        (".", "quoted-printable"),
        ("a\u{1b}[0m", "quoted-printable"),
        ("Grüße aus München", "quoted-printable"),
        ("Привет, как дела?", "base64"),
        ("日本語のメール", "base64"),
    ] {
        let mut mail = outgoing();
        mail.content.text = Some(text.into());
        let sent = composed(&mail);
        assert!(
            sent.contains(&format!("Content-Transfer-Encoding: {encoding}\r\n")),
            "{text:?}\n{sent}"
        );
        let read = MessageParser::new().parse(sent.as_bytes()).expect("read");
        let body = read.body_text(0).expect("text").replace("\r\n", "\n");
        assert_eq!(body, format!("{}\n", text.trim_end()), "{text:?}");
    }
    let mut mail = outgoing();
    mail.content.text = Some("word ".repeat(1_000) + &"x".repeat(5_000));
    let sent = composed(&mail);
    assert!(sent.lines().all(|line| line.len() <= 78));
}

#[test]
fn files_are_named_in_any_script() {
    let long = format!("{}.pdf", "ä".repeat(251));
    for name in [
        "a.pdf",
        "with blanks (1).pdf",
        "quote\"back.pdf",
        "Rechnung März.pdf",
        "請求書.pdf",
        "=?utf-8?Q?x?=.pdf",
        "a;b=c.pdf",
        "it's 100%.pdf",
        "🧾.pdf",
        long.as_str(),
    ] {
        let mut mail = outgoing();
        mail.content.attachments = vec![file(name, "application/pdf", b"%PDF-1.7")];
        let sent = composed(&mail);
        assert!(sent.lines().all(|line| line.len() <= 90), "{sent}");
        let read = parse(sent.as_bytes());
        let found = read.attachments.first().expect("a file");
        assert_eq!(found.filename.as_deref(), Some(name));
        assert_eq!(found.content_type, "application/pdf");
        let other = MessageParser::new().parse(sent.as_bytes()).expect("read");
        let other = other.attachment(0).expect("a file");
        assert_eq!(other.attachment_name(), Some(name));
    }
}

#[test]
fn a_mail_as_a_file_stays_a_mail_when_it_can_stand_in_one() {
    let clean = b"From: a@b.example\r\nSubject: inner\r\n\r\nwords\r\n";
    let eight = "From: a@b.example\r\n\r\nw\u{fc}rds\r\n".as_bytes();
    for (bytes, media) in [
        (&clean[..], "message/rfc822"),
        (eight, "application/octet-stream"),
        (b"From: a@b.example\n\nfeeds\n", "application/octet-stream"),
    ] {
        let mut mail = outgoing();
        mail.content.attachments = vec![file("m.eml", "message/rfc822", bytes)];
        let sent = composed(&mail);
        let found = attachment(sent.as_bytes(), 0).expect("a file");
        assert_eq!(found.attachment.content_type, media);
        assert_eq!(found.bytes, bytes);
    }
}

#[test]
fn parameters_of_a_type_go_with_it() {
    let mut mail = outgoing();
    mail.content.attachments = vec![
        file(
            "a.csv",
            "text/csv; charset=iso-8859-1; header=present",
            b"a;\xfc",
        ),
        file(
            "i.ics",
            "TEXT/Calendar; method=REQUEST; name=\"evil\"",
            b"BEGIN:VCALENDAR\r\n",
        ),
    ];
    let sent = composed(&mail);
    assert!(
        sent.contains("text/csv; charset=\"iso-8859-1\"; header=\"present\""),
        "{sent}"
    );
    assert!(
        sent.contains("text/calendar; method=\"REQUEST\"\r\n"),
        "{sent}"
    );
    assert_eq!(
        attachment(sent.as_bytes(), 0).expect("a file").bytes,
        b"a;\xfc"
    );
}

#[test]
fn what_is_wrong_with_content_is_named_by_its_path() {
    use postroom_mail::compose::Outgoing;
    type Change = fn(&mut Outgoing);
    let cases: &[(&str, Change)] = &[
        ("subject", |m| {
            m.content.subject = "a\r\nBcc: x@y.example".into()
        }),
        ("subject", |m| m.content.subject = "a\u{2029}b".into()),
        ("subject", |m| m.content.subject = "x".repeat(999)),
        ("text", |m| m.content.text = None),
        ("text", |m| m.content.text = Some("\n ".into())),
        ("text", |m| m.content.text = Some("a\0b".into())),
        ("html", |m| m.content.html = Some("<p>\0".into())),
        ("attachments[0].filename", |m| {
            m.content.attachments = vec![file("a\r\nb", "text/plain", b"")];
        }),
        ("attachments[0].filename", |m| {
            m.content.attachments = vec![file("../a", "text/plain", b"")];
        }),
        ("attachments[0].filename", |m| {
            m.content.attachments = vec![file("", "text/plain", b"")];
        }),
        ("attachments[0].filename", |m| {
            m.content.attachments = vec![file(&"x".repeat(256), "text/plain", b"")];
        }),
        ("attachments[1].content_type", |m| {
            m.content.attachments = vec![
                file("a", "text/plain", b""),
                file("b", "image/png\r\nX: y", b""),
            ];
        }),
        ("attachments[0].content_type", |m| {
            m.content.attachments = vec![file("a", "png", b"")];
        }),
        ("attachments[0].content_type", |m| {
            m.content.attachments = vec![file("a", "multipart/mixed; boundary=x", b"")];
        }),
        ("attachments[0].content_type", |m| {
            m.content.attachments = vec![file("a", &format!("a/{}", "b".repeat(126)), b"")];
        }),
        ("attachments[0].content_id", |m| {
            m.content.attachments = vec![inline("a", "image/png", b"", "x y")];
        }),
        ("attachments[0].content_id", |m| {
            m.content.attachments = vec![inline("a", "image/png", b"", "<>")];
        }),
        ("attachments[0].content_id", |m| {
            m.content.attachments = vec![inline("a", "image/png", b"", &"x".repeat(256))];
        }),
        ("attachments[1].content_id", |m| {
            m.content.attachments = vec![
                inline("a", "image/png", b"", "x"),
                inline("b", "image/png", b"", "<x>"),
            ];
        }),
        ("attachments[0].content_id", |m| {
            let mut file = file("a", "image/png", b"");
            file.disposition = Disposition::Inline;
            m.content.attachments = vec![file];
        }),
    ];
    for (path, change) in cases {
        let mut mail = outgoing();
        change(&mut mail);
        let error = compose(&mail).expect_err(path);
        assert_eq!(
            (error.code(), error.path()),
            ("invalid_request", Some(*path))
        );
        let words = error.to_string();
        assert!(
            words.bytes().all(|byte| matches!(byte, b' '..=b'~')),
            "{words}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Every byte of every file arrives, by two readers.
    #[test]
    fn files_arrive_to_the_byte(
        files in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4_000), 1..4),
        text in "\\PC{1,400}",
    ) {
        let mut mail = outgoing();
        prop_assume!(!text.trim().is_empty());
        mail.content.text = Some(text);
        mail.content.attachments = files
            .iter()
            .enumerate()
            .map(|(n, bytes)| file(&format!("{n}.bin"), "application/octet-stream", bytes))
            .collect();
        let sent = composed(&mail);
        let other = MessageParser::new().parse(sent.as_bytes()).expect("read");
        prop_assert_eq!(other.attachment_count(), files.len());
        for (n, bytes) in files.iter().enumerate() {
            prop_assert_eq!(&attachment(sent.as_bytes(), n).expect("a file").bytes, bytes);
            let n = u32::try_from(n).expect("few");
            prop_assert_eq!(other.attachment(n).expect("a file").contents(), &bytes[..]);
        }
    }

    /// Any text arrives, its line ends aside.
    #[test]
    fn text_arrives(text in "([a-zA-Z.,=äß世 \\t]|\\n|\\r\\n|From |\\.){1,400}") {
        prop_assume!(!text.trim().is_empty());
        let mut mail = outgoing();
        mail.content.text = Some(text.clone());
        let sent = composed(&mail);
        let read = MessageParser::new().parse(sent.as_bytes()).expect("read");
        let body = read.body_text(0).expect("text").replace("\r\n", "\n");
        let wanted = text.replace("\r\n", "\n");
        prop_assert_eq!(body.trim_end(), wanted.trim_end());
    }
}
