//! Contacts.

use crate::{
    Store, StoreError,
    rows::{self, columns},
    select::{self, Select},
};
use postroom_core::{ContactRow, fold};
use postroom_types::{IdentityId, TenantScope, Timestamp};
use std::collections::{BTreeSet, HashSet};

/// Where a page of contacts ended.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ContactPlace {
    /// How well it matched.
    pub rank: i64,
    /// Inbound plus twice outbound.
    pub weight: i64,
    /// Last seen.
    pub last_seen_at: Timestamp,
    /// The address.
    pub address: String,
}

/// Which contacts to list: best match first, then those written with most.
#[derive(Debug, Clone)]
pub struct ContactFilter {
    /// The mailbox.
    pub identity: IdentityId,
    /// What is looked for; empty lists all.
    pub q: String,
    /// Only those behind this place.
    pub behind: Option<ContactPlace>,
    /// At most so many.
    pub limit: usize,
}

/// Contacts, each with its place for the next page.
pub async fn contacts(
    store: &Store,
    scope: &TenantScope,
    filter: &ContactFilter,
) -> Result<Vec<(ContactRow, ContactPlace)>, StoreError> {
    let Some(scope) = scope.narrowed(filter.identity) else {
        return Ok(Vec::new());
    };
    let mut select = Select::new("SELECT * FROM (SELECT ")
        .text(columns!(contact))
        .text(", CAST(");
    select = rank(select, &fold(&filter.q))
        .text(" AS BIGINT) AS match_rank, inbound_count + 2 * outbound_count AS weight FROM contacts WHERE ")
        .scope(&scope)
        .text(") AS ranked WHERE match_rank > 0");
    if let Some(place) = &filter.behind {
        select = behind(select, place);
    }
    select
        .scans()
        .text(" ORDER BY match_rank DESC, weight DESC, last_seen_at DESC, address LIMIT ")
        .value(select::rows(filter.limit))
        .all(store, |row| {
            let contact = rows::contact(row)?;
            let place = ContactPlace {
                rank: row.int(11)?,
                weight: row.int(12)?,
                last_seen_at: contact.last_seen_at,
                address: contact.address.clone(),
            };
            Ok((contact, place))
        })
        .await
}

/// Which of some addresses the mailboxes in reach have written to, each with the mailbox that did.
pub async fn written_to(
    store: &Store,
    scope: &TenantScope,
    addresses: &BTreeSet<&str>,
) -> Result<HashSet<(IdentityId, String)>, StoreError> {
    let mut out = HashSet::new();
    let addresses: Vec<&str> = addresses.iter().copied().collect();
    for some in addresses.chunks(LIST) {
        let found = Select::new("SELECT identity_id, address FROM contacts WHERE ")
            .scope(scope)
            .text(" AND outbound_count > 0 AND address IN ")
            .list(some.iter().map(|address| (*address).into()))
            .all(store, |row| Ok((rows::identity_id(row, 0)?, row.text(1)?)))
            .await?;
        out.extend(found);
    }
    Ok(out)
}

/// Values of one list in a statement.
const LIST: usize = 256;

/// 3 for the very address; 2 for a beginning of the address, the name or a word of it; 1 for the
/// domain or one above it; 0 for the rest. Everything matches when nothing is looked for.
fn rank(select: Select, q: &str) -> Select {
    if q.is_empty() {
        return select.text("1");
    }
    let like = escape(q);
    select
        .text("CASE WHEN address = ")
        .value(q)
        .text(" THEN 3 WHEN address LIKE ")
        .value(format!("{like}%").as_str())
        .text(r" ESCAPE '\' OR folded LIKE ")
        .value(format!("{like}%").as_str())
        .text(r" ESCAPE '\' OR folded LIKE ")
        .value(format!("% {like}%").as_str())
        .text(r" ESCAPE '\' THEN 2 WHEN domain = ")
        .value(q)
        .text(" OR domain LIKE ")
        .value(format!("%.{like}").as_str())
        .text(r" ESCAPE '\' THEN 1 ELSE 0 END")
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Only what stands behind `place` in the order of the list.
fn behind(select: Select, place: &ContactPlace) -> Select {
    let at = place.last_seen_at.ms();
    select
        .text(" AND (match_rank < ")
        .value(place.rank)
        .text(" OR (match_rank = ")
        .value(place.rank)
        .text(" AND (weight < ")
        .value(place.weight)
        .text(" OR (weight = ")
        .value(place.weight)
        .text(" AND (last_seen_at < ")
        .value(at)
        .text(" OR (last_seen_at = ")
        .value(at)
        .text(" AND address > ")
        .value(place.address.as_str())
        .text("))))))")
}
