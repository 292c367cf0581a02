//! Mail out from outside: the sandbox, keys against doubles, drafts, uploads, who may write to whom.

use postroom_types::limit;
use serde_json::{Value, json};

use crate::{
    mail::{deliver, deliver_raw},
    mcp::call,
    served::{Reply, Served, on_both, on_both_told},
};

/// The first mailbox of a server.
const AGENT: &str = "agent@localhost";
/// A second one.
const BEN: &str = "ben@localhost";

/// One mailbox over REST with a key of its own.
pub(crate) struct Desk<'a> {
    served: &'a Served,
    pub(crate) address: &'static str,
    pub(crate) key: String,
}

impl<'a> Desk<'a> {
    /// A mailbox that somebody answers for, made if it is not there, with a key of this send scope.
    pub(crate) async fn open(served: &'a Served, address: &'static str, scope: &str) -> Self {
        let owner = json!({"name": "Olga Owner", "email": "olga@owner.example"});
        let path = format!("/v1/identities/{address}");
        let patch = json!({ "owner": owner });
        let known = served
            .ask("PATCH", &path, served.admin(), Some(patch))
            .await;
        if known.status == 404 {
            let wanted = json!({"address": address, "display_name": address, "owner": owner});
            let made = served.ask("POST", "/v1/identities", served.admin(), Some(wanted));
            let made = made.await;
            assert!(matches!(made.status, 200 | 201), "{made:?}");
        }
        let wanted = json!({
            "name": "desk", "level": "identity", "identity": address, "send_scope": scope,
            "accept_untrusted_send": true,
        });
        let key = served
            .ask("POST", "/v1/keys", served.admin(), Some(wanted))
            .await;
        assert_eq!(key.status, 201, "{key:?}");
        let key = key.json()["secret"].as_str().expect("a secret").to_owned();
        Self {
            served,
            address,
            key,
        }
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        let path = format!("/v1/identities/{}/{path}", self.address);
        self.served.ask("POST", &path, &self.key, Some(body)).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        let path = format!("/v1/identities/{}/{path}", self.address);
        self.served.ask("GET", &path, &self.key, None).await
    }

    /// Sends; gives the queued mail.
    pub(crate) async fn send(&self, mail: Value) -> Value {
        let reply = self.post("messages", mail).await;
        assert_eq!(reply.status, 202, "{reply:?}");
        reply.json()
    }

    pub(crate) async fn message(&self, id: &Value) -> Value {
        let id = id.as_str().expect("an id");
        let reply = self
            .get(&format!("messages/{id}?include=quoted,headers"))
            .await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    }

    /// The mail once it is in one of these states.
    pub(crate) async fn until(&self, id: &Value, states: &[&str]) -> Value {
        for _ in 0..400 {
            let message = self.message(id).await;
            if states.contains(&message["status"].as_str().unwrap_or_default()) {
                return message;
            }
            // The server tells of changes by waits and streams; a look now and then is enough here.
            tokio::time::sleep(std::time::Duration::from_millis(25)).await;
        }
        panic!("never {states:?}: {}", self.message(id).await);
    }

    /// The next mail that comes in.
    pub(crate) async fn wait(&self, query: &str) -> Value {
        let reply = self.get(&format!("wait?timeout_seconds=20&{query}")).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        let reply = reply.json();
        assert_eq!(reply["timed_out"], false, "{reply}");
        reply["message"].clone()
    }
}

const EPOCH: &str = "since=2020-01-01T00:00:00Z";

#[test]
fn mail_between_two_mailboxes_here_goes_round_and_threads_on_both_sides() {
    on_both("serve", async |served| {
        let ann = Desk::open(&served, AGENT, "anyone").await;
        let ben = Desk::open(&served, BEN, "thread").await;
        let sent = ann
            .send(json!({
                "to": [{"address": BEN, "name": "Ben"}], "cc": ["carla@outside.example"], "bcc": ["dora@outside.example"],
                "subject": "The van on Friday", "text": "Is it there?", "idempotency_key": "one",
                "headers": {"X-Ticket": "17"}, "metadata": {"order": "7"}, "labels": ["asked"],
            }))
            .await;
        assert_eq!(sent["status"], "queued");
        assert_eq!(sent["direction"], "outbound");
        assert_eq!(sent["deduplicated"], false);
        assert_eq!(sent["trust"], Value::Null);
        assert_eq!(sent["metadata"]["order"], "7");
        assert_eq!(sent["labels"], json!(["asked"]));
        let sent = ann.until(&sent["id"], &["submitted", "delivered"]).await;
        let fate = |address: &str| {
            let deliveries = sent["deliveries"].as_array().expect("deliveries").iter();
            let mut found = deliveries.filter(|delivery| delivery["address"] == address);
            found.next().cloned().unwrap_or_else(|| panic!("{sent}"))
        };
        assert_eq!(fate(BEN)["status"], "delivered");
        assert_eq!(fate("carla@outside.example")["status"], "submitted");
        assert_eq!(fate("dora@outside.example")["field"], "bcc");
        assert_eq!(
            sent["bcc"][0]["address"], "dora@outside.example",
            "its sender sees it"
        );

        let came = ben.wait(EPOCH).await;
        assert_eq!(came["subject"], "The van on Friday");
        assert_eq!(came["from"]["address"], AGENT);
        assert_eq!(came["bcc"], json!([]));
        let came = ben.message(&came["id"]).await;
        assert!(
            !came.to_string().contains("dora"),
            "a blind copy is in no field: {came}"
        );
        assert!(came.to_string().contains("X-Ticket"), "{came}");

        let answer = json!({"text": "It is.", "idempotency_key": "two", "reply_all": true});
        let path = format!("messages/{}/reply", came["id"].as_str().expect("an id"));
        let answered = ben.post(&path, answer).await;
        assert_eq!(answered.status, 202, "{answered:?}");
        let answered = answered.json();
        assert_eq!(answered["subject"], "Re: The van on Friday");
        assert_eq!(answered["to"][0]["address"], AGENT);
        assert_eq!(answered["cc"][0]["address"], "carla@outside.example");
        let back = ann.wait(&format!("{EPOCH}&kind=reply")).await;
        assert_eq!(back["thread_id"], sent["thread_id"], "it joins the thread");
        assert_eq!(back["in_reply_to"], sent["rfc_message_id"]);
        let thread = sent["thread_id"].as_str().expect("an id");
        let thread = ann.get(&format!("threads/{thread}")).await.json();
        assert_eq!(thread["message_count"], 2);
        assert_eq!(thread["last_direction"], "inbound");
        let usage = served.ask("GET", "/v1/usage", &ann.key, None).await.json();
        let sends = usage["features"].as_array().expect("features").iter();
        let mut sends = sends.filter(|feature| feature["feature"] == "sends");
        // Three of Ann's and two of Ben's.
        assert_eq!(sends.next().expect("sends")["used"], 5, "{usage}");
        assert_eq!(usage["caps"][0]["cap"], "identity");
        assert_eq!(usage["caps"][0]["used"], 3);
    });
}

