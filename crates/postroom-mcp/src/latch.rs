//! A value that is set once and can be awaited by many.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A value that is set at most once; clones share it.
#[derive(Debug)]
pub struct Latch<T>(Arc<Mutex<State<T>>>);

#[derive(Debug)]
struct State<T> {
    value: Option<T>,
    waiting: Vec<Waker>,
}

impl<T> Clone for Latch<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for Latch<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State {
            value: None,
            waiting: Vec::new(),
        })))
    }
}

impl<T: Clone> Latch<T> {
    /// Sets the value and wakes who waits; a second value is dropped and `false` returned.
    pub fn set(&self, value: T) -> bool {
        let mut state = self.lock();
        if state.value.is_some() {
            return false;
        }
        state.value = Some(value);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
        true
    }

    /// The value, when it is set.
    pub fn value(&self) -> Option<T> {
        self.lock().value.clone()
    }

    /// Waits for the value.
    pub fn wait(&self) -> impl Future<Output = T> + Send + '_
    where
        T: Send,
    {
        poll_fn(move |context| self.poll(context))
    }

    /// Polls for the value; the waker is kept until it is set.
    pub fn poll(&self, context: &mut Context<'_>) -> Poll<T> {
        let mut state = self.lock();
        if let Some(value) = &state.value {
            return Poll::Ready(value.clone());
        }
        let waker = context.waker();
        if !state.waiting.iter().any(|known| known.will_wake(waker)) {
            state.waiting.push(waker.clone());
        }
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
