//! Requests that set a webhook up: answered, noted on the source, and never an event.

use postroom_core::{Command, SourcePatch, SourceRow};
use postroom_webhook::{Answer, Handshake, Next};

use super::{super::Room, answer};
use crate::source::Settings;

impl Room {
    /// Answers a handshake and does what it asks for.
    pub(super) async fn shake_hands(&self, row: &SourceRow, handshake: Handshake) -> Answer {
        tracing::info!(
            target: "postroom::ingest",
            provider = row.provider,
            source = %row.id,
            handshake = handshake.kind.as_str(),
            "a provider shook hands"
        );
        match handshake.next {
            Next::Nothing => {}
            Next::Confirm { url, topic } => {
                if !self.confirm(url).await {
                    return answer::unavailable();
                }
                self.remember_topic(row, &topic).await;
            }
            Next::OfferedSecret { secret } => self.sources.note_offer(row, secret),
        }
        let noted = self
            .store
            .transact(Command::NoteHandshake {
                tenant: row.tenant_id,
                source: row.id,
            })
            .await;
        if let Err(error) = noted {
            // The provider has its answer all the same; it shakes hands again when it wants to.
            tracing::warn!(code = %error.code(), "a handshake was not noted");
        }
        handshake.answer
    }

    /// The first topic that was confirmed is the only one from then on: any account can have its
    /// own topic signed.
    async fn remember_topic(&self, row: &SourceRow, topic: &str) {
        let mut settings = Settings::of(row);
        if settings.topic_arn.is_some() || topic.is_empty() {
            return;
        }
        settings.topic_arn = Some(topic.to_owned());
        let update = Command::UpdateSource {
            scope: self.workers.tenant(row.tenant_id),
            source: row.id,
            patch: SourcePatch {
                options: Some(settings.document()),
                ..SourcePatch::default()
            },
        };
        if let Err(error) = self.store.transact(update).await {
            tracing::warn!(code = %error.code(), "the topic of a source was not noted");
        }
    }
}
