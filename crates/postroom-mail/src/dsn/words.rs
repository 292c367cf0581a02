//! Bounces that follow no standard, read from their words.

use std::collections::HashSet;

use postroom_types::limit;

use super::{Action, Recipient, code, original};
use crate::{Kind, Parsed};

/// The recipients that a mail system's own words name.
pub(super) fn read(parsed: &Parsed) -> Vec<Recipient> {
    let text = parsed.text.as_deref().unwrap_or_default();
    let above = original::copy_at(text)
        .and_then(|at| text.get(..at))
        .unwrap_or(text);
    let Some(action) = action(parsed, above) else {
        return Vec::new();
    };
    let named = failed_recipients(parsed);
    let mut found: Vec<Recipient> = Vec::new();
    let mut seen = HashSet::new();
    let mut words = String::new();
    for line in above.lines().chain([""]) {
        let address =
            line_address(line).filter(|address| named.is_empty() || named.contains(address));
        let is_end = line.trim().is_empty() || address.is_some();
        match found.last_mut() {
            Some(last) if is_end => last.take_words(&std::mem::take(&mut words)),
            _ => {}
        }
        match address {
            Some(address) if found.len() < limit::REPORT_RECIPIENTS => {
                words = line
                    .split_once('>')
                    .map_or("", |(_, words)| words)
                    .to_owned();
                if seen.insert(address.clone()) {
                    found.push(unknown(address, action));
                }
            }
            _ if !is_end => {
                words.push(' ');
                words.push_str(line.trim());
            }
            _ => words.clear(),
        }
    }
    // Named in the header alone.
    for address in named {
        if found.len() < limit::REPORT_RECIPIENTS && seen.insert(address.clone()) {
            found.push(unknown(address, action));
        }
    }
    found
}

fn unknown(address: String, action: Action) -> Recipient {
    Recipient {
        address,
        final_address: None,
        action,
        status: None,
        smtp_code: None,
        diagnostic: None,
        remote_mta: None,
    }
}

impl Recipient {
    /// The paragraph under its address; the first that says something.
    fn take_words(&mut self, words: &str) {
        let words = words.trim_start_matches(':').trim();
        if self.diagnostic.is_none() && !words.is_empty() {
            let whole = crate::compose::one_line(words);
            let cut = crate::cut::chars(&whole, limit::REPORT_DIAGNOSTIC_CHARS);
            self.diagnostic = Some(cut.trim_end().to_owned());
            self.complete();
        }
    }
}

/// What happened, when a mail system's account says so in words that are known.
fn action(parsed: &Parsed, above: &str) -> Option<Action> {
    const DELAYED: &[&str] = &[
        "not yet been delivered",
        "message still undelivered",
        "you do not need to resend",
        "will keep trying",
        "delivery attempts will continue",
    ];
    const FAILED: &[&str] = &[
        "this is a permanent error",
        "had permanent fatal errors",
        "had delivery problems",
        "could not be delivered",
        "couldn't be delivered",
        "wasn't able to deliver",
        "was not delivered",
        "were not delivered",
        "undeliverable",
        "unable to deliver",
        "delivery has failed",
        "delivery failed",
        "delivery to the following recipient",
        "returned to sender",
        "i've given up",
    ];
    if !is_system(parsed) {
        return None;
    }
    let words = above
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase();
    let says = |known: &[&str]| known.iter().any(|known| words.contains(known));
    if says(DELAYED) {
        Some(Action::Delayed)
    } else if says(FAILED) || !failed_recipients(parsed).is_empty() {
        Some(Action::Failed)
    } else {
        None
    }
}

/// A mail that a mail system wrote, no person and no list.
fn is_system(parsed: &Parsed) -> bool {
    let from = parsed
        .from
        .as_ref()
        .map_or("", |from| from.address.as_str());
    let local = from.split('@').next().unwrap_or_default();
    let null_path = parsed
        .headers
        .iter()
        .any(|field| field.name.eq_ignore_ascii_case("return-path") && field.value.trim() == "<>");
    let is_account = matches!(
        local,
        "mailer-daemon" | "postmaster" | "mail-daemon" | "mailerdaemon" | "mail.daemon"
    );
    parsed.kind == Kind::Dsn || is_account || null_path && parsed.kind == Kind::Automated
}

/// X-Failed-Recipients of Exim and Gmail.
fn failed_recipients(parsed: &Parsed) -> Vec<String> {
    let fields = parsed.headers.iter();
    let fields = fields.filter(|field| field.name.eq_ignore_ascii_case("x-failed-recipients"));
    fields
        .flat_map(|field| field.value.split(','))
        .filter_map(code::bare_address)
        .take(limit::REPORT_RECIPIENTS)
        .collect()
}

/// A line that is an address: `<ann@shop.example>:` with words behind it, or nothing but one.
fn line_address(line: &str) -> Option<String> {
    let line = line.trim();
    if line.starts_with('<') {
        let (inner, after) = line.split_once('>')?;
        let is_heading = after.is_empty() || after.starts_with([':', ' ', '.']);
        return is_heading
            .then(|| code::bare_address(inner.get(1..)?))
            .flatten();
    }
    code::bare_address(line.trim_end_matches(':'))
}