#[test]
fn one_key_is_one_mail_whatever_is_repeated() {
    on_both("serve", async |served| {
        let ann = Desk::open(&served, AGENT, "anyone").await;
        let mail = json!({"to": ["eve@outside.example"], "subject": "Once", "text": "Only once.", "idempotency_key": "k"});
        let first = ann.post("messages", mail.clone()).await;
        assert_eq!(
            (first.status, first.header("idempotent-replayed")),
            (202, None)
        );
        let again = ann.post("messages", mail.clone()).await;
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        let (first, again) = (first.json(), again.json());
        assert_eq!(again["deduplicated"], true);
        assert_eq!(first["id"], again["id"]);
        assert_eq!(first["rfc_message_id"], again["rfc_message_id"]);

        let all = (0..8).map(|_| ann.post("messages", mail.clone()));
        for reply in futures_util::future::join_all(all).await {
            assert_eq!(reply.json()["id"], first["id"]);
        }
        let outbox = served.ask("GET", "/v1/outbox", &ann.key, None).await.json();
        assert_eq!(outbox["data"].as_array().expect("a list").len(), 1);

        let mut other = mail.clone();
        other["text"] = json!("Something else.");
        let conflict = ann.post("messages", other).await;
        assert_eq!(
            (conflict.status, conflict.code().as_str()),
            (409, "idempotency_conflict")
        );
        assert_eq!(
            conflict.json()["error"]["details"]["original_message_id"],
            first["id"]
        );
        for (key, code) in [
            (Value::Null, "idempotency_key_required"),
            (json!(""), "invalid_idempotency_key"),
            (json!("k\u{e9}y"), "invalid_idempotency_key"),
            (json!("x".repeat(256)), "invalid_idempotency_key"),
        ] {
            let mut bad = mail.clone();
            bad["idempotency_key"] = key.clone();
            let refused = ann.post("messages", bad).await;
            assert_eq!(
                (refused.status, refused.code().as_str()),
                (400, code),
                "{key}"
            );
        }
        // The header says the same.
        let path = format!("{}/v1/identities/{AGENT}/messages", served.local_url());
        let mut bare = mail.clone();
        bare.as_object_mut()
            .expect("an object")
            .remove("idempotency_key");
        let by_header = served
            .http
            .post(path)
            .bearer_auth(&ann.key)
            .header("content-type", "application/json")
            .header("idempotency-key", "k")
            .body(bare.to_string());
        let by_header = Reply::of(by_header.send().await.expect("an answer")).await;
        assert_eq!(by_header.json()["id"], first["id"]);
    });
}

#[test]
fn a_key_writes_to_whom_it_may_and_a_refusal_says_why() {
    on_both("serve", async |served| {
        let strict = Desk::open(&served, AGENT, "thread").await;
        deliver(served.text("smtp"), AGENT, "Hello agent");
        let came = strict.wait(EPOCH).await;
        let stranger = json!({"to": ["eve@outside.example"], "subject": "Psst", "text": "Secret.", "idempotency_key": "a"});
        let refused = strict.post("messages", stranger.clone()).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (403, "policy_denied")
        );
        let error = refused.json()["error"].clone();
        assert_eq!(
            error["details"]["recipients"],
            json!(["eve@outside.example"])
        );
        assert!(
            error["details"]["reason"].is_string() && error["fix"].is_string(),
            "{error}"
        );
        let id = came["id"].as_str().expect("an id");
        let forward = json!({"to": ["eve@outside.example"], "idempotency_key": "b"});
        let refused = strict
            .post(&format!("messages/{id}/forward"), forward)
            .await;
        assert_eq!(refused.code(), "policy_denied");
        let answer = json!({"text": "Hello.", "idempotency_key": "c"});
        let answered = strict.post(&format!("messages/{id}/reply"), answer).await;
        assert_eq!(answered.status, 202, "{answered:?}");

        let known = Desk::open(&served, AGENT, "known").await;
        let again = json!({"to": ["sender@outside.example"], "subject": "New", "text": "Hi.", "idempotency_key": "d"});
        assert_eq!(known.post("messages", again).await.status, 202);
        let refused = known.post("messages", stranger.clone()).await;
        assert_eq!(refused.code(), "policy_denied");
        let outbox = served
            .ask("GET", "/v1/outbox", &known.key, None)
            .await
            .json();
        assert_eq!(
            outbox["data"].as_array().expect("a list").len(),
            2,
            "nothing else was stored"
        );

        let both =
            json!({"name": "wide", "level": "identity", "identity": AGENT, "send_scope": "anyone"});
        let refused = served
            .ask("POST", "/v1/keys", served.admin(), Some(both))
            .await;
        assert_eq!(refused.status, 400, "{refused:?}");
        assert_eq!(
            refused.json()["error"]["details"]["reason"],
            "untrusted_send"
        );
        let anyone = Desk::open(&served, AGENT, "anyone").await;
        assert_eq!(anyone.post("messages", stranger).await.status, 202);
    });
}

#[test]
fn refusals_come_in_their_order_and_store_nothing() {
    on_both("serve", async |served| {
        let fresh = json!({"address": "new@localhost"});
        served
            .ask("POST", "/v1/identities", served.admin(), Some(fresh))
            .await;
        let mail = |extra: Value| {
            let mut mail = json!({"to": ["eve@outside.example"], "subject": "S", "text": "T", "idempotency_key": "k"});
            for (name, value) in extra.as_object().expect("an object") {
                mail[name] = value.clone();
            }
            mail
        };
        let refused = served
            .ask(
                "POST",
                "/v1/identities/new@localhost/messages",
                served.admin(),
                Some(mail(json!({}))),
            )
            .await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (409, "identity_owner_required")
        );
        let ann = Desk::open(&served, AGENT, "anyone").await;
        for (extra, status, code) in [
            (
                json!({"thread_id": "thr_01ARZ3NDEKTSV4RRFFQ69G5FAV"}),
                404,
                "thread_not_found",
            ),
            (json!({"to": ["nobody"]}), 400, "address_invalid"),
            (
                json!({"to": ["j\u{f6}rg@outside.example"]}),
                400,
                "address_unsupported",
            ),
            (
                json!({"to": (0..11).map(|n| format!("p{n}@outside.example")).collect::<Vec<_>>()}),
                400,
                "too_many_recipients",
            ),
            (
                json!({"kind": "marketing"}),
                400,
                "marketing_requirements_missing",
            ),
            (json!({"kind": "auto_reply"}), 409, "auto_reply_not_allowed"),
            (
                json!({"headers": {"Bcc": "eve@outside.example"}}),
                400,
                "header_not_allowed",
            ),
            (
                json!({"headers": {"X-A": "one\r\nBcc: eve@outside.example"}}),
                400,
                "invalid_request",
            ),
            (
                json!({"subject": "one\r\nBcc: eve@outside.example"}),
                400,
                "invalid_request",
            ),
            (json!({"subject": "one\u{2028}two"}), 400, "invalid_request"),
            (json!({"text": null}), 400, "invalid_request"),
            (json!({"text": "a\u{0}b"}), 400, "invalid_request"),
            (
                json!({"from_address": "other@localhost"}),
                400,
                "invalid_request",
            ),
            (
                json!({"attachments": [{"filename": "a", "content_type": "text/plain", "content_base64": "?"}]}),
                400,
                "invalid_request",
            ),
            (
                json!({"attachments": [{"filename": "a", "content_type": "text/plain", "content_base64": "upl_01ARZ3NDEKTSV4RRFFQ69G5FAV"}]}),
                404,
                "upload_not_found",
            ),
            (
                json!({"attachments": [{"filename": "a", "content_type": "text/plain", "content_base64": "att_01ARZ3NDEKTSV4RRFFQ69G5FAV"}]}),
                404,
                "attachment_not_found",
            ),
        ] {
            let refused = ann.post("messages", mail(extra.clone())).await;
            assert_eq!(
                (refused.status, refused.code().as_str()),
                (status, code),
                "{extra}: {refused:?}"
            );
        }
        let unknown = json!({"text": "T", "idempotency_key": "k"});
        let refused = ann
            .post("messages/msg_01ARZ3NDEKTSV4RRFFQ69G5FAV/reply", unknown)
            .await;
        assert_eq!(refused.code(), "message_not_found");
        let outbox = served.ask("GET", "/v1/outbox", &ann.key, None).await.json();
        assert_eq!(outbox["data"], json!([]));
        // The key of a refused call is free.
        assert_eq!(ann.post("messages", mail(json!({}))).await.status, 202);
        let dry = ann
            .post(
                "messages?dry_run=true",
                mail(json!({"idempotency_key": "dry"})),
            )
            .await;
        assert_eq!(dry.status, 200, "{dry:?}");
        assert_eq!(dry.json()["would_send"], true);
        assert_eq!(dry.json()["recipients"][0]["status"], "queued");
        let paused = json!({"status": "paused"});
        served
            .ask(
                "PATCH",
                &format!("/v1/identities/{AGENT}"),
                served.admin(),
                Some(paused),
            )
            .await;
        let refused = ann
            .post("messages", mail(json!({"idempotency_key": "p"})))
            .await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (409, "identity_paused")
        );
        assert_eq!(refused.json()["error"]["details"]["reason"], "manual");
    });
}

