//! Searches.

use std::collections::HashSet;

use postroom_app::operation::Surface;
use postroom_types::ErrorCode;
use serde_json::{Value, json};

use crate::world::{World, mail, on_both, subjects};

async fn harbour(world: World) -> World {
    let attached = "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n";
    let body = "--b\r\nContent-Type: text/plain\r\n\r\nSee the list.\r\n--b\r\n\
                Content-Type: text/plain; name=crew.txt\r\nContent-Disposition: attachment; filename=crew.txt\r\n\r\n\
                Boatswain: Quartermaine\r\n--b--\r\n";
    let mails = [
        mail(
            1,
            "Invoice INV-20417",
            "Please pay invoice INV-20417 by Friday.",
            "",
        ),
        mail(
            2,
            "Re: Invoice INV-20417",
            "Paid.",
            "In-Reply-To: <m1@shore.example>\r\n",
        ),
        mail(3, "Crew list", body, attached),
        mail(
            4,
            "Reminder",
            "We still wait for INV-20417 to be settled.",
            "",
        ),
        mail(
            5,
            "Regatta",
            "The regatta starts at noon.",
            "List-Id: <regatta.example>\r\n",
        ),
    ];
    world.import(&mails).await;
    world
}

#[test]
fn a_new_room_without_mail_answers_whole() {
    on_both(async |world| {
        // What made the mailbox says nothing to the index, so it woke nobody.
        let answer = world.search("anything").await;
        assert_eq!(answer["index_complete"], true);
        world
            .call("key_create", json!({"name": "more", "level": "identity"}))
            .await;
        let world = world.reopened().await;
        assert_eq!(world.search("anything").await["index_complete"], true);
        world.room.close().await;
    });
}

#[test]
fn a_mailbox_finds_what_came_to_it_with_a_detail() {
    on_both(async |world| {
        let mail = mail(1, "Sails", "Two sails.", "").replace("To: ", "X-To: ");
        world.receive_for("desk+boats@harbour.example", &mail).await;
        for query in [
            "to:desk@harbour.example",
            "to:desk+boats@harbour.example",
            "participant:desk@harbour.example",
        ] {
            let found = world.search(query).await;
            assert_eq!(subjects(&found), ["Sails"], "{query}");
        }
        let found = world.search("sails").await;
        let id = found["hits"][0]["message_id"].clone();
        let message = world
            .call("mail_get_message", json!({"message_id": id}))
            .await;
        assert_eq!(message["delivered_to"], "desk@harbour.example", "{message}");
        world.room.close().await;
    });
}

#[test]
fn words_operators_and_arguments_all_hold() {
    on_both(async |world| {
        let world = harbour(world).await;
        let found = |answer: &Value| {
            subjects(answer)
                .iter()
                .map(|s| (*s).to_owned())
                .collect::<HashSet<_>>()
        };
        assert_eq!(
            found(&world.search("regatta").await),
            HashSet::from(["Regatta".to_owned()])
        );
        assert_eq!(subjects(&world.search("quartermaine").await), ["Crew list"]);
        assert_eq!(
            subjects(&world.search("filename:crew has:attachment").await),
            ["Crew list"]
        );
        assert_eq!(
            world.search("from:ann@shore.example").await["hits"]
                .as_array()
                .map(Vec::len),
            Some(5)
        );
        assert!(subjects(&world.search("from:bob@shore.example").await).is_empty());
        let none = world
            .call(
                "mail_search",
                json!({"q": "regatta", "direction": "outbound"}),
            )
            .await;
        assert!(subjects(&none).is_empty());
        let early = world
            .call(
                "mail_search",
                json!({"q": "", "before": "2026-11-03T09:00:02Z"}),
            )
            .await;
        assert_eq!(subjects(&early), ["Invoice INV-20417"]);
        world.room.close().await;
    });
}

