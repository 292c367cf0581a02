//! Work from outside: leases, tries, dead letters, waits, fences, and who sees what.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    mcp::{call, modern},
    served::{Reply, Served, on_both},
};

const AGENT: &str = "agent@localhost";

/// Todos over REST with one key.
struct Board<'a> {
    served: &'a Served,
    key: &'a str,
}

impl<'a> Board<'a> {
    /// As the agent of the first mailbox.
    fn agent(served: &'a Served) -> Self {
        Self {
            served,
            key: served.key(),
        }
    }

    /// Opens a todo for the agent, as the tenant does.
    async fn open(&self, mut wanted: Value) -> Value {
        for (name, value) in [("identity", AGENT), ("queue", "work"), ("title", "Look")] {
            if wanted.get(name).is_none() {
                wanted[name] = json!(value);
            }
        }
        let admin = self.served.admin();
        let made = self.served.ask("POST", "/v1/todos", admin, Some(wanted));
        let made = made.await;
        assert_eq!(made.status, 201, "{made:?}");
        made.json()
    }

    async fn next(&self, terms: Value) -> Value {
        let reply = self.post("/v1/todos/claim-next", terms).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    }

    async fn post(&self, path: &str, body: Value) -> Reply {
        self.served.ask("POST", path, self.key, Some(body)).await
    }

    async fn word(&self, id: &Value, word: &str, body: Value) -> Reply {
        let id = id.as_str().expect("an id");
        self.post(&format!("/v1/todos/{id}/{word}"), body).await
    }

    async fn get(&self, id: &Value) -> Value {
        let path = format!("/v1/todos/{}", id.as_str().expect("an id"));
        self.served.ask("GET", &path, self.key, None).await.json()
    }
}

#[test]
fn a_todo_is_opened_claimed_and_completed() {
    on_both("serve", async |served| {
        let board = Board::agent(&served);
        let payload = json!({"order": 7, "lines": ["a", "b"]});
        let made = board
            .open(json!({"payload": payload, "kind": "order", "tags": ["urgent"], "priority": 3}))
            .await;
        assert_eq!(made["state"], "pending");
        assert_eq!(made["created"], true);
        assert!(made.get("payload").is_none(), "only a claim gives it");

        let claimed = board
            .next(json!({"queue": "work", "claimant": "one"}))
            .await;
        let todo = &claimed["todo"];
        assert_eq!(todo["id"], made["id"]);
        assert_eq!(todo["payload"], payload);
        assert_eq!(todo["state"], "claimed");
        assert_eq!(todo["attempt"], 1);
        assert_eq!(todo["claimant"], "one");
        assert!(todo["lease_expires_at"].is_string());
        assert_eq!(claimed["attempt_seq"], 1);
        assert_eq!(claimed["empty"], false);

        let again = board.next(json!({})).await;
        assert_eq!(again["empty"], true, "nobody else gets it");
        assert!(again["todo"].is_null());
        let taken = board.word(&made["id"], "claim", json!({})).await;
        assert_eq!((taken.status, taken.code().as_str()), (409, "conflict"));

        let words =
            json!({"result": {"total": 12}, "summary": "sent", "artifact": "https://a.example/1"});
        let done = board.word(&made["id"], "complete", words).await.json();
        assert_eq!(done["state"], "done");
        let seen = board.get(&made["id"]).await;
        assert_eq!(seen["result"], json!({"total": 12}));
        assert_eq!(seen["attempts"][0]["outcome"], "completed");
        assert_eq!(seen["attempts"][0]["disposition"], "done");
        assert_eq!(seen["attempts"][0]["summary"], "sent");
        assert_eq!(seen["attempts_total"], 1);
        let twice = board.word(&made["id"], "complete", json!({})).await;
        assert_eq!(twice.status, 409, "it is over: {twice:?}");
    });
}

