//! Documents, forms, calendars, files.

use super::{BASE, Batch, IdRule, OK, Provider, SecretOrigin, TIME_DOT_BODY};
use crate::{
    handshake::HandshakeKind,
    scheme::{HMAC_SHA256_BASE64, HMAC_SHA256_HEX, Layout, Place, Scheme, TimeRule, Unit},
};

pub(super) const ROWS: &[Provider] = &[
    Provider {
        name: "asana",
        title: "Asana",
        about: "Signs the body with HMAC-SHA256 under a secret that its first request hands over.",
        docs: "https://developers.asana.com/docs/webhooks-guide",
        url_goes: "POST /webhooks: target",
        secret_hint: "X-Hook-Secret of the first request; confirm it when it is offered",
        schemes: &[Scheme {
            name: "asana-sha256",
            signature: Place::Header("x-hook-signature"),
            ..HMAC_SHA256_HEX
        }],
        event_type: &[
            Place::Json(&["events", "0", "action"]),
            Place::Fixed("heartbeat"),
        ],
        occurred_at: &[(Place::Json(&["events", "0", "created_at"]), Unit::Rfc3339)],
        batch: Some(Batch {
            items: &["events"],
            id: &[],
            event_type: &["action"],
            occurred_at: Some((&["created_at"], Unit::Rfc3339)),
        }),
        handshakes: &[HandshakeKind::AsanaSecret],
        accepted: OK,
        stop_status: Some(410),
        ..BASE
    },
    Provider {
        name: "calendly",
        title: "Calendly",
        about: "Signs time and body with HMAC-SHA256; three minutes of freshness.",
        docs: "https://developer.calendly.com/api-docs/4c305798a61d3-webhook-signatures",
        url_goes: "POST /webhook_subscriptions: url",
        secret_hint: "The subscription's signing key",
        schemes: &[Scheme {
            name: "calendly-v1",
            signature: Place::Header("calendly-webhook-signature"),
            layout: Layout::List {
                separator: ',',
                prefix: "v1=",
            },
            signed: TIME_DOT_BODY,
            time: Some(TimeRule {
                from: Place::Pair {
                    header: "calendly-webhook-signature",
                    separator: ',',
                    key: "t",
                },
                unit: Unit::Seconds,
                tolerance_s: Some(180),
            }),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[
            Place::Json(&["event"]),
            Place::Json(&["payload", "uri"]),
            Place::Json(&["created_at"]),
        ])],
        event_type: &[Place::Json(&["event"])],
        occurred_at: &[(Place::Json(&["created_at"]), Unit::Rfc3339)],
        ..BASE
    },
    Provider {
        name: "dropbox",
        title: "Dropbox",
        about: "Signs the body with HMAC-SHA256; asks once by GET with a challenge.",
        docs: "https://www.dropbox.com/developers/reference/webhooks",
        url_goes: "App console, the app, Webhook URIs",
        secret_hint: "The app's secret",
        schemes: &[Scheme {
            name: "dropbox-sha256",
            signature: Place::Header("x-dropbox-signature"),
            ..HMAC_SHA256_HEX
        }],
        event_type: &[Place::Fixed("files.changed")],
        handshakes: &[HandshakeKind::DropboxChallenge],
        accepted: OK,
        ..BASE
    },
    Provider {
        name: "notion",
        title: "Notion",
        about: "Signs the body with HMAC-SHA256 under a token that its first request hands over.",
        docs: "https://developers.notion.com/reference/webhooks",
        url_goes: "The integration, Webhooks, Create a subscription: Webhook URL",
        secret_hint: "verification_token of the first request; confirm it when it is offered",
        schemes: &[Scheme {
            name: "notion-sha256",
            signature: Place::Header("x-notion-signature"),
            layout: Layout::Prefixed("sha256="),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[Place::Json(&["id"])])],
        occurred_at: &[(Place::Json(&["timestamp"]), Unit::Rfc3339)],
        handshakes: &[HandshakeKind::NotionToken],
        accepted: OK,
        ..BASE
    },
    Provider {
        name: "typeform",
        title: "Typeform",
        about: "Signs the body with HMAC-SHA256 in Base64.",
        docs: "https://www.typeform.com/developers/webhooks/secure-your-webhooks/",
        url_goes: "Connect, Webhooks, Add a webhook: Endpoint, then Secret",
        secret: SecretOrigin::Minted,
        secret_hint: "The webhook's secret",
        schemes: &[Scheme {
            name: "typeform-sha256",
            signature: Place::Header("typeform-signature"),
            layout: Layout::Prefixed("sha256="),
            ..HMAC_SHA256_BASE64
        }],
        ids: &[IdRule(&[Place::Json(&["event_id"])])],
        event_type: &[Place::Json(&["event_type"])],
        occurred_at: &[(
            Place::Json(&["form_response", "submitted_at"]),
            Unit::Rfc3339,
        )],
        stop_status: Some(410),
        ..BASE
    },
];
