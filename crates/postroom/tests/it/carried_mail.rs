//! Mail by webhook: what a provider delivers or announces lands in the mailbox it is for.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{
    fake::Fake,
    replay::ALLOWED,
    served::{Served, on_both, on_both_told},
    webhooks::{Source, events, hmac_hex, post},
};

pub(crate) fn now_s() -> i64 {
    postroom_app::clock::Clock::now(&postroom_app::clock::SystemClock).ms() / 1000
}

/// Waits for the next message of the agent's mailbox.
async fn message(served: &Served) -> Value {
    let path = "/v1/identities/agent@localhost/wait?timeout_seconds=30&since=2020-01-01T00:00:00Z";
    let waited = served.ask("GET", path, served.admin(), None).await;
    assert_eq!(waited.status, 200, "{waited:?}");
    let found = waited.json()["message"].clone();
    assert!(found.is_object(), "{waited:?}");
    let path = format!(
        "/v1/identities/agent@localhost/messages/{}",
        found["id"].as_str().expect("an id")
    );
    served.ask("GET", &path, served.admin(), None).await.json()
}

/// The webhook's event, once no work on it is left.
async fn settled(served: &Served, provider: &str) -> Value {
    for _ in 0..400 {
        let listed = events(served, &format!("?provider={provider}")).await;
        let delivery = listed
            .into_iter()
            .find(|event| event["family"] == "webhook");
        match delivery {
            Some(event) if event.get("body_pending").is_none() => return event,
            _ => tokio::time::sleep(std::time::Duration::from_millis(25)).await,
        }
    }
    panic!("{:?}", events(served, "").await);
}

#[test]
fn a_workers_mail_lands_whole_where_it_was_sent_and_once() {
    on_both("serve", async |served| {
        let source = Source::of(
            &served,
            json!({"source_type": "cloudflare-email", "target_queue": "mail"}),
        )
        .await;
        let raw = "From: Mia <mia@garage.example>\r\nTo: agent@localhost\r\nSubject: Deposit\r\nMessage-ID: <a@garage.example>\r\n\r\nThe deposit is due.\r\n";
        let send = async || {
            let now = now_s().to_string();
            let signed = format!("v1\n{now}\nmia@garage.example\nagent+van@localhost\n{raw}");
            let signature = format!("v1={}", hmac_hex(&source.secret, signed.as_bytes()));
            let headers = [
                ("x-postroom-timestamp", now.as_str()),
                ("x-postroom-mail-from", "mia@garage.example"),
                ("x-postroom-rcpt-to", "agent+van@localhost"),
                ("x-postroom-signature", signature.as_str()),
            ];
            post(&served, &source.url, &headers, raw.into()).await
        };
        let answer = send().await;
        assert_eq!((answer.status, &answer.json()["created"]), (202, &json!(1)));
        assert_eq!(send().await.json()["created"], json!(0));
        let shown = message(&served).await;
        assert!(shown.to_string().contains("The deposit is due."), "{shown}");
        assert_eq!(shown["delivered_to"], "agent@localhost", "{shown}");
        let delivery = settled(&served, "cloudflare-email").await;
        assert_eq!(
            (&delivery["verified"], &delivery["redeliveries"]),
            (&json!(true), &json!(1))
        );
        assert!(
            delivery["message_id"]
                .as_str()
                .is_some_and(|id| id.starts_with("msg_"))
        );
        let listed = events(&served, "?event_type=message.received").await;
        let mails = listed
            .iter()
            .filter(|event| event["family"] == "mail")
            .count();
        assert_eq!(mails, 1);
        let key = json!({"name": "blind", "level": "tenant", "permissions": ["events:read"]});
        let key = served
            .ask("POST", "/v1/keys", served.admin(), Some(key))
            .await
            .json();
        let key = key["secret"].as_str().expect("a key").to_owned();
        let path = format!("/v1/events/{}", delivery["id"]);
        let blind = served.ask("GET", &path, &key, None).await.json();
        assert_eq!(
            (&blind["payload"], &blind["payload_withheld"]),
            (&Value::Null, &json!("messages:read"))
        );
        assert!(!blind.to_string().contains("Deposit"));
    });
}

#[test]
fn postmarks_mail_is_honestly_a_token_and_comes_with_its_files() {
    on_both("serve", async |served| {
        let source = Source::of(
            &served,
            json!({"source_type": "postmark", "target_queue": "mail"}),
        )
        .await;
        let body = json!({
            "FromName": "Mia", "MessageStream": "inbound", "From": "mia@garage.example",
            "FromFull": {"Email": "mia@garage.example", "Name": "Mia", "MailboxHash": ""},
            "To": "agent@localhost", "ToFull": [{"Email": "agent@localhost", "Name": "", "MailboxHash": ""}],
            "OriginalRecipient": "agent@localhost", "Subject": "Van hire",
            "MessageID": "22c74902-a0c1-4511-804f-341342852c90", "Date": "Thu, 5 Nov 2026 16:59:01 +0200",
            "TextBody": "The van is ready.", "HtmlBody": "<p>The van is ready.</p>", "Tag": "",
            "Headers": [{"Name": "Message-ID", "Value": "<pm@garage.example>"}],
            "Attachments": [{"Name": "terms.txt", "Content": STANDARD.encode("Terms of hire."), "ContentType": "text/plain", "ContentLength": 14}],
        })
        .to_string();
        let send = async |secret: &str| {
            let basic = format!("Basic {}", STANDARD.encode(secret));
            post(
                &served,
                &source.url,
                &[("authorization", &basic)],
                body.clone().into(),
            )
            .await
            .status
        };
        assert_eq!(send("postroom:wrong").await, 401);
        assert_eq!(send(&source.secret).await, 200);
        let shown = message(&served).await;
        assert!(shown.to_string().contains("The van is ready."), "{shown}");
        assert!(shown.to_string().contains("terms.txt"), "{shown}");
        let delivery = settled(&served, "postmark").await;
        assert_eq!(
            (&delivery["trust_mode"], &delivery["verified"]),
            (&json!("token"), &json!(false))
        );
        assert!(
            !events(&served, "")
                .await
                .iter()
                .any(|event| event.to_string().contains(&source.secret))
        );
    });
}

