//! `identity_get`: one mailbox.

use postroom_store::read;
use postroom_types::{Dialect, ErrorCode, Level, Permission};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::Identity,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "identity_get",
    title: "Read a mailbox",
    description: "Read one mailbox with its addresses.",
    toolset: Toolset::Admin,
    permission: Permission::IdentitiesRead,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::get("/v1/identities/{identity_id}")],
    include: &[],
    annotations: Annotations::READ,
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
    /// Id or address of the mailbox; a mailbox's own key may leave it out.
    #[expect(dead_code, reason = "read where the scope is granted")]
    #[schemars(length(max = 254))]
    identity: Option<String>,
}

async fn run(call: &Call<'_>, _input: Input) -> Result<Identity, Failure> {
    read::identity(call.room.store(), call.scope()?, call.identity()?)
        .await?
        .map(|found| Identity::new(found.row, found.addresses))
        .ok_or_else(|| ErrorCode::IdentityNotFound.into())
}
