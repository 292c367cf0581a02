//! The made-up workspace of `postroom demo`: a small vehicle rental with four mailboxes.
//!
//! Everything here is invented; every domain ends in `.example`. The same seed gives the same mails,
//! with dates counted back from the instant that the caller names.

pub(crate) mod arrivals;
mod attachments;
mod bookings;
mod claims;
mod dates;
mod hostile;
mod invoices;
mod letter;
mod newsletters;
mod office;
mod people;
mod phrasebook;
mod random;

use postroom_types::Timestamp;

use letter::Letter;
use random::Random;

/// The made-up company's domain.
pub(crate) const DOMAIN: &str = "larkspur.example";

/// One mailbox of the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mailbox {
    /// Enquiries and reservations; the first identity, whose key the demo prints.
    Bookings,
    /// Damage and insurance.
    Claims,
    /// Invoices in and out.
    Accounts,
    /// The founder's own mail.
    Founder,
}

impl Mailbox {
    /// All four, in the order in which they are created.
    pub(crate) const ALL: [Self; 4] = [Self::Bookings, Self::Claims, Self::Accounts, Self::Founder];

    /// The part before the `@`.
    pub(crate) fn username(self) -> &'static str {
        match self {
            Self::Bookings => "bookings",
            Self::Claims => "claims",
            Self::Accounts => "accounts",
            Self::Founder => "ada",
        }
    }

    /// The name that mail shows.
    pub(crate) fn display_name(self) -> &'static str {
        match self {
            Self::Bookings => "Larkspur Bookings",
            Self::Claims => "Larkspur Claims",
            Self::Accounts => "Larkspur Accounts",
            Self::Founder => "Ada Lindqvist",
        }
    }

    /// What the mailbox is for, in a word.
    pub(crate) fn purpose(self) -> &'static str {
        match self {
            Self::Bookings => "reservations",
            Self::Claims => "claims",
            Self::Accounts => "accounts",
            Self::Founder => "founder",
        }
    }

    /// The whole address.
    pub(crate) fn address(self) -> String {
        format!("{}@{DOMAIN}", self.username())
    }
}

/// One mail of the world as it would lie in an archive.
#[derive(Debug, Clone)]
pub(crate) struct DemoMail {
    /// Whose mailbox it lies in.
    pub(crate) mailbox: Mailbox,
    /// The raw message.
    pub(crate) raw: Vec<u8>,
    /// When it was sent, for the order of import.
    pub(crate) at: Timestamp,
}

/// Every mail of the world, oldest first, with dates counted back from `now`.
pub(crate) fn world(now: Timestamp) -> Vec<DemoMail> {
    let mut desk = Desk::new(now);
    let bookings = bookings::write(&mut desk);
    claims::write(&mut desk, &bookings);
    invoices::write(&mut desk, &bookings);
    office::write(&mut desk);
    newsletters::write(&mut desk);
    hostile::write(&mut desk);
    let mut mails = desk.mails;
    mails.sort_by_key(|mail| mail.at);
    mails
}

/// Where the templates put their mails: the clock, the dice and the pile.
struct Desk {
    now: Timestamp,
    random: Random,
    mails: Vec<DemoMail>,
    letters: u32,
}

impl Desk {
    fn new(now: Timestamp) -> Self {
        Self {
            now,
            random: Random::new(0x_1a2b_5b07),
            mails: Vec::new(),
            letters: 0,
        }
    }

    /// The instant `days` and `minutes` before now.
    fn ago(&self, days: i64, minutes: i64) -> Timestamp {
        self.now.plus_ms(-(days * 1_440 + minutes) * 60_000)
    }

    /// A Message-ID that no other letter of the world has.
    fn message_id(&mut self, domain: &str) -> String {
        self.letters += 1;
        format!(
            "{:08x}.{:04}@{domain}",
            self.random.below(u32::MAX),
            self.letters
        )
    }

    /// Puts a letter into a mailbox.
    fn put(&mut self, mailbox: Mailbox, letter: &Letter) {
        let raw = letter.to_bytes(self.letters);
        self.put_raw(mailbox, letter.at, raw);
    }

    /// Puts bytes into a mailbox as they are.
    fn put_raw(&mut self, mailbox: Mailbox, at: Timestamp, raw: Vec<u8>) {
        self.mails.push(DemoMail { mailbox, raw, at });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noon() -> Timestamp {
        "2026-11-30T12:00:00Z".parse().expect("valid")
    }

    #[test]
    fn the_world_is_the_same_each_time_and_large_enough() {
        let (first, second) = (world(noon()), world(noon()));
        assert!((300..=420).contains(&first.len()), "{} mails", first.len());
        assert!(
            first
                .iter()
                .zip(&second)
                .all(|(a, b)| a.raw == b.raw && a.at == b.at)
        );
    }

    #[test]
    fn every_mailbox_has_mail_and_none_is_from_the_future() {
        let mails = world(noon());
        for mailbox in Mailbox::ALL {
            let count = mails.iter().filter(|mail| mail.mailbox == mailbox).count();
            assert!(count >= 40, "{mailbox:?} has {count}");
        }
        assert!(mails.iter().all(|mail| mail.at <= noon()));
    }

    #[test]
    fn no_mail_names_a_domain_that_could_be_somebodys() {
        for mail in world(noon()) {
            let text = String::from_utf8_lossy(&mail.raw).to_lowercase();
            for word in text.split(|c: char| !(c.is_alphanumeric() || "@.-_".contains(c))) {
                if let Some((_, domain)) = word.split_once('@')
                    && domain.contains('.')
                {
                    let domain = domain.trim_end_matches(['.', '-']);
                    assert!(
                        domain.ends_with(".example") || domain.ends_with(".invalid"),
                        "{word}"
                    );
                }
            }
        }
    }

    #[test]
    fn raw_mails_of_one_mailbox_differ() {
        let mut seen = std::collections::HashSet::new();
        for mail in world(noon()) {
            assert!(
                seen.insert((mail.mailbox.username(), mail.raw)),
                "a mail twice"
            );
        }
    }
}
