//! `suppression_remove`: an address may be written to again.

use postroom_core::{Command, RemoveSuppression};
use postroom_types::{Dialect, ErrorCode, Level, Permission, SuppressionId, TenantId};

use super::address_of;
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::suppressed_hash,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "suppression_remove",
    title: "Write to an address again",
    description: "Let an address be written to again: named itself, or by its entry in suppression_list. One whose owner complained goes only with `confirm_complaint`, when they asked to \
        hear from you.",
    toolset: Toolset::Admin,
    permission: Permission::SuppressionsManage,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::Tenant,
    bucket: None,
    routes: &[Route::post("/v1/suppressions/remove")],
    include: &[],
    annotations: Annotations::CHANGE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::AddressInvalid,
        ErrorCode::AddressUnsupported,
        ErrorCode::SuppressionNotFound,
        ErrorCode::TenantNotFound,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tenant; only a key of the whole deployment needs it.
    #[expect(dead_code, reason = "read where the scope is granted")]
    tenant_id: Option<TenantId>,
    /// The address; or give `suppression_id`.
    #[schemars(length(max = 254))]
    address: Option<String>,
    /// The entry's `id` in suppression_list, where nobody knows the address any more.
    suppression_id: Option<SuppressionId>,
    /// Also when its owner called a mail spam.
    #[serde(default)]
    confirm_complaint: bool,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Always true: it is written to again.
    removed: bool,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let tenant = call.scope()?.tenant();
    let hash = match (&input.address, input.suppression_id) {
        (Some(address), None) => {
            let address = address_of(address)?.with_detail();
            call.room.store().keys().address_hash(tenant, &address)
        }
        (None, Some(id)) => suppressed_hash(id),
        _ => {
            let words = "give either address or suppression_id";
            return Err(Failure::invalid("address", words));
        }
    };
    let remove = RemoveSuppression {
        tenant,
        hash,
        confirm_complaint: input.confirm_complaint,
    };
    let command = Command::RemoveSuppression(remove);
    call.room.store().transact(command).await?;
    Ok(Output { removed: true })
}
