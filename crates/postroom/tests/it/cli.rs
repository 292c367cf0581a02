//! The command line: verbs, human output, exit statuses, what to do.

use crate::served::{Served, on_both, run};

#[test]
fn every_verb_works_against_the_demo_and_says_json() {
    on_both("demo", async |served| {
        let hit = served
            .command(&[
                "search",
                "has:attachment voucher",
                "--as",
                "bookings@larkspur.example",
                "--limit",
                "1",
                "--json",
            ])
            .json();
        let (message, thread) = (
            hit["hits"][0]["message_id"].as_str().expect("a hit"),
            hit["hits"][0]["thread_id"].as_str().expect("a hit"),
        );
        let sources = served.command(&["source", "list", "--json"]).json();
        let source = sources["sources"][1]["source_id"]
            .as_str()
            .expect("a source");
        let mailbox = ["--as", "bookings@larkspur.example"];
        let verbs: &[&[&str]] = &[
            &["search", "deposit"],
            &["read", message],
            &["read", thread],
            &["threads", mailbox[0], mailbox[1]],
            &["contacts", "tarn", "--as", "accounts@larkspur.example"],
            &["related", message],
            &["wait", "--timeout-seconds", "1", mailbox[0], mailbox[1]],
            &["label", message, "--labels-add", "handled", "--read"],
            &["event", "list"],
            &["event", "show", "20"],
            &["event", "list", "--provider", "stripe"],
            &["source", "list"],
            &["source", "show", source],
            &["source", "rules", source],
            &["todo", "list", "--queue", "enquiries"],
            &["queue", "list"],
            &["identity", "list"],
            &["identity", "create", "--address", "more@larkspur.example"],
            &["key", "list"],
            &["key", "create", "helper", mailbox[0], mailbox[1]],
            &["tenant", "list"],
            &["call", "mail_list_identities", "{\"limit\":2}"],
            &[
                "call",
                "mail_list_threads",
                "--limit",
                "2",
                "--as",
                "claims@larkspur.example",
            ],
        ];
        for words in verbs {
            let answer = served.command(words);
            // Nothing comes while it waits, and a script sees that.
            let exit = i32::from(words[0] == "wait");
            assert_eq!(answer.exit, exit, "{words:?}: {answer:?}");
            assert!(!answer.out.trim().is_empty(), "{words:?}");
            assert!(
                !answer.out.contains('\u{1b}'),
                "no escapes where nobody sees colours: {words:?}"
            );
            if words.get(1) != Some(&"create") {
                let json = served.command(&[words, &["--json"][..]].concat());
                assert!(json.json().is_object(), "{words:?}: {json:?}");
                assert_eq!(json.out.lines().count(), 1, "{words:?}");
            }
        }
    });
}

#[test]
fn trouble_has_an_exit_status_a_code_and_advice() {
    let folder = tempfile::tempdir().expect("a folder");
    let cases: &[(&[&str], i32, &str)] = &[
        (&["search", "x"], 2, "There is no data folder"),
        (
            &["search", "x", "--url", "http://127.0.0.1:1", "--key", "k"],
            2,
            "cannot be reached",
        ),
        (
            &["search", "x", "--url", "nowhere", "--key", "k"],
            2,
            "no address of a server",
        ),
        (&["import", "nothing-here"], 2, "cannot be read"),
        (&["inspect", "nothing-here.eml"], 2, "cannot be read"),
        (&["call", "mail_serch"], 2, "Did you mean mail_search?"),
        (&["read", "nonsense"], 2, "msg_ or thr_"),
        (&["mcp", "--tools", "nothing"], 2, "There is no toolset"),
        (
            &["serve", "--listen", "nowhere"],
            2,
            "--listen is not valid",
        ),
    ];
    for (words, exit, expected) in cases {
        let answer = run(folder.path(), words);
        assert_eq!(answer.exit, *exit, "{words:?}: {answer:?}");
        assert!(
            answer.err.contains(expected) && answer.err.contains("what to do:"),
            "{words:?}: {answer:?}"
        );
        let json = run(folder.path(), &[*words, &["--json"][..]].concat());
        assert!(
            json.json()["error"]["fix"].is_string(),
            "{words:?}: {json:?}"
        );
    }
}

