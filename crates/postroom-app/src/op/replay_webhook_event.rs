//! `replay_webhook_event`: an arrival sent on once more.

use postroom_core::EventRow;
use postroom_net::egress::{Class, EgressError, Purpose, Request, replay_headers};
use postroom_store::read;
use postroom_types::{Dialect, ErrorCode, Level, Permission, limit::URL_BYTES};

use super::working::{carries_mail, withheld};
use crate::{
    Failure,
    clock::monotonic,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    rate::Bucket,
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "replay_webhook_event",
    title: "Replay an arrival",
    description: "Send one event's payload once more, byte for byte, with its headers but without signatures and credentials: to \
        `target_url`, or to the first replay target that the key was granted. Only public https addresses are dialled and no redirect is \
        followed. `delivered` says that the target answered, whatever its status; check `response_status`.",
    toolset: Toolset::Events,
    permission: Permission::EventsReplay,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::post("/v1/events/{id}/replay")],
    include: &[],
    annotations: Annotations {
        read_only: false,
        destructive: false,
        idempotent: false,
        open_world: true,
    },
    streams: false,
    dialect: Dialect::Events,
    errors: &[
        ErrorCode::Forbidden,
        ErrorCode::NotFound,
        ErrorCode::ReplayFailed,
        ErrorCode::ReplayTargetRequired,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The event's id.
    #[schemars(range(min = 1))]
    id: u64,
    /// An absolute https URL; the key's first replay target when left out.
    #[schemars(length(max = 4096))]
    target_url: Option<String>,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The event's id.
    id: u64,
    /// Where it was sent.
    target_url: String,
    /// Whether the target answered at all.
    delivered: bool,
    /// The status that it answered with.
    response_status: Option<u16>,
    /// Milliseconds until it had answered.
    response_ms: u64,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    // Nothing is said of the target, and nothing dialled, before it is known that the event may be
    // read.
    let event = read::event(call.room.store(), call.scope()?, input.id)
        .await?
        .ok_or(ErrorCode::NotFound)?;
    check_may_send(call, &event).await?;
    call.room
        .rates()
        .charge(call.actor, Bucket::Replay, call.now())?;
    let target = target(call, input.target_url.as_deref())?;
    let payload = read::event_payload(call.room.store(), call.scope()?, input.id)
        .await?
        .ok_or(ErrorCode::NotFound)?;
    let stored = event
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let mut headers = replay_headers(stored);
    let names_type = headers.iter().any(|(name, _)| name == "content-type");
    if let Some(content_type) = event.content_type.as_ref().filter(|_| !names_type) {
        headers.push(("content-type".to_owned(), content_type.clone().into_bytes()));
    }
    let began = monotonic();
    let request = Request::post(target.as_str(), headers, payload, Purpose::Replay);
    let answer = call.room.egress().send(request).await;
    let response_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let status = answer.as_ref().ok().map(|answer| answer.status);
    log(call, &event, &target, status, response_ms);
    match answer {
        Ok(answer) => Ok(Output {
            id: event.id,
            target_url: target,
            delivered: true,
            response_status: Some(answer.status),
            response_ms,
        }),
        Err(EgressError::Failed { .. } | EgressError::Header) => {
            Err(Failure::new(ErrorCode::ReplayFailed))
        }
        // No word on where it leads to: it may do tomorrow, unlike a target that is refused.
        Err(EgressError::NotResolved) => Err(Failure::new(ErrorCode::ReplayFailed)
            .saying("The target's host did not resolve.")
            .advising("Check the host's name, or replay again when its DNS answers.")
            .with("class", Class::DnsError.as_str())),
        Err(EgressError::Refused(class)) => Err(refused(class.message())),
    }
}

/// One rule for a message and everything made from it, and one more: what an agent was mailed it
/// sends to nobody.
async fn check_may_send(call: &Call<'_>, event: &EventRow) -> Result<(), Failure> {
    if carries_mail(event) && call.actor.level == Level::Identity {
        return Err(Failure::new(ErrorCode::Forbidden)
            .saying("An agent's key may not replay mail.")
            .advising("Ask a person with a key of the whole tenant."));
    }
    match withheld(call, event).await? {
        None => Ok(()),
        Some(permission) => {
            Err(Failure::new(ErrorCode::Forbidden).with("required", permission.as_str()))
        }
    }
}

/// The target that is named, else the first that the key was granted.
fn target(call: &Call<'_>, named: Option<&str>) -> Result<String, Failure> {
    let named = named.map(str::trim).filter(|named| !named.is_empty());
    let target = named
        .map(str::to_owned)
        .or_else(|| call.actor.grants.replay_targets.first().cloned())
        .ok_or(ErrorCode::ReplayTargetRequired)?;
    if target.len() > URL_BYTES {
        return Err(refused("the URL is longer than 2,048 bytes"));
    }
    Ok(target)
}

/// A target that the guard refuses: as what kind of address, and never as which.
fn refused(words: &str) -> Failure {
    Failure::argument(Dialect::Events, "target_url", words)
}

/// One line for every attempt: the host of the target alone, for its path may hold a token.
fn log(call: &Call<'_>, event: &EventRow, target: &str, status: Option<u16>, response_ms: u64) {
    let parsed = url::Url::parse(target).ok();
    let target_host = parsed.as_ref().and_then(|url| url.host_str());
    tracing::info!(
        target: "postroom::replay",
        request_id = %call.context.request_id,
        key = call.actor.key.map(|key| key.to_string()),
        event_id = event.id,
        target_host,
        delivered = status.is_some(),
        response_status = status,
        response_ms,
        "an event was replayed"
    );
}
