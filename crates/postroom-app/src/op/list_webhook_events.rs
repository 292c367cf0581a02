//! `list_webhook_events`: what arrived, newest first.

use postroom_core::Disposition;
use postroom_store::read::{self, EventFilter, Since};
use postroom_types::{Dialect, Level, Permission, SourceId, Timestamp};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::EventSummary,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "list_webhook_events",
    title: "List arrivals",
    description: "List what arrived, newest first: every webhook and every mail that came in, with how its channel was checked. \
        Summaries only; get_webhook_event gives headers and payload. To see what is new, pass the highest id you \
        know as `since`; to page back, pass `next_cursor` with the same filters.",
    toolset: Toolset::Events,
    permission: Permission::EventsRead,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::get("/v1/events")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Events,
    errors: &[],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Only from this provider, such as `github`, `stripe`, `smtp` or `import`.
    provider: Option<String>,
    /// Only of this type, such as `message.received`.
    event_type: Option<String>,
    /// Only what went this way: to a queue or mailbox, nowhere by a rule, held back by a rule or for
    /// its actor, or held back because a rule could not be evaluated.
    disposition: Option<GivenDisposition>,
    /// Only through this source.
    source_id: Option<SourceId>,
    /// The old edge: an RFC 3339 instant (inclusive), or an event id (only later ones).
    since: Option<String>,
    /// Events per page.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 200))]
    limit: u32,
    /// `next_cursor` of the page before, with the same filters.
    cursor: Option<String>,
}

/// Where an event went.
#[derive(Debug, Clone, Copy, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum GivenDisposition {
    /// To a queue or mailbox.
    Routed,
    /// Nowhere, by a rule.
    Dropped,
    /// Held back by a rule or for its actor.
    Quarantined,
    /// Held back because a rule could not be evaluated.
    Faulted,
}

fn default_limit() -> u32 {
    50
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Events, newest first.
    events: Vec<EventSummary>,
    /// Gives the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let filters = (
        &input.provider,
        &input.event_type,
        &input.since,
        &input.disposition,
        &input.source_id,
    );
    let below: Option<u64> = call.open_cursor(&filters, input.cursor.as_deref())?;
    let wanted = input.limit as usize;
    let filter = EventFilter {
        provider: input.provider.clone(),
        event_type: input.event_type.clone(),
        disposition: input.disposition.map(|given| match given {
            GivenDisposition::Routed => Disposition::Routed,
            GivenDisposition::Dropped => Disposition::Dropped,
            GivenDisposition::Quarantined => Disposition::Quarantined,
            GivenDisposition::Faulted => Disposition::Faulted,
        }),
        source: input.source_id,
        since: input.since.as_deref().map(since).transpose()?,
        below,
        limit: wanted + 1,
    };
    let found = read::events(call.room.store(), call.scope()?, &filter).await?;
    let more = found.len() > wanted;
    let events: Vec<EventSummary> = found.iter().take(wanted).map(EventSummary::from).collect();
    // Ids are given out in the order of commits and received_at never falls behind them, so what is
    // below the last id is exactly the rest of the list, whatever arrives meanwhile.
    let next_cursor = match events.last() {
        Some(last) if more => Some(call.seal_cursor(&filters, &last.id)?),
        _ => None,
    };
    Ok(Output {
        events,
        next_cursor,
    })
}

fn since(text: &str) -> Result<Since, Failure> {
    // `parse` alone would take a sign.
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if let (true, Ok(id)) = (digits, text.parse::<u64>()) {
        return Ok(Since::After(id));
    }
    text.parse::<Timestamp>().map(Since::At).map_err(|_| {
        Failure::argument(
            Dialect::Events,
            "since",
            "must be an RFC 3339 instant or an event id",
        )
    })
}
