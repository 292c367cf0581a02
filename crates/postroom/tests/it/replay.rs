//! Replay from outside: what is sent, where it may go, what is said of it.

use serde_json::{Value, json};

use crate::{
    fake::Fake,
    served::{Served, on_both_told},
    webhooks::{Source, events},
};

/// What lets a test reach itself.
pub(crate) const ALLOWED: &str = "rate_key = 100000\nrate_tenant = 100000\nrate_source = 1000\n[egress]\nallow_cidrs = [\"127.0.0.0/8\"]\nallow_ports = [\"1024-65535\"]\nallow_http = true\n";

const BODY: &str = r#"{"action":"opened","é":"\u001b"}"#;

/// A file of names in place of the DNS.
pub(crate) struct Names(tempfile::TempDir);

impl Names {
    pub(crate) fn new(names: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("names.json"), names).expect("written");
        Self(folder)
    }

    /// The setting that names it.
    pub(crate) fn line(&self) -> String {
        let path = self.0.path().join("names.json");
        format!("dns_file = {:?}\n", path.display().to_string())
    }

    /// The section with that setting alone.
    pub(crate) fn section(&self) -> String {
        format!("[egress]\n{}", self.line())
    }
}

async fn replay(served: &Served, key: &str, id: &Value, target: Option<&str>) -> (u16, Value) {
    let body = match target {
        Some(target) => json!({"target_url": target}),
        None => json!({}),
    };
    let path = format!("/v1/events/{id}/replay");
    let reply = served.ask("POST", &path, key, Some(body)).await;
    (reply.status, reply.json())
}

async fn arrived(served: &Served) -> Value {
    let source = Source::github(served).await;
    assert_eq!(source.push(served, "d-1", BODY).await.status, 202);
    events(served, "").await[0]["id"].clone()
}

/// A key of the tenant that may replay, with these targets.
async fn key(served: &Served, targets: &[&str]) -> String {
    let wanted = json!({
        "name": "replays", "level": "tenant",
        "permissions": ["events:read", "events:replay"], "replay_targets": targets,
    });
    let made = served
        .ask("POST", "/v1/keys", served.admin(), Some(wanted))
        .await;
    assert_eq!(made.status, 201, "{made:?}");
    made.json()["secret"].as_str().expect("a key").to_owned()
}

#[test]
fn a_replay_sends_the_very_bytes_and_neither_signatures_nor_the_connections_headers() {
    on_both_told("serve", ALLOWED, async |served| {
        let fake = Fake::start(|_, count| match count {
            0 => (200, "", b"ok".to_vec()),
            1 => (500, "", vec![b'x'; 1_000_000]),
            _ => (302, "location: http://127.0.0.1:1/\r\n", Vec::new()),
        })
        .await;
        let id = arrived(&served).await;
        let target = format!("{}/hook?token=t0psecret", fake.url);
        for status in [200, 500, 302] {
            let (code, answer) = replay(&served, served.admin(), &id, Some(&target)).await;
            assert_eq!(code, 200, "{answer}");
            assert_eq!(
                (
                    &answer["delivered"],
                    &answer["response_status"],
                    &answer["target_url"],
                    &answer["id"]
                ),
                (&json!(true), &json!(status), &json!(target), &id)
            );
            assert!(answer["response_ms"].is_u64());
        }
        let asked = fake.asked();
        assert_eq!(asked.len(), 3, "no redirect is followed");
        let first = &asked[0];
        assert_eq!(
            (first.method.as_str(), first.path.as_str()),
            ("POST", "/hook?token=t0psecret")
        );
        assert_eq!(first.body, BODY.as_bytes());
        assert_eq!(first.header("x-github-event"), Some("issues"));
        assert_eq!(first.header("content-type"), Some("application/json"));
        assert_eq!(first.header("host"), fake.url.strip_prefix("http://"));
        for name in ["x-hub-signature-256", "authorization", "cookie"] {
            assert_eq!(first.header(name), None, "{name}");
        }
    });
}

