//! What each language can say, asked of the languages themselves.

use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::model::{Condition, Filter, Operator, VariableType};

use super::{Context, Dialect, Frame, Frames, Host, Logic, Syntax, Value};

/// What a language can say of what documents say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// Name of the dialect.
    pub dialect: &'static str,
    /// Whose it is, and what senders have to know.
    pub about: &'static str,
    /// Filters, by name.
    pub filters: Vec<&'static str>,
    /// Operators of conditions, by name.
    pub operators: Vec<&'static str>,
    /// `each` works.
    pub loops: bool,
    /// `NAME.index` works.
    pub index: bool,
    /// `NAME.first` and `NAME.last` work.
    pub ends: bool,
    /// Variables inside a URL are percent-encoded; else a URL has to be one variable.
    pub url_parts: bool,
    /// Line ends of a value in the subject become blanks; else the sender has to take them out.
    pub one_line: bool,
    /// Its own token for the address where readers unsubscribe; else the variable
    /// `unsubscribe_url`.
    pub unsubscribe: Option<&'static str>,
    /// How a value, a condition and a loop are written.
    pub example: String,
}

/// Every dialect.
#[must_use]
pub fn facts() -> Vec<Facts> {
    Dialect::NAMES
        .iter()
        .map(|(_, dialect)| of(*dialect))
        .collect()
}

fn of(dialect: Dialect) -> Facts {
    let Some(syntax) = dialect.syntax(&Host::default()) else {
        return Facts {
            dialect: dialect.name(),
            about: about(dialect),
            filters: filters().iter().map(Filter::name).collect(),
            operators: Operator::NAMES.iter().map(|(name, _)| *name).collect(),
            loops: true,
            index: true,
            ends: true,
            url_parts: true,
            one_line: true,
            unsubscribe: None,
            example: "Values are the samples; conditions and loops are carried out.".to_owned(),
        };
    };
    let syntax = syntax.as_ref();
    let outside = Frames::default();
    let inside = Frames(vec![Frame::Loop {
        name: "item".to_owned(),
        list: "items".to_owned(),
    }]);
    let says = |path: &str, filter: Option<&Filter>, context, frames: &Frames| {
        let value = Value {
            path,
            kind: Some(VariableType::String),
            default: None,
            filter,
            context,
            in_query: true,
        };
        syntax.value(&value, frames)
    };
    let known = filters()
        .into_iter()
        .filter(|filter| says("v", Some(filter), Context::Text, &outside).is_ok());
    let operators = Operator::NAMES
        .iter()
        .filter(|(_, operator)| tests(syntax, *operator));
    Facts {
        dialect: dialect.name(),
        about: about(dialect),
        filters: known.map(|filter| filter.name()).collect(),
        operators: operators.map(|(name, _)| *name).collect(),
        loops: syntax.each("items", "item", &outside).is_ok(),
        index: says("item.index", None, Context::Text, &inside).is_ok(),
        ends: syntax.branch(&Logic::exists("item.last"), &inside).is_ok(),
        url_parts: says("v", None, Context::UrlPart, &outside).is_ok(),
        one_line: says("v", None, Context::Line, &outside)
            != says("v", None, Context::Plain, &outside),
        unsubscribe: dialect.unsubscribe_token(),
        example: example(syntax),
    }
}

fn filters() -> Vec<Filter> {
    vec![
        Filter::Upper,
        Filter::Lower,
        Filter::Title,
        Filter::Trim,
        Filter::Date("d MMMM yyyy".to_owned()),
        Filter::Number("0.00".to_owned()),
        Filter::Money("EUR".to_owned()),
        Filter::Truncate(20),
        Filter::UrlEncode,
    ]
}

/// Whether a condition with that operator can be said, as one tag or taken apart.
fn tests(syntax: &dyn Syntax, operator: Operator) -> bool {
    let value = match operator {
        Operator::Exists | Operator::Empty => Json::Null,
        Operator::In => json!(["a"]),
        Operator::Gt | Operator::Gte | Operator::Lt | Operator::Lte => json!(1),
        _ => json!("a"),
    };
    let condition = Condition::Test {
        variable: "v".to_owned(),
        operator,
        value,
    };
    syntax
        .branch(&Logic::of(&condition), &Frames::default())
        .is_ok()
}

fn example(syntax: &dyn Syntax) -> String {
    let outside = Frames::default();
    let value = Value {
        path: "user.name",
        kind: Some(VariableType::String),
        default: None,
        filter: None,
        context: Context::Text,
        in_query: false,
    };
    let mut out = syntax.value(&value, &outside).unwrap_or_default();
    if let Ok(Some(branch)) = syntax.branch(&Logic::exists("plan"), &outside) {
        let middle = branch
            .second
            .map_or(branch.middle, |(open, _)| format!("{}{open}", branch.close));
        out.push_str(&format!(" {}…{middle}…{}", branch.open, branch.close));
    }
    if let Ok(tags) = syntax.each("items", "item", &outside) {
        out.push_str(&format!(" {}…{}", tags.open, tags.end));
    }
    out
}

fn about(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Jinja2 => "Jinja2, with autoescape on or off. Dates are date objects.",
        Dialect::Liquid => {
            "Liquid. Values are escaped by the template; leave outputEscape of the engine off."
        }
        Dialect::Handlebars => {
            "Handlebars without helpers: conditions know only whether there is a value."
        }
        Dialect::SendGrid => "Dynamic templates of SendGrid.",
        Dialect::Mustache => {
            "Mustache: conditions know only whether there is a value; names that an element of a list may hide, or that it may lack, are refused."
        }
        Dialect::Postmark => "Templates of Postmark (Mustachio).",
        Dialect::Go => {
            "text/template of Go (html/template removes the Outlook comments). Data as JSON is read: maps, float64; dates are time.Time."
        }
        Dialect::Erb => {
            "ERB of Ruby. Variables are locals, fields are looked up with [:name]; dates answer strftime."
        }
        Dialect::Mailchimp => {
            "Merge tags of Mailchimp. A field is the last part of a name in capitals, up to 10 characters; first_name is FNAME."
        }
        Dialect::Klaviyo => "Klaviyo, whose templates are Django's.",
        Dialect::None => "No language: what a reader would get with the samples.",
    }
}
