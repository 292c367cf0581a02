//! `key_create`: a new API key.

use postroom_core::{Command, CreateKey, KeyGrants, Mode, Outcome, SendScope as Scope};
use postroom_store::read;
use postroom_types::{
    Address, Dialect, ErrorCode, IdentityId, Level, Permission, TenantId, Timestamp,
};

use super::tenant_create::TenantMode;
use crate::{
    Actor, Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::ApiKey,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "key_create",
    title: "Create a key",
    description: "Create an API key. Its secret is shown once, in this answer. An identity key without `permissions` gets an agent's \
        defaults: it reads, works, and answers in threads. No key can make one that is wider than itself.",
    toolset: Toolset::Admin,
    permission: Permission::KeysManage,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::TenantOrPlatform,
    bucket: None,
    routes: &[Route::post("/v1/keys").answering(201)],
    include: &[],
    annotations: Annotations::CREATE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::IdentityNotFound,
        ErrorCode::KeyLimitReached,
        ErrorCode::KeyScopeExceeded,
        ErrorCode::TenantNotFound,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tenant; only a key of the whole deployment needs it, and not for a platform key.
    #[expect(dead_code, reason = "read where the scope is granted")]
    tenant_id: Option<TenantId>,
    /// A name for people.
    #[schemars(length(min = 1, max = 78))]
    name: String,
    /// How wide it reaches.
    level: Level,
    /// Id or address of its mailbox; with level `identity` only.
    #[schemars(length(max = 254))]
    identity: Option<String>,
    /// What it may do.
    #[schemars(length(min = 1, max = 64))]
    permissions: Option<Vec<Permission>>,
    /// Queues whose todos it sees and works on; all when left out.
    #[schemars(length(max = 64))]
    queues: Option<Vec<String>>,
    /// Whole https addresses of its replays: the first is used when a replay names none. They are no bound: a replay
    /// may name another address.
    #[schemars(length(max = 16))]
    replay_targets: Option<Vec<String>>,
    /// To whom it may write, with `messages:send`: `thread` answers those who take part in a thread (an identity key's
    /// default), `known` also writes to people the mailbox has written to before, `anyone` to everybody (the default
    /// of wider keys).
    send_scope: Option<SendScope>,
    /// Says that a key may read text of strangers (mail, events, todos, attachments, found or in lists) and write to
    /// anyone: whoever writes to it can then have it write to whomever they name. A key that would do both is refused
    /// without it.
    #[serde(default)]
    accept_untrusted_send: bool,
    /// Live or test.
    #[serde(default)]
    mode: TenantMode,
    /// When it ends by itself.
    expires_at: Option<Timestamp>,
}

/// To whom a key may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum SendScope {
    /// In a thread, to those who take part in it.
    Thread,
    /// Also to people the mailbox has written to before.
    Known,
    /// To everybody.
    Anyone,
}

impl From<SendScope> for Scope {
    fn from(scope: SendScope) -> Self {
        match scope {
            SendScope::Thread => Self::Thread,
            SendScope::Known => Self::Known,
            SendScope::Anyone => Self::Anyone,
        }
    }
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The key.
    #[serde(flatten)]
    pub(super) key: ApiKey,
    /// The whole key to present as a bearer token; never shown again.
    pub(super) secret: String,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let permissions = permissions(input.level, input.permissions)?;
    check_not_wider(call.actor, input.level, &permissions)?;
    let send_scope = input.send_scope.map(Scope::from);
    check_untrusted_send(
        input.level,
        &permissions,
        send_scope,
        input.accept_untrusted_send,
    )?;
    let grants = KeyGrants {
        send_scope,
        queues: input.queues,
        replay_targets: input.replay_targets.unwrap_or_default(),
    };
    check_targets(call, &grants.replay_targets)?;
    check_grants_not_wider(call.actor, input.level, &permissions, &grants)?;
    let mode = input.mode.into();
    check_mode_not_wider(call.actor, mode)?;
    let (tenant, identity) = owner(call, input.level, input.identity.as_deref()).await?;
    let minted = call.room.store().mint_key(mode)?;
    let command = Command::CreateKey(CreateKey {
        name: input.name,
        level: input.level,
        mode,
        tenant,
        identity,
        permissions,
        grants,
        expires_at: input.expires_at,
        credential: minted.credential,
    });
    match call.room.store().transact(command).await? {
        Outcome::Key(row) => Ok(Output {
            key: row.into(),
            secret: minted.token.expose().clone(),
        }),
        _ => Err(ErrorCode::InternalError.into()),
    }
}

/// No address is saved that no replay could ever reach: the guard's rules that need no resolution, asked
/// again at each replay.
fn check_targets(call: &Call<'_>, targets: &[String]) -> Result<(), Failure> {
    for (index, target) in targets.iter().enumerate() {
        let screened = call.room.egress().screen(target);
        screened.map_err(|class| {
            Failure::invalid(&format!("replay_targets[{index}]"), class.message())
        })?;
    }
    Ok(())
}

