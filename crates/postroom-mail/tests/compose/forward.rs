//! Forwards: the older mail is told apart, whole, and carries nothing dangerous along.

use mail_parser::{MessageParser, MimeHeaders};
use postroom_mail::{
    Disposition, attachment,
    compose::{Parent, Signature, compose, forward, forward_references},
    html, parse,
};

use super::{composed, outgoing, raw_field};

const ORIGINAL: &[u8] = b"Message-ID: <Old@Shop.Example>\r\n\
    References: <first@shop.example>\r\n\
    Date: Fri, 27 Nov 2026 09:30:00 +0100\r\n\
    From: \"Doe, Ann\" <ann@shop.example>\r\n\
    To: desk@agents.example\r\n\
    Cc: Bo <bo@shop.example>\r\n\
    Bcc: hidden@shop.example\r\n\
    Subject: AW: Offer\r\n\
    MIME-Version: 1.0\r\n\
    Content-Type: multipart/mixed; boundary=m\r\n\r\n\
    --m\r\nContent-Type: multipart/related; boundary=r\r\n\r\n\
    --r\r\nContent-Type: text/html; charset=utf-8\r\n\r\n\
    <p>See <b>below</b> <img src=\"cid:Logo@Shop\"> <script>bad()</script></p>\r\n\
    --r\r\nContent-Type: image/png\r\nContent-ID: <Logo@Shop>\r\n\
    Content-Transfer-Encoding: base64\r\n\r\niVBORw==\r\n--r--\r\n\
    --m\r\nContent-Type: text/csv; charset=iso-8859-1\r\n\
    Content-Disposition: attachment; filename=\"list.csv\"\r\n\r\na;\xfc\r\n\
    --m\r\nContent-Type: application/x-msdownload; name=run.exe\r\n\
    Content-Disposition: attachment; filename=\"run.exe\"\r\n\r\nMZ\r\n\
    --m--\r\n";

#[test]
fn the_older_mail_stands_below_with_its_files() {
    let mut mail = outgoing();
    mail.content = forward(ORIGINAL, Some("What do you think?\n<3"), true, |file| {
        file.filename.as_deref() == Some("run.exe")
    });
    mail.references = forward_references(&Parent::read(ORIGINAL));
    mail.signature = Some(Signature {
        text: Some("Desk".into()),
        html: None,
    });
    let sent = composed(&mail);
    assert_eq!(raw_field(&sent, "Subject").as_deref(), Some("Fwd: Offer"));
    assert_eq!(raw_field(&sent, "In-Reply-To"), None);
    assert_eq!(
        raw_field(&sent, "References").as_deref(),
        Some("<first@shop.example> <Old@Shop.Example>")
    );
    let text = compose(&mail).expect("composed").text;
    assert_eq!(
        text,
        "What do you think?\n<3\n\n-- \nDesk\n\n\
         ---------- Forwarded message ---------\n\
         From: Doe, Ann <ann@shop.example>\n\
         Date: Fri, 27 Nov 2026 08:30:00 +0000\n\
         Subject: AW: Offer\n\
         To: desk@agents.example\n\
         Cc: Bo <bo@shop.example>\n\n\
         See below\n"
    );
    assert!(!sent.contains("hidden@shop.example"));
    let raw = MessageParser::new().parse(sent.as_bytes()).expect("read");
    let body = raw.body_html(0).expect("HTML").replace("\r\n", "\n");
    assert!(
        body.starts_with("<div>What do you think?<br>\n&lt;3</div>"),
        "{body}"
    );
    assert!(body.contains("<blockquote>\n<p>See <b>below</b>"), "{body}");
    assert!(
        body.contains("cid:Logo@Shop") && !body.contains("bad()"),
        "{body}"
    );

    let files = parse(sent.as_bytes()).attachments;
    let found: Vec<_> = files
        .iter()
        .map(|file| {
            (
                file.filename.as_deref(),
                file.content_type.as_str(),
                file.disposition,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (
                Some("attachment-1.png"),
                "image/png",
                Some(Disposition::Inline)
            ),
            (Some("list.csv"), "text/csv", Some(Disposition::Attachment)),
        ]
    );
    assert_eq!(
        attachment(sent.as_bytes(), 1).expect("a file").bytes,
        b"a;\xfc"
    );
    assert!(sent.contains("charset=\"iso-8859-1\""));
    let image = raw.attachment(0).expect("an image");
    assert_eq!(image.content_id(), Some("Logo@Shop"));
    // The forwarded words are not taken for history.
    let extracted = parse(sent.as_bytes()).extracted_text.expect("text");
    assert!(extracted.contains("What do you think?"), "{extracted}");
}

#[test]
fn files_stay_behind_when_they_should() {
    let content = forward(ORIGINAL, None, false, |_| false);
    assert!(content.attachments.is_empty());
    let mut mail = outgoing();
    mail.content = content;
    let sent = composed(&mail);
    assert!(
        parse(sent.as_bytes())
            .text
            .expect("text")
            .starts_with("---------- Forwarded")
    );
    assert!(html(sent.as_bytes()).expect("HTML").contains("below"));
}

#[test]
fn a_plain_mail_is_forwarded_without_made_up_html() {
    let raw = b"From: a@b.example\r\nSubject: x\r\n\r\nplain\r\n> quoted\r\n";
    let mut mail = outgoing();
    mail.content = forward(raw, Some("see"), true, |_| false);
    let sent = composed(&mail);
    let read = parse(sent.as_bytes());
    assert!(!read.has_html);
    assert_eq!(
        read.text.as_deref(),
        Some(
            "see\n\n---------- Forwarded message ---------\nFrom: a@b.example\nSubject: x\n\n\
             plain\n> quoted"
        )
    );
}

#[test]
fn any_bytes_can_be_forwarded() {
    for raw in [
        &b""[..],
        b"\0\xff",
        b"no header at all",
        b"Content-Type: multipart/mixed\r\n\r\n",
    ] {
        let mut mail = outgoing();
        mail.content = forward(raw, Some("see"), true, |_| false);
        composed(&mail);
    }
}
