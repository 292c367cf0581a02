//! Who may call what, and what stays unsaid.

use postroom_app::{
    Actor,
    operation::{Surface, TABLE, Toolset, listed},
    room::WebhookRequest,
};
use postroom_types::{ErrorCode, Level, Permission};
use serde_json::{Value, json};

use crate::world::{CANARY, World, arguments, at_level, request_id};

fn lists(actor: &Actor, name: &str) -> bool {
    listed(actor, Toolset::ALL).any(|row| row.name == name)
}

#[tokio::test]
async fn without_its_permission_an_operation_is_not_listed_and_not_called() {
    let world = World::new().await;
    for row in TABLE {
        for level in [Level::Identity, Level::Tenant, Level::Platform] {
            let mut actor = at_level(&world, level);
            let reaches = row.levels.contains(&level);
            assert_eq!(
                lists(&actor, row.name),
                reaches && row.is_tool(),
                "{} {level:?}",
                row.name
            );
            if reaches {
                actor.permissions.retain(|held| *held != row.permission);
            }
            assert!(!lists(&actor, row.name), "{}", row.name);
            let failure = world
                .call(
                    &actor,
                    row.name,
                    arguments(row.name, &world.own),
                    Surface::Rest,
                )
                .await
                .expect_err(row.name);
            if reaches {
                assert_eq!(failure.code, ErrorCode::PermissionDenied, "{}", row.name);
                assert_eq!(failure.details["required"], row.permission.as_str());
            } else {
                assert_eq!(
                    failure.code,
                    ErrorCode::ScopeDenied,
                    "{} {level:?}",
                    row.name
                );
            }
        }
    }
}

