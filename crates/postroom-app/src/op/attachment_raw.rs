//! `attachment_raw`: the bytes of a file that a mail carries.

use postroom_types::{AttachmentId, Dialect, ErrorCode, Level, MessageId, Permission};

use super::reading;
use crate::{
    Failure,
    operation::{
        Annotations, BytesBody, Call, Operation, Route, ScopeRule, Toolset, bytes_out_handler,
    },
    schema,
};

/// Extensions are cut here; a longer one is none.
const EXTENSION_CHARS: usize = 8;

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "attachment_raw",
    title: "Download an attachment",
    description: "Get the bytes of one attachment, decoded.",
    toolset: Toolset::Admin,
    permission: Permission::AttachmentsRead,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::get(
        "/v1/identities/{identity_id}/messages/{message_id}/attachments/{attachment_id}/raw",
    )],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::IdentityNotFound,
        ErrorCode::MessageNotFound,
        ErrorCode::AttachmentNotFound,
    ],
    input: schema::input::<Input>,
    output: schema::bytes,
    handler: bytes_out_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The message.
    message_id: MessageId,
    /// The attachment, from the message's `attachments`.
    attachment_id: AttachmentId,
    /// The mailbox: an id or address. An identity key may leave it out.
    #[schemars(length(max = 254))]
    identity: Option<String>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<BytesBody, Failure> {
    let (raw, index) = reading::attachment_of(call, input.message_id, input.attachment_id).await?;
    let body = tokio::task::spawn_blocking(move || postroom_mail::attachment(&raw, index))
        .await
        .map_err(|_| Failure::new(ErrorCode::InternalError))?
        .ok_or(ErrorCode::AttachmentNotFound)?;
    Ok(BytesBody {
        bytes: body.bytes.into(),
        // What an outsider calls a file decides nothing in a browser.
        content_type: "application/octet-stream",
        filename: filename(input.attachment_id, body.attachment.filename.as_deref()),
    })
}

/// A file name of ours that keeps only the extension of theirs.
fn filename(id: AttachmentId, told: Option<&str>) -> String {
    let extension = told
        .and_then(|name| name.rsplit_once('.'))
        .map(|(_, end)| end);
    match extension.filter(|end| is_extension(end)) {
        Some(end) => format!("{id}.{}", end.to_ascii_lowercase()),
        None => id.to_string(),
    }
}

fn is_extension(end: &str) -> bool {
    (1..=EXTENSION_CHARS).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_an_extension_that_is_one() {
        let id = AttachmentId::from_parts(1, 1);
        for (told, end) in [
            (Some("Plan.PDF"), ".pdf"),
            (Some("a.tar.gz"), ".gz"),
            (Some("none"), ""),
            (Some("a.b\"\r\nx"), ""),
            (Some("a."), ""),
            (Some("a.ninechars"), ""),
            (Some("a.dé"), ""),
            (None, ""),
        ] {
            assert_eq!(filename(id, told), format!("{id}{end}"), "{told:?}");
        }
    }
}
