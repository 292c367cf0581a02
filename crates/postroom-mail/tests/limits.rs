//! Every bound of reading, at the bound and one past it.
#![allow(clippy::expect_used)]

use postroom_mail::{DefectCode, Flag, Parsed, parse};
use postroom_types::limit;

fn has(parsed: &Parsed, code: DefectCode) -> bool {
    parsed.defects.iter().any(|defect| defect.code == code)
}

fn mail(headers: &str, body: &str) -> Vec<u8> {
    format!("From: a@shop.example\nMessage-ID: <1@shop.example>\nDate: Mon, 30 Nov 2026 09:00:00 +0000\n{headers}\n{body}").into_bytes()
}

#[test]
fn a_mail_of_the_largest_size_is_read_whole() {
    let mut raw = mail("Content-Type: application/octet-stream\n", "");
    // What comes in has at most RAW_MAIL_BYTES; a mail of our own may be larger.
    raw.resize(limit::SENT_MAIL_BYTES, b'x');
    let parsed = parse(&raw);
    assert!(!has(&parsed, DefectCode::SizeCut));
    raw.push(b'x');
    let parsed = parse(&raw);
    assert!(has(&parsed, DefectCode::SizeCut));
    assert_eq!(parsed.size, limit::SENT_MAIL_BYTES as u64 + 1);
    assert!(parsed.flags.contains(&Flag::ParseDegraded));
}

#[test]
fn header_lines_past_the_limit_stay_in_raw() {
    let fill = |lines: usize| mail(&"X-Fill: y\n".repeat(lines - 3), "words");
    let parsed = parse(&fill(limit::HEADER_LINES));
    assert!(!has(&parsed, DefectCode::HeaderLinesCut));
    assert_eq!(parsed.headers.len(), limit::HEADER_LINES);
    let parsed = parse(&fill(limit::HEADER_LINES + 1));
    assert!(has(&parsed, DefectCode::HeaderLinesCut));
    assert_eq!(parsed.headers.len(), limit::HEADER_LINES);
    assert_eq!(parsed.text.as_deref(), Some("words"));
}

#[test]
fn header_bytes_past_the_limit_stay_in_raw() {
    let before = mail("", "").len() - 1;
    let fill = |bytes: usize| {
        let value = "y".repeat(bytes - before - "X: \n".len());
        mail(&format!("X: {value}\n"), "words")
    };
    assert!(!has(
        &parse(&fill(limit::HEADER_BYTES)),
        DefectCode::HeaderBytesCut
    ));
    let parsed = parse(&fill(limit::HEADER_BYTES + 1));
    assert!(has(&parsed, DefectCode::HeaderBytesCut));
    assert_eq!(parsed.text.as_deref(), Some("words"));
}

/// `depth` multiparts around a text.
fn nested_multiparts(depth: usize) -> Vec<u8> {
    let mut inner = "Content-Type: text/plain\n\ninnermost\n".to_owned();
    for level in (0..depth).rev() {
        let boundary = format!("b{level}.");
        inner = format!(
            "Content-Type: multipart/mixed; boundary={boundary}\n\n--{boundary}\n{inner}--{boundary}--\n"
        );
    }
    let (headers, body) = inner.split_once("\n\n").unwrap_or_default();
    mail(&format!("{headers}\n"), body)
}

#[test]
fn multiparts_deeper_than_the_limit_stay_in_raw() {
    let parsed = parse(&nested_multiparts(limit::MIME_DEPTH));
    assert!(!has(&parsed, DefectCode::MimeDepthCut));
    assert_eq!(parsed.text.as_deref(), Some("innermost"));
    let parsed = parse(&nested_multiparts(limit::MIME_DEPTH + 1));
    assert!(has(&parsed, DefectCode::MimeDepthCut));
    assert!(
        parse(&nested_multiparts(5_000))
            .flags
            .contains(&Flag::ParseDegraded)
    );
}

#[test]
fn parts_past_the_limit_stay_in_raw() {
    let parts = |count: usize| {
        let part = "--b\nContent-Type: image/png\n\nx\n".repeat(count);
        mail(
            "Content-Type: multipart/mixed; boundary=b\n",
            &format!("{part}--b--\n"),
        )
    };
    let parsed = parse(&parts(limit::MIME_PARTS));
    assert!(!has(&parsed, DefectCode::MimePartsCut));
    assert_eq!(parsed.attachments.len(), limit::MIME_PARTS);
    let parsed = parse(&parts(limit::MIME_PARTS + 1));
    assert!(has(&parsed, DefectCode::MimePartsCut));
    assert_eq!(parsed.attachments.len(), limit::MIME_PARTS);
}

