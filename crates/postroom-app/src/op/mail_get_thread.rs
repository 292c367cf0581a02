//! `mail_get_thread`: one conversation, oldest message first.

use postroom_store::read;
use postroom_types::{
    Dialect, ErrorCode, Level, Permission, ThreadId, Timestamp,
    limit::{THREAD_TEXT_CHARS, TOOL_RESULT_BYTES},
};

use super::reading::{self, Depth};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::{ContentNotice, Message, ThreadSummary, fit, json_bytes},
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "mail_get_thread",
    title: "Read a thread",
    description: "Read one conversation, oldest message first, each message without the history it quotes. Open the best ranked \
        threads of a search rather than all of them. Long texts are cut; mail_get_message has more of them.",
    toolset: Toolset::Mail,
    permission: Permission::MessagesRead,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::get(
        "/v1/identities/{identity_id}/threads/{thread_id}",
    )],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::IdentityNotFound,
        ErrorCode::ThreadNotFound,
        ErrorCode::CursorExpired,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The thread.
    thread_id: ThreadId,
    /// The mailbox: an id or address from mail_list_identities. An agent's key may leave it out.
    #[schemars(length(max = 254))]
    identity: Option<String>,
    /// Messages per page.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 50))]
    messages_limit: u32,
    /// Also give each text with the history it quotes.
    #[serde(default)]
    include_quoted: bool,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

fn default_limit() -> u32 {
    10
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    #[serde(flatten)]
    thread: ThreadSummary,
    /// The messages, oldest first.
    messages: Vec<Message>,
    /// Gives the next page; null on the last.
    next_cursor: Option<String>,
    /// Present and true when a text or the page was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
    /// Whose words these are.
    content_notice: ContentNotice,
}

/// What a cursor of this list is bound to: the thread that holds the messages now.
#[derive(serde::Serialize)]
struct Filters {
    thread: ThreadId,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let (store, scope) = (call.room.store(), call.scope()?);
    let thread = read::thread(store, scope, input.thread_id)
        .await?
        .ok_or(ErrorCode::ThreadNotFound)?;
    // A thread that was merged meanwhile keeps its cursors: they are bound to what was asked for.
    let filters = Filters {
        thread: input.thread_id,
    };
    let after: Option<(Timestamp, u64)> = call.open_cursor(&filters, input.cursor.as_deref())?;
    let limit = input.messages_limit as usize;
    let mut stored = read::thread_messages(store, scope, thread.row.id, after, limit + 1).await?;
    let more = stored.len() > limit;
    stored.truncate(limit);
    let depth = Depth {
        text_chars: call.for_agent().then_some(THREAD_TEXT_CHARS),
        quoted: input.include_quoted,
        headers: false,
    };
    let views = reading::message_views(call, &stored, depth).await?;
    let (mut messages, cuts): (Vec<Message>, Vec<bool>) = views.into_iter().unzip();
    let summary = reading::thread_view(&thread);
    let envelope = json_bytes(&summary) + 1_024;
    let dropped = call.for_agent() && fit(&mut messages, envelope, TOOL_RESULT_BYTES);
    let truncated = dropped || cuts.iter().take(messages.len()).any(|cut| *cut);
    let last = stored
        .get(messages.len().saturating_sub(1))
        .filter(|_| more || dropped);
    let next_cursor = match last {
        Some(last) => Some(call.seal_cursor(&filters, &(last.row.sort_at, last.row.num))?),
        None => None,
    };
    Ok(Output {
        thread: summary,
        messages,
        next_cursor,
        truncated: truncated.then_some(true),
        content_notice: ContentNotice,
    })
}
