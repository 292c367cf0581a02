//! `mail_wait`.

use postroom_app::{
    Actor,
    operation::{Surface, find},
};
use postroom_types::ErrorCode;
use serde_json::{Value, json};

use crate::world::{PATIENCE, World, mail, on_both};

#[test]
fn a_waiting_call_wakes_for_the_mail_that_fits() {
    on_both(async |world| {
        world.receive(&mail(1, "Before", "x", "")).await;
        world
            .call("mail_wait", json!({"since": "2000-01-01T00:00:00Z"}))
            .await;
        let wait =
            json!({"from": "@shore.example", "subject_contains": "KEEL", "timeout_seconds": 60});
        let (waited, ()) = tokio::join!(world.call("mail_wait", wait), async {
            world.receive(&mail(2, "Something else", "x", "")).await;
            world.receive(&mail(3, "The keel is laid", "x", "")).await;
        });
        assert_eq!(waited["timed_out"], false);
        assert_eq!(waited["message"]["subject"], "The keel is laid");
        assert!(waited["verification"].is_null());
        world.room.close().await;
    });
}

#[test]
fn a_cancelled_wait_ends_at_once() {
    on_both(async |world| {
        let context = world.context(Surface::Tool);
        context.cancel.cancel();
        let answer = world
            .call_in("mail_wait", json!({"timeout_seconds": 60}), &context)
            .await;
        assert!(answer.is_err() || answer.is_ok_and(|answer| answer["timed_out"] == true));
        world.room.close().await;
    });
}

/// A key of the mailbox, and who holds it.
async fn waiter(world: &World) -> (Value, Actor) {
    let key = world
        .call("key_create", json!({"name": "waits", "level": "identity"}))
        .await;
    let secret = key["secret"].as_str().expect("a secret");
    let actor = world.room.authenticate(secret).await.expect("a key");
    (key, actor)
}

async fn revoke(world: &World, key: &Value) {
    let holder = Actor::local_tenant(world.tenant());
    let revoke = find("key_revoke").expect("an operation");
    let context = world.context(Surface::Rest);
    let of_key = json!({"key_id": key["id"]});
    let revoked = world.room.call(&holder, revoke, of_key, &context).await;
    revoked.expect("revoked");
}

#[test]
fn a_key_revoked_while_it_waits_gets_nothing() {
    on_both(async |world| {
        let (key, actor) = waiter(&world).await;
        let wait = find("mail_wait");
        let context = world.context(Surface::Rest);
        let (waited, ()) = tokio::join!(
            world.room.call(
                &actor,
                wait.expect("an operation"),
                json!({"timeout_seconds": 60}),
                &context
            ),
            async {
                revoke(&world, &key).await;
                world.receive(&mail(1, "Too late", "x", "")).await;
            }
        );
        assert_eq!(waited.expect_err("revoked").code, ErrorCode::KeyRevoked);
        world.room.close().await;
    });
}

#[test]
fn a_wait_ends_with_its_key_though_nothing_comes() {
    on_both(async |world| {
        let (key, actor) = waiter(&world).await;
        let context = world.context(Surface::Rest);
        let wait = find("mail_wait").expect("an operation");
        let (waited, ()) = tokio::join!(
            tokio::time::timeout(
                PATIENCE / 2,
                world
                    .room
                    .call(&actor, wait, json!({"timeout_seconds": 60}), &context)
            ),
            async {
                revoke(&world, &key).await;
            }
        );
        let answer = waited.expect("long before its own end");
        assert_eq!(answer.expect_err("revoked").code, ErrorCode::KeyRevoked);
        world.room.close().await;
    });
}

#[test]
fn a_wait_ends_with_its_suspended_tenant() {
    on_both(async |world| {
        let (_, actor) = waiter(&world).await;
        let context = world.context(Surface::Rest);
        let wait = find("mail_wait").expect("an operation");
        let (waited, ()) = tokio::join!(
            tokio::time::timeout(
                PATIENCE / 2,
                world
                    .room
                    .call(&actor, wait, json!({"timeout_seconds": 60}), &context)
            ),
            async {
                let suspend = find("tenant_update").expect("an operation");
                let suspended = json!({"tenant_id": world.tenant(), "status": "suspended"});
                let context = world.context(Surface::Rest);
                let platform = Actor::local_platform(world.room.worker_scope().platform());
                let done = world.room.call(&platform, suspend, suspended, &context);
                done.await.expect("suspended");
            }
        );
        let answer = waited.expect("long before its own end");
        assert_eq!(
            answer.expect_err("suspended").code,
            ErrorCode::TenantSuspended
        );
        world.room.close().await;
    });
}

#[test]
fn archives_wake_nobody() {
    on_both(async |world| {
        let wait = json!({"timeout_seconds": 1});
        let old = [mail(1, "Old", "x", "")];
        let (waited, _) = tokio::join!(world.call("mail_wait", wait), world.import(&old));
        assert_eq!(waited["timed_out"], true);
        world.room.close().await;
    });
}

#[test]
fn codes_are_said_to_be_missing() {
    on_both(async |world| {
        let wait = json!({"kind": "verification", "from": "@shore.example"});
        let failure = world
            .try_call("mail_wait", wait)
            .await
            .expect_err("no engine");
        assert_eq!(failure.code, ErrorCode::InvalidRequest);
        assert_eq!(failure.details["errors"][0]["path"], "kind");
        let failure = world.try_call("mail_wait", json!({"from": "nobody"})).await;
        assert_eq!(
            failure.expect_err("no address").details["errors"][0]["path"],
            "from"
        );
        world.room.close().await;
    });
}
