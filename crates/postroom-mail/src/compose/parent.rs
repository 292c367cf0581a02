//! What an answer needs to know of the message that it answers.

use postroom_types::{Mailbox, Timestamp};

use crate::{Kind, Parsed, automation, message_id};

/// Facts of an answered or forwarded message, read from its bytes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parent {
    /// Its Message-ID to the letter, without angle brackets; `None` when it has none that can be
    /// referred to.
    pub message_id: Option<String>,
    /// Ids of its In-Reply-To, to the letter.
    pub in_reply_to: Vec<String>,
    /// Ids of its References, to the letter, oldest first.
    pub references: Vec<String>,
    /// Its author.
    pub from: Option<Mailbox>,
    /// Where its author wants answers.
    pub reply_to: Vec<Mailbox>,
    /// Its To field.
    pub to: Vec<Mailbox>,
    /// Its Cc field.
    pub cc: Vec<Mailbox>,
    /// Its subject.
    pub subject: Option<String>,
    /// Its Date field.
    pub date: Option<Timestamp>,
    /// Its hop counter; 0 when it carries none.
    pub hop: u32,
    /// What kind of mail it is.
    pub kind: Kind,
}

impl Parent {
    /// Reads the raw bytes of a mail.
    pub fn read(raw: &[u8]) -> Self {
        Self::of(&crate::parse(raw))
    }

    /// Takes the facts from a mail that was read already; its header fields must be the mail's own.
    pub fn of(parsed: &Parsed) -> Self {
        let values = |name: &str| -> String {
            let fields = parsed
                .headers
                .iter()
                .filter(|field| field.name.eq_ignore_ascii_case(name));
            let values: Vec<&str> = fields.map(|field| field.value.as_str()).collect();
            values.join(" ")
        };
        // Ids that the reader left out (a person's address in In-Reply-To, too many) stay out.
        let kept = |name: &str, known: &[String]| -> Vec<String> {
            message_id::read_list_to_the_letter(&values(name))
                .into_iter()
                .filter(|id| {
                    crate::normalize_message_id(id).is_some_and(|normal| known.contains(&normal))
                })
                .collect()
        };
        let own = message_id::read_to_the_letter(&values("message-id"));
        Self {
            message_id: own.filter(|_| !parsed.message_id_synthetic),
            in_reply_to: kept("in-reply-to", &parsed.in_reply_to),
            references: kept("references", &parsed.references),
            from: parsed.from.clone(),
            reply_to: parsed.reply_to.clone(),
            to: parsed.to.clone(),
            cc: parsed.cc.clone(),
            subject: parsed.subject.clone(),
            date: parsed.date,
            hop: automation::hop_of(&parsed.headers),
            kind: parsed.kind,
        }
    }
}
