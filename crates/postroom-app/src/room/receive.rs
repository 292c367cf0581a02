//! Mail that comes in: whom it may be for, and keeping its bytes before anybody is told so.

use std::{collections::BTreeMap, sync::atomic::Ordering};

use postroom_core::{
    AddressStatus, Command, Draft, IdentityStatus, Import, ImportOutcome, Outcome, RawMail,
    Receive, Recipient, TenantStatus, TrustMode,
};
use postroom_store::{StoreError, read};
use postroom_types::{Address, MessageId, TenantId, Timestamp};

use super::Room;

/// How long mail for a suspended tenant is put off before it is refused.
const SUSPENDED_GRACE_MS: i64 = 5 * 24 * 60 * 60 * 1_000;

/// What becomes of mail for an address.
#[derive(Debug, Clone)]
pub enum RecipientVerdict {
    /// It is taken.
    Accept(Recipient),
    /// There is no such mailbox, as far as anybody outside may know.
    Unknown,
    /// The address was given up for ever.
    Retired,
    /// Not now; try later.
    Temporary,
    /// The mailbox takes nothing any more.
    Disabled,
}

/// By which way a mail came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// SMTP.
    Smtp,
    /// LMTP.
    Lmtp,
    /// The raw-message route, with a key of a tenant or of the deployment.
    Raw,
    /// The raw-message route, with the key of the mailbox's own agent.
    AgentRaw,
    /// From a mailbox of this deployment, without leaving it.
    Loopback,
}

impl Via {
    /// The provider's name in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Smtp => "smtp",
            Self::Lmtp => "lmtp",
            Self::Raw | Self::AgentRaw => "raw",
            Self::Loopback => postroom_core::Arrival::LOOPBACK,
        }
    }

    /// How far the channel vouches.
    fn trust_mode(self) -> TrustMode {
        match self {
            Self::Smtp | Self::Lmtp => TrustMode::Smtp,
            Self::Raw | Self::Loopback => TrustMode::Token,
            Self::AgentRaw => TrustMode::Agent,
        }
    }
}

/// One mail on its way in.
#[derive(Debug)]
pub struct Arrival {
    /// The bytes as received.
    pub raw: Vec<u8>,
    /// Whom it is for, at least one, from [`Room::recipient`] or an authorised call.
    pub recipients: Vec<Recipient>,
    /// How it came.
    pub via: Via,
    /// The peer's address.
    pub source_ip: Option<String>,
    /// Envelope sender; empty for the null sender; `None` without envelope.
    pub mail_from: Option<String>,
    /// Facts of the session, shown as the event's headers.
    pub headers: BTreeMap<String, String>,
}

/// What became of it for one recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// The event; for a duplicate, the one that was there.
    pub event_id: u64,
    /// Whether the mailbox had these very bytes already.
    pub duplicate: bool,
    /// The message, when it is made already.
    pub message_id: Option<MessageId>,
}

/// One mail of an archive, for [`Room::take_in`].
#[derive(Debug)]
pub struct ArchiveMail {
    /// The bytes.
    pub raw: Vec<u8>,
    /// The mailbox.
    pub recipient: Recipient,
    /// Whether somebody read it.
    pub read: bool,
    /// Time of the file, for mail that says no time itself.
    pub file_time: Option<Timestamp>,
    /// Whether the mailbox's own agent puts it in: see [`TrustMode::vouches`].
    pub by_agent: bool,
}

impl Room {
    /// What becomes of mail for an address, whatever tenant it is of.
    ///
    /// Unknown, pending and erased addresses are not told apart. When the store cannot answer, the
    /// sender is asked to come again rather than refused.
    pub async fn recipient(&self, address: &Address) -> RecipientVerdict {
        let answer = match read::recipient(&self.store, &self.workers, address).await {
            Ok(Some(answer)) => answer,
            Ok(None) => return RecipientVerdict::Unknown,
            Err(error) => {
                tracing::warn!(%error, "a recipient could not be looked up");
                return RecipientVerdict::Temporary;
            }
        };
        let now = self.now();
        match (answer.identity_status, answer.address.status) {
            (IdentityStatus::Deleting | IdentityStatus::Deleted, _)
            | (_, AddressStatus::Pending) => {
                return RecipientVerdict::Unknown;
            }
            (IdentityStatus::Active | IdentityStatus::Paused, _) => {}
        }
        if !answer.address.receives(now) {
            return RecipientVerdict::Retired;
        }
        if answer.tenant_status == TenantStatus::Suspended {
            let suspended_ms = now.ms() - answer.tenant_updated_at.ms();
            return if suspended_ms < SUSPENDED_GRACE_MS {
                RecipientVerdict::Temporary
            } else {
                RecipientVerdict::Disabled
            };
        }
        RecipientVerdict::Accept(Recipient {
            tenant: answer.tenant_id,
            identity: answer.identity_id,
            delivered_to: Some(address.with_detail()),
        })
    }

