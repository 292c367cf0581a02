//! Configuration that stops a start, and configuration that holds.

use serde_json::json;

use crate::served::{Answered, Served, postroom, run};

/// A data folder with one mailbox in it, and no server.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let made = run(
        folder.path(),
        &["import", ".", "--identity", "a@localhost", "--json"],
    );
    assert_eq!(made.exit, 0, "{made:?}");
    folder
}

/// The error of a command that was not worth repeating.
fn incurable(answer: &Answered, words: &[&str]) -> String {
    let error = &answer.json()["error"];
    assert_eq!(answer.exit, 2, "{answer:?}");
    assert_eq!(error["retryable"], json!(false), "{answer:?}");
    let said = format!("{} {}", error["message"], error["fix"]);
    for word in words {
        assert!(said.contains(word), "{word}: {answer:?}");
    }
    said
}

#[test]
fn an_unknown_key_stops_the_start_and_the_nearest_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(
        folder.path().join("postroom.toml"),
        "lisen = \"127.0.0.1:0\"\n",
    )
    .expect("written");
    for words in [
        &["serve"][..],
        &["demo"],
        &["identity", "list"],
        &["doctor"],
    ] {
        let answer = run(folder.path(), words);
        assert_eq!(answer.exit, 2, "{answer:?}");
        assert!(answer.err.contains("`listen`"), "{answer:?}");
    }
    let other = tempfile::tempdir().expect("a folder");
    let output = postroom(other.path())
        .args(["serve", "--json"])
        .env("POSTROOM_LISTN", "x")
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stdout).contains("POSTROOM_LISTEN"));
}

#[test]
fn the_file_is_read_and_secrets_are_hidden() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = "listen = \"127.0.0.1:7\"\nsecret_key = \"0123456789abcdef0123456789abcdef\"\n";
    std::fs::write(folder.path().join("other.toml"), file).expect("written");
    let shown = run(
        folder.path(),
        &["config", "--config", "other.toml", "--json"],
    )
    .json();
    assert_eq!(
        (&shown["listen"], &shown["secret_key"]),
        (&"127.0.0.1:7".into(), &"(set)".into())
    );
}

#[test]
fn a_port_in_use_is_said_before_anything_is_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let answer = run(
        folder.path(),
        &["serve", "--listen", &address, "--smtp", "off"],
    );
    assert_eq!(answer.exit, 2);
    assert!(answer.err.contains("cannot be listened on"), "{answer:?}");
    assert!(!folder.path().join("postroom-data").exists());
}

#[test]
fn another_secret_does_not_open_the_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = |secret: &str| {
        let output = postroom(folder.path())
            .args(["import", ".", "--identity", "a@localhost", "--json"])
            .env("POSTROOM_SECRET_KEY", secret)
            .output();
        output.expect("runs").status.code()
    };
    assert_eq!(list(&"a".repeat(32)), Some(0));
    assert_eq!(list(&"b".repeat(32)), Some(2));
}

#[test]
fn a_lost_secret_key_is_never_replaced_by_a_new_one() {
    let folder = folder();
    let key = folder.path().join("postroom-data/secret.key");
    let kept = std::fs::read(&key).expect("a key");
    std::fs::remove_file(&key).expect("removed");
    for words in [
        &["doctor", "--json"][..],
        &["identity", "list", "--json"],
        &["import", ".", "--identity", "b@localhost", "--json"],
        &[
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--smtp",
            "off",
            "--json",
        ],
    ] {
        let answer = run(folder.path(), words);
        incurable(&answer, &["secret.key", "POSTROOM_SECRET_KEY"]);
        assert!(!key.exists(), "{words:?}");
    }
    std::fs::write(&key, "not a key").expect("written");
    incurable(&run(folder.path(), &["doctor", "--json"]), &["secret.key"]);
    std::fs::write(&key, kept).expect("written");
    assert_eq!(run(folder.path(), &["doctor"]).exit, 0);
}