#[test]
fn a_hit_says_why_and_the_first_page_counts() {
    on_both(async |world| {
        let world = harbour(world).await;
        let answer = world.search("quartermaine from:ann@shore.example").await;
        let hit = &answer["hits"][0];
        let why: Vec<&str> = hit["why"]
            .as_array()
            .expect("why")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert!(
            why.contains(&"text:\"quartermaine\" (attachment)"),
            "{why:?}"
        );
        assert!(why.contains(&"from:ann@shore.example"), "{why:?}");
        assert_eq!(hit["attachment_hits"][0]["filename"], "crew.txt");
        assert_eq!(answer["facets"]["sender"]["ann@shore.example"], 1);
        assert_eq!(answer["query"]["mode"], "hybrid");
        assert_eq!(
            (&answer["degraded"], &answer["semantic_coverage"]),
            (&json!(true), &json!(0.0))
        );
        assert_eq!(answer["index_complete"], true);
        world.room.close().await;
    });
}

#[test]
fn group_by_thread_gives_each_thread_once() {
    on_both(async |world| {
        let world = harbour(world).await;
        let answer = world
            .call("mail_search", json!({"q": "invoice", "group_by": "thread"}))
            .await;
        let hits = answer["hits"].as_array().expect("hits");
        assert_eq!(hits.len(), 1, "{answer:#}");
        assert_eq!(hits[0]["message_count"], 2);
        world.room.close().await;
    });
}

#[test]
fn pages_neither_repeat_nor_skip_while_mail_arrives() {
    on_both(async |world| {
        let mails: Vec<String> = (0..60)
            .map(|n| mail(n, &format!("Tide {n}"), "tide table", ""))
            .collect();
        world.import(&mails).await;
        let mut seen: Vec<String> = Vec::new();
        let mut arguments = json!({"q": "tide", "limit": 7});
        let mut pages = 0;
        loop {
            let answer = world.call("mail_search", arguments.clone()).await;
            assert_eq!(
                answer["facets"].is_null(),
                pages > 0,
                "facets are on the first page only"
            );
            seen.extend(
                subjects(&answer)
                    .iter()
                    .map(|subject| (*subject).to_owned()),
            );
            pages += 1;
            let Some(cursor) = answer["next_cursor"].as_str() else {
                break;
            };
            arguments["cursor"] = json!(cursor);
            world
                .receive(&mail(
                    1_000 + pages,
                    &format!("Tide new {pages}"),
                    "tide tide tide",
                    "",
                ))
                .await;
        }
        assert_eq!(pages, 9);
        assert_eq!(seen.len(), 60);
        assert_eq!(seen.iter().collect::<HashSet<_>>().len(), 60);
        assert!(seen.iter().all(|subject| !subject.contains("new")));
        world.room.close().await;
    });
}

#[test]
fn a_cursor_outlives_the_process_and_belongs_to_its_query() {
    on_both(async |world| {
        let mails: Vec<String> = (0..30)
            .map(|n| mail(n, &format!("Tide {n}"), "tide", ""))
            .collect();
        world.import(&mails).await;
        let first = world.search("tide").await;
        let cursor = first["next_cursor"].as_str().expect("a cursor").to_owned();
        let world = world.reopened().await;
        let second = world
            .call("mail_search", json!({"q": "tide", "cursor": cursor}))
            .await;
        assert_eq!(subjects(&second).len(), 10);
        assert_eq!(second["as_of"], first["as_of"]);
        let other = world
            .try_call("mail_search", json!({"q": "table", "cursor": cursor}))
            .await;
        let failure = other.expect_err("another query");
        assert_eq!(failure.code, ErrorCode::InvalidRequest);
        assert_eq!(failure.details["errors"][0]["path"], "cursor");
        world.room.close().await;
    });
}

#[test]
fn what_cannot_be_answered_is_a_clear_error() {
    on_both(async |world| {
        let world = harbour(world).await;
        let failure = world
            .try_call("mail_search", json!({"q": "a (b"}))
            .await
            .expect_err("unbalanced");
        assert_eq!(failure.code, ErrorCode::InvalidQuery);
        assert!(failure.details.contains_key("position"));
        let failure = world
            .try_call("mail_search", json!({"q": "a".repeat(1_025)}))
            .await
            .expect_err("too long");
        assert_eq!(failure.code, ErrorCode::InvalidQuery);
        assert_eq!(failure.details["position"], 1_024);
        let semantic = json!({"q": "boats", "mode": "semantic"});
        let failure = world
            .try_call("mail_search", semantic)
            .await
            .expect_err("no engine");
        assert_eq!(failure.code, ErrorCode::SearchDegraded);
        let mut context = world.context(Surface::Rest);
        context.include = vec!["require_mode".to_owned()];
        let failure = world
            .call_in("mail_search", json!({"q": "boats"}), &context)
            .await;
        assert_eq!(
            failure.expect_err("no engine").code,
            ErrorCode::SearchDegraded
        );
        world.room.close().await;
    });
}

