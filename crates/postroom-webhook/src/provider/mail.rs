//! Who sends and receives mail.

use super::{Accepted, BASE, Batch, IdRule, OK, Provider, SecretOrigin, standard::SVIX};
use crate::{
    handshake::HandshakeKind,
    scheme::{
        Check, Covers, Encoding, HMAC_SHA256_HEX, Hash, HostRule, JwtRule, KeyForm, Layout, Piece,
        Place, Scheme, TOKEN, TimeRule, Unit, When,
    },
};
use postroom_types::limit::WEBHOOK_BODY_MOST_BYTES;

/// SNS signs with the key of a certificate; only the hash differs between its versions.
const SNS_V2: Scheme = Scheme {
    name: "aws-sns-v2",
    signature: Place::Json(&["Signature"]),
    encoding: Encoding::Base64,
    check: Check::Rsa(Hash::Sha256),
    key: KeyForm::Certificate {
        url: Place::Json(&["SigningCertURL"]),
        rule: HostRule::SnsCertificate,
    },
    signed: &[Piece::SnsFields],
    time: Some(TimeRule {
        from: Place::Json(&["Timestamp"]),
        unit: Unit::Rfc3339,
        tolerance_s: None,
    }),
    when: When::Is(Place::Json(&["SignatureVersion"]), "2"),
    ..HMAC_SHA256_HEX
};

const SENDGRID: Scheme = Scheme {
    name: "sendgrid-ecdsa",
    signature: Place::Header("x-twilio-email-event-webhook-signature"),
    encoding: Encoding::Base64,
    check: Check::EcdsaP256,
    key: KeyForm::P256Spki,
    signed: &[Piece::Time, Piece::Body],
    time: Some(TimeRule {
        from: Place::Header("x-twilio-email-event-webhook-timestamp"),
        unit: Unit::Seconds,
        tolerance_s: Some(300),
    }),
    ..HMAC_SHA256_HEX
};

const MAILGUN: Scheme = Scheme {
    name: "mailgun-token",
    signature: Place::Json(&["signature", "signature"]),
    signed: &[
        Piece::Time,
        Piece::Value(Place::Json(&["signature", "token"])),
    ],
    time: Some(TimeRule {
        from: Place::Json(&["signature", "timestamp"]),
        unit: Unit::Seconds,
        tolerance_s: Some(300),
    }),
    covers: Covers::NotBody("only time and token are signed; the token counts once"),
    ..HMAC_SHA256_HEX
};

/// Google's tokens for push subscriptions.
const GOOGLE: JwtRule = JwtRule {
    algorithm: "RS256",
    issuers: &["https://accounts.google.com", "accounts.google.com"],
    jwks_url: Some("https://www.googleapis.com/oauth2/v3/certs"),
    audience: true,
    email: true,
    body_sha256: None,
    party: None,
    issued_within_s: None,
    leeway_s: 300,
};

/// Microsoft's validation tokens: for our application, issued to the publisher of notifications.
const GRAPH: JwtRule = JwtRule {
    algorithm: "RS256",
    issuers: &[
        "https://sts.windows.net/*",
        "https://login.microsoftonline.com/*",
    ],
    jwks_url: Some("https://login.microsoftonline.com/common/discovery/v2.0/keys"),
    audience: true,
    email: false,
    body_sha256: None,
    party: Some(("azp|appid", "0bf30f3b-4a52-48df-9a82-234910c4a086")),
    issued_within_s: None,
    leeway_s: 300,
};

