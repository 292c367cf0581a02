//! Keys, owner links, sessions, scopes.

use super::world::{World, code, create_tenant, on_both};
use postroom_core::{
    Command, CreateKey, KeyRow, Mode, Outcome, OwnerLinkRow, RotateKey, SessionRow,
};
use postroom_store::{
    MintedKey, PlatformScope, Store,
    read::{self, CredentialAnswer, SessionAnswer},
};
use postroom_types::{ErrorCode, KeyId, Level, Permission, Reach, TenantScope, limit};

fn create(world: &World, minted: &MintedKey) -> CreateKey {
    CreateKey {
        name: "agent".to_owned(),
        level: Level::Identity,
        mode: Mode::Live,
        tenant: Some(world.tenant),
        identity: Some(world.identity),
        permissions: Permission::AGENT_DEFAULT.to_vec(),
        grants: Default::default(),
        expires_at: None,
        credential: minted.credential.clone(),
    }
}

async fn made(store: &Store, create: CreateKey) -> KeyRow {
    match store
        .transact(Command::CreateKey(create))
        .await
        .expect("made")
    {
        Outcome::Key(row) => row,
        other => panic!("{other:?}"),
    }
}

async fn check(store: &Store, minted: &MintedKey) -> CredentialAnswer {
    read::credential(store, minted.token.expose())
        .await
        .expect("reads")
}

#[test]
fn a_key_is_known_by_its_whole_token_only() {
    on_both(|world: World| async move {
        let store = &world.store;
        let minted = store.mint_key(Mode::Live).expect("minted");
        let row = made(store, create(&world, &minted)).await;
        assert_eq!(check(store, &minted).await, CredentialAnswer::Valid(row));
        let token = minted.token.expose();
        let (head, _) = token.split_at(token.len() - 1);
        let changed = if token.ends_with('0') { "1" } else { "0" };
        for wrong in [
            String::new(),
            format!("{head}{changed}"),
            token.replace("live", "test"),
            format!("prk_live_{}_{}", "0".repeat(12), "0".repeat(52)),
        ] {
            assert_eq!(
                read::credential(store, &wrong).await.expect("reads"),
                CredentialAnswer::Unknown,
                "{wrong}"
            );
        }
    });
}

#[test]
fn revoked_and_ended_keys_say_so_only_to_their_own_secret() {
    on_both(|world: World| async move {
        let store = &world.store;
        let minted = store.mint_key(Mode::Live).expect("minted");
        let row = made(
            store,
            CreateKey {
                expires_at: Some(world.now().plus_ms(1_000)),
                ..create(&world, &minted)
            },
        )
        .await;
        world.advance(1_000);
        assert_eq!(check(store, &minted).await, CredentialAnswer::Expired);
        let revoke = |tenant| Command::RevokeKey {
            tenant,
            key: row.id,
        };
        let foreign = create_tenant(store, "other").await;
        for tenant in [None, Some(foreign)] {
            assert_eq!(
                code(store.transact(revoke(tenant)).await),
                ErrorCode::KeyNotFound
            );
        }
        store
            .transact(revoke(Some(world.tenant)))
            .await
            .expect("revoked");
        assert_eq!(check(store, &minted).await, CredentialAnswer::Revoked);
    });
}

#[test]
fn rotation_keeps_two_secrets_at_most_and_the_old_one_for_its_overlap() {
    on_both(|world: World| async move {
        let store = &world.store;
        let first = store.mint_key(Mode::Live).expect("minted");
        let row = made(store, create(&world, &first)).await;
        let rotate = async |overlap_hours| {
            let minted = store.mint_key(Mode::Live).expect("minted");
            let command = Command::RotateKey(RotateKey {
                tenant: Some(world.tenant),
                key: row.id,
                overlap_hours,
                credential: minted.credential.clone(),
            });
            (minted, store.transact(command).await)
        };
        let valid = CredentialAnswer::Valid(row.clone());
        let (second, done) = rotate(1).await;
        done.expect("rotated");
        assert_eq!(check(store, &first).await, valid);
        assert_eq!(check(store, &second).await, valid);
        let (third, done) = rotate(limit::KEY_OVERLAP_HOURS).await;
        done.expect("rotated");
        assert_eq!(check(store, &first).await, CredentialAnswer::Unknown);
        assert_eq!(check(store, &second).await, valid);
        world.advance(limit::KEY_OVERLAP_HOURS as i64 * 3_600_000);
        assert_eq!(check(store, &second).await, CredentialAnswer::Unknown);
        assert_eq!(check(store, &third).await, valid);
        let (_, refused) = rotate(limit::KEY_OVERLAP_HOURS + 1).await;
        assert_eq!(code(refused), ErrorCode::InvalidRequest);
        let (fourth, done) = rotate(0).await;
        done.expect("rotated");
        assert_eq!(check(store, &third).await, CredentialAnswer::Unknown);
        assert_eq!(check(store, &fourth).await, valid);
    });
}

