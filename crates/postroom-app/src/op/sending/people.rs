//! Who gets a mail, and from which address it comes.

use std::collections::HashSet;

use postroom_core::{
    AddressRole, AddressRow, AddressStatus, RecipientField, RecipientRoute, SendRecipient,
    SendScope, SendStep,
};
use postroom_mail::compose::{
    Recipients, ReplyToTrust, reply_all_recipients, reply_recipients, reply_target,
    same_organisation,
};
use postroom_store::read::{self, ContactFilter};
use postroom_types::{Address, AddressError, ErrorCode, Mailbox, TenantId};

use super::{
    arguments::Recipient,
    faults::Faults,
    intent::Aim,
    parent::{Before, without_detail},
};
use crate::{Failure, operation::Call, transport::simulator};

/// Whom a mail goes to.
#[derive(Debug, Default)]
pub(super) struct People {
    /// To, as it stands in the mail.
    pub(super) to: Vec<Mailbox>,
    /// Cc, as it stands in the mail.
    pub(super) cc: Vec<Mailbox>,
    /// Everybody, blind copies too, each once.
    pub(super) all: Vec<SendRecipient>,
}

/// Reads or works out the recipients.
pub(super) async fn of(
    call: &Call<'_>,
    aim: &Aim,
    before: Option<&Before>,
    own: &[AddressRow],
    faults: &mut Faults,
) -> Result<People, Failure> {
    let mut asked = None;
    let (to, cc, bcc) = match aim {
        Aim::New { to, cc, bcc, .. } => (
            given("to", to, faults),
            given("cc", cc, faults),
            given("bcc", bcc, faults),
        ),
        Aim::Forward { to, .. } => {
            let to: Vec<Recipient> = to.iter().cloned().map(Recipient::Address).collect();
            (given("to", &to, faults), Vec::new(), Vec::new())
        }
        Aim::Reply { all, .. } => match before {
            Some(before) => {
                let (answered, target) = answered(call, before, *all, own).await?;
                asked = target;
                if answered.to.is_empty() && answered.cc.is_empty() {
                    let failure = Failure::new(ErrorCode::AddressInvalid)
                        .saying("The message names nobody who can be answered.")
                        .advising("Write a new mail with mail_send to somebody you know.");
                    faults.put(SendStep::Recipients, failure);
                }
                (read_back(answered.to), read_back(answered.cc), Vec::new())
            }
            None => Default::default(),
        },
    };
    let forwarded = before.filter(|_| matches!(aim, Aim::Forward { .. }));
    let (keys, tenant) = (call.room.store().keys(), call.scope()?.tenant());
    let mut people = People::default();
    let mut seen = HashSet::new();
    for (field, list) in [
        (RecipientField::To, to),
        (RecipientField::Cc, cc),
        (RecipientField::Bcc, bcc),
    ] {
        for (address, name) in list {
            let full = address.with_detail();
            if !seen.insert(full.clone()) {
                continue;
            }
            let mailbox = Mailbox {
                address: full.clone(),
                name: name.clone(),
            };
            match field {
                RecipientField::To => people.to.push(mailbox),
                RecipientField::Cc => people.cc.push(mailbox),
                RecipientField::Bcc => {}
            }
            let hash = |address: &str| keys.address_hash(tenant, address);
            people.all.push(SendRecipient {
                hash: hash(&full),
                base_hash: address.detail().map(|_| hash(address.base())),
                route: route(call, tenant, &address).await,
                asked: asked.as_deref() == Some(full.as_str()),
                on_forwarded: forwarded.is_some_and(|before| before.is_on(&address)),
                address: full,
                name,
                field,
            });
        }
    }
    Ok(people)
}

/// Addresses that the caller gave.
fn given(list: &str, recipients: &[Recipient], faults: &mut Faults) -> Vec<(Address, String)> {
    let mut out = Vec::with_capacity(recipients.len());
    for (place, recipient) in recipients.iter().enumerate() {
        match Address::parse(recipient.address()) {
            Ok(address) => out.push((address, recipient.name().trim().to_owned())),
            Err(error) => {
                let code = match error {
                    AddressError::Unsupported => ErrorCode::AddressUnsupported,
                    AddressError::Invalid | AddressError::TooLong => ErrorCode::AddressInvalid,
                };
                let path = format!("{list}[{place}]");
                let failure = Failure::new(code).with(
                    "errors",
                    serde_json::json!([{"path": path, "message": code.message()}]),
                );
                faults.put(SendStep::Recipients, failure);
            }
        }
    }
    out
}

