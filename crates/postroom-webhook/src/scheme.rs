//! The grammar of signature schemes.
//!
//! A [`Scheme`] says where the signature stands and how its header is laid out, what was signed
//! (a list of [`Piece`]s put one after another), with which [`Check`], what form the secret has,
//! where the signed time is and how old it may be. A scheme with a time requires it: there is no
//! value of this type that checks a time only when it is there.

use crate::delivery::TrustMode;

/// Where a value stands in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A header that stands there once.
    Header(&'static str),
    /// The header that the source names, else this one.
    ChosenHeader(&'static str),
    /// Any header whose value decodes to a signature of the right length.
    AnyHeader,
    /// `key=value` inside a header of several pairs.
    Pair {
        /// The header.
        header: &'static str,
        /// What stands between pairs.
        separator: char,
        /// The key.
        key: &'static str,
    },
    /// A path in the JSON body; `0` is the first item of a list, `only` the item of a list of one.
    Json(&'static [&'static str]),
    /// A field of the form or multipart body.
    Form(&'static str),
    /// A parameter: of the query, the form body, or the top level of a JSON body.
    Param(&'static str),
    /// A parameter of the query.
    Query(&'static str),
    /// `Authorization: Basic`, decoded to `user:password`.
    Basic,
    /// `Authorization: Bearer`.
    Bearer,
    /// A claim of the token that was checked.
    Claim(&'static str),
    /// A header of the mail inside a `headers` form field (RFC 5322 text).
    MailHeader(&'static str),
    /// Always this text.
    Fixed(&'static str),
}

/// How a value holds one signature or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// The value is the signature.
    Whole,
    /// The signature stands behind this prefix.
    Prefixed(&'static str),
    /// Entries between separators; those with the prefix are signatures, others are skipped.
    List {
        /// What stands between entries.
        separator: char,
        /// What a signature's entry begins with.
        prefix: &'static str,
    },
}

/// How a signature is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Hexadecimal, either case.
    Hex,
    /// Base64 with padding (RFC 4648 section 4).
    Base64,
    /// Either of both, told apart by the length.
    HexOrBase64,
    /// As it is.
    Plain,
}

/// A hash function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hash {
    /// MD5, in one provider's old scheme.
    Md5,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
}

/// How a signature is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// HMAC (RFC 2104) under the secret.
    Hmac(Hash),
    /// A bare hash over text that holds the secret.
    Digest(Hash),
    /// Ed25519 (RFC 8032), strict.
    Ed25519,
    /// ECDSA on P-256 with SHA-256, DER.
    EcdsaP256,
    /// RSA PKCS #1 v1.5 with the key of a certificate.
    Rsa(Hash),
    /// The value is the secret.
    Token,
    /// A JSON Web Token.
    Jwt(&'static JwtRule),
    /// Each item of the body carries its own signature (Adyen).
    AdyenItems,
    /// Each item of the body carries the secret (Microsoft Graph); the rule is that of its tokens.
    GraphItems(&'static JwtRule),
    /// Nothing beyond the unguessable URL.
    Url,
}

/// What a token must be.
#[derive(Debug, PartialEq, Eq)]
pub struct JwtRule {
    /// The one algorithm: `HS256` or `RS256`.
    pub algorithm: &'static str,
    /// Issuers, any of them; a `*` at the end takes any rest, none at all takes any.
    pub issuers: &'static [&'static str],
    /// The key set for `RS256`.
    pub jwks_url: Option<&'static str>,
    /// Whether the source must name the audience, and the token it.
    pub audience: bool,
    /// Whether the source must name the account, and the token it, verified.
    pub email: bool,
    /// The claim with the body's SHA-256 in hex; required when there is a body.
    pub body_sha256: Option<&'static str>,
    /// The claims, between `|`, of which one names the calling application, and its value.
    pub party: Option<(&'static str, &'static str)>,
    /// Seconds that the issue time may be away; none leaves it to the expiry, which is required then.
    pub issued_within_s: Option<u32>,
    /// Seconds that the start or the issue time may be ahead of our clock; the expiry has no grace.
    pub leeway_s: u32,
}

/// What form a secret has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyForm {
    /// Its bytes.
    Verbatim,
    /// Base64 behind an optional prefix.
    Base64 {
        /// The prefix.
        prefix: &'static str,
    },
    /// Hexadecimal.
    Hex,
    /// An Ed25519 public key in hex.
    Ed25519Hex,
    /// An Ed25519 public key in Base64 behind a prefix, possibly empty, that must be there.
    Ed25519Base64 {
        /// The prefix.
        prefix: &'static str,
    },
    /// A P-256 public key: SubjectPublicKeyInfo in Base64 or PEM.
    P256Spki,
    /// The certificate behind the URL that this place names, under a host rule. A PEM certificate
    /// or public key given as a secret stands for it.
    Certificate {
        /// Where the URL stands.
        url: Place,
        /// Which URLs may be fetched.
        rule: HostRule,
    },
    /// The key set that the token's rule names. A PEM certificate or public key given as a secret
    /// stands for it.
    Jwks,
    /// There is no secret.
    None,
}

/// Which URLs a provider's keys and confirmations may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostRule {
    /// `https://sns.<region>.amazonaws.com` (or `.cn`), the signing key's path.
    SnsCertificate,
    /// The same hosts, the confirmation's path.
    SnsConfirm,
    /// `https://api.paypal.com` and its sandbox.
    PayPal,
}

/// A piece of what was signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// Text.
    Text(&'static str),
    /// The scheme's time as it was sent.
    Time,
    /// A value that must be there, as it was sent.
    Value(Place),
    /// An id that must be there and holds no dot, since dots stand between the pieces.
    Id(Place),
    /// The raw body.
    Body,
    /// CRC-32 of the raw body, decimal.
    BodyCrc32,
    /// The URL.
    Url,
    /// The URL with its port as given, without one, and with the default one: each is tried.
    UrlWithPorts,
    /// The URL without query.
    UrlBare,
    /// The URL with the escapes decoded that HubSpot decodes.
    UrlHubSpot,
    /// The method.
    Method,
    /// The secret itself.
    Secret,
    /// The webhook's id at the provider, from the source.
    WebhookId,
    /// Form parameters by name, each `name` and `value`, repeated ones as a sorted set; a body that
    /// is no form must be named by `bodySHA256` in the URL.
    TwilioParams,
    /// URL, query and form parameters as Plivo joins them.
    PlivoV3,
    /// Parameters by name as `&name=value` without `sig`, `&` and `=` in values replaced by `_`.
    VonageParams,
    /// The signed fields of an SNS message as `name` and `value` lines.
    SnsFields,
}

/// How a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Unix seconds, an integer.
    Seconds,
    /// Unix milliseconds, an integer.
    Millis,
    /// RFC 3339.
    Rfc3339,
}

/// The signed time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRule {
    /// Where it stands.
    pub from: Place,
    /// How it is written.
    pub unit: Unit,
    /// Seconds of freshness, both ways. None: the provider promises none (retries carry the first
    /// time), so it is checked only when the row or the source asks for it.
    pub tolerance_s: Option<u32>,
}

