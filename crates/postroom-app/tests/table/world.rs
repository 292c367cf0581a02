//! A small room: two tenants, three mailboxes, some mail.

use std::sync::Arc;

use postroom_app::{
    Actor, CallContext, Failure, Reply, Room,
    operation::{self, Surface},
    room::{ArchiveMail, Retention, RoomOptions, WebhookRequest},
    transport::TransportOptions,
};
use postroom_core::{Command, RawMail, Recipient, RecordImportFailure};
use postroom_net::{
    egress::{Egress, EgressPolicy},
    smtp::send::{RelayOptions, Security},
};
use postroom_types::{IdentityId, Level, RequestId, TenantId, Timestamp};
use serde_json::{Value, json};

/// A word that stands in every mail and must stand in no error.
pub(crate) const CANARY: &str = "zebrafinch";

pub(crate) struct World {
    pub(crate) room: Arc<Room>,
    pub(crate) tenant: Actor,
    pub(crate) agent: Actor,
    pub(crate) agent_token: String,
    pub(crate) platform: Actor,
    pub(crate) own: Ids,
    pub(crate) sibling: Ids,
    pub(crate) foreign: Ids,
    _folder: tempfile::TempDir,
}

/// One mailbox and ids of what is in it.
#[derive(Debug, Clone)]
pub(crate) struct Ids {
    pub(crate) tenant: String,
    pub(crate) identity: String,
    pub(crate) address: String,
    pub(crate) address_id: String,
    pub(crate) key: String,
    pub(crate) message: String,
    pub(crate) thread: String,
    pub(crate) attachment: String,
    pub(crate) event: u64,
    pub(crate) import_failure: u64,
    pub(crate) todos: Todos,
    pub(crate) source: String,
    /// The token of its address, and its secret.
    pub(crate) source_token: String,
    pub(crate) source_secret: String,
    pub(crate) spare_source: String,
    pub(crate) issued_source: String,
    pub(crate) target: String,
    pub(crate) delivery: u64,
    /// A mail that waits for its transport, and one of which nobody knows whether it left.
    pub(crate) queued: String,
    pub(crate) uncertain: String,
    pub(crate) draft: String,
    pub(crate) sent_draft: String,
    /// A document that the mailbox's agent works on.
    pub(crate) session: String,
}

/// Todos of one mailbox, each ready for what is done with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Todos {
    pub(crate) waiting: String,
    pub(crate) kept: String,
    pub(crate) completed: String,
    pub(crate) failing: String,
    pub(crate) released: String,
    pub(crate) failed: String,
}

pub(crate) fn request_id() -> RequestId {
    RequestId::from_parts(1, 1)
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::keeping(Retention::default()).await
    }

    /// One that keeps deliveries for so long.
    pub(crate) async fn keeping(retention: Retention) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut options = RoomOptions::new(folder.path());
        options.retention = retention;
        let policy = EgressPolicy {
            allow_cidrs: vec!["127.0.0.0/8".parse().expect("a range")],
            allow_ports: vec!["1024-65535".parse().expect("ports")],
            allow_http: true,
            ..EgressPolicy::default()
        };
        options.egress = Some(Arc::new(Egress::new(policy).expect("a policy")));
        // Nobody listens there: what is sent outside stays queued.
        let mut relay = RelayOptions::new("127.0.0.1", closed_port(), "room.example");
        relay.security = Security::Plain;
        options.transport = TransportOptions::Relay {
            relay,
            domains: vec!["room.example".to_owned(), "other.example".to_owned()],
        };
        let room = Room::open(options).await.expect("a room");
        let platform = Actor::local_platform(room.worker_scope().platform());
        let tenant = Actor::local_tenant(room.default_tenant());
        let made = ok(&room, &platform, "tenant_create", json!({"slug": "other"})).await;
        let other: TenantId = parsed(&made["id"]);
        let stranger = Actor::local_tenant(other);
        let (own, agent_token) = mailbox(&room, &platform, &tenant, "ann@room.example").await;
        let (sibling, _) = mailbox(&room, &platform, &tenant, "ben@room.example").await;
        let (foreign, _) = mailbox(&room, &platform, &stranger, "eve@other.example").await;
        let agent = room.authenticate(&agent_token).await.expect("a key");
        Self {
            room,
            tenant,
            agent,
            agent_token,
            platform,
            own,
            sibling,
            foreign,
            _folder: folder,
        }
    }

    pub(crate) async fn call(
        &self,
        actor: &Actor,
        name: &str,
        arguments: Value,
        surface: Surface,
    ) -> Result<Value, Failure> {
        call(&self.room, actor, name, arguments, surface).await
    }

    pub(crate) async fn ok(&self, actor: &Actor, name: &str, arguments: Value) -> Value {
        ok(&self.room, actor, name, arguments).await
    }
}

