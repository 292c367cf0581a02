//! Drafts: arguments of a sending operation that are kept until they are sent; shared by the
//! operations on them.

use postroom_core::{Command, DraftRow, Outcome, PutDraft};
use postroom_store::read;
use postroom_types::{DraftId, ErrorCode, IdentityId, KeyId, Permission, Timestamp};
use serde_json::{Map, Value, json};

use super::sending;
use crate::{
    Failure, Room,
    operation::{self, Call, Operation},
};

/// Which operation a draft is for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Kind {
    /// A new mail.
    Send,
    /// An answer.
    Reply,
    /// A mail passed on.
    Forward,
}

impl Kind {
    fn operation(self) -> Result<&'static Operation, Failure> {
        let name = match self {
            Self::Send => super::mail_send::ROW.name,
            Self::Reply => super::mail_reply::ROW.name,
            Self::Forward => super::mail_forward::ROW.name,
        };
        operation::find(name).ok_or_else(|| ErrorCode::InternalError.into())
    }
}

/// A draft as it is kept.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct Document {
    /// For which operation.
    pub(super) kind: Kind,
    /// Its arguments, without the key.
    pub(super) mail: Map<String, Value>,
}

/// A draft as callers see it.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Draft {
    /// The draft's id.
    pub(super) id: DraftId,
    /// Its mailbox.
    identity_id: IdentityId,
    /// Which operation sends it.
    kind: Kind,
    /// The arguments of that operation.
    mail: Map<String, Value>,
    /// Changes with each save; a later save, or draft_send, may name it.
    etag: String,
    /// The key that saved it last; null for a person on the server's machine.
    updated_by: Option<KeyId>,
    /// To whom it may be sent, whoever sends it: the narrowest `send_scope` of the keys that saved it. A save with `etag`
    /// stands for all of it.
    #[schemars(extend("enum" = ["thread", "known", "anyone"]))]
    send_scope: String,
    /// When it was first saved.
    created_at: Timestamp,
    /// When it was last saved.
    updated_at: Timestamp,
}

impl Draft {
    pub(super) fn new(room: &Room, row: &DraftRow) -> Result<Self, Failure> {
        let document = Document::read(row)?;
        Ok(Self {
            id: row.id,
            identity_id: row.identity_id,
            kind: document.kind,
            mail: document.mail,
            etag: etag(room, row),
            updated_by: row.saved_by,
            send_scope: row.scope.as_str().to_owned(),
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

impl Document {
    pub(super) fn read(row: &DraftRow) -> Result<Self, Failure> {
        serde_json::from_str(&row.document).map_err(|_| ErrorCode::InternalError.into())
    }

    /// A draft may lack what its operation needs; what is there has to fit.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let row = self.kind.operation()?;
        let known = row.input_schema().get("properties");
        for name in self.mail.keys() {
            let apart = matches!(name.as_str(), "idempotency_key" | "identity");
            if apart || known.and_then(|known| known.get(name)).is_none() {
                let path = format!("mail.{}", crate::schema::known(name));
                return Err(Failure::invalid(&path, "is no argument that a draft keeps"));
            }
        }
        let checker = row.checker().ok_or(ErrorCode::InternalError)?;
        let Err(failure) = checker.check(&self.whole(&self.placeholders()), row.dialect) else {
            return Ok(());
        };
        Err(failure)
    }

    /// Whether it carries files of mail in the mailbox.
    fn encloses(&self) -> bool {
        let files = self.mail.get("attachments").and_then(Value::as_array);
        files.into_iter().flatten().any(|file| {
            let content = file.get("content_base64").and_then(Value::as_str);
            content.is_some_and(|content| content.trim_start().starts_with("att_"))
        })
    }

    /// Values for what is not written yet, so that the rest can be checked.
    fn placeholders(&self) -> Map<String, Value> {
        let id = "msg_00000000000000000000000000";
        let values = match self.kind {
            Kind::Send => json!({"to": ["somebody@example.com"], "subject": "-"}),
            Kind::Reply => json!({"message_id": id}),
            Kind::Forward => json!({"message_id": id, "to": ["somebody@example.com"]}),
        };
        match values {
            Value::Object(values) => values,
            _ => Map::new(),
        }
    }

    /// The arguments with a key, over others.
    fn whole(&self, under: &Map<String, Value>) -> Value {
        let mut whole = under.clone();
        whole.insert(operation::IDEMPOTENCY_KEY.to_owned(), "draft".into());
        whole.extend(self.mail.clone());
        Value::Object(whole)
    }

    /// The arguments of its operation.
    ///
    /// # Errors
    /// A bad argument, named as that of the operation, for what is missing.
    pub(super) fn arguments(&self, key: &str) -> Result<Value, Failure> {
        let row = self.kind.operation()?;
        let mut whole = self.whole(&Map::new());
        if let Value::Object(arguments) = &mut whole {
            arguments.insert(operation::IDEMPOTENCY_KEY.to_owned(), key.into());
        }
        let checker = row.checker().ok_or(ErrorCode::InternalError)?;
        checker.check(&whole, row.dialect)?;
        Ok(whole)
    }
}

/// One draft of the call's mailbox.
pub(super) async fn draft(call: &Call<'_>, id: DraftId) -> Result<DraftRow, Failure> {
    let found = read::draft(call.room.store(), call.scope()?, id).await?;
    let own = call.identity_if_any();
    found
        .filter(|row| Some(row.identity_id) == own)
        .ok_or_else(|| ErrorCode::DraftNotFound.into())
}

/// What names the draft as it is now. It tells neither how often it was saved nor what its next one will
/// be: whoever names it has read it.
fn etag(room: &Room, row: &DraftRow) -> String {
    room.store().keys().draft_etag(row.id, row.version)
}

/// Checks that a caller who names an etag means the draft as it is now.
///
/// # Errors
/// `conflict`.
pub(super) fn check_etag(room: &Room, row: &DraftRow, named: Option<&str>) -> Result<(), Failure> {
    match named.is_none_or(|named| named == etag(room, row)) {
        true => Ok(()),
        false => Err(Failure::new(ErrorCode::Conflict)
            .saying("The draft was saved since, or the etag is none of it.")
            .advising("Read it with draft_get and name the etag that it has now.")),
    }
}

/// What a save changes.
pub(super) struct Changed {
    pub(super) id: DraftId,
    pub(super) version: u64,
    /// Whether the caller named that version, and so has read it.
    pub(super) has_read: bool,
}

/// Saves a draft.
pub(super) async fn save(
    call: &Call<'_>,
    document: &Document,
    changed: Option<Changed>,
) -> Result<Draft, Failure> {
    document.check()?;
    // Whoever sends it lends it nothing that its writer may not read.
    if document.kind == Kind::Forward {
        sending::may_read(call, Permission::MessagesRead)?;
    }
    if document.encloses() {
        sending::may_read(call, Permission::AttachmentsRead)?;
    }
    let put = PutDraft {
        tenant: call.scope()?.tenant(),
        identity: call.identity()?,
        id: changed.as_ref().map(|changed| changed.id),
        document: serde_json::to_string(document).map_err(|_| ErrorCode::InternalError)?,
        version: changed.as_ref().map(|changed| changed.version),
        by: call.actor.key,
        scope: call.actor.send_scope(),
        has_read: changed.is_some_and(|changed| changed.has_read),
    };
    match call.room.store().transact(Command::PutDraft(put)).await? {
        Outcome::Draft(row) => Draft::new(call.room, &row),
        _ => Err(ErrorCode::InternalError.into()),
    }
}
