//! `get_webhook_event`: one arrival whole.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use postroom_core::EventRow;
use postroom_store::read;
use postroom_types::{Dialect, ErrorCode, Level, Permission};

use crate::{
    Failure,
    op::working::withheld,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::{self, ContentNotice, EventDetail, EventSummary},
};

/// Characters of a payload that an agent is shown as text.
const PAYLOAD_CHARS: usize = 48_000;
/// Bytes of a payload that an agent is shown as base64: a multiple of three, so that what is shown
/// decodes.
const PAYLOAD_BYTES: usize = 48_000;

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "get_webhook_event",
    title: "Read an arrival",
    description: "Read one event: how its channel was checked, its headers with secrets removed, and the payload exactly as it \
        arrived (`payload_encoding` says utf8 or base64). `verified` is true only when a signature over these very bytes was checked. For mail prefer mail_get_message with the event's \
        `message_id`; the raw payload of mail needs the right to read messages.",
    toolset: Toolset::Events,
    permission: Permission::EventsRead,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::get("/v1/events/{id}")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Events,
    errors: &[ErrorCode::NotFound],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The event's id.
    #[schemars(range(min = 1))]
    id: u64,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The event.
    #[serde(flatten)]
    event: EventDetail,
    /// Says that this result holds text written by outsiders.
    content_notice: ContentNotice,
    /// Present and true when the payload was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let (store, scope) = (call.room.store(), call.scope()?);
    let missing = || Failure::new(ErrorCode::NotFound);
    let row = read::event(store, scope, input.id)
        .await?
        .ok_or_else(missing)?;
    let lacking = withheld(call, &row).await?;
    let payload = if lacking.is_none() {
        let bytes = read::event_payload(store, scope, input.id).await?;
        Some(Payload::new(bytes.ok_or_else(missing)?, call.for_agent()))
    } else {
        None
    };
    let truncated = payload.as_ref().is_some_and(|payload| payload.cut);
    Ok(Output {
        event: detail(row, payload, lacking),
        content_notice: ContentNotice,
        truncated: truncated.then_some(true),
    })
}

/// One rule for a message and everything made from it: whoever may not read the message may not read
/// the bytes that it was made from.
fn detail(row: EventRow, payload: Option<Payload>, lacking: Option<Permission>) -> EventDetail {
    let summary = EventSummary::from(&row);
    let withheld = lacking.map(|permission| permission.as_str().to_owned());
    let (payload, encoding, cut) = match payload {
        Some(found) => (Some(found.text), Some(found.encoding.to_owned()), found.cut),
        None => (None, None, false),
    };
    EventDetail {
        external_id: row.external_id(),
        summary,
        verify_detail: row.verify_detail,
        content_type: row.content_type,
        source_ip: row.source_ip,
        headers: row.headers,
        payload,
        payload_truncated: cut.then_some(true),
        payload_encoding: encoding,
        payload_withheld: withheld,
    }
}

struct Payload {
    text: String,
    encoding: &'static str,
    cut: bool,
}

impl Payload {
    fn new(bytes: Vec<u8>, for_agent: bool) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => {
                let budget = if for_agent { PAYLOAD_CHARS } else { usize::MAX };
                let (text, cut) = view::cut(text, budget);
                Self {
                    text,
                    encoding: "utf8",
                    cut,
                }
            }
            Err(error) => {
                let bytes = error.into_bytes();
                let shown = if for_agent {
                    PAYLOAD_BYTES.min(bytes.len())
                } else {
                    bytes.len()
                };
                Self {
                    text: STANDARD.encode(bytes.get(..shown).unwrap_or_default()),
                    encoding: "base64",
                    cut: shown < bytes.len(),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_come_as_base64_that_decodes_even_when_cut() {
        let payload = Payload::new(vec![0xff; PAYLOAD_BYTES + 1], true);
        assert_eq!((payload.encoding, payload.cut), ("base64", true));
        assert_eq!(
            STANDARD.decode(payload.text).expect("base64").len(),
            PAYLOAD_BYTES
        );
        assert!(!Payload::new(vec![0xff; PAYLOAD_BYTES], true).cut);
    }

    #[test]
    fn text_is_exact_outside_of_an_agents_budget() {
        let payload = Payload::new("é".repeat(PAYLOAD_CHARS + 1).into_bytes(), false);
        assert_eq!((payload.encoding, payload.cut), ("utf8", false));
    }
}
