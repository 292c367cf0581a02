//! `mail_list_threads`: the conversations of a mailbox, newest first.

use postroom_store::read::{self, ThreadFilter};
use postroom_types::{Dialect, ErrorCode, Level, Permission, Timestamp, limit::TOOL_RESULT_BYTES};

use super::reading;
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::{ContentNotice, ThreadSummary, fit},
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "mail_list_threads",
    title: "List threads",
    description: "List the conversations of one mailbox, the latest first, with who takes part, how many messages are unread \
        and how the latest one begins. Use the filters to find work that waits (`is_unread`, `label`, a span of time). \
        To find mail about a topic use mail_search instead.",
    toolset: Toolset::Mail,
    permission: Permission::MessagesRead,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::get("/v1/identities/{identity_id}/threads")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::IdentityNotFound, ErrorCode::CursorExpired],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The mailbox: an id or address from mail_list_identities. An agent's key may leave it out.
    #[schemars(length(max = 254))]
    identity: Option<String>,
    /// Only threads with this label on one of their messages.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9_:-]{0,63}$"))]
    label: Option<String>,
    /// Not available yet.
    #[schemars(length(max = 32))]
    category: Option<String>,
    /// Not available yet.
    #[schemars(range(min = 0, max = 1))]
    needs_reply_gte: Option<f64>,
    /// Only threads with (true) or without (false) unread messages.
    is_unread: Option<bool>,
    /// Only threads whose latest message went this way.
    direction: Option<Direction>,
    /// Only threads whose latest message is from this time or later.
    after: Option<Timestamp>,
    /// Only threads whose latest message is from before this time.
    before: Option<Timestamp>,
    /// Archived threads instead of the others.
    #[serde(default)]
    archived: bool,
    /// Threads per page.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 50))]
    limit: u32,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Which way a message went.
#[derive(Debug, Clone, Copy, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum Direction {
    /// It came in.
    Inbound,
    /// It was sent from here.
    Outbound,
}

fn default_limit() -> u32 {
    20
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The threads, the latest first.
    data: Vec<ThreadSummary>,
    /// Gives the next page; null on the last.
    next_cursor: Option<String>,
    /// Present and true when the page was cut to the size of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
    /// Whose words these are.
    content_notice: ContentNotice,
}

/// What a cursor of this list is bound to.
#[derive(serde::Serialize)]
struct Filters<'a> {
    identity: postroom_types::IdentityId,
    label: &'a Option<String>,
    is_unread: Option<bool>,
    direction: Option<Direction>,
    after: Option<Timestamp>,
    before: Option<Timestamp>,
    archived: bool,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    if input.category.is_some() {
        return Err(not_available("category"));
    }
    if input.needs_reply_gte.is_some() {
        return Err(not_available("needs_reply_gte"));
    }
    let filters = Filters {
        identity: call.identity()?,
        label: &input.label,
        is_unread: input.is_unread,
        direction: input.direction,
        after: input.after,
        before: input.before,
        archived: input.archived,
    };
    let below = call.open_cursor(&filters, input.cursor.as_deref())?;
    let limit = input.limit as usize;
    let filter = ThreadFilter {
        label: input.label.clone(),
        unread: input.is_unread,
        direction: input.direction.map(Direction::stored),
        after: input.after,
        before: input.before,
        archived: input.archived,
        below,
        // One more tells whether there is another page.
        limit: limit + 1,
    };
    let mut threads = read::threads(call.room.store(), call.scope()?, &filter).await?;
    let more = threads.len() > limit;
    threads.truncate(limit);
    let mut data: Vec<ThreadSummary> = threads.iter().map(reading::thread_view).collect();
    let cut = call.for_agent() && fit(&mut data, ENVELOPE_BYTES, TOOL_RESULT_BYTES);
    let last = threads
        .get(data.len().saturating_sub(1))
        .filter(|_| more || cut);
    let next_cursor = match last {
        Some(last) => Some(call.seal_cursor(&filters, &(last.row.last_at, last.row.id))?),
        None => None,
    };
    Ok(Output {
        data,
        next_cursor,
        truncated: cut.then_some(true),
        content_notice: ContentNotice,
    })
}

/// Room for everything of an answer that is not an item.
pub(super) const ENVELOPE_BYTES: usize = 4_096;

pub(super) fn not_available(path: &str) -> Failure {
    Failure::invalid(path, "is not available yet; leave it out")
}

impl Direction {
    /// As the store has it.
    pub(crate) fn stored(self) -> postroom_core::Direction {
        match self {
            Self::Inbound => postroom_core::Direction::Inbound,
            Self::Outbound => postroom_core::Direction::Outbound,
        }
    }
}
