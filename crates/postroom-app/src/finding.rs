//! Finding mail: from a query to ranked, paged hits.
//!
//! ```text
//! q + arguments --postroom-query--> Plan --states from the store--> postroom-search --> ranked numbers
//! ranked numbers --kept for later pages--> rows of one page --> snippet, why, hit
//! ```
//!
//! The first page ranks and keeps at most 1,000 message numbers; later pages read from those and
//! only look again whether each message may be seen, so mail that arrives meanwhile moves nothing.

mod kept;
mod labels;
mod page;
mod question;
mod related;
mod texts;

pub(crate) use kept::Kept;
pub(crate) use labels::Labels;
pub(crate) use question::unreadable;
pub(crate) use related::related;
pub(crate) use texts::{direction, has_text, named, recipients, text_status};

use std::{collections::BTreeMap, time::Duration};

use postroom_query::State;
use postroom_search::{Ranked, SearchError, SearchRequest, top_counts};
use postroom_store::read;
use postroom_types::{
    ErrorCode, TenantScope, ThreadId, Timestamp,
    limit::{FRESH_WAIT_MS, RANKED_IDS},
};
use roaring::RoaringTreemap;

use crate::{
    Failure,
    op::mail_search::{GroupBy, Input, Mode, Output},
    operation::Call,
    view::{ContentNotice, Facets, SearchQuery},
};
use kept::{KeptHit, ResultSet};
use labels::ByLabel;
use question::Question;

/// How often a search looks whether received mail was read meanwhile.
const PENDING_POLL: Duration = Duration::from_millis(50);

/// Where a later page begins.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Place {
    /// The kept results.
    set: String,
    /// The first of them that was not shown.
    from: usize,
    as_of: Timestamp,
    complete: bool,
}

/// Answers `mail_search`.
pub(crate) async fn search(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let binding = question::Binding::of(call, &input);
    let place: Option<Place> = call.open_cursor(&binding, input.cursor.as_deref())?;
    // Relative dates mean the same on every page.
    let as_of = place.as_ref().map_or(call.now(), |place| place.as_of);
    let question = Question::read(call, &input, as_of).await?;
    let mut found = match place {
        Some(place) => later(call, place).await?,
        None => first(call, &input, &question).await?,
    };
    let page = page::page(call, &input, &question, &found).await?;
    let next_cursor = match page.next {
        None => None,
        Some(from) => {
            found.keep(call);
            let place = Place {
                set: found.set_id.clone(),
                from,
                as_of,
                complete: found.complete,
            };
            Some(call.seal_cursor(&binding, &place)?)
        }
    };
    let over_tenant = call.identity_if_any().is_none();
    Ok(Output {
        query: SearchQuery {
            parsed: question.parsed.to_string(),
            mode: input.mode.as_str().to_owned(),
        },
        hits: page.hits,
        facets: found.facets,
        next_cursor,
        truncated: page.truncated,
        semantic_coverage: (input.mode != Mode::Keyword).then_some(0.0),
        degraded: input.mode != Mode::Keyword,
        as_of,
        index_complete: found.complete,
        partial: over_tenant.then_some(false),
        failed_identities: over_tenant.then(Vec::new),
        content_notice: ContentNotice,
    })
}

/// What a search found, and where its page begins.
struct Found {
    set_id: String,
    set: std::sync::Arc<ResultSet>,
    from: usize,
    complete: bool,
    facets: Option<Facets>,
    /// Whether the set is kept already.
    kept: bool,
}

impl Found {
    /// Keeps the ranked results for later pages: in memory at once, and by a write that the answer
    /// does not wait for.
    fn keep(&mut self, call: &Call<'_>) {
        if !std::mem::replace(&mut self.kept, true) {
            kept::keep(call, &self.set_id, &self.set);
        }
    }
}

/// Ranks, groups and counts.
async fn first(call: &Call<'_>, input: &Input, question: &Question) -> Result<Found, Failure> {
    let scope = *call.scope()?;
    let (upto, complete) = fresh(call, &scope).await?;
    let labels = labels::by_label(call, &scope, complete).await?;
    let states = states(call, &scope, question, &labels).await?;
    // Hybrid answers questions; a keyword search says exactly what it looks for.
    let relaxed = input.mode != Mode::Keyword;
    let ranked = rank(call, &scope, question, states, upto, relaxed).await?;
    let facets = Facets {
        label: label_facet(&labels, &ranked.candidates),
        ..index_facets(&ranked)
    };
    let mut hits: Vec<KeptHit> = ranked.hits.iter().map(KeptHit::of).collect();
    if input.group_by == GroupBy::Thread {
        hits = best_of_threads(call, &scope, hits).await?;
    }
    Ok(Found {
        set_id: format!("{:032x}", crate::random::bits()?),
        set: std::sync::Arc::new(ResultSet {
            key: call.actor.key,
            hits,
        }),
        from: 0,
        complete,
        facets: Some(facets),
        kept: false,
    })
}

async fn later(call: &Call<'_>, place: Place) -> Result<Found, Failure> {
    let set = kept::recall(call, &place.set)
        .await?
        .ok_or(ErrorCode::CursorExpired)?;
    Ok(Found {
        set_id: place.set,
        set,
        from: place.from,
        complete: place.complete,
        facets: None,
        kept: true,
    })
}

