//! Liquid: conditions without brackets, read from the right, and strings without escapes.

use serde_json::Value as Json;

use crate::model::{Filter, VariableType};

use super::{
    Atom, Borders, Branch, Context, Frames, Host, Logic, Loop, Refusal, Syntax, Test, Value,
    format::{date_pattern, strftime},
    frames::Reference,
    guarded,
};

pub(super) struct Liquid {
    /// The engine escapes what stands in HTML.
    host_escapes: bool,
}

impl Liquid {
    pub(super) fn of(host: &Host) -> Self {
        Self {
            host_escapes: host.escapes,
        }
    }
}

/// Percent-encoding, of which engines leave different signs out; an apostrophe cannot be said but as
/// an entity.
const ENCODED: &str = " | url_encode | replace: '+', '%20' | replace: '*', '%2A' | replace: '!', '%21' | replace: '(', '%28' | replace: ')', '%29' | escape | replace: '&#39;', '%27'";

/// Words of conditions, and names that loops give.
const RESERVED: &[&str] = &[
    "and", "blank", "contains", "empty", "false", "forloop", "nil", "null", "or", "true",
];

fn path(path: &str, frames: &Frames) -> Result<String, Refusal> {
    super::refuse_reserved(path, RESERVED)?;
    let place = |place: super::frames::Place<'_>, field: &str| {
        if place.loops_in > 0 {
            return Err(Refusal(format!(
                "`{}.{field}` of an outer loop",
                place.name
            )));
        }
        Ok(format!("forloop.{field}"))
    };
    match frames.reference(path) {
        Reference::Root(path) => Ok(path.to_owned()),
        Reference::Item { name, rest: "", .. } => Ok(name.to_owned()),
        Reference::Item { name, rest, .. } => Ok(format!("{name}.{rest}")),
        Reference::Index(at) => place(at, "index"),
        Reference::First(at) => place(at, "first"),
        Reference::Last(at) => place(at, "last"),
    }
}

fn filters(value: &Value<'_>) -> Result<String, Refusal> {
    let one = |filter: String| Ok(filter);
    let Some(filter) = value.filter else {
        return one(String::new());
    };
    match filter {
        Filter::Upper => one(" | upcase".to_owned()),
        Filter::Lower => one(" | downcase".to_owned()),
        Filter::Title => Err(Refusal("the filter title".to_owned())),
        Filter::Trim => one(" | strip".to_owned()),
        Filter::Truncate(len) => one(format!(" | truncate: {len}, '…'")),
        Filter::UrlEncode => one(ENCODED.to_owned()),
        Filter::Date(pattern) => {
            let words = date_pattern(pattern, strftime, str::to_owned);
            let words = words.ok_or_else(|| Refusal(format!("the date pattern {pattern:?}")))?;
            one(format!(" | date: '{words}'"))
        }
        // Written by `number`.
        Filter::Number(_) | Filter::Money(_) => Ok(String::new()),
    }
}

/// A number rounded, with its decimals, which Liquid does not fill up with zeros. Division and the
/// rest are of the amount without its sign: Liquid rounds them down.
fn number(path: &str, sign: &str, decimals: usize) -> String {
    let zeros = "0".repeat(decimals);
    let amount = format!(
        "{path} | abs | times: 1{zeros}.{:0>width$} | round",
        4,
        width = 16 - decimals
    );
    let digits = if decimals == 0 {
        "{{ pr_n }}".to_owned()
    } else {
        format!(
            "{{{{ pr_n | divided_by: 1{zeros} | floor }}}}.{{{{ pr_n | modulo: 1{zeros} | prepend: '{zeros}' | slice: -{decimals}, {decimals} }}}}"
        )
    };
    format!(
        "{{% if {path} != nil and {path} != '' %}}{{% assign pr_n = {amount} %}}\
         {{% assign pr_s = {path} | times: 1 | append: '' | slice: 0 %}}{sign}\
         {{% if pr_s == '-' and pr_n != 0 %}}-{{% endif %}}{digits}{{% endif %}}"
    )
}

fn expression(logic: &Logic, frames: &Frames) -> Result<Option<String>, Refusal> {
    let (parts, word) = match logic {
        Logic::Constant(value) => return Ok(Some(value.to_string())),
        Logic::Atom(atom) => return self::atom(atom, frames),
        Logic::All(parts) => (parts, " and "),
        Logic::Any(parts) => (parts, " or "),
    };
    let mut written = Vec::new();
    for part in parts {
        let Logic::Atom(atom) = part else {
            return Ok(None);
        };
        match self::atom(atom, frames)? {
            // `x and x != ''` beside an `or` would be read from the right.
            Some(text) if word == " and " || !text.contains(" and ") => written.push(text),
            _ => return Ok(None),
        }
    }
    Ok(Some(written.join(word)))
}

