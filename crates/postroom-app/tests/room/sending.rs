//! To whom a key's mail may go, whatever its holder puts in, edits or repeats.

use bytes::Bytes;
use postroom_app::{
    Actor, Failure, Reply,
    operation::{Surface, find},
};
use postroom_types::{ErrorCode, limit};
use serde_json::{Value, json};

use crate::world::{MAILBOX, PATIENCE, World, mail, on_both};

const ANN: &str = "ann@shore.example";
const EVE: &str = "eve@evil.example";
const EPOCH: &str = "2000-01-01T00:00:00Z";

/// Gives the mailbox somebody who answers for it.
async fn owned(world: &World) {
    let owner = json!({"name": "Olga Owner", "email": "olga@owner.example"});
    world.call("identity_update", json!({"owner": owner})).await;
}

/// The holder of a new key of the mailbox.
async fn agent(world: &World, scope: &str) -> Actor {
    let wanted = json!({
        "name": scope, "level": "identity", "send_scope": scope, "accept_untrusted_send": true,
    });
    let made = world.call("key_create", wanted).await;
    let secret = made["secret"].as_str().expect("a secret");
    world.room.authenticate(secret).await.expect("a key")
}

async fn call(
    world: &World,
    actor: &Actor,
    name: &str,
    arguments: Value,
) -> Result<Value, Failure> {
    let operation = find(name).expect("an operation");
    let context = world.context(Surface::Rest);
    match world
        .room
        .call(actor, operation, arguments, &context)
        .await?
    {
        Reply::Json(answer) => Ok(answer),
        Reply::Bytes(_) => panic!("{name} answers JSON"),
    }
}

async fn ok(world: &World, actor: &Actor, name: &str, arguments: Value) -> Value {
    match call(world, actor, name, arguments.clone()).await {
        Ok(answer) => answer,
        Err(failure) => panic!("{name} {arguments}: {failure} {:?}", failure.details),
    }
}

async fn refused(world: &World, actor: &Actor, name: &str, arguments: Value) -> ErrorCode {
    match call(world, actor, name, arguments.clone()).await {
        Ok(answer) => panic!("{name} {arguments}: {answer}"),
        Err(failure) => failure.code,
    }
}

/// Puts a raw mail in as `actor`.
async fn put_in(world: &World, actor: &Actor, raw: &str, more: Value) {
    let mut arguments = json!({"identity": MAILBOX});
    for (name, value) in more.as_object().expect("an object") {
        arguments[name] = value.clone();
    }
    let operation = find("inbound_raw").expect("an operation");
    let context = world.context(Surface::Rest);
    let body = Bytes::from(raw.to_owned());
    let put = world
        .room
        .call_with_body(actor, operation, arguments, body, &context)
        .await;
    put.expect("put in");
}

/// The message with such a subject, once it is there.
async fn seen(world: &World, subject: &str) -> Value {
    let wait = json!({"since": EPOCH, "subject_contains": subject, "timeout_seconds": 60});
    let waited = world.call("mail_wait", wait).await;
    assert_eq!(waited["timed_out"], false, "{subject}");
    waited["message"].clone()
}

fn from_eve(id: &str, subject: &str) -> String {
    format!(
        "From: Eve <{EVE}>\r\nReply-To: drop@evil.example\r\nTo: {MAILBOX}\r\nCc: mallory@evil.example\r\n\
         Subject: {subject}\r\nMessage-ID: <{id}@evil.example>\r\nReferences: <m1@shore.example>\r\n\r\nHi\r\n"
    )
}