fn parsed<T: std::str::FromStr>(value: &Value) -> T
where
    T::Err: std::fmt::Debug,
{
    value.as_str().expect("a string").parse().expect("an id")
}

pub(crate) async fn call(
    room: &Room,
    actor: &Actor,
    name: &str,
    arguments: Value,
    surface: Surface,
) -> Result<Value, Failure> {
    let row = operation::find(name).unwrap_or_else(|| panic!("{name} is not in the table"));
    let context = CallContext::new(surface, request_id(), room.now());
    match room.call(actor, row, arguments, &context).await? {
        Reply::Json(value) => Ok(value),
        Reply::Bytes(body) => Ok(json!({"bytes": body.bytes.len()})),
    }
}

async fn ok(room: &Room, actor: &Actor, name: &str, arguments: Value) -> Value {
    call(room, actor, name, arguments.clone(), Surface::Rest)
        .await
        .unwrap_or_else(|failure| panic!("{name} {arguments}: {failure} {:?}", failure.details))
}

/// Makes a mailbox with a key, and takes in a letter with an attachment and an answer to it.
/// A mailbox of the actor's tenant. The operator gives its addresses: mail leaves from their domains.
async fn mailbox(room: &Room, operator: &Actor, actor: &Actor, address: &str) -> (Ids, String) {
    let owner = json!({"name": "Olga Owner", "email": "olga@owner.example"});
    let tenant = actor.tenant.expect("a tenant");
    let wanted = json!({"tenant_id": tenant, "address": address, "owner": owner});
    let identity = ok(room, operator, "identity_create", wanted).await;
    let id: IdentityId = parsed(&identity["id"]);
    let alias = json!({"identity": id, "address": format!("alias.{address}")});
    let alias = ok(room, operator, "address_add", alias).await;
    let key = ok(
        room,
        actor,
        "key_create",
        json!({"name": "agent", "level": "identity", "identity": address}),
    )
    .await;
    let mut event = 0;
    let mut message = None;
    for raw in [letter(address), answer(address)] {
        let mail = ArchiveMail {
            raw: raw.into_bytes(),
            recipient: Recipient {
                tenant,
                identity: id,
                delivered_to: Some(address.to_owned()),
            },
            read: false,
            file_time: Some(Timestamp::from_ms(1_790_000_000_000)),
            by_agent: false,
        };
        let received = room.take_in(mail).await.expect("taken in");
        event = received.event_id;
        message = message.or(received.message_id);
    }
    let message = message.expect("a message").to_string();
    let seen = ok(
        room,
        actor,
        "mail_get_message",
        json!({"message_id": message, "identity": address}),
    )
    .await;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let seen = seen.get("message").unwrap_or(&seen).clone();
    let made = source(room, actor, address).await;
    let ids = Ids {
        tenant: tenant.to_string(),
        identity: id.to_string(),
        address: address.to_owned(),
        address_id: text(&alias["id"]),
        key: text(&key["id"]),
        thread: text(&seen["thread_id"]),
        attachment: text(&seen["attachments"][0]["id"]),
        message,
        event,
        import_failure: import_failure(room, actor, id).await,
        todos: todos(room, actor, address, event).await,
        spare_source: source(room, actor, address).await.id,
        issued_source: issued_source(room, actor, address).await,
        target: target().await,
        source: made.id,
        source_token: made.token,
        source_secret: made.secret,
        delivery: made.event,
        queued: sent(room, actor, address, "pia@outside.example", "queued").await,
        uncertain: sent(
            room,
            actor,
            address,
            "timeout@simulator.invalid",
            "uncertain",
        )
        .await,
        draft: draft(room, actor, address).await,
        sent_draft: draft(room, actor, address).await,
        session: session(room, actor, id).await,
    };
    (ids, text(&key["secret"]))
}

