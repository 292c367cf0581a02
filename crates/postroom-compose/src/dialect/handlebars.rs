//! Handlebars, whose only condition is whether there is a value, and SendGrid's templates, which
//! have comparisons beside.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::model::{Filter, VariableType};

use super::{
    Atom, Borders, Branch, Context, Frames, Helper, Host, Logic, Loop, Refusal, Syntax, Test,
    Value,
    format::date_pattern,
    frames::{Frame, Reference},
    joined,
};

/// Handlebars or SendGrid.
pub(super) struct Handlebars {
    sendgrid: bool,
    /// Comparisons that Handlebars itself has not.
    helpers: BTreeSet<Helper>,
}

/// Words that the language or its helpers keep for themselves.
const RESERVED: &[&str] = &[
    "as",
    "blockHelperMissing",
    "each",
    "else",
    "equals",
    "false",
    "formatDate",
    "greaterThan",
    "helperMissing",
    "if",
    "insert",
    "lessThan",
    "log",
    "lookup",
    "notEquals",
    "null",
    "this",
    "true",
    "undefined",
    "unless",
    "with",
];

impl Handlebars {
    pub(super) fn of(host: &Host) -> Self {
        Self {
            sendgrid: false,
            helpers: host.helpers.clone(),
        }
    }

    pub(super) fn sendgrid() -> Self {
        Self {
            sendgrid: true,
            helpers: BTreeSet::new(),
        }
    }

    /// A helper comes before a variable or an element of its name.
    fn refuse_reserved(&self, path: &str) -> Result<(), Refusal> {
        super::refuse_reserved(path, RESERVED)?;
        let helpers: Vec<&str> = self.helpers.iter().map(|helper| helper.name()).collect();
        super::refuse_reserved(path, &helpers)
    }

    fn path(&self, path: &str, frames: &Frames) -> Result<String, Refusal> {
        let loops = frames
            .0
            .iter()
            .filter(|frame| matches!(frame, Frame::Loop { .. }))
            .count();
        Ok(match frames.reference(path) {
            Reference::Root(path) => {
                self.refuse_reserved(path)?;
                // Two loops over one list give one step up, so from further in the way is not counted.
                match loops {
                    0 => path.to_owned(),
                    1 => format!("../{path}"),
                    _ => format!("@root.{path}"),
                }
            }
            // Names of elements, which SendGrid does not have, need no steps.
            Reference::Item { name, rest: "", .. } if !self.sendgrid => name.to_owned(),
            Reference::Item { name, rest, .. } if !self.sendgrid => format!("{name}.{rest}"),
            Reference::Item {
                up: 0, rest: "", ..
            } => "this".to_owned(),
            Reference::Item { up: 0, rest, .. } => format!("this.{rest}"),
            Reference::Item { up, name, rest } => {
                self.steps_are_sure(frames, up, name)?;
                let rest = if rest.is_empty() { "this" } else { rest };
                format!("{}{rest}", "../".repeat(up))
            }
            Reference::Index(_) => {
                return Err(Refusal(
                    "positions in a loop, which it counts from 0".to_owned(),
                ));
            }
            Reference::First(place) => format!("@{}first", "../".repeat(place.loops_in)),
            Reference::Last(place) => format!("@{}last", "../".repeat(place.loops_in)),
        })
    }

    /// Two elements that are the same give one step up: a list inside must be one of an element.
    fn steps_are_sure(&self, frames: &Frames, up: usize, name: &str) -> Result<(), Refusal> {
        let begin = frames.0.len().saturating_sub(up);
        let nested = frames
            .0
            .iter()
            .enumerate()
            .skip(begin)
            .all(|(index, frame)| {
                let outer = frames.0.get(..index).unwrap_or_default().to_vec();
                match frame {
                    Frame::Loop { list, .. } => {
                        matches!(Frames(outer).reference(list), Reference::Item { up: 0, .. })
                    }
                    Frame::Section(_) => true,
                }
            });
        if nested {
            return Ok(());
        }
        Err(Refusal(format!(
            "`{name}` inside a loop over a list that is not its own"
        )))
    }

