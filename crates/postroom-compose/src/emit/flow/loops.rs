//! Loops, as tags of a dialect or carried out.

use serde_json::Value as Json;

use super::{Body, Flow, Round, Sink};
use crate::{
    Code, Issue,
    dialect::{Frame, lookup},
    emit::budget::weight,
    model::Each,
};

impl<'a> Flow<'a> {
    /// Writes what is repeated for a list.
    pub(in crate::emit) fn each<S: Sink>(
        &mut self,
        sink: &mut S,
        each: &'a Each,
        body: Body<'_, 'a, S>,
        empty: Option<Body<'_, 'a, S>>,
    ) {
        let Some(syntax) = self.syntax else {
            self.rounds_of(sink, each, body, empty);
            return;
        };
        let tags = match self
            .shadowed(&each.list)
            .map_or_else(|| syntax.each(&each.list, &each.name, &self.frames), Err)
        {
            Ok(tags) => tags,
            Err(refusal) => {
                self.refuse(&refusal);
                return;
            }
        };
        sink.tag(&tags.open);
        self.frames.0.push(Frame::Loop {
            name: each.name.clone(),
            list: each.list.clone(),
        });
        self.scope.enter(each);
        body(self, sink);
        self.scope.leave();
        self.frames.0.pop();
        let mut nothing = sink.empty();
        if let Some(empty) = empty {
            empty(self, &mut nothing);
        }
        if nothing.is_empty() {
            sink.tag(&tags.end);
        } else {
            sink.tag(&tags.middle);
            sink.append(nothing);
            sink.tag(&tags.close);
        }
    }

    fn rounds_of<S: Sink>(
        &mut self,
        sink: &mut S,
        each: &'a Each,
        body: Body<'_, 'a, S>,
        empty: Option<Body<'_, 'a, S>>,
    ) {
        let items = self.list(&each.list);
        sink.seam();
        if items.is_empty() {
            if let Some(empty) = empty {
                empty(self, sink);
                sink.seam();
            }
            return;
        }
        self.scope.enter(each);
        let weight = weight(&each.children);
        for (index, item) in items.iter().enumerate() {
            if !self.budget.round(weight) {
                let message =
                    "The samples repeat more than a mail can hold; the rest is not shown.";
                self.tell(Issue::new(Code::LoopSizeUnknown, self.source, message));
                break;
            }
            self.rounds.push(Round {
                name: &each.name,
                item,
                index,
                len: items.len(),
            });
            body(self, sink);
            sink.seam();
            self.rounds.pop();
        }
        self.scope.leave();
    }

    fn list(&self, path: &str) -> &'a [Json] {
        let (head, rest) = path.split_once('.').unwrap_or((path, ""));
        let found = match self.rounds.iter().rev().find(|round| round.name == head) {
            Some(round) => lookup(round.item, rest),
            None => lookup(self.data, path),
        };
        let items = found.and_then(Json::as_array).map(Vec::as_slice);
        let items = items.unwrap_or_default();
        items
            .get(..items.len().min(postroom_types::limit::COMPOSE_SAMPLE_ITEMS))
            .unwrap_or_default()
    }
}