#[test]
fn addresses_that_play_a_fate_play_it_and_some_are_not_written_to_again() {
    on_both("serve", async |served| {
        let ann = Desk::open(&served, AGENT, "anyone").await;
        for (local, status) in [
            ("delivered", "delivered"),
            ("bounce", "bounced"),
            ("softbounce", "bounced"),
            ("complaint", "complained"),
            ("deferred", "deferred"),
            ("reject", "rejected"),
            ("timeout", "uncertain"),
        ] {
            let to = format!("{local}@simulator.invalid");
            let sent = ann
                .send(json!({"to": [to], "subject": local, "text": "T", "idempotency_key": local}))
                .await;
            ann.until(&sent["id"], &[status]).await;
        }
        let uncertain = served
            .ask("GET", "/v1/outbox?state=uncertain", &ann.key, None)
            .await
            .json();
        let id = uncertain["data"][0]["message_id"].clone();
        assert_eq!(
            uncertain["data"][0]["deliveries"][0]["reason"], "transport_timeout",
            "{uncertain}"
        );
        let path = format!("messages/{}", id.as_str().expect("an id"));
        let resolved = ann
            .post(&format!("{path}/resolve"), json!({"outcome": "not_sent"}))
            .await;
        assert_eq!(resolved.json()["status"], "failed", "{resolved:?}");
        let again = ann
            .post(&format!("{path}/resolve"), json!({"outcome": "sent"}))
            .await;
        assert_eq!(again.code(), "not_uncertain");
        let cancel = ann.post(&format!("{path}/cancel"), json!({})).await;
        assert_eq!(cancel.code(), "not_cancelable");
    });
}

#[test]
fn a_large_file_goes_by_its_id_and_comes_back_byte_for_byte() {
    on_both("serve", async |served| {
        let ann = Desk::open(&served, AGENT, "anyone").await;
        let file: Vec<u8> = (0..20 * 1024 * 1024_u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        let url = format!(
            "{}/v1/identities/{AGENT}/uploads?filename=plan.bin",
            served.local_url()
        );
        let upload = served
            .http
            .post(url)
            .bearer_auth(&ann.key)
            .header("content-type", "application/x-plan")
            .body(file.clone());
        let upload = Reply::of(upload.send().await.expect("an answer")).await;
        assert_eq!(upload.status, 201, "{upload:?}");
        let upload = upload.json();
        assert_eq!(upload["size"], file.len());
        assert_eq!(upload["content_type"], "application/x-plan");
        let mail = json!({
            "to": ["eve@outside.example"], "subject": "The plan", "text": "Attached.", "idempotency_key": "f",
            "attachments": [{"filename": "", "content_type": "", "content_base64": upload["id"]}],
        });
        assert!(mail.to_string().len() < 2_048);
        let sent = ann.send(mail).await;
        assert_eq!(sent["attachments"][0]["filename"], "plan.bin");
        assert_eq!(sent["attachments"][0]["size"], file.len());
        // Once more by the attachment's id.
        let mail = json!({
            "to": ["eve@outside.example"], "subject": "Again", "text": "Attached.", "idempotency_key": "g",
            "attachments": [{"filename": "again.bin", "content_type": "", "content_base64": sent["attachments"][0]["id"]}],
        });
        let again = ann.send(mail).await;
        assert_eq!(again["attachments"][0]["size"], file.len());
        // A mailbox here takes what may be sent.
        let ben = Desk::open(&served, BEN, "thread").await;
        let with = |key: &str, times: usize| {
            let one =
                json!({"filename": "p.bin", "content_type": "", "content_base64": upload["id"]});
            json!({
                "to": [BEN], "subject": "Here", "text": "Attached.", "idempotency_key": key,
                "attachments": vec![one; times],
            })
        };
        ann.send(with("h", 1)).await;
        let came = ben.wait(EPOCH).await;
        assert_eq!(came["attachments"][0]["size"], file.len(), "{came}");
        // Too large together, whether that is seen before the mail is written or after.
        for (key, times) in [("i", 2), ("j", 3)] {
            let refused = ann.post("messages", with(key, times)).await;
            assert_eq!(
                (refused.status, refused.code().as_str()),
                (413, "message_too_large"),
                "{times}: {refused:?}"
            );
            let error = refused.json()["error"].clone();
            assert_eq!(
                error["details"]["max_bytes"],
                limit::SENT_MAIL_BYTES,
                "{error}"
            );
        }
        let path = format!(
            "/v1/identities/{AGENT}/messages/{}/raw",
            again["id"].as_str().expect("an id")
        );
        let raw = served
            .http
            .get(format!("{}{path}", served.local_url()))
            .bearer_auth(&ann.key)
            .send()
            .await
            .expect("an answer");
        let raw = raw.bytes().await.expect("bytes");
        let body = postroom_mail::attachment(&raw, 0).expect("an attachment");
        assert!(body.bytes == file, "the same bytes");
    });
}

#[test]
fn a_form_around_a_file_is_no_file() {
    on_both("serve", async |served| {
        let url = format!(
            "{}/v1/identities/{AGENT}/uploads?filename=a.bin",
            served.local_url()
        );
        for (given, status, kept) in [
            ("multipart/form-data; boundary=b", 415, None),
            ("Multipart/Mixed; boundary=b", 415, None),
            // What curl says of everything.
            (
                "application/x-www-form-urlencoded",
                201,
                Some("application/octet-stream"),
            ),
            (
                "text/plain; charset=utf-8",
                201,
                Some("text/plain; charset=utf-8"),
            ),
        ] {
            let upload = served.http.post(&url).bearer_auth(served.admin());
            let upload = upload.header("content-type", given).body("bytes");
            let upload = Reply::of(upload.send().await.expect("an answer")).await;
            assert_eq!(upload.status, status, "{given}: {upload:?}");
            match kept {
                Some(kept) => assert_eq!(upload.json()["content_type"], kept),
                None => {
                    assert_eq!(upload.code(), "unsupported_media_type");
                    let fix = upload.json()["error"]["fix"].to_string();
                    assert!(fix.contains("--data-binary"), "{fix}");
                }
            }
        }
    });
}

#[test]
fn a_refusal_names_the_argument_and_what_would_do() {
    on_both("serve", async |served| {
        let ann = Desk::open(&served, AGENT, "anyone").await;
        let url = json!({"url": "https://acme.example/leave"});
        for (extra, path, words) in [
            (json!({"labels": ["Big Label"]}), "labels", "a-z"),
            (
                json!({"kind": "marketing", "unsubscribe": url}),
                "consent",
                "is required",
            ),
            (
                json!({"kind": "marketing", "unsubscribe": url, "consent": {}}),
                "consent",
                "at least one entry",
            ),
            (
                json!({"kind": "marketing", "consent": {"source": "form"}}),
                "unsubscribe.url",
                "",
            ),
            (json!({"subject": 7}), "subject", "must be a string"),
            (
                json!({"attachments": vec![json!({}); limit::SEND_ATTACHMENTS + 1]}),
                "attachments",
                "at most 10 items",
            ),
        ] {
            let mut mail = json!({"to": ["eve@outside.example"], "subject": "S", "text": "T", "idempotency_key": "k"});
            for (name, value) in extra.as_object().expect("an object") {
                mail[name] = value.clone();
            }
            let refused = ann.post("messages", mail).await;
            assert_eq!(refused.status, 400, "{extra}: {refused:?}");
            let errors = refused.json()["error"]["details"]["errors"].clone();
            let named =
                errors.as_array().expect("errors").iter().any(|error| {
                    error["path"] == path && error["message"].to_string().contains(words)
                });
            assert!(named, "{extra}: {errors}");
        }
        let automatic = json!({"to": [BEN], "subject": "S", "text": "T", "kind": "auto_reply", "idempotency_key": "k"});
        let refused = ann.post("messages", automatic).await;
        assert_eq!(refused.code(), "auto_reply_not_allowed");
        assert!(
            refused.json()["error"]["fix"]
                .to_string()
                .contains("mail_reply"),
            "{refused:?}"
        );
        let files: Vec<Value> = (0..limit::SEND_ATTACHMENTS)
            .map(|n| json!({"filename": format!("{n}.txt"), "content_type": "text/plain", "content_base64": "aGk="}))
            .collect();
        let most = json!({"to": ["eve@outside.example"], "subject": "S", "text": "T", "idempotency_key": "most", "attachments": files});
        ann.send(most).await;
    });
}

#[test]
fn a_wait_for_an_answer_does_not_give_what_was_answered() {
    on_both("serve", async |served| {
        let ann = Desk::open(&served, AGENT, "anyone").await;
        let ben = Desk::open(&served, BEN, "thread").await;
        let answer = async |desk: &Desk<'_>, id: &Value, key: &str| {
            let path = format!("messages/{}/reply", id.as_str().expect("an id"));
            let reply = desk.post(&path, json!({"text": key, "idempotency_key": key}));
            let reply = reply.await;
            assert_eq!(reply.status, 202, "{reply:?}");
            reply.json()
        };
        let timed_out = async |desk: &Desk<'_>| {
            let query = format!("wait?timeout_seconds=1&kind=reply&{EPOCH}");
            desk.get(&query).await.json()["timed_out"].clone()
        };
        ann.send(
            json!({"to": [BEN], "subject": "Keys", "text": "Where?", "idempotency_key": "one"}),
        )
        .await;
        let first = ben.wait(EPOCH).await;
        assert_eq!(
            timed_out(&ben).await,
            true,
            "nothing of ours is answered yet"
        );
        answer(&ben, &first["id"], "here").await;
        assert_eq!(
            timed_out(&ben).await,
            true,
            "the mail that was answered is no answer"
        );
        let second = ann.wait(&format!("{EPOCH}&kind=reply")).await;
        let thanks = answer(&ann, &second["id"], "thanks").await;
        let third = ben.wait(&format!("{EPOCH}&kind=reply")).await;
        assert_eq!(third["extracted_text"], "thanks", "{third}");
        assert_eq!(
            timed_out(&ann).await,
            true,
            "what was answered before is none either"
        );
        // An answer that crossed with a second mail of ours is still one.
        let before = answer(&ben, &third["id"], "you are welcome").await;
        ann.wait(&format!("{EPOCH}&kind=reply")).await;
        answer(&ann, &thanks["id"], "and the van?").await;
        let crossed = ann.wait(&format!("{EPOCH}&kind=reply")).await;
        assert_eq!(crossed["rfc_message_id"], before["rfc_message_id"]);
    });
}

