//! What comes back about mail that was sent: status notifications, and what providers tell.

use postroom_core::{
    BounceType, Command, DeliveryEvent, DeliveryReport, DeliverySubject, EventRow, Outcome,
};
use postroom_mail::{
    Kind,
    dsn::{self, Fate, Report},
};
use postroom_store::{Store, StoreError, read};
use postroom_types::{Reach, TenantId, TenantScope};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Room;

/// Reads what a mail says of one that was sent. Only what came with the null sender, as reports do
/// (RFC 3464 section 2), is believed: an answer that quotes a bounce is none.
pub(super) fn read(event: &EventRow, raw: &[u8], kind: Kind) -> Option<Report> {
    let is_report = kind == Kind::Dsn && event.mail_from.as_deref() == Some("");
    is_report.then(|| dsn::read(raw)).flatten()
}

/// Notes what reports say of the deliveries of their mailboxes' own mail.
pub(super) async fn record(room: &Room, told: Vec<(&EventRow, Report)>) -> Result<(), StoreError> {
    let mut reports = Vec::new();
    for (event, report) in told {
        let (Some(identity), Some(original)) = (event.identity_id, &report.original_message_id)
        else {
            continue;
        };
        let scope = TenantScope::granted(event.tenant_id, Reach::Identity(identity));
        let sent = read::sent_message(&room.store, &scope, identity, original).await?;
        let Some(message) = sent else { continue };
        reports.extend(report.recipients.iter().map(|recipient| DeliveryReport {
            tenant: event.tenant_id,
            subject: DeliverySubject::Message(message),
            recipient: Some(recipient.address.clone()),
            event: match recipient.fate() {
                Fate::BouncedHard => DeliveryEvent::Bounced(BounceType::Hard),
                Fate::BouncedSoft => DeliveryEvent::Bounced(BounceType::Soft),
                Fate::Deferred => DeliveryEvent::Deferred,
                Fate::Delivered => DeliveryEvent::Delivered,
            },
            smtp_code: recipient.smtp_code.map(u64::from),
            enhanced_code: recipient.status.clone(),
            reason: recipient.diagnostic.clone(),
        }));
    }
    match reports.is_empty() {
        true => Ok(()),
        false => room
            .store
            .transact(Command::RecordDeliveries(reports))
            .await
            .map(drop),
    }
}

/// What a provider's verified delivery says of mail that was sent through it; none when it speaks of
/// something else.
pub(super) fn of_provider(provider: &str, tenant: TenantId, body: &[u8]) -> Vec<DeliveryReport> {
    if provider != "resend" {
        return Vec::new();
    }
    let Ok(told) = serde_json::from_slice::<Value>(body) else {
        return Vec::new();
    };
    let text = |pointer: &str| told.pointer(pointer).and_then(Value::as_str);
    let bounce = match text("/data/bounce/type") {
        Some("Transient") => BounceType::Soft,
        // A bounce that does not say its kind stops nobody's mail.
        Some("Permanent") => BounceType::Hard,
        _ => BounceType::Soft,
    };
    let event = match text("/type") {
        Some("email.sent") => DeliveryEvent::Submitted,
        Some("email.delivered") => DeliveryEvent::Delivered,
        Some("email.delivery_delayed") => DeliveryEvent::Deferred,
        Some("email.bounced") => DeliveryEvent::Bounced(bounce),
        Some("email.complained") => DeliveryEvent::Complained,
        Some("email.failed") => DeliveryEvent::Rejected,
        Some("email.suppressed") => DeliveryEvent::SuppressedByProvider,
        _ => return Vec::new(),
    };
    let Some(id) = text("/data/email_id").filter(|id| !id.is_empty() && id.len() <= 128) else {
        return Vec::new();
    };
    let recipients = told.pointer("/data/to").and_then(Value::as_array);
    let recipients: Vec<Option<String>> = match recipients {
        Some(list) if !list.is_empty() => list
            .iter()
            .filter_map(Value::as_str)
            .map(|address| Some(address.trim().to_ascii_lowercase()))
            .collect(),
        _ => vec![None],
    };
    recipients
        .into_iter()
        .take(postroom_types::limit::SMTP_RECIPIENTS)
        .map(|recipient| DeliveryReport {
            tenant,
            subject: DeliverySubject::Provider(id.to_owned()),
            recipient,
            event,
            smtp_code: None,
            enhanced_code: None,
            reason: text("/data/bounce/message").map(str::to_owned),
        })
        .collect()
}

/// How often a report whose mail is not known is tried again, and how long apart: a provider may tell
/// of a mail before its own answer to it was noted.
const TRIES: usize = 10;
const PAUSE: std::time::Duration = std::time::Duration::from_secs(30);

/// Notes what a provider told; what names a mail that is not known yet is tried again for a while.
pub(super) async fn record_of_provider(
    store: Store,
    stop: CancellationToken,
    mut reports: Vec<DeliveryReport>,
) {
    for _ in 0..TRIES {
        if reports.is_empty() {
            return;
        }
        let command = Command::RecordDeliveries(reports.clone());
        match store.transact(command).await {
            Ok(Outcome::DeliveriesRecorded(updates)) => {
                let waiting = reports.into_iter().zip(updates);
                reports = waiting
                    .filter(|(_, update)| update.message_id.is_none())
                    .map(|(report, _)| report)
                    .collect();
            }
            Ok(_) => return,
            Err(error) => {
                tracing::warn!(%error, "a provider's report could not be noted; trying again");
            }
        }
        if reports.is_empty() {
            return;
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(event: &str, extra: Value) -> Vec<DeliveryReport> {
        let mut data = json!({"email_id": "e1", "to": ["Ann@There.example"]});
        for (name, value) in extra.as_object().expect("an object") {
            data[name] = value.clone();
        }
        let body = json!({"type": event, "data": data}).to_string();
        of_provider("resend", TenantId::from_parts(1, 1), body.as_bytes())
    }

    #[test]
    fn what_resend_tells_is_what_became_of_a_delivery() {
        for (event, extra, expected) in [
            ("email.sent", json!({}), Some(DeliveryEvent::Submitted)),
            ("email.delivered", json!({}), Some(DeliveryEvent::Delivered)),
            (
                "email.delivery_delayed",
                json!({}),
                Some(DeliveryEvent::Deferred),
            ),
            (
                "email.bounced",
                json!({"bounce": {"type": "Permanent"}}),
                Some(DeliveryEvent::Bounced(BounceType::Hard)),
            ),
            (
                "email.bounced",
                json!({"bounce": {"type": "Transient"}}),
                Some(DeliveryEvent::Bounced(BounceType::Soft)),
            ),
            (
                "email.bounced",
                json!({}),
                Some(DeliveryEvent::Bounced(BounceType::Soft)),
            ),
            (
                "email.complained",
                json!({}),
                Some(DeliveryEvent::Complained),
            ),
            ("email.received", json!({}), None),
            ("email.opened", json!({}), None),
            ("email.delivered", json!({"email_id": ""}), None),
        ] {
            let found = told(event, extra.clone());
            assert_eq!(
                found.first().map(|report| report.event),
                expected,
                "{event} {extra}"
            );
            if let Some(report) = found.first() {
                assert_eq!(report.recipient.as_deref(), Some("ann@there.example"));
            }
        }
        assert!(of_provider("stripe", TenantId::from_parts(1, 1), b"{}").is_empty());
        assert!(of_provider("resend", TenantId::from_parts(1, 1), b"{").is_empty());
    }
}
