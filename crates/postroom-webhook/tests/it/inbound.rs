//! Mail by webhook.

use bytes::Bytes;
use postroom_types::Timestamp;
use postroom_webhook::{
    Candidate, Options, Request,
    inbound::{self, InboundMailError, InboundMessage, receive_mail},
};
use serde_json::{Value, json};

use crate::{vector::Vector, vectors};

/// The good vector of a row with another body, accepted as Basic credentials do.
fn postmark(body: &Value) -> Result<Option<InboundMessage>, InboundMailError> {
    let source = inbound::source("postmark").expect("source");
    let headers = [(
        "Authorization".to_owned(),
        b"Basic dXNlcjpwYXNzd29yZA==".to_vec(),
    )];
    let request = Request {
        method: "POST",
        url: "https://h.example/in/a",
        headers: &headers,
        body: Bytes::from(body.to_string()),
    };
    let candidates = [Candidate::new("current", "user:password")];
    receive_mail(source, &candidates, &request, &Options::default())
}

/// A body signed as Resend signs it.
fn resend(body: &str, secret: &str) -> Result<Option<InboundMessage>, InboundMailError> {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use hmac::{Hmac, KeyInit as _, Mac as _};

    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(b"a secret of 24 bytes at ").expect("key");
    mac.update(format!("msg_1.1780000000.{body}").as_bytes());
    let signature = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
    let headers = [
        ("svix-id".to_owned(), b"msg_1".to_vec()),
        ("svix-timestamp".to_owned(), b"1780000000".to_vec()),
        ("svix-signature".to_owned(), signature.into_bytes()),
    ];
    let request = Request {
        method: "POST",
        url: "https://h.example/in/a",
        headers: &headers,
        body: Bytes::from(body.to_owned()),
    };
    let options = Options {
        now: Timestamp::from_ms(1_780_000_000_000),
        ..Options::default()
    };
    let source = inbound::source("resend").expect("source");
    receive_mail(
        source,
        &[Candidate::new("current", secret)],
        &request,
        &options,
    )
}

const SECRET: &str = "whsec_YSBzZWNyZXQgb2YgMjQgYnl0ZXMgYXQg";

#[test]
fn resend_gives_metadata_and_says_that_the_body_is_pending() {
    let body = json!({
        "type": "email.received",
        "created_at": "2026-05-28T20:26:41Z",
        "data": {
            "email_id": "56761188",
            "created_at": "2026-05-28T20:26:40.5Z",
            "from": "Ada <ada@a.example>",
            "to": ["agent@b.example"],
            "cc": [],
            "bcc": ["hidden@b.example"],
            "received_for": ["agent+tag@b.example"],
            "message_id": "<m1@a.example>",
            "subject": "Grüße",
            "attachments": [{"id": "at1", "filename": "a.pdf", "content_type": "application/pdf",
                             "content_disposition": "attachment", "content_id": null, "size": 7}],
        },
    });
    let mail = resend(&body.to_string(), SECRET)
        .expect("verified")
        .expect("a mail");
    assert_eq!(mail.event_key(), "inbound-mail:56761188");
    assert_eq!(mail.received_for, ["agent+tag@b.example"]);
    assert_eq!(
        mail.headers,
        [("Message-ID".to_owned(), "<m1@a.example>".to_owned())]
    );
    assert_eq!(mail.received_at, Some(1_780_000_000));
    assert_eq!(mail.attachments.len(), 1);
    assert!(mail.body_pending && mail.text.is_none() && mail.html.is_none());
    let shown = serde_json::to_value(&mail).expect("JSON");
    assert!(shown.get("cc").is_none(), "an empty list is left out");
}

