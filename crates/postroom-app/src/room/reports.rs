//! What comes back about mail that was sent: status notifications, and what providers tell.

use postroom_core::{
    BounceType, Command, DeliveryEvent, DeliveryReport, DeliverySubject, DeliveryUpdate, EventRow,
    Outcome, Reporter,
};
use postroom_mail::{
    Kind,
    dsn::{self, Fate, Report},
};
use postroom_store::{StoreError, read};
use postroom_types::{MessageId, Reach, TenantId, TenantScope, limit};
use serde_json::Value;

use super::{Room, abuse};

/// Reads what a mail says of one that was sent. Only what came with the null sender, as reports do
/// (RFC 3464 section 2), is believed: an answer that quotes a bounce is none, and neither is what an agent put in.
pub(super) fn read(event: &EventRow, raw: &[u8], kind: Kind) -> Option<Report> {
    let is_report =
        kind == Kind::Dsn && event.mail_from.as_deref() == Some("") && event.trust_mode.vouches();
    is_report.then(|| dsn::read(raw)).flatten()
}

/// Notes what reports say of the deliveries of their mailboxes' own mail; the events of those that spoke
/// of any.
pub(super) async fn record(
    room: &Room,
    told: Vec<(&EventRow, Report)>,
) -> Result<Vec<(TenantId, u64)>, StoreError> {
    let mut reports = Vec::new();
    let mut matched = Vec::new();
    for (event, report) in told {
        let (Some(identity), Some(original)) = (event.identity_id, &report.original_message_id)
        else {
            continue;
        };
        let scope = TenantScope::granted(event.tenant_id, Reach::Identity(identity));
        let sent = read::sent_message(&room.store, &scope, identity, original).await?;
        let Some(message) = sent else { continue };
        matched.push((event.tenant_id, event.id));
        reports.extend(report.recipients.iter().map(|recipient| DeliveryReport {
            tenant: event.tenant_id,
            reporter: Reporter::Mail,
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
    if !reports.is_empty() {
        note(room, reports).await?;
    }
    Ok(matched)
}

/// Notes reports, and looks at the mailboxes that they speak ill of.
async fn note(
    room: &Room,
    reports: Vec<DeliveryReport>,
) -> Result<Vec<DeliveryUpdate>, StoreError> {
    let mut all = Vec::with_capacity(reports.len());
    for some in reports.chunks(limit::SEND_BATCH) {
        let command = Command::RecordDeliveries(some.to_vec());
        let Outcome::DeliveriesRecorded(updates) = room.store.transact(command).await? else {
            return Err(StoreError::Damaged("reports that have no answer"));
        };
        abuse::watch(room, some, &updates).await?;
        all.extend(updates);
    }
    Ok(all)
}

/// What a provider's verified delivery says of a mail that was sent through it.
#[derive(Debug)]
pub(super) struct Told {
    reports: Vec<DeliveryReport>,
    /// The mail's author, when it is told.
    from: Option<String>,
    /// Its subject, when it is told.
    subject: Option<String>,
}

/// Reads what a provider's verified delivery says; `None` when it speaks of something else.
pub(super) fn of_provider(
    provider: &str,
    tenant: TenantId,
    reporter: Reporter,
    body: &[u8],
) -> Option<Told> {
    let reports = reports_of(provider, tenant, reporter, body);
    let told: Value = serde_json::from_slice(body).ok()?;
    let text = |pointer: &str| told.pointer(pointer).and_then(Value::as_str);
    let told = Told {
        reports,
        from: text("/data/from").map(bare),
        subject: text("/data/subject").map(str::to_owned),
    };
    (!told.reports.is_empty()).then_some(told)
}

/// The address of `Name <address>`.
fn bare(mailbox: &str) -> String {
    let inner = mailbox
        .rsplit_once('<')
        .and_then(|(_, rest)| rest.split_once('>'));
    inner
        .map_or(mailbox, |(address, _)| address)
        .trim()
        .to_ascii_lowercase()
}

fn reports_of(
    provider: &str,
    tenant: TenantId,
    reporter: Reporter,
    body: &[u8],
) -> Vec<DeliveryReport> {
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
        .take(limit::SMTP_RECIPIENTS)
        .map(|recipient| DeliveryReport {
            tenant,
            reporter,
            subject: DeliverySubject::Provider(id.to_owned()),
            recipient,
            event,
            smtp_code: None,
            enhanced_code: None,
            reason: text("/data/bounce/message").map(str::to_owned),
        })
        .collect()
}

/// Notes what a provider told of mail that was sent. A provider may tell of a mail before its own answer
/// to it was noted; such a report waits in the store until the name is known.
///
/// # Errors
/// [`StoreError`]: nothing may have been noted, and the provider has to be asked to tell again.
pub(super) async fn record_told(room: &Room, told: Vec<Told>) -> Result<(), StoreError> {
    for told in &told {
        let updates = note(room, told.reports.clone()).await?;
        if updates.iter().all(|update| update.message_id.is_none()) {
            reconcile(room, told).await?;
        }
    }
    Ok(())
}

/// Settles the one send whose answer was lost that a report can be about: the same author, the same
/// recipients, the very subject, not long ago. Where several could be meant, none is.
async fn reconcile(room: &Room, told: &Told) -> Result<(), StoreError> {
    let (store, now) = (&room.store, room.now());
    let (Some(from), Some(subject), Some(first)) =
        (&told.from, &told.subject, told.reports.first())
    else {
        return Ok(());
    };
    let reach = match first.reporter {
        Reporter::TransportOf(identity) => Reach::Identity(identity),
        Reporter::Transport | Reporter::Mail => Reach::Tenant,
    };
    let scope = TenantScope::granted(first.tenant, reach);
    let life = i64::try_from(limit::RECONCILE_MS).unwrap_or(i64::MAX);
    let since = now.plus_ms(-life);
    let sends = read::uncertain_sends(store, &scope, since, limit::RECONCILE_SENDS).await?;
    let ids: Vec<MessageId> = sends
        .iter()
        .filter(|send| send.provider_message_id.is_none())
        .filter(|send| send.envelope_from.eq_ignore_ascii_case(from))
        .map(|send| send.message_id)
        .collect();
    let deliveries = read::deliveries_of(store, &scope, &ids).await?;
    let mut candidates = Vec::new();
    for id in ids {
        let deliveries = deliveries.get(&id).map(Vec::as_slice).unwrap_or_default();
        let is_for = |report: &DeliveryReport| {
            let told = report.recipient.as_deref();
            told.is_some_and(|address| deliveries.iter().any(|one| one.address == address))
        };
        if !told.reports.iter().all(is_for) {
            continue;
        }
        let message = read::message(store, &scope, id).await?;
        if message.is_some_and(|message| message.doc.subject.as_ref() == Some(subject)) {
            candidates.push(id);
        }
    }
    let &[only] = candidates.as_slice() else {
        return Ok(());
    };
    let about = |report: &DeliveryReport| DeliveryReport {
        subject: DeliverySubject::Message(only),
        ..report.clone()
    };
    let reports = told.reports.iter().map(about).collect();
    note(room, reports).await.map(drop)
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
        let tenant = TenantId::from_parts(1, 1);
        of_provider("resend", tenant, Reporter::Transport, body.as_bytes())
            .map(|told| told.reports)
            .unwrap_or_default()
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
        for (provider, body) in [("stripe", &b"{}"[..]), ("resend", b"{")] {
            let tenant = TenantId::from_parts(1, 1);
            assert!(of_provider(provider, tenant, Reporter::Transport, body).is_none());
        }
    }
}