/// Notes a mail that an import could not take in, with its bytes; gives its number.
async fn import_failure(room: &Room, actor: &Actor, identity: IdentityId) -> u64 {
    let failed = RecordImportFailure {
        tenant: actor.tenant.expect("a tenant"),
        identity,
        location: format!("/mail/{identity}.eml"),
        reason: "larger than the limit".to_owned(),
        raw: Some(RawMail::new(
            format!("Subject: {CANARY}\r\n\r\n{CANARY} {identity}").into_bytes(),
        )),
    };
    room.store()
        .transact(Command::RecordImportFailure(failed))
        .await
        .expect("noted");
    let listed = ok(room, actor, "import_failure_list", json!({})).await;
    listed["data"][0]["failure_id"].as_u64().expect("a number")
}

/// Sends a mail and waits until a transport was tried and it is in a state.
async fn sent(room: &Room, actor: &Actor, from: &str, to: &str, state: &str) -> String {
    let mail = json!({
        "identity": from, "to": [to], "subject": format!("About the {CANARY}"), "text": format!("A {CANARY}."),
        "idempotency_key": format!("{from} {to}"),
    });
    let sent = ok(room, actor, "mail_send", mail).await;
    let id = sent["id"].as_str().expect("an id").to_owned();
    let tenant = actor.tenant.expect("a tenant");
    let mut wake = room.store().feed(tenant);
    loop {
        wake.borrow_and_update();
        let listed = ok(room, actor, "outbox_list", json!({})).await;
        let listed = listed["data"].as_array().expect("a list").iter();
        let mut found = listed.filter(|mail| mail["message_id"] == id);
        let found = found.next().expect("the mail");
        if found["attempts"] != 0 && found["state"] == state {
            return id;
        }
        wake.changed().await.expect("an open room");
    }
}

async fn draft(room: &Room, actor: &Actor, address: &str) -> String {
    let mail = json!({"to": ["pia@outside.example"], "subject": "Later", "text": "Later."});
    let wanted = json!({"identity": address, "kind": "send", "mail": mail});
    let made = ok(room, actor, "draft_create", wanted).await;
    made["id"].as_str().expect("an id").to_owned()
}

/// A document that the agent of a mailbox saved.
async fn session(room: &Room, actor: &Actor, identity: IdentityId) -> String {
    let mut agent = actor.clone();
    (agent.level, agent.identity) = (Level::Identity, Some(identity));
    let saved = ok(room, &agent, "session_put", json!({"document": document()})).await;
    saved["id"].as_str().expect("an id").to_owned()
}

/// An e-mail document without a fault.
pub(crate) fn document() -> Value {
    json!({
        "version": 2,
        "meta": {
            "subject": "The van is ready",
            "preheader": "You can come and take it from eight in the morning.",
            "lang": "en",
        },
        "root": {"type": "body", "children": [{"type": "section", "children": [
            {"type": "column", "children": [{"type": "text", "text": "It is ready."}]},
        ]}]},
    })
}

