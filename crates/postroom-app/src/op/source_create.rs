//! `source_create`: a new way in.

use postroom_core::{Command, CreateSource, KeyGrants, Outcome, TrustMode};
use postroom_store::read;
use postroom_types::{
    Address, Dialect, ErrorCode, IdentityId, Level, Permission, Secret, SourceId, TenantId,
};
use postroom_webhook::{Provider, provider};

use super::sourcing::{ACTOR_NOTE, GivenActors, check_queue, is_agents, sealed};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    room::{ingest_url, mail_url, secret_origin},
    schema,
    source::{GivenSettings, MAIL, Settings, check_given, mint, names_actors},
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "source_create",
    title: "Create a webhook source",
    description: "Create a way in for one provider's webhooks. The answer holds the address to give to the provider and, where we make \
        the signing secret, that secret: neither is shown whole again. A provider that issues its own secret is `awaiting_secret` \
        until source_set_secret gives it. How far deliveries are trusted follows from the provider and is never chosen.",
    toolset: Toolset::Sources,
    permission: Permission::SourcesManage,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::post("/v1/sources").answering(201)],
    include: &[],
    annotations: Annotations::CREATE,
    streams: false,
    dialect: Dialect::Events,
    errors: &[
        ErrorCode::CeilingExceeded,
        ErrorCode::Forbidden,
        ErrorCode::IdentityNotFound,
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
    /// The tenant; only a key of the whole deployment needs it.
    #[expect(dead_code, reason = "read where the scope is granted")]
    tenant_id: Option<TenantId>,
    /// The mailbox it belongs to, by id or address; a tenant's key may leave it out for a source of
    /// the whole tenant.
    #[schemars(length(max = 254))]
    identity: Option<String>,
    /// The provider, such as `github`, `stripe`, `slack` or `generic`; or `mail` for the mail of the mailbox itself,
    /// or of all mailboxes, that comes by SMTP and the like.
    #[schemars(length(min = 1, max = 64))]
    source_type: String,
    /// The queue for work that no rule sends elsewhere.
    #[schemars(length(min = 1, max = 64))]
    target_queue: String,
    /// A name for people; the provider's when left out.
    #[schemars(length(max = 78))]
    name: Option<String>,
    /// The secret that the provider issued, when there is one already.
    #[schemars(length(min = 1, max = 4096))]
    signing_secret: Option<String>,
    /// Whose deliveries are trusted: those of others are held back for review.
    trusted_actors: Option<GivenActors>,
    /// What was settled with the provider beyond the secret.
    settings: Option<GivenSettings>,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The source's id.
    source_id: SourceId,
    /// The address to give to the provider; `mail:` and the mailbox for a source of mail, which has none.
    ingest_url: String,
    /// The provider.
    source_type: String,
    /// The queue for work that no rule sends elsewhere.
    target_queue: String,
    /// How far its channel vouches for a body: `signed`, `token`, or `smtp` for mail.
    #[schemars(extend("enum" = ["signed", "token", "smtp"]))]
    trust_mode: String,
    /// `active`, or `awaiting_secret` until source_set_secret gives the provider's secret.
    state: String,
    /// The signing secret that we made, for the provider; never shown again.
    #[serde(skip_serializing_if = "Option::is_none")]
    signing_secret: Option<String>,
    /// What the secret is called at the provider, and where it goes or comes from.
    secret_hint: String,
    /// The provider's own page.
    docs: String,
    /// Whose deliveries are trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    trusted_actors: Option<postroom_core::routing::TrustedActors>,
    /// What to know before relying on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let refuse = |path: &str, words: &str| Failure::argument(Dialect::Events, path, words);
    check_queue("target_queue", &input.target_queue)?;
    if input.source_type == MAIL {
        return of_mail(call, input).await;
    }
    let row = provider::find(&input.source_type).ok_or_else(|| {
        let known: Vec<&str> = std::iter::once(MAIL)
            .chain(provider::all().map(|row| row.name))
            .collect();
        refuse("source_type", "is no provider that is known here").with("known", known)
    })?;
    check_granted(&call.actor.grants, &input.target_queue)?;
    let scope = call.scope()?;
    let (store, tenant) = (call.room.store(), scope.tenant());
    let identity = owner(call, input.identity.as_deref()).await?;
    let trusted = input
        .trusted_actors
        .map(|given| given.read(row.name))
        .transpose()?;
    let given = input.settings.unwrap_or_default();
    let settings = Settings::default().with(given, row.name, store, tenant)?;
    let FirstSecret {
        kept: secret,
        shown,
    } = first_secret(row, input.signing_secret)?;
    let token = store.mint_token()?;
    let url = ingest_url(call.room, token.token.expose());
    let trust_mode = match is_agents(call, row.name) {
        true => TrustMode::Agent,
        false => trust_mode(row),
    };
    let create = CreateSource {
        tenant,
        identity,
        provider: row.name.to_owned(),
        name: input.name.unwrap_or_default(),
        token: store.seal_token(tenant, &token)?,
        trust_mode,
        secret_origin: secret_origin(row),
        secret: secret
            .as_ref()
            .map(|secret| sealed(store, tenant, secret))
            .transpose()?,
        queue: input.target_queue,
        rules: None,
        options: settings.document(),
        trusted_actors: trusted
            .as_ref()
            .map(schema::write)
            .transpose()?
            .map(|json| json.to_string()),
    };
    match store
        .transact(Command::CreateSource(Box::new(create)))
        .await?
    {
        Outcome::Source(made) => Ok(Output {
            source_id: made.id,
            ingest_url: url,
            source_type: made.provider.clone(),
            target_queue: made.queue.clone(),
            trust_mode: trust_mode.as_str().to_owned(),
            state: made.state.as_str().to_owned(),
            signing_secret: shown.map(|secret| secret.expose().clone()),
            secret_hint: row.secret_hint.to_owned(),
            docs: row.docs.to_owned(),
            warning: warning(row, trusted.is_some()),
            trusted_actors: trusted,
        }),
        _ => Err(ErrorCode::InternalError.into()),
    }
}

