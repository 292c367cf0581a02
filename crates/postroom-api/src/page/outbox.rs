//! Sent mail for a signed-in owner: the list, one mail with what became of it, and its HTML in a frame
//! that can run, load and lead to nothing.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Path, State},
    response::Response,
};
use http::{HeaderMap, HeaderValue, StatusCode, header::CONTENT_SECURITY_POLICY};
use postroom_app::Failure;
use postroom_types::RequestId;
use serde_json::{Map, Value, json};

use super::{call, document, escape, is_owner, items, moment, sign_in, text, trouble};
use crate::{Surfaces, answer};

/// Sent mails of one list.
const LISTED: u64 = 50;
/// What the frame around a mail's HTML may do: show text, its own styles and pictures that it carries.
/// The frame is sandboxed by its element and once more here, for who opens its address alone.
const FRAME_POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";
/// What the page around it may do: nothing but show that frame, which so can be led nowhere else.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const TITLE: &str = "Sent mail";
const WHAT: &str = "what was sent";

type Shared = State<Arc<Surfaces>>;

/// The list at `/outbox`.
pub(crate) async fn list(
    State(surfaces): Shared,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
) -> Response {
    if !is_owner(&surfaces, &headers).await {
        return sign_in(TITLE, WHAT);
    }
    let sent = call(
        &surfaces,
        request_id,
        "outbox_list",
        json!({"limit": LISTED}),
        &[],
    )
    .await;
    match sent {
        Ok(sent) => answer::page(StatusCode::OK, document(TITLE, &list_body(&sent))),
        Err(failure) => trouble(TITLE, &failure),
    }
}

