//! Stored mail as callers see it; shared by the operations that read.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use postroom_core::{Direction, MessageDoc, MessageRow, attachment_id};
use postroom_mail::TextStatus;
use postroom_store::read::{self, Message as Stored, Thread};
use postroom_types::{Address, AttachmentId, ErrorCode, IdentityId, Mailbox, MessageId};

use super::sending::{self, Fate};
use crate::{
    Failure, finding,
    operation::Call,
    view::{
        Attachment, Header, HitTrust, Hold, Message, ThreadSummary, Triage, Trust, cut, visible,
    },
};

/// How much of a message is shown.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Depth {
    /// Longest text, characters; whole without it.
    pub(crate) text_chars: Option<usize>,
    /// Also the text with the history it quotes.
    pub(crate) quoted: bool,
    /// Also the header fields.
    pub(crate) headers: bool,
}

/// One message of the call's mailbox.
pub(crate) async fn message(call: &Call<'_>, id: MessageId) -> Result<Stored, Failure> {
    read::message(call.room.store(), call.scope()?, id)
        .await?
        .ok_or_else(|| ErrorCode::MessageNotFound.into())
}

/// The bytes of a message that has an attachment, and the attachment's place in it.
pub(super) async fn attachment_of(
    call: &Call<'_>,
    message: MessageId,
    attachment: AttachmentId,
) -> Result<(Vec<u8>, usize), Failure> {
    let stored = self::message(call, message).await?;
    let found = stored.doc.attachment(stored.row.id, attachment);
    let index = found.ok_or(ErrorCode::AttachmentNotFound)?.index;
    Ok((raw(call, &stored.row).await?, index))
}

/// The very bytes of a message.
pub(crate) async fn raw(call: &Call<'_>, row: &MessageRow) -> Result<Vec<u8>, Failure> {
    read::raw(call.room.store(), call.scope()?, row.id)
        .await?
        .ok_or_else(|| ErrorCode::MessageNotFound.into())
}

/// An outsider's text within a budget, and whether it was cut.
pub(crate) fn text(text: &str, max_chars: Option<usize>) -> (String, bool) {
    let text = visible(text);
    match max_chars {
        Some(max_chars) => cut(text, max_chars),
        None => (text, false),
    }
}

/// An outsider's name and address.
pub(crate) fn mailbox(mailbox: &Mailbox) -> Mailbox {
    Mailbox {
        address: visible(&mailbox.address),
        name: visible(&mailbox.name),
    }
}

fn mailboxes(list: &[Mailbox]) -> Vec<Mailbox> {
    list.iter().map(mailbox).collect()
}

/// A message as a caller sees it, and whether a text was cut.
pub(crate) async fn message_view(
    call: &Call<'_>,
    stored: &Stored,
    depth: Depth,
) -> Result<(Message, bool), Failure> {
    let views = message_views(call, std::slice::from_ref(stored), depth).await?;
    let view = views.into_iter().next();
    view.ok_or_else(|| ErrorCode::InternalError.into())
}

/// Several messages in one go.
pub(crate) async fn message_views(
    call: &Call<'_>,
    stored: &[Stored],
    depth: Depth,
) -> Result<Vec<(Message, bool)>, Failure> {
    let owners = owners(call, stored).await?;
    let mut fates = sending::fates(call, stored).await?;
    let known = known_senders(call, stored).await?;
    let views = stored.iter().map(|stored| {
        let fate = fates.remove(&stored.row.id);
        view(stored, depth, &owners, fate, known.has(stored))
    });
    Ok(views.collect())
}

/// Whose each address is, by address without detail; none for what is nobody's here.
type Owners = BTreeMap<String, IdentityId>;

/// Looks up what stands before the address that each mail was delivered to; the rest decides nothing.
async fn owners(call: &Call<'_>, stored: &[Stored]) -> Result<Owners, Failure> {
    let inbound = stored
        .iter()
        .filter(|stored| stored.row.direction == Direction::Inbound);
    let wanted: BTreeSet<Address> = inbound
        .flat_map(|stored| {
            let delivered = delivered_to(&stored.doc);
            named(&stored.doc).take_while(move |address| {
                delivered
                    .as_ref()
                    .is_none_or(|delivered| delivered.base() != address.base())
            })
        })
        .collect();
    if wanted.is_empty() {
        return Ok(Owners::new());
    }
    let found = read::owners_of_addresses(call.room.store(), call.scope()?, &wanted);
    Ok(found.await?)
}

