//! From an intent to the command that takes it in: the mail is written here, the writer decides.

use postroom_core::{
    DisclosureMode, Draft, Idempotency, OutgoingMail, Policy, QueueMessage, RawMail, SendKind,
    SendOperation, SendStep, SendThread, UsageDay,
};
use postroom_mail::{
    Attachment,
    compose::{
        self, ComposeError, Content, Disclosure, File, Headers, Outgoing, References, Signature,
        Unsubscribe,
    },
};
use postroom_store::read::{self, Identity};
use postroom_types::{ErrorCode, Mailbox, MessageId, ThreadId};

use super::{
    faults::Faults,
    files,
    intent::{Aim, Intent},
    parent::{self, Before},
    people::{self, People},
    policy, usage,
};
use crate::{Failure, operation::Call, random, room::tokens};

/// The command with what was found wrong.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) queue: QueueMessage,
    pub(super) faults: Faults,
}

/// Writes a mail.
pub(super) async fn write(
    call: &Call<'_>,
    intent: Intent,
    fingerprint: [u8; 32],
    dry_run: bool,
) -> Result<Written, Failure> {
    let (store, scope) = (call.room.store(), call.scope()?);
    let own = read::identity(store, scope, call.identity()?)
        .await?
        .ok_or(ErrorCode::IdentityNotFound)?;
    let day = usage::today(call).await?;
    let rules = policy::in_force(call).await?;
    let mut faults = Faults::default();
    let before = parent::find(call, &intent.aim, &mut faults).await?;
    let people = people::of(
        call,
        &intent.aim,
        before.as_ref(),
        &own.addresses,
        &mut faults,
    )
    .await?;
    let (from, thread_uses_from) = people::from(
        call,
        &intent.aim,
        before.as_ref(),
        &own.addresses,
        &mut faults,
    );
    let own_scope = call.actor.send_scope();
    let scope = intent
        .draft
        .map_or(own_scope, |(_, scope)| scope.min(own_scope));
    let given = intent.attachments.clone();
    let attachments = files::read(call, given, &people, scope, &mut faults).await?;
    let frame = Frame {
        call,
        intent: &intent,
        own: &own,
        rules: &rules,
        from: &from,
        token: match &before {
            Some(before) => before.stored.row.num,
            None => tokens::of_new()?,
        },
    };
    let id = MessageId::from_parts(call.now().ulid_ms(), random::bits()?);
    let letter = frame.letter(before.as_ref(), &people, attachments, id, &mut faults)?;
    let mut mail = match letter {
        Some(letter) if !faults.any() => {
            let raw = before.as_ref().map(|before| before.raw.clone());
            composed(letter, raw, &mut faults).await?
        }
        _ => None,
    };
    if let Some(mail) = mail
        .as_mut()
        .filter(|_| before.is_none() && call.room.reply_tokens)
    {
        // By this an answer to the token's address finds the thread that begins here.
        mail.draft.joins(&tokens::reference(frame.token));
    }
    let queue = frame.queue(
        Parts {
            id,
            before: before.as_ref(),
            people,
            thread_uses_from,
            mail,
            day,
            fingerprint,
            dry_run,
        },
        &faults,
    )?;
    Ok(Written { queue, faults })
}

/// What holds for the whole mail.
struct Frame<'a> {
    call: &'a Call<'a>,
    intent: &'a Intent,
    own: &'a Identity,
    rules: &'a Policy,
    from: &'a str,
    /// What the token of its reply address names.
    token: u64,
}

/// What the command takes beside the frame.
struct Parts<'a> {
    id: MessageId,
    before: Option<&'a Before>,
    people: People,
    thread_uses_from: bool,
    mail: Option<OutgoingMail>,
    day: UsageDay,
    fingerprint: [u8; 32],
    dry_run: bool,
}

/// A mail that is ready to be composed; of a forward the older mail is still to be read.
struct Letter {
    outgoing: Outgoing,
    forward: Option<Forward>,
}

struct Forward {
    note: Option<String>,
    with_attachments: bool,
}

