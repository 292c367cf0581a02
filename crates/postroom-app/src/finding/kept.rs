//! Ranked results kept for later pages.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use postroom_core::{Command, KeepResultSet, ResultSetRow};
use postroom_search::{Hit, Match};
use postroom_store::read;
use postroom_types::{
    KeyId,
    limit::{CURSOR_LIFE_MS, RESULT_SETS_IN_MEMORY},
};
use serde::{Deserialize, Serialize};

use crate::{Failure, operation::Call};

/// The ranked results of one search.
#[derive(Debug)]
pub(crate) struct ResultSet {
    /// The key that searched; nobody else reads on.
    pub(super) key: Option<KeyId>,
    /// Best first.
    pub(super) hits: Vec<KeptHit>,
}

/// One ranked message.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct KeptHit {
    /// Its number.
    #[serde(rename = "n")]
    pub(super) num: u64,
    /// Its score, 0 to 1.
    #[serde(rename = "s")]
    pub(super) score: f32,
    #[serde(rename = "h")]
    how: How,
}

/// [`Match`] as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum How {
    #[serde(rename = "e")]
    Exact,
    #[serde(rename = "f")]
    Fuzzy,
    #[serde(rename = "r")]
    Relaxed,
}

impl KeptHit {
    pub(super) fn of(hit: &Hit) -> Self {
        Self {
            num: hit.num,
            score: hit.score,
            how: match hit.how {
                Match::Exact => How::Exact,
                Match::Fuzzy => How::Fuzzy,
                Match::Relaxed => How::Relaxed,
            },
        }
    }

    pub(super) fn how(self) -> Match {
        match self.how {
            How::Exact => Match::Exact,
            How::Fuzzy => Match::Fuzzy,
            How::Relaxed => Match::Relaxed,
        }
    }
}

/// The result sets of the last searches, by the name their cursors carry.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<Sets>);

#[derive(Debug, Default)]
struct Sets {
    by_id: HashMap<String, Arc<ResultSet>>,
    oldest_first: VecDeque<String>,
}

impl Kept {
    fn put(&self, id: &str, set: &Arc<ResultSet>) {
        let mut sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sets.by_id.insert(id.to_owned(), Arc::clone(set)).is_none() {
            sets.oldest_first.push_back(id.to_owned());
        }
        while sets.oldest_first.len() > RESULT_SETS_IN_MEMORY {
            if let Some(oldest) = sets.oldest_first.pop_front() {
                sets.by_id.remove(&oldest);
            }
        }
    }

    fn find(&self, id: &str) -> Option<Arc<ResultSet>> {
        let sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sets.by_id.get(id).cloned()
    }
}

/// Keeps a set in memory, and in the store by a write that nobody waits for.
pub(super) fn keep(call: &Call<'_>, id: &str, set: &Arc<ResultSet>) {
    call.room.kept.put(id, set);
    let Ok(scope) = call.scope() else { return };
    let Ok(payload) = serde_json::to_vec(&set.hits) else {
        return;
    };
    let now = call.now();
    let row = ResultSetRow {
        id: id.to_owned(),
        tenant_id: scope.tenant(),
        key_id: set.key,
        payload,
        created_at: now,
        expires_at: now.plus_ms(i64::try_from(CURSOR_LIFE_MS).unwrap_or(i64::MAX)),
    };
    let store = call.room.store().clone();
    call.room.beside(async move {
        if let Err(error) = store
            .transact(Command::KeepResultSet(KeepResultSet { row }))
            .await
        {
            tracing::warn!(%error, "ranked results are kept in memory only");
        }
    });
}

/// A kept set; `None` when it has ended or was never this key's.
pub(super) async fn recall(call: &Call<'_>, id: &str) -> Result<Option<Arc<ResultSet>>, Failure> {
    if let Some(set) = call.room.kept.find(id) {
        return Ok(Some(set).filter(|set| set.key == call.actor.key));
    }
    let key = call.actor.key;
    let Some(payload) = read::result_set(call.room.store(), call.scope()?, key, id).await? else {
        return Ok(None);
    };
    let Ok(hits) = serde_json::from_slice(&payload) else {
        return Ok(None);
    };
    let set = Arc::new(ResultSet { key, hits });
    call.room.kept.put(id, &set);
    Ok(Some(set))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_set_leaves_memory_first() {
        let kept = Kept::default();
        let set = Arc::new(ResultSet {
            key: None,
            hits: Vec::new(),
        });
        for id in 0..=RESULT_SETS_IN_MEMORY {
            kept.put(&id.to_string(), &set);
        }
        assert!(kept.find("0").is_none());
        assert!(kept.find("1").is_some());
        assert!(kept.find(&RESULT_SETS_IN_MEMORY.to_string()).is_some());
    }
}