#[test]
fn an_agent_does_the_same_by_tools() {
    on_both("serve", async |served| {
        let board = Board::agent(&served);
        let made = board.open(json!({"payload": {"n": 1}})).await;
        let id = made["id"].as_str().expect("an id");
        let tool = async |name: &str, arguments: Value| {
            let answer = call(&served, served.key(), name, arguments).await;
            assert_ne!(answer["result"]["isError"], true, "{name}: {answer}");
            answer["result"]["structuredContent"].clone()
        };
        let listed = tool("todo_list", json!({"queue": "work", "state": "pending"})).await;
        assert_eq!(listed["todos"][0]["id"], id);
        assert!(listed["todos"][0].get("payload").is_none());
        assert_eq!(listed["todos"][0]["payload_size"], 7);
        let claim = tool("todo_claim", json!({"id": id, "require_fence": true})).await;
        assert_eq!(claim["todo"]["payload"], json!({"n": 1}));
        let token = claim["lease_token"].clone();
        let beat =
            json!({"id": id, "lease_token": token, "note": "half", "lease_ttl_seconds": 600});
        assert_eq!(tool("todo_heartbeat", beat).await["state"], "claimed");
        let back = json!({"id": id, "lease_token": token, "summary": "not mine"});
        assert_eq!(tool("todo_release", back).await["state"], "pending");
        let claim = tool("todo_claim_next", json!({"wait_seconds": 5})).await;
        assert_eq!(claim["prior_attempts"][0]["summary"], "not mine");
        assert_eq!(
            claim["todo"]["attempt"], 2,
            "a release leaves the try spent"
        );
        let words = json!({"id": id, "lease_token": claim["lease_token"], "result": "ok"});
        assert_eq!(tool("todo_complete", words).await["state"], "done");

        let unknown = json!({"id": "tod_01ARZ3NDEKTSV4RRFFQ69G5FAV"});
        let answer = call(&served, served.key(), "todo_get", unknown).await;
        assert_eq!(answer["result"]["isError"], true);
        assert!(answer.to_string().contains("not_found"), "{answer}");
        let wrong = json!({"id": id, "lease_ttl_seconds": 86_401});
        let answer = call(&served, served.key(), "todo_claim", wrong).await;
        assert!(answer.to_string().contains("invalid_argument"), "{answer}");
    });
}

#[test]
fn claimants_at_once_get_each_todo_once() {
    on_both("serve", async |served| {
        let board = Board::agent(&served);
        for n in 0..40 {
            board.open(json!({"title": format!("Todo {n}")})).await;
        }
        let drain = async || {
            let mut mine = Vec::new();
            loop {
                let claimed = board.next(json!({})).await;
                match claimed["todo"]["id"].as_str() {
                    Some(id) => mine.push(id.to_owned()),
                    None => return mine,
                }
            }
        };
        let all = futures_util::future::join_all((0..12).map(|_| drain())).await;
        let all: Vec<String> = all.into_iter().flatten().collect();
        let distinct: BTreeSet<&String> = all.iter().collect();
        assert_eq!((all.len(), distinct.len()), (40, 40));
    });
}

#[test]
fn a_lease_that_ended_gives_the_todo_to_the_next_and_refuses_the_first() {
    on_both("serve", async |served| {
        let board = Board::agent(&served);
        let made = board.open(json!({})).await;
        let first = board.next(json!({"lease_ttl_seconds": 1})).await;
        assert_eq!(first["todo"]["id"], made["id"]);
        // Nobody speaks for it any more: the next one who waits has it.
        let second = board.next(json!({"wait_seconds": 30})).await;
        assert_eq!(second["todo"]["id"], made["id"]);
        assert_eq!(second["todo"]["attempt"], 2);
        let outcome = second["prior_attempts"][0]["outcome"].as_str();
        assert!(
            matches!(outcome, Some("reaped" | "lease_expired")),
            "{second}"
        );
        let late = json!({"lease_token": first["lease_token"], "result": {"late": true}, "summary": "here"});
        for word in ["complete", "fail", "release", "heartbeat"] {
            let mut words = late.clone();
            if matches!(word, "release" | "heartbeat") {
                words = json!({"lease_token": first["lease_token"]});
            }
            let refused = board.word(&made["id"], word, words).await;
            assert_eq!(
                (refused.status, refused.code().as_str()),
                (409, "conflict"),
                "{word}"
            );
        }
        let seen = board.get(&made["id"]).await;
        assert_eq!(seen["state"], "claimed", "the second claim holds");
        assert_eq!(seen["attempts"][0]["late_result"], json!({"late": true}));
        assert_eq!(seen["attempts"][0]["late_outcome"], "completed");
        let done = json!({"lease_token": second["lease_token"]});
        assert_eq!(board.word(&made["id"], "complete", done).await.status, 200);
        assert_eq!(board.get(&made["id"]).await["result"], Value::Null);
    });
}