/// `fate` is what became of it, for a mail of ours that was sent from here.
fn view(
    stored: &Stored,
    depth: Depth,
    owners: &Owners,
    fate: Option<Fate>,
    known_sender: bool,
) -> (Message, bool) {
    let (row, doc) = (&stored.row, &stored.doc);
    let budget = |words: Option<&str>| match words.map(|words| text(words, depth.text_chars)) {
        Some((words, was_cut)) => (Some(words), was_cut),
        None => (None, false),
    };
    let (extracted_text, extracted_cut) = budget(doc.extracted_text());
    let (whole, whole_cut) = budget(doc.text.as_deref().filter(|_| depth.quoted));
    let inbound = row.direction == Direction::Inbound;
    let mut flags: Vec<String> = stored.flags().into_iter().map(str::to_owned).collect();
    if inbound && is_blind_copy(doc) {
        flags.push("bcc".to_owned());
    }
    let sent_here = fate.is_some();
    let fate = fate.unwrap_or_default();
    flags.extend(fate.flags);
    flags.sort_unstable();
    let message = Message {
        id: row.id,
        thread_id: row.thread_id,
        identity_id: row.identity_id,
        direction: row.direction.as_str().to_owned(),
        status: row.status.as_str().to_owned(),
        from: doc.from.as_ref().map(mailbox),
        to: mailboxes(&doc.to),
        cc: mailboxes(&doc.cc),
        bcc: fate.bcc,
        reply_to: mailboxes(&doc.reply_to),
        delivered_to: doc.delivered_to.as_deref().map(shown_recipient),
        is_primary_recipient: inbound.then(|| is_primary(row, doc, owners)),
        subject: doc.subject.as_deref().map(visible),
        sent_at: row.sent_at,
        received_at: row.received_at,
        extracted_text,
        extracted_text_truncated: extracted_cut.then_some(true),
        text: whole,
        text_truncated: whole_cut.then_some(true),
        html: None,
        headers: depth.headers.then(|| headers(doc)),
        attachments: attachments(stored),
        labels: stored.labels.clone(),
        kind: row.kind.as_str().to_owned(),
        trust: inbound.then(|| trust(stored, known_sender)),
        triage: inbound.then(Triage::skipped),
        quarantine_reason: None,
        refs: Vec::new(),
        rfc_message_id: Some(visible(&row.rfc_message_id)),
        in_reply_to: doc.in_reply_to.first().map(|id| visible(id)),
        provider_message_id: fate.provider_message_id,
        deliveries: sent_here.then_some(fate.deliveries),
        flags,
        metadata: fate.metadata,
    };
    (message, extracted_cut || whole_cut)
}

/// The addresses of To, then of Cc.
fn named(doc: &MessageDoc) -> impl Iterator<Item = Address> {
    let named = doc.to.iter().chain(&doc.cc);
    named.filter_map(|named| Address::parse(&named.address).ok())
}

fn delivered_to(doc: &MessageDoc) -> Option<Address> {
    let delivered = doc.delivered_to.as_deref()?;
    Address::parse(delivered).ok()
}

/// The mailbox's address, without the detail that the envelope gave.
fn shown_recipient(delivered: &str) -> String {
    Address::parse(delivered).map_or_else(|_| visible(delivered), |it| it.base().to_owned())
}

/// Whether this copy belongs to the mailbox that the mail names first. One of several copies is the
/// primary one; where the mail names no mailbox of ours, each is.
fn is_primary(row: &MessageRow, doc: &MessageDoc, owners: &Owners) -> bool {
    let delivered = delivered_to(doc);
    let first = named(doc).find_map(|address| {
        let own = delivered
            .as_ref()
            .is_some_and(|delivered| delivered.base() == address.base());
        match own {
            true => Some(row.identity_id),
            false => owners.get(address.base()).copied(),
        }
    });
    first.is_none_or(|first| first == row.identity_id)
}

/// Whether the address that a mail was delivered to stands in neither To nor Cc. Nothing is known
/// without an envelope.
fn is_blind_copy(doc: &MessageDoc) -> bool {
    delivered_to(doc)
        .is_some_and(|delivered| named(doc).all(|address| address.base() != delivered.base()))
}