#[test]
fn a_draft_keeps_its_files_through_changes_and_goes_when_it_is_sent() {
    on_both("serve", async |served| {
        let ann = Desk::open(&served, AGENT, "anyone").await;
        let file = json!([{"filename": "a.txt", "content_type": "text/plain", "content_base64": "aGVsbG8="}]);
        let mail = json!({"to": ["eve@outside.example"], "subject": "Draft", "text": "First.", "attachments": file});
        let draft = ann
            .post("drafts", json!({"kind": "send", "mail": mail}))
            .await;
        assert_eq!(draft.status, 201, "{draft:?}");
        let draft = draft.json();
        let path = format!(
            "/v1/identities/{AGENT}/drafts/{}",
            draft["id"].as_str().expect("an id")
        );
        let change = json!({"mail": {"text": "Second."}, "etag": draft["etag"]});
        let changed = served
            .ask("PATCH", &path, &ann.key, Some(change.clone()))
            .await;
        assert_eq!(changed.status, 200, "{changed:?}");
        let stale = served.ask("PATCH", &path, &ann.key, Some(change)).await;
        assert_eq!((stale.status, stale.code().as_str()), (409, "conflict"));
        let send = format!("{path}/send");
        let key = json!({"idempotency_key": "d"});
        let sent = served.ask("POST", &send, &ann.key, Some(key.clone())).await;
        assert_eq!(sent.status, 202, "{sent:?}");
        let sent = sent.json();
        assert_eq!(sent["extracted_text"], "Second.");
        assert_eq!(sent["attachments"][0]["filename"], "a.txt");
        let gone = served.ask("GET", &path, &ann.key, None).await;
        assert_eq!(gone.code(), "draft_not_found");
        let again = served.ask("POST", &send, &ann.key, Some(key)).await;
        assert_eq!(again.json()["id"], sent["id"]);
        assert_eq!(again.json()["deduplicated"], true);
        let wrong = ann
            .post(
                "drafts",
                json!({"kind": "reply", "mail": {"to": ["x@y.example"]}}),
            )
            .await;
        assert_eq!(wrong.code(), "invalid_request");
    });
}

#[test]
fn two_mailboxes_that_answer_each_other_by_themselves_stop_and_the_thread_says_why() {
    on_both("serve", async |served| {
        let ann = Desk::open(&served, AGENT, "anyone").await;
        let ben = Desk::open(&served, BEN, "thread").await;
        ann.send(
            json!({"to": [BEN], "subject": "Away?", "text": "Hello.", "idempotency_key": "start"}),
        )
        .await;
        let mut seen = Vec::new();
        let mut refusals = Vec::new();
        // Each answers the newest mail of the other until it may not.
        'talk: for _ in 0..20 {
            for desk in [&ben, &ann] {
                let mut query = "timeout_seconds=2&since=2020-01-01T00:00:00Z".to_owned();
                if desk.address == AGENT {
                    query.push_str("&kind=reply");
                }
                let came = loop {
                    let reply = desk.get(&format!("wait?{query}")).await.json();
                    if reply["timed_out"] == true {
                        break 'talk;
                    }
                    let id = reply["message"]["id"].clone();
                    if !seen.contains(&id) {
                        break reply["message"].clone();
                    }
                    let at = reply["message"]["received_at"]
                        .as_str()
                        .expect("an instant");
                    query = format!("timeout_seconds=2&since={at}");
                };
                seen.push(came["id"].clone());
                let id = came["id"].as_str().expect("an id");
                let answer =
                    json!({"text": "I am away.", "kind": "auto_reply", "idempotency_key": id});
                let reply = desk.post(&format!("messages/{id}/reply"), answer).await;
                if reply.status != 202 {
                    refusals.push((desk.address, reply.code(), came["thread_id"].clone()));
                    break 'talk;
                }
            }
        }
        assert!(seen.len() <= 3, "{} mails were answered", seen.len());
        let (address, code, thread) = refusals.pop().expect("a refusal");
        assert_eq!(code, "auto_reply_not_allowed");
        let desk = if address == AGENT { &ann } else { &ben };
        let thread = thread.as_str().expect("an id");
        let held = desk.get(&format!("threads/{thread}")).await.json();
        let seen = held["hold"]["reason"].is_string() || seen.len() <= 2;
        assert!(seen, "the thread says why: {held}");
    });
}

