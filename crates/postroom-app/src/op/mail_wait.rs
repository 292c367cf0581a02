//! `mail_wait`: the next mail that fits, as soon as it is there.

use std::time::Duration;

use postroom_core::Direction;
use postroom_store::{
    FeedPosition,
    read::{self, Message as Stored, WaitFilter},
};
use postroom_types::{
    Dialect, ErrorCode, Level, Permission, ThreadId, Timestamp,
    limit::{FRESH_WAIT_MS, MESSAGE_TEXT_CHARS},
};

use super::reading::{self, Depth};
use crate::{
    Failure,
    clock::monotonic,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::{ContentNotice, Message, Verification},
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "mail_wait",
    title: "Wait for mail",
    description: "Wait until a message arrives that fits all filters, and get the oldest such message. Start it before you do what \
        makes the mail come, or give `since`. For the answer to a mail you sent, give `thread_id` and kind `reply`. When nothing came in time, `timed_out` is true and you may call again. \
        Verification codes are not extracted yet: read them in the message.",
    toolset: Toolset::Mail,
    permission: Permission::SearchRead,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::get("/v1/identities/{identity_id}/wait")],
    include: &[],
    annotations: Annotations::READ,
    streams: true,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::IdentityNotFound, ErrorCode::ThreadNotFound],
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
    /// Only mail from this address, or from this domain written as `@example.com`.
    #[schemars(length(max = 254))]
    from: Option<String>,
    /// Only mail whose subject contains this, in any case.
    #[schemars(length(max = 200))]
    subject_contains: Option<String>,
    /// Only mail that joins this thread.
    thread_id: Option<ThreadId>,
    /// `any` mail, or a `reply`: mail that came after our own latest in its thread, or that answers one of
    /// ours and that we have not answered. `verification` is not available yet.
    #[serde(default)]
    kind: Kind,
    /// Only mail that came in after this; now when left out.
    since: Option<Timestamp>,
    /// How long to wait, in seconds.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = 60))]
    timeout_seconds: u64,
}

#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    serde::Deserialize,
    serde::Serialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Kind {
    /// Any mail.
    #[default]
    Any,
    /// An answer to mail of ours.
    Reply,
    /// Mail with a code or link.
    Verification,
}

fn default_timeout() -> u64 {
    30
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The message; null when none came in time.
    message: Option<Message>,
    /// A code or link of the message; always null for now.
    verification: Option<Verification>,
    /// Whether the time ran out.
    timed_out: bool,
    /// Present and true when a text was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
    /// Whose words these are.
    content_notice: ContentNotice,
}

/// Messages that one look at the store takes.
const LOOK_MESSAGES: usize = 50;
/// How often a waiting caller hears how long it has waited.
const PROGRESS: Duration = Duration::from_secs(10);
/// A lost wake-up costs no more than this.
const POLL: Duration = Duration::from_secs(2);

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    if input.kind == Kind::Verification {
        return Err(Failure::invalid(
            "kind",
            "verification is not available yet; wait for any and read the message",
        ));
    }
    let scope = *call.scope()?;
    let mut wake = call.room.store().feed(scope.tenant());
    wake.borrow_and_update();
    let mut look = Look::new(&input, call.room.position(&scope).await?.last)?;
    let began = monotonic();
    let patience = Duration::from_secs(input.timeout_seconds);
    let mut told = Duration::ZERO;
    loop {
        if let Some(found) = look.next(call).await? {
            announce(call, &found).await;
            return answer(call, &found).await;
        }
        let waited = began.elapsed();
        if waited >= patience || call.room.stopping().is_cancelled() {
            return Ok(nothing());
        }
        if waited >= told + PROGRESS {
            told = waited;
            let (elapsed, total) = (waited.as_secs_f64(), patience.as_secs_f64());
            call.context
                .report(elapsed.floor(), Some(total), "waiting for mail");
        }
        let pause = (patience - waited).min(told + PROGRESS - waited).min(POLL);
        tokio::select! {
            changed = wake.changed() => if changed.is_err() { return Ok(nothing()) },
            () = tokio::time::sleep(pause) => {}
            () = call.context.cancel.cancelled() => return Ok(nothing()),
            () = call.room.stopping().cancelled() => {}
        }
        wake.borrow_and_update();
    }
}

/// A message is announced once it can be found, or after a second.
async fn announce(call: &Call<'_>, found: &Stored) {
    if let Ok(scope) = call.scope() {
        let patience = Duration::from_millis(FRESH_WAIT_MS);
        call.room
            .indexing
            .reached(scope.tenant(), FeedPosition::at(found.row.num), patience)
            .await;
    }
}

/// What is waited for, and how far the mailbox was looked through.
struct Look {
    filter: WaitFilter,
    thread: Option<ThreadId>,
    from: Option<Sender>,
    subject: Option<String>,
    kind: Kind,
}

/// Whom `from` names.
enum Sender {
    Address(String),
    Domain(String),
}

