//! Webhooks from outside: sources, deliveries, the event log.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::served::{Reply, Served, on_both, on_both_told};

/// HMAC-SHA256 in hex.
pub(crate) fn hmac_hex(secret: &str, message: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length");
    mac.update(message);
    let bytes = mac.finalize().into_bytes();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A source that was made for a test.
pub(crate) struct Source {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) secret: String,
}

impl Source {
    /// Makes a source with the tenant's key.
    pub(crate) async fn of(served: &Served, arguments: Value) -> Self {
        let made = served
            .ask("POST", "/v1/sources", served.admin(), Some(arguments))
            .await;
        assert_eq!(made.status, 201, "{made:?}");
        let made = made.json();
        let text = |name: &str| made[name].as_str().unwrap_or_default().to_owned();
        assert!(text("ingest_url").starts_with(&format!("{}/in/", served.text("url"))));
        Self {
            id: text("source_id"),
            url: text("ingest_url"),
            secret: text("signing_secret"),
        }
    }

    pub(crate) async fn github(served: &Served) -> Self {
        Self::of(
            served,
            json!({"source_type": "github", "target_queue": "triage"}),
        )
        .await
    }

    /// Posts a delivery of GitHub under this source's secret.
    pub(crate) async fn push(&self, served: &Served, delivery: &str, body: &str) -> Reply {
        let signature = format!("sha256={}", hmac_hex(&self.secret, body.as_bytes()));
        let headers = [
            ("x-github-event", "issues"),
            ("x-github-delivery", delivery),
            ("x-hub-signature-256", &signature),
        ];
        post(served, &self.url, &headers, body.as_bytes().to_vec()).await
    }
}

/// Posts a body with headers.
pub(crate) async fn post(
    served: &Served,
    url: &str,
    headers: &[(&str, &str)],
    body: Vec<u8>,
) -> Reply {
    let mut request = served
        .http
        .post(url)
        .header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Reply::of(request.body(body).send().await.expect("an answer")).await
}

pub(crate) async fn events(served: &Served, query: &str) -> Vec<Value> {
    let listed = served
        .ask("GET", &format!("/v1/events{query}"), served.admin(), None)
        .await;
    assert_eq!(listed.status, 200, "{listed:?}");
    listed.json()["events"].as_array().expect("events").clone()
}

const ISSUE: &str = r#"{"action":"opened","issue":{"number":7,"title":"Brakes squeal","html_url":"https://github.com/acme/van/issues/7","state":"open","user":{"login":"mia"},"labels":[{"name":"bug"}],"body":"They do."},"repository":{"full_name":"acme/van"},"sender":{"login":"mia"}}"#;