#[test]
fn a_mail_opens_a_todo_that_an_agent_answers_waits_on_and_completes() {
    on_both("serve", async |served| {
        let ben = Desk::open(&served, BEN, "thread").await;
        drop(Desk::open(&served, AGENT, "thread").await);
        let wanted = json!({"source_type": "mail", "identity": AGENT, "target_queue": "inbox"});
        let source = served
            .ask("POST", "/v1/sources", served.admin(), Some(wanted))
            .await;
        assert_eq!(source.status, 201, "{source:?}");
        // The agent's own key, as the preset makes it.
        let tool = async |name: &str, arguments: Value| {
            let answer = call(&served, served.key(), name, arguments).await;
            assert_ne!(answer["result"]["isError"], true, "{name}: {answer}");
            answer["result"]["structuredContent"].clone()
        };
        let letter = format!(
            "From: Ben <{BEN}>\r\nTo: {AGENT}\r\nSubject: Is the van free?\r\nMessage-ID: <ask@elsewhere.example>\r\n\r\nOn Friday?\r\n"
        );
        deliver_raw(served.text("smtp"), BEN, AGENT, &letter);
        let claim = tool(
            "todo_claim_next",
            json!({"queue": "inbox", "wait_seconds": 20}),
        )
        .await;
        let todo = &claim["todo"];
        assert_eq!(todo["title"], "Is the van free?", "{claim}");
        let message = tool(
            "mail_get_message",
            json!({"message_id": todo["message_id"]}),
        )
        .await;
        assert_eq!(message["from"]["address"], BEN);
        assert!(
            message["extracted_text"]
                .as_str()
                .expect("text")
                .contains("On Friday?")
        );
        let reply = json!({"message_id": message["id"], "text": "It is. At what time?", "idempotency_key": todo["id"]});
        let sent = tool("mail_reply", reply.clone()).await;
        assert_eq!(sent["thread_id"], message["thread_id"]);
        assert_eq!(sent["in_reply_to"], "ask@elsewhere.example");
        assert_eq!(tool("mail_reply", reply).await["deduplicated"], true);

        let came = ben.wait(EPOCH).await;
        assert_eq!(came["subject"], "Re: Is the van free?");
        let path = format!("messages/{}/reply", came["id"].as_str().expect("an id"));
        let answer = json!({"text": "At nine.", "idempotency_key": "nine"});
        assert_eq!(ben.post(&path, answer).await.status, 202);

        let wait = json!({"thread_id": message["thread_id"], "kind": "reply", "since": sent["received_at"], "timeout_seconds": 20});
        let waited = tool("mail_wait", wait).await;
        assert_eq!(waited["timed_out"], false, "{waited}");
        assert!(
            waited["message"]["extracted_text"]
                .as_str()
                .expect("text")
                .contains("At nine.")
        );
        assert_eq!(waited["message"]["thread_id"], message["thread_id"]);
        let done = json!({"id": todo["id"], "result": {"time": "nine"}, "summary": "booked"});
        assert_eq!(tool("todo_complete", done).await["state"], "done");

        // His answer opened the next todo of the conversation, and a burst of mail joins it.
        for n in 0..3 {
            let letter = format!(
                "From: Ben <{BEN}>\r\nTo: {AGENT}\r\nSubject: Re: Is the van free?\r\nMessage-ID: <more{n}@elsewhere.example>\r\nReferences: <ask@elsewhere.example>\r\n\r\nAlso {n}.\r\n"
            );
            deliver_raw(served.text("smtp"), BEN, AGENT, &letter);
        }
        let events = async || {
            let listed = tool("todo_list", json!({"queue": "inbox", "state": "pending"})).await;
            let todos = listed["todos"].as_array().expect("todos").clone();
            assert!(todos.len() <= 1, "one conversation, one todo: {listed}");
            todos
                .first()
                .map_or(0, |todo| todo["event_count"].as_u64().unwrap_or(0))
        };
        for _ in 0..400 {
            if events().await == 4 {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(25)).await;
        }
        panic!("{} events", events().await);
    });
}

#[test]
fn a_report_that_comes_back_says_what_became_of_a_mail_and_stops_the_next() {
    on_both("serve", async |served| {
        let ann = Desk::open(&served, AGENT, "anyone").await;
        let mail = |key: &str| json!({"to": ["gone@outside.example", "here@outside.example"], "subject": "S", "text": "T", "idempotency_key": key});
        let sent = ann.send(mail("a")).await;
        ann.until(&sent["id"], &["submitted"]).await;
        let id = sent["rfc_message_id"].as_str().expect("an id");
        let report = format!(
            "From: MAILER-DAEMON@outside.example\r\nTo: {AGENT}\r\nSubject: Undelivered Mail Returned to Sender\r\n\
             Message-ID: <r1@outside.example>\r\nAuto-Submitted: auto-replied\r\nMIME-Version: 1.0\r\n\
             Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n--b\r\n\
             Content-Type: text/plain\r\n\r\nIt could not be delivered.\r\n--b\r\n\
             Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.outside.example\r\n\r\n\
             Final-Recipient: rfc822; gone@outside.example\r\nAction: failed\r\nStatus: 5.1.1\r\n\
             Diagnostic-Code: smtp; 550 5.1.1 no such user\r\n\r\n--b\r\n\
             Content-Type: text/rfc822-headers\r\n\r\nMessage-ID: <{id}>\r\n\r\n--b--\r\n"
        );
        // One that did not come as reports come says nothing.
        deliver_raw(
            served.text("smtp"),
            "eve@outside.example",
            AGENT,
            &report.replace("r1@", "r0@"),
        );
        ann.wait("since=2020-01-01T00:00:00Z&subject_contains=Undelivered")
            .await;
        assert_eq!(ann.message(&sent["id"]).await["status"], "submitted");
        deliver_raw(served.text("smtp"), "", AGENT, &report);
        let mut bounced = Value::Null;
        for _ in 0..400 {
            bounced = ann.message(&sent["id"]).await;
            if bounced["deliveries"][0]["status"] == "bounced" {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(25)).await;
        }
        assert_eq!(bounced["deliveries"][0]["status"], "bounced", "{bounced}");
        assert_eq!(bounced["deliveries"][0]["bounce_type"], "hard");
        assert_eq!(bounced["deliveries"][0]["enhanced_code"], "5.1.1");
        let reason = bounced["deliveries"][0]["reason"].as_str();
        assert!(reason.is_some_and(|reason| reason.starts_with("unproven report: ")));
        assert_eq!(
            bounced["deliveries"][1]["status"], "submitted",
            "nothing is known of the other"
        );
        // Everybody who got that mail could have written this report; it ends writing to nobody.
        let again = ann.send(mail("b")).await;
        assert_eq!(again["deliveries"][0]["status"], "queued", "{again}");
        let alone = ann
            .send(json!({"to": ["gone@outside.example"], "subject": "S", "text": "T", "idempotency_key": "alone"}))
            .await;
        ann.until(&alone["id"], &["submitted"]).await;
        let own = alone["rfc_message_id"].as_str().expect("an id");
        let report = report.replace("r1@", "r2@").replace(id, own);
        deliver_raw(served.text("smtp"), "", AGENT, &report);
        let bounced = ann.until(&alone["id"], &["bounced"]).await;
        // A report stands in the thread of what it speaks of, as soon as it is a message itself.
        let path = format!(
            "threads/{}",
            bounced["thread_id"].as_str().expect("a thread")
        );
        let mut thread = Value::Null;
        for _ in 0..400 {
            thread = ann.get(&path).await.json();
            if thread["messages"]
                .as_array()
                .is_some_and(|all| all.len() == 2)
            {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(25)).await;
        }
        let report = &thread["messages"][1];
        assert_eq!(report["subject"], "Undelivered Mail Returned to Sender");
        assert_eq!(
            (&report["kind"], &thread["unread_count"]),
            (&json!("dsn"), &json!(0))
        );
        let again = ann.send(mail("b2")).await;
        assert_eq!(again["deliveries"][0]["status"], "suppressed", "{again}");
        assert_eq!(
            again["deliveries"][0]["reason"],
            "policy: suppression (hard_bounce)"
        );
        assert_eq!(again["deliveries"][1]["status"], "queued");
        let listed = served
            .ask("GET", "/v1/suppressions", served.admin(), None)
            .await
            .json();
        assert_eq!(listed["data"][0]["hint"], "g***@outside.example");
        let remove = json!({"address": "gone@outside.example"});
        let removed = served
            .ask(
                "POST",
                "/v1/suppressions/remove",
                served.admin(),
                Some(remove),
            )
            .await;
        assert_eq!(removed.status, 200, "{removed:?}");
        assert_eq!(
            ann.send(mail("c")).await["deliveries"][0]["status"],
            "queued"
        );
    });
}