pub(super) const ROWS: &[Provider] = &[
    Provider {
        name: "aws-sns",
        title: "Amazon SNS, and SES through it",
        about: "Signs the message's fields with the key of a certificate; an hour of freshness. Name the topic: any account can have its own signed.",
        docs: "https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html",
        url_goes: "The topic, Create subscription: protocol HTTPS, the URL as endpoint, raw message delivery off",
        secret: SecretOrigin::None,
        secret_hint: "None: the certificate is fetched. Give the topic's ARN instead",
        schemes: &[
            SNS_V2,
            Scheme {
                name: "aws-sns-v1",
                check: Check::Rsa(Hash::Sha1),
                when: When::Is(Place::Json(&["SignatureVersion"]), "1"),
                ..SNS_V2
            },
        ],
        fresh_within_s: Some(3600),
        ids: &[IdRule(&[Place::Json(&["MessageId"])])],
        event_type: &[Place::Json(&["Type"])],
        occurred_at: &[(Place::Json(&["Timestamp"]), Unit::Rfc3339)],
        handshakes: &[HandshakeKind::SnsConfirmation],
        answer_within_ms: 15_000,
        ..BASE
    },
    Provider {
        name: "cloudflare-email",
        title: "Cloudflare Email Routing",
        about: "A Worker posts the raw mail; envelope, time and mail are signed with HMAC-SHA256.",
        docs: "https://developers.cloudflare.com/email-routing/email-workers/",
        url_goes: "The Worker's secrets POSTROOM_URL and POSTROOM_SECRET",
        secret: SecretOrigin::Minted,
        secret_hint: "The Worker's secret POSTROOM_SECRET",
        schemes: &[Scheme {
            name: "cloudflare-email-v1",
            signature: Place::Header("x-postroom-signature"),
            layout: Layout::List {
                separator: ',',
                prefix: "v1=",
            },
            signed: &[
                Piece::Text("v1\n"),
                Piece::Time,
                Piece::Text("\n"),
                Piece::Value(Place::Header("x-postroom-mail-from")),
                Piece::Text("\n"),
                Piece::Value(Place::Header("x-postroom-rcpt-to")),
                Piece::Text("\n"),
                Piece::Body,
            ],
            time: Some(TimeRule {
                from: Place::Header("x-postroom-timestamp"),
                unit: Unit::Seconds,
                tolerance_s: Some(300),
            }),
            ..HMAC_SHA256_HEX
        }],
        event_type: &[Place::Fixed("message.received")],
        occurred_at: &[(Place::Header("x-postroom-timestamp"), Unit::Seconds)],
        body_limit: WEBHOOK_BODY_MOST_BYTES,
        answer_within_ms: 30_000,
        ..BASE
    },
    Provider {
        name: "google-pubsub",
        title: "Google Pub/Sub push, and Gmail watch through it",
        about: "Shows a token of Google for one audience and account; the body is not covered.",
        docs: "https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions",
        url_goes: "The topic, Create subscription, Push: Endpoint URL; enable authentication",
        secret: SecretOrigin::None,
        secret_hint: "None: Google's keys are fetched. Give audience and service account instead",
        schemes: &[Scheme {
            name: "google-oidc",
            signature: Place::Bearer,
            encoding: Encoding::Plain,
            check: Check::Jwt(&GOOGLE),
            key: KeyForm::Jwks,
            signed: &[],
            covers: Covers::NotBody("the token names no body"),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[Place::Json(&["message", "messageId"])])],
        event_type: &[
            Place::Json(&["message", "attributes", "eventType"]),
            Place::Json(&["message", "attributes", "type"]),
            Place::Fixed("message"),
        ],
        occurred_at: &[(Place::Json(&["message", "publishTime"]), Unit::Rfc3339)],
        accepted: Accepted {
            status: 204,
            body: None,
        },
        ..BASE
    },
    Provider {
        name: "mailgun",
        title: "Mailgun",
        about: "Signs time and a token, not the event: the token is the delivery's id and counts once.",
        docs: "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks",
        url_goes: "Send, Webhooks, Add webhook: URL",
        secret_hint: "The HTTP webhook signing key",
        schemes: &[
            MAILGUN,
            Scheme {
                name: "mailgun-form-token",
                signature: Place::Form("signature"),
                signed: &[Piece::Time, Piece::Value(Place::Form("token"))],
                time: Some(TimeRule {
                    from: Place::Form("timestamp"),
                    unit: Unit::Seconds,
                    tolerance_s: Some(300),
                }),
                ..MAILGUN
            },
        ],
        ids: &[
            IdRule(&[Place::Json(&["signature", "token"])]),
            IdRule(&[Place::Form("token")]),
        ],
        event_type: &[Place::Json(&["event-data", "event"]), Place::Form("event")],
        occurred_at: &[(Place::Json(&["event-data", "timestamp"]), Unit::Seconds)],
        body_limit: WEBHOOK_BODY_MOST_BYTES,
        accepted: OK,
        stop_status: Some(406),
        ..BASE
    },
    Provider {
        name: "microsoft-graph",
        title: "Microsoft Graph",
        about: "Repeats the client state in every item; the body is not covered. Tokens of rich notifications are checked when the audience is set.",
        docs: "https://learn.microsoft.com/graph/change-notifications-delivery-webhooks",
        url_goes: "POST /subscriptions: notificationUrl and clientState",
        secret: SecretOrigin::Minted,
        secret_hint: "The clientState of the subscription, at most 128 characters",
        schemes: &[Scheme {
            name: "graph-client-state",
            signature: Place::Json(&["value", "0", "clientState"]),
            check: Check::GraphItems(&GRAPH),
            ..TOKEN
        }],
        ids: &[IdRule(&[
            Place::Json(&["value", "only", "subscriptionId"]),
            Place::Json(&["value", "only", "resource"]),
            Place::Json(&["value", "only", "changeType"]),
            Place::Json(&["value", "only", "resourceData", "@odata.etag"]),
        ])],
        event_type: &[
            Place::Json(&["value", "0", "lifecycleEvent"]),
            Place::Json(&["value", "0", "changeType"]),
        ],
        batch: Some(Batch {
            items: &["value"],
            id: &[],
            event_type: &["changeType"],
            occurred_at: None,
        }),
        handshakes: &[HandshakeKind::GraphValidation],
        answer_within_ms: 3_000,
        ..BASE
    },
    Provider {
        name: "postmark",
        title: "Postmark",
        about: "Basic credentials in the URL, nothing signed; the body is not covered.",
        docs: "https://postmarkapp.com/developer/webhooks/webhooks-overview",
        url_goes: "The server's message stream, Settings or Webhooks: the URL with user and password in it",
        secret: SecretOrigin::Minted,
        secret_hint: "user:password of the webhook's URL",
        schemes: &[Scheme {
            name: "postmark-basic",
            signature: Place::Basic,
            covers: Covers::NotBody("a shared user and password"),
            ..TOKEN
        }],
        ids: &[
            IdRule(&[
                Place::Json(&["MessageID"]),
                Place::Json(&["RecordType"]),
                Place::Json(&["ReceivedAt"]),
            ]),
            IdRule(&[
                Place::Json(&["MessageID"]),
                Place::Json(&["RecordType"]),
                Place::Json(&["DeliveredAt"]),
            ]),
            IdRule(&[
                Place::Json(&["MessageID"]),
                Place::Json(&["RecordType"]),
                Place::Json(&["BouncedAt"]),
            ]),
            IdRule(&[
                Place::Json(&["MessageID"]),
                Place::Json(&["RecordType"]),
                Place::Json(&["ChangedAt"]),
            ]),
            IdRule(&[Place::Json(&["MessageID"])]),
        ],
        event_type: &[Place::Json(&["RecordType"]), Place::Fixed("Inbound")],
        occurred_at: &[
            (Place::Json(&["DeliveredAt"]), Unit::Rfc3339),
            (Place::Json(&["BouncedAt"]), Unit::Rfc3339),
            (Place::Json(&["ReceivedAt"]), Unit::Rfc3339),
            (Place::Json(&["ChangedAt"]), Unit::Rfc3339),
        ],
        body_limit: WEBHOOK_BODY_MOST_BYTES,
        accepted: OK,
        stop_status: Some(403),
        ..BASE
    },
    Provider {
        name: "resend",
        title: "Resend",
        about: "Signs id, time and body. A received mail comes as metadata; its body is fetched by id.",
        docs: "https://resend.com/docs/dashboard/webhooks/verify-webhooks-requests",
        url_goes: "Webhooks, Add webhook: Endpoint URL",
        occurred_at: &[(Place::Json(&["created_at"]), Unit::Rfc3339)],
        accepted: OK,
        ..SVIX
    },
    Provider {
        name: "sendgrid",
        title: "SendGrid events",
        about: "Signs time and body with ECDSA; one body holds several events.",
        docs: "https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features",
        url_goes: "Settings, Mail settings, Event webhook: Post URL; enable the signature",
        secret_hint: "Mail settings, Event webhook, Verification key",
        schemes: &[SENDGRID],
        event_type: &[Place::Json(&["0", "event"])],
        occurred_at: &[(Place::Json(&["0", "timestamp"]), Unit::Seconds)],
        batch: Some(Batch {
            items: &[],
            id: &["sg_event_id"],
            event_type: &["event"],
            occurred_at: Some((&["timestamp"], Unit::Seconds)),
        }),
        ..BASE
    },
    Provider {
        name: "sendgrid-inbound",
        title: "SendGrid inbound parse",
        about: "Signs time and the raw multipart body with ECDSA, under the key of its security policy.",
        docs: "https://www.twilio.com/docs/sendgrid/for-developers/parsing-email/securing-your-parse-webhooks",
        url_goes: "Settings, Inbound parse, Add host and URL: Destination URL, with a security policy that signs",
        secret_hint: "The public key of the webhook's security policy",
        schemes: &[SENDGRID],
        ids: &[IdRule(&[Place::MailHeader("message-id")])],
        event_type: &[Place::Fixed("message.received")],
        body_limit: WEBHOOK_BODY_MOST_BYTES,
        accepted: OK,
        ..BASE
    },
];
