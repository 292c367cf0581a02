//! Messages like another, by the words that set it apart.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use postroom_query::Plan;
use postroom_types::limit::RANKED_IDS;
use tantivy::Term;

use crate::{
    Related, RelatedRequest, SearchRequest, analysis::words, rank::Corpus, search, tenant::Snapshot,
};

/// Words of the text that are weighed.
const WORDS_READ: usize = 2_000;
/// Words that are looked for.
const WORDS_ASKED: usize = 12;
/// A word of the subject counts this much more.
const SUBJECT_FACTOR: f32 = 2.0;

/// Finds messages that share distinctive words.
pub(crate) fn related(
    snapshot: &Snapshot,
    request: &RelatedRequest<'_>,
) -> tantivy::Result<Related> {
    let words = distinctive(snapshot, request.subject, request.extracted_text)?;
    if words.is_empty() {
        return Ok(Related::default());
    }
    let plan = Plan::any_of(words.iter().map(Plan::word));
    let ranked = search::search(
        snapshot,
        &SearchRequest {
            identities: request.identities,
            hidden: Some(request.exclude),
            upto: request.upto,
            limit: request.limit.min(RANKED_IDS),
            fuzzy: false,
            ..SearchRequest::new(&plan, &BTreeMap::new())
        },
    )?;
    Ok(Related {
        words,
        plan: Some(plan),
        hits: ranked.hits,
    })
}

/// The words of a message that stand in few others, the most distinctive first.
fn distinctive(snapshot: &Snapshot, subject: &str, text: &str) -> tantivy::Result<Vec<String>> {
    let mut weights: HashMap<String, f32> = HashMap::new();
    for word in words(text).take(WORDS_READ) {
        *weights.entry(word).or_default() += 1.0;
    }
    for word in words(subject).take(WORDS_READ) {
        *weights.entry(word).or_default() += SUBJECT_FACTOR;
    }
    let corpus: Arc<Corpus> = snapshot.corpus()?;
    let fields = [
        snapshot.fields.subject,
        snapshot.fields.body,
        snapshot.fields.quoted,
    ];
    let messages = snapshot.searcher.num_docs();
    let mut weighed = Vec::new();
    for (word, times) in weights {
        if is_plain(&word) {
            continue;
        }
        let mut docs_with = 0;
        for field in fields {
            let term = Term::from_field_text(field, &word);
            docs_with = docs_with.max(snapshot.searcher.doc_freq(&term)?);
        }
        // Words of the source alone find nothing; words of every fifth message say nothing.
        if docs_with >= 2 && docs_with <= (messages / 5).max(2) {
            weighed.push((corpus.rarity(docs_with) * (1.0 + times.ln()), word));
        }
    }
    weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    weighed.truncate(WORDS_ASKED);
    Ok(weighed.into_iter().map(|(_, word)| word).collect())
}

/// Short words and short numbers, which set nothing apart.
fn is_plain(word: &str) -> bool {
    let digits = word.bytes().all(|byte| byte.is_ascii_digit());
    word.is_ascii() && (word.len() < 3 || (digits && word.len() < 4))
}
