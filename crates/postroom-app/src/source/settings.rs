//! What a source has settled with its provider beyond the secret.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use postroom_core::{Sealed, SourceRow};
use postroom_store::{SealedFor, Store};
use postroom_types::{Dialect, Secret, TenantId, Timestamp};
use postroom_webhook::{Options, provider};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// Settings as they are stored; what is secret in them is sealed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Settings {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) audience: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) email: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) topic_arn: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) webhook_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scheme: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) header: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tolerance_seconds: Option<u32>,
    /// Sealed, Base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verify_token: Option<String>,
    /// Sealed, Base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    api_key: Option<String>,
}

/// Settings as a caller gives them.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct GivenSettings {
    /// The audience that a token must name (google-pubsub, microsoft-graph).
    #[schemars(length(min = 1, max = 512))]
    audience: Option<String>,
    /// The service account that a token must name (google-pubsub).
    #[schemars(length(min = 1, max = 254))]
    email: Option<String>,
    /// The only topic that is accepted (aws-sns); without it the first one that asks is remembered.
    #[schemars(length(min = 1, max = 512))]
    topic_arn: Option<String>,
    /// The webhook's id at the provider (paypal).
    #[schemars(length(min = 1, max = 128))]
    webhook_id: Option<String>,
    /// The token that a GET challenge must carry (meta); never shown again.
    #[schemars(length(min = 1, max = 512))]
    verify_token: Option<String>,
    /// The only scheme of the provider that is accepted: one without a signed time or that leaves the body
    /// out, such as hubspot-v1 or plivo-v2, counts only when it is named here.
    #[schemars(length(min = 1, max = 64))]
    scheme: Option<String>,
    /// The header that carries the secret or signature, where the sender chooses it.
    #[schemars(length(min = 1, max = 128))]
    header: Option<String>,
    /// Seconds of freshness both ways instead of the provider's own (of aws-sns, an hour).
    #[schemars(range(min = 1, max = 86400))]
    tolerance_seconds: Option<u32>,
    /// The provider's API key, to fetch what a delivery only announces (resend); never shown again.
    #[schemars(length(min = 1, max = 512))]
    api_key: Option<String>,
}

impl Settings {
    /// The settings of a source; what cannot be read is as if it were not there.
    pub(crate) fn of(row: &SourceRow) -> Self {
        row.options
            .as_deref()
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    }

    /// Puts what a caller gave over what there is.
    ///
    /// # Errors
    /// `invalid_argument` for a header that cannot arrive or a scheme that the provider has not, `unavailable`
    /// when nothing can be sealed.
    pub(crate) fn with(
        mut self,
        given: GivenSettings,
        provider: &str,
        store: &Store,
        tenant: TenantId,
    ) -> Result<Self, Failure> {
        let seal = |text: String| -> Result<String, Failure> {
            let sealed = store.seal(SealedFor::SourceSecret, tenant, text.trim().as_bytes())?;
            Ok(STANDARD.encode(sealed.0))
        };
        if let Some(name) = given.header.as_deref().filter(|name| !can_arrive(name)) {
            let words = if is_token(name) {
                "is a header that belongs to the connection and never arrives with a delivery"
            } else {
                "is no name that a header can have"
            };
            return Err(Failure::argument(Dialect::Events, "settings.header", words));
        }
        check_scheme(given.scheme.as_deref(), provider)?;
        let plain = [
            (&mut self.audience, given.audience),
            (&mut self.email, given.email),
            (&mut self.topic_arn, given.topic_arn),
            (&mut self.webhook_id, given.webhook_id),
            (&mut self.scheme, given.scheme),
            (&mut self.header, given.header),
        ];
        for (slot, value) in plain {
            if value.is_some() {
                *slot = value;
            }
        }
        if given.tolerance_seconds.is_some() {
            self.tolerance_seconds = given.tolerance_seconds;
        }
        if let Some(token) = given.verify_token {
            self.verify_token = Some(seal(token)?);
        }
        if let Some(key) = given.api_key {
            self.api_key = Some(seal(key)?);
        }
        Ok(self)
    }

    /// As the row keeps them; none when there are none.
    pub(crate) fn document(&self) -> Option<String> {
        (*self != Self::default()).then(|| serde_json::to_string(self).unwrap_or_default())
    }

    /// The provider's API key.
    pub(crate) fn api_key(&self, store: &Store, tenant: TenantId) -> Option<Secret<String>> {
        opened(self.api_key.as_deref(), store, tenant)
    }

    /// Whether there is an API key.
    pub(crate) fn has_api_key(&self) -> bool {
        self.api_key.is_some()
    }

    /// Whether there is a token for challenges.
    pub(crate) fn has_verify_token(&self) -> bool {
        self.verify_token.is_some()
    }

    /// As verification takes them.
    pub(crate) fn options(&self, store: &Store, tenant: TenantId, now: Timestamp) -> Options {
        Options {
            now,
            tolerance_s: self.tolerance_seconds,
            audience: self.audience.clone(),
            email: self.email.clone(),
            topic_arn: self.topic_arn.clone(),
            webhook_id: self.webhook_id.clone(),
            verify_token: opened(self.verify_token.as_deref(), store, tenant)
                .map(|token| token.expose().clone()),
            scheme: self.scheme.clone(),
            header: self.header.clone(),
            ..Options::default()
        }
    }
}

/// A scheme of the provider, so that a slip is not found out by its deliveries.
fn check_scheme(name: Option<&str>, provider: &str) -> Result<(), Failure> {
    let schemes = provider::find(provider).map_or(&[][..], |row| row.schemes);
    let is_one = |name: &str| schemes.iter().any(|scheme| scheme.name == name);
    if name.is_none_or(is_one) {
        return Ok(());
    }
    let names: Vec<&str> = schemes.iter().map(|scheme| scheme.name).collect();
    let words = format!("is one of {}", names.join(", "));
    Err(Failure::argument(
        Dialect::Events,
        "settings.scheme",
        &words,
    ))
}

/// Headers that a proxy or this server takes for itself (RFC 9110 section 7.6.1), so that none
/// carries a secret here.
const OF_THE_CONNECTION: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Whether a delivery can have a header of this name.
fn can_arrive(name: &str) -> bool {
    is_token(name) && !OF_THE_CONNECTION.contains(&name.to_ascii_lowercase().as_str())
}

/// RFC 9110 section 5.6.2.
fn is_token(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn opened(sealed: Option<&str>, store: &Store, tenant: TenantId) -> Option<Secret<String>> {
    let sealed = Sealed(STANDARD.decode(sealed?).ok()?);
    let bytes = store
        .open_sealed(SealedFor::SourceSecret, tenant, &sealed)
        .ok()?;
    String::from_utf8(bytes.expose().clone())
        .ok()
        .map(Secret::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_a_name_that_arrives() {
        for name in ["X-Signature", "authorization", "x_key", "Content-Type"] {
            assert!(can_arrive(name), "{name}");
        }
        for name in [
            "",
            "X Signature",
            "X-Key:",
            "größe",
            "Host",
            "CONTENT-LENGTH",
            "te",
            ":path",
            "X-Key\r\nX: y",
        ] {
            assert!(!can_arrive(name), "{name}");
        }
    }
}
