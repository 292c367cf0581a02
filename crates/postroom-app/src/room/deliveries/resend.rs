//! Resend tells of a mail and keeps it; its interface for received mail gives it out.
//!
//! `GET /emails/receiving/{id}` answers headers, texts and what is attached, and where the mail's very
//! bytes are; those are taken when they are there. Else the mail is written out of the fields, with
//! the attachments that `GET /emails/receiving/{id}/attachments` leads to.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use postroom_core::EventRow;
use postroom_net::egress::{Answer, Purpose, Request};
use postroom_store::{StoreError, read};
use postroom_types::{Secret, limit::RAW_MAIL_BYTES};
use postroom_webhook::inbound::{InboundAttachment, InboundMessage};
use serde_json::Value;

use super::{super::Room, Made, compose::compose};
use crate::source::Settings;

/// The public interface.
const BASE: &str = "https://api.resend.com";
/// Attachments of one mail that are fetched.
const ATTACHMENTS: usize = 100;

/// The mail's bytes, or why there are none yet.
pub(super) async fn fetch(
    room: &Room,
    event: &EventRow,
    message: &InboundMessage,
) -> Result<Result<Vec<u8>, Made>, StoreError> {
    let later = |words| Ok(Err(Made::Later(words, None)));
    let Some(source) = event.source_id else {
        return Ok(Err(Made::Never("its source is not known")));
    };
    let scope = room.workers.tenant(event.tenant_id);
    let Some(source) = read::source(&room.store, &scope, source).await? else {
        return Ok(Err(Made::Never("its source was deleted")));
    };
    let settings = Settings::of(&source.row);
    let Some(key) = settings.api_key(&room.store, event.tenant_id) else {
        return later("body_pending: the source has no api_key of its provider");
    };
    let is_id = (1..=128).contains(&message.id.len())
        && message
            .id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if !is_id {
        return Ok(Err(Made::Never("its id is not one of the provider's")));
    }
    let base = room.egress.provider_base("resend").unwrap_or(BASE);
    let client = Client {
        room,
        key: &key,
        mail: format!("{base}/emails/receiving/{}", message.id),
    };
    Ok(client.mail(message).await)
}

struct Client<'a> {
    room: &'a Room,
    key: &'a Secret<String>,
    /// The address of the mail.
    mail: String,
}

impl Client<'_> {
    async fn mail(&self, message: &InboundMessage) -> Result<Vec<u8>, Made> {
        let told = self.json(&self.mail).await?;
        if let Some(url) = told.pointer("/raw/download_url").and_then(Value::as_str) {
            return self.download(url).await;
        }
        let mut whole = message.clone();
        let text = |name: &str| told.get(name).and_then(Value::as_str).map(str::to_owned);
        whole.text = text("text").filter(|text| !text.is_empty());
        whole.html = text("html").filter(|html| !html.is_empty());
        if let Some(subject) = text("subject") {
            whole.subject = subject;
        }
        add_headers(&mut whole, told.get("headers"));
        whole.attachments = self.attachments(&told).await?;
        Ok(compose(&whole))
    }

    /// The attachments with their content.
    async fn attachments(&self, told: &Value) -> Result<Vec<InboundAttachment>, Made> {
        let listed = told.get("attachments").and_then(Value::as_array);
        if listed.is_none_or(Vec::is_empty) {
            return Ok(Vec::new());
        }
        let told = self.json(&format!("{}/attachments", self.mail)).await?;
        let listed = told.get("data").and_then(Value::as_array);
        let mut files = Vec::new();
        let mut bytes = 0;
        for file in listed.into_iter().flatten().take(ATTACHMENTS) {
            let text = |name: &str| file.get(name).and_then(Value::as_str).map(str::to_owned);
            let Some(url) = text("download_url") else {
                return Err(Made::Later(
                    "body_pending: an attachment is not there yet",
                    None,
                ));
            };
            let content = self.download(&url).await?;
            bytes += content.len();
            if bytes > RAW_MAIL_BYTES {
                return Err(Made::Never("the mail is larger than the limit"));
            }
            files.push(InboundAttachment {
                id: text("id"),
                filename: text("filename"),
                content_type: text("content_type"),
                content_disposition: text("content_disposition"),
                content_id: text("content_id"),
                size: u64::try_from(content.len()).ok(),
                content_base64: Some(STANDARD.encode(content)),
            });
        }
        Ok(files)
    }

    /// An answer of the interface.
    async fn json(&self, url: &str) -> Result<Value, Made> {
        let answer = self
            .send(Request::get(url, Purpose::Provider).bearer(self.key))
            .await?;
        serde_json::from_slice(&answer.body)
            .map_err(|_| Made::Later("body_pending: the provider's answer cannot be read", None))
    }

    /// Bytes behind an address that the interface gave; the key is not for whoever is there.
    async fn download(&self, url: &str) -> Result<Vec<u8>, Made> {
        let answer = self.send(Request::get(url, Purpose::Provider)).await?;
        Ok(answer.body.to_vec())
    }

    async fn send(&self, request: Request) -> Result<Answer, Made> {
        let answer = self
            .room
            .egress
            .send(request)
            .await
            .map_err(|_| Made::Later("body_pending: the provider cannot be reached", None))?;
        let wait_seconds = answer
            .headers
            .get("retry-after")
            .and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let words = match answer.status {
            200 if answer.complete => return Ok(answer),
            200 => "body_pending: the provider's answer broke off",
            401 | 403 => "body_pending: the provider refused the api_key",
            404 => "body_pending: the provider has no such mail yet",
            429 => "body_pending: the provider asks to wait",
            _ => "body_pending: the provider cannot answer now",
        };
        Err(Made::Later(words, wait_seconds))
    }
}

/// Headers that the interface tells, as an object or a list of names and values.
fn add_headers(message: &mut InboundMessage, told: Option<&Value>) {
    let mut add = |name: &str, value: &Value| {
        let known = message
            .headers
            .iter()
            .any(|(known, _)| known.eq_ignore_ascii_case(name));
        let texts: Vec<&str> = match value {
            Value::String(text) => vec![text],
            Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        if !known {
            let texts = texts.into_iter();
            message
                .headers
                .extend(texts.map(|text| (name.to_owned(), text.to_owned())));
        }
    };
    match told {
        Some(Value::Object(map)) => map.iter().for_each(|(name, value)| add(name, value)),
        Some(Value::Array(list)) => {
            for entry in list {
                if let (Some(name), Some(value)) = (
                    entry.get("name").and_then(Value::as_str),
                    entry.get("value"),
                ) {
                    add(name, value);
                }
            }
        }
        _ => {}
    }
}