#[test]
fn a_level_holds_only_permissions_that_fit_it() {
    on_both(|world: World| async move {
        let store = &world.store;
        let minted = store.mint_key(Mode::Live).expect("minted");
        for permissions in [
            vec![],
            vec![Permission::TenantsManage],
            vec![Permission::KeysManage],
        ] {
            let command = Command::CreateKey(CreateKey {
                permissions,
                ..create(&world, &minted)
            });
            assert_eq!(
                code(store.transact(command).await),
                ErrorCode::InvalidRequest
            );
        }
        let platform = Command::CreateKey(CreateKey {
            level: Level::Platform,
            tenant: None,
            identity: None,
            permissions: vec![Permission::TenantsManage],
            grants: Default::default(),
            ..create(&world, &minted)
        });
        let Outcome::Key(row) = store.transact(platform).await.expect("made") else {
            panic!("a key");
        };
        assert!(PlatformScope::of_key(&row).is_some());
        let listed = read::platform_keys(store, &world.worker.platform(), None, 10)
            .await
            .expect("reads");
        assert_eq!(listed, [row]);
    });
}

#[test]
fn one_hundred_active_keys_fit_a_tenant_and_one_more_does_not() {
    on_both(|world: World| async move {
        let store = &world.store;
        let command = || {
            let minted = store.mint_key(Mode::Live).expect("minted");
            Command::CreateKey(create(&world, &minted))
        };
        let commands = (0..=limit::KEYS_PER_TENANT).map(|_| command()).collect();
        let answers = store.transact_all(commands).await.expect("commits");
        let (last, before) = answers.split_last().expect("some");
        assert!(before.iter().all(Result::is_ok));
        assert_eq!(super::world::refused(last), ErrorCode::KeyLimitReached);
        let first: KeyId = match &before[0] {
            Ok(Outcome::Key(row)) => row.id,
            other => panic!("{other:?}"),
        };
        let revoke = Command::RevokeKey {
            tenant: Some(world.tenant),
            key: first,
        };
        let answers = store
            .transact_all(vec![revoke, command()])
            .await
            .expect("commits");
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    });
}

#[test]
fn a_use_is_noted_once_a_minute() {
    on_both(|world: World| async move {
        let store = &world.store;
        let minted = store.mint_key(Mode::Live).expect("minted");
        let row = made(store, create(&world, &minted)).await;
        let touch = async || {
            let command = Command::TouchKey {
                tenant: Some(world.tenant),
                key: row.id,
            };
            store.transact(command).await.expect("touched");
            let key = read::key(store, &world.scope(), row.id)
                .await
                .expect("reads");
            key.expect("there").last_used_at
        };
        let first = touch().await;
        assert_eq!(first, Some(world.now()));
        world.advance(59_999);
        assert_eq!(touch().await, first);
        world.advance(1);
        assert_eq!(touch().await, Some(world.now()));
        let foreign = TenantScope::granted(create_tenant(store, "other").await, Reach::Tenant);
        assert_eq!(
            read::key(store, &foreign, row.id).await.expect("reads"),
            None
        );
    });
}

#[test]
fn an_owner_link_works_once_and_a_new_one_ends_the_others() {
    on_both(|world: World| async move {
        let store = &world.store;
        let link = async || {
            let minted = store.mint_token().expect("minted");
            let row = OwnerLinkRow {
                hash: minted.hash,
                created_at: world.now(),
                expires_at: world.now().plus_ms(60_000),
                used_at: None,
            };
            store
                .transact(Command::CreateOwnerLink(row))
                .await
                .expect("made");
            minted
        };
        let first = link().await;
        let second = link().await;
        assert_eq!(store.hash_token(second.token.expose()), second.hash);
        let open = async |hash| {
            read::owner_link_open(store, hash)
                .await
                .expect("reads")
                .is_some()
        };
        assert!(!open(first.hash).await);
        assert!(open(second.hash).await);
        assert!(!read::person_signed_in(store).await.expect("reads"));
        let session = store.mint_token().expect("minted");
        let use_link = |link| Command::UseOwnerLink {
            link,
            session: SessionRow {
                hash: session.hash,
                created_at: world.now(),
                expires_at: world.now().plus_ms(1_000),
            },
        };
        store.transact(use_link(second.hash)).await.expect("used");
        assert_eq!(
            code(store.transact(use_link(second.hash)).await),
            ErrorCode::Unauthenticated
        );
        assert!(read::person_signed_in(store).await.expect("reads"));
        let known = async || {
            let answer = read::session(store, session.hash).await.expect("reads");
            matches!(answer, SessionAnswer::Valid(_))
        };
        assert!(known().await);
        world.advance(1_000);
        assert!(!known().await);
        store
            .transact(Command::CloseSession {
                session: session.hash,
            })
            .await
            .expect("closed");
    });
}