#[test]
fn a_word_after_the_end_of_a_lease_is_refused_although_nobody_took_the_todo() {
    on_both("serve", async |served| {
        let board = Board::agent(&served);
        let made = board.open(json!({})).await;
        let claim = board.next(json!({"lease_ttl_seconds": 1})).await;
        // A wait in another queue lasts until the lease has ended.
        board
            .next(json!({"queue": "other", "wait_seconds": 2}))
            .await;
        let words = json!({"lease_token": claim["lease_token"], "result": 1});
        let refused = board.word(&made["id"], "complete", words).await;
        assert_eq!((refused.status, refused.code().as_str()), (409, "conflict"));
        let seen = board.get(&made["id"]).await;
        assert_eq!(seen["state"], "pending");
        assert_eq!(seen["attempts"][0]["late_result"], 1);
    });
}

#[test]
fn heartbeats_keep_a_todo() {
    on_both("serve", async |served| {
        let board = Board::agent(&served);
        let made = board.open(json!({})).await;
        let claim = board.next(json!({"lease_ttl_seconds": 1})).await;
        let beat = json!({"lease_ttl_seconds": 60, "note": "still at it"});
        let kept = board.word(&made["id"], "heartbeat", beat).await.json();
        assert!(
            kept["lease_expires_at"].as_str() > claim["todo"]["lease_expires_at"].as_str(),
            "{kept}"
        );
        let other = board.next(json!({"wait_seconds": 3})).await;
        assert_eq!(other["empty"], true, "{other}");
        let done = board.word(&made["id"], "complete", json!({})).await;
        assert_eq!(done.status, 200, "{done:?}");
        assert_eq!(
            board.get(&made["id"]).await["attempts"][0]["note"],
            "still at it"
        );
    });
}

#[test]
fn spent_tries_make_a_dead_letter_with_a_reason_that_only_a_person_revives() {
    on_both("serve", async |served| {
        let board = Board::agent(&served);
        let failing = board
            .open(json!({"max_attempts": 2, "idempotency_key": "k"}))
            .await;
        board.next(json!({})).await;
        let parked = board
            .word(&failing["id"], "fail", json!({"summary": "no route"}))
            .await;
        let parked = parked.json();
        assert_eq!(parked["state"], "failed");
        assert_eq!(parked["dead_letter"], false);
        assert!(parked["next_retry_at"].is_string());
        assert_eq!(board.next(json!({})).await["empty"], true, "it is parked");
        // While it is parked it is live: the same work is not opened again.
        let same = board.open(json!({"idempotency_key": "k"})).await;
        assert_eq!(
            (&same["id"], &same["created"]),
            (&failing["id"], &json!(false))
        );
        let id = failing["id"].as_str().expect("an id");
        let retry = format!("/v1/todos/{id}/retry");
        let retried = served
            .ask("POST", &retry, served.admin(), Some(json!({})))
            .await;
        assert_eq!(retried.json()["state"], "pending", "{retried:?}");
        assert_eq!(retried.json()["attempt"], 0);
        for _ in 0..2 {
            board.word(&failing["id"], "claim", json!({})).await;
            board
                .word(&failing["id"], "fail", json!({"summary": "no route"}))
                .await;
            let retried = served
                .ask("POST", &retry, served.key(), Some(json!({})))
                .await;
            assert_eq!(retried.status, 403, "an agent does not revive: {retried:?}");
            if board.get(&failing["id"]).await["dead_letter"] == json!(true) {
                break;
            }
            // The second try without the pause.
            let moved = served
                .ask("POST", &retry, served.admin(), Some(json!({})))
                .await;
            assert_eq!(moved.status, 200);
            board.word(&failing["id"], "claim", json!({})).await;
            board.word(&failing["id"], "release", json!({})).await;
        }
        let dead = board.get(&failing["id"]).await;
        assert_eq!(dead["dead_letter"], true, "{dead}");
        assert_eq!(dead["dead_reason"], "attempts_exhausted");
        assert_eq!(dead["attempts"][0]["disposition"], "dead_lettered");
        assert_eq!(dead["attempts"][0]["summary"], "no route");
        // A dead letter is not live.
        let other = board.open(json!({"idempotency_key": "k"})).await;
        assert_eq!(other["created"], true);
        let refused = served
            .ask("POST", &retry, served.admin(), Some(json!({})))
            .await;
        assert_eq!(
            refused.code(),
            "conflict",
            "another one with the key is live"
        );

        let silent = board
            .open(json!({"max_attempts": 1, "queue": "silent"}))
            .await;
        board
            .next(json!({"queue": "silent", "lease_ttl_seconds": 1}))
            .await;
        board
            .next(json!({"queue": "silent", "wait_seconds": 3}))
            .await;
        let dead = board.get(&silent["id"]).await;
        assert_eq!(dead["dead_reason"], "lease_expired", "{dead}");
    });
}

