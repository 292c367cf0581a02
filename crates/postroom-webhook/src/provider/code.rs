//! Forges, issue trackers and what developers run.

use super::{
    BASE, IdRule, OK, Provider, SecretOrigin, TIME_DOT_BODY,
    standard::{STANDARD, SVIX},
};
use crate::{
    handshake::HandshakeKind,
    scheme::{
        Check, Covers, Encoding, HMAC_SHA256_HEX, Hash, JwtRule, KeyForm, Layout, Place, Scheme,
        TOKEN, TimeRule, Unit,
    },
};
use postroom_types::limit::WEBHOOK_BODY_MOST_BYTES;

/// `X-Hub-Signature-256: sha256=` over the body.
pub(super) const HUB_SHA256: Scheme = Scheme {
    name: "hub-sha256",
    signature: Place::Header("x-hub-signature-256"),
    layout: Layout::Prefixed("sha256="),
    ..HMAC_SHA256_HEX
};

/// `X-Hub-Signature: sha256=` over the body.
const HUB_SHA256_PLAIN: Scheme = Scheme {
    signature: Place::Header("x-hub-signature"),
    ..HUB_SHA256
};

const GITEA: Scheme = Scheme {
    name: "gitea-sha256",
    signature: Place::Header("x-gitea-signature"),
    ..HMAC_SHA256_HEX
};

