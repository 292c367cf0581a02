//! Tenants, identities, addresses.

use super::world::{World, code, create_identity, create_tenant, new_identity, on_both};
use postroom_core::{
    AddressRole, AddressStatus, Command, CreateDomain, CreateIdentity, CreateTenant, DomainState,
    IdentityPatch, IdentityStatus, Mode, NewAddress, Outcome, TenantStatus, UpdateIdentity,
};
use postroom_store::read::{self, IdentityFilter};
use postroom_types::{Address, ErrorCode, Reach, TenantScope, limit};

fn address(text: &str) -> Address {
    Address::parse(text).expect("an address")
}

#[test]
fn a_tenant_has_a_slug_of_its_own() {
    on_both(|world: World| async move {
        let again = Command::CreateTenant(CreateTenant {
            slug: "acme".to_owned(),
            name: String::new(),
            mode: Mode::Live,
            timezone: "UTC".to_owned(),
            address_suffix: None,
        });
        assert_eq!(
            code(world.store.transact(again).await),
            ErrorCode::SlugTaken
        );
        let platform = world.worker.platform();
        let found = read::tenant_by_slug(&world.store, &platform, "acme")
            .await
            .expect("reads")
            .expect("there");
        assert_eq!(found.id, world.tenant);
        assert_eq!(found.address_suffix, ".acme");
        let listed = read::tenants(&world.store, &platform, None, 10)
            .await
            .expect("reads");
        assert_eq!(listed, [found]);
    });
}

#[test]
fn an_identity_is_found_by_id_and_by_address_and_never_from_another_tenant() {
    on_both(|world: World| async move {
        let store = &world.store;
        let other = create_tenant(store, "other").await;
        let foreign = TenantScope::granted(other, Reach::Tenant);
        let sibling = create_identity(store, world.tenant, "second@acme.example").await;
        let by_id = read::identity(store, &world.tenant_scope(), world.identity)
            .await
            .expect("reads")
            .expect("there");
        let by_address =
            read::identity_by_address(store, &world.scope(), &address("Agent+x@ACME.example"))
                .await
                .expect("reads");
        assert_eq!(Some(&by_id), by_address.as_ref());
        assert_eq!(by_id.row.username, "agent");
        assert_eq!(
            by_id.primary_address().map(|row| row.address.as_str()),
            Some("agent@acme.example")
        );
        for (scope, id) in [
            (foreign, world.identity),
            (world.scope(), sibling),
            (foreign, sibling),
        ] {
            assert_eq!(
                read::identity(store, &scope, id).await.expect("reads"),
                None
            );
        }
        // Ids of one millisecond are in no order of their own.
        let (first, second) = (world.identity.min(sibling), world.identity.max(sibling));
        let listed = read::identities(
            store,
            &world.tenant_scope(),
            &IdentityFilter {
                limit: 1,
                ..IdentityFilter::default()
            },
        )
        .await
        .expect("reads");
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].row.id, first);
        let next = read::identities(
            store,
            &world.tenant_scope(),
            &IdentityFilter {
                after: Some(first),
                limit: 10,
                ..IdentityFilter::default()
            },
        )
        .await
        .expect("reads");
        assert_eq!(next.len(), 1);
        assert_eq!(next[0].row.id, second);
    });
}

#[test]
fn a_client_id_makes_creation_repeatable() {
    on_both(|world: World| async move {
        let create = |name: &str| {
            Command::CreateIdentity(CreateIdentity {
                client_id: Some("c-1".to_owned()),
                display_name: name.to_owned(),
                ..new_identity(world.tenant, "third@acme.example")
            })
        };
        let first = world.store.transact(create("Three")).await.expect("made");
        let second = world.store.transact(create("Three")).await.expect("same");
        let ids = |outcome: &Outcome| match outcome {
            Outcome::Identity {
                row,
                created,
                addresses,
            } => (row.id, *created, addresses.len()),
            other => panic!("{other:?}"),
        };
        let (id, created, addresses) = ids(&first);
        assert!(created);
        assert_eq!(addresses, 1);
        assert_eq!(ids(&second), (id, false, 1));
        assert_eq!(
            code(world.store.transact(create("Other")).await),
            ErrorCode::ClientIdConflict
        );
    });
}

