//! Labels and what is unread as sets of message numbers, kept until one of them changes.
//!
//! Counting labels over thousands of candidates and answering `label:` and `is:unread` would
//! otherwise read the store with every search.

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
pub(crate) struct Labels {
    by_label: Kept<ByLabel>,
    unread: Kept<RoaringTreemap>,
}

struct Kept<T>(Mutex<HashMap<TenantScope, Loaded<T>>>);

struct Loaded<T> {
    /// The position of the last change before they were read.
    changed_at: u64,
    sets: Arc<T>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Kept<T> {
    fn at(&self, scope: &TenantScope, changed_at: u64) -> Option<Arc<T>> {
        let loaded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let loaded = loaded.get(scope)?;
        (loaded.changed_at == changed_at).then(|| Arc::clone(&loaded.sets))
    }

    fn keep(&self, scope: TenantScope, changed_at: u64, sets: &Arc<T>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= LABEL_SCOPES && !all.contains_key(&scope) {
            all.clear();
        }
        let sets = Arc::clone(sets);
        all.insert(scope, Loaded { changed_at, sets });
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
    let kept = &call.room.labels.by_label;
    if let Some(sets) = kept.at(scope, changed_at).filter(|_| complete) {
        return Ok(sets);
    }
    let sets = Arc::new(read::nums_by_label(call.room.store(), scope).await?);
    if complete {
        kept.keep(*scope, changed_at, &sets);
    }
    Ok(sets)
}

/// The unread messages of the call's scope.
pub(super) async fn unread(
    call: &Call<'_>,
    scope: &TenantScope,
) -> Result<Arc<RoaringTreemap>, Failure> {
    // Whatever makes a message read or unread, or brings one, is followed by the index too.
    let changed_at = call.room.position(scope).await?.indexed;
    let kept = &call.room.labels.unread;
    if let Some(sets) = kept.at(scope, changed_at) {
        return Ok(sets);
    }
    let sets = Arc::new(read::nums_unread(call.room.store(), scope).await?);
    kept.keep(*scope, changed_at, &sets);
    Ok(sets)
}
