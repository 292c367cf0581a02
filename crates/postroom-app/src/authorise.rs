//! From a key and arguments to what may be read: the only place where a request gets a scope.
//!
//! A key decides how far a call reaches, and arguments only narrow it. What is out of reach
//! answers as what is missing does, byte for byte.

use postroom_core::TenantStatus;
use postroom_store::{PlatformScope, read};
use postroom_types::{Address, ErrorCode, IdentityId, Level, Reach, TenantId, TenantScope};
use serde_json::Value;

use crate::{
    Actor, Failure, Room,
    operation::{OWN_MAILBOX, Operation, ScopeRule},
};

/// What a call was granted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Granted {
    pub(crate) scope: Option<TenantScope>,
    pub(crate) identity: Option<IdentityId>,
}

/// Refuses every call of a suspended tenant's keys; the platform's keys still reach it.
///
/// # Errors
/// `tenant_suspended`, or `unavailable` when the store cannot say.
pub(crate) async fn check_tenant_is_active(room: &Room, actor: &Actor) -> Result<(), Failure> {
    let Some(tenant) = actor.tenant else {
        return Ok(());
    };
    match room.tenant_status(tenant).await? {
        Some(TenantStatus::Active) => Ok(()),
        Some(_) => Err(ErrorCode::TenantSuspended.into()),
        None => Err(ErrorCode::TenantNotFound.into()),
    }
}

/// Grants what the operation's row asks for, out of the key and the checked arguments.
///
/// # Errors
/// `tenant_not_found` or `identity_not_found` for what is missing or out of reach, `scope_denied`
/// for a whole-tenant search with an identity key, a bad argument when a wide key names nothing.
pub(crate) async fn authorise(
    room: &Room,
    actor: &Actor,
    operation: &Operation,
    arguments: &Value,
) -> Result<Granted, Failure> {
    let whole = |tenant| Granted {
        scope: Some(TenantScope::granted(tenant, Reach::Tenant)),
        identity: None,
    };
    match operation.scope {
        ScopeRule::Nothing | ScopeRule::Platform => Ok(Granted {
            scope: None,
            identity: None,
        }),
        ScopeRule::TenantOrPlatform
            if actor.tenant.is_none() && text(arguments, "tenant_id").is_none() =>
        {
            Ok(Granted {
                scope: None,
                identity: None,
            })
        }
        ScopeRule::Tenant | ScopeRule::TenantOrPlatform => {
            tenant_of(room, actor, operation, arguments)
                .await
                .map(whole)
        }
        ScopeRule::TenantOrIdentity => {
            let tenant = tenant_of(room, actor, operation, arguments).await?;
            Ok(match actor.identity {
                Some(own) => one(tenant, own),
                None => whole(tenant),
            })
        }
        ScopeRule::IdentityOrTenant if text(arguments, "scope") == Some("tenant") => {
            if actor.level == Level::Identity {
                return Err(ErrorCode::ScopeDenied.into());
            }
            tenant_of(room, actor, operation, arguments)
                .await
                .map(whole)
        }
        ScopeRule::Identity | ScopeRule::IdentityOrTenant => {
            identity_of(room, actor, operation, arguments).await
        }
    }
}

fn one(tenant: TenantId, identity: IdentityId) -> Granted {
    Granted {
        scope: Some(TenantScope::granted(tenant, Reach::Identity(identity))),
        identity: Some(identity),
    }
}

fn text<'a>(arguments: &'a Value, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

