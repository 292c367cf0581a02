//! Chat, support and who talks to customers.

use super::{Accepted, BASE, Batch, IdRule, OK, Provider, SecretOrigin, code::HUB_SHA256};
use crate::{
    handshake::HandshakeKind,
    scheme::{
        Check, HMAC_SHA256_BASE64, HMAC_SHA256_HEX, Hash, KeyForm, Layout, Piece, Place, Scheme,
        TOKEN, TimeRule, Unit,
    },
};

/// A time in Unix seconds in a header, five minutes of freshness.
const fn seconds(header: &'static str) -> Option<TimeRule> {
    Some(TimeRule {
        from: Place::Header(header),
        unit: Unit::Seconds,
        tolerance_s: Some(300),
    })
}

/// `v0:time:body`.
const V0: &[Piece] = &[
    Piece::Text("v0:"),
    Piece::Time,
    Piece::Text(":"),
    Piece::Body,
];

/// HubSpot's first two versions: a bare hash with the secret in front and without a time, which it sends
/// beside the third.
const HUBSPOT_V2: Scheme = Scheme {
    name: "hubspot-v2",
    signature: Place::Header("x-hubspot-signature"),
    check: Check::Digest(Hash::Sha256),
    signed: &[Piece::Secret, Piece::Method, Piece::Url, Piece::Body],
    by_name: true,
    ..HMAC_SHA256_HEX
};

const ZENDESK: Scheme = Scheme {
    name: "zendesk-sha256",
    signature: Place::Header("x-zendesk-webhook-signature"),
    signed: &[Piece::Time, Piece::Body],
    time: Some(TimeRule {
        from: Place::Header("x-zendesk-webhook-signature-timestamp"),
        unit: Unit::Rfc3339,
        tolerance_s: Some(300),
    }),
    ..HMAC_SHA256_BASE64
};

