//! The fields of message/delivery-status (RFC 3464 section 2).

use std::collections::HashSet;

use postroom_types::limit;

use super::{Action, Recipient, code};
use crate::{mail::Mail, transfer, word};

/// What the delivery-status parts say.
#[derive(Default)]
pub(super) struct Status {
    pub(super) reporting_mta: Option<String>,
    pub(super) envelope_id: Option<String>,
    /// Some hosts name the mail here.
    pub(super) original_message_id: Option<String>,
    pub(super) recipients: Vec<Recipient>,
}

const TYPES: &[&str] = &[
    "message/delivery-status",
    "message/global-delivery-status",
    // As some gateways mislabel it.
    "text/delivery-status",
];
/// Groups of fields that are read.
const GROUPS: usize = limit::REPORT_RECIPIENTS * 2;

pub(super) fn read(mail: &Mail<'_>) -> Status {
    let mut status = Status::default();
    let mut seen = HashSet::new();
    for part in mail
        .parts
        .iter()
        .filter(|part| TYPES.iter().any(|media| part.is(media)))
    {
        let bytes = transfer::unwrap(&part.body, part.encoding).bytes;
        for group in groups(&bytes) {
            status.take_message(&group);
            if let Some(recipient) = recipient(&group)
                && status.recipients.len() < limit::REPORT_RECIPIENTS
                && seen.insert(recipient.address.clone())
            {
                status.recipients.push(recipient);
            }
        }
    }
    status
}

impl Status {
    /// Fields about the mail as a whole; the first that is there counts.
    fn take_message(&mut self, group: &Group) {
        let host = group.value("reporting-mta").and_then(code::host);
        self.reporting_mta = self.reporting_mta.take().or(host);
        let envelope = group
            .value("original-envelope-id")
            .and_then(code::diagnostic);
        self.envelope_id = self.envelope_id.take().or(envelope);
        let id = ["x-original-message-id", "original-message-id"]
            .iter()
            .find_map(|name| group.value(name))
            .and_then(crate::normalize_message_id);
        self.original_message_id = self.original_message_id.take().or(id);
    }
}

/// Fields between blank lines: names in lower case, values on one line.
#[derive(Default)]
struct Group {
    fields: Vec<(String, String)>,
}

impl Group {
    fn value(&self, name: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    fn push(&mut self, name: &str, value: &str) {
        let value = word::decode(value.as_bytes()).0;
        self.fields.push((name.trim().to_ascii_lowercase(), value));
    }

    fn extend_last(&mut self, line: &str) {
        if let Some((_, value)) = self.fields.last_mut()
            && value.len() < limit::REPORT_DIAGNOSTIC_CHARS * 4
        {
            value.push(' ');
            value.push_str(&word::decode(line.as_bytes()).0);
        }
    }
}

fn groups(bytes: &[u8]) -> Vec<Group> {
    let text = String::from_utf8_lossy(bytes);
    let mut groups = vec![Group::default()];
    for line in text.lines() {
        if groups.len() > GROUPS {
            break;
        }
        let is_new = match line.split_once(':') {
            // Some hosts leave out the blank line before the next recipient.
            Some((name, _)) => {
                name.trim().eq_ignore_ascii_case("final-recipient")
                    && groups
                        .last()
                        .is_some_and(|group| group.value("final-recipient").is_some())
            }
            None => line.trim().is_empty(),
        };
        if is_new {
            groups.push(Group::default());
        }
        let Some(group) = groups.last_mut() else {
            break;
        };
        match line.split_once(':') {
            _ if line.starts_with([' ', '\t']) => group.extend_last(line),
            Some((name, value)) if is_name(name) => group.push(name, value),
            _ => {}
        }
    }
    groups
}

fn is_name(name: &str) -> bool {
    let name = name.trim_end();
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// A group about one recipient.
fn recipient(group: &Group) -> Option<Recipient> {
    let original = group.value("original-recipient").and_then(code::address);
    let last = group.value("final-recipient").and_then(code::address);
    let address = original.clone().or_else(|| last.clone())?;
    let status = group.value("status").and_then(code::enhanced);
    let action = group
        .value("action")
        .and_then(action)
        .or_else(|| by_status(status.as_deref()))?;
    let mut recipient = Recipient {
        final_address: last.filter(|last| *last != address),
        address,
        action,
        status,
        smtp_code: None,
        diagnostic: group.value("diagnostic-code").and_then(code::diagnostic),
        remote_mta: group.value("remote-mta").and_then(code::host),
    };
    recipient.complete();
    Some(recipient)
}

fn action(value: &str) -> Option<Action> {
    let word = value.split([' ', '(', ';']).find(|word| !word.is_empty())?;
    match word.to_ascii_lowercase().as_str() {
        "failed" | "failure" => Some(Action::Failed),
        "delayed" => Some(Action::Delayed),
        "delivered" => Some(Action::Delivered),
        "relayed" => Some(Action::Relayed),
        "expanded" => Some(Action::Expanded),
        _ => None,
    }
}

/// For the few hosts that leave the action out.
fn by_status(status: Option<&str>) -> Option<Action> {
    match status?.chars().next()? {
        '5' => Some(Action::Failed),
        '4' => Some(Action::Delayed),
        '2' => Some(Action::Delivered),
        _ => None,
    }
}
