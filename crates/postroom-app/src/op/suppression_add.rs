//! `suppression_add`: no more mail to an address.

use postroom_core::{Command, Outcome, PutSuppression, SuppressionReason, masked};
use postroom_types::{Dialect, ErrorCode, Level, Permission, TenantId};

use super::address_of;
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::Suppression,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "suppression_add",
    title: "Suppress an address",
    description: "Write to an address no more. A mail to it and others still goes to the others.",
    toolset: Toolset::Admin,
    permission: Permission::SuppressionsManage,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::Tenant,
    bucket: None,
    routes: &[Route::post("/v1/suppressions").answering(201)],
    include: &[],
    annotations: Annotations::ADD,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::AddressInvalid,
        ErrorCode::AddressUnsupported,
        ErrorCode::TenantNotFound,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Suppression>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tenant; only a key of the whole deployment needs it.
    #[expect(dead_code, reason = "read where the scope is granted")]
    tenant_id: Option<TenantId>,
    /// The address.
    #[schemars(length(max = 254))]
    address: String,
    /// Why.
    #[serde(default)]
    reason: Reason,
}

/// Why somebody puts an address here.
#[derive(Debug, Clone, Copy, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Reason {
    /// Somebody here said so.
    #[default]
    Manual,
    /// Its owner wants no more.
    Unsubscribe,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Suppression, Failure> {
    let tenant = call.scope()?.tenant();
    let address = address_of(&input.address)?.with_detail();
    if address.contains('*') {
        let words = "one address; a whole domain is blocked by list_entry_add with @domain";
        return Err(Failure::invalid("address", words));
    }
    let put = PutSuppression {
        tenant,
        hash: call.room.store().keys().address_hash(tenant, &address),
        hint: masked(&address),
        reason: match input.reason {
            Reason::Manual => SuppressionReason::Manual,
            Reason::Unsubscribe => SuppressionReason::Unsubscribe,
        },
    };
    let command = Command::PutSuppression(put);
    match call.room.store().transact(command).await? {
        Outcome::Suppression(row) => Ok(row.into()),
        _ => Err(ErrorCode::InternalError.into()),
    }
}