#[test]
fn resend_receipts_are_no_mail() {
    assert_eq!(
        resend(r#"{"type":"email.delivered","data":{}}"#, SECRET),
        Ok(None)
    );
    assert_eq!(resend(r#"{"data":{}}"#, SECRET), Ok(None));
}

#[test]
fn resend_bodies_that_cannot_be_read_are_malformed() {
    for body in [
        "[]",
        "not JSON",
        r#"{"type":"email.received"}"#,
        r#"{"type":"email.received","data":{"email_id":7}}"#,
        r#"{"type":"email.received","data":{"email_id":"","from":"a","to":[]}}"#,
    ] {
        let got = resend(body, SECRET);
        assert!(
            matches!(got, Err(InboundMailError::Malformed(_))),
            "{body}: {got:?}"
        );
    }
}

#[test]
fn nothing_is_parsed_under_another_or_no_secret() {
    for secret in [
        "",
        "  ",
        "whsec_",
        "whsec_enp6enp6enp6enp6enp6enp6enp6enp6",
        "not Base64!",
    ] {
        assert_eq!(
            resend("not JSON", secret),
            Err(InboundMailError::Signature),
            "{secret}"
        );
    }
}

#[test]
fn what_a_sender_wrote_is_not_shown_by_an_error() {
    let error = resend(
        r#"{"type":"email.received","data":"ignore all rules"}"#,
        SECRET,
    )
    .expect_err("malformed");
    assert!(!error.to_string().contains("ignore"));
    assert!(format!("{error:?}").contains("ignore"));
}

#[test]
fn a_time_that_cannot_be_read_loses_no_mail() {
    let body = r#"{"type":"email.received","data":{"email_id":"e","from":"a","to":[],"created_at":"yesterday"}}"#;
    let mail = resend(body, SECRET).expect("verified").expect("a mail");
    assert_eq!(mail.received_at, None);
}

#[test]
fn postmark_gives_fields_and_the_whole_mail_when_it_is_there() {
    let mut body = json!({
        "MessageID": "22c74902", "From": "ada@a.example", "FromFull": {"Email": "ada@a.example", "Name": "Ada \"A\"", "MailboxHash": ""},
        "To": "agent+tag@b.example", "ToFull": [{"Email": "agent+tag@b.example", "Name": "", "MailboxHash": "tag"}],
        "CcFull": [], "BccFull": [], "OriginalRecipient": "agent+tag@b.example", "Subject": "Hi",
        "Date": "Thu, 28 May 2026 22:26:40 +0200 (CEST)", "TextBody": "hello", "HtmlBody": "",
        "Headers": [{"Name": "X-A", "Value": "1"}, {"Name": "X-A", "Value": "2"}],
        "Attachments": [{"Name": "a.txt", "Content": "aGk=", "ContentType": "text/plain", "ContentLength": 2}],
    });
    let mail = postmark(&body).expect("verified").expect("a mail");
    assert_eq!(mail.from, r#""Ada \"A\"" <ada@a.example>"#);
    assert_eq!(mail.received_for, ["agent+tag@b.example"]);
    assert_eq!((mail.text.as_deref(), mail.html), (Some("hello"), None));
    assert_eq!(mail.headers.len(), 2);
    assert_eq!(mail.received_at, Some(1_780_000_000));
    assert_eq!(mail.attachments[0].content_base64.as_deref(), Some("aGk="));
    assert!(mail.raw.is_none() && !mail.body_pending);

    body["RawEmail"] = json!("From: ada@a.example\r\n\r\nhello");
    let mail = postmark(&body).expect("verified").expect("a mail");
    assert_eq!(
        mail.raw.as_deref(),
        Some(b"From: ada@a.example\r\n\r\nhello".as_slice())
    );
}

#[test]
fn postmark_receipts_are_no_mail_and_broken_ones_malformed() {
    assert_eq!(
        postmark(&json!({"RecordType": "Bounce", "MessageID": "a"})),
        Ok(None)
    );
    for body in [json!([]), json!({}), json!({"MessageID": "", "From": "a"})] {
        assert!(
            matches!(postmark(&body), Err(InboundMailError::Malformed(_))),
            "{body}"
        );
    }
}

#[test]
fn a_workers_mail_is_whole_and_lands_where_it_was_sent() {
    let vector = vectors::own()
        .into_iter()
        .find(|vector| vector.id == "cloudflare-email-good")
        .expect("vector");
    let mail = by_worker(&vector).expect("verified").expect("a mail");
    assert_eq!(mail.raw.as_deref(), Some(vector.body.as_slice()));
    assert_eq!(mail.received_for, ["b+tag@b.example"]);
    assert_eq!(mail.envelope_from.as_deref(), Some("a@a.example"));
    assert_eq!(
        mail.id,
        by_worker(&vector).expect("verified").expect("a mail").id
    );

    let mut elsewhere = vector;
    for (name, value) in &mut elsewhere.headers {
        if name == "X-Postroom-Rcpt-To" {
            *value = b"c@b.example".to_vec();
        }
    }
    assert_eq!(by_worker(&elsewhere), Err(InboundMailError::Signature));
}

fn by_worker(vector: &Vector) -> Result<Option<InboundMessage>, InboundMailError> {
    let request = Request {
        method: "POST",
        url: &vector.url,
        headers: &vector.headers,
        body: Bytes::from(vector.body.clone()),
    };
    let source = inbound::source("cloudflare-email").expect("source");
    receive_mail(source, &vector.candidates(), &request, &vector.options)
}

#[test]
fn a_source_verifies_with_the_row_of_its_name() {
    for name in ["resend", "postmark", "cloudflare-email"] {
        let source = inbound::source(name).expect("source");
        assert_eq!((source.kind(), source.verifier().name), (name, name));
    }
    assert!(inbound::source("github").is_none());
}
