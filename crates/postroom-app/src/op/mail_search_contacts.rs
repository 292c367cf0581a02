//! `mail_search_contacts`: whom a mailbox has written with.

use postroom_store::read::{self, ContactFilter, ContactPlace};
use postroom_types::{Dialect, ErrorCode, Level, Permission};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    rate::Bucket,
    schema,
    view::{Contact, ContentNotice, visible},
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "mail_search_contacts",
    title: "Find contacts",
    description: "Find people and companies this mailbox has exchanged mail with, by part of a name, an address or a domain. \
        Use it to get an exact address before you search with `from:`.",
    toolset: Toolset::Mail,
    permission: Permission::SearchRead,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: Some(Bucket::Search),
    routes: &[Route::get("/v1/identities/{identity_id}/contacts")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::IdentityNotFound, ErrorCode::CursorExpired],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Beginning of a name, word of a name, beginning of an address, or a domain.
    #[schemars(length(min = 1, max = 100))]
    q: String,
    /// The mailbox: an id or address from mail_list_identities. An agent's key may leave it out.
    #[schemars(length(max = 254))]
    identity: Option<String>,
    /// Contacts per page.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 50))]
    limit: u32,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

fn default_limit() -> u32 {
    10
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The contacts, the best match first.
    data: Vec<Contact>,
    /// Gives the next page; null on the last.
    next_cursor: Option<String>,
    /// Whose words these are.
    content_notice: ContentNotice,
}

/// What a cursor of this list is bound to.
#[derive(serde::Serialize)]
struct Filters<'a> {
    identity: postroom_types::IdentityId,
    q: &'a str,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let identity = call.identity()?;
    let filters = Filters {
        identity,
        q: &input.q,
    };
    let behind: Option<ContactPlace> = call.open_cursor(&filters, input.cursor.as_deref())?;
    let limit = input.limit as usize;
    let filter = ContactFilter {
        identity,
        q: input.q.clone(),
        behind,
        limit: limit + 1,
    };
    let mut found = read::contacts(call.room.store(), call.scope()?, &filter).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next_cursor = match found.last().filter(|_| more) {
        Some((_, place)) => Some(call.seal_cursor(&filters, place)?),
        None => None,
    };
    let data = found
        .into_iter()
        .map(|(row, _)| Contact {
            address: visible(&row.address),
            name: row.name.as_deref().map(visible),
            domain: visible(&row.domain),
            first_seen_at: row.first_seen_at,
            last_seen_at: row.last_seen_at,
            inbound_count: row.inbound_count,
            outbound_count: row.outbound_count,
            last_thread_id: row.last_thread_id,
        })
        .collect();
    Ok(Output {
        data,
        next_cursor,
        content_notice: ContentNotice,
    })
}
