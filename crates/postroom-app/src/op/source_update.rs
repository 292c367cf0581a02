//! `source_update`: a source's name, queue, settings, trusted actors; on or off.

use postroom_core::{Command, Outcome, SourcePatch};
use postroom_types::{Dialect, ErrorCode, Level, Permission, SourceId, TenantId};

use super::{
    source_create::check_granted,
    sourcing::{GivenActors, check_queue, source_in_reach},
};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    source::{GivenSettings, Settings},
    view::Source,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "source_update",
    title: "Change a webhook source",
    description: "Change a source's name, queue, settings or trusted actors, or turn it off and on. What is left out stays as it is.",
    toolset: Toolset::Admin,
    permission: Permission::SourcesManage,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::patch("/v1/sources/{source_id}")],
    include: &[],
    annotations: Annotations::CHANGE,
    streams: false,
    dialect: Dialect::Events,
    errors: &[
        ErrorCode::Forbidden,
        ErrorCode::NotFound,
        ErrorCode::TenantNotFound,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Source>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tenant; only a key of the whole deployment needs it.
    #[expect(dead_code, reason = "read where the scope is granted")]
    tenant_id: Option<TenantId>,
    /// The source.
    source_id: SourceId,
    /// A name for people.
    #[schemars(length(min = 1, max = 78))]
    name: Option<String>,
    /// The queue for work that no rule sends elsewhere.
    #[schemars(length(min = 1, max = 64))]
    target_queue: Option<String>,
    /// False turns it off: its provider is told to stop. True turns it on again.
    enabled: Option<bool>,
    /// Whose deliveries are trusted; an empty object trusts nobody.
    trusted_actors: Option<GivenActors>,
    /// True asks no more whose deliveries they are.
    #[serde(default)]
    clear_trusted_actors: bool,
    /// Settings with the provider; those left out stay.
    settings: Option<GivenSettings>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Source, Failure> {
    let source = source_in_reach(call, input.source_id).await?.row;
    let (store, scope) = (call.room.store(), *call.scope()?);
    if let Some(queue) = &input.target_queue {
        check_queue("target_queue", queue)?;
        check_granted(&call.actor.grants, queue)?;
    }
    let trusted = match (input.trusted_actors, input.clear_trusted_actors) {
        (Some(_), true) => {
            return Err(Failure::argument(
                Dialect::Events,
                "clear_trusted_actors",
                "does not go with trusted_actors",
            ));
        }
        (Some(given), false) => Some(Some(
            schema::write(&given.read(&source.provider)?)?.to_string(),
        )),
        (None, true) => Some(None),
        (None, false) => None,
    };
    let settings = match input.settings {
        Some(given) => Some(
            Settings::of(&source)
                .with(given, &source.provider, store, source.tenant_id)?
                .document(),
        ),
        None => None,
    };
    let patch = SourcePatch {
        name: input.name,
        queue: input.target_queue,
        options: settings,
        trusted_actors: trusted,
    };
    let update = Command::UpdateSource {
        scope,
        source: source.id,
        patch,
    };
    let Outcome::Source(_) = store.transact(update).await? else {
        return Err(ErrorCode::InternalError.into());
    };
    if let Some(enabled) = input.enabled {
        let state = Command::SetSourceState {
            scope,
            source: source.id,
            enabled,
        };
        store.transact(state).await?;
    }
    let changed = source_in_reach(call, source.id).await?;
    Ok(Source::of(call.room, &scope, changed).await?)
}
