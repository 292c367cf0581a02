//! What holds for any bytes.
#![allow(clippy::expect_used)]

use std::{fs, path::Path, sync::LazyLock};

use postroom_mail::{DefectCode, Parsed, parse};
use postroom_types::limit;
use proptest::prelude::*;

/// Every made-up mail of the crate.
static MAILS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data");
    let mut found = Vec::new();
    for feature in fs::read_dir(root).expect("fixtures").flatten() {
        for case in fs::read_dir(feature.path()).into_iter().flatten().flatten() {
            if case
                .path()
                .extension()
                .is_some_and(|extension| extension == "eml")
            {
                found.push((case.path(), fs::read(case.path()).expect("readable")));
            }
        }
    }
    found.sort();
    found.into_iter().map(|(_, raw)| raw).collect()
});

/// Pieces that mails are made of, in any order.
const PIECES: &[&str] = &[
    "From: a@b.example\n",
    "To: ",
    "Subject: =?utf-8?Q?",
    "=?iso-2022-jp?B?GyRC",
    "?=",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "Content-Type: multipart/mixed; boundary=b\n\n",
    "--b\n",
    "--b--\n",
    "Content-Type: text/html\n\n",
    "Content-Type: message/rfc822\n\n",
    "Content-Transfer-Encoding: base64\n",
    "<p style=\"display:none\">",
    "<div>",
    "</div>",
    "<style>",
    ".a{color:#fff}",
    "</style>",
    "<!--",
    "-->",
    "> quoted\n",
    "On 1 May 2026, A wrote:\n",
    "-----Original Message-----\n",
    "-- \n",
    "charset=utf-7",
    "filename*0*=utf-8''%",
    "References: <a@b> <",
    "(",
    ")",
    "\"",
    "\\",
    "\0",
    "é",
    "\u{202e}",
    "\u{200b}",
    "BEGIN:VEVENT\n",
    "words and more words ",
    "<",
    ">",
    "@",
    ",",
    ";",
    ":",
];

fn check(raw: &[u8]) -> Parsed {
    let parsed = parse(raw);
    assert_eq!(parsed, parse(raw), "reading is repeatable");
    assert!(
        parsed
            .defects
            .iter()
            .all(|defect| defect.code != DefectCode::Fault)
    );
    assert!(!parsed.message_id.is_empty());
    assert_eq!(
        postroom_mail::thread_keys(&parsed).first(),
        Some(&parsed.message_id)
    );
    assert!(parsed.snippet.chars().count() <= limit::SNIPPET_CHARS);
    assert!(!parsed.snippet.contains('\n'));
    assert_eq!(parsed.text.is_some(), parsed.extracted_text.is_some());
    if let (Some(text), Some(extracted)) = (&parsed.text, &parsed.extracted_text) {
        assert!(!text.trim().is_empty() && !extracted.trim().is_empty());
        assert!(
            extracted.lines().all(|line| text.contains(line.trim())),
            "{extracted:?} of {text:?}"
        );
    }
    for (at, attachment) in parsed.attachments.iter().enumerate() {
        assert_eq!(attachment.index, at);
        let body = postroom_mail::attachment(raw, at).expect("listed");
        assert_eq!(
            (body.bytes.len() as u64, &body.attachment),
            (attachment.size, attachment)
        );
        let _ = postroom_mail::attachment_text(raw, at);
    }
    let _ = postroom_mail::html(raw);
    let json = serde_json::to_string(&parsed).expect("plain values");
    assert_eq!(
        serde_json::from_str::<Parsed>(&json).expect("the same values"),
        parsed
    );
    parsed
}

proptest! {
    #[test]
    fn any_bytes_are_a_message(raw in prop::collection::vec(any::<u8>(), 0..2_000)) {
        check(&raw);
    }

    #[test]
    fn any_order_of_mail_pieces_is_a_message(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..120),
    ) {
        check(pieces.concat().as_bytes());
    }

    #[test]
    fn damaged_mails_are_messages(
        which in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..12),
    ) {
        let mut raw = which.get(&MAILS).clone();
        for (place, byte, how) in damage {
            let at = place.index(raw.len() + 1);
            match how {
                0 => raw.insert(at, byte),
                1 if at < raw.len() => { raw.remove(at); }
                2 => raw.truncate(at.max(1)),
                _ if at < raw.len() => raw[at] = byte,
                _ => {}
            }
        }
        check(&raw);
    }

    #[test]
    fn safe_html_is_not_changed_by_a_second_pass(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60),
    ) {
        let wrap = |html: &str| {
            let html = html.replace(['\0', '\r'], "");
            format!("From: a@b.example\nContent-Type: text/html; charset=utf-8\n\n{html}")
        };
        if let Some(once) = postroom_mail::html(wrap(&pieces.concat()).as_bytes()) {
            let twice = postroom_mail::html(wrap(&once).as_bytes()).unwrap_or_default();
            prop_assert!(!once.contains("<script") && !once.contains("style="));
            prop_assert_eq!(once, twice);
        }
    }

    #[test]
    fn new_words_are_never_lost_to_nothing(text in "[a-zA-Z0-9 @<>:\\n\\-_.]{0,400}") {
        let split = postroom_mail::split_quotes(&text);
        prop_assert_eq!(split.extracted.trim().is_empty(), text.trim().is_empty());
    }

    #[test]
    fn normal_subjects_stay_as_they_are(subject in "\\PC{0,80}") {
        let once = postroom_mail::normalize_subject(&subject);
        prop_assert_eq!(postroom_mail::normalize_subject(&once), once);
    }

    #[test]
    fn normal_message_ids_stay_as_they_are(id in "\\PC{0,80}") {
        if let Some(once) = postroom_mail::normalize_message_id(&id) {
            let again = postroom_mail::normalize_message_id(&format!("<{once}>"));
            prop_assert_eq!(again, Some(once));
        }
    }
}