#[test]
fn one_live_todo_has_a_key_and_waiting_work_on_a_subject_is_one_todo() {
    on_both("serve", async |served| {
        let board = Board::agent(&served);
        let opened = async |_: usize| board.open(json!({"idempotency_key": "delivery-1"})).await;
        let made = futures_util::future::join_all((0..8).map(opened)).await;
        let ids: BTreeSet<&str> = made.iter().filter_map(|one| one["id"].as_str()).collect();
        assert_eq!(ids.len(), 1);
        let created = made
            .iter()
            .filter(|one| one["created"] == json!(true))
            .count();
        assert_eq!(created, 1);
        let claim = board.next(json!({})).await;
        let again = board.open(json!({"idempotency_key": "delivery-1"})).await;
        assert_eq!(again["id"], claim["todo"]["id"], "claimed is live");
        board.word(&again["id"], "complete", json!({})).await;
        let new = board.open(json!({"idempotency_key": "delivery-1"})).await;
        assert_eq!(new["created"], true, "what is done blocks nothing");

        let first = board
            .open(json!({"subject_key": "thread-1", "queue": "mail"}))
            .await;
        let joined = board
            .open(json!({"subject_key": "thread-1", "queue": "mail"}))
            .await;
        assert_eq!(joined["id"], first["id"]);
        board.next(json!({"queue": "mail"})).await;
        let behind = board
            .open(json!({"subject_key": "thread-1", "queue": "mail"}))
            .await;
        assert_ne!(
            behind["id"], first["id"],
            "what is worked on is not added to"
        );
    });
}

#[test]
fn a_fenced_claim_takes_no_word_without_its_token() {
    on_both("serve", async |served| {
        let board = Board::agent(&served);
        let made = board.open(json!({})).await;
        let claim = board.next(json!({"require_fence": true})).await;
        let token = claim["lease_token"].as_str().expect("a token");
        assert!(token.len() >= 32, "at least 128 bits");
        for word in ["heartbeat", "complete", "fail", "release"] {
            for words in [json!({}), json!({"lease_token": "lease_0"})] {
                let refused = board.word(&made["id"], word, words).await;
                assert_eq!(refused.code(), "conflict", "{word}");
                assert!(!refused.body.contains(token));
            }
        }
        assert!(!board.get(&made["id"]).await.to_string().contains(token));
        let words = json!({"lease_token": token, "result": 1});
        for _ in 0..2 {
            let done = board.word(&made["id"], "complete", words.clone()).await;
            assert_eq!(
                done.json()["state"],
                "done",
                "the same word again is the same answer"
            );
        }
        assert_eq!(board.get(&made["id"]).await["attempts_total"], 1);
    });
}

#[test]
fn a_wait_ends_with_the_todo_and_one_that_nobody_hears_gives_it_back() {
    on_both("serve", async |served| {
        let board = Board::agent(&served);
        let waiting = board.next(json!({"wait_seconds": 60}));
        let opening = async {
            // The wait counts as a use of its key once it has begun.
            tokio::task::yield_now().await;
            board.open(json!({"title": "While somebody waits"})).await
        };
        let (claim, made) = tokio::join!(waiting, opening);
        assert_eq!(claim["todo"]["id"], made["id"]);
        board.word(&made["id"], "complete", json!({})).await;

        // A client that goes away while it waits, before and after there is work.
        let gone = async |wanted: Value| {
            let waiting = board.next(wanted);
            let patience = std::time::Duration::from_millis(300);
            tokio::time::timeout(patience, waiting).await.is_err()
        };
        assert!(gone(json!({"wait_seconds": 60, "queue": "left"})).await);
        let made = board.open(json!({"queue": "left"})).await;
        let claim = board
            .next(json!({"wait_seconds": 30, "queue": "left"}))
            .await;
        assert_eq!(claim["todo"]["id"], made["id"]);
        assert_eq!(claim["todo"]["attempt"], 1, "no try was spent on nobody");
    });
}

