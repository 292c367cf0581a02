//! Conditions, as tags of a dialect or carried out.

use super::{Body, Flow, Sink};
use crate::{
    dialect::{self, Atom, Frame, Logic, Refusal, Test},
    model::{Condition, VariableType},
};

/// Tests of a condition that is taken apart for a language without `and` and `or`; its branches are
/// repeated, at worst once for each.
const APART_MAX: usize = 6;

impl<'a> Flow<'a> {
    /// Writes what depends on a condition.
    pub(in crate::emit) fn branch<S: Sink>(
        &mut self,
        sink: &mut S,
        condition: &Condition,
        then: Body<'_, 'a, S>,
        otherwise: Option<Body<'_, 'a, S>>,
    ) {
        self.when(sink, &Logic::of(condition), then, otherwise);
    }

    pub(super) fn when<S: Sink>(
        &mut self,
        sink: &mut S,
        logic: &Logic,
        then: Body<'_, 'a, S>,
        otherwise: Option<Body<'_, 'a, S>>,
    ) {
        let known = match logic {
            Logic::Constant(value) => Some(*value),
            logic if self.syntax.is_none() => Some(dialect::holds(logic, &|path| self.find(path))),
            _ => None,
        };
        if let Some(holds) = known {
            let has_tags = !matches!(logic, Logic::Constant(_));
            if has_tags {
                sink.seam();
            }
            if holds {
                then(self, sink);
            } else if let Some(otherwise) = otherwise {
                otherwise(self, sink);
            }
            if has_tags {
                sink.seam();
            }
            return;
        }
        let Some(syntax) = self.syntax else { return };
        if let Logic::Atom(atom) = logic
            && let Some(refusal) = self.shadowed(&atom.path)
        {
            self.refuse(&refusal);
            return;
        }
        match syntax.branch(logic, &self.frames) {
            Ok(Some(tags)) => self.tagged(sink, logic, &tags, then, otherwise),
            Ok(None) if logic.len() <= APART_MAX && self.budget.apart() => {
                self.apart(sink, logic, then, otherwise);
            }
            Ok(None) => {
                let message = format!(
                    "a condition of more than {APART_MAX} parts, or more of them than can be taken apart"
                );
                self.refuse(&Refusal(message));
            }
            Err(refusal) => self.refuse(&refusal),
        }
    }

    /// A condition that the language has tags for.
    fn tagged<S: Sink>(
        &mut self,
        sink: &mut S,
        logic: &Logic,
        tags: &dialect::Branch,
        then: Body<'_, 'a, S>,
        otherwise: Option<Body<'_, 'a, S>>,
    ) {
        let nothing: Body<'_, 'a, S> = &|_, _| {};
        let otherwise = otherwise.unwrap_or(nothing);
        let (first, second) = if tags.swapped {
            (otherwise, then)
        } else {
            (then, otherwise)
        };
        let mut inside = sink.empty();
        let entered = match logic {
            Logic::Atom(atom) if tags.enters => Some(Frame::Section(atom.path.clone())),
            _ => None,
        };
        let enters = entered.is_some();
        self.frames.0.extend(entered);
        first(self, &mut inside);
        if enters {
            self.frames.0.pop();
        }
        let mut outside = sink.empty();
        second(self, &mut outside);
        if let Some((open, close)) = &tags.second {
            if !inside.is_empty() {
                if self.is_list(logic) {
                    let list = "whether a list holds something (what follows would be repeated)";
                    self.refuse(&Refusal(list.to_owned()));
                }
                sink.tag(&tags.open);
                sink.append(inside);
                sink.tag(&tags.close);
            }
            if !outside.is_empty() {
                sink.tag(open);
                sink.append(outside);
                sink.tag(close);
            }
            return;
        }
        sink.tag(&tags.open);
        sink.append(inside);
        if !outside.is_empty() {
            sink.tag(&tags.middle);
            sink.append(outside);
        }
        sink.tag(&tags.close);
    }

    fn is_list(&self, logic: &Logic) -> bool {
        match logic {
            Logic::Atom(Atom {
                path,
                test: Test::Exists | Test::Empty,
            }) => self.scope.kind(path) == Some(VariableType::List),
            _ => false,
        }
    }

    /// A condition that the language has no tags for, as one branch inside another.
    fn apart<S: Sink>(
        &mut self,
        sink: &mut S,
        logic: &Logic,
        then: Body<'_, 'a, S>,
        otherwise: Option<Body<'_, 'a, S>>,
    ) {
        let (parts, all) = match logic {
            Logic::All(parts) => (parts, true),
            Logic::Any(parts) => (parts, false),
            Logic::Atom(_) | Logic::Constant(_) => {
                self.refuse(&Refusal("this condition".to_owned()));
                return;
            }
        };
        let Some((first, rest)) = parts.split_first() else {
            return;
        };
        let rest = match (rest, all) {
            ([], value) => Logic::Constant(value),
            ([one], _) => one.clone(),
            (more, true) => Logic::All(more.to_vec()),
            (more, false) => Logic::Any(more.to_vec()),
        };
        let next: Body<'_, 'a, S> = &|flow, sink| flow.when(sink, &rest, then, otherwise);
        if all {
            self.when(sink, first, next, otherwise);
        } else {
            self.when(sink, first, then, Some(next));
        }
    }
}