#[test]
fn a_search_over_the_tenant_names_mailboxes_and_failures() {
    on_both(async |world| {
        let world = harbour(world).await;
        let answer = world
            .call("mail_search", json!({"q": "regatta", "scope": "tenant"}))
            .await;
        assert_eq!(answer["hits"][0]["identity_id"], world.identity.to_string());
        assert_eq!(
            (&answer["partial"], &answer["failed_identities"]),
            (&json!(false), &json!([]))
        );
        let unknown = postroom_types::IdentityId::from_parts(5, 5).to_string();
        let named = json!({"q": "regatta", "scope": "tenant", "identity_ids": [unknown]});
        let failure = world
            .try_call("mail_search", named)
            .await
            .expect_err("no such mailbox");
        assert_eq!(failure.code, ErrorCode::IdentityNotFound);
        world.room.close().await;
    });
}

#[test]
fn labels_and_read_state_are_found_at_once() {
    on_both(async |world| {
        let world = harbour(world).await;
        let id = world.search("regatta").await["hits"][0]["message_id"].clone();
        let change = json!({"message_id": id, "labels_add": ["sport"], "read": true});
        let labels = world.call("mail_update_labels", change).await;
        assert_eq!(labels["labels"], json!(["sport"]));
        assert_eq!(labels["read"], true);
        assert_eq!(subjects(&world.search("label:sport").await), ["Regatta"]);
        let by_argument = world
            .call("mail_search", json!({"q": "", "labels": ["sport"]}))
            .await;
        assert_eq!(subjects(&by_argument), ["Regatta"]);
        assert_eq!(by_argument["facets"]["label"]["sport"], 1);
        // What was counted once is not kept past the next change.
        let crew = world.search("subject:crew").await["hits"][0]["message_id"].clone();
        let change = json!({"message_id": crew, "labels_add": ["sport"]});
        world.call("mail_update_labels", change).await;
        assert_eq!(world.search("").await["facets"]["label"]["sport"], 2);
        assert_eq!(subjects(&world.search("label:sport").await).len(), 2);
        assert!(!subjects(&world.search("is:unread").await).contains(&"Regatta"));
        world.room.close().await;
    });
}

#[test]
fn a_rebuilt_index_finds_the_same() {
    on_both(async |world| {
        let world = harbour(world).await;
        let before = subjects(&world.search("invoice").await).len();
        let mut last = None;
        let done = world
            .room
            .reindex(world.tenant(), |state| last = Some(state))
            .await
            .expect("done");
        assert_eq!(last, Some(done));
        assert_eq!(subjects(&world.search("invoice").await).len(), before);
        // A folder that is gone is built again without being asked.
        world.room.close().await;
        std::fs::remove_dir_all(world.folder.path().join("data/index")).expect("the index goes");
        let world = world.reopened().await;
        world.indexed().await;
        assert_eq!(subjects(&world.search("invoice").await).len(), before);
        world.room.close().await;
    });
}

#[test]
fn related_mail_shares_a_reference_and_is_of_another_thread() {
    on_both(async |world| {
        let world = harbour(world).await;
        let source = world.search("subject:reminder").await["hits"][0]["message_id"].clone();
        let answer = world
            .call("mail_find_related", json!({"message_id": source}))
            .await;
        let found = subjects(&answer);
        assert!(found.contains(&"Invoice INV-20417"), "{found:?}");
        assert!(!found.contains(&"Reminder"), "{found:?}");
        assert_eq!(answer["hits"][0]["why"][0], "ref:INV-20417");
        world.room.close().await;
    });
}
