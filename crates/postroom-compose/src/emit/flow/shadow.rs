//! Names that may mean two things.

use crate::{
    dialect::{Dialect, Frame, Reference, Refusal},
    model::Shape,
    scope::Found,
};

use super::Flow;

impl Flow<'_> {
    /// Mustache looks for a name in the innermost loop's element first and, where that lacks it, in
    /// what is around it: a name has to mean one thing in all of them.
    pub(super) fn shadowed(&self, path: &str) -> Option<Refusal> {
        if self.dialect != Dialect::Mustache || self.syntax.is_none() {
            return None;
        }
        let (name, up) = match self.frames.reference(path) {
            Reference::Root(path) => (path, self.frames.0.len()),
            Reference::Item { up, rest, .. } if !rest.is_empty() => (rest, up),
            _ => return None,
        };
        let head = name.split('.').next().unwrap_or(name);
        let own = self.frames.0.len() - up;
        for (index, frame) in self.frames.0.iter().enumerate() {
            let holder = match frame {
                Frame::Loop { name, .. } => name,
                Frame::Section(path) if self.is_object(path) => path,
                Frame::Section(_) => continue,
            };
            // The element that the name is of.
            if index + 1 == own {
                continue;
            }
            if self.may_have(holder, head) {
                return Some(Refusal(format!(
                    "`{path}` where `{holder}` may have a field `{head}` too"
                )));
            }
        }
        if own > 0 && self.scope.declares(head) {
            return Some(Refusal(format!(
                "`{path}` beside a variable `{head}`, which would stand where an element lacks it"
            )));
        }
        None
    }

    fn is_object(&self, path: &str) -> bool {
        matches!(self.scope.find(path), Found::Value(Shape::Object(_)))
    }

    /// Whether an element may have that field, as far as is known of it.
    fn may_have(&self, element: &str, field: &str) -> bool {
        match self.scope.find(element) {
            Found::Value(Shape::Object(fields)) => fields.iter().any(|(name, _)| name == field),
            Found::Value(Shape::Scalar(_) | Shape::List(_)) => false,
            _ => true,
        }
    }
}