#[test]
fn an_answer_without_any_reference_finds_its_thread_by_the_address_it_goes_to() {
    on_both_told(
        "serve",
        "[transport]\nreply_tokens = true\n",
        async |served| {
            let ann = Desk::open(&served, AGENT, "thread").await;
            let letter = |from: &str, id: &str| {
                format!(
                    "From: {from}\r\nTo: {AGENT}\r\nSubject: A question\r\nMessage-ID: <{id}@outside.example>\r\n\r\nYes?\r\n"
                )
            };
            deliver_raw(
                served.text("smtp"),
                "bo@outside.example",
                AGENT,
                &letter("bo@outside.example", "q"),
            );
            let came = ann.wait(EPOCH).await;
            let path = format!("messages/{}/reply", came["id"].as_str().expect("an id"));
            let sent = ann
                .post(&path, json!({"text": "Yes.", "idempotency_key": "y"}))
                .await
                .json();
            let reply_to = sent["reply_to"][0]["address"]
                .as_str()
                .expect("an address")
                .to_owned();
            assert!(
                reply_to.starts_with("agent+t") && reply_to.ends_with("@localhost"),
                "{reply_to}"
            );
            // Another author, another subject line's words, no reference at all.
            deliver_raw(
                served.text("smtp"),
                "cy@outside.example",
                &reply_to,
                &letter("cy@outside.example", "r"),
            );
            let back = ann.wait(&format!("{EPOCH}&from=cy@outside.example")).await;
            assert_eq!(back["thread_id"], came["thread_id"]);
            // One that is signed by nobody files nothing.
            let mut forged = reply_to.clone();
            let at = forged.find('@').expect("an at") - 1;
            let last = if forged.as_bytes()[at] == b'0' {
                "1"
            } else {
                "0"
            };
            forged.replace_range(at..=at, last);
            deliver_raw(
                served.text("smtp"),
                "di@outside.example",
                &forged,
                &letter("di@outside.example", "s"),
            );
            let apart = ann.wait(&format!("{EPOCH}&from=di@outside.example")).await;
            assert_ne!(apart["thread_id"], came["thread_id"]);
            assert_eq!(apart["flags"], json!(["thread_join_unverified"]));
            // Forged ones under the name of somebody in the thread take nothing from them; under that
            // of anybody else a signed one does not count for an hour.
            let many = limit::FORGED_TOKENS_PER_SENDER;
            for sender in ["bo@outside.example", "fy@outside.example"] {
                for n in 0..=many {
                    let words = letter(sender, &format!("{n}-{}", &sender[..2]));
                    deliver_raw(served.text("smtp"), sender, &forged, &words);
                }
                let words = letter(sender, &format!("signed-{}", &sender[..2]))
                    .replace("Subject: ", "Subject: Signed ");
                deliver_raw(served.text("smtp"), sender, &reply_to, &words);
                let signed = ann
                    .wait(&format!("{EPOCH}&from={sender}&subject_contains=Signed"))
                    .await;
                let joined = signed["thread_id"] == came["thread_id"];
                assert_eq!(joined, sender == "bo@outside.example", "{sender}: {signed}");
            }
            // A mail that begins a thread asks for its answers in the same way.
            let wide = Desk::open(&served, AGENT, "anyone").await;
            let mail = json!({"to": ["ed@outside.example"], "subject": "New", "text": "T", "idempotency_key": "n"});
            let sent = wide.send(mail).await;
            let reply_to = sent["reply_to"][0]["address"].as_str().expect("an address");
            deliver_raw(
                served.text("smtp"),
                "ed@outside.example",
                reply_to,
                &letter("ed@outside.example", "u"),
            );
            let back = ann.wait(&format!("{EPOCH}&from=ed@outside.example")).await;
            assert_eq!(back["thread_id"], sent["thread_id"]);
        },
    );
}

#[test]
fn the_command_line_sends_answers_and_lists() {
    on_both("serve", async |served| {
        let ben = Desk::open(&served, BEN, "thread").await;
        drop(Desk::open(&served, AGENT, "thread").await);
        let words = [
            "send",
            "--as",
            AGENT,
            "--to",
            BEN,
            "--to",
            "eve@outside.example",
            "--subject",
            "Keys",
            "--text",
            "Where?",
            "--json",
        ];
        let sent = served.command(&words);
        assert_eq!(sent.exit, 0, "{sent:?}");
        assert_eq!(sent.json()["subject"], "Keys");
        let came = ben.wait(EPOCH).await;
        let file = served.folder().join("answer.txt");
        std::fs::write(&file, "In the blue box.\n").expect("written");
        let words = [
            "reply",
            came["id"].as_str().expect("an id"),
            "--as",
            BEN,
            "--text",
            "@answer.txt",
            "--json",
        ];
        let answered = served.command(&words);
        assert_eq!(answered.exit, 0, "{answered:?}");
        assert_eq!(answered.json()["extracted_text"], "In the blue box.");
        let outbox = served.command(&["outbox", "--json"]);
        assert_eq!(
            outbox.json()["data"].as_array().expect("a list").len(),
            2,
            "{outbox:?}"
        );
        assert_eq!(outbox.json()["data"][1]["from"]["address"], AGENT);
        for (named, exit, count) in [(BEN, 0, 1), (AGENT, 0, 1), ("nobody@localhost", 1, 0)] {
            let own = served.command(&["outbox", "--as", named, "--json"]);
            assert_eq!(own.exit, exit, "{own:?}");
            let listed = own.json()["data"].as_array().map_or(0, Vec::len);
            assert_eq!(listed, count, "{named}: {own:?}");
        }
        let table = served.command(&["outbox", "--as", AGENT]);
        for cell in ["FROM", AGENT, "ben@localhost and 1 more"] {
            assert!(table.out.contains(cell), "{cell}: {table:?}");
        }
        let refused = served.command(&[
            "send",
            "--as",
            AGENT,
            "--to",
            "nobody",
            "--subject",
            "S",
            "--text",
            "T",
        ]);
        assert_eq!(refused.exit, 2, "{refused:?}");
        assert!(refused.err.contains("local@domain"), "{refused:?}");
        assert!(refused.err.contains("to[0] `nobody`"), "{refused:?}");
        let doctor = served.command(&["doctor"]);
        assert!(doctor.out.contains("sandbox: nothing leaves"), "{doctor:?}");
    });
}

