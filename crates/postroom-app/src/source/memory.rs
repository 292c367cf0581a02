//! What is kept of sources in this process: nothing that a restart may not lose.

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use postroom_core::SourceRow;
use postroom_types::{
    Secret, SourceId, Timestamp,
    limit::{FETCHED_KEY_LIFE_MS, FETCHED_KEYS, REFUSALS_PER_SOURCE, SOURCES_IN_MEMORY},
};
use postroom_webhook::Fetched;

use super::Prepared;

/// A delivery that a source refused, in our own words and without any of its sender's.
#[derive(Debug, Clone)]
pub(crate) struct RememberedRefusal {
    /// When.
    pub(crate) at: Timestamp,
    /// The reason as metrics count it.
    pub(crate) reason: &'static str,
    /// The finer cause.
    pub(crate) code: String,
    /// One sentence for a person.
    pub(crate) detail: String,
    /// Who sent it.
    pub(crate) source_ip: Option<String>,
}

/// A source at the address that it has now: what came to an earlier one counts no more.
type Address = (SourceId, [u8; 32]);

/// What was offered at a source's address as its secret, without any proof of who did.
#[derive(Debug, Clone)]
pub(crate) enum Offer {
    /// One secret, however often.
    One(Secret<Vec<u8>>),
    /// Different ones: somebody else knows the address, and which of them is the provider's cannot be
    /// told.
    Several,
}

/// Rules, keys and refusals by source, each list bounded.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    prepared: Mutex<HashMap<SourceId, Arc<Prepared>>>,
    refusals: Mutex<HashMap<SourceId, VecDeque<RememberedRefusal>>>,
    offers: Mutex<HashMap<Address, Offer>>,
    keys: Mutex<HashMap<String, (Timestamp, Fetched)>>,
}

impl Sources {
    /// What deliveries of a source are judged by.
    pub(crate) fn prepared(&self, row: &SourceRow) -> Option<Arc<Prepared>> {
        let known = lock(&self.prepared).get(&row.id).map(Arc::clone);
        if let Some(known) = known.filter(|known| known.version == row.version) {
            return Some(known);
        }
        let fresh = Prepared::new(row)?;
        put(
            &self.prepared,
            SOURCES_IN_MEMORY,
            row.id,
            Arc::clone(&fresh),
        );
        Some(fresh)
    }

    /// Notes why a delivery was refused, for the person who connects the source.
    pub(crate) fn note_refusal(&self, source: SourceId, refused: RememberedRefusal) {
        let mut refusals = lock(&self.refusals);
        if refusals.len() >= SOURCES_IN_MEMORY && !refusals.contains_key(&source) {
            refusals.clear();
        }
        let list = refusals.entry(source).or_default();
        list.truncate(REFUSALS_PER_SOURCE - 1);
        list.push_front(refused);
    }

    /// The last deliveries that a source refused since the process started, newest first.
    pub(crate) fn refusals(&self, source: SourceId) -> Vec<RememberedRefusal> {
        let refusals = lock(&self.refusals);
        refusals
            .get(&source)
            .into_iter()
            .flatten()
            .cloned()
            .collect()
    }

    /// Keeps a secret that was offered until a person takes it. A second one that differs leaves none
    /// that could be taken: it never stands in for the first.
    pub(crate) fn note_offer(&self, row: &SourceRow, secret: Secret<Vec<u8>>) {
        let address = (row.id, row.token_hash);
        let known = lock(&self.offers).get(&address).cloned();
        let offer = match known {
            None => Offer::One(secret),
            Some(Offer::One(first)) if first.expose() == secret.expose() => return,
            Some(_) => Offer::Several,
        };
        put(&self.offers, SOURCES_IN_MEMORY, address, offer);
    }

    /// What was offered as the secret.
    pub(crate) fn offer(&self, row: &SourceRow) -> Option<Offer> {
        lock(&self.offers).get(&(row.id, row.token_hash)).cloned()
    }

    /// Forgets an offer that was taken.
    pub(crate) fn forget_offer(&self, row: &SourceRow) {
        lock(&self.offers).remove(&(row.id, row.token_hash));
    }

    /// A signing key that was fetched, as long as it is fresh.
    pub(crate) fn key(&self, url: &str, now: Timestamp) -> Option<Fetched> {
        let keys = lock(&self.keys);
        let (fetched_at, key) = keys.get(url)?;
        let life = i64::try_from(FETCHED_KEY_LIFE_MS).unwrap_or(i64::MAX);
        (0..life)
            .contains(&(now.ms() - fetched_at.ms()))
            .then(|| key.clone())
    }

    /// Keeps a signing key.
    pub(crate) fn keep_key(&self, key: Fetched, now: Timestamp) {
        put(&self.keys, FETCHED_KEYS, key.url.clone(), (now, key));
    }
}

/// Puts a value; a list that is full begins anew, which costs work and nothing else.
fn put<K: Eq + Hash, V>(list: &Mutex<HashMap<K, V>>, most: usize, key: K, value: V) {
    let mut list = lock(list);
    if list.len() >= most && !list.contains_key(&key) {
        list.clear();
    }
    list.insert(key, value);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_list_begins_anew_and_never_grows() {
        let list = Mutex::new(HashMap::new());
        for key in 0..=FETCHED_KEYS {
            put(&list, FETCHED_KEYS, key, ());
            assert!(lock(&list).len() <= FETCHED_KEYS);
        }
        assert_eq!(lock(&list).len(), 1);
    }

    #[test]
    fn the_oldest_refusal_is_forgotten_past_the_bound() {
        let sources = Sources::default();
        let source: SourceId = "src_01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().expect("an id");
        let refused = |second: usize| RememberedRefusal {
            at: Timestamp::from_ms(second as i64 * 1_000),
            reason: "bad_signature",
            code: String::new(),
            detail: String::new(),
            source_ip: None,
        };
        for (second, kept) in [
            (REFUSALS_PER_SOURCE, REFUSALS_PER_SOURCE),
            (REFUSALS_PER_SOURCE + 1, REFUSALS_PER_SOURCE),
        ] {
            let known = sources.refusals(source).len();
            for second in known..second {
                sources.note_refusal(source, refused(second));
            }
            assert_eq!(sources.refusals(source).len(), kept);
        }
        let newest = sources.refusals(source).first().map(|refused| refused.at);
        assert!(newest.is_some_and(|at| at.ms() >= 9_000));
    }

    #[test]
    fn a_fetched_key_lives_an_hour() {
        let sources = Sources::default();
        let key = Fetched {
            url: "https://a.example/k".to_owned(),
            content: b"pem".to_vec(),
        };
        sources.keep_key(key, Timestamp::from_ms(0));
        let end = FETCHED_KEY_LIFE_MS as i64;
        assert!(
            sources
                .key("https://a.example/k", Timestamp::from_ms(end - 1))
                .is_some()
        );
        assert!(
            sources
                .key("https://a.example/k", Timestamp::from_ms(end))
                .is_none()
        );
    }
}
