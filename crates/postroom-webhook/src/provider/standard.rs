//! Standard Webhooks, the scheme that many providers share.
//!
//! `id.timestamp.body` under HMAC-SHA256 (`v1`) or Ed25519 (`v1a`), several signatures separated by
//! spaces while a secret is rotated, versions that are not known skipped.

use super::{BASE, IdRule, Provider};
use crate::scheme::{
    Check, Encoding, HMAC_SHA256_BASE64, KeyForm, Layout, Piece, Place, Scheme, TimeRule, Unit,
};

macro_rules! schemes {
    ($v1:ident, $v1a:ident, $v1_name:literal, $v1a_name:literal, $id:literal, $time:literal, $signature:literal) => {
        pub(super) const $v1: Scheme = Scheme {
            name: $v1_name,
            signature: Place::Header($signature),
            layout: Layout::List {
                separator: ' ',
                prefix: "v1,",
            },
            key: KeyForm::Base64 { prefix: "whsec_" },
            signed: &[
                Piece::Id(Place::Header($id)),
                Piece::Text("."),
                Piece::Time,
                Piece::Text("."),
                Piece::Body,
            ],
            time: Some(TimeRule {
                from: Place::Header($time),
                unit: Unit::Seconds,
                tolerance_s: Some(300),
            }),
            ..HMAC_SHA256_BASE64
        };
        pub(super) const $v1a: Scheme = Scheme {
            name: $v1a_name,
            layout: Layout::List {
                separator: ' ',
                prefix: "v1a,",
            },
            encoding: Encoding::Base64,
            check: Check::Ed25519,
            key: KeyForm::Ed25519Base64 { prefix: "whpk_" },
            ..$v1
        };
    };
}

schemes!(
    V1,
    V1A,
    "standard-webhooks-v1",
    "standard-webhooks-v1a",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature"
);
schemes!(
    SVIX_V1,
    SVIX_V1A,
    "svix-v1",
    "svix-v1a",
    "svix-id",
    "svix-timestamp",
    "svix-signature"
);

/// A row over the unbranded headers.
pub(super) const STANDARD: Provider = Provider {
    about: "Signs id, time and body with HMAC-SHA256, or Ed25519 under a whpk_ key.",
    secret_hint: "The signing secret, whsec_ and Base64",
    schemes: &[V1, V1A],
    ids: &[IdRule(&[Place::Header("webhook-id")])],
    event_type: &[Place::Json(&["type"]), Place::Json(&["event_type"])],
    occurred_at: &[(Place::Json(&["timestamp"]), Unit::Rfc3339)],
    stop_status: Some(410),
    answer_within_ms: 15_000,
    ..BASE
};

/// A row over Svix headers, branded or not.
pub(super) const SVIX: Provider = Provider {
    schemes: &[SVIX_V1, SVIX_V1A, V1, V1A],
    ids: &[
        IdRule(&[Place::Header("svix-id")]),
        IdRule(&[Place::Header("webhook-id")]),
    ],
    ..STANDARD
};
