//! `identity_update`: changes a mailbox.

use std::collections::BTreeMap;

use postroom_core::{AutoReplyRule, Command, IdentityPatch, Outcome, UpdateIdentity};
use postroom_store::read;
use postroom_types::{Dialect, ErrorCode, Level, Permission};

use super::mail_list_identities::Status;
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::{Identity, Owner, Signature},
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "identity_update",
    title: "Change a mailbox",
    description: "Change a mailbox's name, purpose, owner, signature, limits on sending or metadata, or pause and resume it. A paused \
        mailbox still receives and sends nothing.",
    toolset: Toolset::Admin,
    permission: Permission::IdentitiesWrite,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::patch("/v1/identities/{identity_id}")],
    include: &[],
    annotations: Annotations::CHANGE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::IdentityNotFound],
    input: schema::input::<Input>,
    output: schema::output::<Identity>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Id or address of the mailbox.
    #[expect(dead_code, reason = "read where the scope is granted")]
    #[schemars(length(max = 254))]
    identity: Option<String>,
    /// Pauses or resumes it.
    status: Option<Status>,
    /// The name people see.
    #[schemars(length(min = 1, max = 78))]
    display_name: Option<String>,
    /// What it is for; empty takes it away.
    #[schemars(length(max = 64))]
    purpose: Option<String>,
    /// The person who answers for it.
    owner: Option<Owner>,
    /// What it puts under its mails; without text and HTML none.
    signature: Option<Signature>,
    /// Limits on what it sends, inside those of the tenant's policy; what is left out stays.
    send_policy: Option<SendPolicy>,
    /// All of its metadata.
    metadata: Option<BTreeMap<String, String>>,
}

/// See [`Input::send_policy`].
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct SendPolicy {
    /// Recipients per day.
    #[schemars(range(min = 0, max = 1_000_000))]
    daily_cap: Option<u64>,
    /// Whether it may answer automatically.
    auto_reply: Option<AutoReply>,
    /// Write only to people it has exchanged mail with.
    require_known_recipient: Option<bool>,
}

/// See [`SendPolicy::auto_reply`].
#[derive(Debug, Clone, Copy, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum AutoReply {
    /// As far as the policy of the tenant allows it.
    Allowed,
    /// Never.
    Denied,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Identity, Failure> {
    let send_policy = match input.send_policy {
        Some(change) => Some(send_policy(call, change).await?),
        None => None,
    };
    let patch = IdentityPatch {
        signature: input.signature.map(|signature| {
            let some = signature.text.is_some() || signature.html.is_some();
            some.then(|| signature.into())
        }),
        send_policy,
        status: input.status.map(Into::into),
        display_name: input.display_name,
        purpose: input
            .purpose
            .map(|purpose| (!purpose.is_empty()).then_some(purpose)),
        owner: input.owner.map(|owner| Some(owner.into_row())),
        metadata: input.metadata,
        pause_reason: None,
    };
    let command = Command::UpdateIdentity(UpdateIdentity {
        tenant: call.scope()?.tenant(),
        identity: call.identity()?,
        patch,
    });
    match call.room.store().transact(command).await? {
        Outcome::Identity { row, addresses, .. } => Ok(Identity::new(row, addresses)),
        _ => Err(ErrorCode::InternalError.into()),
    }
}

/// The limits as they become.
async fn send_policy(
    call: &Call<'_>,
    change: SendPolicy,
) -> Result<postroom_core::SendPolicy, Failure> {
    let found = read::identity(call.room.store(), call.scope()?, call.identity()?).await?;
    let known = found.ok_or(ErrorCode::IdentityNotFound)?.row.send_policy;
    Ok(postroom_core::SendPolicy {
        daily_cap: change.daily_cap.or(known.daily_cap),
        auto_reply: match change.auto_reply {
            Some(AutoReply::Allowed) => AutoReplyRule::Allowed,
            Some(AutoReply::Denied) => AutoReplyRule::Denied,
            None => known.auto_reply,
        },
        require_known_recipient: change
            .require_known_recipient
            .unwrap_or(known.require_known_recipient),
    })
}
