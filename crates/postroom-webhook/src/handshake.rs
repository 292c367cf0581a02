//! Requests that set a webhook up and are no events.

use postroom_types::Secret;
use serde_json::json;

use crate::{
    Answer, Candidate, Provider, Reason, Rejection,
    scheme::HostRule,
    verify::{Reading, answer_hmac, check_url, is_candidate, json_text, same_text},
};

/// Which handshake a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandshakeKind {
    /// Asana: `X-Hook-Secret` is sent back and is the secret from then on.
    AsanaSecret,
    /// Discord: interaction PING, or the ping of webhook events.
    DiscordPing,
    /// Dropbox: GET with `challenge`.
    DropboxChallenge,
    /// Microsoft Graph: POST with `validationToken`.
    GraphValidation,
    /// A HEAD that asks whether the URL is there.
    HeadProbe,
    /// Meta: GET with `hub.challenge`.
    MetaChallenge,
    /// Notion: an unsigned body with the token that signs from then on.
    NotionToken,
    /// Okta: GET with `X-Okta-Verification-Challenge`.
    OktaChallenge,
    /// Slack: a signed `url_verification`.
    SlackChallenge,
    /// SNS: a signed confirmation whose URL must be called.
    SnsConfirmation,
    /// Twitch: a signed `webhook_callback_verification`.
    TwitchChallenge,
    /// Zoom: `endpoint.url_validation`.
    ZoomValidation,
}

impl HandshakeKind {
    /// The word in JSON and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AsanaSecret => "asana_secret",
            Self::DiscordPing => "discord_ping",
            Self::DropboxChallenge => "dropbox_challenge",
            Self::GraphValidation => "graph_validation",
            Self::HeadProbe => "head_probe",
            Self::MetaChallenge => "meta_challenge",
            Self::NotionToken => "notion_token",
            Self::OktaChallenge => "okta_challenge",
            Self::SlackChallenge => "slack_challenge",
            Self::SnsConfirmation => "sns_confirmation",
            Self::TwitchChallenge => "twitch_challenge",
            Self::ZoomValidation => "zoom_validation",
        }
    }
}

/// What a handshake asks for beside its answer.
#[derive(Debug, Clone)]
pub enum Next {
    /// Nothing.
    Nothing,
    /// Call this URL with GET, without following redirects; it has passed the provider's host rule.
    Confirm {
        /// The URL.
        url: String,
        /// The topic that asks. A source that names none yet should remember it from here on: any
        /// account can have its own topic signed.
        topic: String,
    },
    /// The provider offers a secret. A person confirms it before it counts: the request is not
    /// signed, and anybody who knows the URL could have sent it.
    OfferedSecret {
        /// The secret.
        secret: Secret<Vec<u8>>,
    },
}

/// A handshake: answer it, store no event.
#[derive(Debug, Clone)]
pub struct Handshake {
    /// Which one.
    pub kind: HandshakeKind,
    /// Whether a signature or token proved who asks.
    pub authenticated: bool,
    /// The answer.
    pub answer: Answer,
    /// What else to do.
    pub next: Next,
}

/// The longest challenge that is sent back, bytes.
const CHALLENGE_BYTES: usize = 2_048;

