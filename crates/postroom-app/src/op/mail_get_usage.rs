//! `mail_get_usage`: what was sent and what may still be sent.

use postroom_types::{Dialect, Level, Permission};

use super::sending::usage;
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::Usage,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "mail_get_usage",
    title: "See what may be sent",
    description: "See how many recipients this workspace and your mailbox have written to today and how many more they may. Every \
        caller below the platform may look. Look before you send many mails. A call that was refused for a limit stored nothing: repeat it with the same \
        `idempotency_key` after `resets_at`.",
    toolset: Toolset::Mail,
    permission: Permission::UsageRead,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::get("/v1/usage")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[],
    input: schema::input::<Input>,
    output: schema::output::<Usage>,
    handler: json_handler!(run),
};

/// It takes no arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

async fn run(call: &Call<'_>, _: Input) -> Result<Usage, Failure> {
    usage::of(call).await
}
