//! `upload_create`: a file to attach later.

use bytes::Bytes;
use postroom_core::{Command, Outcome, PutUpload, RawMail};
use postroom_types::{Dialect, ErrorCode, Level, Permission, Timestamp, UploadId, limit};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, file_in_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "upload_create",
    title: "Upload a file",
    description: "Upload one file of at most 20 MiB to attach to a mail: the body is the file itself and no form, the content type its \
        media type. Give the answer's `id` as `content_base64` of an attachment within 24 hours.",
    toolset: Toolset::Admin,
    permission: Permission::MessagesSend,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::post("/v1/identities/{identity_id}/uploads").answering(201)],
    include: &[],
    annotations: Annotations::CREATE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::IdentityNotFound,
        ErrorCode::PayloadTooLarge,
        ErrorCode::Unavailable,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: file_in_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The mailbox: an id or address. An agent's key may leave it out.
    #[expect(dead_code, reason = "read where the scope is granted")]
    #[schemars(length(max = 254))]
    identity: Option<String>,
    /// The file's name.
    #[schemars(length(min = 1, max = 255))]
    filename: String,
    /// Its media type; the request's Content-Type when left out.
    #[schemars(length(max = 127))]
    content_type: Option<String>,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Stands for the file in an attachment's `content_base64`.
    id: UploadId,
    /// Its name.
    filename: String,
    /// Its media type.
    content_type: String,
    /// Its bytes.
    size: u64,
    /// SHA-256 of its bytes, in hex.
    sha256: String,
    /// Until when it can be attached.
    expires_at: Timestamp,
}

async fn run(call: &Call<'_>, input: Input, body: Bytes) -> Result<Output, Failure> {
    if body.is_empty() {
        return Err(Failure::invalid(
            "body",
            "is empty; send the file as the body",
        ));
    }
    if body.len() as u64 > limit::UPLOAD_BYTES {
        let words = format!("Send a file of at most {} bytes.", limit::UPLOAD_BYTES);
        return Err(Failure::new(ErrorCode::PayloadTooLarge).advising(words));
    }
    let content_type = input.content_type.filter(|kind| !kind.trim().is_empty());
    let put = PutUpload {
        tenant: call.scope()?.tenant(),
        identity: call.identity()?,
        filename: input.filename,
        content_type: content_type.unwrap_or_else(|| "application/octet-stream".to_owned()),
        raw: RawMail::new(body.to_vec()),
    };
    let command = Command::PutUpload(Box::new(put));
    match call.room.store().transact(command).await? {
        Outcome::Upload(row) => Ok(Output {
            id: row.id,
            filename: row.filename,
            content_type: row.content_type,
            size: row.size,
            sha256: hex::encode(row.sha256),
            expires_at: row.expires_at,
        }),
        _ => Err(ErrorCode::InternalError.into()),
    }
}
