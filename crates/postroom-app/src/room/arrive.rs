//! Deliveries of webhooks: who may come in, what was sent, where it goes.
//!
//! A request passes through in this order: [`Room::knock`] finds the source by the token in the
//! address and counts the delivery, before a byte of its body is read; [`Room::arrive`] takes the
//! body, verifies it over its very bytes, answers a handshake, judges the delivery by the source's
//! trusted actors and rules, and stores event and todo in one synced commit. Only then the provider
//! is told so. A refusal stores nothing and leaves one log line without a word of the delivery.

mod answer;
mod handshake;
mod judge;
mod keys;
mod title;
mod unpack;

use std::sync::Arc;

use bytes::Bytes;
use postroom_core::{
    Arrive, ArriveOutcome, Command, Outcome, Refusal, Reporter, SourceRow, SourceState,
};
use postroom_store::{SealedFor, StoreError, read};
use postroom_types::{ErrorCode, IdentityId, SourceId};
use postroom_webhook::{
    Answer, Candidate, Handshake, Options, Provider, Reason, Received, Rejection,
    provider::SecretOrigin,
};

use super::{Room, reports};
use crate::source::{MAIL, Prepared, RememberedRefusal};
use judge::Judging;
pub(super) use judge::by_rules;

/// A delivery is judged anew when its source changed meanwhile, so often at most.
const ROUNDS: usize = 4;
/// Signing keys that one delivery may ask for.
const KEYS_ASKED: usize = 3;
/// A body up to this size is verified where it is; a larger one, and all rules, on a thread that
/// may block.
const INLINE_BYTES: usize = 64 * 1024;
/// Characters of a token in an address.
const TOKEN_CHARS: usize = 52;

/// A source that takes a delivery: what is known before its body is read.
#[derive(Debug)]
pub struct Door {
    row: SourceRow,
    provider: &'static Provider,
}

impl Door {
    /// The source behind it.
    pub fn source(&self) -> SourceId {
        self.row.id
    }

    /// The largest body, bytes.
    pub fn body_limit(&self) -> usize {
        self.provider.body_limit
    }
}

/// One request to a source's address.
#[derive(Debug)]
pub struct WebhookRequest {
    /// The method, upper case.
    pub method: String,
    /// The public URL that was called, with the query as received.
    pub url: String,
    /// Every header line in order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body as received.
    pub body: Bytes,
    /// The client's address.
    pub source_ip: Option<String>,
}

/// Why a delivery goes no further.
enum Refused {
    /// It was not verified, or cannot be read.
    Rejected(Box<Rejection>),
    /// It is larger than the source takes.
    TooLarge,
    /// What compresses its body cannot be read.
    Unreadable,
    /// We cannot say now.
    Unavailable,
}

impl From<Rejection> for Refused {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(Box::new(rejection))
    }
}

impl From<StoreError> for Refused {
    fn from(_: StoreError) -> Self {
        Self::Unavailable
    }
}

/// What a request came to.
enum Judged {
    /// Deliveries, ready for the writer.
    Arrivals(Vec<Arrive>),
    /// A request that sets the webhook up.
    Handshake(Box<Handshake>),
}

impl Room {
    /// Who stands behind the token of an address, before the body is read.
    ///
    /// # Errors
    /// The answer: 404 for a token of no source, 429 past the source's rate, the provider's answer
    /// for a source that was turned off, 503 when the store cannot say.
    pub async fn knock(&self, token: &str) -> Result<Door, Answer> {
        let is_token = token.len() == TOKEN_CHARS
            && token
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if !is_token {
            return Err(answer::unknown());
        }
        let row = read::source_by_token(&self.store, token)
            .await
            .map_err(|_| answer::unavailable())?
            .ok_or_else(answer::unknown)?;
        if row.provider == MAIL {
            return Err(answer::unknown());
        }
        let provider = postroom_webhook::provider::find(&row.provider).ok_or_else(|| {
            tracing::error!(source = %row.id, "the provider of a source is not known to this program");
            answer::unavailable()
        })?;
        if row.state == SourceState::Disabled {
            return Err(answer::disabled(provider));
        }
        self.rates
            .charge_source(row.id, self.now())
            .map_err(answer::slow_down)?;
        Ok(Door { row, provider })
    }

