//! Whether an answer reached the one who asked.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use tokio_util::task::TaskTracker;

use crate::Room;

type Undoing = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Kept by a surface whose clients can go away. An operation that gives something away says how to
/// take it back; that is done when the last copy is dropped and nobody said that the answer was
/// handed over.
#[derive(Clone)]
pub struct Receipt(Arc<Inner>);

struct Inner {
    undoing: Mutex<Option<Undoing>>,
    tasks: TaskTracker,
}

impl Receipt {
    /// A receipt for one call.
    pub fn new(room: &Room) -> Self {
        Self(Arc::new(Inner {
            undoing: Mutex::new(None),
            tasks: room.tasks.clone(),
        }))
    }

    /// The answer was handed over: nothing is taken back.
    pub fn delivered(&self) {
        drop(self.0.take());
    }

    /// What to do when the answer is not handed over.
    pub(crate) fn unless_delivered(&self, undoing: impl Future<Output = ()> + Send + 'static) {
        let mut kept = self
            .0
            .undoing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *kept = Some(Box::pin(undoing));
    }
}

impl Inner {
    fn take(&self) -> Option<Undoing> {
        self.undoing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Without a runtime the process ends, and what was given away comes back by its own time.
        if let (Some(undoing), Ok(runtime)) = (self.take(), tokio::runtime::Handle::try_current()) {
            self.tasks.spawn_on(undoing, &runtime);
        }
    }
}

impl std::fmt::Debug for Receipt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Receipt")
    }
}
