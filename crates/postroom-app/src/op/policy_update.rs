//! `policy_update`: changes what a tenant's mailboxes may send.

use postroom_core::{Command, Outcome, PolicyPatch, SetPolicy};
use postroom_types::{Dialect, ErrorCode, Level, Permission, TenantId};
use serde_json::{Map, Value};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::Policy,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "policy_update",
    title: "Change the sending policy",
    description: "Change what the tenant's mailboxes may send. What is left out stays; `reset` names what goes back to its built-in \
        value. The whole is refused when one value is.",
    toolset: Toolset::Admin,
    permission: Permission::PolicyWrite,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::Tenant,
    bucket: None,
    routes: &[Route::patch("/v1/policy")],
    include: &[],
    annotations: Annotations::CHANGE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::TenantNotFound],
    input: schema::input::<Input>,
    output: schema::output::<Policy>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tenant; only a key of the whole deployment needs it.
    #[serde(skip_serializing)]
    #[expect(dead_code, reason = "read where the scope is granted")]
    tenant_id: Option<TenantId>,
    /// Recipients that one mailbox writes to per day.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    identity_daily_send_cap: Option<u64>,
    /// Recipients that the tenant writes to per day.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    tenant_daily_send_cap: Option<u64>,
    /// Recipients of one mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 49))]
    max_recipients: Option<u64>,
    /// Write only to addresses on the allow list.
    #[serde(skip_serializing_if = "Option::is_none")]
    send_allowlist_only: Option<bool>,
    /// How mails say that a program wrote them.
    #[serde(skip_serializing_if = "Option::is_none")]
    ai_disclosure: Option<Disclosure>,
    /// Automatic answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_reply: Option<AutoReply>,
    /// Fields that go back to their built-in values.
    #[serde(skip_serializing)]
    #[schemars(length(max = 16))]
    reset: Option<Vec<Field>>,
}

/// See [`Input::ai_disclosure`].
#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Disclosure {
    /// Not at all, in the last line, or in a header field.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<Mode>,
    /// The words of the footer; ours when empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 500))]
    text: Option<String>,
}

/// See [`Disclosure::mode`].
#[derive(Debug, Clone, Copy, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Mode {
    /// Not at all.
    None,
    /// In the last line.
    Footer,
    /// In a header field.
    Header,
}

/// See [`Input::auto_reply`].
#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct AutoReply {
    /// Whether there may be any.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<bool>,
    /// How many in one thread since the last mail that somebody decided on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10))]
    max_automatic_exchanges: Option<u64>,
}

/// A field of the policy.
#[derive(Debug, Clone, Copy, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Field {
    /// Recipients that one mailbox writes to per day.
    IdentityDailySendCap,
    /// Recipients that the tenant writes to per day.
    TenantDailySendCap,
    /// Recipients of one mail.
    MaxRecipients,
    /// Whether only addresses on the allow list are written to.
    SendAllowlistOnly,
    /// How mails say that a program wrote them.
    AiDisclosure,
    /// Automatic answers.
    AutoReply,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Policy, Failure> {
    let command = Command::SetPolicy(SetPolicy {
        tenant: call.scope()?.tenant(),
        patch: patch(&input)?,
    });
    match call.room.store().transact(command).await? {
        Outcome::Policy(row) => Ok(row.own.effective().into()),
        _ => Err(ErrorCode::InternalError.into()),
    }
}

/// The change as the store takes it: a field that is null goes back to its built-in value.
fn patch(input: &Input) -> Result<PolicyPatch, Failure> {
    let Value::Object(mut fields) = schema::write(input)? else {
        return Err(ErrorCode::InternalError.into());
    };
    let reset = schema::write(&input.reset)?;
    for name in reset.as_array().into_iter().flatten() {
        let Some(name) = name.as_str() else { continue };
        if fields.insert(name.to_owned(), Value::Null).is_some() {
            return Err(Failure::invalid("reset", "names a field that is given too"));
        }
    }
    if fields.is_empty() {
        return Err(Failure::invalid("reset", "give a field, or name one here"));
    }
    read(fields)
}

fn read(fields: Map<String, Value>) -> Result<PolicyPatch, Failure> {
    schema::read(Value::Object(fields))
}