    /// The answer to a delivery for which there is no room now: its provider tries again.
    pub fn try_again(&self) -> Answer {
        answer::unavailable()
    }

    /// Says in the log that a body larger than the source takes was not read.
    pub fn too_large(&self, door: &Door, source_ip: Option<&str>) -> Answer {
        self.note_refusal(&door.row, &too_large(door.provider), source_ip);
        answer::too_large()
    }

    /// Takes a request in: verified, judged and stored when the answer says so.
    pub async fn arrive(&self, door: Door, request: WebhookRequest) -> Answer {
        let mut door = door;
        let request = Arc::new(request);
        for _ in 0..ROUNDS {
            let Some(prepared) = self.sources.prepared(&door.row) else {
                return answer::unavailable();
            };
            let judged = match self.judge(&door, &prepared, &request).await {
                Ok(judged) => judged,
                Err(refused) => return self.refuse(&door, refused, &request),
            };
            let arrivals = match judged {
                Judged::Handshake(handshake) => {
                    return self.shake_hands(&door.row, *handshake).await;
                }
                Judged::Arrivals(arrivals) => arrivals,
            };
            let trust = arrivals
                .first()
                .map_or((door.row.trust_mode, false), |first| {
                    (first.trust_mode, first.verified)
                });
            let told: Vec<_> = arrivals
                .iter()
                .filter(|arrive| arrive.verified && arrive.trust_mode.vouches())
                .filter_map(|arrive| {
                    let row = &door.row;
                    let reporter = row
                        .identity_id
                        .map_or(Reporter::Transport, Reporter::TransportOf);
                    let body = &arrive.raw.bytes;
                    reports::of_provider(&row.provider, arrive.tenant, reporter, body)
                })
                .collect();
            match self.store_arrivals(arrivals).await {
                Ok(outcomes) => {
                    // Of a repeated delivery too: the first one's report may not have been noted, and
                    // saying the same again changes nothing.
                    if let Err(error) = reports::record_told(self, told).await {
                        tracing::error!(%error, "a provider's report could not be noted");
                        return answer::unavailable();
                    }
                    return answer::accepted(&door.row, door.provider, trust, &outcomes);
                }
                Err(Again::SourceChanged) => match self.same_door(&door).await {
                    Ok(again) => door = again,
                    Err(answer) => return answer,
                },
                Err(Again::Never(answer)) => return answer,
            }
        }
        answer::unavailable()
    }

    /// Verifies a request and judges what it brings.
    async fn judge(
        &self,
        door: &Door,
        prepared: &Arc<Prepared>,
        request: &Arc<WebhookRequest>,
    ) -> Result<Judged, Refused> {
        let awaiting = door.row.state == SourceState::AwaitingSecret;
        let now = self.now();
        let mut options = prepared
            .settings
            .options(&self.store, door.row.tenant_id, now);
        options.body_limit = unpack::limit(door.provider, &request.headers);
        let candidates = self.candidates(&door.row)?;
        let bodies = unpack::bodies(door.provider, request)?;
        for _ in 0..=KEYS_ASKED {
            let judging = Judging {
                row: door.row.clone(),
                prepared: Arc::clone(prepared),
                request: Arc::clone(request),
                bodies: bodies.clone(),
                candidates: candidates.clone(),
                options: options.clone(),
            };
            let rejection = match self.run_judging(judging).await? {
                Ok(Judged::Arrivals(_)) if awaiting => break,
                Ok(judged) => return Ok(judged),
                Err(rejection) => rejection,
            };
            let Some(needed) = rejection.needs.clone().filter(|_| !awaiting) else {
                if awaiting {
                    break;
                }
                return Err(rejection.into());
            };
            match self.signing_key(&needed).await {
                Some(key) => options.keys.push(key),
                None => return Err(rejection.into()),
            }
        }
        if awaiting {
            return Err(Refused::from(awaiting_secret()));
        }
        Err(Refused::Unavailable)
    }