/// A condition on a request, so that two schemes can share a signature's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Always.
    Always,
    /// A value is this text.
    Is(Place, &'static str),
}

/// What a signature vouches for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covers {
    /// The body.
    Body,
    /// Not the body, or not in a way that stands: the text says why.
    NotBody(&'static str),
}

impl Covers {
    /// The trust mode that follows.
    pub fn trust_mode(self) -> TrustMode {
        match self {
            Self::Body => TrustMode::Signed,
            Self::NotBody(_) => TrustMode::Token,
        }
    }
}

/// One way of signing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheme {
    /// Its name in verdicts.
    pub name: &'static str,
    /// Where the signature stands.
    pub signature: Place,
    /// How the value is laid out.
    pub layout: Layout,
    /// How a signature is written.
    pub encoding: Encoding,
    /// How it is checked.
    pub check: Check,
    /// What form the secret has.
    pub key: KeyForm,
    /// What was signed.
    pub signed: &'static [Piece],
    /// The signed time.
    pub time: Option<TimeRule>,
    /// When this scheme applies.
    pub when: When,
    /// What the signature vouches for.
    pub covers: Covers,
    /// Whether a source takes it only when its settings name it: the provider sends a better one beside
    /// it, and whoever leaves that one out would choose the weaker (no time, or the body not covered).
    pub by_name: bool,
}

/// HMAC-SHA256 of the body in hex, the most common scheme; rows change what differs.
pub const HMAC_SHA256_HEX: Scheme = Scheme {
    name: "hmac-sha256",
    signature: Place::Header("x-signature"),
    layout: Layout::Whole,
    encoding: Encoding::Hex,
    check: Check::Hmac(Hash::Sha256),
    key: KeyForm::Verbatim,
    signed: &[Piece::Body],
    time: None,
    when: When::Always,
    covers: Covers::Body,
    by_name: false,
};

/// HMAC-SHA256 of the body in Base64.
pub const HMAC_SHA256_BASE64: Scheme = Scheme {
    encoding: Encoding::Base64,
    ..HMAC_SHA256_HEX
};

/// A shared secret in a header.
pub const TOKEN: Scheme = Scheme {
    name: "token",
    encoding: Encoding::Plain,
    check: Check::Token,
    signed: &[],
    covers: Covers::NotBody("a shared secret"),
    ..HMAC_SHA256_HEX
};