#[test]
fn an_agent_that_puts_in_a_mail_may_write_to_nobody_for_it() {
    on_both(async |world| {
        owned(&world).await;
        world.receive(&mail(1, "Before", "x", "")).await;
        let ann = seen(&world, "Before").await;
        let (narrow, known) = (agent(&world, "thread").await, agent(&world, "known").await);
        let tries = |message: &Value, key: &str| {
            [
                (
                    "mail_send",
                    json!({"to": [EVE], "subject": "S", "text": "T", "thread_id": message["thread_id"], "idempotency_key": format!("a{key}")}),
                ),
                (
                    "mail_send",
                    json!({"to": ["mallory@evil.example"], "subject": "S", "text": "T", "thread_id": message["thread_id"], "idempotency_key": format!("b{key}")}),
                ),
                (
                    "mail_reply",
                    json!({"message_id": message["id"], "text": "T", "idempotency_key": format!("c{key}")}),
                ),
                (
                    "mail_forward",
                    json!({"message_id": message["id"], "to": [EVE], "idempotency_key": format!("d{key}")}),
                ),
                (
                    "mail_forward",
                    json!({"message_id": ann["id"], "to": [EVE], "idempotency_key": format!("e{key}")}),
                ),
            ]
        };
        for (place, more) in [json!({}), json!({"archive": true})]
            .into_iter()
            .enumerate()
        {
            let subject = format!("Forged {place}");
            put_in(
                &world,
                &narrow,
                &from_eve(&subject.replace(' ', ""), &subject),
                more,
            )
            .await;
            let found = match place {
                0 => seen(&world, &subject).await,
                _ => {
                    world.indexed().await;
                    let hits = world.search(&subject).await;
                    let id = hits["hits"][0]["message_id"].clone();
                    assert!(id.is_string(), "{hits}");
                    world
                        .call("mail_get_message", json!({"message_id": id}))
                        .await
                }
            };
            assert_eq!(found["thread_id"], ann["thread_id"], "it joins the thread");
            for actor in [&narrow, &known] {
                for (name, arguments) in tries(&found, &format!("{place}")) {
                    let code = refused(&world, actor, name, arguments.clone()).await;
                    assert_eq!(code, ErrorCode::PolicyDenied, "{name} {arguments}");
                }
            }
        }
        let answer = json!({"message_id": ann["id"], "text": "T", "idempotency_key": "ann"});
        ok(&world, &narrow, "mail_reply", answer).await;
        // What the tenant's own key puts in counts as what came in.
        let tenant = Actor::local_tenant(world.tenant());
        put_in(&world, &tenant, &from_eve("real", "Real"), json!({})).await;
        let real = seen(&world, "Real").await;
        let [direct, copied, ..] = tries(&real, "real");
        for (name, arguments) in [direct, copied] {
            ok(&world, &narrow, name, arguments).await;
        }
        world.room.close().await;
    });
}

#[test]
fn a_report_that_an_agent_puts_in_is_not_believed() {
    on_both(async |world| {
        owned(&world).await;
        let tenant = Actor::local_tenant(world.tenant());
        let send = json!({"identity": MAILBOX, "to": [ANN], "subject": "S", "text": "T", "idempotency_key": "a"});
        let sent = ok(&world, &tenant, "mail_send", send).await;
        let status = async || {
            let id = json!({"message_id": sent["id"]});
            world.call("mail_get_message", id).await["status"].clone()
        };
        let until = async |wanted: &str| {
            let reached = tokio::time::timeout(PATIENCE, async {
                while status().await != wanted {
                    tokio::task::yield_now().await;
                }
            });
            reached.await.expect(wanted);
        };
        until("submitted").await;
        let report = |subject: &str| {
            format!(
                "From: MAILER-DAEMON@shore.example\r\nTo: {MAILBOX}\r\nSubject: {subject}\r\nMIME-Version: 1.0\r\n\
                 Message-ID: <{subject}@shore.example>\r\nAuto-Submitted: auto-replied\r\n\
                 Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n--b\r\n\
                 Content-Type: text/plain\r\n\r\nx\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n\
                 Reporting-MTA: dns; shore.example\r\n\r\nFinal-Recipient: rfc822; {ANN}\r\nAction: failed\r\n\
                 Status: 5.1.1\r\n\r\n--b\r\nContent-Type: text/rfc822-headers\r\n\r\nMessage-ID: <{}>\r\n\r\n--b--\r\n",
                sent["rfc_message_id"].as_str().expect("an id")
            )
        };
        let narrow = agent(&world, "thread").await;
        let null = json!({"mail_from": ""});
        put_in(&world, &narrow, &report("Forged"), null.clone()).await;
        seen(&world, "Forged").await;
        assert_eq!(status().await, "submitted");
        put_in(&world, &tenant, &report("Told"), null).await;
        until("bounced").await;
        world.room.close().await;
    });
}

