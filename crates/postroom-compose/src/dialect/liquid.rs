//! Liquid: conditions without brackets, read from the right, and strings without escapes.

use serde_json::Value as Json;

use crate::model::{Filter, VariableType};

use super::{
    Atom, Branch, Context, Frames, Logic, Loop, Refusal, Syntax, Test, Value,
    format::{date_pattern, money, number_pattern, strftime},
    frames::Reference,
    guarded,
};

pub(super) struct Liquid;

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

/// The value's filters, and what follows when it needs more than one tag.
fn filters(value: &Value<'_>, path: &str) -> Result<Vec<String>, Refusal> {
    let one = |filter: String| Ok(vec![format!("{path}{filter}")]);
    let Some(filter) = value.filter else {
        return one(String::new());
    };
    match filter {
        Filter::Upper => one(" | upcase".to_owned()),
        Filter::Lower => one(" | downcase".to_owned()),
        Filter::Title => Err(Refusal("the filter title".to_owned())),
        Filter::Trim => one(" | strip".to_owned()),
        Filter::Truncate(len) => one(format!(" | truncate: {len}, '…'")),
        Filter::UrlEncode => one(" | url_encode | replace: '+', '%20'".to_owned()),
        Filter::Date(pattern) => {
            let words = date_pattern(pattern, strftime, str::to_owned);
            let words = words.ok_or_else(|| Refusal(format!("the date pattern {pattern:?}")))?;
            one(format!(" | date: '{words}'"))
        }
        Filter::Number(pattern) => {
            let (decimals, grouped) = number_pattern(pattern);
            if grouped {
                return Err(Refusal("numbers with separated thousands".to_owned()));
            }
            Ok(number(path, decimals))
        }
        Filter::Money(currency) => Ok(number(path, money(currency).1)),
    }
}

/// Whole part and decimals, which Liquid does not fill up with zeros.
fn number(path: &str, decimals: usize) -> Vec<String> {
    if decimals == 0 {
        return vec![format!("{path} | round")];
    }
    let scale = 10_u64.pow(u32::try_from(decimals).unwrap_or(2));
    let scaled = format!("{path} | times: {scale} | round");
    let zeros = "0".repeat(decimals);
    vec![
        format!("{scaled} | divided_by: {scale} | floor"),
        format!("{scaled} | modulo: {scale} | prepend: '{zeros}' | slice: -{decimals}, {decimals}"),
    ]
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
    match &atom.test {
        Test::Exists => Ok(Some(exists(&path, frames, &atom.path))),
        Test::Empty | Test::Lacks(_) => Ok(None),
        Test::Eq(value) => with("==", value),
        Test::Ne(value) => with("!=", value),
        Test::Gt(value) => with(">", value),
        Test::Gte(value) => with(">=", value),
        Test::Lt(value) => with("<", value),
        Test::Lte(value) => with("<=", value),
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
        let start = match value.default {
            Some(default) => format!("{path} | default: '{default}'"),
            None => path,
        };
        let mut parts = filters(value, &start)?;
        let encodes = value.context.is_part() && !matches!(value.filter, Some(Filter::UrlEncode));
        let escapes = value.context.is_html() && !value.is_trusted();
        for part in &mut parts {
            if encodes {
                part.push_str(" | url_encode | replace: '+', '%20'");
            }
            if escapes {
                part.push_str(" | escape");
            }
        }
        let tags: Vec<String> = parts
            .iter()
            .map(|part| format!("{{{{ {part} }}}}"))
            .collect();
        Ok(tags.join("."))
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

    fn literal(&self, text: &str, before_tag: bool) -> String {
        let marks = [
            ("{{", "{% raw %}{{{% endraw %}"),
            ("{%", "{% raw %}{%{% endraw %}"),
        ];
        guarded(text, &marks, before_tag, ("{", "{{ '{' }}"))
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
