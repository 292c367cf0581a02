//! Resend: the webhook carries metadata, the mail itself is fetched by its id.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{InboundAttachment, InboundMailError, InboundMailSource, InboundMessage, instant_s};
use crate::{Provider, provider};

/// Mail by Resend.
#[derive(Debug, Clone, Copy, Default)]
pub struct ResendInbound;

#[derive(Deserialize)]
struct Data {
    email_id: String,
    from: String,
    to: Vec<String>,
    #[serde(default)]
    cc: Vec<String>,
    #[serde(default)]
    bcc: Vec<String>,
    #[serde(default)]
    received_for: Vec<String>,
    #[serde(default)]
    subject: Option<String>,
    #[serde(default)]
    message_id: Option<String>,
    #[serde(default)]
    created_at: Option<Value>,
    #[serde(default)]
    attachments: Vec<Attachment>,
}

#[derive(Deserialize)]
struct Attachment {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    filename: Option<String>,
    #[serde(default)]
    content_type: Option<String>,
    #[serde(default)]
    content_disposition: Option<String>,
    #[serde(default)]
    content_id: Option<String>,
    #[serde(default)]
    size: Option<u64>,
}

impl InboundMailSource for ResendInbound {
    fn kind(&self) -> &'static str {
        "resend"
    }

    fn verifier(&self) -> &'static Provider {
        provider::find("resend").unwrap_or(&provider::NONE)
    }

    fn read(
        &self,
        _headers: &BTreeMap<String, String>,
        body: &[u8],
    ) -> Result<Option<InboundMessage>, InboundMailError> {
        let body: Value = serde_json::from_slice(body)
            .map_err(|error| InboundMailError::Malformed(error.to_string()))?;
        let Value::Object(mut body) = body else {
            return Err(InboundMailError::Malformed("no object".to_owned()));
        };
        if body.get("type").and_then(Value::as_str) != Some("email.received") {
            return Ok(None);
        }
        let data = body.remove("data").unwrap_or_default();
        let data: Data = serde_json::from_value(data)
            .map_err(|error| InboundMailError::Malformed(error.to_string()))?;
        if data.email_id.is_empty() {
            return Err(InboundMailError::Malformed("empty email_id".to_owned()));
        }
        let attachments = data
            .attachments
            .into_iter()
            .map(|attachment| InboundAttachment {
                id: attachment.id,
                filename: attachment.filename,
                content_type: attachment.content_type,
                content_disposition: attachment.content_disposition,
                content_id: attachment.content_id,
                size: attachment.size,
                content_base64: None,
            });
        Ok(Some(InboundMessage {
            id: data.email_id,
            from: data.from,
            to: data.to,
            cc: data.cc,
            bcc: data.bcc,
            received_for: data.received_for,
            subject: data.subject.unwrap_or_default(),
            headers: data
                .message_id
                .map(|id| ("Message-ID".to_owned(), id))
                .into_iter()
                .collect(),
            attachments: attachments.collect(),
            // A time that cannot be read is no reason to lose a mail.
            received_at: data
                .created_at
                .as_ref()
                .and_then(Value::as_str)
                .and_then(instant_s),
            body_pending: true,
            ..InboundMessage::default()
        }))
    }
}
