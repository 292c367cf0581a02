//! Webhooks from outside: sources, deliveries, the event log.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

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
        assert_eq!(send(signed(now)).await.status, 202);
        // A clock that went on since brings what is ahead nearer; the very bounds are tested by vectors.
        for skew in [-301, 360, -400_000_000, 9_000_000_000] {
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
            json!({"source_type": "bitbucket", "target_queue": "any"}),
        )
        .await;
        let limit = postroom_types::limit::WEBHOOK_BODY_BYTES;
        for (size, status) in [(limit, 202), (limit + 1, 413)] {
            let body = "x".repeat(size);
            let signature = format!("sha256={}", hmac_hex(&made.secret, body.as_bytes()));
            let answer = post(
                &served,
                &made.url,
                &[("x-hub-signature", &signature)],
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
            json!({"source_type": "bitbucket", "target_queue": "any"}),
        )
        .await;
        let send = async |bytes: Vec<u8>, signed: &[u8]| {
            let signature = format!("sha256={}", hmac_hex(&source.secret, signed));
            let headers = [
                ("x-hub-signature", signature.as_str()),
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

/// Calls a REST route with the tenant's key; the answer as JSON.
async fn ask(served: &Served, method: &str, path: &str, body: Value) -> (u16, Value) {
    let body = (method != "GET").then_some(body);
    let reply = served.ask(method, path, served.admin(), body).await;
    (reply.status, reply.json())
}

/// The event that came last.
async fn newest(served: &Served) -> Value {
    events(served, "?limit=1").await.remove(0)
}

#[test]
fn rules_send_drop_and_hold_back_and_a_fault_never_falls_through() {
    on_both_told("serve", "rate_source = 1000\n", async |served| {
        let source = Source::github(&served).await;
        let rules = format!("/v1/sources/{}/rules", source.id);
        let set = json!({
            "rules": [
                {"id": "bots", "expr": "payload.sender.login == 'bot'", "action": {"drop": true}},
                {"name": "urgent", "expr": "issue != null && 'bug' in issue.labels", "action": {"queue": "bugs", "priority": 50, "tags": ["bug"]}},
                {"expr": "payload.action == 'deleted'", "action": {"quarantine": true}},
            ],
            "params": {"team": "vans"},
        });
        let (status, saved) = ask(&served, "POST", &rules, set.clone()).await;
        assert_eq!(status, 200, "{saved}");
        assert_eq!(
            (&saved["rules_version"], &saved["rules"][0]["id"]),
            (&json!(2), &json!("bots"))
        );
        assert!(saved["rules"][1]["id"].is_string(), "an id is made");
        source.push(&served, "r-1", ISSUE).await;
        let event = newest(&served).await;
        assert_eq!(event["disposition"], json!("routed"));
        assert_eq!(event["routing"]["rule_name"], json!("urgent"));
        let (_, again) = ask(&served, "POST", &rules, set.clone()).await;
        assert_eq!(
            (&again["tried"], &again["outcome"]),
            (
                &json!(1),
                &json!({"queues": {"bugs": 1}, "quarantined": 0, "dropped": 0})
            ),
            "the try says where events would have gone"
        );
        let dropped = source
            .push(
                &served,
                "r-2",
                r#"{"action":"opened","sender":{"login":"bot"}}"#,
            )
            .await
            .json();
        assert_eq!(
            (&dropped["dropped"], &dropped["todos"]),
            (&json!(true), &json!([]))
        );
        assert_eq!(newest(&served).await["disposition"], json!("dropped"));
        let held = source
            .push(
                &served,
                "r-3",
                r#"{"action":"deleted","sender":{"login":"mia"}}"#,
            )
            .await
            .json();
        assert_eq!(held["queue"], json!("quarantine"));
        assert_eq!(newest(&served).await["disposition"], json!("quarantined"));
        // No sender: the first rule cannot be evaluated.
        let faulted = source.push(&served, "r-4", r#"{"action":"opened"}"#).await;
        assert_eq!(faulted.status, 202);
        let event = newest(&served).await;
        assert_eq!(event["disposition"], json!("faulted"));
        assert_eq!(event["routing"]["faults"][0]["rule_id"], json!("bots"));
        for (disposition, count) in [
            ("routed", 1),
            ("dropped", 1),
            ("quarantined", 1),
            ("faulted", 1),
        ] {
            let listed = events(&served, &format!("?disposition={disposition}")).await;
            assert_eq!(listed.len(), count, "{disposition}");
        }
        // What has faulted here would fault again: it is not saved once more, and says where.
        let (status, refused) = ask(&served, "POST", &rules, set).await;
        assert_eq!(
            (status, &refused["error"]["code"]),
            (400, &json!("invalid_rule"))
        );
        assert_eq!(
            refused["error"]["details"]["event_ids"],
            json!([event["id"]])
        );
        // Parameters stay when they are left out, and go when they are emptied.
        let (_, saved) = ask(&served, "POST", &rules, json!({"rules": []})).await;
        assert_eq!(saved["params"], json!({"team": "vans"}));
        let (_, saved) = ask(&served, "POST", &rules, json!({"rules": [], "params": {}})).await;
        assert_eq!(saved["params"], json!({}));
        let (status, conflict) = ask(
            &served,
            "POST",
            &rules,
            json!({"rules": [], "expected_version": 2}),
        )
        .await;
        assert_eq!(
            (status, &conflict["error"]["code"]),
            (409, &json!("conflict"))
        );
    });
}

#[test]
fn rules_that_cannot_be_are_refused_by_their_code() {
    on_both("serve", async |served| {
        let source = Source::github(&served).await;
        let rules = format!("/v1/sources/{}/rules", source.id);
        let rule = |expr: &str, action: Value| json!({"expr": expr, "action": action});
        let queue = json!({"queue": "a"});
        let many: Vec<Value> = (0..33).map(|_| rule("true", queue.clone())).collect();
        for (set, code) in [
            (
                json!([rule("payload.", queue.clone())]),
                "invalid_expression",
            ),
            (
                json!([rule("timestamp('x') == 1", queue.clone())]),
                "forbidden_function",
            ),
            (
                json!([rule("true", json!({"queue": "a", "drop": true}))]),
                "invalid_rule",
            ),
            (json!([rule("true", json!({"quue": "a"}))]), "invalid_rule"),
            (
                json!([rule("true", json!({"queue": "quarantine"}))]),
                "invalid_rule",
            ),
            (json!(many), "too_many_rules"),
        ] {
            let (status, refused) = ask(&served, "POST", &rules, json!({"rules": set})).await;
            assert_eq!(
                (status, refused["error"]["code"].as_str()),
                (400, Some(code)),
                "{set}"
            );
        }
        let (_, listed) = ask(
            &served,
            "GET",
            &format!("/v1/sources/{}", source.id),
            json!({}),
        )
        .await;
        assert_eq!(listed["sources"][0]["rules_version"], json!(1));
        let tried = json!({
            "payload": {"action": "opened", "issue": {"number": 7, "title": "x"}, "repository": {"full_name": "acme/van"}},
            "event_type": "issues",
            "rules": [{"expr": "issue.number == 7", "action": {"queue": "seven", "once": true}}],
        });
        let path = format!("/v1/sources/{}/rules/test", source.id);
        let (status, answer) = ask(&served, "POST", &path, tried).await;
        assert_eq!(status, 200, "{answer}");
        assert_eq!(
            answer["decision"],
            json!({"disposition": "routed", "queue": "seven", "priority": 0, "tags": []})
        );
        assert_eq!(answer["once_key"], json!("seven github:acme/van#7"));
        assert_eq!(answer["envelope"]["issue"]["repo"], json!("acme/van"));
        assert!(events(&served, "").await.is_empty());
    });
}

#[test]
fn deliveries_of_actors_who_are_not_trusted_are_held_back() {
    on_both("serve", async |served| {
        let source = Source::of(
            &served,
            json!({"source_type": "github", "target_queue": "triage", "trusted_actors": {"logins": ["Mia"]}}),
        )
        .await;
        let answer = source.push(&served, "a-1", ISSUE).await.json();
        assert_eq!(answer["queue"], json!("triage"));
        let stranger = ISSUE.replace(
            "\"sender\":{\"login\":\"mia\"}",
            "\"sender\":{\"login\":\"eve\"}",
        );
        let answer = source.push(&served, "a-2", &stranger).await.json();
        assert_eq!(answer["queue"], json!("quarantine"));
        let event = newest(&served).await;
        assert_eq!(
            (&event["disposition"], &event["routing"]["cause"]),
            (&json!("quarantined"), &json!("untrusted_actor"))
        );
        let refused = json!({"source_type": "stripe", "target_queue": "a", "trusted_actors": {"logins": ["x"]}});
        let (status, refused) = ask(&served, "POST", "/v1/sources", refused).await;
        assert_eq!(
            (status, &refused["error"]["code"]),
            (400, &json!("invalid_argument"))
        );
    });
}

#[test]
fn a_rotation_loses_nothing_and_the_old_address_is_dead() {
    on_both("serve", async |served| {
        let source = Source::of(
            &served,
            json!({"source_type": "slack", "target_queue": "chat", "signing_secret": "the first secret"}),
        )
        .await;
        let now = postroom_app::clock::Clock::now(&postroom_app::clock::SystemClock).ms() / 1000;
        let send = async |url: &str, secret: &str, id: &str| {
            let body = format!(
                r#"{{"type":"event_callback","event_id":"{id}","event":{{"type":"message"}}}}"#
            );
            let signature = format!(
                "v0={}",
                hmac_hex(secret, format!("v0:{now}:{body}").as_bytes())
            );
            let headers = [
                ("x-slack-signature", signature.as_str()),
                ("x-slack-request-timestamp", &now.to_string()),
            ];
            post(&served, url, &headers, body.into_bytes()).await.status
        };
        assert_eq!(send(&source.url, "the first secret", "E1").await, 200);
        let path = format!("/v1/sources/{}/secret", source.id);
        let given = json!({"signing_secret": "the second secret", "keep_previous_for": "1h"});
        let (status, set) = ask(&served, "POST", &path, given).await;
        assert_eq!(status, 200, "{set}");
        assert!(set["previous_secret_until"].is_string());
        assert_eq!(send(&source.url, "the second secret", "E2").await, 200);
        assert_eq!(send(&source.url, "the first secret", "E3").await, 200);
        let given = json!({"signing_secret": "the third secret!"});
        ask(&served, "POST", &path, given).await;
        assert_eq!(send(&source.url, "the first secret", "E4").await, 401);
        assert_eq!(send(&source.url, "the second secret", "E5").await, 401);
        assert_eq!(send(&source.url, "the third secret!", "E6").await, 200);
        let (_, over) = ask(
            &served,
            "POST",
            &path,
            json!({"signing_secret": "another secret..", "keep_previous_for": "25h"}),
        )
        .await;
        assert_eq!(over["error"]["code"], json!("invalid_argument"));
        // A challenge is answered once it is signed, and is no event.
        let body = r#"{"type":"url_verification","challenge":"abc123"}"#;
        let signature = format!(
            "v0={}",
            hmac_hex("the third secret!", format!("v0:{now}:{body}").as_bytes())
        );
        let stamp = now.to_string();
        let headers = [
            ("x-slack-signature", signature.as_str()),
            ("x-slack-request-timestamp", stamp.as_str()),
        ];
        let answer = post(&served, &source.url, &headers, body.into()).await;
        assert_eq!(
            (answer.status, answer.json()),
            (200, json!({"challenge": "abc123"}))
        );
        let (_, rotated) = ask(
            &served,
            "POST",
            &format!("/v1/sources/{}/rotate", source.id),
            json!({}),
        )
        .await;
        assert_eq!(rotated["secret_unchanged"], json!(true));
        assert_eq!(send(&source.url, "the third secret!", "E7").await, 404);
        let url = rotated["ingest_url"].as_str().expect("a URL");
        assert_eq!(send(url, "the third secret!", "E8").await, 200);
        assert_eq!(events(&served, "").await.len(), 5);
        let (_, deleted) = ask(
            &served,
            "DELETE",
            &format!("/v1/sources/{}", source.id),
            json!({}),
        )
        .await;
        assert_eq!(deleted["deleted"], json!(true));
        assert_eq!(send(url, "the third secret!", "E9").await, 404);
        assert_eq!(events(&served, "").await.len(), 5, "events stay");
    });
}

#[test]
fn a_source_that_is_off_tells_its_provider_to_stop() {
    on_both("serve", async |served| {
        let source = Source::github(&served).await;
        let path = format!("/v1/sources/{}", source.id);
        let (_, off) = ask(&served, "PATCH", &path, json!({"enabled": false})).await;
        assert_eq!(off["state"], json!("disabled"));
        assert_eq!(source.push(&served, "o-1", ISSUE).await.status, 410);
        let (_, on) = ask(
            &served,
            "PATCH",
            &path,
            json!({"enabled": true, "name": "Forge"}),
        )
        .await;
        assert_eq!(
            (&on["state"], &on["name"]),
            (&json!("active"), &json!("Forge"))
        );
        assert_eq!(source.push(&served, "o-1", ISSUE).await.status, 202);
    });
}

#[test]
fn deliveries_past_the_rate_are_asked_to_come_again() {
    on_both_told("serve", "rate_source = 1\n", async |served| {
        let source = Source::github(&served).await;
        let mut refused = 0;
        for number in 0..6 {
            let answer = source.push(&served, &format!("p-{number}"), ISSUE).await;
            if answer.status == 429 {
                refused += 1;
                assert!(answer.header("retry-after").is_some());
            }
        }
        assert!(refused >= 2, "{refused}");
        // Another source is not held up.
        assert_eq!(
            Source::github(&served)
                .await
                .push(&served, "q", ISSUE)
                .await
                .status,
            202
        );
    });
}

#[test]
fn a_challenge_by_get_is_answered_for_who_knows_the_token() {
    on_both("serve", async |served| {
        let source = Source::of(
            &served,
            json!({"source_type": "meta-whatsapp", "target_queue": "chat", "signing_secret": "an app secret of meta", "settings": {"verify_token": "my-verify-token"}}),
        )
        .await;
        let get = async |token: &str| {
            let url = format!(
                "{}?hub.mode=subscribe&hub.verify_token={token}&hub.challenge=1158201444",
                source.url
            );
            Reply::of(served.http.get(url).send().await.expect("an answer")).await
        };
        let right = get("my-verify-token").await;
        assert_eq!((right.status, right.body.as_str()), (200, "1158201444"));
        assert_eq!(get("another").await.status, 401);
        let (_, listed) = ask(&served, "GET", "/v1/sources", json!({})).await;
        assert!(listed["sources"][0]["handshake_at"].is_string());
        assert_eq!(
            listed["sources"][0]["settings"]["verify_token_set"],
            json!(true)
        );
        assert!(!listed.to_string().contains("my-verify-token"));
        assert!(events(&served, "").await.is_empty());
    });
}

#[test]
fn a_walk_over_the_log_misses_and_repeats_nothing_while_more_comes_in() {
    on_both_told(
        "serve",
        "rate_source = 100000\nrate_key = 100000\nrate_tenant = 100000\n",
        async |served| {
            let source = Source::github(&served).await;
            let send = async |range: std::ops::Range<u32>| {
                for number in range {
                    let delivery = format!("w-{number}");
                    assert_eq!(source.push(&served, &delivery, ISSUE).await.status, 202);
                }
            };
            futures_util::join!(send(0..60), send(60..120), send(120..180));
            let walk = async {
                let mut seen = Vec::new();
                let mut query = "?limit=7".to_owned();
                loop {
                    let page = served
                        .ask("GET", &format!("/v1/events{query}"), served.admin(), None)
                        .await
                        .json();
                    let ids = page["events"].as_array().expect("events").iter();
                    seen.extend(ids.map(|event| event["id"].as_u64().expect("an id")));
                    match page["next_cursor"].as_str() {
                        Some(cursor) => query = format!("?limit=7&cursor={cursor}"),
                        None => break seen,
                    }
                }
            };
            let (seen, ()) = futures_util::join!(walk, send(180..300));
            assert!(
                seen.windows(2).all(|pair| pair[0] > pair[1]),
                "newest first, none twice"
            );
            let all = {
                let mut all = Vec::new();
                let mut below = None::<String>;
                loop {
                    let query = below.map_or("?limit=200".to_owned(), |cursor| {
                        format!("?limit=200&cursor={cursor}")
                    });
                    let page = served
                        .ask("GET", &format!("/v1/events{query}"), served.admin(), None)
                        .await
                        .json();
                    all.extend(
                        page["events"]
                            .as_array()
                            .expect("events")
                            .iter()
                            .map(|event| event["id"].as_u64().expect("an id")),
                    );
                    match page["next_cursor"].as_str() {
                        Some(cursor) => below = Some(cursor.to_owned()),
                        None => break all,
                    }
                }
            };
            assert_eq!(all.len(), 300);
            let first = seen.first().copied().expect("an event");
            let expected: Vec<u64> = all.into_iter().filter(|id| *id <= first).collect();
            assert_eq!(seen, expected);
            for (query, path) in [
                ("?limit=0", "limit"),
                ("?limit=201", "limit"),
                ("?cursor=c_x", "cursor"),
            ] {
                let refused = served
                    .ask("GET", &format!("/v1/events{query}"), served.admin(), None)
                    .await;
                assert_eq!(
                    (refused.status, refused.code().as_str()),
                    (400, "invalid_argument"),
                    "{path}"
                );
            }
        },
    );
}

#[test]
fn a_signature_over_the_url_is_checked_against_the_public_one() {
    let file = "public_url = \"https://hooks.example\"\n";
    on_both_told("serve", file, async |served| {
        let made = served
            .ask(
                "POST",
                "/v1/sources",
                served.admin(),
                Some(json!({"source_type": "twilio", "target_queue": "phone", "signing_secret": "0123456789abcdef0123456789abcdef"})),
            )
            .await
            .json();
        let url = made["ingest_url"].as_str().expect("a URL");
        let token = url
            .strip_prefix("https://hooks.example/in/")
            .expect("the public address");
        let body = "Body=Hello&From=%2B15550001&MessageSid=SM1&SmsStatus=received";
        let sign = |url: &str| {
            let signed = format!("{url}BodyHelloFrom+15550001MessageSidSM1SmsStatusreceived");
            let mut mac = Hmac::<sha1::Sha1>::new_from_slice(b"0123456789abcdef0123456789abcdef")
                .expect("any length");
            mac.update(signed.as_bytes());
            STANDARD.encode(mac.finalize().into_bytes())
        };
        let local = format!("{}/in/{token}", served.local_url());
        for (signed, status) in [
            (format!("{url}?b=2&a=1"), true),
            (format!("{local}?b=2&a=1"), false),
            (format!("{url}?a=1&b=2"), false),
        ] {
            let answer = served
                .http
                .post(format!("{local}?b=2&a=1"))
                .header("content-type", "application/x-www-form-urlencoded")
                .header("x-twilio-signature", sign(&signed))
                // Nobody trusts this client as a proxy.
                .header("x-forwarded-host", "evil.example")
                .header("x-forwarded-for", "203.0.113.9")
                .body(body)
                .send()
                .await
                .expect("an answer");
            assert_eq!(answer.status().is_success(), status, "{signed}: {answer:?}");
        }
        let event = newest(&served).await;
        let path = format!("/v1/events/{}", event["id"]);
        let detail = served.ask("GET", &path, served.admin(), None).await.json();
        assert_eq!(detail["source_ip"], json!("127.0.0.1"));
        assert!(!detail.to_string().contains(token));
    });
}

#[test]
fn a_subscription_hears_of_a_delivery_under_either_name_of_the_resource() {
    on_both("serve", async |served| {
        let source = Source::github(&served).await;
        let uri = "switchboard://events/recent";
        const META: &str = "io.modelcontextprotocol";
        let body = json!({"jsonrpc": "2.0", "id": 9, "method": "subscriptions/listen", "params": {
            "_meta": {(format!("{META}/protocolVersion")): "2026-07-28", (format!("{META}/clientCapabilities")): {}},
            "notifications": {"resourceSubscriptions": [uri]},
        }});
        let mut stream = served
            .http
            .post(served.text("mcp_url"))
            .bearer_auth(served.admin())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "subscriptions/listen")
            .body(body.to_string())
            .send()
            .await
            .expect("a stream");
        let mut heard = String::new();
        let mut sent = false;
        while let Some(chunk) = stream.chunk().await.expect("a chunk") {
            heard.push_str(&String::from_utf8_lossy(&chunk));
            if heard.contains("acknowledged") && !sent {
                sent = true;
                assert_eq!(source.push(&served, "s-1", ISSUE).await.status, 202);
            }
            if heard.contains("resources/updated") {
                assert!(heard.contains(uri), "{heard}");
                return;
            }
        }
        panic!("the stream ended: {heard}");
    });
}

#[test]
fn a_secret_that_a_provider_offers_counts_once_a_person_takes_it() {
    on_both("serve", async |served| {
        let source = Source::of(
            &served,
            json!({"source_type": "notion", "target_queue": "pages"}),
        )
        .await;
        let token = "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl";
        let offer = json!({"verification_token": token}).to_string();
        let answer = post(&served, &source.url, &[], offer.into()).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let (_, listed) = ask(&served, "GET", "/v1/sources", json!({})).await;
        let shown = &listed["sources"][0];
        assert_eq!(
            (&shown["state"], &shown["secret_offered"]),
            (&json!("awaiting_secret"), &json!(true))
        );
        assert!(!listed.to_string().contains(token));
        let body = r#"{"id":"n-1","type":"page.created"}"#;
        let signature = format!("sha256={}", hmac_hex(token, body.as_bytes()));
        let send = async || {
            let headers = [("x-notion-signature", signature.as_str())];
            post(&served, &source.url, &headers, body.into())
                .await
                .status
        };
        assert_eq!(send().await, 503, "what nobody confirmed proves nothing");
        let path = format!("/v1/sources/{}/secret", source.id);
        let (status, taken) = ask(&served, "POST", &path, json!({"accept_offered": true})).await;
        assert_eq!((status, &taken["signing_secret"]), (200, &json!(token)));
        assert!((200..300).contains(&send().await));
        let (status, none) = ask(&served, "POST", &path, json!({"accept_offered": true})).await;
        assert_eq!((status, &none["error"]["code"]), (409, &json!("conflict")));
        assert_eq!(events(&served, "").await.len(), 1);
    });
}

#[test]
fn a_scheme_without_a_time_counts_only_where_the_source_names_it() {
    on_both("serve", async |served| {
        let secret = "yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy";
        let wanted = |settings: Value| {
            json!({
                "source_type": "hubspot", "target_queue": "any", "signing_secret": secret,
                "settings": settings,
            })
        };
        let plain = Source::of(&served, wanted(json!({}))).await;
        let body = r#"[{"eventId":1,"subscriptionId":2,"occurredAt":3,"subscriptionType":"contact.creation"}]"#;
        let digest = Sha256::digest(format!("{secret}{body}"));
        let signature: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let send = async |url: &str| {
            let headers = [("x-hubspot-signature", signature.as_str())];
            post(&served, url, &headers, body.into()).await.status
        };
        assert_eq!(send(&plain.url).await, 401);
        let (_, listed) = ask(&served, "GET", "/v1/sources", json!({})).await;
        let said = &listed["sources"][0]["last_refusal"]["detail"];
        assert!(
            said.as_str()
                .is_some_and(|said| said.contains("hubspot-v1")),
            "{said}"
        );
        assert!(events(&served, "").await.is_empty());
        let (status, refused) = ask(
            &served,
            "POST",
            "/v1/sources",
            wanted(json!({"scheme": "hubspot-v9"})),
        )
        .await;
        assert_eq!(
            (status, &refused["error"]["code"]),
            (400, &json!("invalid_argument"))
        );
        assert!(
            refused
                .to_string()
                .contains("hubspot-v3, hubspot-v2, hubspot-v1"),
            "{refused}"
        );
        let named = Source::of(&served, wanted(json!({"scheme": "hubspot-v1"}))).await;
        assert_eq!(send(&named.url).await, 202);
        assert_eq!(events(&served, "").await.len(), 1);
    });
}

#[test]
fn a_body_of_many_events_is_one_event_for_each_and_comes_twice_as_once() {
    on_both("serve", async |served| {
        let secret = "a secret of asana";
        let wanted =
            json!({"source_type": "asana", "target_queue": "any", "signing_secret": secret});
        let source = Source::of(&served, wanted).await;
        let items: Vec<Value> = (0..1_200)
            .map(|number| json!({"action": "changed", "resource": {"gid": number}}))
            .collect();
        let body = json!({"events": items}).to_string();
        let signature = hmac_hex(secret, body.as_bytes());
        for (number, redeliveries) in [(1_200, 0), (1_200, 1_200)] {
            let headers = [("x-hook-signature", signature.as_str())];
            let answer = post(&served, &source.url, &headers, body.clone().into()).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            let (_, listed) = ask(&served, "GET", "/v1/sources", json!({})).await;
            let shown = &listed["sources"][0];
            assert_eq!(
                (&shown["deliveries"], &shown["redeliveries"]),
                (&json!(number), &json!(redeliveries))
            );
        }
        let newest = events(&served, "?limit=1").await.remove(0);
        assert_eq!(newest["event_type"], json!("changed"), "{newest}");
    });
}

#[test]
fn of_two_secrets_that_were_offered_none_is_taken() {
    on_both("serve", async |served| {
        let wanted = json!({"source_type": "notion", "target_queue": "pages"});
        let source = Source::of(&served, wanted).await;
        let offer = async |url: &str, token: &str| {
            let body = json!({"verification_token": token}).to_string();
            let answer = post(&served, url, &[], body.into()).await;
            assert_eq!(answer.status, 200, "{answer:?}");
        };
        let first = "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl";
        // The provider says it as often as it likes.
        offer(&source.url, first).await;
        offer(&source.url, first).await;
        offer(
            &source.url,
            "secret_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        )
        .await;
        offer(&source.url, first).await;
        let path = format!("/v1/sources/{}/secret", source.id);
        let take = async || ask(&served, "POST", &path, json!({"accept_offered": true})).await;
        let (status, refused) = take().await;
        assert_eq!(
            (status, &refused["error"]["code"]),
            (409, &json!("conflict"))
        );
        assert!(
            refused.to_string().contains("Different secrets"),
            "{refused}"
        );
        // At another address, which nobody else knows, it begins anew.
        let rotate = format!("/v1/sources/{}/rotate", source.id);
        let (status, rotated) = ask(&served, "POST", &rotate, json!({})).await;
        assert_eq!(status, 200, "{rotated}");
        let (_, none) = take().await;
        assert!(none.to_string().contains("has offered no secret"), "{none}");
        offer(rotated["ingest_url"].as_str().expect("a URL"), first).await;
        let (status, taken) = take().await;
        assert_eq!((status, &taken["signing_secret"]), (200, &json!(first)));
    });
}

#[test]
fn a_key_sends_work_only_to_queues_that_it_was_granted() {
    on_both("serve", async |served| {
        let wanted = json!({
            "name": "narrow", "level": "tenant", "queues": ["a"],
            "permissions": ["sources:manage", "sources:read"],
        });
        let key = served
            .ask("POST", "/v1/keys", served.admin(), Some(wanted))
            .await
            .json();
        let key = key["secret"].as_str().expect("a key").to_owned();
        let create = async |queue: &str| {
            let wanted = json!({"source_type": "github", "target_queue": queue});
            let reply = served.ask("POST", "/v1/sources", &key, Some(wanted)).await;
            (reply.status, reply.json())
        };
        let (status, made) = create("a").await;
        assert_eq!(status, 201, "{made}");
        let (status, refused) = create("b").await;
        assert_eq!(
            (status, &refused["error"]["code"]),
            (403, &json!("forbidden"))
        );
        for queue in ["quarantine", "No Queue", ""] {
            let (status, refused) = create(queue).await;
            assert_eq!(
                (status, &refused["error"]["code"]),
                (400, &json!("invalid_argument")),
                "{queue}"
            );
        }
        let path = format!(
            "/v1/sources/{}/rules",
            made["source_id"].as_str().expect("an id")
        );
        let rules = json!({"rules": [{"expr": "true", "action": {"queue": "b"}}]});
        let reply = served.ask("POST", &path, &key, Some(rules)).await;
        assert_eq!((reply.status, reply.code().as_str()), (403, "forbidden"));
        let unknown = json!({"source_type": "no-such-thing", "target_queue": "a"});
        let reply = served.ask("POST", "/v1/sources", &key, Some(unknown)).await;
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (400, "invalid_argument")
        );
        let minted = json!({"source_type": "github", "target_queue": "a", "signing_secret": "mine, and long enough"});
        let reply = served.ask("POST", "/v1/sources", &key, Some(minted)).await;
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (400, "invalid_argument")
        );
        let (_, listed) = ask(&served, "GET", "/v1/sources", json!({})).await;
        assert_eq!(listed["ceiling"]["used"], json!(1));
        assert_eq!(
            listed["ceiling"]["max"],
            json!(postroom_types::limit::SOURCES_PER_TENANT)
        );
    });
}

/// Writes bytes to the server, goes away or waits, and reads what it says until it closes.
async fn raw(served: &Served, head: &str, body: &[u8], goes: bool) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let address = served.local_url().replace("http://", "");
    let mut stream = tokio::net::TcpStream::connect(&address)
        .await
        .expect("connected");
    let text = format!("{head}\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(text.as_bytes()).await.expect("written");
    // A server that has answered already may have closed.
    let _ = stream.write_all(body).await;
    if goes {
        let _ = stream.shutdown().await;
    }
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said).await;
    String::from_utf8_lossy(&said).into_owned()
}

#[test]
fn a_length_that_lies_stores_nothing() {
    on_both("serve", async |served| {
        let source = Source::of(
            &served,
            json!({"source_type": "url-token", "target_queue": "any"}),
        )
        .await;
        let (_, path) = source.url.split_once("/in/").expect("an address");
        let post = |length: &str| format!("POST /in/{path} HTTP/1.1\r\n{length}");
        let short = raw(&served, &post("Content-Length: 100"), b"{}", true).await;
        assert!(!short.contains(" 202 "), "{short}");
        let huge = raw(&served, &post("Content-Length: 99999999999"), b"{}", false).await;
        assert!(huge.contains(" 413 "), "{huge}");
        for odd in [
            "Content-Length: -1",
            "Content-Length: 2\r\nContent-Length: 3",
            "Transfer-Encoding: chunked\r\nContent-Length: x",
        ] {
            let said = raw(&served, &post(odd), b"{}", true).await;
            assert!(!said.contains(" 202 "), "{odd}: {said}");
        }
        assert!(events(&served, "").await.is_empty());
        let fits = raw(&served, &post("Content-Length: 2"), b"{}", false).await;
        assert!(fits.contains(" 202 "), "{fits}");
        assert_eq!(events(&served, "").await.len(), 1);
    });
}

#[test]
fn a_delivery_whose_key_cannot_be_fetched_is_asked_for_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let names = folder.path().join("names.json");
    std::fs::write(
        &names,
        r#"{"sns.us-east-1.amazonaws.com": {"A": ["127.0.0.1"]}}"#,
    )
    .expect("written");
    let file = format!("[egress]\ndns_file = {:?}\n", names.display().to_string());
    on_both_told("serve", &file, async |served| {
        let source = Source::of(
            &served,
            json!({"source_type": "aws-sns", "target_queue": "any", "settings": {"topic_arn": "arn:aws:sns:us-east-1:1:t"}}),
        )
        .await;
        let body = |url: &str| {
            json!({
                "Type": "Notification", "MessageId": "m-1", "TopicArn": "arn:aws:sns:us-east-1:1:t",
                "Message": "hello", "Timestamp": "2026-11-05T16:59:01.000Z", "SignatureVersion": "2",
                "Signature": STANDARD.encode([7; 256]), "SigningCertURL": url,
            })
            .to_string()
            .into_bytes()
        };
        let known = "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0.pem";
        let answer = post(&served, &source.url, &[], body(known)).await;
        assert_eq!(answer.status, 503, "{answer:?}");
        assert!(answer.header("retry-after").is_some());
        for url in [
            "https://sns.us-east-1.amazonaws.com.evil.example/SimpleNotificationService-0.pem",
            "https://s3.amazonaws.com/SimpleNotificationService-0.pem",
            "http://sns.us-east-1.amazonaws.com/SimpleNotificationService-0.pem",
        ] {
            let answer = post(&served, &source.url, &[], body(url)).await;
            assert_eq!(answer.status, 401, "{url}: {answer:?}");
        }
        assert!(events(&served, "").await.is_empty());
    });
}
