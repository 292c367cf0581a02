//! Mail addresses: parsed once, lower case, domain as A-label.

use std::fmt;

/// A name and an address as a mail shows them. Both are an outsider's text.
#[derive(
    Debug,
    Clone,
    PartialEq,
    Eq,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[schemars(inline)]
pub struct Mailbox {
    /// The address, lower case, domain as A-label where it can be; empty when the mail gave none.
    pub address: String,
    /// The display name; empty when there is none.
    pub name: String,
}

/// A deliverable address: `local@domain`, lower case, domain as A-label, any `+detail` apart.
///
/// The local part is split at the first `+`; dots in it are significant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    base: String,
    domain_at: usize,
    detail: Option<String>,
}

/// Why a string is no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// No `@`, an empty side, or characters that no address here has.
    #[error("not an address: expected local@domain")]
    Invalid,
    /// A local part outside ASCII.
    #[error("addresses with a non-ASCII local part are not supported")]
    Unsupported,
    /// Longer than 254 characters.
    #[error("an address has at most 254 characters")]
    TooLong,
}

impl Address {
    /// Parses one address without angle brackets.
    ///
    /// # Errors
    /// [`AddressError`] when it is no address this product can deliver to.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let text = text.trim();
        if text.len() > 254 {
            return Err(AddressError::TooLong);
        }
        let (local, domain) = text.rsplit_once('@').ok_or(AddressError::Invalid)?;
        if !local.is_ascii() {
            return Err(AddressError::Unsupported);
        }
        let local = local.to_ascii_lowercase();
        let allowed =
            |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&byte);
        if local.is_empty() || local.len() > 64 || !local.bytes().all(allowed) {
            return Err(AddressError::Invalid);
        }
        // Readers decode an encoded word (RFC 2047) wherever it stands, and see another address.
        if local.contains("=?") {
            return Err(AddressError::Invalid);
        }
        let domain = domain_to_ascii(domain).ok_or(AddressError::Invalid)?;
        let (base, detail) = match local.split_once('+') {
            Some((base, detail)) if !base.is_empty() => (base.to_owned(), Some(detail.to_owned())),
            _ => (local, None),
        };
        let domain_at = base.len() + 1;
        Ok(Self {
            base: format!("{base}@{domain}"),
            domain_at,
            detail,
        })
    }

    /// The address without its detail: `local@domain`.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The part before the `@`, without its detail.
    pub fn local(&self) -> &str {
        self.base
            .get(..self.domain_at.saturating_sub(1))
            .unwrap_or_default()
    }

    /// The domain as A-label.
    pub fn domain(&self) -> &str {
        self.base.get(self.domain_at..).unwrap_or_default()
    }

    /// What stood behind the first `+`.
    pub fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    /// The address with its detail, as it was written: `local+detail@domain`.
    pub fn with_detail(&self) -> String {
        match &self.detail {
            Some(detail) => format!("{}+{detail}@{}", self.local(), self.domain()),
            None => self.base.clone(),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

/// A domain in lower case as A-label without a trailing dot; `None` when it is no domain.
fn domain_to_ascii(domain: &str) -> Option<String> {
    let domain = domain.strip_suffix('.').unwrap_or(domain);
    // Nearly every domain is plain already; the mapping would only say so.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let ascii = if domain.bytes().all(is_plain) && !domain.contains("--") {
        domain.to_ascii_lowercase()
    } else {
        idna::domain_to_ascii(domain).ok()?
    };
    let label_ok = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    (!ascii.is_empty() && ascii.len() <= 253 && ascii.split('.').all(label_ok)).then_some(ascii)
}

impl Mailbox {
    /// A mailbox from a header's words: the address is lower-cased, its domain made an A-label
    /// where it is one, and kept as it stands otherwise.
    pub fn from_header(address: &str, name: &str) -> Self {
        let address = address.trim();
        let address = match address.rsplit_once('@') {
            Some((local, domain)) => {
                let domain = domain_to_ascii(domain).unwrap_or_else(|| domain.to_lowercase());
                format!("{}@{domain}", local.to_lowercase())
            }
            None => address.to_lowercase(),
        };
        Self {
            address,
            name: name.trim().to_owned(),
        }
    }

    /// The domain of the address, if it has one.
    pub fn domain(&self) -> Option<&str> {
        self.address.rsplit_once('@').map(|(_, domain)| domain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn case_is_folded_and_detail_is_apart() {
        let address = Address::parse(" Sales.Desk+T1.x@Bücher.Example. ").expect("valid");
        assert_eq!(address.base(), "sales.desk@xn--bcher-kva.example");
        assert_eq!(address.local(), "sales.desk");
        assert_eq!(address.domain(), "xn--bcher-kva.example");
        assert_eq!(address.detail(), Some("t1.x"));
    }

    #[test]
    fn what_cannot_be_delivered_is_refused() {
        for bad in [
            "",
            "a",
            "@b.example",
            "a@",
            "a b@c.example",
            "a@b..c",
            "a\r\n@b.c",
            "<a@b.c>",
            "a@-b.c",
        ] {
            assert_eq!(Address::parse(bad), Err(AddressError::Invalid), "{bad:?}");
        }
        assert_eq!(
            Address::parse("jürgen@b.example"),
            Err(AddressError::Unsupported)
        );
        assert_eq!(
            Address::parse(&format!("a@{}.example", "b".repeat(260))),
            Err(AddressError::TooLong)
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text: String) {
            if let Ok(address) = Address::parse(&text) {
                prop_assert_eq!(Address::parse(address.base()).map(|a| a.base().to_owned()), Ok(address.base().to_owned()));
            }
        }
    }
}
