//! `import_failure_raw`: the very bytes of mail that an import could not take in.

use bytes::Bytes;
use postroom_store::read;
use postroom_types::{Dialect, ErrorCode, Level, Permission, TenantId};

use crate::{
    Failure,
    operation::{
        Annotations, BytesBody, Call, Operation, Route, ScopeRule, Toolset, bytes_out_handler,
    },
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "import_failure_raw",
    title: "Get the bytes of a failed import",
    description: "Get mail that an import could not take in, byte for byte, if its bytes were kept.",
    toolset: Toolset::Admin,
    permission: Permission::MessagesRead,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::Tenant,
    bucket: None,
    routes: &[Route::get("/v1/import-failures/{failure_id}/raw")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::ImportFailureNotFound, ErrorCode::TenantNotFound],
    input: schema::input::<Input>,
    output: schema::bytes,
    handler: bytes_out_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tenant; only a key of the whole deployment needs it.
    tenant_id: Option<TenantId>,
    /// The failure.
    failure_id: u64,
}

async fn run(call: &Call<'_>, input: Input) -> Result<BytesBody, Failure> {
    let kept = read::import_failure_payload(call.room.store(), call.scope()?, input.failure_id);
    let Some(raw) = kept.await? else {
        return Err(ErrorCode::ImportFailureNotFound.into());
    };
    Ok(BytesBody {
        bytes: Bytes::from(raw),
        content_type: "message/rfc822",
        filename: format!("import-failure-{}.eml", input.failure_id),
    })
}