#[test]
fn a_signed_delivery_is_stored_verified_and_opens_one_todo() {
    on_both("serve", async |served| {
        let source = Source::github(&served).await;
        let answer = source.push(&served, "d-1", ISSUE).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        for (name, value) in [
            ("content-security-policy", "default-src 'none'"),
            ("x-frame-options", "DENY"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
        ] {
            assert_eq!(answer.header(name), Some(value));
        }
        assert!(answer.header("set-cookie").is_none());
        let body = answer.json();
        assert_eq!(
            (
                &body["created"],
                &body["verified"],
                &body["trust_mode"],
                &body["queue"]
            ),
            (&json!(1), &json!(true), &json!("signed"), &json!("triage"))
        );
        assert_eq!(body["todos"][0]["created"], json!(true));
        assert_eq!(body["todos"][0]["id"], body["id"]);
        let again = source.push(&served, "d-1", ISSUE).await;
        assert_eq!(again.status, 202);
        assert_eq!(again.json()["created"], json!(0));
        assert_eq!(again.json()["id"], body["id"]);
        let listed = events(&served, "?provider=github").await;
        assert_eq!(listed.len(), 1, "{listed:?}");
        let event = &listed[0];
        assert_eq!(event["source_id"], json!(source.id));
        assert_eq!(event["redeliveries"], json!(1));
        assert_eq!(event["verified"], json!(true));
        let shown = served
            .ask(
                "GET",
                &format!("/v1/events/{}", event["id"]),
                served.admin(),
                None,
            )
            .await
            .json();
        assert_eq!(shown["payload"], json!(ISSUE));
        assert_eq!(shown["external_id"], json!("d-1"));
        assert_eq!(shown["headers"]["x-hub-signature-256"], json!("«redacted»"));
        assert!(!shown.to_string().contains(&source.secret));
    });
}

#[test]
fn what_is_not_signed_by_the_source_leaves_no_row() {
    on_both("serve", async |served| {
        let source = Source::github(&served).await;
        let good = hmac_hex(&source.secret, ISSUE.as_bytes());
        let bad = [
            None,
            Some(String::new()),
            Some("sha256=".to_owned()),
            Some(format!("sha1={good}")),
            Some(format!(
                "sha256={}",
                hmac_hex("another secret", ISSUE.as_bytes())
            )),
            Some(format!(
                "sha256={}",
                hmac_hex(&source.secret, b"another body")
            )),
            Some(format!("sha256={}é", &good[..62])),
        ];
        let mut bodies = Vec::new();
        for signature in bad {
            let mut headers = vec![("x-github-event", "issues"), ("x-github-delivery", "d-1")];
            if let Some(signature) = &signature {
                headers.push(("x-hub-signature-256", signature));
            }
            let answer = post(&served, &source.url, &headers, ISSUE.into()).await;
            assert_eq!(answer.status, 401, "{signature:?}: {answer:?}");
            bodies.push(answer.body);
        }
        bodies.dedup();
        assert_eq!(bodies.len(), 1, "which part failed is not said: {bodies:?}");
        assert!(events(&served, "").await.is_empty());
        let listed = served
            .ask("GET", "/v1/sources", served.admin(), None)
            .await
            .json();
        let shown = &listed["sources"][0];
        assert_eq!(shown["deliveries"], json!(0));
        assert!(shown["last_refusal"]["detail"].is_string(), "{shown}");
        assert!(!listed.to_string().contains(&source.secret));
    });
}

#[test]
fn a_token_of_no_source_is_unknown_and_says_nothing_more() {
    on_both("serve", async |served| {
        let base = served.text("url").to_owned();
        for token in ["x", &"0".repeat(52), "..%2f", &"é".repeat(52)] {
            let answer = post(&served, &format!("{base}/in/{token}"), &[], b"{}".to_vec()).await;
            assert_eq!(
                (answer.status, answer.json()["error"].as_str()),
                (404, Some("unknown webhook")),
                "{token}"
            );
        }
    });
}

#[test]
fn a_source_without_its_secret_stores_nothing_until_it_has_one() {
    on_both("serve", async |served| {
        let source = Source::of(
            &served,
            json!({"source_type": "stripe", "target_queue": "money"}),
        )
        .await;
        assert_eq!(source.secret, "", "the provider makes it");
        let now = postroom_app::clock::Clock::now(&postroom_app::clock::SystemClock).ms() / 1000;
        let secret = "whsec_0123456789abcdefghij";
        let body = r#"{"id":"evt_1","type":"charge.succeeded","created":1790000000}"#;
        let signed = |at: i64| {
            let signature = hmac_hex(secret, format!("{at}.{body}").as_bytes());
            format!("t={at},v1={signature}")
        };
        let send = async |header: String| {
            post(
                &served,
                &source.url,
                &[("stripe-signature", &header)],
                body.into(),
            )
            .await
        };
        let early = send(signed(now)).await;
        assert_eq!(
            (early.status, early.json()["error"].as_str()),
            (503, Some("webhook awaiting signing secret"))
        );
        assert!(events(&served, "").await.is_empty());
        let set = served
            .ask(
                "POST",
                &format!("/v1/sources/{}/secret", source.id),
                served.admin(),
                Some(json!({"signing_secret": secret})),
            )
            .await;
        assert_eq!(set.status, 200, "{set:?}");
        assert!(!set.body.contains(secret));
        assert_eq!(send(signed(now)).await.status, 200);
        for skew in [-301, 301, -400_000_000, 9_000_000_000] {
            let stale = send(signed(now + skew)).await;
            assert_eq!(stale.status, 401, "{skew}");
        }
        assert_eq!(send("t=soon,v1=00".to_owned()).await.status, 401);
        let listed = events(&served, "").await;
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0]["event_type"], json!("charge.succeeded"));
    });
}