/// A source of mail: no address, no secret; mail comes by itself.
async fn of_mail(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let refuse = |path: &str| {
        let words = "does not go with a source of mail";
        Err(Failure::argument(Dialect::Events, path, words))
    };
    if input.signing_secret.is_some() {
        return refuse("signing_secret");
    }
    if input.trusted_actors.is_some() {
        return refuse("trusted_actors");
    }
    if input.settings.is_some() {
        return refuse("settings");
    }
    check_granted(&call.actor.grants, &input.target_queue)?;
    let (store, tenant) = (call.room.store(), call.scope()?.tenant());
    let identity = owner(call, input.identity.as_deref()).await?;
    // Nobody is told it: a row of the store has one.
    let token = store.mint_token()?;
    let create = CreateSource {
        tenant,
        identity,
        provider: MAIL.to_owned(),
        name: input.name.unwrap_or_default(),
        token: store.seal_token(tenant, &token)?,
        trust_mode: TrustMode::Smtp,
        secret_origin: postroom_core::SecretOrigin::None,
        secret: None,
        queue: input.target_queue,
        rules: None,
        options: None,
        trusted_actors: None,
    };
    match store
        .transact(Command::CreateSource(Box::new(create)))
        .await?
    {
        Outcome::Source(made) => Ok(Output {
            source_id: made.id,
            ingest_url: mail_url(identity),
            source_type: made.provider.clone(),
            target_queue: made.queue.clone(),
            trust_mode: made.trust_mode.as_str().to_owned(),
            state: made.state.as_str().to_owned(),
            signing_secret: None,
            secret_hint: "a source of mail has no secret".to_owned(),
            docs: String::new(),
            warning: Some(
                "Whoever can write to the mailbox can open work: senders are not verified yet."
                    .to_owned(),
            ),
            trusted_actors: None,
        }),
        _ => Err(ErrorCode::InternalError.into()),
    }
}

/// A key that was granted some queues sends work to no others.
pub(super) fn check_granted(grants: &KeyGrants, queue: &str) -> Result<(), Failure> {
    let granted = grants
        .queues
        .as_ref()
        .is_none_or(|queues| queues.iter().any(|name| name == queue));
    if granted {
        return Ok(());
    }
    Err(Failure::new(ErrorCode::Forbidden)
        .saying("The key was not granted this queue.")
        .advising("Name a queue that the key was granted."))
}

/// The mailbox that the source belongs to.
async fn owner(call: &Call<'_>, named: Option<&str>) -> Result<Option<IdentityId>, Failure> {
    let Some(named) = named else {
        return Ok(call.identity_if_any());
    };
    let (store, scope) = (call.room.store(), call.scope()?);
    let found = match named.parse::<IdentityId>() {
        Ok(id) => read::identity(store, scope, id).await?,
        Err(_) => match Address::parse(named) {
            Ok(address) => read::identity_by_address(store, scope, &address).await?,
            Err(_) => None,
        },
    };
    let found = found.ok_or(ErrorCode::IdentityNotFound)?;
    Ok(Some(found.row.id))
}

/// The secret that a source begins with.
#[derive(Default)]
struct FirstSecret {
    kept: Option<Secret<String>>,
    /// The one that we made, to be shown once.
    shown: Option<Secret<String>>,
}

fn first_secret(row: &Provider, given: Option<String>) -> Result<FirstSecret, Failure> {
    match (row.secret, given) {
        (provider::SecretOrigin::Minted, None) => {
            let minted = mint(row)?;
            Ok(FirstSecret {
                kept: Some(minted.clone()),
                shown: Some(minted),
            })
        }
        (provider::SecretOrigin::Provider, None) | (provider::SecretOrigin::None, None) => {
            Ok(FirstSecret::default())
        }
        (provider::SecretOrigin::Provider, Some(given)) => {
            check_given(row, &given)?;
            Ok(FirstSecret {
                kept: Some(Secret::new(given.trim().to_owned())),
                shown: None,
            })
        }
        (_, Some(_)) => Err(Failure::argument(
            Dialect::Events,
            "signing_secret",
            "is not taken: this provider's secret is made here, or there is none",
        )),
    }
}

fn trust_mode(row: &Provider) -> TrustMode {
    match row.trust_mode() {
        postroom_webhook::TrustMode::Signed => TrustMode::Signed,
        postroom_webhook::TrustMode::Token => TrustMode::Token,
    }
}

/// What to know of a source whose deliveries prove less than they seem to.
fn warning(row: &Provider, asked_whom_to_trust: bool) -> Option<String> {
    let mut words = Vec::new();
    if row.trust_mode() == postroom_webhook::TrustMode::Token {
        words.push("Deliveries show a secret and are not signed: their bodies are not verified.");
    }
    if names_actors(row.name) && !asked_whom_to_trust {
        words.push(ACTOR_NOTE);
    }
    (!words.is_empty()).then(|| words.join(" "))
}