    /// A comparison; SendGrid has helpers of its own for equal, more and less.
    fn compare(&self, helper: Helper, path: &str, value: &Json) -> Result<Branch, Refusal> {
        let (name, swapped) = match helper {
            Helper::Eq => ("equals", false),
            Helper::Gt => ("greaterThan", false),
            Helper::Lte => ("greaterThan", true),
            Helper::Lt => ("lessThan", false),
            Helper::Gte => ("lessThan", true),
        };
        if !self.sendgrid && !self.helpers.contains(&helper) {
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
        if !self.sendgrid {
            return Ok(Branch {
                open: format!("{{{{#if ({} {path} {value})}}}}", helper.name()),
                middle: "{{else}}".to_owned(),
                close: "{{/if}}".to_owned(),
                ..Branch::default()
            });
        }
        Ok(Branch {
            open: format!("{{{{#{name} {path} {value}}}}}"),
            middle: "{{else}}".to_owned(),
            close: format!("{{{{/{name}}}}}"),
            swapped,
            ..Branch::default()
        })
    }
}

impl Syntax for Handlebars {
    fn value(&self, value: &Value<'_>, frames: &Frames) -> Result<String, Refusal> {
        let path = self.path(value.path, frames)?;
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
        Ok(if !value.context.is_html() || value.is_trusted() {
            format!("{{{{{{{path}}}}}}}")
        } else {
            format!("{{{{{path}}}}}")
        })
    }

    fn branch(&self, logic: &Logic, frames: &Frames) -> Result<Option<Branch>, Refusal> {
        let Logic::Atom(Atom { path: name, test }) = logic else {
            return Ok(None);
        };
        let path = self.path(name, frames)?;
        let branch = match test {
            Test::Exists | Test::Empty => Branch {
                open: format!("{{{{#if {path}}}}}"),
                middle: "{{else}}".to_owned(),
                close: "{{/if}}".to_owned(),
                swapped: *test == Test::Empty,
                ..Branch::default()
            },
            Test::Eq(value) => self.compare(Helper::Eq, &path, value)?,
            Test::Ne(value) => Branch {
                swapped: true,
                ..self.compare(Helper::Eq, &path, value)?
            },
            Test::Gt(value) => self.compare(Helper::Gt, &path, value)?,
            Test::Gte(value) => self.compare(Helper::Gte, &path, value)?,
            Test::Lt(value) => self.compare(Helper::Lt, &path, value)?,
            Test::Lte(value) => self.compare(Helper::Lte, &path, value)?,
            Test::Contains(_) | Test::Lacks(_) => {
                return Err(Refusal("the operator contains".to_owned()));
            }
        };
        Ok(Some(branch))
    }

    fn each(&self, list: &str, name: &str, frames: &Frames) -> Result<Loop, Refusal> {
        let list = self.path(list, frames)?;
        self.refuse_reserved(name)?;
        let named = if self.sendgrid {
            String::new()
        } else {
            format!(" as |{name}|")
        };
        Ok(Loop {
            open: format!("{{{{#each {list}{named}}}}}"),
            middle: "{{else}}".to_owned(),
            close: "{{/each}}".to_owned(),
            end: "{{/each}}".to_owned(),
        })
    }

    fn literal(&self, text: &str, borders: Borders) -> String {
        let mut text = if self.sendgrid {
            joined(text, borders)
        } else {
            braced(text, borders)
        };
        // A backslash before a tag would make it text; two are one.
        if borders.before_tag && text.ends_with('\\') {
            text.push('\\');
        }
        text
    }

    fn before_values(&self) -> &'static str {
        // Two numbers with nothing before them would be added.
        if self.sendgrid {
            "\u{2060}"
        } else {
            "{{lookup \"\" 0}}"
        }
    }

    fn takes_lines(&self) -> bool {
        true
    }

    fn takes_default(&self, value: &Value<'_>) -> bool {
        self.sendgrid && value.context == Context::Text && value.filter.is_none()
    }
}

/// Text whose braces are none of the language's. Where an escape cannot say a brace, because there is
/// a backslash before it or a tag right beside it, it is looked up in a string.
fn braced(text: &str, borders: Borders) -> String {
    const OPENING: &str = "{{lookup \"{\" 0}}";
    const CLOSING: &str = "{{lookup \"}\" 0}}";
    let mut out = String::with_capacity(text.len());
    let mut after_tag = borders.after_tag;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (kept, taken) = match c {
            '{' if rest.starts_with("{{") && out.ends_with('\\') => {
                out.push('\\');
                (OPENING, 1)
            }
            '{' if rest.starts_with("{{") => ("\\{{", 2),
            '{' if rest.len() == 1 && borders.before_tag => {
                if out.ends_with('\\') {
                    out.push('\\');
                }
                (OPENING, 1)
            }
            '}' if after_tag => (CLOSING, 1),
            c => (rest.get(..c.len_utf8()).unwrap_or_default(), c.len_utf8()),
        };
        out.push_str(kept);
        after_tag = kept == CLOSING || kept == OPENING;
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
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
