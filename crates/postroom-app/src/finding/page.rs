//! One page of a result set, from ranked numbers to hits.

use std::collections::HashMap;

use postroom_core::attachment_id;
use postroom_query::{Plan, State};
use postroom_search::{DocAttachment, Match, MessageTexts, attachment_hits, snippet, why};
use postroom_store::read::{self, Message as Stored, Thread};
use postroom_types::{
    ThreadId,
    limit::{SEARCH_RESPONSE_BYTES, TOOL_RESULT_BYTES},
};

use super::{Found, KeptHit, Question, direction, has_text, named, recipients};
use crate::{
    Failure,
    op::{
        mail_search::{GroupBy, Hit, Input},
        reading,
    },
    operation::Call,
    room::attachments,
    view::{AttachmentHit, SearchHit, ThreadHit, fit, json_bytes, visible},
};

/// The hits of a page.
pub(super) struct Page {
    pub(super) hits: Vec<Hit>,
    /// The first ranked result that was not shown; `None` at the end.
    pub(super) next: Option<usize>,
    /// Whether hits were dropped to fit the answer.
    pub(super) truncated: bool,
}

/// Reads on in the ranked results until the page is full or they end.
pub(super) async fn page(
    call: &Call<'_>,
    input: &Input,
    question: &Question,
    found: &Found,
) -> Result<Page, Failure> {
    let limit = input.limit as usize;
    let mut hits: Vec<(usize, Hit)> = Vec::with_capacity(limit);
    let mut from = found.from;
    while hits.len() < limit {
        let until = (from + limit - hits.len()).min(found.set.hits.len());
        let Some(wanted) = found
            .set
            .hits
            .get(from..until)
            .filter(|some| !some.is_empty())
        else {
            break;
        };
        for (place, hit) in show(call, input, question, wanted).await? {
            hits.push((from + place, hit));
        }
        from = until;
    }
    let max_bytes = if call.for_agent() {
        TOOL_RESULT_BYTES
    } else {
        SEARCH_RESPONSE_BYTES
    };
    let (places, mut hits): (Vec<usize>, Vec<Hit>) = hits.into_iter().unzip();
    let envelope = found.facets.as_ref().map_or(0, json_bytes) + ENVELOPE_BYTES;
    let truncated = fit(&mut hits, envelope, max_bytes);
    if truncated {
        // The next page goes on right behind the last hit that stayed.
        from = places
            .get(hits.len().saturating_sub(1))
            .map_or(from, |last| last + 1);
    }
    let next = (from < found.set.hits.len()).then_some(from);
    Ok(Page {
        hits,
        next,
        truncated,
    })
}

/// Room for everything of an answer that is neither a hit nor a facet: the longest query twice,
/// the cursor, the notice.
const ENVELOPE_BYTES: usize = 8 * 1024;

/// Ranked results as hits, each with its place among them; what may not be seen any more is left
/// out.
async fn show(
    call: &Call<'_>,
    input: &Input,
    question: &Question,
    wanted: &[KeptHit],
) -> Result<Vec<(usize, Hit)>, Failure> {
    let (store, scope) = (call.room.store(), call.scope()?);
    let nums: Vec<u64> = wanted.iter().map(|hit| hit.num).collect();
    let messages = read::messages_of_nums(store, scope, &nums).await?;
    let threads = match input.group_by {
        GroupBy::Message => HashMap::new(),
        GroupBy::Thread => threads_of(call, &messages).await?,
    };
    let known = reading::known_senders(call, &messages).await?;
    let places: HashMap<u64, usize> = nums
        .iter()
        .enumerate()
        .map(|(place, num)| (*num, place))
        .collect();
    let mut shown = Vec::with_capacity(messages.len());
    for message in &messages {
        let Some((place, kept)) = places
            .get(&message.row.num)
            .and_then(|place| Some((*place, wanted.get(*place)?)))
        else {
            continue;
        };
        let evidence = evidence(
            call,
            &question.plan,
            kept.how(),
            message,
            input.snippet_chars as usize,
        )
        .await?;
        let hit = match input.group_by {
            GroupBy::Message => Hit::Message(Box::new(search_hit(
                message,
                kept.score,
                evidence,
                known.has(message),
            ))),
            GroupBy::Thread => match threads.get(&message.row.thread_id) {
                Some(thread) => {
                    let over_tenant = call.identity_if_any().is_none();
                    Hit::Thread(Box::new(thread_hit(message, thread, evidence, over_tenant)))
                }
                None => continue,
            },
        };
        shown.push((place, hit));
    }
    Ok(shown)
}

