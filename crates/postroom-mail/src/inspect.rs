//! One mail as the Message object that agents see, without a mailbox around it.

use std::collections::BTreeMap;

use postroom_types::{Mailbox, Timestamp};
use serde::Serialize;

use crate::{
    Attachment, Calendar, Defect, Disposition, Flag, HeaderField, Kind, Parsed, TextStatus,
    archived_at, html, parse, thread_keys,
};

/// How far ahead of its receipt a Date header may lie, milliseconds.
const AHEAD_MS: i64 = 24 * 60 * 60 * 1_000;

/// What Postroom makes of one mail file: the Message object with everything that needs a mailbox
/// empty, and below it what only reading can tell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inspection {
    /// Always null: the mail is not stored.
    pub id: Option<String>,
    /// Always null.
    pub thread_id: Option<String>,
    /// Always null.
    pub identity_id: Option<String>,
    /// `inbound`.
    pub direction: &'static str,
    /// `received`.
    pub status: &'static str,
    /// First author.
    pub from: Option<Mailbox>,
    /// To header.
    pub to: Vec<Mailbox>,
    /// Cc header.
    pub cc: Vec<Mailbox>,
    /// Empty for received mail.
    pub bcc: Vec<Mailbox>,
    /// Reply-To header.
    pub reply_to: Vec<Mailbox>,
    /// Null: there was no envelope.
    pub delivered_to: Option<String>,
    /// Null: there is no mailbox.
    pub is_primary_recipient: Option<bool>,
    /// Subject.
    pub subject: Option<String>,
    /// Date header, or `received_at` where it cannot be right.
    pub sent_at: Option<Timestamp>,
    /// Topmost Received header, else Date header, else now.
    pub received_at: Timestamp,
    /// The new words.
    pub extracted_text: Option<String>,
    /// The whole body as text.
    pub text: Option<String>,
    /// The sanitised HTML body.
    pub html: Option<String>,
    /// Header fields.
    pub headers: Vec<HeaderField>,
    /// Attachments.
    pub attachments: Vec<InspectedAttachment>,
    /// Always empty.
    pub labels: Vec<String>,
    /// Kind of mail.
    pub kind: Kind,
    /// What can be said of its sender without DNS: nothing yet.
    pub trust: InspectedTrust,
    /// Not sorted: `skipped`.
    pub triage: InspectedTriage,
    /// Identifiers found in it; none before they are read.
    pub refs: Vec<BTreeMap<String, String>>,
    /// Message-ID, normalised or made up.
    pub rfc_message_id: String,
    /// First id of In-Reply-To.
    pub in_reply_to: Option<String>,
    /// Null for received mail.
    pub deliveries: Option<Vec<String>>,
    /// Flags.
    pub flags: Vec<Flag>,
    /// Always empty.
    pub metadata: BTreeMap<String, String>,
    /// Start of the new words on one line.
    pub snippet: String,
    /// Summary of an invitation.
    pub calendar: Option<Calendar>,
    /// What is wrong with the mail.
    pub defects: Vec<Defect>,
    /// SHA-256 of the file, hex.
    pub raw_sha256: String,
    /// Ids that join it to a thread.
    pub thread_keys: Vec<String>,
}

/// An attachment of an inspected mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InspectedAttachment {
    /// Always null: the mail is not stored.
    pub id: Option<String>,
    /// File name.
    pub filename: Option<String>,
    /// Declared type.
    pub content_type: String,
    /// Decoded bytes.
    pub size: u64,
    /// Content-Disposition.
    pub disposition: Option<Disposition>,
    /// Whether its text can be read.
    pub text_status: TextStatus,
    /// Pages of its text.
    pub pages: Option<usize>,
    /// Not judged: null.
    pub risk: Option<String>,
}

/// Trust of an inspected mail: nobody checked its sender.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InspectedTrust {
    /// `unverified`.
    pub verdict: &'static str,
    /// `none`: not checked.
    pub spf: &'static str,
    /// `none`: not checked.
    pub dkim: &'static str,
    /// `none`: not checked.
    pub dmarc: &'static str,
    /// `none`: not checked.
    pub arc: &'static str,
    /// False: there is no mailbox that could know the sender.
    pub known_sender: bool,
    /// False.
    pub quarantined: bool,
    /// Null: not scored.
    pub spam_score: Option<f64>,
    /// Whether a program sent it.
    pub automated: bool,
    /// `hidden_text` when words were hidden.
    pub flags: Vec<&'static str>,
}

/// Triage of an inspected mail: none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InspectedTriage {
    /// `skipped`.
    pub status: &'static str,
    /// Null.
    pub category: Option<String>,
    /// Null.
    pub needs_reply: Option<f64>,
    /// Null.
    pub urgency: Option<u8>,
    /// Null.
    pub summary: Option<String>,
    /// Null.
    pub language: Option<String>,
    /// Empty.
    pub risk_flags: Vec<String>,
    /// Null.
    pub model: Option<String>,
    /// 0.
    pub version: u32,
}

/// Reads one mail file as [`Inspection`]; `now` stands in where the mail names no time.
pub fn inspect(raw: &[u8], now: Timestamp) -> Inspection {
    let parsed = parse(raw);
    let received_at = archived_at(&parsed).unwrap_or(now);
    let sent_at = parsed
        .date
        .filter(|date| *date <= received_at.plus_ms(AHEAD_MS))
        .unwrap_or(received_at);
    let attachments = parsed.attachments.iter().map(inspected).collect();
    Inspection {
        id: None,
        thread_id: None,
        identity_id: None,
        direction: "inbound",
        status: "received",
        bcc: Vec::new(),
        delivered_to: None,
        is_primary_recipient: None,
        sent_at: Some(sent_at),
        received_at,
        html: html(raw),
        attachments,
        labels: Vec::new(),
        trust: trust(&parsed),
        triage: triage(),
        refs: Vec::new(),
        in_reply_to: parsed.in_reply_to.first().cloned(),
        deliveries: None,
        metadata: BTreeMap::new(),
        thread_keys: thread_keys(&parsed),
        from: parsed.from,
        to: parsed.to,
        cc: parsed.cc,
        reply_to: parsed.reply_to,
        subject: parsed.subject,
        extracted_text: parsed.extracted_text,
        text: parsed.text,
        headers: parsed.headers,
        kind: parsed.kind,
        rfc_message_id: parsed.message_id,
        flags: parsed.flags,
        snippet: parsed.snippet,
        calendar: parsed.calendar,
        defects: parsed.defects,
        raw_sha256: parsed.raw_sha256,
    }
}

fn inspected(attachment: &Attachment) -> InspectedAttachment {
    let text_status = attachment.text_status();
    InspectedAttachment {
        id: None,
        filename: attachment.filename.clone(),
        content_type: attachment.content_type.clone(),
        size: attachment.size,
        disposition: attachment.disposition,
        text_status,
        pages: (text_status == TextStatus::Ready).then_some(1),
        risk: None,
    }
}

fn trust(parsed: &Parsed) -> InspectedTrust {
    InspectedTrust {
        verdict: "unverified",
        spf: "none",
        dkim: "none",
        dmarc: "none",
        arc: "none",
        known_sender: false,
        quarantined: false,
        spam_score: None,
        automated: parsed.automated,
        flags: if parsed.hidden_text {
            vec!["hidden_text"]
        } else {
            Vec::new()
        },
    }
}

fn triage() -> InspectedTriage {
    InspectedTriage {
        status: "skipped",
        category: None,
        needs_reply: None,
        urgency: None,
        summary: None,
        language: None,
        risk_flags: Vec::new(),
        model: None,
        version: 0,
    }
}
