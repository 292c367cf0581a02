//! Requests that set a webhook up and are no events.

use postroom_types::Secret;

use crate::Answer;

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
