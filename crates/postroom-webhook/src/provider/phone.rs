//! Telephony and speech.

use super::{Accepted, BASE, IdRule, OK, Provider, SecretOrigin, TIME_DOT_BODY};
use crate::scheme::{
    Check, Covers, Encoding, HMAC_SHA256_BASE64, HMAC_SHA256_HEX, Hash, JwtRule, KeyForm, Layout,
    Piece, Place, Scheme, TOKEN, TimeRule, Unit,
};

const PLIVO_V3: Scheme = Scheme {
    name: "plivo-v3",
    signature: Place::Header("x-plivo-signature-v3"),
    layout: Layout::List {
        separator: ',',
        prefix: "",
    },
    signed: &[
        Piece::PlivoV3,
        Piece::Text("."),
        Piece::Value(Place::Header("x-plivo-signature-v3-nonce")),
    ],
    ..HMAC_SHA256_BASE64
};

/// Vonage's old SMS signature; the account chooses the hash, and the request does not say which.
const VONAGE_SMS: Scheme = Scheme {
    name: "vonage-sms-sha256",
    signature: Place::Param("sig"),
    signed: &[Piece::VonageParams],
    time: Some(TimeRule {
        from: Place::Param("timestamp"),
        unit: Unit::Seconds,
        tolerance_s: Some(300),
    }),
    ..HMAC_SHA256_HEX
};

