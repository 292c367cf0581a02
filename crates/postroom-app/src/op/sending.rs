//! The way of every mail that a caller sends: from an intent to a row that a transport takes.
//!
//! The mail is composed here, outside of the writer, with whatever is wrong noted beside it; one
//! command then decides everything that must hold together, in the order of the checks: whether the
//! call repeats an earlier one, who may write, how much, in which thread. Nothing leaves that was not
//! such a row. What became of it is told by the same rows.

mod answer;
pub mod arguments;
mod faults;
mod files;
mod fingerprint;
mod intent;
mod mail;
mod parent;
mod people;
pub(crate) mod policy;
mod refused;
pub(crate) mod usage;

use postroom_core::{Command, Outcome, QueueMessage, SendKind, SentOutcome};
use postroom_search::Doc;
use postroom_store::read;
use postroom_types::{DraftId, ErrorCode, Permission};
use serde_json::Value;

pub(crate) use answer::{Fate, changed, fates, recipients_of};
pub(super) use fingerprint::fingerprint;
pub(crate) use intent::Intent;
pub(crate) use refused::detailed;

use crate::{
    Failure,
    operation::{Annotations, Call},
    room::searchable,
};

pub(crate) use crate::operation::DRY_RUN;

/// The hints of what sends: repeating a call with its key sends nothing more, and it reaches outside.
pub(super) const SENDS: Annotations = Annotations {
    read_only: false,
    destructive: false,
    idempotent: true,
    open_world: true,
};

/// Codes that a sending operation may answer beyond those of every operation.
pub(super) const ERRORS: &[ErrorCode] = &[
    ErrorCode::AddressInvalid,
    ErrorCode::AddressUnsupported,
    ErrorCode::AllRecipientsSuppressed,
    ErrorCode::AttachmentNotFound,
    ErrorCode::AutoReplyNotAllowed,
    ErrorCode::DailyCapReached,
    ErrorCode::DomainNotReady,
    ErrorCode::HeaderNotAllowed,
    ErrorCode::IdempotencyConflict,
    ErrorCode::IdempotencyKeyRequired,
    ErrorCode::IdentityNotFound,
    ErrorCode::IdentityOwnerRequired,
    ErrorCode::IdentityPaused,
    ErrorCode::InvalidIdempotencyKey,
    ErrorCode::LoopDetected,
    ErrorCode::MarketingRequirementsMissing,
    ErrorCode::MessageNotFound,
    ErrorCode::MessageTooLarge,
    ErrorCode::PolicyDenied,
    ErrorCode::RecipientBlocked,
    ErrorCode::TestModeRecipient,
    ErrorCode::ThreadNotFound,
    ErrorCode::TooManyRecipients,
    ErrorCode::TransportUnavailable,
    ErrorCode::UploadNotFound,
];

/// Sends, or says what would become of it.
pub(super) async fn run(
    call: &Call<'_>,
    intent: Intent,
    fingerprint: [u8; 32],
) -> Result<Value, Failure> {
    let dry_run = call.context.includes(DRY_RUN);
    let own_words = intent.is_own_words();
    let misplaced = own_words && intent.kind == SendKind::AutoReply;
    if intent.passes_mail_on() {
        may_read(call, Permission::MessagesRead)?;
    }
    let written = mail::write(call, intent, fingerprint, dry_run).await?;
    let faults = written.faults;
    let id = written.queue.id;
    let handover = &call.room.indexing.handover;
    if let Some(doc) = words(&written.queue).filter(|_| !dry_run) {
        handover.put(id, doc);
    }
    let command = Command::QueueMessage(Box::new(written.queue));
    let answer = call.room.store().transact(command).await;
    if !matches!(&answer, Ok(Outcome::Sent(sent)) if sent.message_id == id) {
        handover.take(id);
    }
    match answer {
        Ok(Outcome::Sent(sent)) => answer::queued(call, &sent, own_words).await,
        Ok(Outcome::WouldSend(recipients)) => Ok(answer::would_send(&recipients)),
        Ok(_) => Err(ErrorCode::InternalError.into()),
        Err(error) => {
            let failure = faults.name(error);
            Err(match failure.code {
                ErrorCode::AutoReplyNotAllowed if misplaced => failure.advising(
                    "Use mail_reply with kind auto_reply, or leave kind out of a new mail.",
                ),
                _ => failure,
            })
        }
    }
}

/// The words of a mail for the index, which else reads them back; those of files are not known here.
fn words(queue: &QueueMessage) -> Option<Doc> {
    let doc = &queue.mail.as_ref()?.draft.doc;
    let plain = doc.attachments.is_empty();
    plain.then(|| searchable(doc, Vec::new()))
}

/// Whoever may not read something sends it to nobody either.
pub(super) fn may_read(call: &Call<'_>, permission: Permission) -> Result<(), Failure> {
    match call.actor.holds(permission) {
        true => Ok(()),
        false => {
            let failure = Failure::new(ErrorCode::PermissionDenied);
            Err(failure.with("required", permission.as_str()))
        }
    }
}

/// What an earlier call with the same key made of a draft that has gone since.
pub(super) async fn repeated(
    call: &Call<'_>,
    key: &str,
    draft: DraftId,
) -> Result<Option<Value>, Failure> {
    let key = postroom_core::idempotency_key(key)?;
    let (store, scope) = (call.room.store(), call.scope()?);
    let Some(known) = read::idempotent(store, scope, call.identity()?, &key).await? else {
        return Ok(None);
    };
    if known.fingerprint != draft_fingerprint(call, draft)? {
        let failure = Failure::new(ErrorCode::IdempotencyConflict);
        return Err(failure.with("original_message_id", known.message_id.to_string()));
    }
    let sent = SentOutcome {
        message_id: known.message_id,
        deduplicated: true,
    };
    answer::queued(call, &sent, false).await.map(Some)
}

/// The fingerprint of a draft that is sent: which draft it is, since it goes when it was.
pub(super) fn draft_fingerprint(call: &Call<'_>, draft: DraftId) -> Result<[u8; 32], Failure> {
    let target = call.identity()?.to_string();
    let body = serde_json::json!({"draft_id": draft});
    Ok(postroom_core::fingerprint("draft", &target, &body))
}

/// As [`ERRORS`], for a draft.
pub(super) const DRAFT_ERRORS: &[ErrorCode] = &{
    let mut all = [ErrorCode::DraftNotFound; ERRORS.len() + 2];
    all[ERRORS.len()] = ErrorCode::Conflict;
    let mut place = 0;
    while place < ERRORS.len() {
        all[place] = ERRORS[place];
        place += 1;
    }
    all
};