#[test]
fn a_mail_is_handed_on_to_those_on_it_and_not_to_all_of_the_thread() {
    on_both(async |world| {
        owned(&world).await;
        world
            .receive(&mail(1, "Plans", "x", "Cc: cy@shore.example\r\n"))
            .await;
        let plans = seen(&world, "Plans").await;
        world.receive(&from_eve("joins", "Hello")).await;
        let hello = seen(&world, "Hello").await;
        assert_eq!(plans["thread_id"], hello["thread_id"]);
        let narrow = agent(&world, "thread").await;
        for (place, (message, to, allowed)) in [
            (&plans, ANN, true),
            (&plans, "ann+work@shore.example", true),
            (&plans, "cy@shore.example", true),
            (&plans, EVE, false),
            (&plans, "mallory@evil.example", false),
            (&hello, EVE, true),
            (&hello, "mallory@evil.example", true),
            (&hello, ANN, false),
        ]
        .into_iter()
        .enumerate()
        {
            let forward = json!({"message_id": message["id"], "to": [to], "idempotency_key": format!("f{place}")});
            let answer = call(&world, &narrow, "mail_forward", forward).await;
            match allowed {
                true => assert!(answer.is_ok(), "{to} {answer:?}"),
                false => assert_eq!(answer.expect_err(to).code, ErrorCode::PolicyDenied),
            }
        }
        world.room.close().await;
    });
}

async fn draft(world: &World, actor: &Actor, mail: Value) -> Value {
    let wanted = json!({"identity": MAILBOX, "kind": "send", "mail": mail});
    ok(world, actor, "draft_create", wanted).await
}

fn sending(draft: &Value, key: &str) -> Value {
    json!({"identity": MAILBOX, "draft_id": draft["id"], "idempotency_key": key})
}

#[test]
fn a_draft_that_many_send_at_once_is_one_mail() {
    on_both(async |world| {
        owned(&world).await;
        let wide = agent(&world, "anyone").await;
        let kept = draft(
            &world,
            &wide,
            json!({"to": [ANN], "subject": "S", "text": "T"}),
        )
        .await;
        let answers = futures_util::future::join_all((0..30).map(|n| {
            // Some of them repeat the same call.
            let arguments = sending(&kept, &format!("key {}", n % 15));
            call(&world, &wide, "draft_send", arguments)
        }))
        .await;
        let mut sent = std::collections::BTreeSet::new();
        for answer in answers {
            match answer {
                Ok(answer) => {
                    sent.insert(answer["id"].as_str().expect("an id").to_owned());
                }
                Err(failure) => assert_eq!(failure.code, ErrorCode::DraftNotFound, "{failure}"),
            }
        }
        assert_eq!(sent.len(), 1);
        let outbox = world.call("outbox_list", json!({})).await;
        assert_eq!(outbox["data"].as_array().expect("a list").len(), 1);
        world.room.close().await;
    });
}