/// One mail at `/outbox/{identity}/{message}`.
pub(crate) async fn mail(
    State(surfaces): Shared,
    Extension(request_id): Extension<RequestId>,
    Path((identity, message)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if !is_owner(&surfaces, &headers).await {
        return sign_in(TITLE, WHAT);
    }
    match read(&surfaces, request_id, &identity, &message).await {
        Ok(found) => {
            let body = mail_body(&found, &identity, &message);
            let mut response = answer::page(StatusCode::OK, document(TITLE, &body));
            response.headers_mut().insert(
                CONTENT_SECURITY_POLICY,
                HeaderValue::from_static(PAGE_POLICY),
            );
            response
        }
        Err(failure) => trouble(TITLE, &failure),
    }
}

/// The HTML of one mail, for the frame.
pub(crate) async fn html(
    State(surfaces): Shared,
    Extension(request_id): Extension<RequestId>,
    Path((identity, message)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if !is_owner(&surfaces, &headers).await {
        return sign_in(TITLE, WHAT);
    }
    match read(&surfaces, request_id, &identity, &message).await {
        Ok(found) => {
            // Cleaned where it is read: no script, no form, no address that loads something.
            let html = found
                .get("html")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let mut response = answer::page(StatusCode::OK, html.to_owned());
            response.headers_mut().insert(
                CONTENT_SECURITY_POLICY,
                HeaderValue::from_static(FRAME_POLICY),
            );
            response
        }
        Err(failure) => trouble(TITLE, &failure),
    }
}

async fn read(
    surfaces: &Surfaces,
    request_id: RequestId,
    identity: &str,
    message: &str,
) -> Result<Value, Failure> {
    let wanted = json!({"identity": identity, "message_id": message});
    call(surfaces, request_id, "mail_get_message", wanted, &["html"]).await
}

fn list_body(sent: &Value) -> String {
    let rows: String = items(sent, "data").map(row).collect();
    let table = match rows.is_empty() {
        true => "<p>Nothing was sent yet. <code>postroom send --to ADDRESS --subject WORDS --text WORDS</code> sends a mail.</p>".to_owned(),
        false => format!(
            "<table><thead><tr><th scope=\"col\">Sent</th><th scope=\"col\">From</th><th scope=\"col\">To</th><th scope=\"col\">Subject</th>\
             <th scope=\"col\">What became of it</th></tr></thead><tbody>{rows}</tbody></table>"
        ),
    };
    format!(
        "<p><a href=\"/\">Postroom</a></p><h1>Sent mail</h1>\
         <p>The newest {LISTED} of the first workspace. What is sent by the transport <code>sandbox</code> left nowhere.</p>{table}"
    )
}

fn row(mail: &Value) -> String {
    let to: Vec<&str> = items(mail, "deliveries")
        .map(|delivery| text(delivery, "/address"))
        .collect();
    let subject = match text(mail, "/subject") {
        "" => "(no subject)",
        subject => subject,
    };
    format!(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td><a href=\"/outbox/{}/{}\">{}</a></td><td>{} by {}</td></tr>",
        moment(text(mail, "/queued_at")),
        escape(text(mail, "/from/address")),
        escape(&to.join(", ")),
        escape(text(mail, "/identity_id")),
        escape(text(mail, "/message_id")),
        escape(subject),
        escape(text(mail, "/status")),
        escape(text(mail, "/transport")),
    )
}

fn mail_body(mail: &Value, identity: &str, message: &str) -> String {
    let people = |name: &str| {
        let all: Vec<String> = items(mail, name)
            .map(|person| match text(person, "/name") {
                "" => text(person, "/address").to_owned(),
                name => format!("{name} <{}>", text(person, "/address")),
            })
            .collect();
        all.join(", ")
    };
    let lines = [
        ("From", text(mail, "/from/address").to_owned()),
        ("To", people("to")),
        ("Cc", people("cc")),
        ("Bcc", people("bcc")),
        ("Sent", text(mail, "/sent_at").to_owned()),
        ("Status", text(mail, "/status").to_owned()),
    ];
    let head: String = lines
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| {
            format!(
                "<tr><th scope=\"row\">{name}</th><td>{}</td></tr>",
                escape(value)
            )
        })
        .collect();
    let deliveries: String = items(mail, "deliveries").map(delivery).collect();
    let attachments: String = items(mail, "attachments")
        .map(|file| format!("<li>{}</li>", escape(text(file, "/filename"))))
        .collect();
    let files = match attachments.is_empty() {
        true => String::new(),
        false => format!("<h2>Files</h2><ul>{attachments}</ul>"),
    };
    let frame = match mail.get("html").is_some_and(Value::is_string) {
        true => format!(
            "<h2>As HTML</h2><iframe title=\"The mail as HTML\" sandbox=\"\" referrerpolicy=\"no-referrer\" \
             src=\"/outbox/{}/{}/html\" width=\"100%\" height=\"480\"></iframe>",
            escape(identity),
            escape(message)
        ),
        false => String::new(),
    };
    format!(
        "<p><a href=\"/outbox\">Sent mail</a></p><h1>{}</h1><table>{head}</table>\
         <h2>What became of it</h2><table>{deliveries}</table>{files}\
         <h2>Text</h2><pre tabindex=\"0\">{}</pre>{frame}",
        escape(text(mail, "/subject")),
        escape(text(mail, "/extracted_text")),
    )
}

fn delivery(told: &Value) -> String {
    let mut words = text(told, "/status").to_owned();
    for (name, value) in told.as_object().unwrap_or(&Map::new()) {
        if matches!(name.as_str(), "enhanced_code" | "reason")
            && let Some(value) = value.as_str()
        {
            words.push_str(", ");
            words.push_str(value);
        }
    }
    format!(
        "<tr><th scope=\"row\">{}</th><td>{}</td></tr>",
        escape(text(told, "/address")),
        escape(&words)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_out_of_a_mail_becomes_markup() {
        let hostile = "<script>alert(1)</script>\"'&";
        let mail = json!({
            "subject": hostile, "extracted_text": hostile, "from": {"address": hostile}, "html": "<p>x</p>",
            "to": [{"address": hostile, "name": hostile}], "status": "queued",
            "attachments": [{"filename": hostile}],
            "deliveries": [{"address": hostile, "status": "queued", "reason": hostile}],
        });
        let body = mail_body(&mail, hostile, hostile);
        assert!(!body.contains("<script>"), "{body}");
        assert!(body.contains("sandbox=\"\""));
        let sent = json!({"data": [{"subject": hostile, "status": hostile, "message_id": hostile, "deliveries": [{"address": hostile}]}]});
        assert!(!list_body(&sent).contains("<script>"));
    }
}