#[test]
fn the_same_delivery_many_times_at_once_is_one_event_and_one_todo() {
    on_both("serve", async |served| {
        let source = Source::github(&served).await;
        let sent: Vec<_> = (0..24)
            .map(|_| source.push(&served, "d-same", ISSUE))
            .collect();
        let answers = futures_util::future::join_all(sent).await;
        let created: u64 = answers
            .iter()
            .map(|answer| {
                assert_eq!(answer.status, 202);
                answer.json()["created"].as_u64().expect("a count")
            })
            .sum();
        assert_eq!(created, 1);
        let listed = events(&served, "").await;
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0]["redeliveries"], json!(23));
    });
}

#[test]
fn a_body_past_the_limit_is_refused_and_one_at_it_is_taken() {
    on_both_told("serve", "rate_source = 1000\n", async |served| {
        let source = Source::github(&served).await;
        let most = postroom_types::limit::WEBHOOK_BODY_MOST_BYTES;
        let made = Source::of(
            &served,
            json!({"source_type": "generic", "target_queue": "any"}),
        )
        .await;
        let limit = postroom_types::limit::WEBHOOK_BODY_BYTES;
        for (size, status) in [(limit, 202), (limit + 1, 413)] {
            let body = "x".repeat(size);
            let signature = hmac_hex(&made.secret, body.as_bytes());
            let answer = post(
                &served,
                &made.url,
                &[("x-signature", &signature)],
                body.into(),
            )
            .await;
            assert_eq!(answer.status, status, "{size}");
        }
        let over = post(&served, &source.url, &[], vec![b'x'; most + 1]).await;
        assert_eq!(over.status, 413, "before it is verified");
        assert_eq!(events(&served, "").await.len(), 1);
    });
}

#[test]
fn a_compressed_body_is_read_within_its_bound() {
    on_both("serve", async |served| {
        let source = Source::of(
            &served,
            json!({"source_type": "generic", "target_queue": "any"}),
        )
        .await;
        let send = async |bytes: Vec<u8>, signed: &[u8]| {
            let signature = hmac_hex(&source.secret, signed);
            let headers = [
                ("x-signature", signature.as_str()),
                ("content-encoding", "gzip"),
            ];
            post(&served, &source.url, &headers, bytes).await
        };
        let plain = br#"{"type":"packed"}"#.to_vec();
        let packed = gzip(&plain);
        assert_eq!(send(packed.clone(), &plain).await.status, 202);
        assert_eq!(
            send(packed.clone(), &packed).await.status,
            202,
            "signed as sent"
        );
        let bomb = gzip(&vec![0; 4 * postroom_types::limit::WEBHOOK_BODY_BYTES + 1]);
        assert_eq!(send(bomb.clone(), &bomb).await.status, 413);
        assert_eq!(send(b"no gzip".to_vec(), b"no gzip").await.status, 400);
        let listed = events(&served, "").await;
        assert_eq!(listed.len(), 2);
        let first = served
            .ask(
                "GET",
                &format!("/v1/events/{}", listed[1]["id"]),
                served.admin(),
                None,
            )
            .await
            .json();
        assert_eq!(first["payload"], json!(String::from_utf8_lossy(&plain)));
        let second = served
            .ask(
                "GET",
                &format!("/v1/events/{}", listed[0]["id"]),
                served.admin(),
                None,
            )
            .await
            .json();
        assert_eq!(
            (&second["payload"], &second["payload_encoding"]),
            (&json!(STANDARD.encode(&packed)), &json!("base64"))
        );
    });
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}
