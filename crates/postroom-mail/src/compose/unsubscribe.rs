//! One-click unsubscription (RFC 8058).

use super::ComposeError;

/// Where a reader leaves: a checked https URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsubscribe {
    url: String,
}

/// The URL stands on one header line, which has at most 998 octets.
const URL_BYTES: usize = 900;

impl Unsubscribe {
    /// Takes an https URL in printable ASCII with a host, at most 900 bytes.
    ///
    /// # Errors
    /// [`ComposeError::UnsubscribeUrl`] for anything else.
    pub fn check(url: &str) -> Result<Self, ComposeError> {
        let rest = url
            .get(..8)
            .filter(|scheme| scheme.eq_ignore_ascii_case("https://"))
            .and_then(|_| url.get(8..));
        let host = rest
            .and_then(|rest| rest.split(['/', '?', '#']).next())
            .unwrap_or_default();
        let is_host = !host.is_empty() && !host.contains('@') && !host.starts_with(':');
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"<>\"\\^`{|},".contains(&byte);
        if is_host && url.len() <= URL_BYTES && url.bytes().all(is_plain) {
            Ok(Self {
                url: url.to_owned(),
            })
        } else {
            Err(ComposeError::UnsubscribeUrl)
        }
    }

    /// The URL.
    pub fn url(&self) -> &str {
        &self.url
    }
}
