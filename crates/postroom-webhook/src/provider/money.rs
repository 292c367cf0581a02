//! Who moves money and goods.

use super::{Accepted, BASE, Batch, IdRule, OK, Provider, TIME_DOT_BODY, standard::STANDARD};
use crate::scheme::{
    Check, Covers, Encoding, HMAC_SHA256_BASE64, HMAC_SHA256_HEX, Hash, HostRule, KeyForm, Layout,
    Piece, Place, Scheme, TimeRule, Unit, When,
};

pub(super) const ROWS: &[Provider] = &[
    Provider {
        name: "adyen",
        title: "Adyen",
        about: "Signs eight fields of each item with HMAC-SHA256; the rest of the body is not covered.",
        docs: "https://docs.adyen.com/development-resources/webhooks/verify-hmac-signatures/",
        url_goes: "Developers, Webhooks, Standard webhook: Server URL",
        secret_hint: "Developers, Webhooks, HMAC key (hexadecimal)",
        schemes: &[Scheme {
            name: "adyen-items",
            signature: Place::Json(&[
                "notificationItems",
                "0",
                "NotificationRequestItem",
                "additionalData",
                "hmacSignature",
            ]),
            encoding: Encoding::Base64,
            check: Check::AdyenItems,
            key: KeyForm::Hex,
            signed: &[],
            covers: Covers::NotBody("eight fields of each item are signed"),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[
            Place::Json(&[
                "notificationItems",
                "only",
                "NotificationRequestItem",
                "pspReference",
            ]),
            Place::Json(&[
                "notificationItems",
                "only",
                "NotificationRequestItem",
                "eventCode",
            ]),
            Place::Json(&[
                "notificationItems",
                "only",
                "NotificationRequestItem",
                "success",
            ]),
        ])],
        event_type: &[Place::Json(&[
            "notificationItems",
            "0",
            "NotificationRequestItem",
            "eventCode",
        ])],
        occurred_at: &[(
            Place::Json(&[
                "notificationItems",
                "0",
                "NotificationRequestItem",
                "eventDate",
            ]),
            Unit::Rfc3339,
        )],
        batch: Some(Batch {
            items: &["notificationItems"],
            id: &[],
            event_type: &["NotificationRequestItem", "eventCode"],
            occurred_at: Some((&["NotificationRequestItem", "eventDate"], Unit::Rfc3339)),
        }),
        accepted: Accepted {
            status: 200,
            body: Some(("text/plain", "[accepted]")),
        },
        ..BASE
    },
    Provider {
        name: "brex",
        title: "Brex",
        docs: "https://developer.brex.com/docs/webhooks/",
        url_goes: "POST /v1/webhooks: url",
        event_type: &[Place::Json(&["event_type"]), Place::Json(&["type"])],
        ..STANDARD
    },
    Provider {
        name: "paddle",
        title: "Paddle Billing",
        about: "Signs time and body with HMAC-SHA256; 5 seconds of freshness, several signatures while a secret is rotated.",
        docs: "https://developer.paddle.com/webhooks/signature-verification",
        url_goes: "Developer tools, Notifications, New destination: URL",
        secret_hint: "Developer tools, Notifications, Secret key, pdl_ntfset_",
        schemes: &[Scheme {
            name: "paddle-h1",
            signature: Place::Header("paddle-signature"),
            layout: Layout::List {
                separator: ';',
                prefix: "h1=",
            },
            signed: &[Piece::Time, Piece::Text(":"), Piece::Body],
            time: Some(TimeRule {
                from: Place::Pair {
                    header: "paddle-signature",
                    separator: ';',
                    key: "ts",
                },
                unit: Unit::Seconds,
                tolerance_s: Some(5),
            }),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[Place::Json(&["event_id"])])],
        event_type: &[Place::Json(&["event_type"])],
        occurred_at: &[(Place::Json(&["occurred_at"]), Unit::Rfc3339)],
        accepted: OK,
        answer_within_ms: 5_000,
        ..BASE
    },
    Provider {
        name: "paypal",
        title: "PayPal",
        about: "Signs id, time, webhook id and the body's CRC-32 with the key of a certificate; a CRC binds the body loosely.",
        docs: "https://developer.paypal.com/api/rest/webhooks/rest/",
        url_goes: "Developer dashboard, the app, Webhooks, Add webhook: Webhook URL",
        secret: super::SecretOrigin::None,
        secret_hint: "None: the certificate is fetched. Give the webhook's id instead",
        schemes: &[Scheme {
            name: "paypal-cert",
            signature: Place::Header("paypal-transmission-sig"),
            encoding: Encoding::Base64,
            check: Check::Rsa(Hash::Sha256),
            key: KeyForm::Certificate {
                url: Place::Header("paypal-cert-url"),
                rule: HostRule::PayPal,
            },
            signed: &[
                Piece::Value(Place::Header("paypal-transmission-id")),
                Piece::Text("|"),
                Piece::Time,
                Piece::Text("|"),
                Piece::WebhookId,
                Piece::Text("|"),
                Piece::BodyCrc32,
            ],
            time: Some(TimeRule {
                from: Place::Header("paypal-transmission-time"),
                unit: Unit::Rfc3339,
                tolerance_s: None,
            }),
            when: When::Is(Place::Header("paypal-auth-algo"), "SHA256withRSA"),
            ..HMAC_SHA256_HEX
        }],
        ids: &[
            IdRule(&[Place::Json(&["id"])]),
            IdRule(&[Place::Header("paypal-transmission-id")]),
        ],
        event_type: &[Place::Json(&["event_type"])],
        occurred_at: &[(Place::Json(&["create_time"]), Unit::Rfc3339)],
        ..BASE
    },
    Provider {
        name: "shopify",
        title: "Shopify",
        about: "Signs the body with HMAC-SHA256 and no time: deduplication is the guard against replay.",
        docs: "https://shopify.dev/docs/apps/build/webhooks/subscribe/https",
        url_goes: "Settings, Notifications, Webhooks, Create webhook: URL; format JSON",
        secret_hint: "The app's client secret",
        schemes: &[Scheme {
            name: "shopify-sha256",
            signature: Place::Header("x-shopify-hmac-sha256"),
            ..HMAC_SHA256_BASE64
        }],
        ids: &[
            IdRule(&[Place::Header("x-shopify-webhook-id")]),
            IdRule(&[Place::Header("x-shopify-event-id")]),
        ],
        event_type: &[Place::Header("x-shopify-topic")],
        occurred_at: &[(Place::Header("x-shopify-triggered-at"), Unit::Rfc3339)],
        accepted: OK,
        answer_within_ms: 5_000,
        ..BASE
    },
    Provider {
        name: "square",
        title: "Square",
        about: "Signs the notification URL, exactly as configured there, and the body with HMAC-SHA256.",
        docs: "https://developer.squareup.com/docs/webhooks/step3validate",
        url_goes: "Developer console, the application, Webhooks, Subscriptions, Add: Notification URL",
        secret_hint: "Webhooks, Subscription, Signature key",
        schemes: &[Scheme {
            name: "square-sha256",
            signature: Place::Header("x-square-hmacsha256-signature"),
            signed: &[Piece::Url, Piece::Body],
            ..HMAC_SHA256_BASE64
        }],
        ids: &[IdRule(&[Place::Json(&["event_id"])])],
        occurred_at: &[(Place::Json(&["created_at"]), Unit::Rfc3339)],
        ..BASE
    },
    Provider {
        name: "stripe",
        title: "Stripe",
        about: "Signs time and body with HMAC-SHA256; the secret counts as it is written, whsec_ included.",
        docs: "https://docs.stripe.com/webhooks/signature",
        url_goes: "Developers, Webhooks, Add destination: Endpoint URL",
        secret_hint: "Developers, Webhooks, Signing secret, whsec_",
        secret_prefix: Some("whsec_"),
        schemes: &[Scheme {
            name: "stripe-v1",
            signature: Place::Header("stripe-signature"),
            layout: Layout::List {
                separator: ',',
                prefix: "v1=",
            },
            signed: TIME_DOT_BODY,
            time: Some(TimeRule {
                from: Place::Pair {
                    header: "stripe-signature",
                    separator: ',',
                    key: "t",
                },
                unit: Unit::Seconds,
                tolerance_s: Some(300),
            }),
            ..HMAC_SHA256_HEX
        }],
        ids: &[IdRule(&[Place::Json(&["id"])])],
        occurred_at: &[(Place::Json(&["created"]), Unit::Seconds)],
        ..BASE
    },
    Provider {
        name: "woocommerce",
        title: "WooCommerce",
        about: "Signs the body with HMAC-SHA256 and no time: deduplication is the guard against replay.",
        docs: "https://woocommerce.com/document/webhooks/",
        url_goes: "Settings, Advanced, Webhooks, Add webhook: Delivery URL and Secret",
        secret: super::SecretOrigin::Minted,
        secret_hint: "Settings, Advanced, Webhooks, Secret",
        schemes: &[Scheme {
            name: "woocommerce-sha256",
            signature: Place::Header("x-wc-webhook-signature"),
            ..HMAC_SHA256_BASE64
        }],
        ids: &[IdRule(&[Place::Header("x-wc-webhook-delivery-id")])],
        event_type: &[Place::Header("x-wc-webhook-topic")],
        occurred_at: &[(Place::Json(&["date_modified_gmt"]), Unit::Rfc3339)],
        ..BASE
    },
];