#[test]
fn a_wait_by_a_tool_whose_client_went_away_spends_no_try() {
    on_both("serve", async |served| {
        let board = Board::agent(&served);
        let arguments = json!({"name": "todo_claim_next", "arguments": {"wait_seconds": 60}});
        let old = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments});
        for modern_era in [true, false] {
            let patience = std::time::Duration::from_millis(300);
            let waiting = async {
                if modern_era {
                    modern(&served, served.key(), "", "tools/call", arguments.clone()).await;
                } else {
                    // A client of the older revisions that goes away has cancelled nothing; its
                    // claim reaches nobody all the same.
                    let sent = served
                        .http
                        .post(served.text("mcp_url"))
                        .bearer_auth(served.key())
                        .header("content-type", "application/json")
                        .header("accept", "application/json, text/event-stream")
                        .header("mcp-protocol-version", "2025-06-18")
                        .body(old.to_string())
                        .send();
                    let _ = sent.await;
                }
            };
            assert!(tokio::time::timeout(patience, waiting).await.is_err());
            let made = board.open(json!({})).await;
            let claim = board.next(json!({"wait_seconds": 30})).await;
            assert_eq!(claim["todo"]["id"], made["id"], "modern: {modern_era}");
            assert_eq!(claim["todo"]["attempt"], 1, "modern: {modern_era}");
            board.word(&made["id"], "complete", json!({})).await;
        }
    });
}

#[test]
fn tenants_mailboxes_and_queues_are_kept_apart() {
    on_both("serve", async |served| {
        let board = Board::agent(&served);
        let made = board.open(json!({"title": "Ours"})).await;
        let shared = served
            .ask(
                "POST",
                "/v1/todos",
                served.admin(),
                Some(json!({"queue": "work", "title": "Of the tenant"})),
            )
            .await
            .json();
        let key = |words: &[&str]| {
            let made = served.command(&[&["key", "create", "k", "--json"][..], words].concat());
            let made = made.json();
            made["secret"]
                .as_str()
                .unwrap_or_else(|| panic!("{made}"))
                .to_owned()
        };
        let other = served.command(&["tenant", "create", "--slug", "other", "--json"]);
        let tenant = other.json()["id"].as_str().expect("an id").to_owned();
        let rights = "todos:read,todos:work";
        let stranger = key(&[
            "--tenant-id",
            &tenant,
            "--level",
            "tenant",
            "--permissions",
            rights,
        ]);
        served.command(&["identity", "create", "--address", "second@localhost"]);
        let sibling = key(&["--as", "second@localhost"]);
        let granted = key(&[
            "--level",
            "tenant",
            "--permissions",
            rights,
            "--queues",
            "billing",
        ]);
        let unknown = json!("tod_01ARZ3NDEKTSV4RRFFQ69G5FAV");
        for (who, key) in [
            ("stranger", &stranger),
            ("sibling", &sibling),
            ("granted", &granted),
        ] {
            let theirs = Board {
                served: &served,
                key,
            };
            let empty = theirs.next(json!({})).await;
            assert_eq!(empty["empty"], true, "{who}: {empty}");
            let listed = served.ask("GET", "/v1/todos?queue=work", key, None).await;
            assert_eq!(listed.json()["todos"], json!([]), "{who}");
            for word in ["claim", "heartbeat", "complete", "fail", "release"] {
                let found = theirs.word(&made["id"], word, json!({})).await;
                let missing = theirs.word(&unknown, word, json!({})).await;
                assert_eq!(found.code(), "not_found", "{who} {word}");
                assert_eq!(found.without_request_id(), missing.without_request_id());
            }
        }
        // The same queue name in another tenant is another queue.
        let wanted = json!({"queue": "work", "title": "Theirs"});
        let theirs = served
            .ask("POST", "/v1/todos", &stranger, Some(wanted))
            .await
            .json();
        let claim = Board {
            served: &served,
            key: &stranger,
        }
        .next(json!({"queue": "work"}))
        .await;
        assert_eq!(claim["todo"]["id"], theirs["id"]);
        // The agent works for its mailbox, a key of the tenant for all of it.
        let claim = board.next(json!({})).await;
        assert_eq!(claim["todo"]["id"], made["id"]);
        assert_eq!(board.next(json!({})).await["empty"], true);
        let admin = Board {
            served: &served,
            key: served.admin(),
        };
        assert_eq!(admin.next(json!({})).await["todo"]["id"], shared["id"]);
    });
}

