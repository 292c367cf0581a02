//! A person at the terminal connects providers, sees what was refused, and hands events on.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    process::{Child, ChildStdout, Stdio},
};

use serde_json::{Value, json};

use crate::{
    served::{Served, on_both, postroom},
    webhooks::{Source, hmac_hex, post},
};

const ISSUE: &str = r#"{"action":"opened","issue":{"number":3,"title":"Wipers","labels":[]},"repository":{"full_name":"acme/van"},"sender":{"login":"mia"}}"#;

/// A command that goes on, and what it says.
struct Told {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Told {
    fn start(served: &Served, words: &[&str]) -> Self {
        let mut child = postroom(served.folder())
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the executable runs");
        let out = BufReader::new(child.stdout.take().expect("standard output"));
        Self { child, out }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.out.read_line(&mut line).expect("a line");
        assert!(read > 0, "it ended");
        line.trim().to_owned()
    }

    /// Reads on until a line has these words.
    fn until(&mut self, words: &str) -> String {
        loop {
            let line = self.line();
            if line.contains(words) {
                return line;
            }
        }
    }

    fn exit(mut self) -> i32 {
        let mut rest = String::new();
        let _ = self.out.read_to_string(&mut rest);
        self.child.wait().expect("an end").code().unwrap_or(-1)
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program that takes one request and answers it.
struct Taker {
    url: String,
    taken: std::thread::JoinHandle<(String, Vec<u8>)>,
}

impl Taker {
    fn answering(status: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
        let taken = std::thread::spawn(move || {
            let (stream, _) = listener.accept().expect("a connection");
            let mut reader = BufReader::new(&stream);
            let (mut head, mut line, mut length) = (String::new(), String::new(), 0);
            while reader.read_line(&mut line).expect("a line") > 2 {
                let lower = line.to_ascii_lowercase();
                if let Some(value) = lower.strip_prefix("content-length:") {
                    length = value.trim().parse().expect("a length");
                }
                head.push_str(&lower);
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("a body");
            let answer =
                format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            (&stream).write_all(answer.as_bytes()).expect("answered");
            (head, body)
        });
        Self { url, taken }
    }

    fn taken(self) -> (String, Vec<u8>) {
        self.taken.join().expect("a request")
    }
}

fn last_word(line: &str) -> String {
    line.split_whitespace()
        .last()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn a_source_is_made_with_everything_that_is_pasted() {
    on_both("serve", async |served| {
        let made = served.command(&["source", "add", "github", "--no-wait", "--json"]);
        assert_eq!(made.exit, 0, "{made:?}");
        let made = made.json();
        assert_eq!(made["target_queue"], "github");
        assert_eq!(made["state"], "active");
        assert_eq!(made["paste_url"], made["ingest_url"]);
        for name in [
            "source_id",
            "signing_secret",
            "url_goes",
            "docs",
            "secret_hint",
        ] {
            assert!(
                made[name].as_str().is_some_and(|text| !text.is_empty()),
                "{name}: {made}"
            );
        }
        let said = served.command(&[
            "source",
            "add",
            "github",
            "--queue",
            "triage",
            "--name",
            "The site",
            "--trust",
            "mia,ada",
            "--identity",
            "agent@localhost",
            "--no-wait",
        ]);
        assert_eq!(said.exit, 0, "{said:?}");
        for words in ["Payload URL", "/in/", "whsec_", "not shown again", "triage"] {
            assert!(said.out.contains(words), "{words}: {said:?}");
        }
        assert!(
            said.err.contains("this address is on this machine"),
            "{said:?}"
        );
        let listed = served.command(&["source", "list", "--json"]).json();
        let second = &listed["sources"][1];
        assert_eq!(second["name"], "The site");
        assert_eq!(second["trusted_actors"]["logins"], json!(["mia", "ada"]));
        assert!(second["identity_id"].is_string());
        let basic = served
            .command(&["source", "add", "postmark", "--no-wait", "--json"])
            .json();
        let (secret, url) = (&basic["signing_secret"], &basic["paste_url"]);
        let secret = secret.as_str().expect("a secret");
        assert!(
            url.as_str()
                .is_some_and(|url| url.contains(&format!("//{secret}@"))),
            "{basic}"
        );
    });
}

#[test]
fn a_source_waits_for_the_secret_that_its_provider_makes() {
    on_both("serve", async |served| {
        let made = served
            .command(&["source", "add", "stripe", "--no-wait", "--json"])
            .json();
        assert_eq!(made["state"], "awaiting_secret");
        assert!(made.get("signing_secret").is_none());
        let id = made["source_id"].as_str().expect("an id");
        let nothing = served.command(&["source", "set-secret", id]);
        assert_eq!(nothing.exit, 2, "{nothing:?}");
        assert!(nothing.err.contains("--secret @FILE"), "{nothing:?}");
        let file = served.folder().join("secret.txt");
        std::fs::write(&file, "sk_live_0123456789abcdef0123\n").expect("written");
        let wrong = served.command(&["source", "set-secret", id, "--secret", "@secret.txt"]);
        assert_eq!(wrong.exit, 2, "{wrong:?}");
        assert!(!wrong.err.contains("sk_live_0123"), "{wrong:?}");
        std::fs::write(&file, "whsec_0123456789abcdef0123\n").expect("written");
        let set = served.command(&[
            "source",
            "set-secret",
            id,
            "--secret",
            "@secret.txt",
            "--json",
        ]);
        assert_eq!(set.json()["state"], "active", "{set:?}");
        let given = [
            "source",
            "add",
            "stripe",
            "--secret",
            "@secret.txt",
            "--no-wait",
            "--json",
        ];
        assert_eq!(served.command(&given).json()["state"], "active");
        let shown = served.command(&["source", "show", id]);
        assert!(
            shown.out.contains("active") && shown.out.contains("SHA-256"),
            "{shown:?}"
        );
        assert!(!shown.out.contains("whsec_0123"), "{shown:?}");
        let gone = served.command(&["source", "delete", id, "--json"]);
        assert_eq!(gone.json()["deleted"], true, "{gone:?}");
        assert_eq!(served.command(&["source", "show", id]).exit, 1);
    });
}

#[test]
fn what_cannot_be_connected_says_what_can() {
    let served = Served::start("serve", None);
    for (words, expected) in [
        (&["source", "add", "githup", "--no-wait"][..], "github"),
        (
            &["source", "add", "github", "--set", "header", "--no-wait"],
            "NAME=VALUE",
        ),
        (
            &[
                "source",
                "add",
                "stripe",
                "--secret",
                "@nothing",
                "--no-wait",
            ],
            "cannot be read",
        ),
        (
            &["source", "rules", "src_x", "nothing.json"],
            "cannot be read",
        ),
        (
            &["event", "forward", "--to", "localhost:3000"],
            "http://localhost:3000",
        ),
    ] {
        let answer = served.command(words);
        assert_eq!(answer.exit, 2, "{words:?}: {answer:?}");
        assert!(answer.err.contains(expected), "{words:?}: {answer:?}");
    }
}

#[test]
fn a_refusal_is_explained_and_the_first_delivery_ends_the_waiting() {
    on_both("serve", async |served| {
        let words = ["source", "add", "github", "--wait-seconds", "120"];
        let mut told = Told::start(&served, &words);
        let url = last_word(&told.until("/in/"));
        let secret = last_word(&told.until("whsec_"));
        told.until("Waiting for the first delivery");

        let headers = |secret: &str| {
            let signature = format!("sha256={}", hmac_hex(secret, ISSUE.as_bytes()));
            [
                ("x-github-event".to_owned(), "issues".to_owned()),
                ("x-github-delivery".to_owned(), "d-1".to_owned()),
                ("x-hub-signature-256".to_owned(), signature),
            ]
        };
        let send = async |secret: &str| {
            let headers = headers(secret);
            let headers: Vec<(&str, &str)> = headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect();
            post(&served, &url, &headers, ISSUE.as_bytes().to_vec()).await
        };
        assert_eq!(send("another secret altogether").await.status, 401);
        let refused = told.until("refused");
        assert!(refused.contains("bad_signature"), "{refused}");
        let advice = told.line();
        assert!(advice.contains("source rotate src_"), "{advice}");

        let listed = served.command(&["source", "list", "--json"]).json();
        let remembered = &listed["sources"][0]["recent_refusals"];
        assert_eq!(remembered.as_array().map(Vec::len), Some(1));
        assert_eq!(remembered[0]["source_ip"], "127.0.0.1");
        assert!(!remembered.to_string().contains("Wipers"), "{remembered}");

        assert_eq!(send(&secret).await.status, 202);
        let accepted = told.until("accepted");
        assert!(
            accepted.contains("signed, verified") && accepted.contains("tod_"),
            "{accepted}"
        );
        assert_eq!(told.exit(), 0);
    });
}

#[test]
fn waiting_ends_with_one_line_for_programs_when_nothing_comes() {
    let served = Served::start("serve", None);
    let words = ["source", "add", "github", "--wait-seconds", "0", "--json"];
    let answer = served.command(&words);
    assert_eq!(answer.exit, 1, "{answer:?}");
    assert_eq!(answer.out.lines().count(), 2, "{answer:?}");
    let last = answer.json();
    assert_eq!(last["delivered"], false);
    assert_eq!(last["refusals"], json!([]));
}

#[test]
fn an_event_is_handed_on_as_it_came() {
    on_both("serve", async |served| {
        let source = Source::github(&served).await;
        assert_eq!(source.push(&served, "d-1", ISSUE).await.status, 202);
        let taker = Taker::answering("204 No Content");
        let words = [
            "event", "forward", "--to", &taker.url, "--since", "0", "--once", "--json",
        ];
        let forwarded = served.command(&words);
        assert_eq!(forwarded.exit, 0, "{forwarded:?}");
        assert_eq!(forwarded.json()["status"], 204);
        assert_eq!(forwarded.json()["provider"], "github");
        let (head, body) = taker.taken();
        assert_eq!(String::from_utf8_lossy(&body), ISSUE);
        for words in [
            "post /hook ",
            "x-github-event: issues",
            "x-github-delivery: d-1",
            "content-type: application/json",
            "postroom-verified: true",
        ] {
            assert!(head.contains(words), "{words}: {head}");
        }
        assert!(
            !head.contains("signature") && !head.contains("redacted"),
            "{head}"
        );

        let (closed, taker) = (TcpListener::bind("127.0.0.1:0"), Taker::answering("500 No"));
        let closed = closed.expect("a port").local_addr().expect("an address");
        for url in [format!("http://{closed}/"), taker.url.clone()] {
            let words = ["event", "forward", "--to", &url, "--since", "0", "--once"];
            let answer = served.command(&words);
            assert_eq!(answer.exit, 1, "{answer:?}");
            assert!(answer.out.contains("github"), "{answer:?}");
        }
    });
}

#[test]
fn the_server_replays_to_public_addresses_alone() {
    on_both("serve", async |served| {
        let source = Source::github(&served).await;
        assert_eq!(source.push(&served, "d-1", ISSUE).await.status, 202);
        let listed = served.command(&["event", "list", "--json"]).json();
        let id = listed["events"][0]["id"].to_string();
        for target in [
            "https://10.0.0.5/hook",
            "https://127.0.0.1/hook",
            "http://example.com/",
        ] {
            let words = ["event", "replay", &id, "--target-url", target];
            let answer = served.command(&words);
            assert_eq!(answer.exit, 2, "{answer:?}");
            assert!(answer.err.contains("invalid_argument"), "{answer:?}");
        }
        let nowhere = served.command(&["event", "replay", &id]);
        assert_eq!(nowhere.exit, 2, "{nowhere:?}");
        assert!(
            nowhere.err.contains("replay_target_required"),
            "{nowhere:?}"
        );
    });
}

#[test]
fn new_events_are_followed_and_mail_stays_behind() {
    on_both("serve", async |served| {
        let source = Source::github(&served).await;
        assert_eq!(source.push(&served, "d-old", ISSUE).await.status, 202);
        let taker = Taker::answering("200 OK");
        let since = served
            .command(&["event", "list", "--limit", "1", "--json"])
            .json();
        let since = since["events"][0]["id"].to_string();
        let words = [
            "event", "forward", "--to", &taker.url, "--since", &since, "--json", "--once",
        ];
        let mut told = Told::start(&served, &words);
        let mail = served
            .http
            .post(format!(
                "{}/v1/inbound/raw?to=agent@localhost",
                served.text("url")
            ))
            .bearer_auth(served.admin())
            .header("content-type", "message/rfc822")
            .body("From: a@b.example\r\nSubject: s\r\n\r\nhello\r\n")
            .send()
            .await
            .expect("an answer");
        drop(mail);
        let later = ISSUE.replace("Wipers", "Mirror");
        assert_eq!(source.push(&served, "d-new", &later).await.status, 202);
        let line: Value = serde_json::from_str(&told.line()).expect("a line of JSON");
        assert_eq!(line["status"], 200, "{line}");
        assert_eq!(line["event_type"], "issues");
        assert_eq!(told.exit(), 0);
        assert_eq!(String::from_utf8_lossy(&taker.taken().1), later);
    });
}

#[test]
fn rules_are_kept_in_a_file_and_tried_before_they_are_saved() {
    on_both("serve", async |served| {
        let source = Source::github(&served).await;
        assert_eq!(source.push(&served, "d-1", ISSUE).await.status, 202);
        let event =
            served.command(&["event", "list", "--json"]).json()["events"][0]["id"].to_string();
        let rules = json!({"rules": [
            {"id": "wipers", "expr": "issue.title == 'Wipers'", "action": {"queue": "glass", "priority": 4}},
        ], "default": {"drop": true}});
        std::fs::write(served.folder().join("rules.json"), rules.to_string()).expect("written");
        let id = source.id.as_str();
        let tried = served.command(&["source", "test-rules", id, "rules.json", "--event", &event]);
        assert_eq!(tried.exit, 0, "{tried:?}");
        assert!(
            tried.out.contains("routed to queue glass, priority 4"),
            "{tried:?}"
        );
        assert!(tried.out.contains("by rule wipers"), "{tried:?}");
        let before = served.command(&["source", "rules", id, "--json"]).json();
        assert_eq!(before["rules"], json!([]), "nothing was saved");

        let saved = served.command(&["source", "rules", id, "rules.json", "--json"]);
        assert_eq!(saved.exit, 0, "{saved:?}");
        assert_eq!(saved.json()["tried"], 1);
        let version = saved.json()["rules_version"].to_string();
        // What is shown is a file that is taken again.
        let shown = served.command(&["source", "rules", id]);
        std::fs::write(served.folder().join("again.json"), &shown.out).expect("written");
        let words = [
            "source",
            "rules",
            id,
            "again.json",
            "--expected-version",
            &version,
        ];
        let again = served.command(&words);
        assert_eq!(again.exit, 0, "{again:?}");
        let stale = served.command(&words);
        assert_eq!(stale.exit, 1, "{stale:?}");
        assert!(stale.err.contains("conflict"), "{stale:?}");

        std::fs::write(served.folder().join("payload.json"), r#"{"zen":"x"}"#).expect("written");
        let words = [
            "source",
            "test-rules",
            id,
            "--payload",
            "payload.json",
            "--type",
            "ping",
        ];
        let made_up = served.command(&words);
        assert_eq!(
            made_up.exit, 1,
            "a rule faults on what has no issue: {made_up:?}"
        );
    });
}

#[test]
fn the_demo_has_every_trust_and_todos_in_every_state() {
    let served = Served::start("demo", None);
    let demo = &served.ready["demo"];
    let names = demo["sources"].as_array().expect("sources");
    for name in ["generic", "stripe", "postmark", "github", "slack", "resend"] {
        assert!(names.contains(&json!(name)), "{demo}");
    }
    let sources = served.command(&["source", "list", "--json"]).json();
    let by_provider: BTreeMap<&str, &Value> = sources["sources"]
        .as_array()
        .expect("sources")
        .iter()
        .map(|source| (source["source_type"].as_str().unwrap_or_default(), source))
        .collect();
    assert_eq!(by_provider["linear"]["state"], "awaiting_secret");
    assert_eq!(
        by_provider["github"]["last_refusal"]["reason"],
        "bad_signature"
    );
    assert!(by_provider["slack"]["handshake_at"].is_string());
    assert_eq!(by_provider["generic"]["redeliveries"], 1);

    let (mut trusts, mut went) = (BTreeSet::new(), BTreeSet::new());
    let mut cursor = String::new();
    loop {
        let mut words = vec!["event", "list", "--limit", "200", "--json"];
        if !cursor.is_empty() {
            words.extend(["--cursor", &cursor]);
        }
        let page = served.command(&words).json();
        for event in page["events"].as_array().expect("events") {
            trusts.insert(event["trust_mode"].as_str().unwrap_or_default().to_owned());
            went.insert(event["disposition"].as_str().unwrap_or_default().to_owned());
        }
        match page["next_cursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(
        trusts,
        BTreeSet::from(["queue", "signed", "smtp", "token"].map(str::to_owned))
    );
    assert_eq!(
        went,
        BTreeSet::from(["dropped", "faulted", "quarantined", "routed"].map(str::to_owned))
    );
    let states: BTreeSet<String> = served
        .command(&["todo", "list", "--limit", "200", "--json"])
        .json()["todos"]
        .as_array()
        .expect("todos")
        .iter()
        .map(|todo| match todo["dead_letter"] {
            Value::Bool(true) => "dead".to_owned(),
            _ => todo["state"].as_str().unwrap_or_default().to_owned(),
        })
        .collect();
    assert_eq!(
        states,
        BTreeSet::from(["claimed", "dead", "done", "failed", "pending"].map(str::to_owned))
    );
    // What Postmark brought is mail in the mailbox that it was sent to.
    let words = [
        "search",
        "child seat",
        "--as",
        "bookings@larkspur.example",
        "--json",
    ];
    let found = served.command(&words).json().to_string();
    assert!(found.contains("LK-7310"), "{found}");
}