impl Frame<'_> {
    /// The mail, or `None` when too much of it is missing.
    fn letter(
        &self,
        before: Option<&Before>,
        people: &People,
        attachments: Vec<File>,
        id: MessageId,
        faults: &mut Faults,
    ) -> Result<Option<Letter>, Failure> {
        let intent = self.intent;
        let headers = Headers::check(&intent.headers.0).unwrap_or_else(|error| {
            faults.compose(&error);
            Headers::default()
        });
        let unsubscribe = self.unsubscribe(faults);
        let Some((subject, references, forward)) = self.threading(before) else {
            return Ok(None);
        };
        let content = Content {
            subject,
            text: intent.text.clone(),
            html: intent.html.clone(),
            attachments,
            history: None,
        };
        if forward.is_none()
            && let Err(error) = content.check()
        {
            faults.compose(&error);
        }
        let outgoing = Outgoing {
            from: Mailbox {
                address: self.from.to_owned(),
                name: self.own.row.display_name.clone(),
            },
            reply_to: self.reply_to()?,
            to: people.to.clone(),
            cc: people.cc.clone(),
            content,
            references,
            headers,
            hop: u32::try_from(self.hop(before)).unwrap_or(u32::MAX),
            auto_reply: intent.kind == SendKind::AutoReply,
            unsubscribe,
            disclosure: self.disclosure(),
            signature: self.own.row.signature.as_ref().map(|own| Signature {
                text: own.text.clone(),
                html: own.html.clone(),
            }),
            message_id: self.message_id(id)?,
            date: self.call.now(),
            boundary_seed: random::bytes()?,
        };
        Ok(Some(Letter { outgoing, forward }))
    }

    /// Subject, ids and what is passed on.
    fn threading(&self, before: Option<&Before>) -> Option<(String, References, Option<Forward>)> {
        Some(match &self.intent.aim {
            Aim::New {
                subject,
                thread: None,
                ..
            } => (subject.clone(), References::default(), None),
            Aim::New { subject, .. } => {
                let references = compose::references_for(&before?.facts);
                (subject.clone(), references, None)
            }
            Aim::Reply { .. } => {
                let facts = &before?.facts;
                let subject = compose::reply_subject(facts.subject.as_deref());
                (subject, compose::references_for(facts), None)
            }
            Aim::Forward {
                with_attachments, ..
            } => {
                let facts = &before?.facts;
                let forward = Forward {
                    note: self.intent.text.clone(),
                    with_attachments: *with_attachments,
                };
                let subject = compose::forward_subject(facts.subject.as_deref());
                (subject, compose::forward_references(facts), Some(forward))
            }
        })
    }

    /// Marketing mail says how its readers leave and that they agreed.
    fn unsubscribe(&self, faults: &mut Faults) -> Option<Unsubscribe> {
        let intent = self.intent;
        let url = intent
            .unsubscribe
            .as_ref()
            .and_then(|open| open.0.get("url"))
            .and_then(serde_json::Value::as_str);
        let consent = match &intent.consent {
            Some(open) if !open.0.is_empty() => None,
            Some(_) => Some("must say something: an object with at least one entry"),
            None => Some("is required with kind marketing"),
        };
        if let Some(words) = consent.filter(|_| intent.kind == SendKind::Marketing) {
            let failure = Failure::new(ErrorCode::MarketingRequirementsMissing);
            let errors = serde_json::json!([{"path": "consent", "message": words}]);
            faults.put(SendStep::Marketing, failure.with("errors", errors));
        }
        match (url, intent.kind) {
            (Some(url), _) => Unsubscribe::check(url)
                .map_err(|error| faults.compose(&error))
                .ok(),
            (None, SendKind::Marketing) => {
                faults.compose(&ComposeError::UnsubscribeUrl);
                None
            }
            (None, _) => None,
        }
    }

    /// Where answers go, when that says which thread they are for.
    fn reply_to(&self) -> Result<Option<Mailbox>, Failure> {
        let identity = self.call.identity()?;
        let address = self
            .call
            .room
            .reply_address(identity, self.from, self.token);
        Ok(address.map(|address| Mailbox {
            address,
            name: self.own.row.display_name.clone(),
        }))
    }

    fn disclosure(&self) -> Disclosure {
        let told = &self.rules.ai_disclosure;
        match told.mode {
            DisclosureMode::None => Disclosure::None,
            DisclosureMode::Footer => Disclosure::Footer(told.text.clone()),
            DisclosureMode::Header => Disclosure::Header,
        }
    }

    /// How many mails in a row answered each other, this one counted.
    fn hop(&self, before: Option<&Before>) -> u64 {
        before.map_or(1, Before::next_hop)
    }

    /// The Message-ID without angle brackets: fixed here for every try to come. It does not hold the
    /// message's own id, so that nothing of ours is read out of it.
    fn message_id(&self, id: MessageId) -> Result<String, Failure> {
        let domain = self.from.rsplit_once('@').map_or("localhost", |(_, d)| d);
        let noise = hex::encode(random::bytes::<8>()?);
        let ulid = id.to_string().to_ascii_lowercase();
        let stamp = ulid.get(4..14).unwrap_or_default();
        Ok(format!("{stamp}.{noise}@{domain}"))
    }

    fn queue(&self, parts: Parts<'_>, faults: &Faults) -> Result<QueueMessage, Failure> {
        let (call, intent) = (self.call, self.intent);
        let operation = intent.aim.operation();
        let now = call.now();
        let thread = match parts.before {
            Some(before) => SendThread::Existing(before.thread.row.id),
            None => SendThread::New(ThreadId::from_parts(now.ulid_ms(), random::bits()?)),
        };
        let transport = call.room.transport_for(call.actor.test);
        let domain = self.from.rsplit_once('@').map_or("", |(_, domain)| domain);
        let answers = match operation {
            SendOperation::Send => None,
            SendOperation::Reply | SendOperation::Forward => {
                parts.before.map(|before| before.stored.row.id)
            }
        };
        Ok(QueueMessage {
            tenant: call.scope()?.tenant(),
            identity: call.identity()?,
            key: call.actor.key,
            scope: call.actor.send_scope(),
            test: call.actor.test,
            operation,
            kind: intent.kind,
            id: parts.id,
            thread,
            answers,
            idempotency: Idempotency {
                key: postroom_core::idempotency_key(&intent.key)?,
                fingerprint: parts.fingerprint,
            },
            from: self.from.to_owned(),
            thread_uses_from: parts.thread_uses_from,
            envelope_from: None,
            recipients: parts.people.all,
            mail: parts.mail,
            hop: self.hop(parts.before),
            transport: transport.name().to_owned(),
            // A domain that the operator names is as good as one that was verified.
            leaves: transport.leaves() && !transport.takes_from(domain),
            day: parts.day,
            labels: intent.labels.clone(),
            metadata: intent.metadata.0.clone(),
            draft: intent.draft.map(|(draft, _)| draft),
            faults: faults.refusals(),
            dry_run: parts.dry_run,
        })
    }
}

