//! Messages, threads, labels, contacts, kept results.

use crate::{row::Sha256Bytes, word::words};
use postroom_mail::Kind;
use postroom_types::{IdentityId, KeyId, MessageId, TenantId, ThreadId, Timestamp};

words! {
    /// Which way a message went.
    Direction {
        /// To us.
        Inbound = "inbound",
        /// From us.
        Outbound = "outbound",
    }
    /// How a message fared.
    MessageStatus {
        /// It came in and is shown.
        Received = "received",
        /// It came in and only reviewers see it.
        Quarantined = "quarantined",
        /// It waits for a transport.
        Queued = "queued",
        /// A transport took it.
        Submitted = "submitted",
        /// Its recipients' servers took it.
        Delivered = "delivered",
        /// A recipient's server took it not yet.
        Deferred = "deferred",
        /// It came back.
        Bounced = "bounced",
        /// A recipient called it spam.
        Complained = "complained",
        /// The transport refused it.
        Rejected = "rejected",
        /// It was given up.
        Failed = "failed",
        /// Whether it left is not known.
        Uncertain = "uncertain",
        /// It was for nobody who may be written to.
        Suppressed = "suppressed",
        /// Somebody took it back.
        Canceled = "canceled",
    }
}

/// A message without the words it holds; those are in its [`crate::MessageDoc`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    /// Its id.
    pub id: MessageId,
    /// Its tenant.
    pub tenant_id: TenantId,
    /// Its mailbox.
    pub identity_id: IdentityId,
    /// Its number in the tenant: the feed position at which it was created.
    pub num: u64,
    /// Its thread.
    pub thread_id: ThreadId,
    /// The event it was made from.
    pub event_id: Option<u64>,
    /// Which way it went.
    pub direction: Direction,
    /// How it fared.
    pub status: MessageStatus,
    /// What kind of mail it is.
    pub kind: Kind,
    /// Normalised Message-ID, without angle brackets.
    pub rfc_message_id: String,
    /// Address of the first author.
    pub from_address: Option<String>,
    /// The Date header, if it can be believed.
    pub sent_at: Option<Timestamp>,
    /// When it came in; for an archive, when it came in there.
    pub received_at: Timestamp,
    /// Where it stands in its thread: `sent_at`, at most five minutes after `received_at`.
    pub sort_at: Timestamp,
    /// Whether nobody read it yet.
    pub unread: bool,
    /// Whether another message of the mailbox has the same Message-ID and other content.
    pub id_conflict: bool,
    /// Digest of the raw bytes.
    pub sha256: Sha256Bytes,
    /// Length of the raw bytes.
    pub size: u64,
}

/// One label of one message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelRow {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The mailbox.
    pub identity_id: IdentityId,
    /// The label.
    pub label: String,
    /// The message's number.
    pub num: u64,
}

/// Somebody who takes part in a thread.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Participant {
    /// The address.
    pub address: String,
    /// The latest name that was not empty.
    pub name: String,
    /// Where they first appear: `sort_at` and number of the message, place in its header.
    pub first: (i64, u64, u32),
    /// Where `name` was read.
    pub named: (i64, u64),
    /// Whether they count for whom a key may write to: no mail that vouches for nobody makes them.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub counts: bool,
}

fn yes() -> bool {
    true
}

/// A thread with what lists show of it; everything here can be computed again from its messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadRow {
    /// Its id; the ids of threads that were merged into it stay valid as aliases.
    pub id: ThreadId,
    /// Its tenant.
    pub tenant_id: TenantId,
    /// Its mailbox.
    pub identity_id: IdentityId,
    /// Subject of its earliest message, as written.
    pub subject: Option<String>,
    /// `sort_at` of its earliest message.
    pub first_at: Timestamp,
    /// Number of its earliest message.
    pub first_num: u64,
    /// `sort_at` of its latest message.
    pub last_at: Timestamp,
    /// Number of its latest message.
    pub last_num: u64,
    /// Direction of its latest message.
    pub last_direction: Direction,
    /// `sort_at` of its latest inbound message.
    pub last_inbound_at: Option<Timestamp>,
    /// Start of its latest message.
    pub snippet: String,
    /// Messages in it.
    pub message_count: u64,
    /// Unread messages in it.
    pub unread_count: u64,
    /// Who takes part, in order of first appearance, at most 50.
    pub participants: Vec<Participant>,
    /// Whether somebody put it away.
    pub archived: bool,
    /// Why nobody answers in it by itself any more.
    pub hold: Option<ThreadHold>,
}

/// Why nobody answers in a thread by itself any more. The next mail that a person decides on ends
/// it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ThreadHold {
    /// A word: `loop_detected` or `automatic_exchanges`.
    pub reason: String,
    /// Since when.
    pub set_at: Timestamp,
}

/// Where a thread key is kept: the first 16 bytes of its SHA-256, so that a key of any length
/// costs the same.
pub type KeyHash = [u8; 16];

/// The hash under which a normalised Message-ID is a thread key.
pub fn key_hash(normalised_id: &str) -> KeyHash {
    use sha2::Digest as _;
    let digest: [u8; 32] = sha2::Sha256::digest(normalised_id.as_bytes()).into();
    let mut out = [0; 16];
    for (slot, byte) in out.iter_mut().zip(digest) {
        *slot = byte;
    }
    out
}

/// A Message-ID that is known in a mailbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadKeyRow {
    /// The mailbox.
    pub identity_id: IdentityId,
    /// Hash of the id.
    pub key: KeyHash,
    /// The thread it belongs to.
    pub thread_id: ThreadId,
    /// Number of the first message that has the id as its own; `None` while it was only referred
    /// to.
    pub holder: Option<u64>,
}

/// Somebody a mailbox has written with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContactRow {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The mailbox.
    pub identity_id: IdentityId,
    /// Their address.
    pub address: String,
    /// The latest name that was not empty.
    pub name: Option<String>,
    /// The name as it is searched: lower case, accents dropped.
    pub folded: String,
    /// Domain of the address.
    pub domain: String,
    /// First seen.
    pub first_seen_at: Timestamp,
    /// Last seen.
    pub last_seen_at: Timestamp,
    /// Messages from them.
    pub inbound_count: u64,
    /// Messages to them.
    pub outbound_count: u64,
    /// The thread of the latest message.
    pub last_thread_id: Option<ThreadId>,
}

/// The ranked ids of a search, kept for its later pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultSetRow {
    /// Random name that the cursor carries.
    pub id: String,
    /// The tenant.
    pub tenant_id: TenantId,
    /// The key that searched; nobody else reads it.
    pub key_id: Option<KeyId>,
    /// What the searcher keeps, in its own form.
    pub payload: Vec<u8>,
    /// When it was kept.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
}