#[test]
fn a_draft_is_sent_as_it_was_read_or_as_it_is() {
    on_both(async |world| {
        owned(&world).await;
        let wide = agent(&world, "anyone").await;
        let kept = draft(
            &world,
            &wide,
            json!({"to": [ANN], "subject": "Old", "text": "T"}),
        )
        .await;
        let change =
            json!({"identity": MAILBOX, "draft_id": kept["id"], "mail": {"subject": "New"}});
        let changed = ok(&world, &wide, "draft_update", change).await;
        assert_ne!(kept["etag"], changed["etag"]);
        let mut stale = sending(&kept, "a");
        stale["etag"] = kept["etag"].clone();
        let code = refused(&world, &wide, "draft_send", stale.clone()).await;
        assert_eq!(code, ErrorCode::Conflict);
        stale["etag"] = json!("x");
        let code = refused(&world, &wide, "draft_send", stale).await;
        assert_eq!(code, ErrorCode::Conflict);
        // The number of a save names nothing.
        for guess in ["1", "2", ""] {
            let guessed = json!({
                "identity": MAILBOX, "draft_id": kept["id"], "mail": {"subject": "X"}, "etag": guess,
            });
            let code = refused(&world, &wide, "draft_update", guessed).await;
            assert_eq!(code, ErrorCode::Conflict, "{guess}");
        }
        let mut fresh = sending(&kept, "a");
        fresh["etag"] = changed["etag"].clone();
        let sent = ok(&world, &wide, "draft_send", fresh).await;
        assert_eq!(sent["subject"], "New");

        // Each save that was answered while the draft was sent is in the mail.
        let kept = draft(
            &world,
            &wide,
            json!({"to": [ANN], "subject": "0", "text": "T"}),
        )
        .await;
        let saves = async {
            let mut last = "0".to_owned();
            for n in 1..20 {
                let subject = n.to_string();
                let change = json!({"identity": MAILBOX, "draft_id": kept["id"], "mail": {"subject": subject}});
                match call(&world, &wide, "draft_update", change).await {
                    Ok(_) => last = subject,
                    Err(failure) => {
                        assert_eq!(failure.code, ErrorCode::DraftNotFound, "{failure}");
                        break;
                    }
                }
            }
            last
        };
        let (last, sent) = tokio::join!(
            saves,
            call(&world, &wide, "draft_send", sending(&kept, "b"))
        );
        match sent {
            Ok(sent) => assert_eq!(sent["subject"], last.as_str()),
            Err(failure) => assert_eq!(failure.code, ErrorCode::Conflict, "{failure}"),
        }
        world.room.close().await;
    });
}

#[test]
fn what_an_agent_writes_into_a_draft_is_seen_and_goes_to_no_stranger() {
    on_both(async |world| {
        owned(&world).await;
        let (narrow, wide) = (agent(&world, "thread").await, agent(&world, "anyone").await);
        let mail = json!({"to": ["bob@far.example"], "subject": "S", "text": "T"});
        let kept = draft(&world, &wide, mail).await;
        let by = |actor: &Actor| json!(actor.key.expect("a key").to_string());
        assert_eq!(
            (&kept["updated_by"], &kept["send_scope"]),
            (&by(&wide), &json!("anyone"))
        );
        let of = json!({"identity": MAILBOX, "draft_id": kept["id"], "mail": {"bcc": [EVE]}});
        let touched = ok(&world, &narrow, "draft_update", of.clone()).await;
        assert_eq!(
            (&touched["updated_by"], &touched["send_scope"]),
            (&by(&narrow), &json!("thread"))
        );
        let code = refused(&world, &wide, "draft_send", sending(&kept, "a")).await;
        assert_eq!(code, ErrorCode::PolicyDenied);
        // A save of who has not looked changes nothing of that.
        let mut blind = of.clone();
        blind["mail"] = json!({"text": "Other."});
        let saved = ok(&world, &wide, "draft_update", blind).await;
        assert_eq!(saved["send_scope"], "thread");
        let code = refused(&world, &wide, "draft_send", sending(&kept, "a")).await;
        assert_eq!(code, ErrorCode::PolicyDenied);
        let mut read = of;
        read["mail"] = json!({"bcc": null});
        read["etag"] = saved["etag"].clone();
        let saved = ok(&world, &wide, "draft_update", read).await;
        assert_eq!(saved["send_scope"], "anyone");
        let code = refused(&world, &narrow, "draft_send", sending(&kept, "a")).await;
        assert_eq!(code, ErrorCode::PolicyDenied);
        let sent = ok(&world, &wide, "draft_send", sending(&kept, "a")).await;
        let deliveries = sent["deliveries"].as_array().expect("a list");
        assert_eq!(deliveries.len(), 1, "{sent}");
        world.room.close().await;
    });
}

