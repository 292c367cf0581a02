//! What stands behind the SMTP and LMTP listeners.

use std::collections::BTreeMap;

use postroom_core::Recipient;
use postroom_net::smtp::{
    Arrival as SmtpArrival, MailSink, MessageAnswer, Protocol, Recipient as SmtpRecipient,
    RecipientAnswer, RecipientQuery,
};
use postroom_store::{StoreError, read};
use postroom_types::Address;

use super::{Arrival, RecipientVerdict, Room, Via};

/// Names of people whom somebody may need to reach at any domain that takes mail.
const ROLES: [&str; 2] = ["postmaster", "abuse"];

impl MailSink for Room {
    async fn recipient(&self, query: &RecipientQuery) -> RecipientAnswer {
        match self.verdict(&query.recipient).await {
            RecipientVerdict::Accept(_) => RecipientAnswer::Accepted,
            RecipientVerdict::Unknown => RecipientAnswer::Unknown,
            RecipientVerdict::Retired => RecipientAnswer::Retired,
            RecipientVerdict::Temporary => RecipientAnswer::Unavailable,
            RecipientVerdict::Disabled => RecipientAnswer::Disabled,
        }
    }

    async fn receive(&self, arrival: SmtpArrival) -> MessageAnswer {
        let mut recipients = Vec::with_capacity(arrival.envelope.recipients.len());
        for recipient in &arrival.envelope.recipients {
            match self.verdict(recipient).await {
                RecipientVerdict::Accept(accepted) => recipients.push(accepted),
                RecipientVerdict::Temporary => return MessageAnswer::Unavailable,
                // It went between RCPT and the end of the data; the others still get the mail.
                RecipientVerdict::Unknown
                | RecipientVerdict::Retired
                | RecipientVerdict::Disabled => {}
            }
        }
        if recipients.is_empty() {
            return MessageAnswer::Unknown;
        }
        let envelope = arrival.envelope;
        let mut headers = BTreeMap::new();
        headers.insert("helo".to_owned(), envelope.helo.expose().to_owned());
        headers.insert("tls".to_owned(), envelope.tls.to_string());
        let arrival = Arrival {
            raw: arrival.raw.into(),
            recipients,
            via: match envelope.protocol {
                Protocol::Smtp => Via::Smtp,
                Protocol::Lmtp => Via::Lmtp,
            },
            source_ip: Some(arrival.client.ip().to_string()),
            mail_from: Some(envelope.mail_from.into_exposed()),
            headers,
        };
        match Room::receive(self, arrival).await {
            Ok(_) => MessageAnswer::Stored,
            Err(error) => {
                tracing::error!(%error, "a mail could not be kept; its sender was asked to try again");
                MessageAnswer::Unavailable
            }
        }
    }
}

impl Room {
    async fn verdict(&self, recipient: &SmtpRecipient) -> RecipientVerdict {
        match recipient {
            SmtpRecipient::Address(address) => self.mailbox_or_role(address).await,
            // RFC 5321 section 4.5.1: postmaster without a domain is the postmaster of this host.
            SmtpRecipient::Postmaster => {
                let address = Address::parse(&format!("postmaster@{}", self.hostname()));
                let Ok(address) = address else {
                    return RecipientVerdict::Unknown;
                };
                match self.mailbox_or_role(&address).await {
                    // The host's name is no domain of a mailbox.
                    RecipientVerdict::Unknown => {
                        let home = self.default_tenant();
                        let mailbox = read::oldest_mailbox(self.store(), &self.workers, home);
                        self.in_place_of(&address, mailbox.await).await
                    }
                    verdict => verdict,
                }
            }
        }
    }

    /// A mailbox, or for the names that every domain answers (RFC 5321 section 4.5.1, RFC 2142) the
    /// one that takes their mail.
    async fn mailbox_or_role(&self, address: &Address) -> RecipientVerdict {
        let verdict = Room::recipient(self, address).await;
        let unknown = matches!(verdict, RecipientVerdict::Unknown);
        if !unknown || !ROLES.contains(&address.local()) {
            return verdict;
        }
        let domain = address.domain();
        let home = self.default_tenant();
        let mailbox = read::role_mailbox(self.store(), &self.workers, domain, home);
        self.in_place_of(address, mailbox.await).await
    }

    /// The verdict on a mailbox that takes the mail of another address.
    async fn in_place_of(
        &self,
        address: &Address,
        mailbox: Result<Option<String>, StoreError>,
    ) -> RecipientVerdict {
        let mailbox = match mailbox {
            Ok(mailbox) => mailbox,
            Err(error) => {
                tracing::warn!(%error, "a recipient could not be looked up");
                return RecipientVerdict::Temporary;
            }
        };
        let Some(Ok(mailbox)) = mailbox.as_deref().map(Address::parse) else {
            return RecipientVerdict::Unknown;
        };
        match Room::recipient(self, &mailbox).await {
            RecipientVerdict::Accept(recipient) => RecipientVerdict::Accept(Recipient {
                delivered_to: Some(address.base().to_owned()),
                ..recipient
            }),
            verdict => verdict,
        }
    }
}
