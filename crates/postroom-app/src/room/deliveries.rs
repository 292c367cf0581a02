//! The worker that makes mail of verified deliveries that carry it.
//!
//! A delivery was stored with its todo when it came in; what it carries is made a mail here: read out
//! of its payload, fetched from its provider where the delivery only announces it, and put into the
//! mailboxes of its recipients as a mail that came by SMTP would be. The event stays pending until
//! then, so that a crash repeats work and loses none: the same mail again is the same bytes, and a
//! mailbox keeps those once.

mod compose;
mod resend;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream};
use postroom_core::{
    Command, Draft, EventRow, FailEvent, Ingest, Outcome, PostponeEvent, RawMail, Receive,
    Recipient, SettleEvent, TrustMode,
};
use postroom_store::{StoreError, Wake, read};
use postroom_types::{
    Address, MessageId,
    limit::{BODY_FETCH_TRIES, RAW_MAIL_BYTES, SMTP_RECIPIENTS},
};
use postroom_webhook::inbound::{self, InboundMessage};

use super::{RecipientVerdict, Room};
use compose::compose;

/// Deliveries of one round.
const ROUND: usize = 64;
/// Deliveries worked off at once: a provider that answers slowly holds up few others.
const LANES: usize = 8;
/// A lost wake-up, and a fetch that is tried again, wait no longer than this beyond their time.
const POLL: Duration = Duration::from_secs(1);
/// Looks are at least so far apart.
const PACE: Duration = Duration::from_millis(20);
/// The first pause before a fetch is tried again, milliseconds; three times as long each time.
const PAUSE_MS: u64 = 2_000;
/// The longest pause.
const PAUSE_MOST_MS: u64 = 60 * 60 * 1_000;

