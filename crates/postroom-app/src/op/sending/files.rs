//! The files of a mail: by content, by the id of an upload, or by the id of an attachment that is here.

use base64::{Engine as _, alphabet, engine::general_purpose};
use postroom_core::{MessageDoc, Refusal, SendDetail, SendScope, SendStep};
use postroom_mail::compose::File;
use postroom_store::read;
use postroom_types::{AttachmentId, ErrorCode, MessageId, Permission, UploadId, limit};

use super::{
    arguments::{Attachment, Disposition},
    faults::Faults,
    may_read,
    parent::without_detail,
    people::People,
};
use crate::{Failure, op::reading, operation::Call};

/// Standard base64, padded or not. `_` and `-` are none of its letters, so that an id is never one.
const BASE64: general_purpose::GeneralPurpose = general_purpose::GeneralPurpose::new(
    &alphabet::STANDARD,
    general_purpose::GeneralPurposeConfig::new()
        .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
);

/// A type that says nothing.
const UNKNOWN_TYPE: &str = "application/octet-stream";

/// Reads the files; what is wrong with them is noted.
pub(super) async fn read(
    call: &Call<'_>,
    attachments: Vec<Attachment>,
    people: &People,
    scope: SendScope,
    faults: &mut Faults,
) -> Result<Vec<File>, Failure> {
    let mut files = Vec::with_capacity(attachments.len());
    let mut bytes = 0;
    for (place, attachment) in attachments.into_iter().enumerate() {
        let path = format!("attachments[{place}].content_base64");
        match one(call, attachment, &path).await? {
            Ok((file, origin)) => {
                bytes += file.bytes.len();
                files.push(file);
                if let Some(refusal) = passed_to_others(origin.as_ref(), people, scope) {
                    faults.put(SendStep::Scope, refusal);
                }
            }
            Err(failure) => faults.put(SendStep::Content, failure),
        }
        // What is past any mail is not gathered first.
        if bytes > limit::SENT_MAIL_BYTES {
            faults.put(
                SendStep::Size,
                Failure::too_large(limit::SENT_MAIL_BYTES as u64),
            );
            return Ok(Vec::new());
        }
    }
    Ok(files)
}

async fn one(
    call: &Call<'_>,
    attachment: Attachment,
    path: &str,
) -> Result<Result<(File, Option<MessageDoc>), Failure>, Failure> {
    let mut origin = None;
    let content = attachment.content_base64.trim();
    let named = if content.starts_with("upl_") {
        match content.parse::<UploadId>() {
            Ok(id) => upload(call, id).await?,
            Err(_) => None,
        }
        .ok_or(ErrorCode::UploadNotFound)
    } else if content.starts_with("att_") {
        if let Err(failure) = may_read(call, Permission::AttachmentsRead) {
            return Ok(Err(failure));
        }
        match content.parse::<AttachmentId>() {
            Ok(id) => attached(call, id).await?.map(|(named, doc)| {
                origin = Some(doc);
                named
            }),
            Err(_) => None,
        }
        .ok_or(ErrorCode::AttachmentNotFound)
    } else {
        // Lines of 76 letters are common; white space is no content.
        let letters: Vec<u8> = content
            .bytes()
            .filter(|byte| !byte.is_ascii_whitespace())
            .collect();
        match BASE64.decode(letters) {
            Ok(bytes) => Ok(Named {
                filename: String::new(),
                content_type: UNKNOWN_TYPE.to_owned(),
                bytes,
            }),
            Err(_) => {
                let words = "expected base64, or an id such as upl_… or att_…";
                return Ok(Err(Failure::invalid(path, words)));
            }
        }
    };
    let named = match named {
        Ok(named) => named,
        Err(code) => return Ok(Err(code.into())),
    };
    let or = |given: String, known: String| match given.trim().is_empty() {
        true => known,
        false => given,
    };
    let file = File {
        filename: or(attachment.filename, named.filename),
        content_type: or(attachment.content_type, named.content_type),
        bytes: named.bytes,
        disposition: match attachment.disposition {
            Disposition::Attachment => postroom_mail::Disposition::Attachment,
            Disposition::Inline => postroom_mail::Disposition::Inline,
        },
        content_id: attachment.content_id,
    };
    Ok(Ok((file, origin)))
}

