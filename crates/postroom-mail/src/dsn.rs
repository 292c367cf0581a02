//! Reports about what was sent (RFC 3464), and bounces that follow no standard.
//!
//! A report is an outsider's word. Whoever knows a Message-ID can write one, so what it says is
//! taken for the delivery it names and for nothing else, and a report that names no mail is of no
//! use to anybody.

mod code;
mod original;
mod status;
mod words;

use serde::Serialize;

use crate::{
    Kind,
    mail::{self, Mail},
};

/// What one mail says about the fate of an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Message-ID of the mail it speaks of, normalised: from the returned header, else from what
    /// the report answers. `None` when a report of RFC 3464 names none: nothing can be matched
    /// safely then but by the envelope id.
    pub original_message_id: Option<String>,
    /// ENVID of the mail it speaks of (RFC 3461 section 4.4).
    pub envelope_id: Option<String>,
    /// The host that reports, without its type.
    pub reporting_mta: Option<String>,
    /// Whether it follows RFC 3464; else it was read from its words.
    pub is_standard: bool,
    /// What became of each recipient, at most
    /// [`postroom_types::limit::REPORT_RECIPIENTS`]; each address once.
    pub recipients: Vec<Recipient>,
}

/// What became of one recipient.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recipient {
    /// The address that was sent to, lower case: the original recipient, else the final one.
    pub address: String,
    /// Where it was last sent, when a forwarding changed it.
    pub final_address: Option<String>,
    /// What happened.
    pub action: Action,
    /// Enhanced status code (RFC 3463), such as `5.1.1`.
    pub status: Option<String>,
    /// Reply code of SMTP in the diagnostic, such as 550.
    pub smtp_code: Option<u16>,
    /// What the far side said, on one line, an outsider's words, at most
    /// [`postroom_types::limit::REPORT_DIAGNOSTIC_CHARS`] characters.
    pub diagnostic: Option<String>,
    /// The far host.
    pub remote_mta: Option<String>,
}

/// The Action field (RFC 3464 section 2.3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It will not be delivered.
    Failed,
    /// Not yet; the reporting host goes on trying.
    Delayed,
    /// It is in the mailbox.
    Delivered,
    /// It was handed to a host that sends no reports.
    Relayed,
    /// It was handed to several addresses.
    Expanded,
}

/// What a report means for a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// The address does not take mail: bounced, hard.
    BouncedHard,
    /// It did not take this one: bounced, soft.
    BouncedSoft,
    /// Not yet.
    Deferred,
    /// It arrived, as far as anybody says.
    Delivered,
}

impl Recipient {
    /// Failed with 5.x.x is hard, failed with 4.x.x or without any code is soft: an address is
    /// given up only when somebody said so.
    pub fn fate(&self) -> Fate {
        match self.action {
            Action::Delayed => Fate::Deferred,
            Action::Delivered | Action::Relayed | Action::Expanded => Fate::Delivered,
            Action::Failed => {
                let by_status = self
                    .status
                    .as_deref()
                    .and_then(|status| status.chars().next());
                let by_code = || match self.smtp_code {
                    Some(500..=599) => Some('5'),
                    Some(_) => Some('4'),
                    None => None,
                };
                match by_status.or_else(by_code) {
                    Some('5') => Fate::BouncedHard,
                    _ => Fate::BouncedSoft,
                }
            }
        }
    }
}

/// Reads a mail as a report. `None` when it is none, when it names no recipient, or when it follows
/// no standard and names no mail.
///
/// What follows no standard is read only when a mail system's own account wrote it: the words of
/// qmail and of old Exim, Sendmail and Postfix, and whatever else returns a mail and names
/// addresses on lines of their own.
pub fn read(raw: &[u8]) -> Option<Report> {
    let parsed = crate::parse(raw);
    let bytes = mail::prepare(raw, &mut Vec::new());
    let mail = Mail::read(&bytes, &mut Vec::new());
    let original_message_id = original::message_id(&parsed, &mail);
    let root = mail.parts.first()?;
    if root.is("multipart/report") || parsed.kind == Kind::Dsn {
        let found = status::read(&mail);
        if !found.recipients.is_empty() {
            return Some(Report {
                original_message_id: original_message_id.or(found.original_message_id),
                envelope_id: found.envelope_id,
                reporting_mta: found.reporting_mta,
                is_standard: true,
                recipients: found.recipients,
            });
        }
    }
    let recipients = words::read(&parsed);
    let is_useful = !recipients.is_empty() && original_message_id.is_some();
    is_useful.then_some(Report {
        original_message_id,
        envelope_id: None,
        reporting_mta: None,
        is_standard: false,
        recipients,
    })
}

/// Whether a text returns a mail below the mark of a program that does so.
pub(crate) fn has_copy(text: &str) -> bool {
    original::copy_at(text).is_some()
}