/// What became of a delivery's mail.
enum Made {
    /// It is in, or there is nothing to put in: in our own words why.
    Settled(Option<MessageId>, Option<String>),
    /// Not yet, for this reason; seconds that the provider asked to wait.
    Later(&'static str, Option<u64>),
    /// Never, for this reason.
    Never(&'static str),
}

pub(super) async fn run(room: Arc<Room>) {
    let mut wake = room.store.wake(Wake::Delivery);
    loop {
        wake.borrow_and_update();
        match round(&room).await {
            Ok(ROUND) => continue,
            Ok(_) => {}
            Err(error) => {
                tracing::error!(%error, "deliveries that carry mail could not be worked off");
            }
        }
        tokio::select! {
            () = room.stop.cancelled() => return,
            () = tokio::time::sleep(POLL) => {}
            changed = wake.changed() => if changed.is_err() { return },
        }
        // Where commits pour in, each look takes what came in a moment and not in one commit.
        tokio::select! {
            () = room.stop.cancelled() => return,
            () = tokio::time::sleep(PACE) => {}
        }
    }
}

/// Works off what is due; says how many deliveries there were.
async fn round(room: &Room) -> Result<usize, StoreError> {
    let due = read::pending_deliveries(&room.store, &room.workers, None, ROUND).await?;
    let count = due.len();
    let mut working = stream::iter(due)
        .map(|event| async move {
            tokio::select! {
                () = room.stop.cancelled() => Ok(()),
                worked = work(room, &event) => worked,
            }
        })
        .buffer_unordered(LANES);
    while let Some(worked) = working.next().await {
        worked?;
    }
    Ok(count)
}

async fn work(room: &Room, event: &EventRow) -> Result<(), StoreError> {
    let command = match make(room, event).await? {
        Made::Settled(message_id, detail) => Command::SettleEvent(SettleEvent {
            tenant: event.tenant_id,
            event_id: event.id,
            message_id,
            detail,
        }),
        Made::Later(detail, wait_seconds) if event.tries + 1 < BODY_FETCH_TRIES => {
            let asked_ms = wait_seconds.unwrap_or(0).saturating_mul(1_000);
            let pause_ms = pause_ms(event.tries).max(asked_ms).min(PAUSE_MOST_MS);
            let pause_ms = i64::try_from(pause_ms).unwrap_or(i64::MAX);
            Command::PostponeEvent(PostponeEvent {
                tenant: event.tenant_id,
                event_id: event.id,
                next_try_at: room.now().plus_ms(pause_ms),
                detail: Some(detail.to_owned()),
            })
        }
        Made::Later(detail, _) | Made::Never(detail) => {
            tracing::warn!(
                event = event.id,
                provider = event.provider,
                detail,
                "a delivery became no mail"
            );
            Command::FailEvent(FailEvent {
                tenant: event.tenant_id,
                event_id: event.id,
                detail: detail.to_owned(),
            })
        }
    };
    room.store.transact(command).await?;
    Ok(())
}

fn pause_ms(tries: u64) -> u64 {
    let times = u32::try_from(tries).unwrap_or(u32::MAX);
    PAUSE_MS.saturating_mul(3_u64.saturating_pow(times))
}

async fn make(room: &Room, event: &EventRow) -> Result<Made, StoreError> {
    let scope = room.workers.tenant(event.tenant_id);
    let Some(payload) = read::event_payload(&room.store, &scope, event.id).await? else {
        return Ok(Made::Never("its payload is not there"));
    };
    let Some(source) = inbound::source(&event.provider) else {
        return Ok(Made::Never("its provider sends no mail"));
    };
    let message = match source.read(&event.headers, &payload) {
        Ok(Some(message)) => message,
        Ok(None) => return Ok(Made::Settled(None, None)),
        Err(_) => {
            return Ok(Made::Never(
                "its payload is not what the provider documents",
            ));
        }
    };
    let recipients = match recipients(room, event, &message).await {
        Ok(recipients) if recipients.is_empty() => {
            let words = "none of its recipients is a mailbox here".to_owned();
            return Ok(Made::Settled(None, Some(words)));
        }
        Ok(recipients) => recipients,
        Err(later) => return Ok(later),
    };
    // Only bytes that the delivery itself carries are covered by its signature.
    let carried = message.raw.is_some();
    let raw = match bytes(room, event, &message).await? {
        Ok(raw) if raw.len() <= RAW_MAIL_BYTES => raw,
        Ok(_) => return Ok(Made::Never("the mail is larger than the limit")),
        Err(made) => return Ok(made),
    };
    let trust_mode = match event.trust_mode {
        TrustMode::Agent => TrustMode::Agent,
        TrustMode::Signed if carried => TrustMode::Signed,
        _ => TrustMode::Token,
    };
    let message_id = deliver(room, event, &message, recipients, raw, trust_mode).await?;
    Ok(Made::Settled(message_id, None))
}

/// The mail's bytes: as the delivery carries them, made of its fields, or fetched.
async fn bytes(
    room: &Room,
    event: &EventRow,
    message: &InboundMessage,
) -> Result<Result<Vec<u8>, Made>, StoreError> {
    if let Some(raw) = &message.raw {
        return Ok(Ok(raw.clone()));
    }
    if message.body_pending {
        return resend::fetch(room, event, message).await;
    }
    Ok(Ok(compose(message)))
}

/// The mailboxes of the source's owner that the mail is for. What another tenant's mailbox would
/// take is none of this source's.
async fn recipients(
    room: &Room,
    event: &EventRow,
    message: &InboundMessage,
) -> Result<Vec<Recipient>, Made> {
    let header = message.to.iter().chain(&message.cc).chain(&message.bcc);
    let named: Vec<&String> = match message.received_for.as_slice() {
        [] => header.collect(),
        envelope => envelope.iter().collect(),
    };
    let mut found: Vec<Recipient> = Vec::new();
    for named in named {
        for address in addresses(named) {
            match room.recipient(&address).await {
                RecipientVerdict::Accept(recipient)
                    if recipient.tenant == event.tenant_id
                        && event
                            .identity_id
                            .is_none_or(|own| own == recipient.identity) =>
                {
                    let known = found
                        .iter()
                        .any(|known| known.identity == recipient.identity);
                    if !known && found.len() < SMTP_RECIPIENTS {
                        found.push(recipient);
                    }
                }
                RecipientVerdict::Temporary => {
                    return Err(Made::Later("a recipient cannot be looked up now", None));
                }
                _ => {}
            }
        }
    }
    Ok(found)
}

/// The addresses of a header value as providers spell them: `a@b`, `Name <a@b>`, several with
/// commas.
fn addresses(text: &str) -> Vec<Address> {
    text.split(',')
        .filter_map(|part| {
            let inner = part
                .rsplit_once('<')
                .and_then(|(_, rest)| rest.split('>').next())
                .unwrap_or(part);
            Address::parse(inner.trim()).ok()
        })
        .collect()
}

/// Puts the mail into the mailboxes and makes messages of it at once; the first one's id.
async fn deliver(
    room: &Room,
    event: &EventRow,
    message: &InboundMessage,
    recipients: Vec<Recipient>,
    raw: Vec<u8>,
    trust_mode: TrustMode,
) -> Result<Option<MessageId>, StoreError> {
    let receive = Receive {
        raw: RawMail::new(raw.clone()),
        recipients: recipients.clone(),
        arrival: postroom_core::Arrival {
            provider: event.provider.clone(),
            trust_mode,
            verify_detail: event
                .verify_detail
                .as_ref()
                .map(|detail| format!("carried by event {}: {detail}", event.id)),
            source_ip: None,
            mail_from: message.envelope_from.clone(),
            headers: BTreeMap::from([("delivery-event".to_owned(), event.id.to_string())]),
        },
    };
    let Outcome::Received(outcomes) = room.store.transact(Command::Receive(receive)).await? else {
        return Err(StoreError::Damaged("a received mail has no events"));
    };
    let mut first = None;
    for (recipient, outcome) in recipients.into_iter().zip(outcomes) {
        let made = match outcome.message_id {
            Some(known) => Some(known),
            None => {
                let bytes = (raw.clone(), trust_mode);
                ingest(room, message, recipient, outcome.event_id, bytes).await?
            }
        };
        first = first.or(made);
    }
    Ok(first)
}

/// Makes the message; the worker for received mail may have been faster, and says the same.
async fn ingest(
    room: &Room,
    message: &InboundMessage,
    recipient: Recipient,
    event_id: u64,
    (raw, trust_mode): (Vec<u8>, TrustMode),
) -> Result<Option<MessageId>, StoreError> {
    let sender = message.envelope_from.clone();
    let delivered_to = recipient.delivered_to.clone();
    let read = tokio::task::spawn_blocking(move || {
        let parsed = postroom_mail::parse_enveloped(&raw, sender.as_deref());
        let mut draft = Draft::new(parsed, delivered_to);
        draft.doc.unvouched = !trust_mode.vouches();
        draft
    });
    let Ok(draft) = read.await else {
        return Ok(None);
    };
    let ingest = Ingest {
        tenant: recipient.tenant,
        event_id,
        identity: recipient.identity,
        draft,
        // Its delivery opened the work.
        work: None,
    };
    match room.store.transact(Command::Ingest(Box::new(ingest))).await {
        Ok(Outcome::Ingested { message_id, .. }) => Ok(Some(message_id)),
        Ok(_) => Ok(None),
        // Its bytes are in, and the worker for received mail says what is wrong with them.
        Err(StoreError::Refused(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_however_a_provider_spells_them() {
        #[track_caller]
        fn check(text: &str, expected: &[&str]) {
            let found: Vec<String> = addresses(text)
                .iter()
                .map(|address| format!("{}@{}", address.local(), address.domain()))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
        check("ann@room.example", &["ann@room.example"]);
        check("Ann <ann@room.example>", &["ann@room.example"]);
        check("\"Lund, Ann\" <ann@room.example>", &["ann@room.example"]);
        check(
            "a@x.example, B <b@x.example>",
            &["a@x.example", "b@x.example"],
        );
        check("nobody", &[]);
        check("", &[]);
    }

    #[test]
    fn pauses_grow_and_stay_below_their_bound() {
        assert_eq!(pause_ms(0), 2_000);
        assert_eq!(pause_ms(1), 6_000);
        assert!(pause_ms(BODY_FETCH_TRIES).min(PAUSE_MOST_MS) == PAUSE_MOST_MS);
        assert_eq!(pause_ms(u64::MAX).min(PAUSE_MOST_MS), PAUSE_MOST_MS);
    }
}
