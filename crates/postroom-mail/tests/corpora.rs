//! Real mails, when a folder of them is named by `POSTROOM_CORPORA`; nothing without it.
#![allow(clippy::disallowed_methods, clippy::expect_used)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use mail_parser::{MessageParser, MimeHeaders, PartType};

fn files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Some(root) = std::env::var_os("POSTROOM_CORPORA") {
        collect(Path::new(&root), &mut found);
        found.sort();
        assert!(!found.is_empty(), "POSTROOM_CORPORA names no files");
    }
    found
}

fn collect(path: &Path, found: &mut Vec<PathBuf>) {
    if !path.is_dir() {
        found.push(path.to_owned());
        return;
    }
    for entry in fs::read_dir(path).expect("a readable folder").flatten() {
        collect(&entry.path(), found);
    }
}

fn is_mail(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "eml")
}

#[test]
fn any_file_is_read_and_no_words_are_lost() {
    let mut without_words = Vec::new();
    for path in files() {
        let raw = fs::read(&path).expect("readable");
        let parsed = postroom_mail::parse(&raw);
        assert_eq!(
            parsed,
            postroom_mail::parse(&raw),
            "{path:?}: reading is not repeatable"
        );
        assert!(!parsed.message_id.is_empty());
        assert_eq!(
            parsed.text.is_some(),
            parsed.extracted_text.is_some(),
            "{path:?}"
        );
        assert!(
            parsed
                .defects
                .iter()
                .all(|defect| defect.code != postroom_mail::DefectCode::Fault),
            "{path:?}"
        );
        let _ = postroom_mail::html(&raw);
        for attachment in &parsed.attachments {
            let body = postroom_mail::attachment(&raw, attachment.index).expect("listed");
            assert_eq!(body.bytes.len() as u64, attachment.size, "{path:?}");
            let _ = postroom_mail::attachment_text(&raw, attachment.index);
        }
        if is_mail(&path) && parsed.text.is_none() && has_words(&raw) {
            without_words.push(path);
        }
    }
    assert!(without_words.is_empty(), "no text: {without_words:#?}");
}

/// Whether another reader sees a text body with letters in it.
fn has_words(raw: &[u8]) -> bool {
    let Some(message) = MessageParser::default().parse(raw) else {
        return false;
    };
    message.text_bodies().any(|part| match &part.body {
        PartType::Text(text) => {
            text.chars().any(char::is_alphanumeric) && !text.contains("-----BEGIN PGP MESSAGE")
        }
        PartType::Html(text) => {
            let words = mail_parser::decoders::html::html_to_text(text);
            words.chars().any(char::is_alphanumeric)
        }
        _ => false,
    })
}

#[test]
fn headers_agree_with_the_expected_files_of_mail_parser() {
    let (mut compared, mut different) = (0, Vec::new());
    for path in files().into_iter().filter(|path| is_mail(path)) {
        let Ok(json) = fs::read(path.with_extension("json")) else {
            continue;
        };
        let Ok(expected) = serde_json::from_slice::<serde_json::Value>(&json) else {
            continue;
        };
        let Some(headers) = expected["parts"][0]["headers"].as_array() else {
            continue;
        };
        compared += 1;
        let parsed = postroom_mail::parse(&fs::read(&path).expect("readable"));
        let value = |name: &str| {
            headers
                .iter()
                .find(|header| header["name"] == name)
                .map(|header| &header["value"])
        };
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        // Where the expected file lost a character, there is nothing to compare with.
        if let Some(subject) = value("subject").and_then(|value| value["Text"].as_str())
            && !subject.contains('\u{fffd}')
            && words(subject) != words(parsed.subject.as_deref().unwrap_or_default())
        {
            different.push(format!("{path:?} subject {subject:?} {:?}", parsed.subject));
        }
        let kept =
            |one: &postroom_types::Mailbox| Some(one.address.clone()).filter(|a| !a.is_empty());
        let from: Vec<_> = parsed.from.iter().filter_map(kept).collect();
        let to: Vec<_> = parsed.to.iter().filter_map(kept).collect();
        for (name, found) in [("from", from), ("to", to)] {
            let wanted = value(name).map(addresses).unwrap_or_default();
            let wanted: Vec<_> = match name {
                "from" => wanted.into_iter().take(1).collect(),
                _ => wanted,
            };
            if wanted != found {
                different.push(format!("{path:?} {name} {wanted:?} {found:?}"));
            }
        }
    }
    assert!(
        different.is_empty(),
        "{} of {compared}:\n{}",
        different.len(),
        different.join("\n")
    );
}

/// Addresses of an expected header, in the form the product keeps them.
fn addresses(value: &serde_json::Value) -> Vec<String> {
    let list = |value: &serde_json::Value| -> Vec<String> {
        value
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|one| one["address"].as_str())
            .map(|address| postroom_types::Mailbox::from_header(address, "").address)
            .collect()
    };
    let address = &value["Address"];
    match address["Group"].as_array() {
        Some(groups) => groups
            .iter()
            .flat_map(|group| list(&group["addresses"]))
            .collect(),
        None => list(&address["List"]),
    }
}

#[test]
fn real_reports_name_recipients_and_their_mail() {
    let (mut reports, mut unread) = (0, Vec::new());
    for path in files() {
        let raw = fs::read(&path).expect("readable");
        let report = postroom_mail::dsn::read(&raw);
        let is_report = MessageParser::default().parse(&raw).is_some_and(|message| {
            message.parts.iter().any(|part| {
                part.content_type().is_some_and(|media| {
                    media.ctype() == "message" && media.subtype() == Some("delivery-status")
                })
            })
        });
        match report {
            Some(report) => {
                reports += 1;
                assert!(!report.recipients.is_empty(), "{path:?}");
            }
            None if is_report => unread.push(path),
            None => {}
        }
    }
    assert!(unread.is_empty(), "no report: {unread:#?}");
    if std::env::var_os("POSTROOM_CORPORA").is_some() {
        assert!(reports > 0, "no report in the corpora");
    }
}