/// Addresses out of a mail that is answered; what is no address of ours to write to is left out.
fn read_back(list: Vec<Mailbox>) -> Vec<(Address, String)> {
    list.into_iter()
        .filter_map(|mailbox| {
            let address = Address::parse(&mailbox.address).ok()?;
            Some((address, mailbox.name))
        })
        .collect()
}

/// Who gets an answer, and where the answered message wants it.
async fn answered(
    call: &Call<'_>,
    before: &Before,
    all: bool,
    own: &[AddressRow],
) -> Result<(Recipients, Option<String>), Failure> {
    // A key that stays in its threads follows nobody out of them, whomever else the mailbox writes to.
    let stays = call.actor.send_scope() == SendScope::Thread;
    let trust = ReplyToTrust {
        written_to: match before.facts.reply_to.first().filter(|_| !stays) {
            Some(wanted) => written_to(call, &wanted.address).await?,
            None => false,
        },
    };
    let target = reply_target(&before.facts, trust);
    let is_own = |address: &str| {
        let base = without_detail(address);
        own.iter().any(|row| row.address == base)
    };
    let author = before.facts.from.as_ref();
    let is_theirs = |target: &&Mailbox| {
        author.is_some_and(|author| {
            target.address == author.address || same_organisation(&target.address, &author.address)
        })
    };
    let asked = target
        .as_ref()
        .filter(|_| !before.is_own() && before.vouches())
        .filter(is_theirs);
    let asked = asked.map(|target| target.address.clone());
    let answered = match all && !before.is_secret(is_own) {
        true => reply_all_recipients(&before.facts, target, before.is_own(), is_own),
        false => reply_recipients(&before.facts, target, before.is_own()),
    };
    Ok((answered, asked))
}

/// Whether the mailbox has written to an address before.
async fn written_to(call: &Call<'_>, address: &str) -> Result<bool, Failure> {
    let filter = ContactFilter {
        identity: call.identity()?,
        q: address.to_owned(),
        behind: None,
        limit: 1,
    };
    let found = read::contacts(call.room.store(), call.scope()?, &filter).await?;
    // The very address is the best match of all.
    Ok(found
        .first()
        .is_some_and(|(contact, _)| contact.address == address && contact.outbound_count > 0))
}

/// Where a recipient is.
async fn route(call: &Call<'_>, tenant: TenantId, address: &Address) -> RecipientRoute {
    if simulator::plays(address) {
        return RecipientRoute::Simulator;
    }
    match call.room.stays_here(tenant, address).await {
        Some(_) => RecipientRoute::Local,
        None => RecipientRoute::Outside,
    }
}

/// The address that a mail comes from, and whether its thread uses it already.
pub(super) fn from(
    call: &Call<'_>,
    aim: &Aim,
    before: Option<&Before>,
    own: &[AddressRow],
    faults: &mut Faults,
) -> (String, bool) {
    let usable = |row: &&AddressRow| row.receives(call.now());
    let primary = own
        .iter()
        .find(|row| row.role == AddressRole::Primary)
        .or(own.first())
        .map(|row| row.address.clone())
        .unwrap_or_default();
    let wanted = match aim {
        Aim::New {
            from: Some(from), ..
        } => match Address::parse(from) {
            Ok(address) => Some(address.base().to_owned()),
            Err(_) => {
                let words = "is not an address of this mailbox";
                faults.argument(SendStep::From, "from_address", words);
                None
            }
        },
        _ => before.and_then(|before| {
            let used = match before.is_own() {
                true => before.stored.row.from_address.clone(),
                false => before.stored.doc.delivered_to.clone(),
            };
            let used = without_detail(&used?);
            let known = own.iter().filter(usable).any(|row| row.address == used);
            known.then_some(used)
        }),
    };
    let from = wanted.unwrap_or(primary);
    let retiring = own
        .iter()
        .any(|row| row.address == from && row.status == AddressStatus::Retiring);
    let uses = before.is_some_and(|before| !retiring || before.uses(&from));
    (from, uses)
}