/// For each argument that names a thing: one of another tenant, one of a sibling mailbox, one that
/// is nowhere.
fn names(world: &World) -> Vec<(&'static str, Vec<Value>, Value)> {
    let (sibling, foreign) = (&world.sibling, &world.foreign);
    let both =
        |of_sibling: &String, of_foreign: &String| vec![json!(of_sibling), json!(of_foreign)];
    vec![
        (
            "thread_id",
            both(&sibling.thread, &foreign.thread),
            json!("thr_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ),
        (
            "message_id",
            both(&sibling.message, &foreign.message),
            json!("msg_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ),
        (
            "attachment_id",
            both(&sibling.attachment, &foreign.attachment),
            json!("att_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ),
        (
            "address_id",
            both(&sibling.address_id, &foreign.address_id),
            json!("adr_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ),
        (
            "tenant_id",
            vec![json!(foreign.tenant)],
            json!("ten_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ),
        (
            "key_id",
            vec![json!(foreign.key)],
            json!("key_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ),
        (
            "id",
            vec![json!(foreign.todos.waiting), json!(foreign.todos.kept)],
            json!("tod_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ),
        (
            "source_id",
            vec![json!(foreign.source)],
            json!("src_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ),
        (
            "draft_id",
            both(&sibling.draft, &foreign.draft),
            json!("dft_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ),
        (
            "session_id",
            vec![json!(foreign.session)],
            json!("ses_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ),
        (
            "identity_id",
            vec![json!(foreign.identity)],
            json!("idn_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ),
        (
            "identity",
            vec![json!(foreign.identity)],
            json!("idn_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ),
        (
            "identity",
            vec![json!(foreign.address)],
            json!("nobody@nowhere.example"),
        ),
    ]
}

#[tokio::test]
async fn what_is_anothers_answers_byte_for_byte_as_what_is_missing() {
    let world = World::new().await;
    let mut compared = 0;
    for row in TABLE {
        let properties = &row.input_schema()["properties"];
        for (argument, others, missing) in names(&world) {
            // An event's id is a number, and has a test of its own.
            let named = properties.get(argument);
            // A list through a source that is out of reach is as empty as through none.
            let filter = row.name == "list_webhook_events" && argument == "source_id";
            if filter || named.is_none_or(|schema| schema["type"] == "integer") {
                continue;
            }
            for level in [Level::Identity, Level::Tenant] {
                let actor = at_level(&world, level);
                if !row.levels.contains(&level) {
                    continue;
                }
                let answer = async |value: &Value| {
                    let mut arguments = arguments(row.name, &world.own);
                    if row.name == "mail_update_labels" && argument == "thread_id" {
                        arguments
                            .as_object_mut()
                            .expect("object")
                            .remove("message_id");
                    }
                    arguments[argument] = value.clone();
                    let failure = world
                        .call(&actor, row.name, arguments, Surface::Tool)
                        .await
                        .err()
                        .unwrap_or_else(|| panic!("{} reached {argument} {value}", row.name));
                    failure.tool_envelope(request_id()).to_string()
                };
                let expected = answer(&missing).await;
                assert!(
                    expected.contains("not_found"),
                    "{} {argument}: {expected}",
                    row.name
                );
                for other in &others {
                    let found = answer(other).await;
                    assert_eq!(found, expected, "{} {argument}", row.name);
                    assert!(!found.contains(CANARY));
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 40, "{compared} compared");
}

#[tokio::test]
async fn an_identity_key_acts_as_itself_only_and_need_not_say_so() {
    let world = World::new().await;
    for named in [
        json!({}),
        json!({"identity": world.own.identity}),
        json!({"identity": world.own.address}),
    ] {
        assert!(
            world
                .call(&world.agent, "mail_list_threads", named, Surface::Tool)
                .await
                .is_ok()
        );
    }
    for named in [&world.sibling.identity, &world.sibling.address] {
        let failure = world
            .call(
                &world.agent,
                "mail_list_threads",
                json!({"identity": named}),
                Surface::Tool,
            )
            .await
            .expect_err("a sibling");
        assert_eq!(failure.code, ErrorCode::IdentityNotFound);
    }
}

#[tokio::test]
async fn a_wider_key_must_name_the_mailbox() {
    let world = World::new().await;
    for actor in [&world.tenant, &world.platform] {
        let failure = world
            .call(actor, "mail_list_threads", json!({}), Surface::Tool)
            .await
            .expect_err("no identity");
        assert_eq!(failure.code, ErrorCode::InvalidRequest);
        assert_eq!(failure.details["errors"][0]["path"], "identity");
        let named = json!({"identity": world.own.address});
        assert!(
            world
                .call(actor, "mail_list_threads", named, Surface::Tool)
                .await
                .is_ok()
        );
    }
}

#[tokio::test]
async fn a_whole_tenant_search_is_denied_to_an_identity_key() {
    let world = World::new().await;
    let failure = world
        .call(
            &world.agent,
            "mail_search",
            json!({"q": "deposit", "scope": "tenant"}),
            Surface::Tool,
        )
        .await
        .expect_err("denied");
    assert_eq!(failure.code, ErrorCode::ScopeDenied);
}

#[tokio::test]
async fn a_suspended_tenant_is_told_so_before_anything_else() {
    let world = World::new().await;
    let status = |status: &str| json!({"tenant_id": world.own.tenant, "status": status});
    world
        .ok(&world.platform, "tenant_update", status("suspended"))
        .await;
    let failure = world
        .call(
            &world.agent,
            "mail_get_message",
            json!({"nonsense": 1}),
            Surface::Tool,
        )
        .await
        .expect_err("suspended");
    assert_eq!(failure.code, ErrorCode::TenantSuspended);
    world
        .ok(&world.platform, "tenant_update", status("active"))
        .await;
    assert!(
        world
            .call(&world.agent, "mail_list_threads", json!({}), Surface::Tool)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn keys_that_are_not_known_answer_alike_and_only_a_right_secret_learns_more() {
    let world = World::new().await;
    let mut wrong_secret = world.agent_token.clone();
    let last = wrong_secret.pop().expect("a character");
    wrong_secret.push(if last == '0' { '1' } else { '0' });
    let unknown = format!("prk_live_{}_{}", "0".repeat(12), "0".repeat(52));
    let other_mode = world.agent_token.replacen("live", "test", 1);
    for token in ["", "nonsense", &unknown, &wrong_secret, &other_mode] {
        let failure = world.room.authenticate(token).await.expect_err(token);
        assert_eq!(failure, ErrorCode::Unauthenticated.into(), "{token}");
    }
    world
        .ok(
            &world.tenant,
            "key_rotate",
            json!({"key_id": world.own.key, "overlap_hours": 0}),
        )
        .await;
    let failure = world
        .room
        .authenticate(&world.agent_token)
        .await
        .expect_err("overlap ended");
    assert_eq!(failure, ErrorCode::Unauthenticated.into());
}

#[tokio::test]
async fn a_revoked_key_ends_with_its_next_request() {
    let world = World::new().await;
    assert!(world.room.authenticate(&world.agent_token).await.is_ok());
    world
        .ok(
            &world.tenant,
            "key_revoke",
            json!({"key_id": world.own.key}),
        )
        .await;
    let failure = world
        .room
        .authenticate(&world.agent_token)
        .await
        .expect_err("revoked");
    assert_eq!(failure.code, ErrorCode::KeyRevoked);
}

#[tokio::test]
async fn a_key_of_some_queues_reaches_no_others_through_keys_or_their_setup() {
    let world = World::new().await;
    let mut narrow = world.tenant.clone();
    narrow.grants.queues = Some(vec!["only".to_owned()]);
    let refused = async |name: &str, arguments: Value| {
        world
            .call(&narrow, name, arguments, Surface::Rest)
            .await
            .expect_err(name)
            .code
    };
    let rotate = json!({"key_id": world.own.key, "overlap_hours": 0});
    assert_eq!(
        refused("key_rotate", rotate).await,
        ErrorCode::KeyScopeExceeded
    );
    assert!(world.room.authenticate(&world.agent_token).await.is_ok());
    for change in [json!({"paused": true}), json!({"max_in_flight": 1})] {
        let mut arguments = change;
        arguments["queue"] = json!("other");
        assert_eq!(
            refused("queue_update", arguments).await,
            ErrorCode::Forbidden
        );
    }
    world
        .ok(
            &narrow,
            "queue_update",
            json!({"queue": "only", "paused": true}),
        )
        .await;
}

#[tokio::test]
async fn no_key_makes_or_rotates_a_wider_one() {
    let world = World::new().await;
    let mut narrow = world.tenant.clone();
    narrow.permissions = vec![Permission::KeysManage, Permission::SearchRead];
    let create = |level: &str, permission: &str| json!({"name": "k", "level": level, "permissions": [permission]});
    let refused = async |actor: &Actor, name: &str, arguments: Value| {
        world
            .call(actor, name, arguments, Surface::Rest)
            .await
            .expect_err(name)
            .code
    };
    assert_eq!(
        refused(&narrow, "key_create", create("tenant", "messages:read")).await,
        ErrorCode::KeyScopeExceeded
    );
    assert_eq!(
        refused(
            &world.tenant,
            "key_create",
            create("platform", "search:read")
        )
        .await,
        ErrorCode::KeyScopeExceeded
    );
    let wide = world
        .ok(
            &world.tenant,
            "key_create",
            create("tenant", "messages:read"),
        )
        .await;
    assert_eq!(
        refused(&narrow, "key_rotate", json!({"key_id": wide["id"]})).await,
        ErrorCode::KeyScopeExceeded
    );
    assert!(
        world
            .call(
                &narrow,
                "key_create",
                create("tenant", "search:read"),
                Surface::Rest
            )
            .await
            .is_ok()
    );
    let failure = world
        .call(
            &world.tenant,
            "key_create",
            json!({"name": "k", "level": "identity", "identity": world.own.address, "permissions": ["keys:manage"]}),
            Surface::Rest,
        )
        .await
        .expect_err("not at this level");
    assert_eq!(
        failure.details["reason"],
        "permission_not_allowed_for_level"
    );
}

#[tokio::test]
async fn no_key_makes_or_rotates_one_that_writes_to_more_people() {
    let world = World::new().await;
    let create = |more: Value| {
        let mut wanted = json!({
            "name": "k", "level": "tenant", "permissions": ["keys:manage", "messages:send"],
        });
        for (name, value) in more.as_object().expect("an object") {
            wanted[name] = value.clone();
        }
        wanted
    };
    let of = async |made: &Value| {
        let secret = made["secret"].as_str().expect("a secret");
        world.room.authenticate(secret).await.expect("a key")
    };
    let anyone = world
        .ok(&world.tenant, "key_create", create(json!({})))
        .await;
    assert_eq!(anyone["send_scope"], "anyone");
    for (own, asked, fine) in [
        ("thread", json!({}), false),
        ("thread", json!({"send_scope": "anyone"}), false),
        ("thread", json!({"send_scope": "known"}), false),
        ("thread", json!({"send_scope": "thread"}), true),
        // One that sends nothing has no scope.
        ("thread", json!({"permissions": ["keys:manage"]}), true),
        ("known", json!({}), false),
        ("known", json!({"send_scope": "known"}), true),
        ("anyone", json!({}), true),
    ] {
        let made = create(json!({"send_scope": own}));
        let made = world.ok(&world.tenant, "key_create", made).await;
        let actor = of(&made).await;
        let answer = world
            .call(&actor, "key_create", create(asked.clone()), Surface::Rest)
            .await;
        match fine {
            true => assert!(answer.is_ok(), "{own} {asked} {answer:?}"),
            false => assert_eq!(
                answer.expect_err("wider").code,
                ErrorCode::KeyScopeExceeded,
                "{own} {asked}"
            ),
        }
        // What an older key has without having been told so is no less.
        let rotate = json!({"key_id": anyone["id"]});
        let rotated = world
            .call(&actor, "key_rotate", rotate, Surface::Rest)
            .await;
        match own {
            "anyone" => assert!(rotated.is_ok(), "{rotated:?}"),
            _ => assert_eq!(
                rotated.expect_err("wider").code,
                ErrorCode::KeyScopeExceeded
            ),
        }
    }
    let test = create(json!({"mode": "test"}));
    let test = world.ok(&world.tenant, "key_create", test).await;
    let test = of(&test).await;
    for (name, arguments) in [
        ("key_create", create(json!({}))),
        ("key_rotate", json!({"key_id": anyone["id"]})),
    ] {
        let answer = world.call(&test, name, arguments, Surface::Rest).await;
        let refused = answer.expect_err("a live key");
        assert_eq!(refused.code, ErrorCode::KeyScopeExceeded, "{name}");
    }
    world
        .ok(&test, "key_create", create(json!({"mode": "test"})))
        .await;
}

#[tokio::test]
async fn whoever_reads_any_text_of_strangers_writes_to_anyone_only_when_that_is_meant() {
    let world = World::new().await;
    for permission in Permission::ALL {
        if permission.narrowest_level() > Level::Tenant {
            continue;
        }
        let wanted = json!({
            "name": "k", "level": "tenant", "permissions": ["messages:send", permission],
        });
        let answer = world
            .call(&world.tenant, "key_create", wanted.clone(), Surface::Rest)
            .await;
        let Err(failure) = answer else {
            assert!(!permission.shows_strangers_text(), "{permission}");
            continue;
        };
        assert!(permission.shows_strangers_text(), "{permission} {failure}");
        assert_eq!(failure.details["reason"], "untrusted_send");
        assert_eq!(failure.details["permissions"], json!([permission.as_str()]));
        for (name, value) in [
            ("accept_untrusted_send", json!(true)),
            ("send_scope", json!("known")),
        ] {
            let mut meant = wanted.clone();
            meant[name] = value;
            world.ok(&world.tenant, "key_create", meant).await;
        }
    }
}

#[test]
fn whatever_shows_text_of_strangers_needs_a_permission_that_says_so() {
    for row in TABLE {
        let output = row.output_schema().to_string();
        let shows = [
            "extracted_text",
            "\"snippet\"",
            "\"payload\"",
            "content_notice",
        ]
        .iter()
        .any(|name| output.contains(name));
        // A sent mail is shown without the words of others to whoever may not read them.
        let withheld = output.contains("content_withheld");
        assert!(
            !shows || withheld || row.permission.shows_strangers_text(),
            "{} answers text of strangers and needs {}",
            row.name,
            row.permission
        );
    }
}

#[tokio::test]
async fn the_payload_of_mail_needs_the_right_to_read_messages() {
    let world = World::new().await;
    let mut actor = world.agent.clone();
    let whole = world
        .ok(&actor, "get_webhook_event", json!({"id": world.own.event}))
        .await;
    assert_eq!(whole["payload_encoding"], "utf8");
    assert!(whole["payload"].as_str().expect("text").contains(CANARY));
    actor
        .permissions
        .retain(|held| *held != Permission::MessagesRead);
    let bare = world
        .ok(&actor, "get_webhook_event", json!({"id": world.own.event}))
        .await;
    assert_eq!(bare["payload"], Value::Null);
    assert_eq!(bare["payload_withheld"], "messages:read");
    assert!(!bare.to_string().contains(CANARY));
}

#[tokio::test]
async fn a_foreign_event_answers_as_a_missing_one() {
    let world = World::new().await;
    // Ids are numbers of a tenant, so another's event is met by its number only.
    let answer = async |id: u64| {
        let failure = world
            .call(
                &world.agent,
                "get_webhook_event",
                json!({"id": id}),
                Surface::Tool,
            )
            .await
            .expect_err("not found");
        failure.tool_envelope(request_id()).to_string()
    };
    assert_eq!(answer(world.sibling.event).await, answer(1_000_000).await);
}

#[tokio::test]
async fn the_request_after_the_last_allowed_one_is_told_to_wait() {
    let world = World::new().await;
    for _ in 0..600 {
        world.room.charge(&world.agent).expect("within the limit");
    }
    let failure = world.room.charge(&world.agent).expect_err("past it");
    assert_eq!(failure.code, ErrorCode::RateLimited);
    assert_eq!(failure.details["bucket"], "key");
    assert!(
        failure
            .retry_after_seconds
            .is_some_and(|seconds| (1..=60).contains(&seconds))
    );
    let envelope = failure.tool_envelope(request_id());
    assert_eq!(envelope["error"]["details"]["http_status"], 429);
    assert!(envelope["error"]["details"]["retry_after"].is_u64());
}

#[tokio::test]
async fn searches_have_a_bucket_of_their_own() {
    let world = World::new().await;
    let contacts = async || {
        world
            .call(
                &world.agent,
                "mail_search_contacts",
                json!({"q": "mia"}),
                Surface::Tool,
            )
            .await
    };
    for _ in 0..120 {
        contacts().await.expect("within the limit");
    }
    let failure = contacts().await.expect_err("past it");
    assert_eq!(failure.details["bucket"], "search");
}

/// Everything that an operation answers a key that may do all but read messages.
#[tokio::test]
async fn what_is_in_a_mail_is_in_no_answer_for_who_may_not_read_mail() {
    let world = World::new().await;
    let (blind, marks) = (
        |actor: &Actor| {
            let mut actor = actor.clone();
            actor.permissions.retain(|held| {
                !matches!(
                    held,
                    Permission::MessagesRead
                        | Permission::SearchRead
                        | Permission::AttachmentsRead
                        | Permission::QuarantineReview
                )
            });
            actor
        },
        [CANARY, "deposit"],
    );
    for level in [Level::Identity, Level::Tenant] {
        let actor = blind(&at_level(&world, level));
        for row in TABLE.iter().filter(|row| row.levels.contains(&level)) {
            if !actor.holds(row.permission) || matches!(row.name, "key_create" | "key_rotate") {
                continue;
            }
            for event in [world.own.event, world.own.delivery] {
                let mut arguments = arguments(row.name, &world.own);
                for name in ["id", "event_id"] {
                    let known = &row.input_schema()["properties"][name]["type"];
                    if known == "integer" {
                        arguments[name] = json!(event);
                        if let Some(object) = arguments.as_object_mut() {
                            object.remove("payload");
                        }
                    }
                }
                for surface in [Surface::Tool, Surface::Rest] {
                    let answer = world
                        .call(&actor, row.name, arguments.clone(), surface)
                        .await;
                    let text = match answer {
                        Ok(value) => value.to_string(),
                        Err(failure) => failure.tool_envelope(request_id()).to_string(),
                    };
                    for mark in marks {
                        assert!(!text.contains(mark), "{} {level:?}: {text}", row.name);
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn an_agents_key_replays_no_mail_and_a_siblings_source_is_not_there() {
    let world = World::new().await;
    let agent = at_level(&world, Level::Identity);
    for event in [world.own.event, world.own.delivery] {
        let failure = world
            .call(
                &agent,
                "replay_webhook_event",
                json!({"id": event, "target_url": world.own.target}),
                Surface::Tool,
            )
            .await
            .expect_err("mail");
        assert_eq!(failure.code, ErrorCode::Forbidden);
    }
    let missing = "src_01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned();
    for row in TABLE
        .iter()
        .filter(|row| row.name.starts_with("source_") && row.name != "source_create")
    {
        let mut answers = Vec::new();
        for source in [&missing, &world.sibling.source, &world.foreign.source] {
            let mut arguments = arguments(row.name, &world.own);
            arguments["source_id"] = json!(source);
            let failure = world
                .call(&agent, row.name, arguments, Surface::Tool)
                .await
                .expect_err(row.name);
            answers.push(failure.tool_envelope(request_id()).to_string());
        }
        answers.dedup();
        assert_eq!(answers.len(), 1, "{}: {answers:?}", row.name);
    }
    // Ids count within a tenant: another tenant's number names nothing of its own here.
    for event in [world.sibling.delivery, u64::from(u32::MAX)] {
        let failure = world
            .call(
                &agent,
                "replay_webhook_event",
                json!({"id": event}),
                Surface::Tool,
            )
            .await
            .expect_err("not there");
        assert_eq!(failure, ErrorCode::NotFound.into());
    }
}

#[tokio::test]
async fn what_cannot_be_stored_is_never_acknowledged() {
    let world = World::new().await;
    let door = world
        .room
        .knock(&world.own.source_token)
        .await
        .expect("a source");
    world.room.close().await;
    let request = WebhookRequest {
        method: "POST".to_owned(),
        url: String::new(),
        headers: Vec::new(),
        body: bytes::Bytes::new(),
        source_ip: None,
    };
    // Unsigned, it is refused as ever; the store is not asked.
    assert_eq!(world.room.arrive(door, request).await.status, 401);
    let answer = world
        .room
        .knock(&world.own.source_token)
        .await
        .expect_err("the store is closed");
    assert_eq!(answer.status, 503);
    assert!(
        answer
            .headers
            .iter()
            .any(|(name, _)| *name == "retry-after")
    );
}

#[tokio::test]
async fn domains_that_mail_leaves_from_are_given_to_guests_by_the_operator_alone() {
    let world = World::new().await;
    let guest = Actor::local_tenant(world.foreign.tenant.parse().expect("a tenant"));
    for wanted in [
        json!({"address": "ceo@room.example"}),
        json!({"address": "new@other.example"}),
        json!({"username": "new", "domain": "other.example"}),
    ] {
        let refused = world
            .call(&guest, "identity_create", wanted.clone(), Surface::Rest)
            .await
            .expect_err("the operator's domain");
        assert_eq!(refused.code, ErrorCode::DomainUnavailable, "{wanted}");
    }
    let alias = json!({"identity": world.foreign.identity, "address": "two@other.example"});
    let refused = world
        .call(&guest, "address_add", alias.clone(), Surface::Rest)
        .await
        .expect_err("the operator's domain");
    assert_eq!(refused.code, ErrorCode::DomainUnavailable);
    world.ok(&world.platform, "address_add", alias).await;
    let free = json!({"address": "new@free.example"});
    world.ok(&guest, "identity_create", free).await;
}