#[test]
fn resends_mail_is_fetched_with_retries_and_lands_with_its_files() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let fake = runtime.block_on(Fake::start(|asked, count| {
        let json = |value: Value| (200, "content-type: application/json\r\n", value.to_string().into_bytes());
        if asked.path.starts_with("/files/") {
            return (200, "", b"Terms of hire.".to_vec());
        }
        if asked.header("authorization") != Some("Bearer re_0123456789abcdef") {
            return (401, "", Vec::new());
        }
        let host = asked.header("host").unwrap_or_default().to_owned();
        match asked.path.as_str() {
            // The provider tells of a mail before it gives it out.
            _ if count == 0 => (404, "", Vec::new()),
            "/emails/receiving/56761188-7520" => json(json!({
                "object": "email", "id": "56761188-7520", "to": ["agent@localhost"], "from": "Mia <mia@garage.example>",
                "subject": "Van hire", "text": "The van is ready.", "html": null,
                "headers": {"references": "<zero@garage.example>"},
                "attachments": [{"id": "2a0c", "filename": "terms.txt", "content_type": "text/plain"}],
            })),
            "/emails/receiving/56761188-7520/attachments" => json(json!({
                "object": "list", "has_more": false,
                "data": [{"id": "2a0c", "filename": "terms.txt", "size": 14, "content_type": "text/plain",
                    "content_disposition": "attachment", "download_url": format!("http://{host}/files/2a0c")}],
            })),
            _ => (404, "", Vec::new()),
        }
    }));
    let file = format!("{ALLOWED}provider_base = {{ resend = \"{}\" }}\n", fake.url);
    on_both_told("serve", &file, async |served| {
        let before = fake.asked().len();
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let wanted = json!({
            "source_type": "resend", "target_queue": "mail", "signing_secret": secret,
            "settings": {"api_key": "re_0123456789abcdef"},
        });
        let source = Source::of(&served, wanted).await;
        let body = json!({
            "type": "email.received", "created_at": "2026-11-05T16:59:01.000Z",
            "data": {"email_id": "56761188-7520", "created_at": "2026-11-05T16:59:01.000Z", "from": "Mia <mia@garage.example>",
                "to": ["agent@localhost"], "cc": [], "bcc": [], "received_for": ["agent+van@localhost"],
                "message_id": "<re@garage.example>", "subject": "Van hire",
                "attachments": [{"id": "2a0c", "filename": "terms.txt", "content_type": "text/plain"}]},
        })
        .to_string();
        let now = now_s().to_string();
        let key = STANDARD
            .decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
            .expect("Base64");
        let signature = svix(&key, &format!("msg_1.{now}.{body}"));
        let headers = [
            ("svix-id", "msg_1"),
            ("svix-timestamp", &now),
            ("svix-signature", &signature),
        ];
        assert_eq!(
            post(&served, &source.url, &headers, body.into())
                .await
                .status,
            200
        );
        let shown = message(&served).await;
        assert!(shown.to_string().contains("The van is ready."), "{shown}");
        assert!(shown.to_string().contains("terms.txt"), "{shown}");
        assert_eq!(shown["delivered_to"], "agent@localhost", "{shown}");
        let delivery = settled(&served, "resend").await;
        assert_eq!(
            (&delivery["verified"], &delivery["event_type"]),
            (&json!(true), &json!("email.received"))
        );
        assert!(delivery["message_id"].is_string(), "{delivery}");
        let path = format!("/v1/events/{}", delivery["id"]);
        let detail = served.ask("GET", &path, served.admin(), None).await.json();
        assert_eq!(detail["external_id"], json!("inbound-mail:56761188-7520"));
        let asked = fake.asked().split_off(before);
        let files: Vec<_> = asked
            .iter()
            .filter(|asked| asked.path.starts_with("/files/"))
            .collect();
        assert!(
            files
                .iter()
                .all(|asked| asked.header("authorization").is_none()),
            "the key goes to the provider alone"
        );
        let listed = served.ask("GET", "/v1/sources", served.admin(), None).await;
        assert!(!listed.body.contains("re_0123456789abcdef") && !listed.body.contains(secret));
    });
}

pub(crate) fn svix(key: &[u8], signed: &str) -> String {
    use hmac::{KeyInit as _, Mac as _};
    let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(key).expect("any length");
    mac.update(signed.as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}