/// A port on which nobody listens.
fn closed_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// A source whose provider makes the secret.
async fn issued_source(room: &Room, actor: &Actor, address: &str) -> String {
    let wanted = json!({"identity": address, "source_type": "stripe", "target_queue": "money"});
    let made = ok(room, actor, "source_create", wanted).await;
    made["source_id"].as_str().expect("an id").to_owned()
}

/// Something on this machine that takes replays.
async fn target() -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = [0; 4_096];
            let _ = stream.read(&mut head).await;
            let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await;
        }
    });
    format!("http://{address}/")
}

/// Makes a source of a mailbox and delivers one mail through it, which its payload carries.
async fn source(room: &Room, actor: &Actor, address: &str) -> Made {
    let wanted =
        json!({"identity": address, "source_type": "cloudflare-email", "target_queue": "mail"});
    let made = ok(room, actor, "source_create", wanted).await;
    let text = |name: &str| made[name].as_str().expect("a text").to_owned();
    let (id, url, secret) = (
        text("source_id"),
        text("ingest_url"),
        text("signing_secret"),
    );
    let token = url.rsplit('/').next().expect("a token");
    let body = letter(address).replace("first@", &format!("{id}@"));
    let now = (room.now().ms() / 1_000).to_string();
    let signed = format!("v1\n{now}\nmia@garage.example\n{address}\n{body}");
    let headers = [
        ("content-type", "message/rfc822".to_owned()),
        ("x-postroom-timestamp", now),
        ("x-postroom-mail-from", "mia@garage.example".to_owned()),
        ("x-postroom-rcpt-to", address.to_owned()),
        (
            "x-postroom-signature",
            format!("v1={}", hmac_hex(&secret, signed.as_bytes())),
        ),
    ];
    let request = WebhookRequest {
        method: "POST".to_owned(),
        url: url.clone(),
        headers: headers
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.into_bytes()))
            .collect(),
        body: body.into_bytes().into(),
        source_ip: Some("192.0.2.7".to_owned()),
    };
    let door = room.knock(token).await.expect("a source");
    let answer = room.arrive(door, request).await;
    assert_eq!(
        answer.status,
        202,
        "{}",
        String::from_utf8_lossy(&answer.body)
    );
    let listed = ok(room, actor, "list_webhook_events", json!({"source_id": id})).await;
    let event = listed["events"][0]["id"].as_u64().expect("an event");
    Made {
        token: token.to_owned(),
        id,
        secret,
        event,
    }
}

/// A source that was made, and the event that came through it.
struct Made {
    id: String,
    token: String,
    secret: String,
    event: u64,
}

pub(crate) fn hmac_hex(secret: &str, message: &[u8]) -> String {
    use hmac::{KeyInit as _, Mac as _};
    let mut mac =
        hmac::Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).expect("any length");
    mac.update(message);
    hex::encode(mac.finalize().into_bytes())
}

/// Opens the todos of a mailbox, and claims those that somebody speaks for.
async fn todos(room: &Room, actor: &Actor, address: &str, event: u64) -> Todos {
    let open = async |event_id: Option<u64>| {
        let mut wanted =
            json!({"identity": address, "queue": "work", "title": "Look into it", "kind": "mail"});
        if let Some(event) = event_id {
            wanted["event_id"] = json!(event);
        }
        let made = ok(room, actor, "todo_create", wanted).await;
        made["id"].as_str().expect("an id").to_owned()
    };
    let claimed = async || {
        let id = open(None).await;
        ok(room, actor, "todo_claim", json!({"id": id})).await;
        id
    };
    let failed = claimed().await;
    ok(
        room,
        actor,
        "todo_fail",
        json!({"id": failed, "summary": "no answer"}),
    )
    .await;
    Todos {
        waiting: open(Some(event)).await,
        kept: claimed().await,
        completed: claimed().await,
        failing: claimed().await,
        released: claimed().await,
        failed,
    }
}

