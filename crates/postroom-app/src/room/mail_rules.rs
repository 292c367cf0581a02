//! Work out of mail that comes in by itself: the rules of sources of mail.
//!
//! A source of provider `mail` has no address and no secret; it stands for the mail of one mailbox,
//! or of every mailbox of its tenant. Its rules see what the rules of any source see, and the work
//! they ask for is opened in the commit that makes the message.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use postroom_core::{Draft, EventRow, Family, MailWork, SourceRow, SourceState, Work, key_hash};
use postroom_store::{StoreError, read};
use postroom_types::{SourceId, TenantId, limit};

use super::{Room, arrive::by_rules};
use crate::source::{
    MAIL, MAIL_WAYS, ReadyRules,
    envelope::{is_report, of_mail},
    ready_rules,
};

/// The sources of mail of some tenants, with their rules ready.
#[derive(Debug, Default)]
pub(super) struct MailSources {
    by_tenant: HashMap<TenantId, Vec<Arc<Ready>>>,
    /// Rules that were compiled, as long as their source is of this version.
    compiled: HashMap<SourceId, Arc<Ready>>,
}

/// One source with its rules.
#[derive(Debug)]
pub(super) struct Ready {
    row: SourceRow,
    rules: Option<ReadyRules>,
}

impl MailSources {
    /// Reads the sources of the tenants that have mail waiting.
    pub(super) async fn refresh(
        &mut self,
        room: &Room,
        tenants: &BTreeSet<TenantId>,
    ) -> Result<(), StoreError> {
        self.by_tenant.clear();
        for tenant in tenants {
            let scope = room.workers.tenant(*tenant);
            let most = limit::SOURCES_PER_TENANT;
            let sources = read::sources(&room.store, &scope, None, most).await?;
            let ready = sources
                .into_iter()
                .filter(|source| {
                    source.row.provider == MAIL && source.row.state == SourceState::Active
                })
                .map(|source| self.ready(source.row))
                .collect();
            self.by_tenant.insert(*tenant, ready);
        }
        Ok(())
    }

    fn ready(&mut self, row: SourceRow) -> Arc<Ready> {
        let known = self.compiled.get(&row.id);
        if let Some(known) = known.filter(|known| known.row.version == row.version) {
            return Arc::clone(known);
        }
        if self.compiled.len() >= limit::SOURCES_IN_MEMORY {
            self.compiled.clear();
        }
        let ready = Arc::new(Ready {
            rules: ready_rules(&row),
            row,
        });
        self.compiled.insert(ready.row.id, Arc::clone(&ready));
        ready
    }

    /// The source that an event's mail is of: its mailbox's own, else its tenant's.
    pub(super) fn of(&self, event: &EventRow) -> Option<Arc<Ready>> {
        if event.family != Family::Mail || !MAIL_WAYS.contains(&event.provider.as_str()) {
            return None;
        }
        let sources = self.by_tenant.get(&event.tenant_id)?;
        let own = sources
            .iter()
            .find(|source| source.row.identity_id == event.identity_id);
        let whole = || {
            sources
                .iter()
                .find(|source| source.row.identity_id.is_none())
        };
        own.or_else(whole).cloned()
    }
}

impl Ready {
    /// What a mail opens. Reports on our own mail open nothing: they are read for what they say.
    pub(super) fn judge(&self, event: &EventRow, draft: &Draft) -> Option<MailWork> {
        if is_report(draft) {
            return None;
        }
        let work = Work {
            kind: Some(MAIL.to_owned()),
            title: title(draft),
            idempotency_key: Some(format!("{}:{}", self.row.id, event.id)),
            subject_key: Some(conversation(draft)),
            ..Work::default()
        };
        let rules = self.rules.as_ref();
        let envelope = of_mail(event, draft, rules.map(|rules| &rules.params));
        let routing = by_rules(rules, Some(&envelope), work);
        Some(MailWork {
            source: self.row.id,
            source_version: self.row.version,
            routing,
        })
    }
}

/// One line for people.
fn title(draft: &Draft) -> String {
    let subject = draft.doc.subject.as_deref().unwrap_or_default().trim();
    match (subject, draft.from_address()) {
        ("", Some(from)) => format!("Mail from {from}"),
        ("", None) => "Mail".to_owned(),
        (subject, _) => subject.to_owned(),
    }
}

/// What the mails of one conversation share: the id of the first of them that is known.
fn conversation(draft: &Draft) -> String {
    let doc = &draft.doc;
    let root = doc
        .references
        .first()
        .or(doc.in_reply_to.first())
        .unwrap_or(&draft.rfc_message_id);
    format!("conversation:{}", hex::encode(key_hash(root)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(header: &str) -> Draft {
        Draft::read(format!("{header}\r\n\r\nText.\r\n").as_bytes(), None)
    }

    #[test]
    fn mails_of_one_conversation_share_a_key() {
        let first = draft("From: a@x.example\r\nMessage-ID: <1@x.example>");
        let answer = draft("Message-ID: <2@x.example>\r\nIn-Reply-To: <1@x.example>");
        let later = draft(
            "Message-ID: <3@x.example>\r\nReferences: <1@x.example> <2@x.example>\r\nIn-Reply-To: <2@x.example>",
        );
        let other = draft("Message-ID: <4@x.example>");
        let key = conversation(&first);
        assert_eq!(conversation(&answer), key);
        assert_eq!(conversation(&later), key);
        assert_ne!(conversation(&other), key);
        assert!(key.len() <= limit::TODO_KEY_BYTES);
    }

    #[test]
    fn a_title_says_the_subject_or_who_wrote() {
        assert_eq!(title(&draft("Subject: Van?\r\nFrom: a@x.example")), "Van?");
        assert_eq!(title(&draft("From: a@x.example")), "Mail from a@x.example");
        assert_eq!(title(&draft("X: y")), "Mail");
    }
}