#[test]
fn a_folder_of_other_files_is_left_alone_by_what_reads_and_by_imports_that_cannot_begin() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("postroom-data");
    std::fs::create_dir(&data).expect("makes it");
    std::fs::write(data.join("notes.txt"), "mine").expect("writes");
    let mail = folder.path().join("a.eml");
    std::fs::write(&mail, "From: a@b.example\r\n\r\nx").expect("writes");
    let mail = mail.to_str().expect("a path");
    let cases: &[(&[&str], &str)] = &[
        (&["search", "x"], "There is no data folder"),
        (&["doctor"], "There is no data folder"),
        (&["import", mail], "which mailbox takes the mail"),
        (&["import", mail, "--identity", "no address"], "address"),
        (
            &["import", mail, "--identity", "idn_01"],
            "no id of a mailbox",
        ),
    ];
    for (words, expected) in cases {
        let answer = run(folder.path(), words);
        assert_eq!(answer.exit, 2, "{words:?}: {answer:?}");
        assert!(answer.err.contains(expected), "{words:?}: {answer:?}");
        let found: Vec<_> = std::fs::read_dir(&data).expect("a folder").collect();
        assert_eq!(found.len(), 1, "{words:?}: {found:?}");
    }
}

#[test]
fn a_mailbox_that_is_not_there_is_answered_with_those_that_are() {
    on_both("serve", async |served| {
        for words in [
            &["search", "x", "--as", "no@localhost"][..],
            &[
                "identity",
                "update",
                "--as",
                "no@localhost",
                "--display-name",
                "No",
            ],
            &["call", "mail_list_threads", "--as", "no@localhost"],
        ] {
            let answer = served.command(words);
            assert_eq!(answer.exit, 1, "{answer:?}");
            assert!(
                answer.err.contains("There is no mailbox no@localhost.")
                    && answer.err.contains("agent@localhost"),
                "{answer:?}"
            );
        }
    });
}

#[test]
fn a_query_that_cannot_be_read_names_the_position() {
    on_both("serve", async |served| {
        let answer = served.command(&["search", "from:", "--as", "agent@localhost"]);
        assert_eq!(answer.exit, 2, "{answer:?}");
        assert!(
            answer.err.contains("invalid_query") && answer.err.contains("position"),
            "{answer:?}"
        );
    });
}

#[test]
fn what_a_killed_server_left_is_no_server() {
    on_both("serve", async |mut served| {
        let sqlite = served.text("database") == "sqlite";
        served.kill();
        let left = served.folder().join("postroom-data/server.json");
        assert!(left.exists());
        if sqlite {
            let answer = served.command(&["identity", "list", "--json"]);
            assert_eq!(answer.exit, 0, "{answer:?}");
        }
        served.start_again();
        assert!(served.stop());
        assert!(!left.exists());
    });
}

#[test]
fn one_mail_is_inspected_without_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let raw = "From: a@b.example\r\nSubject: Hello\r\nMessage-ID: <1@b.example>\r\n\r\nText.\r\n";
    std::fs::write(folder.path().join("one.eml"), raw).expect("written");
    let answer = run(folder.path(), &["inspect", "one.eml", "--json"]);
    let read = answer.json();
    assert_eq!(read["subject"], "Hello");
    assert!(
        read["raw_sha256"]
            .as_str()
            .is_some_and(|hash| hash.len() == 64),
        "{read}"
    );
    assert!(read["defects"].is_array() && read["thread_keys"].is_array());
    assert!(
        run(folder.path(), &["inspect", "one.eml"])
            .out
            .contains("Hello")
    );
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("a folder").count(),
        1,
        "nothing was made"
    );
}

#[test]
fn completions_are_printed_for_every_shell() {
    let folder = tempfile::tempdir().expect("a folder");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let answer = run(folder.path(), &["completions", shell]);
        assert!(
            answer.exit == 0 && answer.out.contains("postroom"),
            "{shell}"
        );
    }
}

#[test]
fn a_lost_or_damaged_server_file_is_named_and_comes_back() {
    let served = Served::start("serve", None);
    let file = served.folder().join("postroom-data/server.json");
    let written = std::fs::read(&file).expect("a file");
    // A folder in its place keeps the server from writing it anew.
    std::fs::remove_file(&file).expect("removed");
    std::fs::create_dir_all(file.join("inside")).expect("a folder");
    for words in [&["identity", "list"][..], &["doctor"], &["reindex"]] {
        let answer = served.command(words);
        assert_eq!(answer.exit, 2, "{answer:?}");
        assert!(answer.err.contains("server.json"), "{words:?}: {answer:?}");
        assert!(answer.err.contains("start the server again"), "{answer:?}");
    }
    std::fs::remove_dir_all(&file).expect("removed");
    let answer = served.command(&["identity", "list"]);
    assert!(
        answer.exit == 0 || answer.err.contains("server.json"),
        "{answer:?}"
    );
    let mut tries = 0..1_000;
    while std::fs::read(&file).ok().as_ref() != Some(&written) {
        assert!(tries.next().is_some(), "it never came back");
        let _ = served.command(&["identity", "list"]);
    }
    assert_eq!(served.command(&["identity", "list"]).exit, 0);
}