#[test]
fn a_paused_or_full_queue_gives_out_nothing() {
    on_both("serve", async |served| {
        let board = Board::agent(&served);
        let set = async |settings: Value| {
            let path = "/v1/queues/work";
            let set = served
                .ask("PATCH", path, served.admin(), Some(settings))
                .await;
            assert_eq!(set.status, 200, "{set:?}");
        };
        let first = board.open(json!({})).await;
        board.open(json!({})).await;
        set(json!({"paused": true})).await;
        let none = board.next(json!({})).await;
        assert_eq!(none["empty"], true);
        let paused = json!([{"queue": "work", "reason": "paused"}]);
        assert_eq!(none["deferred"], paused, "not the same as empty");
        let refused = board.word(&first["id"], "claim", json!({})).await;
        assert_eq!((refused.status, refused.code().as_str()), (409, "deferred"));
        let waiting = board.next(json!({"wait_seconds": 30}));
        let going_on = set(json!({"paused": false, "max_in_flight": 1}));
        let (claim, ()) = tokio::join!(waiting, going_on);
        assert_eq!(
            claim["todo"]["id"], first["id"],
            "the wait hears that it goes on"
        );
        let none = board.next(json!({})).await;
        assert_eq!(none["empty"], true, "one at once");
        assert_eq!(none["deferred"][0]["reason"], "max_in_flight");
        board.word(&first["id"], "complete", json!({})).await;
        assert_eq!(board.next(json!({})).await["empty"], false);
        let listed = served
            .ask("GET", "/v1/queues", served.admin(), None)
            .await
            .json();
        let queue = &listed["queues"][0];
        assert_eq!(queue["queue"], "work");
        assert_eq!(
            (&queue["claimed"], &queue["done"]),
            (&json!(1), &json!(1)),
            "{listed}"
        );
        assert_eq!(queue["max_in_flight"], 1);
    });
}

#[test]
fn leases_outlive_the_server() {
    on_both("serve", async |mut served| {
        let (made, token) = {
            let board = Board::agent(&served);
            let made = board.open(json!({})).await;
            let claim = board.next(json!({"require_fence": true})).await;
            (made, claim["lease_token"].clone())
        };
        let (agent, admin) = (served.key().to_owned(), served.admin().to_owned());
        served.kill();
        served.start_again();
        let board = Board {
            served: &served,
            key: &agent,
        };
        assert_eq!(board.next(json!({})).await["empty"], true);
        let done = board
            .word(&made["id"], "complete", json!({"lease_token": token}))
            .await;
        assert_eq!(done.json()["state"], "done", "{done:?}");
        let board = Board {
            served: &served,
            key: &admin,
        };
        assert_eq!(board.get(&made["id"]).await["state"], "done");
    });
}