/// The tenant that a call is about: the key's own, which `tenant_id` may repeat, or for a platform
/// key the one it names.
async fn tenant_of(
    room: &Room,
    actor: &Actor,
    operation: &Operation,
    arguments: &Value,
) -> Result<TenantId, Failure> {
    let named = match text(arguments, "tenant_id") {
        Some(id) => Some(id.parse().map_err(|_| ErrorCode::TenantNotFound)?),
        None => None,
    };
    match (actor.tenant, named) {
        (Some(own), None) => Ok(own),
        (Some(own), Some(named)) if own == named => Ok(own),
        (Some(_), Some(_)) => Err(ErrorCode::TenantNotFound.into()),
        (None, Some(named)) => {
            let found = read::tenant_by_id(room.store(), platform(actor)?, named).await?;
            found
                .map(|row| row.id)
                .ok_or_else(|| ErrorCode::TenantNotFound.into())
        }
        (None, None) => {
            let words = match actor.key {
                Some(_) => "is required with a key of the whole deployment",
                None => "is required: the id of a workspace",
            };
            Err(Failure::argument(operation.dialect, "tenant_id", words))
        }
    }
}

/// The identity that a call acts as.
async fn identity_of(
    room: &Room,
    actor: &Actor,
    operation: &Operation,
    arguments: &Value,
) -> Result<Granted, Failure> {
    if let (Some(own), Some(named)) = (actor.tenant, text(arguments, "tenant_id"))
        && named != own.to_string()
    {
        return Err(ErrorCode::TenantNotFound.into());
    }
    let named = text(arguments, "identity");
    if let (Some(tenant), Some(own)) = (actor.tenant, actor.identity) {
        let granted = one(tenant, own);
        let is_own = |named: &&str| *named == OWN_MAILBOX || *named == own.to_string();
        let Some(named) = named.filter(|named| !is_own(named)) else {
            return Ok(granted);
        };
        // The key's own reach bounds the look-up, so that another's id or address is not found.
        let scope = TenantScope::granted(tenant, Reach::Identity(own));
        look_up(room, &scope, named).await?;
        return Ok(granted);
    }
    let Some(named) = named else {
        let words = match actor.key {
            Some(_) => "is required with this key: the id or an address of an identity",
            None => "is required: the id or an address of an identity",
        };
        return Err(Failure::argument(operation.dialect, "identity", words));
    };
    if let Some(tenant) = actor.tenant {
        let scope = TenantScope::granted(tenant, Reach::Tenant);
        return Ok(one(tenant, look_up(room, &scope, named).await?));
    }
    let tenant = tenant_with(room, actor, named, text(arguments, "tenant_id")).await?;
    let scope = TenantScope::granted(tenant, Reach::Tenant);
    Ok(one(tenant, look_up(room, &scope, named).await?))
}

/// The identity of that id or address within `scope`.
///
/// # Errors
/// `identity_not_found` for what is missing or out of reach.
pub(crate) async fn look_up(
    room: &Room,
    scope: &TenantScope,
    named: &str,
) -> Result<IdentityId, Failure> {
    let found = match named.parse::<IdentityId>() {
        Ok(id) => read::identity(room.store(), scope, id).await?,
        Err(_) => match Address::parse(named) {
            Ok(address) => read::identity_by_address(room.store(), scope, &address).await?,
            Err(_) => None,
        },
    };
    found
        .map(|identity| identity.row.id)
        .ok_or_else(|| ErrorCode::IdentityNotFound.into())
}

/// For a platform key: the tenant that has the identity, which `tenant_id` must not contradict.
async fn tenant_with(
    room: &Room,
    actor: &Actor,
    named: &str,
    tenant: Option<&str>,
) -> Result<TenantId, Failure> {
    let (store, scope) = (room.store(), platform(actor)?);
    let found = match named.parse::<IdentityId>() {
        Ok(id) => read::tenant_of_identity(store, scope, id).await?,
        Err(_) => match Address::parse(named) {
            Ok(address) => read::tenant_of_address(store, scope, &address).await?,
            Err(_) => None,
        },
    };
    found
        .filter(|found| tenant.is_none_or(|only| only == found.to_string()))
        .ok_or_else(|| ErrorCode::IdentityNotFound.into())
}

/// The right to read across tenants that a platform key brings along.
pub(crate) fn platform(actor: &Actor) -> Result<&PlatformScope, Failure> {
    actor
        .platform
        .as_ref()
        .ok_or_else(|| ErrorCode::ScopeDenied.into())
}