#[test]
fn mails_of_ours_in_a_row_are_no_loop_and_a_header_silences_nobody() {
    on_both(async |world| {
        owned(&world).await;
        let hop = "X-Postroom-Hop: 9\r\n";
        world.receive(&mail(1, "Ask", "x", hop)).await;
        let asked = seen(&world, "Ask").await;
        let narrow = agent(&world, "thread").await;
        let answer = json!({"message_id": asked["id"], "text": "T", "idempotency_key": "r"});
        let answered = ok(&world, &narrow, "mail_reply", answer).await;
        for n in 0..12 {
            let more = json!({"to": [ANN], "subject": "S", "text": "T", "thread_id": answered["thread_id"], "idempotency_key": format!("n{n}")});
            ok(&world, &narrow, "mail_send", more).await;
        }
        // What strangers say that they answered stops nobody, however many they are.
        for n in 2..14 {
            let more = format!("{hop}References: <m1@shore.example>\r\n");
            let subject = format!("Again {n}.");
            world.receive(&mail(n, &subject, "x", &more)).await;
            let again = seen(&world, &subject).await;
            assert_eq!(again["thread_id"], asked["thread_id"]);
            let answer = json!({"message_id": again["id"], "text": "T", "idempotency_key": format!("again{n}"), "kind": "transactional"});
            if n == 2 || n == 13 {
                let more = json!({"to": [ANN], "subject": "S", "text": "T", "thread_id": again["thread_id"], "idempotency_key": format!("more{n}")});
                ok(&world, &narrow, "mail_send", more).await;
            }
            if n == 13 {
                ok(&world, &narrow, "mail_reply", answer).await;
            }
        }
        let thread = json!({"thread_id": asked["thread_id"]});
        let thread = world.call("mail_get_thread", thread).await;
        assert_eq!(thread["thread"]["hold"], Value::Null, "{thread}");
        // Mails that do answer each other stop all the same.
        let mut stopped = false;
        for n in 14..40 {
            let more = format!(
                "X-Postroom-Hop: {}\r\nReferences: <m1@shore.example>\r\n",
                n
            );
            let subject = format!("Round {n}.");
            world.receive(&mail(n, &subject, "x", &more)).await;
            let again = seen(&world, &subject).await;
            let answer = json!({"message_id": again["id"], "text": "T", "idempotency_key": format!("round{n}")});
            match call(&world, &narrow, "mail_reply", answer).await {
                Ok(_) => {}
                Err(failure) => {
                    assert_eq!(failure.code, ErrorCode::LoopDetected);
                    stopped = true;
                    break;
                }
            }
        }
        assert!(stopped);
        world.room.close().await;
    });
}

#[test]
fn a_detail_leads_past_no_suppression() {
    on_both(async |world| {
        owned(&world).await;
        let gone = json!({"address": "ann@gone.example"});
        let tenant = Actor::local_tenant(world.tenant());
        ok(&world, &tenant, "suppression_add", gone).await;
        let wide = agent(&world, "anyone").await;
        for (to, status) in [
            ("ann@gone.example", "suppressed"),
            ("ann+1@gone.example", "suppressed"),
            ("bob+1@gone.example", "queued"),
        ] {
            let send = json!({"to": [to], "subject": "S", "text": "T", "idempotency_key": to});
            let sent = ok(&world, &wide, "mail_send", send).await;
            assert_eq!(sent["deliveries"][0]["status"], status, "{to}");
        }
        world.room.close().await;
    });
}