/// A handshake that comes without a signature, if the request is one.
pub(crate) fn unsigned(
    provider: &Provider,
    candidates: &[Candidate],
    reading: &Reading<'_>,
) -> Result<Option<Handshake>, Rejection> {
    for kind in provider.handshakes {
        let found = match kind {
            HandshakeKind::AsanaSecret => asana(reading),
            HandshakeKind::DropboxChallenge => echoed_query(reading, *kind, "challenge"),
            HandshakeKind::GraphValidation => graph(reading),
            HandshakeKind::HeadProbe => {
                (reading.request.method == "HEAD").then(|| open(*kind, Answer::empty(200)))
            }
            HandshakeKind::MetaChallenge => meta(candidates, reading)?,
            HandshakeKind::NotionToken => notion(reading),
            HandshakeKind::OktaChallenge => okta(reading),
            HandshakeKind::ZoomValidation => zoom_unsigned(provider, candidates, reading)?,
            HandshakeKind::DiscordPing
            | HandshakeKind::SlackChallenge
            | HandshakeKind::SnsConfirmation
            | HandshakeKind::TwitchChallenge => None,
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// A handshake that passed verification, if the request is one.
pub(crate) fn signed(
    provider: &Provider,
    candidates: &[Candidate],
    reading: &Reading<'_>,
) -> Result<Option<Handshake>, Rejection> {
    for kind in provider.handshakes {
        let found = match kind {
            HandshakeKind::DiscordPing => discord(reading),
            HandshakeKind::SlackChallenge => slack(reading)?,
            HandshakeKind::SnsConfirmation => sns(reading)?,
            HandshakeKind::TwitchChallenge => twitch(reading)?,
            HandshakeKind::ZoomValidation => zoom(provider, candidates, reading)?,
            _ => None,
        };
        if let Some(mut handshake) = found {
            handshake.authenticated = true;
            return Ok(Some(handshake));
        }
    }
    Ok(None)
}

fn open(kind: HandshakeKind, answer: Answer) -> Handshake {
    Handshake {
        kind,
        authenticated: false,
        answer,
        next: Next::Nothing,
    }
}

/// A challenge that can be sent back: printable ASCII, bounded.
fn challenge(text: Option<&str>) -> Result<&str, Rejection> {
    text.filter(|text| {
        (1..=CHALLENGE_BYTES).contains(&text.len())
            && text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
    })
    .ok_or_else(|| {
        Rejection::new(
            Reason::Malformed,
            "bad_challenge",
            "The challenge is not printable ASCII of a bounded length.",
        )
    })
}

fn asana(reading: &Reading<'_>) -> Option<Handshake> {
    let secret = reading.request.text("x-hook-secret")?;
    if reading.request.values("x-hook-signature").next().is_some()
        || challenge(Some(secret)).is_err()
    {
        return None;
    }
    let mut answer = Answer::empty(200);
    answer.headers.push(("x-hook-secret", secret.to_owned()));
    let mut handshake = open(HandshakeKind::AsanaSecret, answer);
    handshake.next = Next::OfferedSecret {
        secret: Secret::new(secret.as_bytes().to_vec()),
    };
    Some(handshake)
}

fn echoed_query(reading: &Reading<'_>, kind: HandshakeKind, name: &str) -> Option<Handshake> {
    if reading.request.method != "GET" {
        return None;
    }
    let value = reading.request.query_value(name)?;
    let value = challenge(Some(&value)).ok()?;
    Some(open(kind, Answer::text(value)))
}

fn graph(reading: &Reading<'_>) -> Option<Handshake> {
    let request = reading.request;
    if request.method != "POST" || !request.body.is_empty() {
        return None;
    }
    let token = request.query_value("validationToken")?;
    // The token is text of a stranger: it goes back as plain text only.
    let token = challenge(Some(&token)).ok()?;
    Some(open(HandshakeKind::GraphValidation, Answer::text(token)))
}

fn meta(candidates: &[Candidate], reading: &Reading<'_>) -> Result<Option<Handshake>, Rejection> {
    let request = reading.request;
    if request.method != "GET" || request.query_value("hub.mode").as_deref() != Some("subscribe") {
        return Ok(None);
    }
    let given = request.query_value("hub.verify_token").unwrap_or_default();
    let known = match reading.options.verify_token.as_deref() {
        Some(token) => !token.is_empty() && same_text(token, &given),
        None => is_candidate(candidates, &given),
    };
    if !known {
        return Err(Rejection::new(
            Reason::BadSignature,
            "token_mismatch",
            "hub.verify_token is not the verify token of this source.",
        ));
    }
    let value = request.query_value("hub.challenge");
    let value = challenge(value.as_deref())?;
    let mut handshake = open(HandshakeKind::MetaChallenge, Answer::text(value));
    handshake.authenticated = true;
    Ok(Some(handshake))
}

fn notion(reading: &Reading<'_>) -> Option<Handshake> {
    if reading
        .request
        .values("x-notion-signature")
        .next()
        .is_some()
    {
        return None;
    }
    let body = reading.json()?.as_object()?;
    let token = body.get("verification_token")?.as_str()?;
    if body.len() != 1 || challenge(Some(token)).is_err() {
        return None;
    }
    let mut handshake = open(HandshakeKind::NotionToken, Answer::empty(200));
    handshake.next = Next::OfferedSecret {
        secret: Secret::new(token.as_bytes().to_vec()),
    };
    Some(handshake)
}

fn okta(reading: &Reading<'_>) -> Option<Handshake> {
    if reading.request.method != "GET" {
        return None;
    }
    let value = reading.request.text("x-okta-verification-challenge")?;
    let value = challenge(Some(value)).ok()?;
    let answer = Answer::json(&json!({ "verification": value }));
    Some(open(HandshakeKind::OktaChallenge, answer))
}

fn zoom_unsigned(
    provider: &Provider,
    candidates: &[Candidate],
    reading: &Reading<'_>,
) -> Result<Option<Handshake>, Rejection> {
    if reading.request.values("x-zm-signature").next().is_some() {
        return Ok(None);
    }
    zoom(provider, candidates, reading)
}

fn zoom(
    provider: &Provider,
    candidates: &[Candidate],
    reading: &Reading<'_>,
) -> Result<Option<Handshake>, Rejection> {
    if json_text(reading, &["event"]) != Some("endpoint.url_validation") {
        return Ok(None);
    }
    let token = challenge(json_text(reading, &["payload", "plainToken"]))?;
    // The answer is an HMAC under the very secret that signs events, over text of the caller's
    // choice. A signed event is `v0:time:body`, so a token must not be able to look like one.
    let safe = token.len() <= 128
        && token.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+' | b'/' | b'=')
        });
    if !safe {
        return Err(Rejection::new(
            Reason::Malformed,
            "bad_challenge",
            "plainToken is not a plain token.",
        ));
    }
    let Some(encrypted) = answer_hmac(provider, candidates, token) else {
        return Err(Rejection::new(
            Reason::NotConfigured,
            "no_secret",
            "The source has no secret.",
        ));
    };
    let answer = Answer::json(&json!({ "plainToken": token, "encryptedToken": encrypted }));
    Ok(Some(open(HandshakeKind::ZoomValidation, answer)))
}

fn slack(reading: &Reading<'_>) -> Result<Option<Handshake>, Rejection> {
    if json_text(reading, &["type"]) != Some("url_verification") {
        return Ok(None);
    }
    let value = challenge(json_text(reading, &["challenge"]).filter(|text| text.len() <= 256))?;
    let answer = Answer::json(&json!({ "challenge": value }));
    Ok(Some(open(HandshakeKind::SlackChallenge, answer)))
}

fn discord(reading: &Reading<'_>) -> Option<Handshake> {
    let answer = match reading.json()?.get("type")?.as_u64()? {
        1 if reading.json()?.get("event").is_none() => Answer::json(&json!({ "type": 1 })),
        0 => Answer::empty(204),
        _ => return None,
    };
    Some(open(HandshakeKind::DiscordPing, answer))
}

fn twitch(reading: &Reading<'_>) -> Result<Option<Handshake>, Rejection> {
    let kind = reading.request.text("twitch-eventsub-message-type");
    if kind != Some("webhook_callback_verification") {
        return Ok(None);
    }
    let value = challenge(json_text(reading, &["challenge"]))?;
    Ok(Some(open(
        HandshakeKind::TwitchChallenge,
        Answer::text(value),
    )))
}

fn sns(reading: &Reading<'_>) -> Result<Option<Handshake>, Rejection> {
    if json_text(reading, &["Type"]) != Some("SubscriptionConfirmation") {
        return Ok(None);
    }
    let url = json_text(reading, &["SubscribeURL"]).unwrap_or_default();
    check_url(url, HostRule::SnsConfirm)?;
    let mut handshake = open(HandshakeKind::SnsConfirmation, Answer::empty(200));
    handshake.next = Next::Confirm {
        url: url.to_owned(),
        topic: json_text(reading, &["TopicArn"])
            .unwrap_or_default()
            .to_owned(),
    };
    Ok(Some(handshake))
}
