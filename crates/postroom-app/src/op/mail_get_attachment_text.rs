//! `mail_get_attachment_text`: what an attachment says.

use postroom_types::{
    AttachmentId, Dialect, ErrorCode, Level, MessageId, Permission, limit::ATTACHMENT_PAGE_CHARS,
};

use super::reading;
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::ContentNotice,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "mail_get_attachment_text",
    title: "Read an attachment's text",
    description: "Read the text of one attachment, page by page, when the answer is inside it. `status` says whether there is text: \
        `ready` it is here; `pending` not yet, ask again; `unavailable` it could not be read; `skipped` this type is not read. \
        Text, HTML, calendar and mail attachments are read.",
    toolset: Toolset::Mail,
    permission: Permission::AttachmentsRead,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::get(
        "/v1/identities/{identity_id}/messages/{message_id}/attachments/{attachment_id}/text",
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
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The message.
    message_id: MessageId,
    /// The attachment, from the message's `attachments`.
    attachment_id: AttachmentId,
    /// The mailbox: an id or address from mail_list_identities. An agent's key may leave it out.
    #[schemars(length(max = 254))]
    identity: Option<String>,
    /// One page or a span of pages, such as `4` or `4-9`.
    #[serde(default = "default_pages")]
    #[schemars(regex(pattern = r"^[1-9][0-9]{0,2}(-[1-9][0-9]{0,2})?$"))]
    pages: String,
}

fn default_pages() -> String {
    "1-3".to_owned()
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Whether there is text.
    status: Status,
    /// The pages asked for that exist.
    pages: Vec<Page>,
    /// How many pages there are.
    total_pages: Option<u32>,
    /// Whether a page or the list of pages was cut.
    truncated: bool,
    /// Whose words these are.
    content_notice: ContentNotice,
}

/// Whether an attachment's text can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Status {
    /// Not yet.
    #[expect(dead_code, reason = "no type is read in the background yet")]
    Pending,
    /// It is here.
    Ready,
    /// It could not be read.
    Unavailable,
    /// This type is not read.
    Skipped,
}

/// One page.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
struct Page {
    /// Its number, from 1.
    #[schemars(range(min = 1))]
    page: u32,
    /// Its text.
    text: String,
    /// Present and true when the text was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    text_truncated: Option<bool>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let wanted = span(&input.pages)?;
    let (raw, index) = reading::attachment_of(call, input.message_id, input.attachment_id).await?;
    let text = tokio::task::spawn_blocking(move || postroom_mail::attachment_text(&raw, index))
        .await
        .map_err(|_| Failure::new(ErrorCode::InternalError))?;
    let mut truncated = text.truncated;
    let mut pages = Vec::new();
    for page in text.pages {
        let number = u32::try_from(page.page).unwrap_or(u32::MAX);
        if !wanted.contains(&number) {
            continue;
        }
        let (text, cut) = reading::text(
            &page.text,
            call.for_agent().then_some(ATTACHMENT_PAGE_CHARS),
        );
        truncated |= cut;
        pages.push(Page {
            page: number,
            text,
            text_truncated: cut.then_some(true),
        });
    }
    Ok(Output {
        status: match text.status {
            postroom_mail::TextStatus::Ready => Status::Ready,
            postroom_mail::TextStatus::Unavailable => Status::Unavailable,
            postroom_mail::TextStatus::Skipped => Status::Skipped,
        },
        pages,
        total_pages: text.total_pages.and_then(|pages| u32::try_from(pages).ok()),
        truncated,
        content_notice: ContentNotice,
    })
}

/// `4` or `4-9`; the schema let only such through.
fn span(pages: &str) -> Result<std::ops::RangeInclusive<u32>, Failure> {
    let bad = || {
        Failure::invalid(
            "pages",
            "expected a page or a rising span of pages such as 1-3",
        )
    };
    let (first, last) = pages.split_once('-').unwrap_or((pages, pages));
    let (first, last) = (
        first.parse().map_err(|_| bad())?,
        last.parse().map_err(|_| bad())?,
    );
    if first == 0 || first > last {
        return Err(bad());
    }
    Ok(first..=last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_one_or_a_rising_span() {
        assert_eq!(span("4"), Ok(4..=4));
        assert_eq!(span("4-9"), Ok(4..=9));
        for bad in ["0", "9-4", "", "a", "1-", "1-2-3"] {
            assert!(span(bad).is_err(), "{bad}");
        }
    }
}