#[test]
fn texts_are_cut_at_their_limits() {
    let of = |bytes: usize| parse(&mail("", &"x".repeat(bytes)));
    let whole = of(limit::EXTRACTED_TEXT_BYTES);
    assert!(whole.flags.is_empty());
    let cut = of(limit::EXTRACTED_TEXT_BYTES + 1);
    assert_eq!(cut.flags, [Flag::BodyTruncated]);
    assert_eq!(
        cut.extracted_text.map(|text| text.len()),
        Some(limit::EXTRACTED_TEXT_BYTES)
    );
    assert_eq!(
        cut.text.map(|text| text.len()),
        Some(limit::EXTRACTED_TEXT_BYTES + 1)
    );
    let quoted = format!("new\n{}", "> old\n".repeat(limit::TEXT_BYTES / 6));
    let cut = parse(&mail("", &quoted));
    assert_eq!(cut.extracted_text.as_deref(), Some("new"));
    assert!(cut.text.is_some_and(|text| text.len() <= limit::TEXT_BYTES));
    assert_eq!(cut.flags, [Flag::BodyTruncated]);
}

#[test]
fn subjects_are_cut_at_their_limit() {
    let of = |chars: usize| parse(&mail(&format!("Subject: {}\n", "ä".repeat(chars)), "x"));
    assert!(of(limit::SUBJECT_CHARS).flags.is_empty());
    let cut = of(limit::SUBJECT_CHARS + 1);
    assert_eq!(
        cut.subject.map(|text| text.chars().count()),
        Some(limit::SUBJECT_CHARS)
    );
    assert_eq!(cut.flags, [Flag::BodyTruncated]);
}

#[test]
fn snippets_have_at_most_their_characters() {
    let of = |chars: usize| parse(&mail("", &"ä".repeat(chars))).snippet.chars().count();
    assert_eq!(of(limit::SNIPPET_CHARS), limit::SNIPPET_CHARS);
    assert_eq!(of(limit::SNIPPET_CHARS + 1), limit::SNIPPET_CHARS);
}

#[test]
fn addresses_are_kept_up_to_their_limit() {
    let list = |count: usize| {
        let all: Vec<_> = (0..count).map(|n| format!("u{n}@desk.example")).collect();
        format!("To: {}\nCc: {}\n", all.join(",\n "), all.join(", "))
    };
    let parsed = parse(&mail(&list(limit::ADDRESSES_KEPT), "x"));
    assert!(!has(&parsed, DefectCode::AddressesCut));
    let parsed = parse(&mail(&list(limit::ADDRESSES_KEPT + 1), "x"));
    assert!(has(&parsed, DefectCode::AddressesCut));
    assert_eq!(
        (parsed.to.len(), parsed.cc.len()),
        (limit::ADDRESSES_KEPT, limit::ADDRESSES_KEPT)
    );
}

#[test]
fn the_newest_references_are_kept() {
    let list = |count: usize| {
        let all: Vec<_> = (0..count).map(|n| format!("<r{n}@desk.example>")).collect();
        mail(&format!("References: {}\n", all.join("\n ")), "x")
    };
    let parsed = parse(&list(limit::REFERENCES_KEPT));
    assert!(!has(&parsed, DefectCode::ReferencesCut));
    let parsed = parse(&list(limit::REFERENCES_KEPT + 1));
    assert!(has(&parsed, DefectCode::ReferencesCut));
    assert_eq!(parsed.references.len(), limit::REFERENCES_KEPT);
    assert_eq!(
        parsed.references.first().map(String::as_str),
        Some("r1@desk.example")
    );
}

#[test]
fn names_are_cut_at_their_limit() {
    let name = "n".repeat(limit::NAME_CHARS + 1);
    let headers = format!(
        "To: \"{name}\" <b@desk.example>\nContent-Type: application/pdf; name=\"{name}\"\n"
    );
    let parsed = parse(&mail(&headers, "x"));
    assert_eq!(
        parsed.to.first().map(|to| to.name.len()),
        Some(limit::NAME_CHARS)
    );
    let name = parsed
        .attachments
        .first()
        .and_then(|one| one.filename.as_deref());
    assert_eq!(name.map(str::len), Some(limit::NAME_CHARS));
}

#[test]
fn sanitised_html_is_cut_at_its_limit() {
    let of = |count: usize| {
        let raw = mail("Content-Type: text/html\n", &"<p>words</p>".repeat(count));
        postroom_mail::html(&raw).expect("html")
    };
    let each = "<p>words</p>".len();
    assert_eq!(
        of(limit::HTML_BYTES / each).len(),
        limit::HTML_BYTES / each * each
    );
    let cut = of(limit::HTML_BYTES / each + 1);
    assert!(cut.len() <= limit::HTML_BYTES && cut.ends_with("</p>"));
}

