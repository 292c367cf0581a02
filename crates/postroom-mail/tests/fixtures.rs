//! Made-up mails under `test_data/<feature>/<case>.eml`, each with what reading it must give in
//! `<case>.expect`. `POSTROOM_UPDATE_FIXTURES=1` writes the expectations anew.
#![allow(clippy::disallowed_methods, clippy::expect_used)]

use std::{fs, path::Path};

use postroom_mail::Parsed;
use serde_json::{Value, json};

/// Runs every case of a feature through `read`.
fn check(feature: &str, read: impl Fn(&[u8], &Parsed) -> Value) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("test_data")
        .join(feature);
    let update = std::env::var_os("POSTROOM_UPDATE_FIXTURES").is_some();
    let mut cases: Vec<_> = fs::read_dir(&folder)
        .expect("a folder of cases")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "eml"))
        .collect();
    cases.sort();
    assert!(!cases.is_empty(), "{feature} has no cases");
    for path in cases {
        let raw = fs::read(&path).expect("readable");
        let parsed = postroom_mail::parse(&raw);
        let found = serde_json::to_string_pretty(&read(&raw, &parsed)).expect("json") + "\n";
        let expect = path.with_extension("expect");
        if update {
            fs::write(&expect, &found).expect("writable");
        }
        let wanted = fs::read_to_string(&expect).unwrap_or_default();
        assert_eq!(found, wanted, "{}", path.display());
    }
}

fn defects(parsed: &Parsed) -> Value {
    json!(parsed.defects)
}

#[test]
fn charsets_become_text() {
    check(
        "charset",
        |_, parsed| json!({"text": parsed.text, "defects": defects(parsed)}),
    );
}

#[test]
fn headers_are_read_in_any_state() {
    check("header", |_, parsed| {
        json!({
            "from": parsed.from, "to": parsed.to, "cc": parsed.cc, "reply_to": parsed.reply_to,
            "subject": parsed.subject, "date": parsed.date, "received_at": parsed.received_at,
            "text": parsed.text, "flags": parsed.flags, "defects": defects(parsed),
        })
    });
}

#[test]
fn mime_structures_give_text_and_attachments() {
    check("mime", |raw, parsed| {
        let contents: Vec<_> = parsed
            .attachments
            .iter()
            .map(|one| {
                postroom_mail::attachment(raw, one.index)
                    .expect("listed")
                    .bytes
            })
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect();
        json!({
            "text": parsed.text, "has_html": parsed.has_html, "attachments": parsed.attachments,
            "contents": contents, "flags": parsed.flags, "defects": defects(parsed),
        })
    });
}

#[test]
fn nested_mails_are_attachments_with_text() {
    check("nesting", |raw, parsed| {
        let texts: Vec<_> = parsed
            .attachments
            .iter()
            .map(|one| postroom_mail::attachment_text(raw, one.index))
            .collect();
        json!({
            "text": parsed.text, "attachments": parsed.attachments, "texts": texts,
            "thread_keys": postroom_mail::thread_keys(parsed), "defects": defects(parsed),
        })
    });
}

#[test]
fn encrypted_bodies_are_flagged_and_kept_as_attachments() {
    check("encrypted", |_, parsed| {
        let names: Vec<_> = parsed
            .attachments
            .iter()
            .map(|one| &one.content_type)
            .collect();
        json!({"flags": parsed.flags, "text": parsed.text, "attachments": names})
    });
}

#[test]
fn signatures_around_the_whole_mail_are_opened() {
    check("signed", |raw, parsed| {
        let bytes: Vec<_> = parsed
            .attachments
            .iter()
            .filter_map(|one| postroom_mail::attachment(raw, one.index))
            .map(|body| (body.attachment.filename, body.bytes.len()))
            .collect();
        let fields: Vec<_> = parsed.headers.iter().map(|field| &field.name).collect();
        json!({
            "from": parsed.from, "subject": parsed.subject, "text": parsed.text, "bytes": bytes,
            "fields": fields, "flags": parsed.flags, "defects": defects(parsed),
        })
    });
}

#[test]
fn winmail_files_are_taken_apart() {
    check("tnef", |raw, parsed| {
        let files: Vec<_> = parsed
            .attachments
            .iter()
            .map(|one| {
                let body = postroom_mail::attachment(raw, one.index).expect("listed");
                assert_eq!(body.attachment, *one);
                let start = body.bytes.get(..24).unwrap_or(&body.bytes);
                json!({
                    "name": one.filename, "type": one.content_type, "size": one.size,
                    "cid": one.content_id, "is_tnef": one.is_tnef,
                    "start": start.escape_ascii().to_string(),
                })
            })
            .collect();
        json!({
            "text": parsed.text, "html": postroom_mail::html(raw), "files": files,
            "flags": parsed.flags, "defects": defects(parsed),
        })
    });
}

#[test]
fn hidden_words_go_and_are_flagged() {
    check("hidden", |raw, parsed| {
        json!({
            "hidden_text": parsed.hidden_text, "text": parsed.text,
            "html": postroom_mail::html(raw),
        })
    });
}

#[test]
fn html_becomes_plain_text() {
    check("html", |raw, parsed| {
        let lines: Vec<_> = parsed.text.iter().flat_map(|text| text.lines()).collect();
        json!({"text": lines, "html": postroom_mail::html(raw)})
    });
}

#[test]
fn automation_is_recognised_in_its_order() {
    check(
        "automation",
        |_, parsed| json!({"kind": parsed.kind, "automated": parsed.automated}),
    );
}

#[test]
fn invitations_are_summarised() {
    check(
        "calendar",
        |_, parsed| json!({"kind": parsed.kind, "calendar": parsed.calendar}),
    );
}

#[test]
fn threading_ids_are_normalised() {
    check("thread", |_, parsed| {
        json!({
            "message_id": parsed.message_id, "synthetic": parsed.message_id_synthetic,
            "in_reply_to": parsed.in_reply_to, "references": parsed.references,
            "thread_keys": postroom_mail::thread_keys(parsed), "defects": defects(parsed),
        })
    });
}

#[test]
fn new_words_are_split_from_history() {
    check("quote", |_, parsed| {
        let lines: Vec<_> = parsed
            .extracted_text
            .iter()
            .flat_map(|text| text.lines())
            .collect();
        json!({"extracted_text": lines, "snippet": parsed.snippet})
    });
}

#[test]
fn reports_say_what_became_of_each_recipient() {
    check("dsn", |raw, parsed| {
        let report = postroom_mail::dsn::read(raw);
        let fates: Vec<_> = report
            .iter()
            .flat_map(|report| &report.recipients)
            .map(|recipient| recipient.fate())
            .collect();
        json!({"kind": parsed.kind, "report": report, "fates": fates})
    });
}