    /// Whether mail from a domain leaves the deployment.
    pub(crate) fn leaves_from(&self, domain: &str) -> bool {
        self.transport.leaves() && self.transport.takes_from(domain)
    }

    /// The mailbox here that mail of a tenant to an address is put into without leaving: one of its
    /// own, and one of another tenant under a domain that is the operator's. Anybody may make a mailbox
    /// under a name that is not theirs; what others write to that name goes out.
    pub(crate) async fn stays_here(
        &self,
        tenant: TenantId,
        address: &Address,
    ) -> Option<Recipient> {
        let RecipientVerdict::Accept(recipient) = self.recipient(address).await else {
            return None;
        };
        let ours = recipient.tenant == tenant || self.transport.takes_from(address.domain());
        ours.then_some(recipient)
    }

    /// Keeps a mail for all its recipients in one commit, synced when this returns. Reading it
    /// follows.
    ///
    /// # Errors
    /// [`StoreError`]: nothing was kept.
    pub async fn receive(&self, arrival: Arrival) -> Result<Vec<Received>, StoreError> {
        let receive = Receive {
            raw: RawMail::new(arrival.raw),
            recipients: arrival.recipients,
            arrival: postroom_core::Arrival {
                provider: arrival.via.as_str().to_owned(),
                trust_mode: arrival.via.trust_mode(),
                verify_detail: None,
                source_ip: arrival.source_ip,
                mail_from: arrival.mail_from,
                headers: arrival.headers,
            },
        };
        self.received.fetch_add(1, Ordering::Relaxed);
        match self.store.transact(Command::Receive(receive)).await? {
            Outcome::Received(outcomes) => Ok(outcomes
                .into_iter()
                .map(|outcome| Received {
                    event_id: outcome.event_id,
                    duplicate: outcome.duplicate,
                    message_id: outcome.message_id,
                })
                .collect()),
            _ => Err(StoreError::Damaged("a received mail has no events")),
        }
    }

    /// Takes in one mail of an archive: read first, then event, bytes and message in one commit.
    ///
    /// # Errors
    /// [`StoreError`]: nothing was kept.
    pub async fn take_in(&self, mail: ArchiveMail) -> Result<Received, StoreError> {
        let import = tokio::task::spawn_blocking(move || mail.into_import())
            .await
            .map_err(|_| StoreError::Damaged("reading a mail failed"))?;
        match self
            .store
            .transact(Command::Import(Box::new(import)))
            .await?
        {
            Outcome::Imported(ImportOutcome::Stored {
                event_id,
                message_id,
                ..
            }) => Ok(Received {
                event_id,
                duplicate: false,
                message_id: Some(message_id),
            }),
            Outcome::Imported(ImportOutcome::Duplicate { event_id }) => Ok(Received {
                event_id,
                duplicate: true,
                message_id: None,
            }),
            _ => Err(StoreError::Damaged("an imported mail has no outcome")),
        }
    }
}

impl ArchiveMail {
    /// Hashes and reads it; takes as long as the mail is large.
    pub(super) fn into_import(self) -> Import {
        let raw = RawMail::new(self.raw);
        let mut draft = Draft::new(postroom_mail::parse(&raw.bytes), None);
        draft.doc.unvouched = self.by_agent;
        Import {
            recipient: self.recipient,
            raw,
            draft,
            provider: "import".to_owned(),
            file_time: self.file_time,
            unread: !self.read,
            labels: Vec::new(),
        }
    }
}