#[test]
fn attachment_text_is_cut_at_its_limit() {
    let of = |bytes: usize| {
        let headers = "Content-Type: text/plain\nContent-Disposition: attachment\n";
        postroom_mail::attachment_text(&mail(headers, &"x".repeat(bytes)), 0)
    };
    assert!(!of(limit::ATTACHMENT_TEXT_BYTES).truncated);
    let cut = of(limit::ATTACHMENT_TEXT_BYTES + 1);
    assert!(cut.truncated);
    assert_eq!(
        cut.pages.first().map(|page| page.text.len()),
        Some(limit::ATTACHMENT_TEXT_BYTES)
    );
}

#[test]
fn deep_html_and_stray_tags_are_read() {
    for html in [
        "<div>".repeat(100_000) + "deep",
        "</div>".repeat(100_000) + "stray",
        "<b><i>".repeat(20_000) + &"</b>".repeat(20_000) + "crossed",
        "<table><td>".repeat(20_000) + "tables",
        "<blockquote>".repeat(5_000) + "quotes",
        "<ul><li>".repeat(5_000) + "lists",
    ] {
        let seen = postroom_mail::html_to_text(&html);
        assert!(seen.text.contains(html.rsplit('>').next().expect("words")));
        let _ = postroom_mail::html(&mail("Content-Type: text/html\n", &html));
    }
}

#[test]
fn a_tag_with_countless_attributes_is_read() {
    for name in ["a", "alt"] {
        let attributes: String = (0..100_000)
            .map(|at| format!(" {name}{at}=\"b\" alt=c"))
            .collect();
        let html =
            format!("<p style=\"display:none\"{attributes}>gone</p><p title='a > b'>seen</p>");
        let seen = postroom_mail::html_to_text(&html);
        assert_eq!((seen.text.as_str(), seen.hidden), ("seen", true));
    }
}

/// One DER element.
fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).expect("short").to_be_bytes();
    [&[tag, 0x84], &length[..], content].concat()
}

/// `content` inside a signature that nobody made.
fn signed(content: &[u8]) -> Vec<u8> {
    const SIGNED: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02];
    const DATA: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01];
    let plain = |kind: &[u8]| [&[0x06, kind.len() as u8], kind].concat();
    let content = element(0xa0, &element(0x04, content));
    let inside = [
        element(0x02, &[1]),
        element(0x31, &[]),
        element(0x30, &[plain(&DATA), content].concat()),
    ]
    .concat();
    let envelope = element(0xa0, &element(0x30, &inside));
    element(0x30, &[plain(&SIGNED), envelope].concat())
}

#[test]
fn signatures_are_opened_down_to_a_depth() {
    let around = |layers: usize| {
        let mut raw = b"Content-Type: text/plain\n\nwords".to_vec();
        for _ in 0..layers {
            let head = b"Content-Type: application/pkcs7-mime\nContent-Transfer-Encoding: binary\n";
            raw = [head, &b"\n"[..], &signed(&raw)].concat();
        }
        [&b"From: a@shop.example\n"[..], &raw].concat()
    };
    let parsed = parse(&around(limit::SIGNED_LAYERS));
    assert_eq!(parsed.text.as_deref(), Some("words"));
    assert!(has(&parsed, DefectCode::OpaqueSigned));
    let parsed = parse(&around(limit::SIGNED_LAYERS + 1));
    assert_eq!(parsed.text, None);
    assert_eq!(parsed.attachments.len(), 1);
}

#[test]
fn a_winmail_with_more_files_than_are_listed_is_listed_too() {
    let of = |files: usize| {
        let attribute = |id: u32, data: &[u8]| {
            let length = (data.len() as u32).to_le_bytes();
            [&[2], &id.to_le_bytes()[..], &length, data, &[0, 0]].concat()
        };
        let file = [
            attribute(0x0006_9002, &[0; 14]),
            attribute(0x0001_8010, b"a.txt\0"),
        ]
        .concat();
        let stream = [&[0x78, 0x9f, 0x3e, 0x22, 1, 0], &file.repeat(files)[..]].concat();
        let head = "Content-Type: application/ms-tnef\nContent-Transfer-Encoding: binary\n";
        [mail(head, ""), stream].concat()
    };
    let parsed = parse(&of(limit::ATTACHMENTS_KEPT - 1));
    assert_eq!(parsed.attachments.len(), limit::ATTACHMENTS_KEPT - 1);
    assert!(!has(&parsed, DefectCode::TnefBroken));
    let parsed = parse(&of(limit::ATTACHMENTS_KEPT + 1));
    assert_eq!(parsed.attachments.len(), limit::ATTACHMENTS_KEPT);
    assert!(has(&parsed, DefectCode::TnefBroken));
    assert!(has(&parsed, DefectCode::AttachmentsCut));
}