pub(super) const ROWS: &[Provider] = &[
    Provider {
        name: "discord",
        title: "Discord",
        about: "Signs time and body with Ed25519; sends badly signed probes that must be answered 401.",
        docs: "https://discord.com/developers/docs/interactions/overview",
        url_goes: "Developer portal, the application, General information: Interactions endpoint URL",
        secret_hint: "The application's public key (hexadecimal)",
        schemes: &[Scheme {
            name: "discord-ed25519",
            signature: Place::Header("x-signature-ed25519"),
            check: Check::Ed25519,
            key: KeyForm::Ed25519Hex,
            signed: &[Piece::Time, Piece::Body],
            time: seconds("x-signature-timestamp"),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[Place::Json(&["id"])])],
        event_type: &[Place::Json(&["event", "type"]), Place::Json(&["type"])],
        occurred_at: &[(Place::Json(&["event", "timestamp"]), Unit::Rfc3339)],
        handshakes: &[HandshakeKind::DiscordPing],
        accepted: Accepted {
            status: 204,
            body: None,
        },
        answer_within_ms: 3_000,
        ..BASE
    },
    Provider {
        name: "hubspot",
        title: "HubSpot",
        about: "Signs method, URL, body and time with HMAC-SHA256 (v3); the bare hashes without a time of older apps (v1, v2) count only where the source's settings name the scheme.",
        docs: "https://developers.hubspot.com/docs/apps/legacy-apps/authentication/validating-requests",
        url_goes: "The app, Webhooks: Target URL",
        secret_hint: "The app's client secret",
        schemes: &[
            Scheme {
                name: "hubspot-v3",
                signature: Place::Header("x-hubspot-signature-v3"),
                signed: &[Piece::Method, Piece::UrlHubSpot, Piece::Body, Piece::Time],
                time: Some(TimeRule {
                    from: Place::Header("x-hubspot-request-timestamp"),
                    unit: Unit::Millis,
                    tolerance_s: Some(300),
                }),
                ..HMAC_SHA256_BASE64
            },
            HUBSPOT_V2,
            Scheme {
                name: "hubspot-v1",
                signed: &[Piece::Secret, Piece::Body],
                ..HUBSPOT_V2
            },
        ],
        ids: &[IdRule(&[
            Place::Json(&["only", "eventId"]),
            Place::Json(&["only", "subscriptionId"]),
            Place::Json(&["only", "occurredAt"]),
        ])],
        event_type: &[
            Place::Json(&["0", "subscriptionType"]),
            Place::Json(&["subscriptionType"]),
        ],
        occurred_at: &[(Place::Json(&["0", "occurredAt"]), Unit::Millis)],
        batch: Some(Batch {
            items: &[],
            id: &["eventId"],
            event_type: &["subscriptionType"],
            occurred_at: Some((&["occurredAt"], Unit::Millis)),
        }),
        methods: &["POST", "GET"],
        answer_within_ms: 5_000,
        ..BASE
    },
    Provider {
        name: "intercom",
        title: "Intercom",
        about: "Signs the body with HMAC-SHA1; asks with HEAD whether the URL is there.",
        docs: "https://developers.intercom.com/docs/webhooks/webhook-notifications",
        url_goes: "Developer hub, the app, Webhooks: Endpoint URL",
        secret_hint: "The app's client secret",
        schemes: &[Scheme {
            name: "intercom-sha1",
            signature: Place::Header("x-hub-signature"),
            layout: Layout::Prefixed("sha1="),
            check: Check::Hmac(Hash::Sha1),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[Place::Json(&["id"])])],
        event_type: &[Place::Json(&["topic"])],
        occurred_at: &[(Place::Json(&["created_at"]), Unit::Seconds)],
        handshakes: &[HandshakeKind::HeadProbe],
        accepted: OK,
        stop_status: Some(410),
        answer_within_ms: 5_000,
        ..BASE
    },
    Provider {
        name: "line",
        title: "LINE",
        about: "Signs the body with HMAC-SHA256.",
        docs: "https://developers.line.biz/en/docs/messaging-api/verify-webhook-signature/",
        url_goes: "Developers console, the channel, Messaging API: Webhook URL",
        secret_hint: "The channel's secret",
        schemes: &[Scheme {
            name: "line-sha256",
            signature: Place::Header("x-line-signature"),
            ..HMAC_SHA256_BASE64
        }],
        ids: &[IdRule(&[Place::Json(&[
            "events",
            "only",
            "webhookEventId",
        ])])],
        event_type: &[Place::Json(&["events", "0", "type"])],
        occurred_at: &[(Place::Json(&["events", "0", "timestamp"]), Unit::Millis)],
        batch: Some(Batch {
            items: &["events"],
            id: &["webhookEventId"],
            event_type: &["type"],
            occurred_at: Some((&["timestamp"], Unit::Millis)),
        }),
        accepted: OK,
        ..BASE
    },
    Provider {
        name: "meta-whatsapp",
        title: "Meta: WhatsApp, Messenger, Instagram",
        about: "Signs the body, escapes as sent, with HMAC-SHA256; asks once by GET with a challenge.",
        docs: "https://developers.facebook.com/docs/graph-api/webhooks/getting-started",
        url_goes: "The app, Webhooks or WhatsApp, Configuration: Callback URL and Verify token",
        secret_hint: "The app's secret; the verify token is yours to choose",
        schemes: &[HUB_SHA256],
        // A body may hold several messages and a repetition may group them otherwise, so their ids
        // count only when there is one.
        ids: &[
            IdRule(&[Place::Json(&[
                "entry", "only", "changes", "only", "value", "messages", "only", "id",
            ])]),
            IdRule(&[
                Place::Json(&[
                    "entry", "only", "changes", "only", "value", "statuses", "only", "id",
                ]),
                Place::Json(&[
                    "entry", "only", "changes", "only", "value", "statuses", "only", "status",
                ]),
            ]),
            IdRule(&[Place::Json(&[
                "entry",
                "only",
                "messaging",
                "only",
                "message",
                "mid",
            ])]),
        ],
        event_type: &[
            Place::Json(&["entry", "0", "changes", "0", "field"]),
            Place::Json(&["object"]),
        ],
        occurred_at: &[
            (
                Place::Json(&[
                    "entry",
                    "0",
                    "changes",
                    "0",
                    "value",
                    "messages",
                    "0",
                    "timestamp",
                ]),
                Unit::Seconds,
            ),
            (Place::Json(&["entry", "0", "time"]), Unit::Millis),
        ],
        handshakes: &[HandshakeKind::MetaChallenge],
        accepted: OK,
        ..BASE
    },
    Provider {
        name: "plain",
        title: "Plain",
        about: "Signs the body with HMAC-SHA256; the time stands in the body.",
        docs: "https://www.plain.com/docs/api-reference/request-signing",
        url_goes: "Settings, Webhooks, Add webhook target: URL",
        secret_hint: "Settings, Request signing, Secret",
        schemes: &[Scheme {
            name: "plain-sha256",
            signature: Place::Header("plain-request-signature"),
            time: Some(TimeRule {
                from: Place::Json(&["webhookMetadata", "webhookDeliveryAttemptTimestamp"]),
                unit: Unit::Rfc3339,
                tolerance_s: Some(300),
            }),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[Place::Json(&["id"])])],
        event_type: &[
            Place::Json(&["type"]),
            Place::Json(&["payload", "eventType"]),
        ],
        occurred_at: &[(Place::Json(&["timestamp"]), Unit::Rfc3339)],
        ..BASE
    },
    Provider {
        name: "slack",
        title: "Slack",
        about: "Signs time and body with HMAC-SHA256; wants an answer within three seconds and repeats without one.",
        docs: "https://docs.slack.dev/authentication/verifying-requests-from-slack",
        url_goes: "The app, Event Subscriptions: Request URL",
        secret_hint: "Basic information, Signing secret",
        schemes: &[Scheme {
            name: "slack-v0",
            signature: Place::Header("x-slack-signature"),
            layout: Layout::Prefixed("v0="),
            signed: V0,
            time: seconds("x-slack-request-timestamp"),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[Place::Json(&["event_id"])])],
        event_type: &[
            Place::Json(&["event", "type"]),
            Place::Json(&["type"]),
            Place::Form("command"),
        ],
        occurred_at: &[(Place::Json(&["event_time"]), Unit::Seconds)],
        handshakes: &[HandshakeKind::SlackChallenge],
        accepted: OK,
        answer_within_ms: 3_000,
        ..BASE
    },
    Provider {
        name: "telegram",
        title: "Telegram bots",
        about: "Repeats a shared secret; the body is not covered.",
        docs: "https://core.telegram.org/bots/api#setwebhook",
        url_goes: "setWebhook: url and secret_token",
        secret: SecretOrigin::Minted,
        secret_hint: "secret_token of setWebhook",
        schemes: &[Scheme {
            name: "telegram-token",
            signature: Place::Header("x-telegram-bot-api-secret-token"),
            ..TOKEN
        }],
        ids: &[IdRule(&[Place::Json(&["update_id"])])],
        event_type: &[Place::Fixed("update")],
        occurred_at: &[(Place::Json(&["message", "date"]), Unit::Seconds)],
        accepted: OK,
        ..BASE
    },
    Provider {
        name: "twitch",
        title: "Twitch EventSub",
        about: "Signs id, time and body with HMAC-SHA256; asks once with a signed challenge.",
        docs: "https://dev.twitch.tv/docs/eventsub/handling-webhook-events/",
        url_goes: "POST /eventsub/subscriptions: transport.callback and transport.secret",
        secret: SecretOrigin::Minted,
        secret_hint: "transport.secret of the subscription",
        schemes: &[Scheme {
            name: "twitch-sha256",
            signature: Place::Header("twitch-eventsub-message-signature"),
            layout: Layout::Prefixed("sha256="),
            signed: &[
                Piece::Value(Place::Header("twitch-eventsub-message-id")),
                Piece::Time,
                Piece::Body,
            ],
            time: Some(TimeRule {
                from: Place::Header("twitch-eventsub-message-timestamp"),
                unit: Unit::Rfc3339,
                tolerance_s: Some(600),
            }),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[Place::Header("twitch-eventsub-message-id")])],
        event_type: &[
            Place::Json(&["subscription", "type"]),
            Place::Header("twitch-eventsub-subscription-type"),
        ],
        occurred_at: &[(
            Place::Header("twitch-eventsub-message-timestamp"),
            Unit::Rfc3339,
        )],
        handshakes: &[HandshakeKind::TwitchChallenge],
        accepted: Accepted {
            status: 204,
            body: None,
        },
        ..BASE
    },
    Provider {
        name: "zendesk",
        title: "Zendesk",
        about: "Signs time and body with HMAC-SHA256; an older page has them the other way round, both are taken.",
        docs: "https://developer.zendesk.com/documentation/webhooks/verifying/",
        url_goes: "Admin center, Apps and integrations, Webhooks, Create: Endpoint URL",
        secret_hint: "The webhook's signing secret",
        schemes: &[
            ZENDESK,
            Scheme {
                name: "zendesk-sha256-body-first",
                signed: &[Piece::Body, Piece::Time],
                ..ZENDESK
            },
        ],
        ids: &[
            IdRule(&[Place::Json(&["id"]), Place::Json(&["type"])]),
            IdRule(&[Place::Header("x-zendesk-webhook-invocation-id")]),
        ],
        occurred_at: &[(Place::Json(&["time"]), Unit::Rfc3339)],
        ..BASE
    },
    Provider {
        name: "zoom",
        title: "Zoom",
        about: "Signs time and body with HMAC-SHA256; validates the URL every 72 hours.",
        docs: "https://developers.zoom.us/docs/api/webhooks/",
        url_goes: "App marketplace, the app, Feature, Event subscriptions: Endpoint URL",
        secret_hint: "The app's secret token",
        schemes: &[Scheme {
            name: "zoom-v0",
            signature: Place::Header("x-zm-signature"),
            layout: Layout::Prefixed("v0="),
            signed: V0,
            time: seconds("x-zm-request-timestamp"),
            ..HMAC_SHA256_HEX
        }],
        ids: &[
            IdRule(&[
                Place::Json(&["event"]),
                Place::Json(&["event_ts"]),
                Place::Json(&["payload", "object", "uuid"]),
            ]),
            IdRule(&[
                Place::Json(&["event"]),
                Place::Json(&["event_ts"]),
                Place::Json(&["payload", "object", "id"]),
            ]),
            IdRule(&[Place::Header("x-zm-trackingid")]),
        ],
        event_type: &[Place::Json(&["event"])],
        occurred_at: &[(Place::Json(&["event_ts"]), Unit::Millis)],
        handshakes: &[HandshakeKind::ZoomValidation],
        accepted: OK,
        answer_within_ms: 3_000,
        ..BASE
    },
];
