//! `mail_find_related`: other threads about the same thing.

use postroom_types::{Dialect, ErrorCode, Level, MessageId, Permission};

use super::reading;
use crate::{
    Failure, finding,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    rate::Bucket,
    schema,
    view::{ContentNotice, SearchHit},
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "mail_find_related",
    title: "Find related mail",
    description: "Find messages of other threads that are about the same thing as one message: they share its reference numbers \
        (invoice, booking, order) or the telling words of its subject. Use it to see what happened before, or whether \
        something was already handled elsewhere.",
    toolset: Toolset::Mail,
    permission: Permission::SearchRead,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: Some(Bucket::Search),
    routes: &[Route::get(
        "/v1/identities/{identity_id}/messages/{message_id}/related",
    )],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::IdentityNotFound, ErrorCode::MessageNotFound],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The message to start from.
    message_id: MessageId,
    /// The mailbox: an id or address from mail_list_identities. An agent's key may leave it out.
    #[schemars(length(max = 254))]
    identity: Option<String>,
    /// The most hits to give.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 20))]
    limit: u32,
}

fn default_limit() -> u32 {
    5
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The messages, the closest first.
    hits: Vec<SearchHit>,
    /// Whether a better engine was missing: matching by meaning is not available yet.
    degraded: bool,
    /// Present and true when hits were dropped to fit the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
    /// Whose words these are.
    content_notice: ContentNotice,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let source = reading::message(call, input.message_id).await?;
    let (hits, dropped) = finding::related(call, &source, input.limit as usize).await?;
    Ok(Output {
        hits,
        degraded: true,
        truncated: dropped.then_some(true),
        content_notice: ContentNotice,
    })
}
