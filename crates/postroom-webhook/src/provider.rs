//! Providers as rows of data.

mod code;
mod mail;
mod money;
mod phone;
mod standard;
mod talk;
mod work;

use crate::{
    handshake::HandshakeKind,
    scheme::{Check, KeyForm, Piece, Place, Scheme, Unit},
    verify::{parse_key, wanted_key},
};

/// The shortest secret that can be set, bytes.
const SECRET_BYTES_LEAST: usize = 16;

/// The longest secret that can be set, bytes.
const SECRET_BYTES: usize = 512;

/// The longest key in PEM that can be set, bytes.
const PEM_BYTES: usize = 16 * 1024;

/// Where a secret comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretOrigin {
    /// We make it, the user gives it to the provider.
    Minted,
    /// The provider makes it, the user gives it to us.
    Provider,
    /// There is none to keep: keys are public, or the URL is the secret.
    None,
}

/// Where a delivery's id stands: values joined by `:`, all of them there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdRule(pub &'static [Place]);

/// Several events in one body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    /// The path of the list in the JSON body; empty is the body itself.
    pub items: &'static [&'static str],
    /// The item's id, a path within it.
    pub id: &'static [&'static str],
    /// The item's event type, a path within it.
    pub event_type: &'static [&'static str],
    /// The item's time.
    pub occurred_at: Option<(&'static [&'static str], Unit)>,
}

/// What to answer an accepted delivery with, where a provider asks for something special.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    /// HTTP status.
    pub status: u16,
    /// Content type and body; none for an empty body. A status of 202 takes our usual JSON.
    pub body: Option<(&'static str, &'static str)>,
}

/// One provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provider {
    /// Its name: lower case, dashes.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// One line: what it signs and what to know about it.
    pub about: &'static str,
    /// The vendor's page.
    pub docs: &'static str,
    /// Where a person pastes the source's URL there, and what else goes with it.
    pub url_goes: &'static str,
    /// Where the secret comes from.
    pub secret: SecretOrigin,
    /// What the secret is called there, and where to find it.
    pub secret_hint: &'static str,
    /// What every secret of it begins with, where that is sure.
    pub secret_prefix: Option<&'static str>,
    /// Its schemes, best first. The first whose signature is there is used, with others that have
    /// their signature in the same place; a bad signature is never rescued by another place. Those
    /// that count by name only are passed over unless the source names them.
    pub schemes: &'static [Scheme],
    /// Seconds of freshness that we ask for where the provider promises none: its repetitions carry
    /// the first time and end well within.
    pub fresh_within_s: Option<u32>,
    /// Where the delivery id stands, best first.
    pub ids: &'static [IdRule],
    /// A header that repeats the signed id and must equal it.
    pub echoed_id: Option<&'static str>,
    /// Where the event type stands, first found.
    pub event_type: &'static [Place],
    /// Where the action within it stands.
    pub action: Option<Place>,
    /// When it happened.
    pub occurred_at: &'static [(Place, Unit)],
    /// Several events in one body.
    pub batch: Option<Batch>,
    /// Methods it delivers with.
    pub methods: &'static [&'static str],
    /// Handshakes it makes.
    pub handshakes: &'static [HandshakeKind],
    /// Headers with secrets beside those that every row loses.
    pub secret_headers: &'static [&'static str],
    /// The largest body, bytes.
    pub body_limit: usize,
    /// What an accepted delivery is answered with.
    pub accepted: Accepted,
    /// The status that tells it to stop sending for good, where there is one.
    pub stop_status: Option<u16>,
    /// The status that makes it try again later.
    pub retry_status: u16,
    /// Milliseconds within which it wants an answer.
    pub answer_within_ms: u32,
}

impl Provider {
    /// How far its best scheme vouches for a body.
    pub fn trust_mode(&self) -> crate::TrustMode {
        self.schemes
            .first()
            .map_or(crate::TrustMode::Token, |scheme| scheme.covers.trust_mode())
    }

    /// Whether a secret that somebody sets can work: 16 to 512 printable bytes (a key in PEM may have
    /// lines and be longer) in the form that one of the schemes takes. The error is a sentence for
    /// that person and does not repeat the secret.
    pub fn check_secret(&self, secret: &str) -> Result<(), String> {
        let secret = secret.trim();
        let pem = secret.starts_with("-----BEGIN ");
        let most = if pem { PEM_BYTES } else { SECRET_BYTES };
        if secret.len() < SECRET_BYTES_LEAST || secret.len() > most {
            return Err(format!(
                "The secret has {} bytes; {SECRET_BYTES_LEAST} to {most} are taken.",
                secret.len()
            ));
        }
        let printable =
            |byte: u8| (0x20..0x7f).contains(&byte) || (pem && byte.is_ascii_whitespace());
        if !secret.bytes().all(printable) {
            return Err("The secret has bytes that do not print.".to_owned());
        }
        if let Some(prefix) = self.secret_prefix
            && !secret.starts_with(prefix)
        {
            return Err(format!("A secret of {} begins with {prefix}", self.title));
        }
        let fits = |scheme: &Scheme| parse_key(secret.as_bytes(), scheme.key).is_some();
        if self.schemes.iter().any(fits) {
            return Ok(());
        }
        let wanted = self
            .schemes
            .first()
            .map_or("none", |scheme| wanted_key(scheme.key));
        Err(format!("{} takes {wanted}.", self.title))
    }

    /// Whether a source of this provider works only with a secret.
    pub fn needs_secret(&self) -> bool {
        self.schemes.iter().any(|scheme| {
            !matches!(
                scheme.key,
                KeyForm::None | KeyForm::Jwks | KeyForm::Certificate { .. }
            ) && scheme.check != Check::Url
        })
    }
}

/// Every provider, by name.
pub const TABLE: &[&[Provider]] = &[
    code::ROWS,
    mail::ROWS,
    money::ROWS,
    phone::ROWS,
    talk::ROWS,
    work::ROWS,
];

/// Every provider, in the order of the table.
pub fn all() -> impl Iterator<Item = &'static Provider> {
    TABLE.iter().flat_map(|rows| rows.iter())
}

/// The provider of a name.
pub fn find(name: &str) -> Option<&'static Provider> {
    all().find(|row| row.name == name)
}

/// `time.body`.
const TIME_DOT_BODY: &[Piece] = &[Piece::Time, Piece::Text("."), Piece::Body];

/// An empty 200, for providers that take nothing else.
const OK: Accepted = Accepted {
    status: 200,
    body: None,
};

/// What most rows share.
const BASE: Provider = Provider {
    name: "",
    title: "",
    about: "",
    docs: "",
    url_goes: "",
    secret: SecretOrigin::Provider,
    secret_hint: "",
    secret_prefix: None,
    schemes: &[],
    fresh_within_s: None,
    ids: &[],
    echoed_id: None,
    event_type: &[Place::Json(&["type"])],
    action: None,
    occurred_at: &[],
    batch: None,
    methods: &["POST"],
    handshakes: &[],
    secret_headers: &[],
    body_limit: postroom_types::limit::WEBHOOK_BODY_BYTES,
    accepted: Accepted {
        status: 202,
        body: None,
    },
    stop_status: None,
    retry_status: 503,
    answer_within_ms: 10_000,
};

/// A row that lets nothing in.
pub(crate) static NONE: Provider = BASE;