#[test]
fn an_address_is_written_to_again_by_its_entry_when_nobody_knows_it() {
    on_both("serve", async |served| {
        let gone = json!({"address": "gone@outside.example"});
        let (list, remove) = ("/v1/suppressions", "/v1/suppressions/remove");
        let put = served.ask("POST", list, served.admin(), Some(gone.clone()));
        let put = put.await.json();
        let listed = served.ask("GET", list, served.admin(), None).await.json();
        let id = &listed["data"][0]["id"];
        assert_eq!(&put["id"], id);
        for (named, status) in [
            (json!({}), 400),
            (
                json!({"address": "gone@outside.example", "suppression_id": id}),
                400,
            ),
            (
                json!({"suppression_id": "sup_01ARZ3NDEKTSV4RRFFQ69G5FAV"}),
                404,
            ),
            (json!({"suppression_id": id}), 200),
            (gone, 404),
        ] {
            let removed = served
                .ask("POST", remove, served.admin(), Some(named))
                .await;
            assert_eq!(removed.status, status, "{removed:?}");
        }
    });
}

#[test]
fn the_command_line_says_that_nobody_gets_a_mail_and_why() {
    on_both("serve", async |served| {
        let ann = Desk::open(&served, AGENT, "anyone").await;
        let gone = json!({"address": "gone@outside.example"});
        let path = "/v1/suppressions";
        let put = served.ask("POST", path, served.admin(), Some(gone)).await;
        assert_eq!(put.status, 201, "{put:?}");
        let send = |to: &str| {
            let words = [
                "send",
                "--as",
                AGENT,
                "--subject",
                "S",
                "--text",
                "T",
                "--to",
            ];
            served.command(&[&words[..], &[to]].concat())
        };
        let nobody = send("gone@outside.example");
        assert_eq!(nobody.exit, 1, "{nobody:?}");
        assert!(nobody.err.contains("Nobody gets this mail"), "{nobody:?}");
        assert!(nobody.out.contains("suppression (manual)"), "{nobody:?}");
        // The reason that a list shows is that of the whole's status.
        let some =
            send("Gone <gone@outside.example>, reject@simulator.invalid, eve@outside.example");
        assert_eq!(some.exit, 0, "{some:?}");
        let newest = served.command(&["outbox", "--limit", "1", "--json"]).json();
        let id = newest["data"][0]["message_id"].clone();
        let settled = ann.until(&id, &["submitted", "rejected"]).await;
        let listed = served.command(&["outbox", "--limit", "1", "--json"]).json();
        let listed = &listed["data"][0];
        assert_eq!(listed["status"], settled["status"]);
        let of_status = settled["deliveries"].as_array().expect("deliveries").iter();
        let of_status = of_status.filter(|one| one["status"] == settled["status"]);
        let reasons: Vec<&Value> = of_status.map(|one| &one["reason"]).collect();
        assert!(reasons.contains(&&listed["reason"]), "{listed} {settled}");
    });
}

#[test]
fn a_key_that_only_sends_needs_no_look_around_at_the_command_line() {
    on_both("serve", async |served| {
        drop(Desk::open(&served, AGENT, "anyone").await);
        let wanted = json!({
            "name": "sender", "level": "identity", "identity": AGENT, "send_scope": "anyone",
            "permissions": ["messages:send"],
        });
        let key = served
            .ask("POST", "/v1/keys", served.admin(), Some(wanted))
            .await;
        assert_eq!(key.status, 201, "{key:?}");
        let key = key.json()["secret"].as_str().expect("a secret").to_owned();
        // The key of a server that a variable names.
        let mut command = crate::served::postroom(served.folder());
        let words = [
            "send",
            "--to",
            "eve@outside.example",
            "--subject",
            "S",
            "--text",
            "T",
            "--key",
        ];
        let sent = command.env("POSTROOM_URL", served.local_url());
        let sent = sent.args(words).arg(&key).output().expect("runs");
        assert!(sent.status.success(), "{sent:?}");
        let alone = served.command(&["outbox", "--key", &key]);
        assert_eq!(alone.exit, 2, "{alone:?}");
        assert!(alone.err.contains("POSTROOM_URL"), "{alone:?}");
    });
}

#[test]
fn a_command_without_a_server_leaves_mail_to_the_server() {
    on_both("serve", async |mut served| {
        if served.text("database") != "sqlite" {
            return;
        }
        let key = Desk::open(&served, AGENT, "anyone").await.key;
        drop(Desk::open(&served, BEN, "thread").await);
        assert!(served.stop());
        let words = [
            "send",
            "--as",
            AGENT,
            "--to",
            BEN,
            "--subject",
            "Later",
            "--text",
            "T",
            "--json",
        ];
        let sent = served.command(&words);
        assert_eq!(sent.exit, 0, "{sent:?}");
        assert!(sent.err.contains("postroom serve"), "{sent:?}");
        for _ in 0..2 {
            let waits = served.command(&["outbox", "--json"]).json();
            assert_eq!(waits["data"][0]["status"], "queued", "{waits}");
            assert_eq!(waits["data"][0]["transport"], "later", "{waits}");
        }
        served.start_again();
        let ann = Desk {
            served: &served,
            address: AGENT,
            key,
        };
        ann.until(&sent.json()["id"], &["delivered"]).await;
        let gone = served.command(&["outbox", "--json"]).json();
        assert_eq!(gone["data"][0]["transport"], "sandbox", "{gone}");
    });
}

#[test]
fn the_command_line_attaches_files_small_and_large() {
    on_both("serve", async |served| {
        let ben = Desk::open(&served, BEN, "thread").await;
        drop(Desk::open(&served, AGENT, "thread").await);
        let folder = served.folder();
        let large = vec![b'x'; 5 * 1024 * 1024];
        std::fs::write(folder.join("plan.pdf"), b"%PDF-1.4 plan").expect("written");
        std::fs::write(folder.join("table.csv"), &large).expect("written");
        std::fs::write(folder.join("empty.txt"), b"").expect("written");
        for (subject, files, sizes) in [
            ("small", &["plan.pdf"][..], &[13][..]),
            (
                "large",
                &["plan.pdf", "table.csv"],
                &[13, large.len() as u64],
            ),
        ] {
            let mut words = vec!["send", "--as", AGENT, "--to", BEN, "--subject", subject];
            words.extend(["--text", "See there.", "--json"]);
            for file in files {
                words.extend(["--attach", file]);
            }
            let sent = served.command(&words);
            assert_eq!(sent.exit, 0, "{sent:?}");
            let came = ben
                .wait(&format!("{EPOCH}&subject_contains={subject}"))
                .await;
            let attachments = came["attachments"].as_array().expect("a list");
            let names: Vec<_> = attachments.iter().map(|one| &one["filename"]).collect();
            assert_eq!(names, files.to_vec());
            let kept: Vec<_> = attachments.iter().map(|one| one["size"].as_u64()).collect();
            assert_eq!(
                kept,
                sizes.iter().map(|size| Some(*size)).collect::<Vec<_>>()
            );
            assert_eq!(attachments[0]["content_type"], "application/pdf");
            let fetched = served.command(&[
                "attachment",
                came["id"].as_str().expect("an id"),
                attachments[0]["id"].as_str().expect("an id"),
                "--as",
                BEN,
            ]);
            assert_eq!(fetched.out, "%PDF-1.4 plan", "{fetched:?}");
        }
        for (file, why) in [
            ("none.txt", "No such file"),
            ("empty.txt", "it is empty"),
            (".", "it is no file"),
        ] {
            let words = [
                "send",
                "--as",
                AGENT,
                "--to",
                BEN,
                "--subject",
                "S",
                "--attach",
                file,
            ];
            let refused = served.command(&words);
            assert_ne!(refused.exit, 0, "{refused:?}");
            assert!(refused.err.contains(why), "{refused:?}");
        }
    });
}

