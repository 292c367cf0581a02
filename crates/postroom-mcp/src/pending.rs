//! Requests of ours that wait for a legacy client's answer.
//!
//! Legacy servers may ask the client (sampling, elicitation). The question travels on the response
//! stream of the call that raised it and the answer comes as a POST of its own. Without sessions
//! the two are joined by an id nobody can guess, and only for the same credential.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde_json::value::RawValue;

use crate::Latch;
use crate::envelope::{ResponseMessage, borrow_str};

/// Questions that may be open in one process.
pub(crate) const OPEN_QUESTIONS: usize = 1_000;

/// A client's answer: the result, or its error object.
pub(crate) type Answer = Result<Box<RawValue>, Box<RawValue>>;

/// The open questions.
#[derive(Debug, Default)]
pub(crate) struct Pending(Mutex<HashMap<String, Question>>);

#[derive(Debug)]
struct Question {
    principal: String,
    answer: Latch<Answer>,
}

impl Pending {
    /// Opens a question; `None` when too many are open.
    pub(crate) fn open(&self, id: String, principal: &str) -> Option<Latch<Answer>> {
        let mut questions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if questions.len() >= OPEN_QUESTIONS {
            return None;
        }
        let answer = Latch::default();
        let question = Question {
            principal: principal.to_owned(),
            answer: answer.clone(),
        };
        questions.insert(id, question);
        Some(answer)
    }

    /// Hands an answer to its question. `false` when there is none of this id for this principal.
    pub(crate) fn deliver(&self, response: &ResponseMessage<'_>, principal: &str) -> bool {
        let Some(id) = borrow_str(response.id) else {
            return false;
        };
        let mut questions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = questions.get(id.as_ref());
        if asked.is_none_or(|question| question.principal != principal) {
            return false;
        }
        let Some(question) = questions.remove(id.as_ref()) else {
            return false;
        };
        let answer = response
            .outcome
            .map(RawValue::to_owned)
            .map_err(RawValue::to_owned);
        question.answer.set(answer)
    }

    /// Closes a question that nobody waits for any more.
    pub(crate) fn close(&self, id: &str) {
        let mut questions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        questions.remove(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(id: &str) -> Box<RawValue> {
        RawValue::from_string(format!("\"{id}\"")).unwrap()
    }

    #[test]
    fn only_the_same_principal_answers_a_question_and_only_once() {
        let pending = Pending::default();
        let latch = pending.open("q1".into(), "key_a").unwrap();
        let id = answer("q1");
        let result = answer("yes");
        let response = || ResponseMessage {
            id: &id,
            outcome: Ok(&result),
        };
        assert!(!pending.deliver(&response(), "key_b"));
        assert!(latch.value().is_none());
        assert!(pending.deliver(&response(), "key_a"));
        assert_eq!(latch.value().unwrap().unwrap().get(), "\"yes\"");
        assert!(!pending.deliver(&response(), "key_a"));
    }

    #[test]
    fn questions_are_bounded() {
        let pending = Pending::default();
        for n in 0..OPEN_QUESTIONS {
            assert!(pending.open(n.to_string(), "key").is_some());
        }
        assert!(pending.open("one more".into(), "key").is_none());
        pending.close("0");
        assert!(pending.open("one more".into(), "key").is_some());
    }
}
