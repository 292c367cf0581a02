//! Handlebars, whose only condition is whether there is a value, and SendGrid's templates, which
//! have comparisons beside.

use serde_json::Value as Json;

use crate::model::{Filter, VariableType};

use super::{
    Atom, Branch, Context, Frames, Logic, Loop, Refusal, Syntax, Test, Value,
    format::date_pattern,
    frames::{Frame, Reference},
    guarded,
};

/// Handlebars or SendGrid.
pub(super) struct Handlebars {
    sendgrid: bool,
}

pub(super) const HANDLEBARS: Handlebars = Handlebars { sendgrid: false };
pub(super) const SENDGRID: Handlebars = Handlebars { sendgrid: true };

fn path(path: &str, frames: &Frames) -> Result<String, Refusal> {
    let loops = frames
        .0
        .iter()
        .filter(|frame| matches!(frame, Frame::Loop { .. }))
        .count();
    Ok(match frames.reference(path) {
        // Two loops over one list give one step up, so from further in the way is not counted.
        Reference::Root(path) if loops > 1 => format!("@root.{path}"),
        Reference::Root(path) => format!("{}{path}", "../".repeat(loops)),
        Reference::Item {
            up: 0, rest: "", ..
        } => "this".to_owned(),
        Reference::Item { up: 0, rest, .. } => format!("this.{rest}"),
        Reference::Item { up, rest: "", .. } => format!("{}this", "../".repeat(up)),
        Reference::Item { up, rest, .. } => format!("{}{rest}", "../".repeat(up)),
        Reference::Index(_) => {
            return Err(Refusal(
                "positions in a loop, which it counts from 0".to_owned(),
            ));
        }
        Reference::First(place) => format!("@{}first", "../".repeat(place.loops_in)),
        Reference::Last(place) => format!("@{}last", "../".repeat(place.loops_in)),
    })
}

impl Handlebars {
    fn compare(
        &self,
        helper: &str,
        path: &str,
        value: &Json,
        swapped: bool,
    ) -> Result<Branch, Refusal> {
        if !self.sendgrid {
            let hint = "a comparison (it knows only whether there is a value)";
            return Err(Refusal(hint.to_owned()));
        }
        let value = match value {
            Json::String(text)
                if text.contains(['\'', '"', '\\', '<', '>', '&', '{', '}', '\n']) =>
            {
                return Err(Refusal(format!("a comparison with {text:?}")));
            }
            Json::String(text) => format!("'{text}'"),
            other => other.to_string(),
        };
        Ok(Branch {
            open: format!("{{{{#{helper} {path} {value}}}}}"),
            middle: "{{else}}".to_owned(),
            close: format!("{{{{/{helper}}}}}"),
            swapped,
            ..Branch::default()
        })
    }
}

impl Syntax for Handlebars {
    fn value(&self, value: &Value<'_>, frames: &Frames) -> Result<String, Refusal> {
        let path = path(value.path, frames)?;
        if let (Some(Filter::Date(pattern)), true) = (value.filter, self.sendgrid) {
            let words = date_pattern(pattern, moment, str::to_owned);
            let words = words.ok_or_else(|| Refusal(format!("the date pattern {pattern:?}")))?;
            return Ok(format!("{{{{formatDate {path} '{words}'}}}}"));
        }
        if let Some(filter) = value.filter {
            return Err(Refusal(format!("the filter {}", filter.name())));
        }
        let unreserved = matches!(value.kind, Some(VariableType::Number | VariableType::Bool));
        if value.context.is_part() && !unreserved {
            let part = "a variable inside a URL, which it cannot percent-encode";
            return Err(Refusal(part.to_owned()));
        }
        if let Some(default) = value.default {
            return Ok(format!("{{{{insert {path} \"default={default}\"}}}}"));
        }
        // A declared URL holds nothing to escape; escaped, its `=` would become an entity.
        let url = value.context == Context::Url && value.kind == Some(VariableType::Url);
        Ok(if url || !value.context.is_html() || value.is_trusted() {
            format!("{{{{{{{path}}}}}}}")
        } else {
            format!("{{{{{path}}}}}")
        })
    }

    fn branch(&self, logic: &Logic, frames: &Frames) -> Result<Option<Branch>, Refusal> {
        let Logic::Atom(Atom { path: name, test }) = logic else {
            return Ok(None);
        };
        let path = path(name, frames)?;
        let branch = match test {
            Test::Exists | Test::Empty => Branch {
                open: format!("{{{{#if {path}}}}}"),
                middle: "{{else}}".to_owned(),
                close: "{{/if}}".to_owned(),
                swapped: *test == Test::Empty,
                ..Branch::default()
            },
            Test::Eq(value) => self.compare("equals", &path, value, false)?,
            Test::Ne(value) => self.compare("equals", &path, value, true)?,
            Test::Gt(value) => self.compare("greaterThan", &path, value, false)?,
            Test::Lte(value) => self.compare("greaterThan", &path, value, true)?,
            Test::Lt(value) => self.compare("lessThan", &path, value, false)?,
            Test::Gte(value) => self.compare("lessThan", &path, value, true)?,
            Test::Contains(_) | Test::Lacks(_) => {
                return Err(Refusal("the operator contains".to_owned()));
            }
        };
        Ok(Some(branch))
    }

    fn each(&self, list: &str, _: &str, frames: &Frames) -> Result<Loop, Refusal> {
        Ok(Loop {
            open: format!("{{{{#each {}}}}}", path(list, frames)?),
            middle: "{{else}}".to_owned(),
            close: "{{/each}}".to_owned(),
            end: "{{/each}}".to_owned(),
        })
    }

    fn literal(&self, text: &str, before_tag: bool) -> String {
        let text = if before_tag && text.ends_with('\\') {
            format!("{text}\\")
        } else {
            text.to_owned()
        };
        // After a backslash the sign of an escape would itself be escaped.
        let marks = [("\\{{", "\\{\u{2060}"), ("{{", "\\{{")];
        guarded(&text, &marks, before_tag, ("{", "{\u{2060}"))
    }

    fn takes_default(&self, value: &Value<'_>) -> bool {
        self.sendgrid && value.context == Context::Text && value.filter.is_none()
    }
}

fn moment(word: &str) -> Option<&'static str> {
    Some(match word {
        "yyyy" => "YYYY",
        "yy" => "YY",
        "MMMM" => "MMMM",
        "MMM" => "MMM",
        "MM" => "MM",
        "M" => "M",
        "EEEE" => "dddd",
        "EEE" => "ddd",
        "dd" => "DD",
        "d" => "D",
        "HH" => "HH",
        "H" => "H",
        "hh" => "hh",
        "h" => "h",
        "mm" => "mm",
        "ss" => "ss",
        "a" => "A",
        _ => return None,
    })
}