/// A file with the name and the type that it has here.
struct Named {
    filename: String,
    content_type: String,
    bytes: Vec<u8>,
}

async fn upload(call: &Call<'_>, id: UploadId) -> Result<Option<Named>, Failure> {
    let (store, scope) = (call.room.store(), call.scope()?);
    let found = read::upload(store, scope, id).await?;
    let own = call.identity_if_any();
    let Some(row) = found.filter(|row| Some(row.identity_id) == own) else {
        return Ok(None);
    };
    let bytes = read::upload_bytes(store, scope, &row).await?;
    Ok(bytes.map(|bytes| Named {
        filename: row.filename,
        content_type: row.content_type,
        bytes,
    }))
}

/// The messages whose attachment it could be, the first place first.
fn candidates(id: AttachmentId) -> Vec<MessageId> {
    let bits = id.bits();
    let ms = u64::try_from(bits >> 80).unwrap_or(0);
    (0..limit::ATTACHMENTS_KEPT as u128)
        .map(|place| MessageId::from_parts(ms, bits.wrapping_sub(1 + place)))
        .collect()
}

/// An attachment of a message in this mailbox. Its id is the message's own, moved on by its place.
async fn attached(
    call: &Call<'_>,
    id: AttachmentId,
) -> Result<Option<(Named, MessageDoc)>, Failure> {
    let (store, scope) = (call.room.store(), call.scope()?);
    let candidates = candidates(id);
    let Some(stored) = read::message_of_ids(store, scope, &candidates).await? else {
        return Ok(None);
    };
    let Some(attachment) = stored.doc.attachment(stored.row.id, id).cloned() else {
        return Ok(None);
    };
    let raw = reading::raw(call, &stored.row).await?;
    let reading =
        tokio::task::spawn_blocking(move || postroom_mail::attachment(&raw, attachment.index));
    let body = reading
        .await
        .map_err(|_| Failure::new(ErrorCode::InternalError))?;
    let named = body.map(|body| Named {
        filename: body
            .attachment
            .filename
            .unwrap_or_else(|| "attachment".to_owned()),
        content_type: body.attachment.content_type,
        bytes: body.bytes,
    });
    Ok(named.map(|named| (named, stored.doc)))
}

/// A thread takes in whoever refers to it, so that under scope `thread` the files of a mail go, as the
/// mail itself does, only to those whom it was to or from.
fn passed_to_others(
    origin: Option<&MessageDoc>,
    people: &People,
    scope: SendScope,
) -> Option<Refusal> {
    let doc = origin.filter(|_| scope == SendScope::Thread)?;
    let is_on = |address: &str| {
        let base = without_detail(address);
        let mut named = doc.from.iter().chain(&doc.to).chain(&doc.cc);
        !doc.unvouched && named.any(|one| one.address == address || one.address == base)
    };
    let strangers: Vec<String> = people
        .all
        .iter()
        .map(|recipient| recipient.address.clone())
        .filter(|address| !is_on(address))
        .collect();
    (!strangers.is_empty()).then_some(Refusal::Send {
        code: ErrorCode::PolicyDenied,
        reason: "files of a mail may be passed on only to those whom that mail was to or from",
        detail: SendDetail::Recipients(strangers),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use postroom_core::attachment_id;

    #[test]
    fn the_message_of_an_attachment_is_among_its_candidates() {
        for random in [7, 0, u128::MAX] {
            let message = MessageId::from_parts(1_790_000_000_000, random);
            for place in [0, 1, limit::ATTACHMENTS_KEPT - 1] {
                let found = candidates(attachment_id(message, place));
                assert_eq!(found.get(place), Some(&message), "{random} {place}");
            }
        }
    }

    #[test]
    fn an_id_is_never_base64() {
        for id in [
            "upl_01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "att_01ARZ3NDEKTSV4RRFFQ69G5FAV",
        ] {
            assert!(BASE64.decode(id).is_err(), "{id}");
        }
        assert_eq!(BASE64.decode("aGk=").expect("padded"), b"hi");
        assert_eq!(BASE64.decode("aGk").expect("not padded"), b"hi");
    }
}
