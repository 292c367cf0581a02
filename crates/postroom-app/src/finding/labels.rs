//! Labels as sets of message numbers, kept until a label changes.
//!
//! Counting labels over thousands of candidates and answering `label:` would otherwise read the
//! store with every search.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use postroom_store::read;
use postroom_types::{TenantScope, limit::LABEL_SCOPES};
use roaring::RoaringTreemap;

use crate::{Failure, operation::Call};

/// Every label of a scope with the messages that have it.
pub(super) type ByLabel = BTreeMap<String, RoaringTreemap>;

/// The sets of the scopes that were searched last.
#[derive(Default)]
pub(crate) struct Labels(Mutex<HashMap<TenantScope, Loaded>>);

#[derive(Clone)]
struct Loaded {
    /// The position of the last change of a label before they were read.
    changed_at: u64,
    sets: Arc<ByLabel>,
}

impl Labels {
    fn at(&self, scope: &TenantScope, changed_at: u64) -> Option<Arc<ByLabel>> {
        let loaded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let loaded = loaded.get(scope)?;
        (loaded.changed_at == changed_at).then(|| Arc::clone(&loaded.sets))
    }

    fn keep(&self, scope: TenantScope, loaded: Loaded) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= LABEL_SCOPES && !all.contains_key(&scope) {
            all.clear();
        }
        all.insert(scope, loaded);
    }
}

/// The labels of the call's scope. `complete` says that every change up to the search was seen; if
/// not, what is kept may be old and is not used.
pub(super) async fn by_label(
    call: &Call<'_>,
    scope: &TenantScope,
    complete: bool,
) -> Result<Arc<ByLabel>, Failure> {
    let changed_at = call.room.indexing.labels_changed_at(scope.tenant());
    let kept = call.room.labels.at(scope, changed_at).filter(|_| complete);
    if let Some(sets) = kept {
        return Ok(sets);
    }
    let sets = Arc::new(read::nums_by_label(call.room.store(), scope).await?);
    if complete {
        let loaded = Loaded {
            changed_at,
            sets: Arc::clone(&sets),
        };
        call.room.labels.keep(*scope, loaded);
    }
    Ok(sets)
}
