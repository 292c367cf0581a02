//! What a search asks, read out of its arguments.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use postroom_query::{Direction, Filter, Plan, Query, QueryError, State};
use postroom_store::read::{self, IdentityFilter};
use postroom_types::{ErrorCode, IdentityId, TenantId, Timestamp, limit::SEARCH_IDENTITIES};

use serde_json::Value;

use crate::{
    Failure,
    op::mail_search::{GroupBy, Input, Mode},
    operation::{Call, Operation},
};

/// A search, ready to be answered.
pub(super) struct Question {
    /// The query as it was read.
    pub(super) parsed: Query,
    /// The query and the arguments beside it.
    pub(super) plan: Plan,
    /// The mailboxes; all of the tenant when `None`.
    pub(super) identities: Option<BTreeSet<IdentityId>>,
    /// The tenant's time zone.
    pub(super) zone: TimeZone,
}

/// What a cursor of a search is bound to: everything that changes which mail is found.
#[derive(serde::Serialize)]
pub(super) struct Binding {
    tenant: Option<TenantId>,
    identity: Option<IdentityId>,
    identity_ids: Option<BTreeSet<IdentityId>>,
    q: String,
    mode: Mode,
    group_by: GroupBy,
    direction: Option<&'static str>,
    labels: Option<Vec<String>>,
    after: Option<Timestamp>,
    before: Option<Timestamp>,
    include_quarantined: bool,
}

impl Binding {
    pub(super) fn of(call: &Call<'_>, input: &Input) -> Self {
        Self {
            tenant: call.scope().ok().map(|scope| scope.tenant()),
            identity: call.identity_if_any(),
            identity_ids: input
                .identity_ids
                .as_ref()
                .map(|ids| ids.iter().copied().collect()),
            // Two ways to write one query are one query.
            q: postroom_query::parse(&input.q)
                .map_or_else(|_| input.q.clone(), |query| query.to_string()),
            mode: input.mode,
            group_by: input.group_by,
            direction: direction_of(input).map(Direction::name),
            labels: input.labels.clone(),
            after: input.after,
            before: input.before,
            include_quarantined: input.include_quarantined,
        }
    }
}

impl Question {
    pub(super) async fn read(
        call: &Call<'_>,
        input: &Input,
        as_of: Timestamp,
    ) -> Result<Self, Failure> {
        let parsed = postroom_query::parse(&input.q)?;
        check_mode(call, input.mode, &parsed)?;
        let scope = call.scope()?;
        let tenant = read::tenant(call.room.store(), scope).await?;
        let zone = tenant
            .and_then(|tenant| TimeZone::get(&tenant.timezone).ok())
            .unwrap_or(TimeZone::UTC);
        let plan = Plan::all_of([
            postroom_query::plan(&parsed, &zone, as_of)?,
            arguments(input)?,
        ]);
        let identities = match call.identity_if_any() {
            Some(identity) => {
                // Naming others beside the one is asking for what is out of reach.
                if input
                    .identity_ids
                    .iter()
                    .flatten()
                    .any(|named| *named != identity)
                {
                    return Err(ErrorCode::IdentityNotFound.into());
                }
                Some(BTreeSet::from([identity]))
            }
            None => over_tenant(call, input.identity_ids.as_deref()).await?,
        };
        Ok(Self {
            parsed,
            plan,
            identities,
            zone,
        })
    }
}

/// Matching by meaning has no engine yet: `semantic` cannot be answered, `hybrid` answers by words
/// and says so, unless the caller insists.
fn check_mode(call: &Call<'_>, mode: Mode, parsed: &Query) -> Result<(), Failure> {
    match mode {
        Mode::Semantic => {
            parsed.require_free_text()?;
            Err(ErrorCode::SearchDegraded.into())
        }
        Mode::Hybrid if call.context.includes("require_mode") => {
            Err(ErrorCode::SearchDegraded.into())
        }
        Mode::Hybrid | Mode::Keyword => Ok(()),
    }
}

/// The arguments beside the query, all of which must hold.
fn arguments(input: &Input) -> Result<Plan, Failure> {
    let mut plans = Vec::new();
    plans.extend(direction_of(input).map(|direction| Plan::filter(Filter::In(direction))));
    plans.extend(input.after.map(|after| Plan::filter(Filter::After(after))));
    plans.extend(
        input
            .before
            .map(|before| Plan::filter(Filter::Before(before))),
    );
    for label in input.labels.iter().flatten() {
        let label = label.to_ascii_lowercase();
        if !postroom_core::is_label(&label) {
            return Err(Failure::invalid(
                "labels",
                "a label has letters, digits, _, : and - only",
            ));
        }
        plans.push(Plan::state(State::Label(label)));
    }
    Ok(Plan::all_of(plans))
}

fn direction_of(input: &Input) -> Option<Direction> {
    input
        .direction
        .map(|direction| super::direction(direction.stored()))
}

/// The mailboxes of a search over the tenant.
async fn over_tenant(
    call: &Call<'_>,
    named: Option<&[IdentityId]>,
) -> Result<Option<BTreeSet<IdentityId>>, Failure> {
    let (store, scope) = (call.room.store(), call.scope()?);
    let Some(named) = named else {
        let filter = IdentityFilter {
            limit: SEARCH_IDENTITIES + 1,
            ..IdentityFilter::default()
        };
        let all = read::identities(store, scope, &filter).await?;
        if all.len() > SEARCH_IDENTITIES {
            return Err(ErrorCode::ScopeTooLarge.into());
        }
        return Ok(Some(
            all.into_iter().map(|identity| identity.row.id).collect(),
        ));
    };
    for identity in named {
        if read::identity(store, scope, *identity).await?.is_none() {
            return Err(ErrorCode::IdentityNotFound.into());
        }
    }
    Ok(Some(named.iter().copied().collect()))
}

/// A query that is too long has the code of every query that cannot be read, with the position.
pub(crate) fn unreadable(operation: &Operation, arguments: &Value, failure: Failure) -> Failure {
    let reads_queries = operation.errors.contains(&ErrorCode::InvalidQuery);
    let query = arguments.get("q").and_then(Value::as_str);
    match query.filter(|_| reads_queries).map(postroom_query::parse) {
        Some(Err(error)) => error.into(),
        _ => failure,
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        Self::new(ErrorCode::InvalidQuery)
            .with("position", error.position)
            .with("expected", error.expected)
            .with("found", error.found)
    }
}

impl Mode {
    /// The name on the wire.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Keyword => "keyword",
            Self::Semantic => "semantic",
            Self::Hybrid => "hybrid",
        }
    }
}