#[test]
fn username_rules_bind_domains_of_ours_only() {
    on_both(|world: World| async move {
        let store = &world.store;
        create_identity(store, world.tenant, "postmaster@nobody.example").await;
        store
            .transact(Command::CreateDomain(CreateDomain {
                tenant: None,
                name: "ours.example".to_owned(),
                state: DomainState::Healthy,
            }))
            .await
            .expect("made");
        let reserved =
            Command::CreateIdentity(new_identity(world.tenant, "postmaster@ours.example"));
        assert_eq!(
            code(store.transact(reserved).await),
            ErrorCode::AddressReserved
        );
        let by_name = |username: &str| {
            Command::CreateIdentity(CreateIdentity {
                address: NewAddress::Username {
                    username: username.to_owned(),
                    domain: "ours.example".to_owned(),
                },
                ..new_identity(world.tenant, "x@y.example")
            })
        };
        match store.transact(by_name("sales")).await.expect("made") {
            Outcome::Identity { addresses, .. } => {
                assert_eq!(addresses[0].address, "sales.acme@ours.example");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(
            code(store.transact(by_name("sales")).await),
            ErrorCode::UsernameTaken
        );
        let taken = Command::CreateIdentity(new_identity(world.tenant, "sales.acme@ours.example"));
        assert_eq!(code(store.transact(taken).await), ErrorCode::AddressTaken);
    });
}

#[test]
fn a_domain_belongs_to_the_tenant_that_named_it_first() {
    on_both(|world: World| async move {
        let store = &world.store;
        let other = create_tenant(store, "other").await;
        let own = create_identity(store, other, "eve@other.example").await;
        for text in ["agent@acme.example", "nobody@acme.example"] {
            let create = Command::CreateIdentity(new_identity(other, text));
            assert_eq!(
                code(store.transact(create).await),
                ErrorCode::DomainUnavailable
            );
            let add = Command::AddAddress {
                tenant: other,
                identity: own,
                address: address(text),
                role: AddressRole::Alias,
            };
            assert_eq!(
                code(store.transact(add).await),
                ErrorCode::DomainUnavailable
            );
        }
        let by_name = Command::CreateIdentity(CreateIdentity {
            address: NewAddress::Username {
                username: "somebody".to_owned(),
                domain: "acme.example".to_owned(),
            },
            ..new_identity(other, "x@y.example")
        });
        assert_eq!(
            code(store.transact(by_name).await),
            ErrorCode::DomainUnavailable
        );
        // A name under it is a domain of its own.
        create_identity(store, other, "eve@mail.acme.example").await;
        create_identity(store, world.tenant, "second@acme.example").await;
    });
}

#[test]
fn two_tenants_that_name_a_domain_at_once_do_not_both_get_it() {
    on_both(|world: World| async move {
        let other = create_tenant(&world.store, "other").await;
        let commands = [other, world.tenant].map(|tenant| {
            Command::CreateIdentity(new_identity(
                tenant,
                &format!("{}@new.example", tenant.bits() % 97),
            ))
        });
        let answers = world
            .store
            .transact_all(Vec::from(commands))
            .await
            .expect("commits");
        let made = answers.iter().filter(|answer| answer.is_ok()).count();
        assert_eq!(made, 1, "{answers:?}");
    });
}

#[test]
fn under_a_shared_domain_a_tenant_has_the_names_with_its_suffix() {
    on_both(|world: World| async move {
        let store = &world.store;
        store
            .transact(Command::CreateDomain(CreateDomain {
                tenant: None,
                name: "ours.example".to_owned(),
                state: DomainState::Local,
            }))
            .await
            .expect("made");
        create_identity(store, world.tenant, "agent.acme@ours.example").await;
        let other = create_tenant(store, "other").await;
        for text in ["agent.acme@ours.example", "nobody@ours.example"] {
            let create = Command::CreateIdentity(new_identity(other, text));
            assert_eq!(
                code(store.transact(create).await),
                ErrorCode::AddressReserved
            );
        }
        create_identity(store, other, "agent.other@ours.example").await;
    });
}

#[test]
fn a_retired_address_is_unknown_and_a_retiring_one_receives_until_its_time() {
    on_both(|world: World| async move {
        let store = &world.store;
        let add = Command::AddAddress {
            tenant: world.tenant,
            identity: world.identity,
            address: address("alias@acme.example"),
            role: AddressRole::Alias,
        };
        let Outcome::Address(row) = store.transact(add).await.expect("added") else {
            panic!("an address");
        };
        let retire = |at| Command::RetireAddress {
            tenant: world.tenant,
            address: row.id,
            at,
        };
        store
            .transact(retire(Some(world.now().plus_ms(1_000))))
            .await
            .expect("retiring");
        let scope = world.tenant_scope();
        let find = async || {
            read::identity_by_address(store, &scope, &address("alias@acme.example"))
                .await
                .expect("reads")
                .is_some()
        };
        assert!(find().await);
        world.advance(1_000);
        assert!(!find().await);
        store.transact(retire(None)).await.expect("retired");
        let answer = read::recipient(store, &world.worker, &address("alias@acme.example"))
            .await
            .expect("reads")
            .expect("known to the listener");
        assert_eq!(answer.address.status, AddressStatus::Retired);
        let again = Command::CreateIdentity(new_identity(world.tenant, "alias@acme.example"));
        assert_eq!(code(store.transact(again).await), ErrorCode::AddressTaken);
    });
}

#[test]
fn twenty_addresses_fit_and_one_more_does_not() {
    on_both(|world: World| async move {
        let add = |n: usize| Command::AddAddress {
            tenant: world.tenant,
            identity: world.identity,
            address: address(&format!("a{n}@acme.example")),
            role: AddressRole::Alias,
        };
        let commands = (1..=limit::ADDRESSES_PER_IDENTITY).map(add).collect();
        let answers = world.store.transact_all(commands).await.expect("commits");
        let (last, before) = answers.split_last().expect("some");
        assert!(before.iter().all(Result::is_ok));
        assert_eq!(super::world::refused(last), ErrorCode::AddressLimitReached);
    });
}

#[test]
fn a_suspended_tenant_takes_nothing_in_and_comes_back() {
    on_both(|world: World| async move {
        let set = |status| Command::UpdateTenant {
            tenant: world.tenant,
            patch: postroom_core::TenantPatch {
                status: Some(status),
                ..Default::default()
            },
        };
        let update = || {
            Command::UpdateIdentity(UpdateIdentity {
                tenant: world.tenant,
                identity: world.identity,
                patch: IdentityPatch {
                    status: Some(IdentityStatus::Paused),
                    ..IdentityPatch::default()
                },
            })
        };
        world
            .store
            .transact(set(TenantStatus::Suspended))
            .await
            .expect("set");
        assert_eq!(
            code(world.store.transact(update()).await),
            ErrorCode::TenantSuspended
        );
        world
            .store
            .transact(set(TenantStatus::Active))
            .await
            .expect("set");
        world.store.transact(update()).await.expect("paused");
        let found = read::identity(&world.store, &world.scope(), world.identity)
            .await
            .expect("reads")
            .expect("a paused identity is there");
        assert_eq!(found.row.status, IdentityStatus::Paused);
    });
}