impl Look {
    fn new(input: &Input, position: u64) -> Result<Self, Failure> {
        let from = match input.from.as_deref().map(str::trim) {
            None => None,
            Some(from) => Some(Sender::named(from).ok_or_else(|| {
                Failure::invalid(
                    "from",
                    "give an address, or a domain written as @example.com",
                )
            })?),
        };
        Ok(Self {
            filter: WaitFilter {
                // Without `since` the position tells what is new; two mails may share a millisecond.
                since: input
                    .since
                    .map_or(Timestamp::from_ms(i64::MIN), |since| since.plus_ms(1)),
                thread: None,
                above: if input.since.is_some() { 0 } else { position },
                limit: LOOK_MESSAGES,
            },
            thread: input.thread_id,
            from,
            subject: input
                .subject_contains
                .as_ref()
                .map(|part| part.to_lowercase()),
            kind: input.kind,
        })
    }

    /// The oldest message that fits among those not looked at yet.
    async fn next(&mut self, call: &Call<'_>) -> Result<Option<Stored>, Failure> {
        if let Some(asked) = self.thread {
            // Asked each time: another mail may have merged the thread into an older one.
            let found = read::thread(call.room.store(), call.scope()?, asked).await?;
            self.filter.thread = Some(found.ok_or(ErrorCode::ThreadNotFound)?.row.id);
        }
        loop {
            let messages =
                read::messages_after(call.room.store(), call.scope()?, &self.filter).await?;
            let full = messages.len() >= LOOK_MESSAGES;
            for message in messages {
                self.filter.above = self.filter.above.max(message.row.num);
                if self.fits(call, &message).await? {
                    return Ok(Some(message));
                }
            }
            if !full {
                return Ok(None);
            }
        }
    }

    async fn fits(&self, call: &Call<'_>, message: &Stored) -> Result<bool, Failure> {
        // What became of a mail is told by its deliveries; who waits for the reporter itself names it.
        let passed_over = message.doc.tells_fate && self.from.is_none();
        if message.row.direction != Direction::Inbound || passed_over {
            return Ok(false);
        }
        let sender = message.doc.from.as_ref();
        let from_fits = self
            .from
            .as_ref()
            .is_none_or(|named| match (named, sender) {
                (Sender::Address(address), Some(from)) => from.address == *address,
                (Sender::Domain(domain), Some(from)) => from.domain() == Some(domain.as_str()),
                (_, None) => false,
            });
        let subject_fits = self.subject.as_ref().is_none_or(|part| {
            message
                .doc
                .subject
                .as_ref()
                .is_some_and(|subject| subject.to_lowercase().contains(part))
        });
        if !(from_fits && subject_fits) {
            return Ok(false);
        }
        match self.kind {
            Kind::Reply => is_reply(call, message).await,
            Kind::Any | Kind::Verification => Ok(true),
        }
    }
}

/// Messages of a thread among which ours are looked for, on each side of the one in question.
const THREAD_LOOKED_AT: usize = 200;
/// A clock of somebody else may put a message so much behind one that it came before.
const CLOCK_MS: i64 = 10 * 60 * 1_000;

/// Whether a message answers mail of ours: it came after our latest in the thread, or it names one of
/// ours and nobody answered it since.
async fn is_reply(call: &Call<'_>, message: &Stored) -> Result<bool, Failure> {
    let row = &message.row;
    let near = Some((row.sort_at.plus_ms(-CLOCK_MS), 0));
    let (mut before, mut after) = (false, false);
    let (mut names_ours, mut answered) = (false, false);
    for from in [None, near] {
        let (store, scope) = (call.room.store(), call.scope()?);
        let found = read::thread_messages(store, scope, row.thread_id, from, THREAD_LOOKED_AT);
        for own in found.await? {
            if own.row.direction != Direction::Outbound {
                continue;
            }
            let later = own.row.num > row.num;
            before |= !later;
            after |= later;
            names_ours |= message.doc.in_reply_to.contains(&own.row.rfc_message_id);
            answered |= later && own.doc.in_reply_to.contains(&row.rfc_message_id);
        }
    }
    Ok(match after {
        true => names_ours && !answered,
        false => before,
    })
}

impl Sender {
    fn named(from: &str) -> Option<Self> {
        if let Some(domain) = from.strip_prefix('@') {
            let address = postroom_types::Address::parse(&format!("any@{domain}")).ok()?;
            return Some(Self::Domain(address.domain().to_owned()));
        }
        let (local, domain) = from.rsplit_once('@')?;
        (!local.is_empty() && !domain.is_empty())
            .then(|| Self::Address(postroom_types::Mailbox::from_header(from, "").address))
    }
}

async fn answer(call: &Call<'_>, found: &Stored) -> Result<Output, Failure> {
    let depth = Depth {
        text_chars: call.for_agent().then_some(MESSAGE_TEXT_CHARS),
        ..Depth::default()
    };
    let (message, truncated) = reading::message_view(call, found, depth).await?;
    Ok(Output {
        message: Some(message),
        timed_out: false,
        truncated: truncated.then_some(true),
        ..nothing()
    })
}

/// The answer when no mail came in time.
fn nothing() -> Output {
    Output {
        message: None,
        verification: None,
        timed_out: true,
        truncated: None,
        content_notice: ContentNotice,
    }
}