#[test]
fn a_queue_is_a_resource_that_tells_of_changes_and_has_a_prompt() {
    on_both("serve", async |served| {
        let board = Board::agent(&served);
        let made = board.open(json!({"queue": "orders"})).await;
        let uri = json!({"uri": "postroom://todos/orders"});
        let (_, read) = modern(&served, served.key(), "", "resources/read", uri).await;
        let text = read["result"]["contents"][0]["text"]
            .as_str()
            .expect("text");
        let text: Value = serde_json::from_str(text).expect("json");
        assert_eq!(text["todos"][0]["id"], made["id"]);

        let prompt = json!({"name": "work_the_queue", "arguments": {"queue": "orders"}});
        let (_, prompt) = modern(&served, served.key(), "", "prompts/get", prompt).await;
        let text = prompt["result"]["messages"][0]["content"]["text"].as_str();
        assert!(text.is_some_and(|text| text.ends_with("orders") && text.contains("todo_fail")));

        let reference = json!({"ref": {"type": "ref/resource", "uri": "postroom://todos/{queue}"}, "argument": {"name": "queue", "value": "or"}});
        let (_, completed) =
            modern(&served, served.key(), "", "completion/complete", reference).await;
        assert_eq!(
            completed["result"]["completion"]["values"],
            json!(["orders"])
        );

        let meta = "io.modelcontextprotocol";
        let body = json!({"jsonrpc": "2.0", "id": 9, "method": "subscriptions/listen", "params": {
            "_meta": {(format!("{meta}/protocolVersion")): "2026-07-28", (format!("{meta}/clientCapabilities")): {}},
            "notifications": {"resourceSubscriptions": ["postroom://todos/orders", "postroom://todos/other"]},
        }});
        let mut stream = served
            .http
            .post(served.text("mcp_url"))
            .bearer_auth(served.key())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "subscriptions/listen")
            .body(body.to_string())
            .send()
            .await
            .expect("a stream");
        let (mut heard, mut sent) = (String::new(), false);
        while let Some(chunk) = stream.chunk().await.expect("a chunk") {
            heard.push_str(&String::from_utf8_lossy(&chunk));
            if heard.contains("acknowledged") && !sent {
                sent = true;
                board.open(json!({"queue": "elsewhere"})).await;
                board.open(json!({"queue": "orders"})).await;
            }
            if let Some((_, updates)) = heard.split_once("resources/updated") {
                assert!(!updates.contains("todos/other"), "{heard}");
                return;
            }
        }
        panic!("the stream ended: {heard}");
    });
}

#[test]
fn mail_in_a_todo_is_for_those_who_may_read_messages() {
    on_both("serve", async |served| {
        crate::mail::deliver(served.text("smtp"), AGENT, "Canary zebrafinch");
        let waited = json!({"wait_seconds": 1});
        let board = Board::agent(&served);
        board.next(waited).await;
        let events = served
            .ask("GET", "/v1/events?limit=1", served.key(), None)
            .await
            .json();
        let event = &events["events"][0]["id"];
        for _ in 0..2 {
            board
                .open(json!({"event_id": event, "title": "About zebrafinch", "kind": "mail"}))
                .await;
        }
        let made = served.command(&[
            "key",
            "create",
            "worker",
            "--as",
            AGENT,
            "--permissions",
            "todos:read,todos:work",
            "--json",
        ]);
        let made = made.json();
        let narrow = Board {
            served: &served,
            key: made["secret"].as_str().expect("a secret"),
        };
        let listed = served.ask("GET", "/v1/todos", narrow.key, None).await;
        assert!(!listed.body.contains("zebrafinch"), "{listed:?}");
        let claim = narrow.next(json!({})).await;
        assert_eq!(claim["todo"]["payload"], Value::Null);
        assert_eq!(claim["todo"]["payload_withheld"], "messages:read");
        assert!(claim["todo"]["payload_size"].as_u64() > Some(0));
        assert!(!claim.to_string().contains("zebrafinch"), "{claim}");
        let claim = board.next(json!({})).await;
        let payload = claim["todo"]["payload"].as_str().expect("the mail");
        assert!(payload.contains("Canary zebrafinch"), "{claim}");
        assert_eq!(
            claim["todo"]["trust"],
            json!({"trust_mode": "smtp", "verified": false})
        );
    });
}