pub(super) const ROWS: &[Provider] = &[
    Provider {
        name: "bitbucket",
        title: "Bitbucket",
        about: "Signs the body with HMAC-SHA256; sends no signature at all while no secret is set.",
        docs: "https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/",
        url_goes: "Repository settings, Webhooks, Add webhook: URL and Secret",
        secret: SecretOrigin::Minted,
        secret_hint: "Repository settings, Webhooks, Secret",
        schemes: &[HUB_SHA256_PLAIN],
        ids: &[
            IdRule(&[Place::Header("x-request-uuid")]),
            IdRule(&[Place::Header("x-request-id")]),
        ],
        event_type: &[Place::Header("x-event-key")],
        ..BASE
    },
    Provider {
        name: "cairn",
        title: "Cairn",
        about: "Signs the body with HMAC-SHA256; time and id stand in the body.",
        docs: "https://www.rfc-editor.org/rfc/rfc2104",
        url_goes: "The settings of the webhook: URL and Secret",
        secret: SecretOrigin::Minted,
        secret_hint: "The webhook's secret",
        schemes: &[Scheme {
            name: "cairn-sha256",
            signature: Place::Header("x-cairn-signature"),
            layout: Layout::Prefixed("sha256="),
            time: Some(TimeRule {
                from: Place::Json(&["created_at"]),
                unit: Unit::Rfc3339,
                tolerance_s: Some(300),
            }),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[Place::Json(&["event_id"])])],
        echoed_id: Some("x-cairn-event-id"),
        event_type: &[
            Place::Json(&["event_type"]),
            Place::Json(&["type"]),
            Place::Header("x-cairn-event"),
        ],
        occurred_at: &[(Place::Json(&["created_at"]), Unit::Rfc3339)],
        ..BASE
    },
    Provider {
        name: "clerk",
        title: "Clerk",
        docs: "https://clerk.com/docs/webhooks/overview",
        url_goes: "Configure, Webhooks, Add endpoint: Endpoint URL",
        ..SVIX
    },
    Provider {
        name: "cloudflare",
        title: "Cloudflare notifications",
        about: "Repeats a shared secret; the body is not covered.",
        docs: "https://developers.cloudflare.com/notifications/get-started/configure-webhooks/",
        url_goes: "Notifications, Destinations, Webhooks, Create: URL and Secret",
        secret: SecretOrigin::Minted,
        secret_hint: "Notifications, Destinations, Webhooks, Secret",
        schemes: &[Scheme {
            name: "cloudflare-token",
            signature: Place::Header("cf-webhook-auth"),
            ..TOKEN
        }],
        event_type: &[Place::Json(&["alert_type"])],
        occurred_at: &[(Place::Json(&["ts"]), Unit::Seconds)],
        ..BASE
    },
    Provider {
        name: "cloudflare-stream",
        title: "Cloudflare Stream",
        about: "Signs time and body with HMAC-SHA256.",
        docs: "https://developers.cloudflare.com/stream/manage-video-library/using-webhooks/",
        url_goes: "PUT /accounts/ACCOUNT/stream/webhook: notificationUrl",
        secret_hint: "The secret in the answer that created the webhook",
        schemes: &[Scheme {
            name: "cloudflare-stream-sig1",
            signature: Place::Header("webhook-signature"),
            layout: Layout::List {
                separator: ',',
                prefix: "sig1=",
            },
            signed: TIME_DOT_BODY,
            time: Some(TimeRule {
                from: Place::Pair {
                    header: "webhook-signature",
                    separator: ',',
                    key: "time",
                },
                unit: Unit::Seconds,
                tolerance_s: Some(300),
            }),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[
            Place::Json(&["uid"]),
            Place::Json(&["status", "state"]),
        ])],
        event_type: &[Place::Json(&["status", "state"])],
        ..BASE
    },
    Provider {
        name: "forgejo",
        title: "Forgejo",
        about: "Signs the body with HMAC-SHA256; a bad signature of its own is not rescued by another header.",
        docs: "https://forgejo.org/docs/latest/user/webhooks/",
        url_goes: "Repository settings, Webhooks, Add webhook: Target URL and Secret; content type application/json",
        secret: SecretOrigin::Minted,
        secret_hint: "Repository settings, Webhooks, Secret",
        schemes: &[
            Scheme {
                name: "forgejo-sha256",
                signature: Place::Header("x-forgejo-signature"),
                ..HMAC_SHA256_HEX
            },
            GITEA,
            HUB_SHA256,
        ],
        ids: &[
            IdRule(&[Place::Header("x-forgejo-delivery")]),
            IdRule(&[Place::Header("x-gitea-delivery")]),
            IdRule(&[Place::Header("x-github-delivery")]),
        ],
        event_type: &[
            Place::Header("x-forgejo-event"),
            Place::Header("x-gitea-event"),
            Place::Header("x-github-event"),
        ],
        action: Some(Place::Json(&["action"])),
        body_limit: WEBHOOK_BODY_MOST_BYTES,
        ..BASE
    },
    Provider {
        name: "generic",
        title: "Any sender with HMAC",
        about: "Signs the body with HMAC-SHA512 or HMAC-SHA256, in hex or Base64, in a header of its choice.",
        docs: "https://www.rfc-editor.org/rfc/rfc2104",
        url_goes: "Whatever sends: POST to the URL, with the body's HMAC-SHA256 in hex in X-Signature",
        secret: SecretOrigin::Minted,
        secret_hint: "The secret of the sender",
        schemes: &[
            Scheme {
                name: "generic-hmac-sha512",
                signature: Place::AnyHeader,
                encoding: Encoding::HexOrBase64,
                check: Check::Hmac(Hash::Sha512),
                ..HMAC_SHA256_HEX
            },
            Scheme {
                name: "generic-hmac-sha256",
                signature: Place::AnyHeader,
                encoding: Encoding::HexOrBase64,
                ..HMAC_SHA256_HEX
            },
        ],
        ids: &[
            IdRule(&[Place::Header("x-delivery-id")]),
            IdRule(&[Place::Header("webhook-id")]),
        ],
        event_type: &[
            Place::Header("x-event-type"),
            Place::Json(&["type"]),
            Place::Json(&["event_type"]),
            Place::Json(&["event"]),
        ],
        ..BASE
    },
    Provider {
        name: "gitea",
        title: "Gitea",
        about: "Signs the body with HMAC-SHA256.",
        docs: "https://docs.gitea.com/usage/webhooks",
        url_goes: "Repository settings, Webhooks, Add webhook: Target URL and Secret; content type application/json",
        secret: SecretOrigin::Minted,
        secret_hint: "Repository settings, Webhooks, Secret",
        schemes: &[GITEA, HUB_SHA256],
        ids: &[
            IdRule(&[Place::Header("x-github-delivery")]),
            IdRule(&[Place::Header("x-gitea-delivery")]),
        ],
        event_type: &[
            Place::Header("x-gitea-event"),
            Place::Header("x-github-event"),
        ],
        action: Some(Place::Json(&["action"])),
        body_limit: WEBHOOK_BODY_MOST_BYTES,
        ..BASE
    },
    Provider {
        name: "github",
        title: "GitHub",
        about: "Signs the body with HMAC-SHA256 and no time: deduplication is the guard against replay.",
        docs: "https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries",
        url_goes: "Repository, Settings, Webhooks, Add webhook: Payload URL and Secret; content type application/json",
        secret: SecretOrigin::Minted,
        secret_hint: "Settings, Webhooks, Secret",
        schemes: &[HUB_SHA256],
        ids: &[IdRule(&[Place::Header("x-github-delivery")])],
        event_type: &[Place::Header("x-github-event")],
        action: Some(Place::Json(&["action"])),
        body_limit: WEBHOOK_BODY_MOST_BYTES,
        ..BASE
    },
    Provider {
        name: "github-sha1",
        title: "GitHub, old Enterprise servers",
        about: "Signs the body with HMAC-SHA1 only; take `github` wherever the SHA-256 header is sent.",
        docs: "https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries",
        url_goes: "Repository, Settings, Webhooks, Add webhook: Payload URL and Secret",
        secret: SecretOrigin::Minted,
        secret_hint: "Settings, Webhooks, Secret",
        schemes: &[Scheme {
            name: "hub-sha1",
            signature: Place::Header("x-hub-signature"),
            layout: Layout::Prefixed("sha1="),
            check: Check::Hmac(Hash::Sha1),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[Place::Header("x-github-delivery")])],
        event_type: &[Place::Header("x-github-event")],
        action: Some(Place::Json(&["action"])),
        body_limit: WEBHOOK_BODY_MOST_BYTES,
        ..BASE
    },
    Provider {
        name: "gitlab",
        title: "GitLab",
        about: "Repeats a shared secret; the body is not covered. Newer servers can sign: `gitlab-signing-token`.",
        docs: "https://docs.gitlab.com/user/project/integrations/webhooks/",
        url_goes: "Project, Settings, Webhooks, Add new webhook: URL and Secret token",
        secret: SecretOrigin::Minted,
        secret_hint: "Settings, Webhooks, Secret token",
        schemes: &[Scheme {
            name: "gitlab-token",
            signature: Place::Header("x-gitlab-token"),
            ..TOKEN
        }],
        ids: &[
            IdRule(&[Place::Header("idempotency-key")]),
            IdRule(&[Place::Header("x-gitlab-event-uuid")]),
        ],
        event_type: &[
            Place::Header("x-gitlab-event"),
            Place::Json(&["object_kind"]),
        ],
        action: Some(Place::Json(&["object_attributes", "action"])),
        body_limit: WEBHOOK_BODY_MOST_BYTES,
        ..BASE
    },
    Provider {
        name: "gitlab-signing-token",
        title: "GitLab with a signing token",
        docs: "https://docs.gitlab.com/user/project/integrations/webhooks/",
        url_goes: "Project, Settings, Webhooks, Add new webhook: URL; then copy its signing token",
        secret_hint: "Settings, Webhooks, Signing token",
        event_type: &[
            Place::Header("x-gitlab-event"),
            Place::Json(&["object_kind"]),
            Place::Json(&["type"]),
        ],
        action: Some(Place::Json(&["object_attributes", "action"])),
        secret_headers: &["x-gitlab-token"],
        body_limit: WEBHOOK_BODY_MOST_BYTES,
        ..STANDARD
    },
    Provider {
        name: "jira",
        title: "Jira Cloud",
        about: "Signs the body with HMAC-SHA256 for webhooks that an administrator made.",
        docs: "https://developer.atlassian.com/cloud/jira/platform/webhooks/",
        url_goes: "System, WebHooks, Create a WebHook: URL and Secret",
        secret: SecretOrigin::Minted,
        secret_hint: "System, WebHooks, Secret",
        schemes: &[HUB_SHA256_PLAIN],
        ids: &[IdRule(&[Place::Header("x-atlassian-webhook-identifier")])],
        event_type: &[Place::Json(&["webhookEvent"])],
        occurred_at: &[(Place::Json(&["timestamp"]), Unit::Millis)],
        ..BASE
    },
    Provider {
        name: "jira-oauth",
        title: "Jira Cloud, dynamic webhooks of an OAuth app",
        about: "Shows a token signed with the app's client secret; the body is not covered.",
        docs: "https://developer.atlassian.com/cloud/jira/platform/webhooks/",
        url_goes: "The app's call of POST /rest/api/3/webhook: url",
        secret_hint: "The app's client secret",
        schemes: &[Scheme {
            name: "jira-oauth-jwt",
            signature: Place::Bearer,
            encoding: Encoding::Plain,
            check: Check::Jwt(&JwtRule {
                algorithm: "HS256",
                issuers: &[],
                jwks_url: None,
                audience: false,
                email: false,
                body_sha256: None,
                party: None,
                issued_within_s: None,
                leeway_s: 60,
            }),
            key: KeyForm::Verbatim,
            signed: &[],
            covers: Covers::NotBody("the token names no body"),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[Place::Header("x-atlassian-webhook-identifier")])],
        event_type: &[Place::Json(&["webhookEvent"])],
        occurred_at: &[(Place::Json(&["timestamp"]), Unit::Millis)],
        ..BASE
    },
    Provider {
        name: "linear",
        title: "Linear",
        about: "Signs the body with HMAC-SHA256; the time in the body counts, the one in a header does not.",
        docs: "https://linear.app/developers/webhooks",
        url_goes: "Settings, API, Webhooks, New webhook: URL",
        secret_hint: "The webhook's signing secret, lin_wh_",
        schemes: &[Scheme {
            name: "linear-sha256",
            signature: Place::Header("linear-signature"),
            time: Some(TimeRule {
                from: Place::Json(&["webhookTimestamp"]),
                unit: Unit::Millis,
                tolerance_s: Some(60),
            }),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[Place::Header("linear-delivery")])],
        event_type: &[Place::Header("linear-event"), Place::Json(&["type"])],
        action: Some(Place::Json(&["action"])),
        occurred_at: &[(Place::Json(&["createdAt"]), Unit::Rfc3339)],
        accepted: OK,
        answer_within_ms: 5_000,
        ..BASE
    },
    Provider {
        name: "okta",
        title: "Okta event hooks",
        about: "Repeats a shared secret; the body is not covered. Asks once with a challenge.",
        docs: "https://developer.okta.com/docs/concepts/event-hooks/",
        url_goes: "Workflow, Event Hooks, Create: URL; authentication field Authorization and the secret",
        secret: SecretOrigin::Minted,
        secret_hint: "Workflow, Event Hooks, Authentication secret",
        schemes: &[Scheme {
            name: "okta-token",
            signature: Place::Header("authorization"),
            ..TOKEN
        }],
        ids: &[IdRule(&[Place::Json(&["eventId"])])],
        event_type: &[
            Place::Json(&["data", "events", "0", "eventType"]),
            Place::Json(&["eventType"]),
        ],
        occurred_at: &[(Place::Json(&["eventTime"]), Unit::Rfc3339)],
        handshakes: &[HandshakeKind::OktaChallenge],
        accepted: OK,
        answer_within_ms: 3_000,
        ..BASE
    },
    Provider {
        name: "openai",
        title: "OpenAI",
        docs: "https://platform.openai.com/docs/guides/webhooks",
        url_goes: "Project settings, Webhooks, Create: URL",
        ids: &[IdRule(&[Place::Header("webhook-id")])],
        occurred_at: &[(Place::Json(&["created_at"]), Unit::Seconds)],
        ..STANDARD
    },
    Provider {
        name: "pagerduty",
        title: "PagerDuty",
        about: "Signs the body with HMAC-SHA256; several signatures while a secret is rotated.",
        docs: "https://developer.pagerduty.com/docs/verifying-webhook-signatures",
        url_goes: "Integrations, Generic Webhooks (v3), New webhook: Webhook URL",
        secret_hint: "The secret in the answer that created the subscription",
        schemes: &[Scheme {
            name: "pagerduty-v1",
            signature: Place::Header("x-pagerduty-signature"),
            layout: Layout::List {
                separator: ',',
                prefix: "v1=",
            },
            ..HMAC_SHA256_HEX
        }],
        ids: &[
            IdRule(&[Place::Json(&["event", "id"])]),
            IdRule(&[Place::Header("x-webhook-id")]),
        ],
        event_type: &[Place::Json(&["event", "event_type"])],
        occurred_at: &[(Place::Json(&["event", "occurred_at"]), Unit::Rfc3339)],
        answer_within_ms: 5_000,
        ..BASE
    },
    Provider {
        name: "recall",
        title: "Recall.ai",
        docs: "https://docs.recall.ai/docs/authenticating-requests-from-recallai",
        url_goes: "Developers, Webhooks, Add endpoint: Endpoint URL",
        event_type: &[Place::Json(&["event"]), Place::Json(&["type"])],
        ..SVIX
    },
    Provider {
        name: "render",
        title: "Render",
        docs: "https://render.com/docs/webhooks",
        url_goes: "Integrations, Webhooks, Create webhook: URL",
        ..STANDARD
    },
    Provider {
        name: "replicate",
        title: "Replicate",
        docs: "https://replicate.com/docs/topics/webhooks/verify-webhook",
        url_goes: "webhook of the request that starts a prediction",
        event_type: &[Place::Json(&["status"]), Place::Json(&["type"])],
        occurred_at: &[
            (Place::Json(&["completed_at"]), Unit::Rfc3339),
            (Place::Json(&["created_at"]), Unit::Rfc3339),
        ],
        ..STANDARD
    },
    Provider {
        name: "sentry",
        title: "Sentry",
        about: "Signs the body with HMAC-SHA256; the time header is not signed and is not used.",
        docs: "https://docs.sentry.io/organization/integrations/integration-platform/webhooks/",
        url_goes: "Settings, Custom integrations, the integration: Webhook URL",
        secret_hint: "The integration's client secret",
        schemes: &[Scheme {
            name: "sentry-sha256",
            signature: Place::Header("sentry-hook-signature"),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[Place::Header("request-id")])],
        event_type: &[Place::Header("sentry-hook-resource")],
        action: Some(Place::Json(&["action"])),
        answer_within_ms: 1_000,
        ..BASE
    },
    Provider {
        name: "standard-webhooks",
        title: "Standard Webhooks",
        docs: "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
        url_goes: "Whatever sends: the URL of its webhook endpoint",
        ..STANDARD
    },
    Provider {
        name: "svix",
        title: "Svix",
        docs: "https://docs.svix.com/receiving/verifying-payloads/how-manual",
        url_goes: "The application portal, Endpoints, Add endpoint: Endpoint URL",
        ..SVIX
    },
    Provider {
        name: "token",
        title: "Any sender with a shared secret",
        about: "Repeats a shared secret as a bearer token or in a header of its choice; the body is not covered.",
        docs: "https://www.rfc-editor.org/rfc/rfc6750",
        url_goes: "Whatever sends: POST to the URL, with the secret in Authorization: Bearer",
        secret: SecretOrigin::Minted,
        secret_hint: "The secret of the sender",
        schemes: &[
            Scheme {
                name: "token-header",
                signature: Place::ChosenHeader("x-webhook-token"),
                ..TOKEN
            },
            Scheme {
                name: "token-bearer",
                signature: Place::Bearer,
                ..TOKEN
            },
            Scheme {
                name: "token-basic",
                signature: Place::Basic,
                ..TOKEN
            },
        ],
        ids: &[
            IdRule(&[Place::Header("x-delivery-id")]),
            IdRule(&[Place::Header("webhook-id")]),
        ],
        event_type: &[
            Place::Header("x-event-type"),
            Place::Json(&["type"]),
            Place::Json(&["event_type"]),
            Place::Json(&["event"]),
        ],
        ..BASE
    },
    Provider {
        name: "url-token",
        title: "Any sender that can only call a URL",
        about: "Nothing but the unguessable URL; neither sender nor body is verified.",
        docs: "https://www.rfc-editor.org/rfc/rfc9110",
        url_goes: "Whatever sends: POST to the URL, and keep it to yourself",
        secret: SecretOrigin::None,
        secret_hint: "None: the URL is the secret",
        schemes: &[Scheme {
            name: "url-token",
            signature: Place::Fixed(""),
            check: Check::Url,
            key: KeyForm::None,
            signed: &[],
            covers: Covers::NotBody("only the URL is secret"),
            ..HMAC_SHA256_HEX
        }],
        ids: &[
            IdRule(&[Place::Header("x-delivery-id")]),
            IdRule(&[Place::Header("webhook-id")]),
        ],
        event_type: &[
            Place::Header("x-event-type"),
            Place::Json(&["type"]),
            Place::Json(&["event_type"]),
            Place::Json(&["event"]),
        ],
        ..BASE
    },
    Provider {
        name: "vercel",
        title: "Vercel",
        about: "Signs the body with HMAC-SHA1.",
        docs: "https://vercel.com/docs/webhooks/webhooks-api",
        url_goes: "Team settings, Webhooks, Create webhook: Endpoint URL",
        secret_hint: "The secret shown when the webhook is made, or the integration's client secret",
        schemes: &[Scheme {
            name: "vercel-sha1",
            signature: Place::Header("x-vercel-signature"),
            check: Check::Hmac(Hash::Sha1),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[Place::Json(&["id"])])],
        occurred_at: &[(Place::Json(&["createdAt"]), Unit::Millis)],
        ..BASE
    },
    Provider {
        name: "workos",
        title: "WorkOS",
        about: "Signs time (milliseconds) and body with HMAC-SHA256.",
        docs: "https://workos.com/docs/events/data-syncing/webhooks",
        url_goes: "Developer, Webhooks, Create webhook: Endpoint URL",
        secret_hint: "The endpoint's signing secret",
        schemes: &[Scheme {
            name: "workos-v1",
            signature: Place::Header("workos-signature"),
            layout: Layout::List {
                separator: ',',
                prefix: "v1=",
            },
            signed: TIME_DOT_BODY,
            time: Some(TimeRule {
                from: Place::Pair {
                    header: "workos-signature",
                    separator: ',',
                    key: "t",
                },
                unit: Unit::Millis,
                tolerance_s: Some(180),
            }),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[Place::Json(&["id"])])],
        event_type: &[Place::Json(&["event"])],
        occurred_at: &[(Place::Json(&["created_at"]), Unit::Rfc3339)],
        ..BASE
    },
];