#[test]
fn without_a_target_the_keys_first_one_is_used_or_asked_for() {
    let names = Names::new(r#"{"inside.example": {"A": ["10.0.0.1"]}}"#);
    let file = format!("{ALLOWED}{}", names.line());
    on_both_told("serve", &file, async |served| {
        let id = arrived(&served).await;
        let bare = key(&served, &[]).await;
        let (status, refused) = replay(&served, &bare, &id, None).await;
        assert_eq!(
            (status, &refused["error"]["code"]),
            (400, &json!("replay_target_required"))
        );
        let (status, refused) = replay(&served, &bare, &id, Some("  ")).await;
        assert_eq!(
            (status, &refused["error"]["code"]),
            (400, &json!("replay_target_required"))
        );
        // Granted targets are defaults and no exemptions: the first is tried, and refused as any.
        let granted = key(
            &served,
            &["https://inside.example/a", "https://inside.example/b"],
        )
        .await;
        let (status, refused) = replay(&served, &granted, &id, None).await;
        assert_eq!(
            (status, &refused["error"]["code"]),
            (400, &json!("invalid_argument"))
        );
        assert!(refused.to_string().contains("private"), "{refused}");
        assert!(!refused.to_string().contains("10.0.0"), "{refused}");
    });
}

#[test]
fn no_target_is_granted_that_no_replay_could_reach() {
    on_both_told("serve", ALLOWED, async |served| {
        let ask = async |targets: &[&str]| {
            let wanted = json!({
                "name": "replays", "level": "tenant",
                "permissions": ["events:read", "events:replay"], "replay_targets": targets,
            });
            served
                .ask("POST", "/v1/keys", served.admin(), Some(wanted))
                .await
        };
        let own = served.text("url").replace("http:", "https:");
        for target in [
            "https://10.0.0.5/x",
            "https://[fd00::1]/",
            "https://169.254.169.254/latest/",
            "https://user:p@target.example/",
            "https://@target.example/",
            "https://target.example/#x",
            "https://target.example:22/",
            "https://localhost/",
            "https://target/",
            "http://target.example/",
            "https://2130706433.0.0.0.0/",
            own.as_str(),
        ] {
            let refused = ask(&["https://target.example/", target]).await;
            assert_eq!(refused.status, 400, "{target}: {refused:?}");
            let path = &refused.json()["error"]["details"]["errors"][0]["path"];
            assert!(
                path.to_string().contains("replay_targets"),
                "{target}: {refused:?}"
            );
        }
        // What the operator allows may be granted; a name is looked up at each replay.
        for target in ["https://127.0.0.1:8443/x", "https://target.example/x?y=z"] {
            assert_eq!(ask(&[target]).await.status, 201, "{target}");
        }
    });
    on_both_told("serve", "", async |served| {
        let wanted = json!({
            "name": "replays", "level": "tenant", "permissions": ["events:replay"],
            "replay_targets": ["https://127.0.0.1/"],
        });
        let refused = served
            .ask("POST", "/v1/keys", served.admin(), Some(wanted))
            .await;
        assert_eq!(refused.status, 400, "{refused:?}");
        assert!(refused.body.contains("loopback"), "{refused:?}");
    });
}

#[test]
fn a_host_that_does_not_resolve_may_do_so_later_and_one_that_is_refused_may_not() {
    let names = Names::new(
        r#"{"inside.example": {"A": ["10.0.0.1"]}, "broken.example": {"A": "SERVFAIL"}}"#,
    );
    on_both_told("serve", &names.section(), async |served| {
        let id = arrived(&served).await;
        for host in ["broken.example", "nobody.example"] {
            let target = format!("https://{host}/hook");
            let (status, said) = replay(&served, served.admin(), &id, Some(&target)).await;
            let error = &said["error"];
            assert_eq!(
                (status, &error["code"]),
                (502, &json!("replay_failed")),
                "{said}"
            );
            assert_eq!(error["retryable"], json!(true), "{said}");
            assert!(
                error["message"]
                    .as_str()
                    .expect("text")
                    .contains("did not resolve")
            );
        }
        let target = Some("https://inside.example/hook");
        let (status, said) = replay(&served, served.admin(), &id, target).await;
        let error = &said["error"];
        assert_eq!((status, &error["code"]), (400, &json!("invalid_argument")));
        assert_eq!(error["retryable"], json!(false), "{said}");
    });
}

#[test]
fn an_event_that_is_not_there_is_said_before_anything_of_the_target() {
    on_both_told("serve", ALLOWED, async |served| {
        let fake = Fake::start(|_, _| (200, "", Vec::new())).await;
        let (status, refused) = replay(&served, served.admin(), &json!(999), Some(&fake.url)).await;
        assert_eq!(
            (status, &refused["error"]["code"]),
            (404, &json!("not_found"))
        );
        let (_, other) = replay(&served, served.admin(), &json!(999), Some("ftp://x")).await;
        assert_eq!(other["error"]["code"], json!("not_found"));
        assert!(fake.asked().is_empty());
    });
}

#[test]
fn what_is_not_public_https_is_refused_by_class_and_not_dialled() {
    on_both_told("serve", "rate_replay = 1000\n", async |served| {
        let id = arrived(&served).await;
        let own = served.text("url").to_owned();
        for target in [
            "http://example.com/",
            "ftp://example.com/",
            "file:///etc/passwd",
            "gopher://x/",
            "/x",
            "x",
            "https://127.0.0.1/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://10.1.2.3/",
            "https://172.16.0.1/",
            "https://192.168.0.1/",
            "https://169.254.169.254/latest/",
            "https://0.0.0.0/",
            "https://[::1]/",
            "https://[fc00::1]/",
            "https://[fe80::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://100.64.0.1/",
            "https://localhost/",
            "https://user:password@example.com/",
            "https://example.com:22/",
            own.as_str(),
        ] {
            let (status, refused) = replay(&served, served.admin(), &id, Some(target)).await;
            assert_eq!(
                (status, &refused["error"]["code"]),
                (400, &json!("invalid_argument")),
                "{target}: {refused}"
            );
            assert_eq!(
                refused["error"]["details"]["errors"][0]["path"],
                json!("target_url")
            );
        }
    });
}

#[test]
fn a_target_that_does_not_answer_is_a_failure_in_general_words() {
    on_both_told("serve", ALLOWED, async |served| {
        let id = arrived(&served).await;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let closed = format!("http://{}/", listener.local_addr().expect("an address"));
        drop(listener);
        let (status, refused) = replay(&served, served.admin(), &id, Some(&closed)).await;
        assert_eq!(
            (status, &refused["error"]["code"]),
            (502, &json!("replay_failed"))
        );
        assert!(!refused.to_string().contains("127.0.0.1"), "{refused}");
        let own = served.text("url").to_owned();
        let (_, refused) = replay(&served, served.admin(), &id, Some(&own)).await;
        assert_eq!(
            refused["error"]["code"],
            json!("invalid_argument"),
            "never to itself"
        );
    });
}

#[test]
fn replays_have_a_budget_of_their_own() {
    let file = format!("rate_replay = 1\n{ALLOWED}");
    on_both_told("serve", &file, async |served| {
        let fake = Fake::start(|_, _| (204, "", Vec::new())).await;
        let id = arrived(&served).await;
        let mut limited = None;
        for _ in 0..12 {
            let path = format!("/v1/events/{id}/replay");
            let body = json!({"target_url": fake.url});
            let reply = served.ask("POST", &path, served.admin(), Some(body)).await;
            if reply.status == 429 {
                limited = Some(reply);
                break;
            }
        }
        let limited = limited.expect("the budget ends");
        assert_eq!(limited.code(), "rate_limited");
        assert_eq!(
            limited.json()["error"]["details"]["bucket"],
            json!("replay")
        );
        assert!(limited.header("retry-after").is_some());
        assert!(fake.asked().len() < 12);
        let read = served
            .ask("GET", &format!("/v1/events/{id}"), served.admin(), None)
            .await;
        assert_eq!(read.status, 200, "reading goes on");
    });
}
