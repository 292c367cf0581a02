//! Who gets an answer.

use std::collections::HashSet;

use postroom_types::Mailbox;

use super::Parent;

/// The visible recipients of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recipients {
    /// To.
    pub to: Vec<Mailbox>,
    /// Cc.
    pub cc: Vec<Mailbox>,
}

/// What is known of the first address of a Reply-To field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReplyToTrust {
    /// The mailbox has written to that address before.
    pub written_to: bool,
}

/// Where the answer to an inbound message goes: the first Reply-To address when it belongs to the
/// author's organisation or the mailbox has written to it before, else the author. That the author
/// is known does not make an unknown Reply-To address known: whoever forges the one chooses the
/// other. `None` when the message names no author.
pub fn reply_target(parent: &Parent, trust: ReplyToTrust) -> Option<Mailbox> {
    let author = parent.from.as_ref().filter(|from| has_address(from));
    let wanted = parent.reply_to.iter().find(|mailbox| has_address(mailbox));
    match (wanted, author) {
        (Some(wanted), _) if trust.written_to => Some(wanted.clone()),
        (Some(wanted), Some(author)) if same_organisation(&wanted.address, &author.address) => {
            Some(wanted.clone())
        }
        (_, author) => author.cloned(),
    }
}

/// The recipients of a plain answer. To an inbound message: its reply target, no one else. To a
/// message of our own (`is_own_message`): its To and Cc.
pub fn reply_recipients(
    parent: &Parent,
    target: Option<Mailbox>,
    is_own_message: bool,
) -> Recipients {
    if is_own_message {
        return distinct(parent.to.clone(), parent.cc.clone(), |_| false);
    }
    Recipients {
        to: target.into_iter().collect(),
        cc: Vec::new(),
    }
}

/// The recipients of an answer to all: the reply target and the original To in To, the original Cc
/// in Cc, each address once, without the mailbox's own (`is_own`). Someone who writes to himself
/// is answered. Blind recipients are in no field and so never here.
pub fn reply_all_recipients(
    parent: &Parent,
    target: Option<Mailbox>,
    is_own_message: bool,
    is_own: impl Fn(&str) -> bool,
) -> Recipients {
    let target = target.filter(|_| !is_own_message);
    let to: Vec<Mailbox> = target
        .into_iter()
        .chain(parent.to.iter().cloned())
        .collect();
    let others = distinct(to.clone(), parent.cc.clone(), is_own);
    match (others.to.is_empty(), others.cc.is_empty()) {
        (true, true) => distinct(to.into_iter().take(1).collect(), Vec::new(), |_| false),
        // Only copies are left: the first of them is who is written to.
        (true, false) => Recipients {
            to: others.cc,
            cc: Vec::new(),
        },
        _ => others,
    }
}

/// Whether two addresses are under one registered domain, by the public suffix list. A domain that
/// is itself a public suffix (`github.io`) is shared by strangers, as that of a mailbox provider is
/// (`gmail.com`), and makes nobody one.
pub fn same_organisation(one: &str, other: &str) -> bool {
    let registered = |address: &str| -> Option<String> {
        let (_, domain) = address.rsplit_once('@')?;
        let domain = domain.to_ascii_lowercase();
        psl::domain_str(&domain).map(str::to_owned)
    };
    let domain = |address: &str| {
        address
            .rsplit_once('@')
            .map(|(_, domain)| domain.to_ascii_lowercase())
    };
    match (registered(one), registered(other)) {
        (Some(one), Some(other)) => one == other && !is_shared(&one),
        // Hosts without a registered domain are one organisation with themselves alone.
        _ => domain(one).is_some() && domain(one) == domain(other),
    }
}

/// Mailbox providers with domains under many suffixes, by the label in front of it.
const PROVIDERS: &[&str] = &[
    "aol",
    "gmail",
    "gmx",
    "googlemail",
    "hotmail",
    "icloud",
    "live",
    "msn",
    "outlook",
    "proton",
    "protonmail",
    "qq",
    "yahoo",
    "yandex",
    "ymail",
    "zoho",
];
/// And those with one.
const PROVIDER_DOMAINS: &[&str] = &[
    "126.com",
    "163.com",
    "fastmail.com",
    "free.fr",
    "laposte.net",
    "libero.it",
    "mac.com",
    "mail.com",
    "mail.ru",
    "me.com",
    "naver.com",
    "orange.fr",
    "pm.me",
    "t-online.de",
    "web.de",
];

/// Whether strangers have addresses under a domain. A company that is taken for a provider loses
/// nothing but its Reply-To.
fn is_shared(domain: &str) -> bool {
    let label = domain.split('.').next().unwrap_or_default();
    PROVIDERS.contains(&label) || PROVIDER_DOMAINS.contains(&domain)
}

fn has_address(mailbox: &Mailbox) -> bool {
    mailbox.address.contains('@')
}

fn distinct(to: Vec<Mailbox>, cc: Vec<Mailbox>, is_left_out: impl Fn(&str) -> bool) -> Recipients {
    let mut seen = HashSet::new();
    let mut keep = |list: Vec<Mailbox>| -> Vec<Mailbox> {
        list.into_iter()
            .filter(|mailbox| has_address(mailbox) && !is_left_out(&mailbox.address))
            .filter(|mailbox| seen.insert(mailbox.address.to_ascii_lowercase()))
            .collect()
    };
    Recipients {
        to: keep(to),
        cc: keep(cc),
    }
}
