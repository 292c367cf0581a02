//! Merge tags of Mailchimp: one flat list of fields with short names, and no loops.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::model::Filter;

use super::{
    Atom, Borders, Branch, Frames, Host, JOINER, Logic, Loop, Refusal, Syntax, Test, Value,
    frames::Reference,
};

/// Longest name of a merge field.
const FIELD_CHARS: usize = 10;

pub(super) struct Mailchimp {
    /// Fields by path of the variable.
    fields: BTreeMap<String, String>,
}

impl Mailchimp {
    pub(super) fn of(host: &Host) -> Self {
        Self {
            fields: host.merge_fields.clone(),
        }
    }

    /// The merge field of a variable: the one that the host calls it by, else its last part in
    /// capitals, as long as fields may be.
    fn field(&self, path: &str, frames: &Frames) -> Result<String, Refusal> {
        let Reference::Root(path) = frames.reference(path) else {
            return Err(Refusal("loops".to_owned()));
        };
        if let Some(field) = self.fields.get(path) {
            let of_field = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
            let named = field.chars().all(of_field) && (1..=FIELD_CHARS).contains(&field.len());
            return if named {
                Ok(field.clone())
            } else {
                Err(Refusal(format!("a merge field called {field:?}")))
            };
        }
        let last = path.rsplit('.').next().unwrap_or(path).to_ascii_uppercase();
        let known = match last.as_str() {
            "FIRST_NAME" | "FIRSTNAME" => "FNAME",
            "LAST_NAME" | "LASTNAME" => "LNAME",
            other => other,
        };
        if known.len() > FIELD_CHARS {
            return Err(Refusal(format!(
                "a name of more than {FIELD_CHARS} characters, `{last}`"
            )));
        }
        Ok(known.to_owned())
    }
}

impl Syntax for Mailchimp {
    fn value(&self, value: &Value<'_>, frames: &Frames) -> Result<String, Refusal> {
        let field = self.field(value.path, frames)?;
        let modifier = match value.filter {
            None => "",
            Some(Filter::Upper) => "UPPER:",
            Some(Filter::Lower) => "LOWER:",
            Some(Filter::Title) => "TITLE:",
            Some(Filter::UrlEncode) => "URL:",
            Some(other) => return Err(Refusal(format!("the filter {}", other.name()))),
        };
        let modifier = if value.context.is_part() {
            "URL:"
        } else {
            modifier
        };
        Ok(format!("*|{modifier}{field}|*"))
    }

    fn branch(&self, logic: &Logic, frames: &Frames) -> Result<Option<Branch>, Refusal> {
        let Logic::Atom(Atom { path, test }) = logic else {
            return Ok(None);
        };
        let field = self.field(path, frames)?;
        let compared = |sign: &str, value: &Json| match value {
            Json::String(text) if !text.contains(['|', '*', '"', '<', '>', '&', '\n']) => {
                Ok(format!("{field} {sign} {text}"))
            }
            Json::Number(number) => Ok(format!("{field} {sign} {number}")),
            other => Err(Refusal(format!("a comparison with {other}"))),
        };
        let (condition, swapped) = match test {
            Test::Exists => (field.clone(), false),
            Test::Empty => (field.clone(), true),
            Test::Eq(value) => (compared("=", value)?, false),
            Test::Ne(value) => (compared("!=", value)?, false),
            Test::Gt(value) => (compared(">", value)?, false),
            Test::Gte(value) => (compared(">=", value)?, false),
            Test::Lt(value) => (compared("<", value)?, false),
            Test::Lte(value) => (compared("<=", value)?, false),
            Test::Contains(_) | Test::Lacks(_) => {
                return Err(Refusal("the operator contains".to_owned()));
            }
        };
        // A sign of a comparison would be a tag to whoever reads the HTML before Mailchimp does.
        let condition = condition.replace('<', "&lt;").replace('>', "&gt;");
        Ok(Some(Branch {
            open: format!("*|IF:{condition}|*"),
            middle: "*|ELSE:|*".to_owned(),
            close: "*|END:IF|*".to_owned(),
            swapped,
            ..Branch::default()
        }))
    }

    fn each(&self, _: &str, _: &str, _: &Frames) -> Result<Loop, Refusal> {
        Err(Refusal("loops".to_owned()))
    }

    fn literal(&self, text: &str, borders: Borders) -> String {
        let mut out = String::with_capacity(text.len());
        // The asterisk that ends a tag would begin another.
        let mut last = if borders.after_tag { '*' } else { ' ' };
        for c in text.chars() {
            if matches!((last, c), ('*', '|') | ('|', '*')) {
                out.push(JOINER);
            }
            out.push(c);
            last = c;
        }
        if borders.before_tag && last == '|' {
            out.push(JOINER);
        }
        out
    }

    fn takes_default(&self, _: &Value<'_>) -> bool {
        false
    }
}
