//! Other threads about the same thing: shared reference numbers first, then telling words.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use postroom_query::{Plan, State, Text, TextForm};
use postroom_search::{Match, Related, RelatedRequest, SearchRequest};
use postroom_store::read::{self, Message as Stored};
use postroom_types::{ErrorCode, limit::TOOL_RESULT_BYTES};
use roaring::RoaringTreemap;

use super::{fresh, page};
use crate::{
    Failure,
    op::reading,
    operation::Call,
    view::{SearchHit, fit},
};

/// Reference numbers of the source that are looked for.
const REFERENCES: usize = 5;
/// Characters of the source's text in which they are looked for.
const REFERENCE_CHARS: usize = 4_000;
/// Messages that each way of looking may add.
const CANDIDATES: usize = 50;
/// What each shared reference adds to the score, up to two of them.
const SHARED_BONUS: f32 = 0.1;
/// Characters of a snippet.
const SNIPPET_CHARS: usize = 200;

/// Messages of other threads, the closest first; says whether hits were dropped to fit the answer.
pub(crate) async fn related(
    call: &Call<'_>,
    source: &Stored,
    limit: usize,
) -> Result<(Vec<SearchHit>, bool), Failure> {
    let scope = *call.scope()?;
    let exclude = read::nums_in_thread(call.room.store(), &scope, source.row.thread_id).await?;
    let (upto, _) = fresh(call, &scope).await?;
    let text = source.doc.extracted_text().unwrap_or_default().to_owned();
    let subject = source.doc.subject.clone().unwrap_or_default();
    let references = references(&subject, &text);
    let identities = call
        .identity_if_any()
        .map(|identity| BTreeSet::from([identity]));
    let (indexes, wanted) = (call.room.indexes.clone(), references.clone());
    let found = tokio::task::spawn_blocking(move || {
        let index = indexes.tenant(scope.tenant())?;
        let words = index.related(&RelatedRequest {
            subject: &subject,
            extracted_text: &text,
            identities: identities.as_ref(),
            exclude: &exclude,
            upto: Some(upto),
            limit: CANDIDATES,
        })?;
        let states: BTreeMap<State, RoaringTreemap> = BTreeMap::new();
        let mut shared: HashMap<u64, Vec<String>> = HashMap::new();
        for reference in wanted {
            let plan = exactly(&reference);
            let ranked = index.search(&SearchRequest {
                identities: identities.as_ref(),
                hidden: Some(&exclude),
                upto: Some(upto),
                limit: CANDIDATES,
                fuzzy: false,
                ..SearchRequest::new(&plan, &states)
            })?;
            for hit in ranked.hits {
                shared.entry(hit.num).or_default().push(reference.clone());
            }
        }
        Ok::<_, postroom_search::SearchError>((words, shared))
    });
    let (words, shared) = found
        .await
        .map_err(|_| Failure::new(ErrorCode::InternalError))??;
    let plan = looked_for(&words, &references);
    let ranked = merge(&words, &shared, limit);
    show(call, &plan, &ranked, &shared).await
}

/// Scores of both ways of looking in one order; a shared reference outranks shared words.
fn merge(words: &Related, shared: &HashMap<u64, Vec<String>>, limit: usize) -> Vec<(u64, f32)> {
    let mut scores: HashMap<u64, f32> = words.hits.iter().map(|hit| (hit.num, hit.score)).collect();
    for num in shared.keys() {
        scores.entry(*num).or_insert(0.0);
    }
    let mut ranked: Vec<(u64, usize, f32)> = scores
        .into_iter()
        .map(|(num, score)| {
            let count = shared.get(&num).map_or(0, Vec::len);
            let bonus = SHARED_BONUS * count.min(2) as f32;
            (num, count, (score + bonus).min(1.0))
        })
        .collect();
    ranked.sort_by(|a, b| {
        let by_score = b.2.total_cmp(&a.2);
        b.1.min(1)
            .cmp(&a.1.min(1))
            .then(by_score)
            .then(b.0.cmp(&a.0))
    });
    ranked.truncate(limit);
    ranked
        .into_iter()
        .map(|(num, _, score)| (num, score))
        .collect()
}

async fn show(
    call: &Call<'_>,
    plan: &Plan,
    ranked: &[(u64, f32)],
    shared: &HashMap<u64, Vec<String>>,
) -> Result<(Vec<SearchHit>, bool), Failure> {
    let nums: Vec<u64> = ranked.iter().map(|(num, _)| *num).collect();
    let scores: HashMap<u64, f32> = ranked.iter().copied().collect();
    let messages = read::messages_of_nums(call.room.store(), call.scope()?, &nums).await?;
    let known = reading::known_senders(call, &messages).await?;
    let mut hits = Vec::with_capacity(messages.len());
    for message in &messages {
        let num = message.row.num;
        let mut evidence =
            page::evidence(call, plan, Match::Relaxed, message, SNIPPET_CHARS).await?;
        let references = shared.get(&num).map(Vec::as_slice).unwrap_or_default();
        let named = references
            .iter()
            .map(|reference| format!("ref:{reference}"));
        evidence.why = named.chain(evidence.why).take(8).collect();
        hits.push(page::search_hit(
            message,
            scores.get(&num).copied().unwrap_or(0.0),
            evidence,
            known.has(message),
        ));
    }
    let truncated = call.for_agent() && fit(&mut hits, 4_096, TOOL_RESULT_BYTES);
    Ok((hits, truncated))
}

fn exactly(reference: &str) -> Plan {
    Plan::text(
        None,
        Text {
            form: TextForm::Phrase,
            text: reference.to_owned(),
        },
    )
}

/// Everything that was looked for, as a plan that snippets and reasons are made from.
fn looked_for(words: &Related, references: &[String]) -> Plan {
    Plan::any_of(
        references
            .iter()
            .map(|reference| exactly(reference))
            .chain(words.plan.clone()),
    )
}

/// What looks like a reference number: letters or signs beside digits, or a long number; no date,
/// time, amount, address or link.
fn references(subject: &str, text: &str) -> Vec<String> {
    let start: String = text.chars().take(REFERENCE_CHARS).collect();
    let mut found: Vec<String> = Vec::new();
    for word in subject.split_whitespace().chain(start.split_whitespace()) {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        if found.len() < REFERENCES
            && is_reference(word)
            && found.iter().all(|known| !known.eq_ignore_ascii_case(word))
        {
            found.push(word.to_owned());
        }
    }
    found
}

fn is_reference(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let plain = word
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '-' | '/' | '_' | '#' | '.'));
    if !plain || !(4..=32).contains(&word.chars().count()) || digits < 2 {
        return false;
    }
    if word.contains('.') || (letters == 0 && word.contains(['-', '/'])) {
        // Amounts, dates, versions, host names.
        return false;
    }
    letters > 0 || digits >= 5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_numbers_are_told_from_dates_amounts_and_words() {
        for yes in [
            "INV-2024-001",
            "AB12CDE",
            "7781234",
            "PCN/99812",
            "ORD_55A1",
        ] {
            assert!(is_reference(yes), "{yes}");
        }
        for no in [
            "2024-11-30",
            "30.11.2026",
            "1.250.00",
            "2024",
            "hello",
            "12/31",
            "10:30",
            "a@b1.example",
            "x1",
            "v1.2.3",
        ] {
            assert!(!is_reference(no), "{no}");
        }
    }

    #[test]
    fn at_most_five_references_each_once() {
        let text = "inv-10001 INV-10001 A10002 A10003 A10004 A10005 A10006";
        assert_eq!(references("Re: INV-10001", text).len(), REFERENCES);
    }
}
