//! Entries of the allow and block lists; shared by the operations that change them.

use postroom_core::{ListDirection, ListEntry, ListKind};
use postroom_types::{Address, AddressError, ErrorCode, TenantId};

use crate::Failure;

/// What an entry does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Kind {
    /// It may be written to.
    Allow,
    /// It is not written to.
    Block,
}

/// An entry as the store takes it: `local@domain` or `@domain`, lower case.
pub(super) fn entry(tenant: TenantId, kind: Kind, text: &str) -> Result<ListEntry, Failure> {
    let text = text.trim();
    let whole = match text.strip_prefix('@') {
        Some(domain) => {
            Address::parse(&format!("any@{domain}")).map(|address| format!("@{}", address.domain()))
        }
        None => Address::parse(text).map(|address| address.with_detail()),
    };
    let invalid = || {
        Failure::new(ErrorCode::AddressInvalid)
            .advising("Give local@domain, or a whole domain as @example.com.")
    };
    let entry = whole.map_err(|error| match error {
        AddressError::Unsupported => Failure::new(ErrorCode::AddressUnsupported),
        AddressError::Invalid | AddressError::TooLong => invalid(),
    })?;
    // It is a sign that an address may have; here somebody means all of a domain by it.
    if entry.contains('*') {
        return Err(invalid());
    }
    Ok(ListEntry {
        tenant,
        direction: ListDirection::Send,
        kind: match kind {
            Kind::Allow => ListKind::Allow,
            Kind::Block => ListKind::Block,
        },
        entry,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_an_address_or_a_domain() {
        let tenant = TenantId::from_parts(1, 1);
        for (text, expected) in [
            ("Ann@Room.example", Some("ann@room.example")),
            ("@Room.example", Some("@room.example")),
            ("ann+tag@room.example", Some("ann+tag@room.example")),
            ("room.example", None),
            ("@", None),
            ("@@room.example", None),
            ("*@room.example", None),
            ("@*.example", None),
            ("ann", None),
            ("ann@", None),
            ("", None),
        ] {
            let found = entry(tenant, Kind::Block, text).ok();
            assert_eq!(
                found.map(|entry| entry.entry).as_deref(),
                expected,
                "{text}"
            );
        }
    }
}