fn headers(doc: &MessageDoc) -> Vec<Header> {
    doc.headers
        .iter()
        .map(|field| Header {
            name: visible(&field.name),
            value: visible(&field.value),
        })
        .collect()
}

fn attachments(stored: &Stored) -> Vec<Attachment> {
    let id = stored.row.id;
    stored
        .doc
        .attachments
        .iter()
        .map(|attachment| Attachment {
            id: attachment_id(id, attachment.index),
            filename: attachment.filename.as_deref().map(visible),
            content_type: visible(&attachment.content_type),
            size: attachment.size,
            disposition: attachment.disposition.map(|disposition| {
                match disposition {
                    postroom_mail::Disposition::Attachment => "attachment",
                    postroom_mail::Disposition::Inline => "inline",
                }
                .to_owned()
            }),
            text_status: match finding::text_status(attachment) {
                TextStatus::Ready => "ready",
                TextStatus::Unavailable => "unavailable",
                TextStatus::Skipped => "skipped",
            }
            .to_owned(),
            pages: None,
            risk: None,
        })
        .collect()
}

/// Authors that their mailbox has written to before.
#[derive(Debug, Default)]
pub(crate) struct KnownSenders(HashSet<(IdentityId, String)>);

impl KnownSenders {
    /// Whether the author of a message is one.
    pub(crate) fn has(&self, stored: &Stored) -> bool {
        let from = stored.row.from_address.clone();
        from.is_some_and(|from| self.0.contains(&(stored.row.identity_id, from)))
    }
}

/// Looks the authors of inbound messages up.
pub(crate) async fn known_senders(
    call: &Call<'_>,
    stored: &[Stored],
) -> Result<KnownSenders, Failure> {
    let authors: BTreeSet<&str> = stored
        .iter()
        .filter(|stored| stored.row.direction == Direction::Inbound)
        .filter_map(|stored| stored.row.from_address.as_deref())
        .collect();
    if authors.is_empty() {
        return Ok(KnownSenders::default());
    }
    let found = read::written_to(call.room.store(), call.scope()?, &authors);
    Ok(KnownSenders(found.await?))
}

/// What is known about a sender while no check of senders exists: that mail was written to them, and
/// else nothing, and it says so.
fn trust(stored: &Stored, known_sender: bool) -> Trust {
    let unverified = || "unverified".to_owned();
    let flags = if stored.doc.hidden_text {
        vec!["hidden_text".to_owned()]
    } else {
        Vec::new()
    };
    Trust {
        verdict: unverified(),
        spf: unverified(),
        dkim: unverified(),
        dmarc: unverified(),
        arc: unverified(),
        known_sender,
        quarantined: false,
        spam_score: None,
        automated: stored.doc.automated,
        flags,
    }
}

/// The same for a hit.
pub(crate) fn hit_trust(known_sender: bool) -> HitTrust {
    HitTrust {
        verdict: "unverified".to_owned(),
        known_sender,
        quarantined: false,
    }
}

/// A thread as lists show it.
pub(crate) fn thread_view(thread: &Thread) -> ThreadSummary {
    let row = &thread.row;
    ThreadSummary {
        id: row.id,
        subject: subject(row.subject.as_deref()),
        participants: participants(thread),
        message_count: row.message_count,
        unread_count: row.unread_count,
        first_at: row.first_at,
        last_at: row.last_at,
        last_inbound_at: row.last_inbound_at,
        last_direction: row.last_direction.as_str().to_owned(),
        snippet: visible(&row.snippet),
        labels: thread.labels.clone(),
        category: None,
        needs_reply: None,
        urgency: None,
        archived: Some(row.archived),
        hold: row.hold.as_ref().map(|hold| Hold {
            reason: hold.reason.clone(),
            until: None,
            set_by: None,
            set_at: hold.set_at,
        }),
    }
}

/// Who takes part in a thread.
pub(crate) fn participants(thread: &Thread) -> Vec<Mailbox> {
    thread
        .row
        .participants
        .iter()
        .map(|participant| Mailbox {
            address: visible(&participant.address),
            name: visible(&participant.name),
        })
        .collect()
}

/// A subject where one must stand.
pub(crate) fn subject(subject: Option<&str>) -> String {
    match subject.map(str::trim).filter(|subject| !subject.is_empty()) {
        Some(subject) => visible(subject),
        None => "(no subject)".to_owned(),
    }
}