/// The permissions asked for, or an agent's defaults; each one that the level can hold.
fn permissions(level: Level, asked: Option<Vec<Permission>>) -> Result<Vec<Permission>, Failure> {
    let mut permissions = match (asked, level) {
        (Some(asked), _) => asked,
        (None, Level::Identity) => Permission::AGENT_DEFAULT.to_vec(),
        (None, _) => return Err(Failure::invalid("permissions", "is required at this level")),
    };
    permissions.sort_unstable();
    permissions.dedup();
    if permissions
        .iter()
        .any(|wanted| wanted.narrowest_level() > level)
    {
        let refused = Failure::invalid(
            "permissions",
            "names one that keys of this level cannot hold",
        );
        return Err(refused.with("reason", "permission_not_allowed_for_level"));
    }
    Ok(permissions)
}

/// No key makes, changes or sees the secret of a key that can do what it cannot.
pub(super) fn check_not_wider(
    actor: &Actor,
    level: Level,
    permissions: &[Permission],
) -> Result<(), Failure> {
    if level > actor.level || permissions.iter().any(|wanted| !actor.holds(*wanted)) {
        return Err(ErrorCode::KeyScopeExceeded.into());
    }
    Ok(())
}

/// A key that reads what strangers wrote and writes to anyone does what strangers say, to whomever they
/// name: only who knows that makes one.
fn check_untrusted_send(
    level: Level,
    permissions: &[Permission],
    asked: Option<Scope>,
    accepted: bool,
) -> Result<(), Failure> {
    let scope = asked.unwrap_or_else(|| Scope::of_level(level));
    let reads: Vec<&str> = permissions
        .iter()
        .filter(|permission| permission.shows_strangers_text())
        .map(|permission| permission.as_str())
        .collect();
    let both = permissions.contains(&Permission::MessagesSend) && !reads.is_empty();
    if accepted || !both || scope != Scope::Anyone {
        return Ok(());
    }
    let refused = Failure::invalid(
        "accept_untrusted_send",
        "must be true for a key that reads text of strangers and writes to anyone",
    );
    let refused = refused.with("reason", "untrusted_send");
    Err(refused.with("permissions", reads).advising(
        "Use send_scope thread or known, leave out what details.permissions lists, or set accept_untrusted_send when you accept that such text can steer it.",
    ))
}

/// A test key makes test keys.
pub(super) fn check_mode_not_wider(actor: &Actor, mode: Mode) -> Result<(), Failure> {
    match actor.test && mode != Mode::Test {
        true => Err(ErrorCode::KeyScopeExceeded.into()),
        false => Ok(()),
    }
}

/// A key that was granted some queues grants no others, and none writes to more people than its maker,
/// whether that was asked for or is what its level has.
pub(super) fn check_grants_not_wider(
    actor: &Actor,
    level: Level,
    permissions: &[Permission],
    asked: &KeyGrants,
) -> Result<(), Failure> {
    let sends = permissions.contains(&Permission::MessagesSend);
    let scope = asked.send_scope.or(sends.then(|| Scope::of_level(level)));
    if scope.is_some_and(|scope| scope > actor.send_scope()) {
        return Err(ErrorCode::KeyScopeExceeded.into());
    }
    let Some(own) = &actor.grants.queues else {
        return Ok(());
    };
    let within = asked
        .queues
        .as_ref()
        .is_some_and(|queues| queues.iter().all(|name| own.contains(name)));
    if within {
        Ok(())
    } else {
        Err(ErrorCode::KeyScopeExceeded.into())
    }
}

async fn owner(
    call: &Call<'_>,
    level: Level,
    named: Option<&str>,
) -> Result<(Option<TenantId>, Option<IdentityId>), Failure> {
    let scope = call.scope_if_any();
    match (level, scope, named) {
        (Level::Platform, None, None) => Ok((None, None)),
        (Level::Platform, Some(_), _) => Err(Failure::invalid(
            "tenant_id",
            "does not go with level platform",
        )),
        (Level::Identity, Some(scope), Some(named)) => {
            let store = call.room.store();
            let found = match named.parse::<IdentityId>() {
                Ok(id) => read::identity(store, scope, id).await?,
                Err(_) => match Address::parse(named) {
                    Ok(address) => read::identity_by_address(store, scope, &address).await?,
                    Err(_) => None,
                },
            };
            let found = found.ok_or(ErrorCode::IdentityNotFound)?;
            Ok((Some(scope.tenant()), Some(found.row.id)))
        }
        (Level::Identity, _, None) => {
            Err(Failure::invalid("identity", "is required at this level"))
        }
        (_, None, _) => Err(Failure::invalid("tenant_id", "is required at this level")),
        (_, _, Some(_)) => Err(Failure::invalid(
            "identity",
            "goes with level identity only",
        )),
        (Level::Tenant, Some(scope), None) => Ok((Some(scope.tenant()), None)),
    }
}
