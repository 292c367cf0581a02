//! What a caller wants to send, whichever operation said it.

use postroom_core::{SendKind, SendOperation, SendScope, SentDraft};
use postroom_types::{MessageId, ThreadId};

use super::arguments::{Attachment, Headers, Kind, Metadata, Open, Recipient};
use crate::op::{mail_forward, mail_reply, mail_send};

/// A mail to be written.
#[derive(Debug, Clone)]
pub(crate) struct Intent {
    /// The caller's key.
    pub(super) key: String,
    /// What kind of mail.
    pub(super) kind: SendKind,
    /// To whom, and on what.
    pub(super) aim: Aim,
    /// The text.
    pub(super) text: Option<String>,
    /// The HTML.
    pub(super) html: Option<String>,
    /// The files.
    pub(super) attachments: Vec<Attachment>,
    /// Labels of the sent mail.
    pub(super) labels: Vec<String>,
    /// Header fields.
    pub(super) headers: Headers,
    /// The caller's own values.
    pub(super) metadata: Metadata,
    /// How a reader of marketing mail leaves.
    pub(super) unsubscribe: Option<Open>,
    /// How they agreed to it.
    pub(super) consent: Option<Open>,
    /// The draft that it was, and to whom it may be sent.
    pub(super) draft: Option<(SentDraft, SendScope)>,
}

/// To whom a mail goes and what it goes on from.
#[derive(Debug, Clone)]
pub(super) enum Aim {
    /// A new mail.
    New {
        to: Vec<Recipient>,
        cc: Vec<Recipient>,
        bcc: Vec<Recipient>,
        subject: String,
        thread: Option<ThreadId>,
        from: Option<String>,
    },
    /// An answer.
    Reply { message: MessageId, all: bool },
    /// A mail passed on.
    Forward {
        message: MessageId,
        to: Vec<String>,
        with_attachments: bool,
    },
}

impl Aim {
    /// What was asked for.
    pub(super) fn operation(&self) -> SendOperation {
        match self {
            Self::New { .. } => SendOperation::Send,
            Self::Reply { .. } => SendOperation::Reply,
            Self::Forward { .. } => SendOperation::Forward,
        }
    }
}

impl Intent {
    pub(in crate::op) fn send(input: mail_send::Input) -> Self {
        Self {
            key: input.idempotency_key.0,
            kind: kind(input.kind),
            aim: Aim::New {
                to: input.to,
                cc: input.cc.unwrap_or_default(),
                bcc: input.bcc.unwrap_or_default(),
                subject: input.subject,
                thread: input.thread_id,
                from: input.from_address,
            },
            text: input.text,
            html: input.html,
            attachments: input.attachments.unwrap_or_default(),
            labels: input.labels.unwrap_or_default(),
            headers: input.headers.unwrap_or_default(),
            metadata: input.metadata.unwrap_or_default(),
            unsubscribe: input.unsubscribe,
            consent: input.consent,
            draft: None,
        }
    }

    pub(in crate::op) fn reply(input: mail_reply::Input) -> Self {
        let aim = Aim::Reply {
            message: input.message_id,
            all: input.reply_all,
        };
        Self {
            text: input.text,
            html: input.html,
            attachments: input.attachments.unwrap_or_default(),
            ..Self::bare(input.idempotency_key.0, kind(input.kind.into()), aim)
        }
    }

    pub(in crate::op) fn forward(input: mail_forward::Input) -> Self {
        let aim = Aim::Forward {
            message: input.message_id,
            to: input.to,
            with_attachments: input.include_attachments,
        };
        Self {
            text: input.text,
            ..Self::bare(input.idempotency_key.0, SendKind::Transactional, aim)
        }
    }

    /// Whether nothing in the mail is out of another one.
    pub(super) fn is_own_words(&self) -> bool {
        matches!(self.aim, Aim::New { .. })
    }

    /// Whether it hands a mail on to others.
    pub(super) fn passes_mail_on(&self) -> bool {
        matches!(self.aim, Aim::Forward { .. })
    }

    /// The same mail out of a draft, which goes when it is sent.
    pub(in crate::op) fn of_draft(mut self, draft: SentDraft, scope: SendScope) -> Self {
        self.draft = Some((draft, scope));
        self
    }

    fn bare(key: String, kind: SendKind, aim: Aim) -> Self {
        Self {
            key,
            kind,
            aim,
            text: None,
            html: None,
            attachments: Vec::new(),
            labels: Vec::new(),
            headers: Headers::default(),
            metadata: Metadata::default(),
            unsubscribe: None,
            consent: None,
            draft: None,
        }
    }
}

fn kind(kind: Kind) -> SendKind {
    match kind {
        Kind::Transactional => SendKind::Transactional,
        Kind::Marketing => SendKind::Marketing,
        Kind::AutoReply => SendKind::AutoReply,
    }
}
