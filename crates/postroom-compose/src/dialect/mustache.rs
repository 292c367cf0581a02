//! Mustache, and Postmark's Mustachio, which looks alike but loops with `each` and makes paths
//! inside a section relative to its value.

use crate::model::VariableType;

use super::{
    Atom, Borders, Branch, Frames, Logic, Loop, Refusal, Syntax, Test, Value,
    frames::{Frame, Reference},
    guarded, joined,
};

/// Mustache or Postmark.
pub(super) struct Mustache {
    postmark: bool,
}

pub(super) const MUSTACHE: Mustache = Mustache { postmark: false };
pub(super) const POSTMARK: Mustache = Mustache { postmark: true };

impl Mustache {
    fn path(&self, path: &str, frames: &Frames) -> Result<String, Refusal> {
        let ups = |count: usize| {
            if self.postmark {
                "../".repeat(count)
            } else {
                String::new()
            }
        };
        // The value of the section itself.
        if matches!(frames.0.last(), Some(Frame::Section(entered)) if entered == path) {
            return Ok(".".to_owned());
        }
        Ok(match frames.reference(path) {
            Reference::Root(path) => format!("{}{path}", ups(frames.0.len())),
            Reference::Item {
                up: 0, rest: "", ..
            } => ".".to_owned(),
            Reference::Item { up, rest: "", .. } if self.postmark => {
                ups(up).trim_end_matches('/').to_owned()
            }
            Reference::Item { name, rest: "", .. } => {
                return Err(Refusal(format!("the element `{name}` of an outer loop")));
            }
            Reference::Item { up, rest, .. } => format!("{}{rest}", ups(up)),
            Reference::Index(place) | Reference::First(place) | Reference::Last(place) => {
                return Err(Refusal(format!(
                    "the position of `{}` in its loop",
                    place.name
                )));
            }
        })
    }
}

impl Syntax for Mustache {
    fn value(&self, value: &Value<'_>, frames: &Frames) -> Result<String, Refusal> {
        if let Some(filter) = value.filter {
            return Err(Refusal(format!("the filter {}", filter.name())));
        }
        let unreserved = matches!(value.kind, Some(VariableType::Number | VariableType::Bool));
        if value.context.is_part() && !unreserved {
            let part = "a variable inside a URL, which it cannot percent-encode";
            return Err(Refusal(part.to_owned()));
        }
        let path = self.path(value.path, frames)?;
        Ok(if value.context.is_html() && !value.is_trusted() {
            format!("{{{{{path}}}}}")
        } else {
            format!("{{{{{{{path}}}}}}}")
        })
    }

    fn branch(&self, logic: &Logic, frames: &Frames) -> Result<Option<Branch>, Refusal> {
        let Logic::Atom(Atom { path: name, test }) = logic else {
            return Ok(None);
        };
        let swapped = match test {
            Test::Exists => false,
            Test::Empty => true,
            Test::Contains(_) | Test::Lacks(_) => {
                return Err(Refusal("the operator contains".to_owned()));
            }
            _ => {
                let hint = "a comparison (it knows only whether there is a value)";
                return Err(Refusal(hint.to_owned()));
            }
        };
        let path = self.path(name, frames)?;
        let close = format!("{{{{/{path}}}}}");
        Ok(Some(Branch {
            open: format!("{{{{#{path}}}}}"),
            close: close.clone(),
            second: Some((format!("{{{{^{path}}}}}"), close)),
            swapped,
            enters: true,
            ..Branch::default()
        }))
    }

    fn each(&self, list: &str, _: &str, frames: &Frames) -> Result<Loop, Refusal> {
        let path = self.path(list, frames)?;
        let (open, end) = if self.postmark {
            (format!("{{{{#each {path}}}}}"), "{{/each}}".to_owned())
        } else {
            (format!("{{{{#{path}}}}}"), format!("{{{{/{path}}}}}"))
        };
        Ok(Loop {
            open,
            middle: format!("{end}{{{{^{path}}}}}"),
            close: format!("{{{{/{path}}}}}"),
            end,
        })
    }

    fn literal(&self, text: &str, borders: Borders) -> String {
        if self.postmark {
            return joined(text, borders);
        }
        // Other marks are set while a brace is written.
        let marks = [("{{", "{{=<% %>=}}{{<%={{ }}=%>")];
        let end = ("{", "{{=<% %>=}}{<%={{ }}=%>");
        let text = guarded(text, &marks, end, borders);
        if borders.after_tag && text.starts_with('}') {
            format!(
                "{{{{=<% %>=}}}}}}<%={{{{ }}}}=%>{}",
                text.get(1..).unwrap_or_default()
            )
        } else {
            text
        }
    }

    fn takes_lines(&self) -> bool {
        true
    }

    fn takes_default(&self, _: &Value<'_>) -> bool {
        false
    }
}
