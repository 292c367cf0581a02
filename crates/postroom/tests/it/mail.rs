//! Mail in: SMTP, raw, import; found, kept over restarts and kills.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
    path::Path,
    process::Stdio,
};

use serde_json::{Value, json};

use crate::served::{Served, on_both, postroom, run};

/// Delivers one mail by SMTP; panics unless it is accepted.
pub(crate) fn deliver(smtp: &str, recipient: &str, subject: &str) {
    let sender = "sender@outside.example";
    let body = format!(
        "From: Sender <{sender}>\r\nTo: {recipient}\r\nSubject: {subject}\r\nMessage-ID: <{}@outside.example>\r\n\r\nText of {subject}.\r\n",
        subject.replace(' ', "-")
    );
    deliver_raw(smtp, sender, recipient, &body);
}

/// Delivers this mail by SMTP; panics unless it is accepted.
pub(crate) fn deliver_raw(smtp: &str, sender: &str, recipient: &str, mail: &str) {
    let stream = TcpStream::connect(smtp).expect("a connection");
    let mut answers = BufReader::new(stream.try_clone().expect("a second handle")).lines();
    let mut stream = stream;
    let mut expect = |code: &str| {
        loop {
            let line = answers.next().expect("an answer").expect("text");
            assert!(line.starts_with(code), "{line}");
            if line.as_bytes().get(3) != Some(&b'-') {
                return;
            }
        }
    };
    expect("220");
    for (command, code) in [
        ("EHLO outside.example\r\n".to_owned(), "250"),
        (format!("MAIL FROM:<{sender}>\r\n"), "250"),
        (format!("RCPT TO:<{recipient}>\r\n"), "250"),
        ("DATA\r\n".to_owned(), "354"),
        (format!("{mail}.\r\n"), "250"),
        ("QUIT\r\n".to_owned(), "221"),
    ] {
        stream.write_all(command.as_bytes()).expect("written");
        expect(code);
    }
}

/// Asks whether a recipient is taken; panics unless it is refused for good.
fn refuse(smtp: &str, recipient: &str) {
    let mut stream = TcpStream::connect(smtp).expect("a connection");
    let asked =
        format!("EHLO a.example\r\nMAIL FROM:<a@a.example>\r\nRCPT TO:<{recipient}>\r\nQUIT\r\n");
    stream.write_all(asked.as_bytes()).expect("written");
    let answers: Vec<String> = BufReader::new(stream)
        .lines()
        .map_while(Result::ok)
        .collect();
    assert!(
        answers.iter().any(|line| line.starts_with("550")),
        "{answers:?}"
    );
}

/// Mails that a search finds, as its answer counts them.
fn found(served: &Served, query: &str) -> usize {
    let answer = served.command(&["search", query, "--as", "agent@localhost", "--json"]);
    answer.json()["hits"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer:?}"))
        .len()
}

/// A folder of mails that differ.
fn archive(folder: &Path, count: usize) {
    std::fs::create_dir_all(folder).expect("a folder");
    for number in 0..count {
        let mail = format!(
            "From: p{number}@outside.example\r\nTo: agent@localhost\r\nSubject: Letter {number}\r\nDate: Mon, 02 Mar 2026 10:00:00 +0000\r\nMessage-ID: <{number}@archive.example>\r\n\r\nThe text of letter {number}.\r\n"
        );
        std::fs::write(folder.join(format!("{number:05}.eml")), mail).expect("written");
    }
}

fn counts(answer: &Value) -> (u64, u64, u64, u64) {
    let count = |name: &str| answer[name].as_u64().unwrap_or_else(|| panic!("{answer}"));
    (
        count("read"),
        count("stored"),
        count("duplicate"),
        count("failed"),
    )
}

#[test]
fn mail_by_smtp_is_found_and_is_there_after_a_restart_and_a_kill() {
    on_both("serve", async |mut served| {
        deliver(served.text("smtp"), "agent@localhost", "quokka report");
        assert_eq!(found(&served, "quokka"), 1);
        assert!(served.stop(), "ends well");
        served.start_again();
        assert_eq!(served.ready["key"], Value::Null);
        assert_eq!(served.ready["admin_key"], Value::Null);
        assert!(
            served.ready["owner_link"].is_string(),
            "nobody signed in yet"
        );
        assert_eq!(found(&served, "quokka"), 1);
        deliver(served.text("smtp"), "agent@localhost", "numbat report");
        served.kill();
        served.start_again();
        assert_eq!(
            found(&served, "numbat"),
            1,
            "acknowledged mail outlives a kill"
        );
    });
}

#[test]
fn role_addresses_of_a_domain_reach_its_first_mailbox() {
    on_both("serve", async |served| {
        let smtp = served.text("smtp");
        for recipient in ["postmaster", "Postmaster@localhost", "abuse@localhost"] {
            deliver(
                smtp,
                recipient,
                &format!("role {}", recipient.replace('@', " at ")),
            );
        }
        assert_eq!(found(&served, "subject:role"), 3);
        refuse(served.text("smtp"), "abuse@elsewhere.example");
    });
}