pub(super) const ROWS: &[Provider] = &[
    Provider {
        name: "assemblyai",
        title: "AssemblyAI",
        about: "Repeats a shared secret in a header of your choice; the body is not covered.",
        docs: "https://www.assemblyai.com/docs/deployment/webhooks",
        url_goes: "webhook_url, webhook_auth_header_name and webhook_auth_header_value of the request",
        secret: SecretOrigin::Minted,
        secret_hint: "webhook_auth_header_value of the request",
        schemes: &[Scheme {
            name: "assemblyai-token",
            signature: Place::ChosenHeader("x-webhook-secret"),
            ..TOKEN
        }],
        ids: &[IdRule(&[
            Place::Json(&["transcript_id"]),
            Place::Json(&["status"]),
        ])],
        event_type: &[Place::Json(&["status"])],
        stop_status: Some(400),
        ..BASE
    },
    Provider {
        name: "deepgram",
        title: "Deepgram callbacks",
        about: "Repeats the identifier of the API key; the body is not covered.",
        docs: "https://developers.deepgram.com/docs/callback",
        url_goes: "callback of the request",
        secret_hint: "The API key's identifier",
        schemes: &[Scheme {
            name: "deepgram-token",
            signature: Place::Header("dg-token"),
            ..TOKEN
        }],
        ids: &[IdRule(&[Place::Json(&["metadata", "request_id"])])],
        event_type: &[Place::Json(&["err_code"]), Place::Fixed("transcript")],
        occurred_at: &[(Place::Json(&["metadata", "created"]), Unit::Rfc3339)],
        ..BASE
    },
    Provider {
        name: "elevenlabs",
        title: "ElevenLabs",
        about: "Signs time and body with HMAC-SHA256; half an hour of freshness.",
        docs: "https://elevenlabs.io/docs/agents-platform/workflows/post-call-webhooks",
        url_goes: "Agents, Settings, Post-call webhook, Create: URL",
        secret_hint: "The webhook's shared secret, wsec_",
        schemes: &[Scheme {
            name: "elevenlabs-v0",
            signature: Place::Header("elevenlabs-signature"),
            layout: Layout::List {
                separator: ',',
                prefix: "v0=",
            },
            signed: TIME_DOT_BODY,
            time: Some(TimeRule {
                from: Place::Pair {
                    header: "elevenlabs-signature",
                    separator: ',',
                    key: "t",
                },
                unit: Unit::Seconds,
                tolerance_s: Some(1800),
            }),
            ..HMAC_SHA256_HEX
        }],
        ids: &[
            IdRule(&[
                Place::Json(&["data", "conversation_id"]),
                Place::Json(&["type"]),
            ]),
            IdRule(&[Place::Json(&["data", "request_id"]), Place::Json(&["type"])]),
        ],
        occurred_at: &[(Place::Json(&["event_timestamp"]), Unit::Seconds)],
        accepted: OK,
        ..BASE
    },
    Provider {
        name: "plivo",
        title: "Plivo",
        about: "Signs URL, parameters and a nonce with HMAC-SHA256 (v3); v2, which covers URL and nonce only, counts only where the source's settings name it.",
        docs: "https://www.plivo.com/docs/voice/concepts/signature-validation",
        url_goes: "The application or number: Message URL or Answer URL, method POST",
        secret_hint: "The account's auth token",
        schemes: &[
            PLIVO_V3,
            Scheme {
                name: "plivo-v3-main-account",
                signature: Place::Header("x-plivo-signature-ma-v3"),
                ..PLIVO_V3
            },
            Scheme {
                name: "plivo-v2",
                signature: Place::Header("x-plivo-signature-v2"),
                layout: Layout::Whole,
                signed: &[
                    Piece::UrlBare,
                    Piece::Value(Place::Header("x-plivo-signature-v2-nonce")),
                ],
                covers: Covers::NotBody("URL and nonce are signed"),
                by_name: true,
                ..PLIVO_V3
            },
        ],
        ids: &[
            IdRule(&[Place::Header("x-plivo-signature-v3-nonce")]),
            IdRule(&[Place::Header("x-plivo-signature-v2-nonce")]),
        ],
        event_type: &[
            Place::Param("Event"),
            Place::Param("CallStatus"),
            Place::Param("Status"),
        ],
        methods: &["POST", "GET"],
        accepted: Accepted {
            status: 200,
            body: Some(("application/xml", "<Response/>")),
        },
        ..BASE
    },
    Provider {
        name: "telnyx",
        title: "Telnyx",
        about: "Signs time and body with Ed25519; wants an answer within two seconds.",
        docs: "https://developers.telnyx.com/development/api-fundamentals/webhooks/receiving-webhooks",
        url_goes: "The messaging profile or application: Webhook URL, API version 2",
        secret_hint: "Account, Keys & Credentials, Public key (Base64)",
        schemes: &[Scheme {
            name: "telnyx-ed25519",
            signature: Place::Header("telnyx-signature-ed25519"),
            encoding: Encoding::Base64,
            check: Check::Ed25519,
            key: KeyForm::Ed25519Base64 { prefix: "" },
            signed: &[Piece::Time, Piece::Text("|"), Piece::Body],
            time: Some(TimeRule {
                from: Place::Header("telnyx-timestamp"),
                unit: Unit::Seconds,
                tolerance_s: Some(300),
            }),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[Place::Json(&["data", "id"])])],
        event_type: &[Place::Json(&["data", "event_type"])],
        occurred_at: &[(Place::Json(&["data", "occurred_at"]), Unit::Rfc3339)],
        accepted: OK,
        answer_within_ms: 2_000,
        ..BASE
    },
    Provider {
        name: "twilio",
        title: "Twilio",
        about: "Signs the public URL and the form with HMAC-SHA1, or the URL with the hash of another body.",
        docs: "https://www.twilio.com/docs/usage/webhooks/webhooks-security",
        url_goes: "The phone number's configuration: webhook URL, HTTP POST",
        secret_hint: "The account's auth token",
        schemes: &[Scheme {
            name: "twilio-sha1",
            signature: Place::Header("x-twilio-signature"),
            check: Check::Hmac(Hash::Sha1),
            signed: &[Piece::UrlWithPorts, Piece::TwilioParams],
            ..HMAC_SHA256_BASE64
        }],
        ids: &[IdRule(&[Place::Header("i-twilio-idempotency-token")])],
        event_type: &[
            Place::Param("MessageStatus"),
            Place::Param("SmsStatus"),
            Place::Param("CallStatus"),
            Place::Param("EventType"),
        ],
        methods: &["POST", "GET"],
        accepted: Accepted {
            status: 200,
            body: Some(("text/xml", "<Response/>")),
        },
        answer_within_ms: 15_000,
        ..BASE
    },
    Provider {
        name: "vonage",
        title: "Vonage",
        about: "Shows a token that names the body by its hash; the old SMS interface signs the parameters.",
        docs: "https://developer.vonage.com/en/getting-started/concepts/webhooks",
        url_goes: "The application's capabilities: Webhook URLs, POST",
        secret_hint: "API settings, Signature secret",
        schemes: &[
            Scheme {
                name: "vonage-jwt",
                signature: Place::Bearer,
                encoding: Encoding::Plain,
                check: Check::Jwt(&JwtRule {
                    algorithm: "HS256",
                    issuers: &[],
                    jwks_url: None,
                    audience: false,
                    email: false,
                    body_sha256: Some("payload_hash"),
                    party: None,
                    issued_within_s: Some(300),
                    leeway_s: 300,
                }),
                signed: &[],
                ..HMAC_SHA256_HEX
            },
            VONAGE_SMS,
            Scheme {
                name: "vonage-sms-md5-hash",
                check: Check::Digest(Hash::Md5),
                signed: &[Piece::VonageParams, Piece::Secret],
                ..VONAGE_SMS
            },
            Scheme {
                name: "vonage-sms-md5",
                check: Check::Hmac(Hash::Md5),
                ..VONAGE_SMS
            },
            Scheme {
                name: "vonage-sms-sha1",
                check: Check::Hmac(Hash::Sha1),
                ..VONAGE_SMS
            },
            Scheme {
                name: "vonage-sms-sha512",
                check: Check::Hmac(Hash::Sha512),
                ..VONAGE_SMS
            },
        ],
        ids: &[
            IdRule(&[Place::Claim("jti")]),
            IdRule(&[Place::Param("messageId"), Place::Param("nonce")]),
            IdRule(&[Place::Param("messageId")]),
        ],
        event_type: &[
            Place::Param("status"),
            Place::Param("message_type"),
            Place::Param("type"),
            Place::Param("channel"),
        ],
        occurred_at: &[(Place::Json(&["timestamp"]), Unit::Rfc3339)],
        methods: &["POST", "GET"],
        accepted: OK,
        ..BASE
    },
];