/// A test; `None` for one that Liquid can only say the other way round.
fn atom(atom: &Atom, frames: &Frames) -> Result<Option<String>, Refusal> {
    let path = path(&atom.path, frames)?;
    let with = |sign: &str, value: &Json| Ok(Some(format!("{path} {sign} {}", literal(value)?)));
    let order = |sign: &str, value: &Json| {
        let value = literal(value)?;
        Ok(Some(format!("{path} != nil and {path} {sign} {value}")))
    };
    match &atom.test {
        Test::Exists => Ok(Some(exists(&path, frames, &atom.path))),
        Test::Empty | Test::Lacks(_) => Ok(None),
        Test::Eq(value) => with("==", value),
        Test::Ne(value) => with("!=", value),
        // Nothing counts as zero to engines in JavaScript.
        Test::Gt(value) => order(">", value),
        Test::Gte(value) => order(">=", value),
        Test::Lt(value) => order("<", value),
        Test::Lte(value) => order("<=", value),
        Test::Contains(value) => with("contains", value),
    }
}

/// Empty strings, lists and zero are true to Liquid.
fn exists(path: &str, frames: &Frames, name: &str) -> String {
    match frames.reference(name) {
        Reference::First(_) | Reference::Last(_) | Reference::Index(_) => path.to_owned(),
        _ => format!("{path} and {path} != '' and {path} != empty and {path} != 0"),
    }
}

impl Syntax for Liquid {
    fn value(&self, value: &Value<'_>, frames: &Frames) -> Result<String, Refusal> {
        let path = path(value.path, frames)?;
        if self.host_escapes && value.is_trusted() {
            return Err(Refusal(
                "trusted HTML where the engine escapes every value".to_owned(),
            ));
        }
        match value.decimals() {
            Some((_, true)) => return Err(Refusal("numbers with separated thousands".to_owned())),
            Some((decimals, false)) => return Ok(number(&path, &value.sign(), decimals)),
            None => {}
        }
        let start = match value.default {
            Some(default) => format!("{path} | default: '{default}'"),
            None => path,
        };
        let mut expression = start + &filters(value)?;
        if value.context.is_part() && !matches!(value.filter, Some(Filter::UrlEncode)) {
            expression.push_str(ENCODED);
        }
        if value.context.is_html() && !value.is_trusted() && !self.host_escapes {
            expression.push_str(" | escape");
        }
        if value.is_on_line() {
            // Its strings have no escapes.
            return Ok(format!(
                "{{% assign pr_r = '%0D' | url_decode %}}{{% assign pr_l = '%0A' | url_decode %}}\
                 {{{{ {expression} | replace: pr_r, ' ' | replace: pr_l, ' ' }}}}"
            ));
        }
        Ok(format!("{{{{ {expression} }}}}"))
    }

    fn branch(&self, logic: &Logic, frames: &Frames) -> Result<Option<Branch>, Refusal> {
        if let Logic::Atom(atom) = logic
            && matches!(atom.test, Test::Empty | Test::Lacks(_))
        {
            let opposite = Logic::Atom(Atom {
                path: atom.path.clone(),
                test: atom.test.clone().negated(),
            });
            let branch = self.branch(&opposite, frames)?;
            return Ok(branch.map(|branch| Branch {
                swapped: true,
                ..branch
            }));
        }
        let expression = expression(logic, frames)?;
        Ok(expression.map(|expression| Branch {
            open: format!("{{% if {expression} %}}"),
            middle: "{% else %}".to_owned(),
            close: "{% endif %}".to_owned(),
            ..Branch::default()
        }))
    }

    fn each(&self, list: &str, name: &str, frames: &Frames) -> Result<Loop, Refusal> {
        super::refuse_reserved(name, RESERVED)?;
        Ok(Loop {
            open: format!("{{% for {name} in {} %}}", path(list, frames)?),
            middle: "{% else %}".to_owned(),
            close: "{% endfor %}".to_owned(),
            end: "{% endfor %}".to_owned(),
        })
    }

    fn literal(&self, text: &str, borders: Borders) -> String {
        let marks = [
            ("{{", "{% raw %}{{{% endraw %}"),
            ("{%", "{% raw %}{%{% endraw %}"),
        ];
        guarded(text, &marks, ("{", "{{ '{' }}"), borders)
    }

    fn takes_default(&self, value: &Value<'_>) -> bool {
        let formats = matches!(
            value.filter,
            Some(Filter::Date(_) | Filter::Number(_) | Filter::Money(_))
        );
        // Liquid's default leaves zero alone, so numbers go through a condition.
        let strings = matches!(
            value.kind,
            Some(VariableType::String | VariableType::Date | VariableType::Url)
        );
        !formats && strings && value.context != Context::Url
    }
}

fn literal(value: &Json) -> Result<String, Refusal> {
    match value {
        Json::String(text)
            if text.contains(['\'', '"', '\\', '<', '>', '&', '{', '}', '%', '\n']) =>
        {
            Err(Refusal(format!("a comparison with {text:?}")))
        }
        Json::String(text) => Ok(format!("'{text}'")),
        Json::Number(number) => Ok(number.to_string()),
        other => Err(Refusal(format!("a comparison with {other}"))),
    }
}
