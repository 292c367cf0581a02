//! `address_add`: one more address for a mailbox.

use postroom_core::{AddressRole, Command, Outcome};
use postroom_types::{Dialect, ErrorCode, Level, Permission};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::Address,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "address_add",
    title: "Add an address",
    description: "Give a mailbox one more address. As `primary` it becomes the one it writes from, and the old one stays as an alias.",
    toolset: Toolset::Admin,
    permission: Permission::IdentitiesWrite,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::post("/v1/identities/{identity_id}/addresses").answering(201)],
    include: &[],
    annotations: Annotations::CREATE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::AddressInvalid,
        ErrorCode::AddressLimitReached,
        ErrorCode::AddressReserved,
        ErrorCode::AddressTaken,
        ErrorCode::AddressUnsupported,
        ErrorCode::DomainUnavailable,
        ErrorCode::IdentityNotFound,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Address>,
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
    /// The new address.
    #[schemars(length(max = 254))]
    address: String,
    /// What it is to the mailbox.
    #[serde(default)]
    role: Role,
}

/// What an address is to its mailbox.
#[derive(
    Debug, Clone, Copy, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It receives.
    #[default]
    Alias,
    /// It receives, and mail is sent from it.
    Primary,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Address, Failure> {
    let address = super::address_of(&input.address)?;
    super::check_domain(call, address.domain())?;
    let command = Command::AddAddress {
        tenant: call.scope()?.tenant(),
        identity: call.identity()?,
        address,
        role: match input.role {
            Role::Alias => AddressRole::Alias,
            Role::Primary => AddressRole::Primary,
        },
    };
    match call.room.store().transact(command).await? {
        Outcome::Address(row) => Ok(row.into()),
        _ => Err(ErrorCode::InternalError.into()),
    }
}