async fn threads_of(
    call: &Call<'_>,
    messages: &[Stored],
) -> Result<HashMap<ThreadId, Thread>, Failure> {
    let ids: Vec<ThreadId> = messages
        .iter()
        .map(|message| message.row.thread_id)
        .collect();
    let threads = read::threads_of_ids(call.room.store(), call.scope()?, &ids).await?;
    Ok(threads
        .into_iter()
        .map(|thread| (thread.row.id, thread))
        .collect())
}

/// What shows that a message matches.
pub(super) struct Evidence {
    snippet: String,
    pub(super) why: Vec<String>,
    attachments: Vec<AttachmentHit>,
}

/// Looks where a message matches. Texts of attachments are loaded only when the words of the query
/// are not all found without them.
pub(super) async fn evidence(
    call: &Call<'_>,
    plan: &Plan,
    how: Match,
    message: &Stored,
    snippet_chars: usize,
) -> Result<Evidence, Failure> {
    let names: Vec<DocAttachment> = message.doc.attachments.iter().map(named).collect();
    let found = look(plan, how, message, &names, snippet_chars);
    let unexplained = found
        .why
        .iter()
        .filter(|reason| is_of_words(reason))
        .count()
        < plan.positive_text().len();
    if !(unexplained && message.doc.attachments.iter().any(has_text)) {
        return Ok(found);
    }
    let loaded = attachments(call.room, call.scope()?, message).await?;
    Ok(look(plan, how, message, &loaded, snippet_chars))
}

fn is_of_words(reason: &str) -> bool {
    reason.starts_with("text:") || reason.starts_with("fuzzy:")
}

fn look(
    plan: &Plan,
    how: Match,
    message: &Stored,
    attachments: &[DocAttachment],
    snippet_chars: usize,
) -> Evidence {
    let doc = &message.doc;
    let to = recipients(doc);
    let from: Vec<_> = doc.from.iter().cloned().collect();
    let texts = MessageTexts {
        direction: direction(message.row.direction),
        date: message.row.sort_at,
        subject: doc.subject.as_deref().unwrap_or_default(),
        from: &from,
        to: &to,
        extracted_text: doc.extracted_text().unwrap_or_default(),
        text: doc.text.as_deref().unwrap_or_default(),
        attachments,
    };
    let holds = |state: &State| match state {
        State::Label(label) => message.labels.contains(label),
        State::Unread => message.row.unread,
        // An alias is as good as the id itself, and only messages of the thread were ranked.
        State::Thread(_) => true,
    };
    Evidence {
        snippet: visible(&snippet(plan, how, &texts, snippet_chars)),
        why: why(plan, how, &texts, &holds)
            .iter()
            .map(|reason| visible(reason))
            .collect(),
        attachments: attachment_hits(plan, how, &texts)
            .into_iter()
            .filter_map(|place| doc.attachments.get(place))
            .map(|attachment| AttachmentHit {
                attachment_id: attachment_id(message.row.id, attachment.index),
                filename: attachment.filename.as_deref().map(visible),
                page: None,
            })
            .collect(),
    }
}

/// A message as a hit.
pub(super) fn search_hit(
    message: &Stored,
    score: f32,
    evidence: Evidence,
    known_sender: bool,
) -> SearchHit {
    let row = &message.row;
    SearchHit {
        message_id: row.id,
        thread_id: row.thread_id,
        identity_id: row.identity_id,
        date: row.sent_at.unwrap_or(row.received_at),
        direction: row.direction.as_str().to_owned(),
        from: message.doc.from.as_ref().map(reading::mailbox),
        subject: message.doc.subject.as_deref().map(visible),
        snippet: evidence.snippet,
        score: (f64::from(score) * 1_000.0).round() / 1_000.0,
        why: evidence.why,
        attachment_hits: evidence.attachments,
        trust: reading::hit_trust(known_sender),
    }
}

fn thread_hit(
    message: &Stored,
    thread: &Thread,
    evidence: Evidence,
    over_tenant: bool,
) -> ThreadHit {
    ThreadHit {
        thread_id: thread.row.id,
        identity_id: over_tenant.then_some(thread.row.identity_id),
        subject: reading::subject(thread.row.subject.as_deref()),
        participants: reading::participants(thread),
        message_count: thread.row.message_count,
        last_at: thread.row.last_at,
        snippet: evidence.snippet,
        why: evidence.why,
        top_message_id: message.row.id,
    }
}