#[test]
fn a_blind_copy_is_answered_to_its_author_alone() {
    on_both(async |world| {
        owned(&world).await;
        let to = |number: usize, to: &str, more: &str| {
            let line = format!("To: Desk <{MAILBOX}>");
            mail(number, &format!("Copy {number}."), "x", more).replace(&line, &format!("To: {to}"))
        };
        let desk_too = format!("bo@shore.example, {MAILBOX}");
        for (number, (to, all)) in [
            (to(1, "bo@shore.example", ""), &[ANN][..]),
            (
                to(2, "bo@shore.example", "Cc: cy@shore.example\r\n"),
                &[ANN][..],
            ),
            (to(3, &desk_too, ""), &[ANN, "bo@shore.example"][..]),
            // A list names nobody to whom it writes.
            (
                to(4, "all@shore.example", "List-Id: <all.shore.example>\r\n"),
                &[ANN, "all@shore.example"][..],
            ),
            (
                to(
                    5,
                    "bo@shore.example",
                    "List-Unsubscribe: <mailto:off@shore.example>\r\nPrecedence: bulk\r\n",
                ),
                &[ANN][..],
            ),
        ]
        .into_iter()
        .enumerate()
        {
            world.receive(&to).await;
            let came = seen(&world, &format!("Copy {}.", number + 1)).await;
            let answer = json!({
                "message_id": came["id"], "reply_all": true, "text": "T", "idempotency_key": format!("k{number}"),
            });
            let answered = world.call("mail_reply", answer).await;
            let reached: Vec<_> = answered["deliveries"]
                .as_array()
                .expect("a list")
                .iter()
                .filter_map(|one| one["address"].as_str())
                .collect();
            assert_eq!(reached, all, "{answered}");
        }
        world.room.close().await;
    });
}

#[test]
fn a_source_of_mail_whose_secret_an_agent_knows_vouches_for_nobody() {
    on_both(async |world| {
        let tenant = Actor::local_tenant(world.tenant());
        let wanted = json!({
            "name": "k", "level": "identity", "permissions": ["sources:manage", "messages:read"],
        });
        let made = world.call("key_create", wanted).await;
        let secret = made["secret"].as_str().expect("a secret");
        let agent = world.room.authenticate(secret).await.expect("a key");
        let source = |kind: &str| json!({"source_type": kind, "target_queue": "mail"});
        let trust = |source: &Value| source["trust_mode"].as_str().expect("a word").to_owned();
        for (kind, own, theirs) in [
            ("cloudflare-email", "agent", "signed"),
            ("postmark", "agent", "token"),
            ("resend", "agent", "signed"),
            // What carries no mail names nobody who could be written to.
            ("stripe", "signed", "signed"),
        ] {
            let made = ok(&world, &agent, "source_create", source(kind)).await;
            assert_eq!(trust(&made), own, "{kind}");
            let mut of_mailbox = source(kind);
            of_mailbox["identity"] = json!(MAILBOX);
            let made = ok(&world, &tenant, "source_create", of_mailbox).await;
            assert_eq!(trust(&made), theirs, "{kind}");
            // Whoever is shown the next secret knows it.
            let id = json!({"source_id": made["source_id"]});
            ok(&world, &agent, "source_rotate", id.clone()).await;
            ok(&world, &tenant, "source_rotate", id).await;
            let listed = ok(&world, &tenant, "source_list", json!({})).await;
            let rotated = listed["sources"].as_array().expect("a list").iter();
            let rotated = rotated.filter(|one| one["source_id"] == made["source_id"]);
            let rotated: Vec<String> = rotated.map(trust).collect();
            assert_eq!(rotated, [own], "{kind}");
        }
        world.room.close().await;
    });
}

#[test]
fn too_many_recipients_have_one_code_wherever_the_bound_is() {
    on_both(async |world| {
        owned(&world).await;
        let wide = agent(&world, "anyone").await;
        for (count, max) in [(11, 10), (50, 49), (60, 49)] {
            let to: Vec<String> = (0..count).map(|n| format!("a{n}@far.example")).collect();
            let send = json!({"to": to, "subject": "S", "text": "T", "idempotency_key": "k"});
            let failure = call(&world, &wide, "mail_send", send)
                .await
                .expect_err("too many");
            assert_eq!(failure.code, ErrorCode::TooManyRecipients, "{count}");
            assert_eq!(failure.details["max"], max, "{count}");
        }
        // Something else is wrong as well.
        let to: Vec<String> = (0..60).map(|n| format!("a{n}@far.example")).collect();
        let send = json!({"to": to, "text": "T", "idempotency_key": "k"});
        let code = refused(&world, &wide, "mail_send", send).await;
        assert_eq!(code, ErrorCode::InvalidRequest);
        world.room.close().await;
    });
}