#[test]
fn the_bare_postmaster_is_reached_though_the_host_is_no_domain_of_a_mailbox() {
    on_both("demo", async |served| {
        let hosts = served.command(&["identity", "list", "--json"]).json();
        assert!(!hosts.to_string().contains("@localhost"), "{hosts}");
        deliver(served.text("smtp"), "postmaster", "for the keeper");
        let answer = served.command(&["search", "subject:keeper", "--json"]);
        assert_eq!(
            answer.json()["hits"].as_array().map(Vec::len),
            Some(1),
            "{answer:?}"
        );
    });
}

#[test]
fn nobody_is_relayed_for() {
    on_both("serve", async |served| {
        refuse(served.text("smtp"), "b@elsewhere.example");
    });
}

#[test]
fn raw_bytes_come_back_as_they_went_in() {
    on_both("serve", async |served| {
        let raw =
            b"From: a@outside.example\r\nSubject: \xe9t\xe9\r\n\r\nBare \n lines and \0 bytes."
                .to_vec();
        let identity = served.command(&["identity", "list", "--json"]).json()["data"][0]["id"]
            .as_str()
            .expect("an id")
            .to_owned();
        let url = format!(
            "{}/v1/identities/{identity}/inbound/raw?archive=true",
            served.text("url")
        );
        let post = || {
            served
                .http
                .post(&url)
                .bearer_auth(served.key())
                .header("content-type", "message/rfc822")
                .body(raw.clone())
        };
        let first = post().send().await.expect("an answer");
        assert_eq!(first.status().as_u16(), 202);
        let first: Value =
            serde_json::from_str(&first.text().await.expect("a body")).expect("json");
        let second: Value = serde_json::from_str(
            &post()
                .send()
                .await
                .expect("an answer")
                .text()
                .await
                .expect("a body"),
        )
        .expect("json");
        assert_eq!(
            (&first["duplicate"], &second["duplicate"]),
            (&json!(false), &json!(true))
        );
        let message = first["message_id"].as_str().expect("a message");
        let back = format!(
            "{}/v1/identities/{identity}/messages/{message}/raw",
            served.text("url")
        );
        let back = served
            .http
            .get(back)
            .bearer_auth(served.key())
            .send()
            .await
            .expect("an answer");
        assert_eq!(back.bytes().await.expect("bytes").as_ref(), raw.as_slice());
        let kept = postroom(served.folder())
            .args(["call", "message_raw", "--message-id", message])
            .output()
            .expect("runs");
        assert_eq!(kept.stdout, raw, "the command line gives the same bytes");
    });
}

#[test]
fn a_second_import_stores_nothing_in_a_folder_or_through_a_server() {
    on_both("serve", async |served| {
        let mails = served.folder().join("mails");
        archive(&mails, 40);
        std::fs::write(mails.join("empty.eml"), "").expect("written");
        let import =
            || served.command(&["import", "mails", "--identity", "old@localhost", "--json"]);
        let first = import();
        let (read, stored, duplicate, failed) = counts(&first.json());
        assert_eq!(read, stored + duplicate + failed, "{first:?}");
        assert_eq!((stored, duplicate), (40, 0), "{first:?}");
        assert_eq!(first.exit, i32::from(failed > 0));
        let (read_again, stored, duplicate, failed_again) = counts(&import().json());
        assert_eq!(
            (read_again, stored, duplicate, failed_again),
            (read, 0, 40, failed)
        );
    });
    let folder = tempfile::tempdir().expect("a folder");
    archive(&folder.path().join("mails"), 40);
    let import = || {
        run(
            folder.path(),
            &["import", "mails", "--identity", "old@localhost", "--json"],
        )
    };
    assert_eq!(counts(&import().json()), (40, 40, 0, 0));
    assert_eq!(counts(&import().json()), (40, 0, 40, 0));
    let hits = run(
        folder.path(),
        &["search", "subject:letter", "--limit", "25", "--json"],
    );
    assert_eq!(
        hits.json()["hits"].as_array().map(Vec::len),
        Some(25),
        "{hits:?}"
    );
}

#[test]
fn an_import_that_was_killed_goes_on_and_adds_up() {
    const MAILS: usize = 1_500;
    let folder = tempfile::tempdir().expect("a folder");
    archive(&folder.path().join("mails"), MAILS);
    let words = ["import", "mails", "--identity", "old@localhost", "--json"];
    let wal = folder.path().join("postroom-data/postroom.sqlite-wal");
    for enough in [200_000, 900_000] {
        let mut child = postroom(folder.path())
            .args(words)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("runs");
        // Killed in the middle, once so many bytes were written, unless it was faster.
        while child.try_wait().expect("a state").is_none() {
            if std::fs::metadata(&wal).is_ok_and(|meta| meta.len() > enough) {
                let _ = child.kill();
            }
            std::thread::yield_now();
        }
    }
    let (read, stored, duplicate, failed) = counts(&run(folder.path(), &words).json());
    assert_eq!((read, failed), (MAILS as u64, 0));
    assert_eq!(stored + duplicate, MAILS as u64);
    assert_eq!(
        counts(&run(folder.path(), &words).json()),
        (MAILS as u64, 0, MAILS as u64, 0)
    );
    let doctor = run(folder.path(), &["doctor", "--json"]);
    let backlog = doctor.json()["indexes"][0]["backlog"].clone();
    assert_eq!(backlog, json!(0), "what was imported can be found");
    assert_eq!(
        doctor.json()["counts"]["messages"],
        json!(MAILS),
        "{doctor:?}"
    );
}