/// Waits a moment for the index to hold all that was received until now, mail that was acknowledged
/// and is not read yet included; gives the feed position to search up to and whether the index got
/// there.
pub(super) async fn fresh(call: &Call<'_>, scope: &TenantScope) -> Result<(u64, bool), Failure> {
    let began_at = call.room.position(scope).await?.last;
    let patience = Duration::from_millis(FRESH_WAIT_MS);
    let holds_all = async {
        all_read(call, scope, began_at).await?;
        let position = call.room.position(scope).await?;
        let indexing = &call.room.indexing;
        Ok((
            position.last,
            indexing.reached(scope.tenant(), position, patience).await,
        ))
    };
    match tokio::time::timeout(patience, holds_all).await {
        Ok(found) => found,
        Err(_) => Ok((call.room.position(scope).await?.last, false)),
    }
}

/// Waits until no mail received up to a feed position is left to be read.
async fn all_read(call: &Call<'_>, scope: &TenantScope, began_at: u64) -> Result<(), Failure> {
    let store = call.room.store();
    let mut wake = store.feed(scope.tenant());
    loop {
        wake.borrow_and_update();
        let oldest = read::oldest_pending(store, scope).await?;
        if oldest.is_none_or(|oldest| oldest > began_at) {
            return Ok(());
        }
        // A lost wake-up, or another node's, costs no more than the pause.
        tokio::select! {
            changed = wake.changed() => if changed.is_err() { return Ok(()) },
            () = tokio::time::sleep(PENDING_POLL) => {}
        }
    }
}

/// Resolves what changes after arrival to message numbers.
async fn states(
    call: &Call<'_>,
    scope: &TenantScope,
    question: &Question,
    labels: &ByLabel,
) -> Result<BTreeMap<State, RoaringTreemap>, Failure> {
    let store = call.room.store();
    let mut states = BTreeMap::new();
    for state in question.plan.states() {
        let nums = match &state {
            State::Label(label) => labels.get(label).cloned().unwrap_or_default(),
            State::Unread => labels::unread(call, scope).await?.as_ref().clone(),
            State::Thread(thread) => read::nums_in_thread(store, scope, *thread).await?,
        };
        states.insert(state, nums);
    }
    Ok(states)
}

/// Asks the index, on a thread that may block.
async fn rank(
    call: &Call<'_>,
    scope: &TenantScope,
    question: &Question,
    states: BTreeMap<State, RoaringTreemap>,
    upto: u64,
    relaxed: bool,
) -> Result<Ranked, Failure> {
    let (indexes, tenant) = (call.room.indexes.clone(), scope.tenant());
    let (plan, identities) = (question.plan.clone(), question.identities.clone());
    let zone = question.zone.clone();
    let ranked = tokio::task::spawn_blocking(move || {
        indexes.tenant(tenant)?.search(&SearchRequest {
            identities: identities.as_ref(),
            upto: Some(upto),
            limit: RANKED_IDS,
            relaxed,
            facets: Some(&zone),
            ..SearchRequest::new(&plan, &states)
        })
    });
    let ranked = ranked
        .await
        .map_err(|_| Failure::new(ErrorCode::InternalError))?;
    if let Err(SearchError::Rebuild { reason, .. }) = &ranked {
        tracing::warn!(%tenant, %reason, "a search met a damaged index; it is built anew");
        call.room.indexing.ask_anew(tenant);
    }
    ranked.map_err(Failure::from)
}

impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Self {
        if let SearchError::TooWide = error {
            return Self::new(error.code()).saying(
                "The beginnings in this query stand for too many words. Write longer ones, or fewer.",
            );
        }
        tracing::error!(%error, "the search index failed");
        Self::new(error.code()).saying("The search index is not ready.")
    }
}

fn index_facets(ranked: &Ranked) -> Facets {
    let counted = ranked.facets.clone().unwrap_or_default();
    let shown = |counts: Vec<(String, u64)>| {
        counts
            .into_iter()
            .map(|(value, count)| (crate::view::visible(&value), count))
            .collect()
    };
    Facets {
        sender: shown(counted.sender),
        sender_domain: shown(counted.sender_domain),
        month: shown(counted.month),
        attachment_type: shown(counted.attachment_type),
        ..Facets::default()
    }
}

/// Labels are not in the index; they are counted over what it found.
fn label_facet(labels: &ByLabel, candidates: &RoaringTreemap) -> BTreeMap<String, u64> {
    let counts = labels
        .iter()
        .map(|(label, nums)| (label.clone(), nums.intersection_len(candidates)));
    top_counts(counts).into_iter().collect()
}

/// One hit per thread: the best of its messages, in the order of the best.
async fn best_of_threads(
    call: &Call<'_>,
    scope: &TenantScope,
    hits: Vec<KeptHit>,
) -> Result<Vec<KeptHit>, Failure> {
    let nums: Vec<u64> = hits.iter().map(|hit| hit.num).collect();
    let threads = read::thread_ids_of_nums(call.room.store(), scope, &nums).await?;
    let mut seen: std::collections::HashSet<ThreadId> = std::collections::HashSet::new();
    Ok(hits
        .into_iter()
        .filter(|hit| {
            threads
                .get(&hit.num)
                .is_some_and(|thread| seen.insert(*thread))
        })
        .collect())
}