#[test]
fn a_mailbox_whose_mail_comes_back_too_often_is_paused_until_somebody_resumes_it() {
    on_both(async |world| {
        owned(&world).await;
        let tenant = Actor::local_tenant(world.tenant());
        let bounced = async |n: usize| {
            let to = format!("a@gone{n}.example");
            let send = json!({"to": [to], "subject": "S", "text": "T", "idempotency_key": format!("s{n}")});
            let sent = world.call("mail_send", send).await;
            let id = json!({"message_id": sent["id"]});
            let until = async |wanted: &str| {
                let reached = tokio::time::timeout(PATIENCE, async {
                    while world.call("mail_get_message", id.clone()).await["status"] != wanted {
                        tokio::task::yield_now().await;
                    }
                });
                reached.await.expect(wanted);
            };
            until("submitted").await;
            let report = format!(
                "From: MAILER-DAEMON@gone.example\r\nTo: {MAILBOX}\r\nSubject: Returned {n}.\r\nMIME-Version: 1.0\r\n\
                 Message-ID: <r{n}@gone.example>\r\nAuto-Submitted: auto-replied\r\n\
                 Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n--b\r\n\
                 Content-Type: text/plain\r\n\r\nx\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n\
                 Reporting-MTA: dns; gone.example\r\n\r\nFinal-Recipient: rfc822; {to}\r\nAction: failed\r\n\
                 Status: 5.1.1\r\n\r\n--b\r\nContent-Type: text/rfc822-headers\r\n\r\nMessage-ID: <{}>\r\n\r\n--b--\r\n",
                sent["rfc_message_id"].as_str().expect("an id")
            );
            put_in(&world, &tenant, &report, json!({"mail_from": ""})).await;
            until("bounced").await;
            sent
        };
        let mut last = Value::Null;
        for n in 0..=limit::BOUNCES {
            last = bounced(n).await;
        }
        let paused = tokio::time::timeout(PATIENCE, async {
            while world.call("identity_get", json!({})).await["status"] != "paused" {
                tokio::task::yield_now().await;
            }
        });
        paused.await.expect("paused");
        let send = json!({"to": [ANN], "subject": "S", "text": "T", "idempotency_key": "more"});
        let failure = world
            .try_call("mail_send", send.clone())
            .await
            .expect_err("paused");
        assert_eq!(failure.code, ErrorCode::IdentityPaused);
        assert_eq!(failure.details["reason"], "abuse_threshold");
        world
            .call("identity_update", json!({"status": "active"}))
            .await;
        world.call("mail_send", send).await;
        // What was looked at does not count again.
        bounced(limit::BOUNCES + 1).await;
        assert_eq!(
            world.call("identity_get", json!({})).await["status"],
            "active"
        );

        // A report is in the thread of its mail, and nobody has to read it or is waited for by it.
        let thread = json!({"thread_id": last["thread_id"]});
        let thread = world.call("mail_get_thread", thread).await;
        let kinds = thread["messages"].as_array().expect("a list").iter();
        let kinds: Vec<_> = kinds
            .map(|one| one["kind"].as_str().expect("a word"))
            .collect();
        assert_eq!(kinds, ["transactional", "dsn"], "{thread}");
        let unread = world
            .call("mail_list_threads", json!({"is_unread": true}))
            .await;
        assert_eq!(unread["data"], json!([]));
        let wait = json!({"since": EPOCH, "timeout_seconds": 1});
        assert_eq!(world.call("mail_wait", wait).await["timed_out"], true);
        let wait = json!({"since": EPOCH, "from": "@gone.example", "timeout_seconds": 60});
        let told = world.call("mail_wait", wait).await;
        assert_eq!(told["message"]["kind"], "dsn");
        // By what came back it is found.
        let outbox = json!({"state": "bounced", "limit": 100});
        let found = ok(&world, &tenant, "outbox_list", outbox).await;
        assert_eq!(
            found["data"].as_array().expect("a list").len(),
            limit::BOUNCES + 2
        );
        let outbox = json!({"state": "delivered"});
        let found = ok(&world, &tenant, "outbox_list", outbox).await;
        assert_eq!(found["data"], json!([]));
        world.room.close().await;
    });
}