pub(crate) fn letter(to: &str) -> String {
    format!(
        "From: Mia Lund <mia@garage.example>\r\nTo: <{to}>\r\nSubject: Deposit for the van {CANARY}\r\n\
         Date: Mon, 02 Nov 2026 10:00:00 +0000\r\nMessage-ID: <first@garage.example>\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n\
         The {CANARY} deposit of 250 is due on Friday.\r\n--b\r\nContent-Type: text/plain; name=\"terms.txt\"\r\n\
         Content-Disposition: attachment; filename=\"terms.txt\"\r\n\r\nTerms of the {CANARY} hire.\r\n--b--\r\n"
    )
}

fn answer(to: &str) -> String {
    format!(
        "From: Mia Lund <mia@garage.example>\r\nTo: <{to}>\r\nSubject: Re: Deposit for the van {CANARY}\r\n\
         Date: Tue, 03 Nov 2026 10:00:00 +0000\r\nMessage-ID: <second@garage.example>\r\n\
         In-Reply-To: <first@garage.example>\r\n\r\nThe {CANARY} deposit came, thank you.\r\n"
    )
}

/// A level's actor of the world with every permission of it.
pub(crate) fn at_level(world: &World, level: Level) -> Actor {
    match level {
        Level::Identity => {
            let mut actor = world.agent.clone();
            actor.permissions = postroom_types::Permission::ALL.to_vec();
            actor
        }
        Level::Tenant => world.tenant.clone(),
        Level::Platform => world.platform.clone(),
    }
}

