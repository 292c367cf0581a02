//! Postmark: Basic credentials, nothing signed; the mail comes as fields, and whole when the stream is
//! set to include it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{InboundAttachment, InboundMailError, InboundMailSource, InboundMessage, instant_s};
use crate::{Provider, provider};

/// Mail by Postmark.
#[derive(Debug, Clone, Copy, Default)]
pub struct PostmarkInbound;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Inbound {
    #[serde(rename = "MessageID")]
    message_id: String,
    from: String,
    #[serde(default)]
    from_full: Option<Person>,
    #[serde(default)]
    to: String,
    #[serde(default)]
    to_full: Vec<Person>,
    #[serde(default)]
    cc_full: Vec<Person>,
    #[serde(default)]
    bcc_full: Vec<Person>,
    #[serde(default)]
    original_recipient: Option<String>,
    #[serde(default)]
    subject: Option<String>,
    #[serde(default)]
    text_body: Option<String>,
    #[serde(default)]
    html_body: Option<String>,
    #[serde(default)]
    date: Option<String>,
    #[serde(default)]
    headers: Vec<Header>,
    #[serde(default)]
    attachments: Vec<Attachment>,
    #[serde(default)]
    raw_email: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Person {
    #[serde(default)]
    email: String,
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Header {
    name: String,
    value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Attachment {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    content_type: Option<String>,
    #[serde(default)]
    content_length: Option<u64>,
    #[serde(default, rename = "ContentID")]
    content_id: Option<String>,
}

impl InboundMailSource for PostmarkInbound {
    fn kind(&self) -> &'static str {
        "postmark"
    }

    fn verifier(&self) -> &'static Provider {
        provider::find("postmark").unwrap_or(&provider::NONE)
    }

    fn read(
        &self,
        _headers: &BTreeMap<String, String>,
        body: &[u8],
    ) -> Result<Option<InboundMessage>, InboundMailError> {
        let malformed = |error: serde_json::Error| InboundMailError::Malformed(error.to_string());
        let body: Value = serde_json::from_slice(body).map_err(malformed)?;
        if !body.is_object() {
            return Err(InboundMailError::Malformed("no object".to_owned()));
        }
        // Every other event names its kind; an inbound mail is the one that does not.
        if body.get("RecordType").is_some() {
            return Ok(None);
        }
        let mail: Inbound = serde_json::from_value(body).map_err(malformed)?;
        if mail.message_id.is_empty() {
            return Err(InboundMailError::Malformed("empty MessageID".to_owned()));
        }
        Ok(Some(message(mail)))
    }
}

fn message(mail: Inbound) -> InboundMessage {
    let to = match mail.to_full.as_slice() {
        [] if mail.to.is_empty() => Vec::new(),
        [] => vec![mail.to],
        people => people.iter().map(spelt).collect(),
    };
    InboundMessage {
        from: mail.from_full.as_ref().map_or(mail.from, spelt),
        to,
        cc: mail.cc_full.iter().map(spelt).collect(),
        bcc: mail.bcc_full.iter().map(spelt).collect(),
        received_for: mail
            .original_recipient
            .filter(|address| !address.is_empty())
            .into_iter()
            .collect(),
        subject: mail.subject.unwrap_or_default(),
        text: mail.text_body.filter(|text| !text.is_empty()),
        html: mail.html_body.filter(|html| !html.is_empty()),
        headers: mail
            .headers
            .into_iter()
            .map(|header| (header.name, header.value))
            .collect(),
        attachments: mail.attachments.into_iter().map(attachment).collect(),
        received_at: mail.date.as_deref().and_then(instant_s),
        raw: mail
            .raw_email
            .filter(|raw| !raw.is_empty())
            .map(String::into_bytes),
        id: mail.message_id,
        ..InboundMessage::default()
    }
}

fn spelt(person: &Person) -> String {
    if person.name.is_empty() {
        person.email.clone()
    } else {
        let name = person.name.replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{name}\" <{}>", person.email)
    }
}

fn attachment(given: Attachment) -> InboundAttachment {
    let content_id = given.content_id.filter(|id| !id.is_empty());
    InboundAttachment {
        id: None,
        filename: given.name,
        content_type: given.content_type,
        content_disposition: Some(
            if content_id.is_some() {
                "inline"
            } else {
                "attachment"
            }
            .to_owned(),
        ),
        content_id,
        size: given.content_length,
        content_base64: given.content,
    }
}