    /// Runs what takes time on a thread that may block.
    async fn run_judging(&self, judging: Judging) -> Result<Result<Judged, Rejection>, Refused> {
        if judging.request.body.len() <= INLINE_BYTES && judging.prepared.rules.is_none() {
            return Ok(judging.run());
        }
        tokio::task::spawn_blocking(move || judging.run())
            .await
            .map_err(|_| {
                tracing::error!("judging a delivery failed inside");
                Refused::Unavailable
            })
    }

    /// The secrets that may have signed a delivery now.
    fn candidates(&self, row: &SourceRow) -> Result<Vec<Candidate>, Refused> {
        let mut candidates = Vec::new();
        for secret in row.valid_secrets(self.now()) {
            let opened =
                self.store
                    .open_sealed(SealedFor::SourceSecret, row.tenant_id, &secret.sealed);
            let opened = opened.inspect_err(|_| {
                tracing::error!(source = %row.id, "a sealed secret cannot be opened");
            })?;
            let label = match secret.valid_until {
                None => "current",
                Some(_) => "previous",
            };
            candidates.push(Candidate::new(label, opened.expose()));
        }
        Ok(candidates)
    }

    /// Stores what was judged; all of one request or none of it is told as stored.
    async fn store_arrivals(&self, arrivals: Vec<Arrive>) -> Result<Vec<ArriveOutcome>, Again> {
        let commands = arrivals
            .into_iter()
            .map(|arrive| Command::Arrive(Box::new(arrive)))
            .collect();
        let answers = self.store.transact_all(commands).await.map_err(|error| {
            tracing::error!(%error, "a verified delivery could not be stored");
            Again::Never(answer::unavailable())
        })?;
        let mut outcomes = Vec::with_capacity(answers.len());
        for answer in answers {
            match answer {
                Ok(Outcome::Arrived(outcome)) => outcomes.push(outcome),
                Ok(_) => return Err(Again::Never(answer::unavailable())),
                // What was stored of it before is told apart when it is sent again.
                Err(Refusal::SourceChanged) => return Err(Again::SourceChanged),
                Err(refusal) => {
                    // Gone meanwhile, or turned off: the same look as at the door says which.
                    if refusal.code() == ErrorCode::NotFound {
                        return Err(Again::SourceChanged);
                    }
                    tracing::warn!(code = %refusal.code(), "a verified delivery was refused");
                    return Err(Again::Never(answer::unavailable()));
                }
            }
        }
        Ok(outcomes)
    }

    /// The same source as it is now, if the address that was called is still its own.
    async fn same_door(&self, door: &Door) -> Result<Door, Answer> {
        let scope = self.workers.tenant(door.row.tenant_id);
        let found = read::source(&self.store, &scope, door.row.id)
            .await
            .map_err(|_| answer::unavailable())?
            .map(|source| source.row)
            .filter(|row| row.token_hash == door.row.token_hash)
            .ok_or_else(answer::unknown)?;
        if found.state == SourceState::Disabled {
            return Err(answer::disabled(door.provider));
        }
        Ok(Door {
            row: found,
            provider: door.provider,
        })
    }

    /// The answer to a refusal, with its log line.
    fn refuse(&self, door: &Door, refused: Refused, request: &WebhookRequest) -> Answer {
        let ip = request.source_ip.as_deref();
        match refused {
            Refused::Rejected(rejection) => {
                let awaits = door.row.state == SourceState::AwaitingSecret;
                self.note_refusal(&door.row, &rejection, ip);
                if awaits {
                    answer::awaiting_secret()
                } else {
                    answer::rejected(door.provider, &rejection)
                }
            }
            Refused::TooLarge => {
                self.note_refusal(&door.row, &too_large(door.provider), ip);
                answer::too_large()
            }
            Refused::Unreadable => {
                self.note_refusal(&door.row, &unreadable(), ip);
                answer::unreadable()
            }
            Refused::Unavailable => answer::unavailable(),
        }
    }