/// Composes a mail and reads it as any other is read; what takes time on a thread that may block.
async fn composed(
    letter: Letter,
    older: Option<Vec<u8>>,
    faults: &mut Faults,
) -> Result<Option<OutgoingMail>, Failure> {
    let composing = match letter.is_short() {
        true => Ok(letter.compose(older)),
        false => tokio::task::spawn_blocking(move || letter.compose(older)).await,
    };
    match composing {
        Ok(Ok(mail)) => Ok(Some(mail)),
        Ok(Err(error)) => {
            faults.compose(&error);
            Ok(None)
        }
        Err(_) => Err(ErrorCode::InternalError.into()),
    }
}

/// A plain text up to this size is composed where it is, bytes: it takes less time than a turn of
/// another thread.
const SHORT: usize = 16 * 1024;

impl Letter {
    fn is_short(&self) -> bool {
        let content = &self.outgoing.content;
        self.forward.is_none()
            && content.html.is_none()
            && content.attachments.is_empty()
            && content.text.as_ref().is_none_or(|text| text.len() <= SHORT)
    }

    fn compose(self, older: Option<Vec<u8>>) -> Result<OutgoingMail, ComposeError> {
        let mut outgoing = self.outgoing;
        if let (Some(forward), Some(older)) = (self.forward, older) {
            let note = forward.note.as_deref();
            let runs = |file: &Attachment| {
                file.filename
                    .as_deref()
                    .is_some_and(compose::is_program_name)
            };
            let content = compose::forward(&older, note, forward.with_attachments, runs);
            outgoing.content = content;
        }
        let composed = compose::compose(&outgoing)?;
        let raw = RawMail::new(composed.bytes);
        let draft = Draft::read(&raw.bytes, None);
        Ok(OutgoingMail { raw, draft })
    }
}