/// Arguments with which an operation succeeds, for a tenant's or an identity's key.
pub(crate) fn arguments(name: &str, ids: &Ids) -> Value {
    let identity = &ids.identity;
    match name {
        "mail_list_identities"
        | "deployment_get"
        | "tenant_list"
        | "key_list"
        | "list_webhook_events"
        | "tenant_get" => json!({}),
        "mail_list_threads" | "identity_get" => json!({"identity": identity}),
        "mail_search" => json!({"identity": identity, "q": "deposit"}),
        "mail_get_thread" => json!({"identity": identity, "thread_id": ids.thread}),
        "mail_get_message" | "mail_find_related" | "message_raw" => {
            json!({"identity": identity, "message_id": ids.message})
        }
        "mail_get_attachment_text" | "attachment_raw" => {
            json!({"identity": identity, "message_id": ids.message, "attachment_id": ids.attachment})
        }
        "import_failure_raw" => json!({"failure_id": ids.import_failure}),
        "mail_search_contacts" => json!({"identity": identity, "q": "mia"}),
        "mail_wait" => {
            json!({"identity": identity, "timeout_seconds": 1, "since": "2020-01-01T00:00:00Z"})
        }
        "mail_update_labels" => {
            json!({"identity": identity, "message_id": ids.message, "labels_add": ["done"], "read": true})
        }
        "thread_update" => {
            json!({"identity": identity, "thread_id": ids.thread, "archived": false})
        }
        "get_webhook_event" => json!({"id": ids.event}),
        "replay_webhook_event" => json!({"id": ids.event, "target_url": ids.target}),
        "source_create" => json!({"source_type": "github", "target_queue": "triage"}),
        "source_list" | "source_rotate" => json!({"source_id": ids.source}),
        "source_delete" => json!({"source_id": ids.spare_source}),
        "source_set_secret" => {
            json!({"source_id": ids.issued_source, "signing_secret": "whsec_0123456789abcdef"})
        }
        "source_set_rules" => json!({"source_id": ids.source, "rules": []}),
        "source_test_rules" => json!({"source_id": ids.source, "payload": {"a": 1}}),
        "source_update" => json!({"source_id": ids.source, "name": "Another name"}),
        "inbound_raw" => json!({"identity": identity}),
        "owner_link_create" => json!({}),
        "tenant_create" => json!({"slug": "third"}),
        "tenant_update" => json!({"tenant_id": ids.tenant, "status": "active"}),
        "identity_create" => json!({"address": "new@room.example"}),
        "identity_update" => json!({"identity": identity, "display_name": "Ann"}),
        "address_add" => json!({"identity": identity, "address": "ann.two@room.example"}),
        "address_retire" => {
            json!({"identity": identity, "address_id": ids.address_id, "after_days": 1})
        }
        "key_create" => json!({"name": "k", "level": "identity", "identity": identity}),
        "todo_list" | "queue_list" => json!({}),
        "todo_claim_next" => json!({"queue": "nothing", "wait_seconds": 0}),
        "todo_get" | "todo_claim" => json!({"id": ids.todos.waiting}),
        "todo_heartbeat" => json!({"id": ids.todos.kept, "note": "half of it"}),
        "todo_complete" => json!({"id": ids.todos.completed, "result": {"ok": true}}),
        "todo_fail" => json!({"id": ids.todos.failing, "summary": "no answer"}),
        "todo_release" => json!({"id": ids.todos.released}),
        "todo_retry" => json!({"id": ids.todos.failed}),
        "todo_create" => json!({"identity": identity, "queue": "work", "title": "Look"}),
        "queue_update" => json!({"queue": "work", "max_in_flight": 100}),
        "describe_blocks" | "session_list" => json!({}),
        "check_ir" | "repair_ir" | "compile_ir" => json!({"document": document()}),
        "lint_html" => json!({"html": "<p>The van is ready.</p>"}),
        "patch_ir" => json!({
            "document": document(),
            "ops": [{"op": "set", "part": "meta", "set": {"subject": "The van is here"}}],
        }),
        "diff_ir" => json!({"before": document(), "after": document()}),
        "document_reference" => json!({"topic": "examples/welcome"}),
        "session_get" => json!({"session_id": ids.session}),
        "session_put" => json!({"session_id": ids.session, "etag": "1", "document": document()}),
        "send_test" => json!({"identity": identity, "session_id": ids.session}),
        "mail_get_usage"
        | "outbox_list"
        | "policy_get"
        | "suppression_list"
        | "list_entry_list"
        | "import_failure_list" => {
            json!({})
        }
        "mail_send" => json!({
            "identity": identity, "to": ["mia@garage.example"], "subject": "The van", "text": "Is it there?",
            "idempotency_key": "a new mail",
        }),
        "mail_reply" => {
            json!({"identity": identity, "message_id": ids.message, "text": "Yes.", "idempotency_key": "an answer"})
        }
        "mail_forward" => json!({
            "identity": identity, "message_id": ids.message, "to": ["pia@outside.example"],
            "idempotency_key": "a forward",
        }),
        "delivery_list" => json!({"identity": identity, "message_id": ids.queued}),
        "send_cancel" => json!({"identity": identity, "message_id": ids.queued}),
        "send_resolve" => {
            json!({"identity": identity, "message_id": ids.uncertain, "outcome": "not_sent"})
        }
        "upload_create" => json!({"identity": identity, "filename": "terms.txt"}),
        "draft_create" => {
            json!({"identity": identity, "kind": "reply", "mail": {"message_id": ids.message}})
        }
        "draft_list" => json!({"identity": identity}),
        "draft_get" => json!({"identity": identity, "draft_id": ids.draft}),
        "draft_update" => {
            json!({"identity": identity, "draft_id": ids.draft, "mail": {"subject": "Sooner"}})
        }
        "draft_delete" => json!({"identity": identity, "draft_id": ids.draft}),
        "draft_send" => {
            json!({"identity": identity, "draft_id": ids.sent_draft, "idempotency_key": "a draft"})
        }
        "policy_update" => json!({"max_recipients": 12}),
        "suppression_add" | "suppression_remove" => json!({"address": "gone@outside.example"}),
        "list_entry_add" | "list_entry_remove" => {
            json!({"kind": "block", "entry": "@blocked.example"})
        }
        "key_get" | "key_rotate" | "key_revoke" => json!({"key_id": ids.key}),
        other => panic!("no arguments for {other}: add a row here"),
    }
}