#[test]
fn a_start_that_cannot_succeed_later_is_not_called_retryable() {
    let folder = folder();
    let other = postroom(folder.path())
        .args(["identity", "list", "--json"])
        .env("POSTROOM_SECRET_KEY", "c".repeat(32))
        .output()
        .expect("runs");
    let answer = Answered {
        exit: other.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&other.stdout).into_owned(),
        err: String::new(),
    };
    incurable(&answer, &["secret.key"]);
    let database = folder.path().join("postroom-data/postroom.sqlite");
    std::fs::write(
        &database,
        "no database at all, but long enough to be looked at",
    )
    .expect("written");
    for rest in ["postroom.sqlite-wal", "postroom.sqlite-shm"] {
        let _ = std::fs::remove_file(folder.path().join("postroom-data").join(rest));
    }
    incurable(&run(folder.path(), &["doctor", "--json"]), &["database"]);
}

#[test]
fn a_database_server_that_is_away_is_worth_another_try() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = postroom(folder.path())
        .args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--smtp",
            "off",
            "--json",
        ])
        .env(
            "POSTROOM_DATABASE_URL",
            "postgres://nobody@127.0.0.1:1/none",
        )
        .output()
        .expect("runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let said: serde_json::Value = serde_json::from_str(&said).expect("an envelope");
    assert_eq!(said["error"]["code"], json!("unavailable"));
    assert_eq!(said["error"]["retryable"], json!(true));
}

#[test]
fn a_broken_certificate_is_found_and_the_advice_names_what_is_there() {
    let folder = folder();
    let data = folder.path().join("postroom-data");
    assert_eq!(run(folder.path(), &["doctor"]).exit, 0, "none is made yet");
    std::fs::write(data.join("smtp-cert.pem"), "nothing").expect("written");
    let told = run(folder.path(), &["doctor"]);
    assert_eq!(told.exit, 1, "{told:?}");
    let start = ["serve", "--listen", "127.0.0.1:0", "--smtp", "127.0.0.1:0"];
    let refused = run(folder.path(), &start);
    assert_eq!(refused.exit, 2, "{refused:?}");
    for said in [&told.out, &refused.err] {
        assert!(
            said.contains("smtp-cert.pem") && said.contains("smtp-key.pem"),
            "{said}"
        );
        assert!(!said.contains("tls_certificate"), "{said}");
    }
    let file = "tls_certificate = \"cert.pem\"\ntls_key = \"key.pem\"\n";
    std::fs::write(folder.path().join("postroom.toml"), file).expect("written");
    let told = run(folder.path(), &["doctor"]);
    assert_eq!(told.exit, 1, "{told:?}");
    assert!(told.out.contains("tls_certificate (cert.pem)"), "{told:?}");
    assert!(run(folder.path(), &start).err.contains("cert.pem"));
    let keys = run(folder.path(), &["key", "list", "--json"]).json();
    assert_eq!(
        keys["data"],
        json!([]),
        "keys are shown by a start that succeeds"
    );
}

#[test]
fn a_public_url_of_another_shape_stops_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    for url in [
        "mail.example.com",
        "https://a@mail.example.com",
        "https://mail.example.com/?a",
    ] {
        let output = postroom(folder.path())
            .args(["serve", "--json"])
            .env("POSTROOM_PUBLIC_URL", url)
            .output()
            .expect("runs");
        assert_eq!(output.status.code(), Some(2), "{url}");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            said.contains("POSTROOM_PUBLIC_URL") && said.contains("http"),
            "{said}"
        );
    }
    assert!(!folder.path().join("postroom-data").exists());
}

#[tokio::test]
async fn rates_are_what_the_operator_set_and_this_machine_is_not_counted() {
    let served = Served::configured("rate_key = 3\nrate_search = 2\nrate_ingest = 1\n");
    let mut statuses = Vec::new();
    for _ in 0..4 {
        let reply = served
            .ask("GET", "/v1/identities?limit=1", served.key(), None)
            .await;
        assert_eq!(reply.header("ratelimit-limit"), Some("3"));
        statuses.push(reply.status);
    }
    // The window may turn once while the test runs.
    assert!(
        statuses[..3].iter().all(|status| *status == 200),
        "{statuses:?}"
    );
    let limited = served
        .http
        .post(served.text("mcp_url"))
        .bearer_auth(served.key())
        .header("content-type", "application/json")
        .body(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
        .send()
        .await
        .expect("an answer");
    assert_eq!(limited.headers()["ratelimit-limit"], "3");
    for _ in 0..5 {
        assert_eq!(served.command(&["identity", "list"]).exit, 0);
    }
    let shown = served.command(&["config", "--json"]).json();
    assert_eq!(shown["rate_key"], json!("3"));
    assert_eq!(shown["rate_tenant"], json!("1800"));
}
