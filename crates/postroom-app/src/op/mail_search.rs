//! `mail_search`: find messages or threads by words and operators.

use postroom_types::{Dialect, ErrorCode, IdentityId, Level, Permission, TenantId, Timestamp};

use crate::{
    Failure, finding,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    rate::Bucket,
    schema,
    view::{ContentNotice, Facets, SearchHit, SearchQuery, ThreadHit},
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "mail_search",
    title: "Search mail",
    description: "Search a mailbox. Give operators when you know a fact, plain words for the gist, and both together. Words are joined \
        with AND; `OR`, `-word`, \"a phrase\", `begin*` and parentheses work. Operators: from: to: participant: (address, @domain or \
        part of a name), subject:, label:, has:attachment, filename:, type: (pdf, doc, sheet, image ...), after: before: \
        (2026-11-30), newer_than: older_than: (7d, 2m), in:inbound|outbound, thread:, is:unread. With many hits add an operator \
        taken from `facets`, or use `group_by` thread. An empty query lists all mail, the newest first. \
        `why` says what matched; `index_complete` false means the very newest mail may be missing.",
    toolset: Toolset::Mail,
    permission: Permission::SearchRead,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::IdentityOrTenant,
    bucket: Some(Bucket::Search),
    routes: &[
        Route::post("/v1/identities/{identity_id}/search"),
        Route::post("/v1/tenants/{tenant_id}/search").binding(&[("scope", "\"tenant\"")]),
    ],
    include: &["require_mode"],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::IdentityNotFound,
        ErrorCode::TenantNotFound,
        ErrorCode::InvalidQuery,
        ErrorCode::CursorExpired,
        ErrorCode::ScopeTooLarge,
        ErrorCode::SearchDegraded,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The query; empty for all mail.
    #[schemars(length(max = 1024))]
    pub(crate) q: String,
    /// The mailbox: an id or address from mail_list_identities. An agent's key may leave it out.
    #[schemars(length(max = 254))]
    pub(crate) identity: Option<String>,
    /// `tenant` searches all mailboxes of the tenant, with a key that reaches them.
    #[serde(default)]
    pub(crate) scope: Scope,
    /// Only for keys of the whole deployment: the tenant.
    pub(crate) tenant_id: Option<TenantId>,
    /// With scope tenant: only these mailboxes.
    #[schemars(length(min = 1, max = 100), extend("uniqueItems" = true))]
    pub(crate) identity_ids: Option<Vec<IdentityId>>,
    /// How to match. Matching by meaning is not available yet: `hybrid` matches words as `keyword` does, and for a question of
    /// more than three words also lists, behind the mail with all of them, mail with some (`why` names them; facets count it only where no mail has them all).
    #[serde(default)]
    pub(crate) mode: Mode,
    /// One hit per message, or one per thread by its best message.
    #[serde(default)]
    pub(crate) group_by: GroupBy,
    /// Hits per page.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 25))]
    pub(crate) limit: u32,
    /// Longest snippet, characters.
    #[serde(default = "default_snippet_chars")]
    #[schemars(range(min = 40, max = 500))]
    pub(crate) snippet_chars: u32,
    /// Only mail that went this way.
    pub(crate) direction: Option<super::mail_list_threads::Direction>,
    /// Only mail with all of these labels.
    #[schemars(length(max = 10))]
    pub(crate) labels: Option<Vec<String>>,
    /// Only mail from this time or later.
    pub(crate) after: Option<Timestamp>,
    /// Only mail from before this time.
    pub(crate) before: Option<Timestamp>,
    /// Also quarantined mail, with a key that may review it.
    #[serde(default)]
    pub(crate) include_quarantined: bool,
    /// `next_cursor` of the page before, with the same arguments.
    pub(crate) cursor: Option<String>,
}

/// How far to search.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    serde::Deserialize,
    serde::Serialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum Scope {
    /// One mailbox.
    #[default]
    Identity,
    /// All mailboxes of the tenant.
    Tenant,
}

/// How to match.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    serde::Deserialize,
    serde::Serialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum Mode {
    /// By words.
    Keyword,
    /// By meaning.
    Semantic,
    /// By both.
    #[default]
    Hybrid,
}

/// What one hit stands for.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    serde::Deserialize,
    serde::Serialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum GroupBy {
    /// A message.
    #[default]
    Message,
    /// A thread.
    Thread,
}

fn default_limit() -> u32 {
    10
}

fn default_snippet_chars() -> u32 {
    200
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// How the query was read.
    pub(crate) query: SearchQuery,
    /// The hits, the best first.
    pub(crate) hits: Vec<Hit>,
    /// Counts to narrow a search with; on the first page only.
    pub(crate) facets: Option<Facets>,
    /// Gives the next page; null on the last.
    pub(crate) next_cursor: Option<String>,
    /// Whether hits were dropped to fit the answer; `next_cursor` goes on right behind the last one.
    pub(crate) truncated: bool,
    /// How much of the mail can be matched by meaning, 0 to 1; null in mode keyword.
    #[schemars(range(min = 0, max = 1))]
    pub(crate) semantic_coverage: Option<f64>,
    /// Whether a part of the engine was missing.
    pub(crate) degraded: bool,
    /// Nothing that came in later is among the hits.
    pub(crate) as_of: Timestamp,
    /// Whether everything that came in by then was searched.
    pub(crate) index_complete: bool,
    /// Over a tenant: whether mailboxes are missing from the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) partial: Option<bool>,
    /// Over a tenant: the mailboxes that are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failed_identities: Option<Vec<IdentityId>>,
    /// Whose words these are.
    pub(crate) content_notice: ContentNotice,
}

/// A message or, with `group_by` thread, a thread.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(crate) enum Hit {
    /// A message.
    Message(Box<SearchHit>),
    /// A thread.
    Thread(Box<ThreadHit>),
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    finding::search(call, input).await
}