#[test]
fn a_person_works_at_the_command_line() {
    on_both("serve", async |served| {
        let run = |words: &[&str]| {
            let answer = served.command(words);
            assert_eq!(answer.exit, 0, "{words:?}: {answer:?}");
            answer
        };
        let made = run(&[
            "todo",
            "create",
            "Call the garage",
            "--queue",
            "calls",
            "--payload",
            "{\"phone\":\"555-0100\"}",
            "--json",
        ]);
        let id = made.json()["id"].as_str().expect("an id").to_owned();
        let listed = run(&["todo", "list", "--queue", "calls"]);
        assert!(listed.out.contains("Call the garage") && listed.out.contains("pending"));
        let claimed = run(&[
            "todo",
            "next",
            "--queue",
            "calls",
            "--lease-ttl-seconds",
            "60",
        ]);
        for said in [
            "Call the garage",
            "555-0100",
            "claimed until",
            "1 of 5",
            "lease_",
        ] {
            assert!(claimed.out.contains(said), "{said}: {}", claimed.out);
        }
        assert!(run(&["todo", "next"]).out.contains("Nothing waits."));
        run(&["todo", "heartbeat", &id, "--note", "ringing"]);
        run(&["todo", "release", &id, "--summary", "busy"]);
        let claim = run(&["todo", "claim", &id, "--json"]).json();
        let token = claim["lease_token"].as_str().expect("a token");
        let other = served.command(&["todo", "complete", &id, "--lease-token", "lease_other"]);
        assert_eq!(other.exit, 1, "another claim's token: {other:?}");
        run(&[
            "todo",
            "fail",
            &id,
            "--lease-token",
            token,
            "--summary",
            "no answer",
        ]);
        run(&["todo", "retry", &id]);
        run(&["todo", "claim", &id]);
        let done = run(&[
            "todo",
            "complete",
            &id,
            "--result",
            "{\"answered\":true}",
            "--json",
        ]);
        assert_eq!(done.json()["state"], "done");
        let shown = run(&["todo", "show", &id]);
        for said in ["busy", "no answer", "answered", "completed", "released"] {
            assert!(shown.out.contains(said), "{said}: {}", shown.out);
        }
        run(&["queue", "set", "calls", "--paused"]);
        assert!(run(&["queue", "list"]).out.contains("calls"));
        let none = run(&["todo", "next", "--queue", "calls"]);
        assert!(none.out.contains("The queue calls is paused."), "{none:?}");
        let over = served.command(&["todo", "claim", &id]);
        assert_eq!(over.exit, 1, "{over:?}");
        assert!(
            over.err.contains("conflict") || over.err.contains("closed"),
            "{over:?}"
        );
    });
}

#[test]
fn a_person_works_on_the_board() {
    on_both("serve", async |served| {
        let board = Board::agent(&served);
        let made = board.open(json!({"title": "Call <b>Ann</b>"})).await;
        let id = made["id"].as_str().expect("an id").to_owned();
        let nobody = served.page(None, "GET", "/board").await;
        assert_eq!(nobody.0, 403);
        let refused = served
            .page(None, "POST", &format!("/board/todos/{id}/claim"))
            .await;
        assert_eq!(refused.0, 403);
        let cookie = served.sign_in().await;
        let person =
            async |method: &str, path: &str| served.page(Some(&cookie), method, path).await;
        let (status, shown) = person("GET", "/board").await;
        assert_eq!(status, 200);
        assert!(shown.contains("Call &lt;b&gt;Ann&lt;/b&gt;"), "{shown}");
        let word = |word: &str| format!("/board/todos/{id}/{word}");
        assert_eq!(person("POST", &word("claim")).await.0, 303);
        let todo = board.get(&made["id"]).await;
        assert_eq!(
            (&todo["state"], &todo["owner"]),
            (&json!("claimed"), &json!("person"))
        );
        // Somebody has it: the page says so and changes nothing.
        let (status, told) = person("POST", &word("claim")).await;
        assert_eq!(status, 409, "{told}");
        assert!(told.contains("That did not work"), "{told}");
        assert_eq!(person("POST", &word("complete")).await.0, 303);
        assert_eq!(board.get(&made["id"]).await["state"], "done");
        assert_eq!(person("POST", &word("sing")).await.0, 404);
        let (status, told) = person("GET", "/outbox/nobody/nothing").await;
        assert!((400..500).contains(&status), "{status}");
        assert!(told.contains("That did not work"), "{told}");
        assert_eq!(person("POST", "/board/queues/work/pause").await.0, 303);
        board.open(json!({})).await;
        assert_eq!(board.next(json!({"queue": "work"})).await["empty"], true);
        assert_eq!(person("POST", "/board/queues/work/resume").await.0, 303);
        assert_eq!(board.next(json!({"queue": "work"})).await["empty"], false);
    });
}
