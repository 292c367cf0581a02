//! `address_retire`: ends an address of a mailbox.

use postroom_core::{Command, Outcome};
use postroom_store::read;
use postroom_types::{AddressId, Dialect, ErrorCode, Level, Permission};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::Address,
};

/// Milliseconds of a day.
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "address_retire",
    title: "Retire an address",
    description: "End an address of a mailbox, at once or after some days in which it still receives. It is never given to anybody else.",
    toolset: Toolset::Admin,
    permission: Permission::IdentitiesWrite,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::delete(
        "/v1/identities/{identity_id}/addresses/{address_id}",
    )],
    include: &[],
    annotations: Annotations::CHANGE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::AddressNotFound, ErrorCode::IdentityNotFound],
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
    /// The address's id.
    address_id: AddressId,
    /// Days in which it still receives.
    #[serde(default)]
    #[schemars(range(min = 0, max = 365))]
    after_days: u32,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Address, Failure> {
    let (store, scope) = (call.room.store(), call.scope()?);
    let found = read::identity(store, scope, call.identity()?)
        .await?
        .ok_or(ErrorCode::IdentityNotFound)?;
    if !found.addresses.iter().any(|row| row.id == input.address_id) {
        return Err(ErrorCode::AddressNotFound.into());
    }
    let command = Command::RetireAddress {
        tenant: scope.tenant(),
        address: input.address_id,
        at: (input.after_days > 0)
            .then(|| call.now().plus_ms(i64::from(input.after_days) * DAY_MS)),
    };
    match store.transact(command).await? {
        Outcome::Address(row) => Ok(row.into()),
        _ => Err(ErrorCode::InternalError.into()),
    }
}
