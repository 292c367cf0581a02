//! `outbox_list`: what a mailbox, or all of a tenant, sent.

use postroom_core::{MessageStatus, SendRow, SendState};
use postroom_store::read::{self, SendFilter};
use postroom_types::{
    Dialect, ErrorCode, IdentityId, Level, Mailbox, MessageId, Permission, TenantId, ThreadId,
    Timestamp,
};

use super::{reading, sending};
use crate::{
    Failure, authorise,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    transport::LATER,
    view::{self, ContentNotice, Delivery, visible},
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "outbox_list",
    title: "List sent mail",
    description: "List mail that was sent, newest first, with what became of it for each recipient. `state` uncertain finds mail of which \
        nobody knows whether it left.",
    toolset: Toolset::Admin,
    permission: Permission::MessagesRead,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::get("/v1/outbox")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::CursorExpired,
        ErrorCode::IdentityNotFound,
        ErrorCode::TenantNotFound,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tenant; only a key of the whole deployment needs it.
    tenant_id: Option<TenantId>,
    /// Only mail of this mailbox: its id or an address of it.
    #[schemars(length(max = 254))]
    identity: Option<String>,
    /// Only mail that is this far, or that as a whole came to this: `done` has every mail that its transport
    /// answered for, whatever it came to.
    state: Option<State>,
    /// Mails per page.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
    /// `next_cursor` of the page before.
    #[serde(skip_serializing)]
    cursor: Option<String>,
}

fn default_limit() -> u32 {
    25
}

/// How far a mail is.
#[derive(Debug, Clone, Copy, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum State {
    /// It waits for its transport.
    Queued,
    /// Its transport has it before it.
    Claimed,
    /// The transport answered for each recipient.
    Done,
    /// Nobody knows whether it left.
    Uncertain,
    /// Somebody took it back.
    Canceled,
    /// Its transport took it.
    Submitted,
    /// It arrived.
    Delivered,
    /// A recipient's server took it not yet.
    Deferred,
    /// It came back.
    Bounced,
    /// A recipient called it spam.
    Complained,
    /// The transport refused it.
    Rejected,
    /// It was given up.
    Failed,
    /// It was for nobody who may be written to.
    Suppressed,
}

impl State {
    /// How far a send is that it names.
    fn progress(self) -> Option<SendState> {
        match self {
            Self::Queued => Some(SendState::Queued),
            Self::Claimed => Some(SendState::Claimed),
            Self::Done => Some(SendState::Done),
            Self::Uncertain => Some(SendState::Uncertain),
            Self::Canceled => Some(SendState::Canceled),
            _ => None,
        }
    }

    /// What became of a mail that it names.
    fn outcome(self) -> Option<MessageStatus> {
        match self {
            Self::Submitted => Some(MessageStatus::Submitted),
            Self::Delivered => Some(MessageStatus::Delivered),
            Self::Deferred => Some(MessageStatus::Deferred),
            Self::Bounced => Some(MessageStatus::Bounced),
            Self::Complained => Some(MessageStatus::Complained),
            Self::Rejected => Some(MessageStatus::Rejected),
            Self::Failed => Some(MessageStatus::Failed),
            Self::Suppressed => Some(MessageStatus::Suppressed),
            _ => None,
        }
    }
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Mails, newest first.
    data: Vec<Item>,
    /// Gives the next page; null on the last one.
    next_cursor: Option<String>,
    /// Present and true when mails were dropped to fit the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
    /// Whose words a subject may hold.
    content_notice: ContentNotice,
}

/// One sent mail.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Item {
    /// The message.
    message_id: MessageId,
    /// Its thread.
    thread_id: ThreadId,
    /// The mailbox that sent it.
    identity_id: IdentityId,
    /// `send`, `reply` or `forward`.
    operation: String,
    /// What kind of mail.
    kind: String,
    /// What became of the whole.
    status: String,
    /// How far it is.
    state: String,
    /// Why the whole has this status, where that is known.
    reason: Option<String>,
    /// The transport that it was queued for; `later` where the server is to say it.
    transport: String,
    /// From which address.
    from: Option<Mailbox>,
    /// Its subject.
    subject: Option<String>,
    /// Attempts that ended.
    attempts: u64,
    /// When it is tried next.
    next_attempt_at: Option<Timestamp>,
    /// When it was queued.
    queued_at: Timestamp,
    /// What became of it for each recipient.
    deliveries: Vec<Delivery>,
}

/// Why the whole has its status: the words of the first recipient whose status it is. A mail that waits
/// has the words of its last try.
fn why(row: &SendRow, status: MessageStatus, deliveries: &[Delivery]) -> Option<String> {
    let whole = status.as_str();
    let mut of_status = deliveries
        .iter()
        .filter(|delivery| delivery.status == whole)
        .peekable();
    match of_status.peek() {
        Some(_) => of_status.find_map(|delivery| delivery.reason.clone()),
        None => row.reason.as_deref().map(visible),
    }
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let (store, scope) = (call.room.store(), call.scope()?);
    let identity = match &input.identity {
        Some(named) => Some(authorise::look_up(call.room, scope, named).await?),
        None => None,
    };
    let below: Option<u64> = call.open_cursor(&input, input.cursor.as_deref())?;
    let wanted = input.limit as usize;
    let filter = SendFilter {
        identity,
        state: input.state.and_then(State::progress),
        status: input.state.and_then(State::outcome),
        below,
        limit: wanted + 1,
    };
    let mut rows = read::sends(store, scope, &filter).await?;
    let more = rows.len() > wanted;
    rows.truncate(wanted);
    let nums: Vec<u64> = rows.iter().map(|row| row.num).collect();
    let messages = read::messages_of_nums(store, scope, &nums).await?;
    let mut fates = sending::fates(call, &messages).await?;
    let mut data = Vec::with_capacity(rows.len());
    let mut places = Vec::with_capacity(rows.len());
    for row in rows {
        let Some(stored) = messages.iter().find(|stored| stored.row.num == row.num) else {
            continue;
        };
        let fate = fates.remove(&row.message_id).unwrap_or_default();
        places.push(row.num);
        data.push(Item {
            message_id: row.message_id,
            thread_id: stored.row.thread_id,
            identity_id: row.identity_id,
            operation: row.operation.as_str().to_owned(),
            kind: row.kind.as_str().to_owned(),
            status: stored.row.status.as_str().to_owned(),
            state: row.state.as_str().to_owned(),
            reason: why(&row, stored.row.status, &fate.deliveries),
            transport: match row.transport == LATER && row.attempt > 0 {
                true => call.room.transport.configured().to_owned(),
                false => row.transport,
            },
            from: stored.doc.from.as_ref().map(reading::mailbox),
            subject: stored.doc.subject.as_deref().map(visible),
            attempts: row.attempt,
            next_attempt_at: row.next_attempt_at,
            queued_at: row.queued_at,
            deliveries: fate.deliveries,
        });
    }
    let cut =
        call.for_agent() && view::fit(&mut data, 200, postroom_types::limit::TOOL_RESULT_BYTES);
    let last = data.len().checked_sub(1).and_then(|last| places.get(last));
    Ok(Output {
        next_cursor: match last {
            Some(last) if more || cut => Some(call.seal_cursor(&input, last)?),
            _ => None,
        },
        truncated: cut.then_some(true),
        content_notice: ContentNotice,
        data,
    })
}
