//! What sending operations answer, and what became of mail that was sent.

use std::collections::{BTreeMap, HashMap};

use postroom_core::{DeliveryRow, Direction, RecipientField, SendRow, SentOutcome, WouldSend};
use postroom_store::read::{self, Message as Stored};
use postroom_types::{Mailbox, MessageId, Permission};
use serde_json::{Value, json};

use crate::{
    Failure,
    op::reading::{self, Depth},
    operation::Call,
    schema,
    view::{ContentNotice, Delivery, Message, Sent, visible},
};

/// What became of one mail that was sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fate {
    /// Recipient by recipient.
    pub(crate) deliveries: Vec<Delivery>,
    /// Blind copies, for the mailbox that sent.
    pub(crate) bcc: Vec<Mailbox>,
    /// The caller's own values.
    pub(crate) metadata: BTreeMap<String, String>,
    /// The transport's name for it.
    pub(crate) provider_message_id: Option<String>,
    /// Remarks.
    pub(crate) flags: Vec<String>,
}

/// What became of those among `stored` that were sent, by message.
pub(crate) async fn fates(
    call: &Call<'_>,
    stored: &[Stored],
) -> Result<HashMap<MessageId, Fate>, Failure> {
    let ids: Vec<MessageId> = stored
        .iter()
        .filter(|stored| stored.row.direction == Direction::Outbound)
        .map(|stored| stored.row.id)
        .collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let (store, scope) = (call.room.store(), call.scope()?);
    let sends = read::sends_of(store, scope, &ids).await?;
    let mut deliveries = read::deliveries_of(store, scope, &ids).await?;
    Ok(sends
        .into_iter()
        .map(|(id, row)| (id, fate(&row, &deliveries.remove(&id).unwrap_or_default())))
        .collect())
}

fn fate(row: &SendRow, deliveries: &[DeliveryRow]) -> Fate {
    let bcc = deliveries
        .iter()
        .filter(|delivery| delivery.field == RecipientField::Bcc);
    let mut flags = Vec::new();
    if row.reconciled {
        flags.push("reconciled".to_owned());
    }
    Fate {
        bcc: bcc
            .map(|delivery| Mailbox {
                address: delivery.address.clone(),
                name: String::new(),
            })
            .collect(),
        deliveries: deliveries.iter().map(Delivery::from).collect(),
        metadata: row.metadata.clone(),
        provider_message_id: row.provider_message_id.as_deref().map(visible),
        flags,
    }
}

/// The mail that a call sent, or that an earlier one with the same key had sent. `own_words` says that
/// nothing in it is out of another mail.
pub(super) async fn queued(
    call: &Call<'_>,
    queued: &SentOutcome,
    own_words: bool,
) -> Result<Value, Failure> {
    let answer = sent(call, queued.message_id, queued.deduplicated, own_words).await?;
    schema::write(&answer)
}

/// A sent mail as it is now. What stands in it out of other mail, and what somebody else wrote, is for
/// those who may read mail.
async fn sent(
    call: &Call<'_>,
    id: MessageId,
    deduplicated: bool,
    own_words: bool,
) -> Result<Sent, Failure> {
    let stored = reading::message(call, id).await?;
    let depth = Depth {
        text_chars: call
            .for_agent()
            .then_some(postroom_types::limit::MESSAGE_TEXT_CHARS),
        ..Depth::default()
    };
    let (mut message, cut) = reading::message_view(call, &stored, depth).await?;
    let withheld = !own_words && !call.actor.holds(Permission::MessagesRead);
    if withheld {
        withhold(&mut message);
    }
    Ok(Sent {
        message,
        content_withheld: withheld.then(|| Permission::MessagesRead.as_str().to_owned()),
        deduplicated,
        truncated: cut.then_some(true),
        content_notice: ContentNotice,
    })
}

fn withhold(message: &mut Message) {
    message.subject = None;
    message.extracted_text = None;
    message.text = None;
    message.in_reply_to = None;
    message.attachments.clear();
    message.labels.clear();
    message.metadata.clear();
    let people = message.to.iter_mut().chain(&mut message.cc);
    people.for_each(|mailbox| mailbox.name.clear());
}

/// What a dry run says.
pub(super) fn would_send(recipients: &[WouldSend]) -> Value {
    json!({"would_send": true, "recipients": recipients_of(recipients)})
}

/// Recipients with what would become of each.
pub(crate) fn recipients_of(recipients: &[WouldSend]) -> Vec<Value> {
    recipients
        .iter()
        .map(|recipient| {
            let mut out = json!({
                "address": recipient.address,
                "field": recipient.field.as_str(),
                "status": recipient.status.as_str(),
            });
            if let Some(reason) = &recipient.reason {
                out["reason"] = reason.as_str().into();
            }
            out
        })
        .collect()
}

/// The message that a change of a send was about.
pub(crate) async fn changed(call: &Call<'_>, id: MessageId) -> Result<Sent, Failure> {
    sent(call, id, false, false).await
}

impl From<&DeliveryRow> for Delivery {
    fn from(row: &DeliveryRow) -> Self {
        Self {
            address: row.address.clone(),
            field: row.field.as_str().to_owned(),
            status: row.status.as_str().to_owned(),
            smtp_code: row.smtp_code.and_then(|code| u16::try_from(code).ok()),
            enhanced_code: row.enhanced_code.as_deref().map(visible),
            bounce_type: row.bounce_type.map(|kind| kind.as_str().to_owned()),
            reason: row.reason.as_deref().map(visible),
            updated_at: row.updated_at,
        }
    }
}