#[test]
fn the_page_shows_sent_mail_to_its_owner_and_lets_its_html_do_nothing() {
    on_both("serve", async |served| {
        let ann = Desk::open(&served, AGENT, "anyone").await;
        let html = "<p>Hello <b>Ada</b></p><script>alert(1)</script><img src=\"https://spy.example/x.png\"><form action=\"https://spy.example/\"><input></form>";
        let mail = json!({
            "to": ["ada@outside.example"], "subject": "<b>Bold</b>", "html": html, "idempotency_key": "page",
        });
        let sent = ann.send(mail).await;
        let list = format!("{}/outbox", served.local_url());
        let stranger = Reply::of(served.http.get(&list).send().await.expect("an answer")).await;
        assert_eq!(stranger.status, 403);
        assert!(!stranger.body.contains("Bold"));
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .expect("a client");
        let entered = client
            .get(served.text("owner_link"))
            .send()
            .await
            .expect("an answer");
        let cookie = entered.headers()["set-cookie"]
            .to_str()
            .expect("text")
            .split(';')
            .next()
            .expect("a pair")
            .to_owned();
        let page = async |path: &str| {
            let url = format!("{}{path}", served.local_url());
            Reply::of(
                client
                    .get(url)
                    .header("cookie", &cookie)
                    .send()
                    .await
                    .expect("an answer"),
            )
            .await
        };
        let listed = page("/outbox").await;
        assert_eq!(listed.status, 200, "{listed:?}");
        assert!(
            [
                "&lt;b&gt;Bold&lt;/b&gt;",
                "sandbox",
                "<th scope=\"col\">From</th>",
                AGENT
            ]
            .iter()
            .all(|part| listed.body.contains(part)),
            "{listed:?}"
        );
        let path = format!(
            "/outbox/{}/{}",
            sent["identity_id"].as_str().expect("an id"),
            sent["id"].as_str().expect("an id")
        );
        let one = page(&path).await;
        assert!(
            one.body.contains("sandbox=\"\"") && one.body.contains("ada@outside.example"),
            "{one:?}"
        );
        assert!(!one.body.contains("<script"));
        let policy = one
            .header("content-security-policy")
            .expect("a policy")
            .to_owned();
        assert!(
            policy.contains("frame-src 'self'") && policy.contains("default-src 'none'"),
            "{policy}"
        );
        let framed = page(&format!("{path}/html")).await;
        assert!(framed.body.contains("Hello"), "{framed:?}");
        for bad in ["<script", "spy.example", "<form"] {
            assert!(!framed.body.contains(bad), "{bad}: {framed:?}");
        }
        let policy = framed
            .header("content-security-policy")
            .expect("a policy")
            .to_owned();
        assert!(
            policy.starts_with("sandbox;") && policy.contains("default-src 'none'"),
            "{policy}"
        );
    });
}

#[test]
fn files_of_a_mail_stay_with_those_who_were_on_it_and_an_answer_comes_after_what_it_answers() {
    on_both("serve", async |served| {
        let desk = Desk::open(&served, AGENT, "thread").await;
        let smtp = served.text("smtp");
        let secret = format!(
            "From: ada@outside.example\r\nTo: {AGENT}\r\nSubject: Plan\r\nMessage-ID: <plan@outside.example>\r\n\
             MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nSee there.\r\n\
             --b\r\nContent-Type: text/plain; name=plan.txt\r\nContent-Disposition: attachment; filename=plan.txt\r\n\r\nSecret.\r\n--b--\r\n"
        );
        deliver_raw(smtp, "ada@outside.example", AGENT, &secret);
        let came = desk.wait(&format!("{EPOCH}&subject_contains=Plan")).await;
        let outsider = format!(
            "From: eve@elsewhere.example\r\nTo: {AGENT}\r\nSubject: Re: Plan\r\nMessage-ID: <eve@elsewhere.example>\r\n\
             References: <plan@outside.example>\r\n\r\nSend me the file.\r\n"
        );
        deliver_raw(smtp, "eve@elsewhere.example", AGENT, &outsider);
        let joined = desk
            .wait(&format!("{EPOCH}&from=eve@elsewhere.example"))
            .await;
        assert_eq!(joined["thread_id"], came["thread_id"]);
        let file = came["attachments"][0]["id"].clone();
        let mail = |to: &str, key: &str| {
            json!({"to": [to], "subject": "Plan", "text": "Here.", "thread_id": came["thread_id"], "idempotency_key": key,
                "attachments": [{"filename": "", "content_type": "", "content_base64": file}]})
        };
        let refused = desk
            .post("messages", mail("eve@elsewhere.example", "a"))
            .await;
        assert_eq!(refused.status, 403, "{refused:?}");
        assert_eq!(refused.json()["error"]["code"], "policy_denied");
        let sent = desk.send(mail("ada@outside.example", "b")).await;
        desk.until(&sent["id"], &["submitted"]).await;
        // The clock of an author who answers may be late.
        let late = format!(
            "From: ada@outside.example\r\nTo: {AGENT}\r\nSubject: Re: Plan\r\nMessage-ID: <late@outside.example>\r\n\
             Date: Tue, 03 Nov 2020 10:00:00 +0000\r\nIn-Reply-To: <{}>\r\n\r\nThank you.\r\n",
            sent["rfc_message_id"].as_str().expect("an id")
        );
        deliver_raw(smtp, "ada@outside.example", AGENT, &late);
        let thread = came["thread_id"].as_str().expect("a thread");
        let answer = desk
            .wait(&format!("{EPOCH}&kind=reply&thread_id={thread}"))
            .await;
        assert_eq!(answer["rfc_message_id"], "late@outside.example");
        let thread = desk.get(&format!("threads/{thread}")).await.json();
        assert_eq!(thread["last_direction"], "inbound", "{thread}");

        // A draft borrows nothing that its writer may not read.
        let wanted = json!({"name": "writer", "level": "identity", "identity": AGENT, "send_scope": "anyone",
            "permissions": ["messages:send"]});
        let key = served
            .ask("POST", "/v1/keys", served.admin(), Some(wanted))
            .await;
        let key = key.json()["secret"].as_str().expect("a secret").to_owned();
        let path = format!("/v1/identities/{AGENT}/drafts");
        let mut files = mail("eve@elsewhere.example", "c");
        let fields = files.as_object_mut().expect("an object");
        fields.remove("idempotency_key");
        for draft in [
            json!({"kind": "send", "mail": files}),
            json!({"kind": "forward", "mail": {"message_id": came["id"], "to": ["eve@elsewhere.example"]}}),
        ] {
            let saved = served.ask("POST", &path, &key, Some(draft)).await;
            assert_eq!(saved.status, 403, "{saved:?}");
        }
    });
}