    /// One line about a refusal in the log, and the same for whoever connects the source: nothing of
    /// the delivery itself.
    fn note_refusal(&self, row: &SourceRow, rejection: &Rejection, source_ip: Option<&str>) {
        let code = rejection.code.as_str();
        let reason = match row.state {
            SourceState::AwaitingSecret => ErrorCode::AwaitingSecret.as_str(),
            _ => rejection.reason.as_str(),
        };
        let refused = RememberedRefusal {
            at: self.now(),
            reason: rejection.reason.as_str(),
            code: rejection.code.clone(),
            detail: rejection.detail.clone(),
            source_ip: source_ip.map(str::to_owned),
        };
        self.sources.note_refusal(row.id, refused);
        tracing::warn!(
            target: "postroom::ingest",
            provider = row.provider,
            source = %row.id,
            reason,
            code,
            source_ip,
            "a delivery was refused"
        );
    }
}

/// Why nothing was stored.
enum Again {
    /// The source is not what it was when the delivery was judged.
    SourceChanged,
    /// For another reason; this is the answer.
    Never(Answer),
}

/// What is remembered of a body that no delivery of the provider has.
fn too_large(provider: &Provider) -> Rejection {
    Rejection {
        reason: Reason::TooLarge,
        code: "body".to_owned(),
        detail: format!(
            "The body is larger than {} bytes, as sent or unpacked.",
            provider.body_limit
        ),
        ..awaiting_secret()
    }
}

/// What is remembered of a body that is not compressed as its header says.
fn unreadable() -> Rejection {
    Rejection {
        reason: Reason::Malformed,
        code: "content_encoding".to_owned(),
        detail: "The body is not compressed as its header says.".to_owned(),
        ..awaiting_secret()
    }
}

/// What is remembered of a delivery that came before the secret.
fn awaiting_secret() -> Rejection {
    Rejection {
        reason: Reason::NotConfigured,
        code: "awaiting_secret".to_owned(),
        detail: "A delivery came in, and the source has no signing secret yet.".to_owned(),
        scheme: None,
        skew_s: None,
        needs: None,
    }
}

/// What stands for the address of a source of mail, which has none.
pub(crate) fn mail_url(identity: Option<IdentityId>) -> String {
    match identity {
        Some(identity) => format!("mail:{identity}"),
        None => "mail:*".to_owned(),
    }
}

/// The address of a source with this token.
pub(crate) fn ingest_url(room: &Room, token: &str) -> String {
    format!("{}/in/{token}", room.url())
}

/// Who makes a provider's secret, in the words of the source's row.
pub(crate) fn secret_origin(provider: &Provider) -> postroom_core::SecretOrigin {
    match provider.secret {
        SecretOrigin::Minted => postroom_core::SecretOrigin::Minted,
        SecretOrigin::Provider => postroom_core::SecretOrigin::Provider,
        SecretOrigin::None => postroom_core::SecretOrigin::None,
    }
}

/// A request as verification takes it.
fn received(
    provider: &'static Provider,
    candidates: &[Candidate],
    request: &WebhookRequest,
    body: &Bytes,
    options: &Options,
) -> Result<Received, Rejection> {
    let request = postroom_webhook::Request {
        method: &request.method,
        url: &request.url,
        headers: &request.headers,
        body: body.clone(),
    };
    postroom_webhook::receive(provider, candidates, &request, options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_says_who_makes_its_secret_and_how_far_it_vouches() {
        for row in postroom_webhook::provider::all() {
            let origin = secret_origin(row);
            assert_eq!(
                origin == postroom_core::SecretOrigin::None,
                !row.needs_secret(),
                "{}",
                row.name
            );
        }
    }
}
