//! Configuration that stops a start, and configuration that holds.

use crate::served::{postroom, run};

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