#[tokio::test]
async fn a_person_who_lost_the_way_in_gets_a_new_link() {
    let served = Served::start("serve", None);
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .expect("a client");
    let status = async |link: &str| {
        let answer = client.get(link).send().await.expect("an answer");
        answer.status().as_u16()
    };
    assert_eq!(status(served.text("owner_link")).await, 303);
    let links: Vec<String> = (0..2)
        .map(|_| {
            let made = served.command(&["owner-link", "--json"]);
            assert_eq!(made.exit, 0, "{made:?}");
            made.json()["url"].as_str().expect("a link").to_owned()
        })
        .collect();
    assert_ne!(status(&links[0]).await, 303, "a newer link ends it");
    assert_eq!(status(&links[1]).await, 303);
    assert_ne!(status(&links[1]).await, 303, "it works once");
}

#[test]
fn a_mailbox_is_made_by_its_address_with_or_without_the_option() {
    let served = Served::start("serve", None);
    for words in [
        &["identity", "create", "ann@shore.example", "--json"][..],
        &[
            "identity",
            "create",
            "--address",
            "ben@shore.example",
            "--json",
        ],
        &["identity", "create", "--username", "cid", "--json"],
    ] {
        let answer = served.command(words);
        assert_eq!(answer.exit, 0, "{answer:?}");
    }
    let listed = served
        .command(&["identity", "list", "--json"])
        .json()
        .to_string();
    for address in ["ann@shore.example", "ben@shore.example", "cid@localhost"] {
        assert!(listed.contains(address), "{listed}");
    }
    let both = [
        "identity",
        "create",
        "a@b.example",
        "--address",
        "c@b.example",
    ];
    assert_eq!(served.command(&both).exit, 2);
}

#[test]
fn a_key_is_made_with_what_an_agent_needs_or_the_command_says_what_to_add() {
    let served = Served::start("serve", None);
    let address = "ann@shore.example";
    assert_eq!(served.command(&["identity", "create", address]).exit, 0);
    let made = served.command(&["key", "create", "--as", address, "--json"]);
    assert_eq!(made.exit, 0, "{made:?}");
    let key = made.json();
    assert_eq!(
        (&key["name"], &key["level"]),
        (&address.into(), &"identity".into())
    );
    let permissions = key["permissions"].to_string();
    for permission in ["messages:read", "todos:work"] {
        assert!(permissions.contains(permission), "{permissions}");
    }
    for (words, advice) in [
        (&["key", "create"][..], "--as ADDRESS"),
        (&["key", "create", "--level", "identity"], "--as ADDRESS"),
        (
            &["key", "create", "ops", "--level", "tenant"],
            "--permissions",
        ),
    ] {
        let refused = served.command(words);
        assert_eq!(refused.exit, 2, "{refused:?}");
        assert!(refused.err.contains(advice), "{refused:?}");
        assert!(!refused.err.contains("details."), "{refused:?}");
    }
    let number = served.command(&["event", "show", "first"]);
    assert!(number.err.contains("ID is not valid"), "{number:?}");
}

#[test]
fn the_data_folder_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let served = Served::start("serve", None);
    let mode = |path: &str| {
        let path = served.folder().join("postroom-data").join(path);
        let meta = std::fs::metadata(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        meta.permissions().mode() & 0o777
    };
    assert_eq!(mode(""), 0o700);
    for secret in ["secret.key", "server.json", "smtp-key.pem"] {
        assert_eq!(mode(secret), 0o600, "{secret}");
    }
}

#[test]
fn an_import_into_a_mailbox_that_is_not_there_says_so() {
    let mail = "From: a@b.example\nSubject: s\n\nhello\n";
    let unknown = "idn_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let check = |folder: &std::path::Path| {
        std::fs::write(folder.join("1.eml"), mail).expect("written");
        let words = ["import", "1.eml", "--identity", unknown, "--json"];
        let answer = run(folder, &words);
        assert_eq!(answer.exit, 1, "{answer:?}");
        let error = &answer.json()["error"];
        assert_eq!(error["code"], "identity_not_found");
        assert_eq!(error["details"]["identity"], unknown);
        let fix = error["fix"].as_str().expect("advice");
        assert!(fix.contains("postroom identity list"), "{fix}");
        let words = ["import", "1.eml", "--identity", "idn_nonsense", "--json"];
        let answer = run(folder, &words);
        assert_eq!(answer.exit, 2, "{answer:?}");
        assert_eq!(answer.json()["error"]["code"], "usage");
    };
    let folder = tempfile::tempdir().expect("a folder");
    check(folder.path());
    check(Served::start("serve", None).folder());
}
