//! `text/template` of Go. `html/template` would take the Outlook comments out.
//!
//! Fields are looked up as they are spelt, as in a map that JSON was read into, and numbers are
//! compared as its `float64`.

use serde_json::Value as Json;

use crate::model::{Filter, VariableType};

use super::{
    Atom, Branch, Context, Frames, Logic, Loop, Refusal, Syntax, Test, Value,
    format::{date_pattern, money, number_pattern},
    frames::Reference,
    guarded,
};

pub(super) struct Go;

fn path(path: &str, frames: &Frames) -> Result<String, Refusal> {
    Ok(match frames.reference(path) {
        Reference::Root(path) => format!("$.{path}"),
        Reference::Item { name, rest: "", .. } => format!("${name}"),
        Reference::Item { name, rest, .. } => format!("${name}.{rest}"),
        // There is no addition, but a text can be one character longer than a number says.
        Reference::Index(place) => format!("(len (printf \"x%*s\" ${}_at \"\"))", place.name),
        Reference::First(place) => format!("(eq ${}_at 0)", place.name),
        Reference::Last(place) => {
            let unknown = || Refusal("the end of a loop".to_owned());
            let (outer, list) = frames.outside(place.number).ok_or_else(unknown)?;
            let list = self::path(list, &outer)?;
            format!(
                "(eq (len {list}) (len (printf \"x%*s\" ${}_at \"\")))",
                place.name
            )
        }
    })
}

/// What a value becomes before it is escaped; `quote` is the quote of strings.
fn expression(value: &Value<'_>, path: &str) -> Result<String, Refusal> {
    let quote = if value.context.is_html() && value.context != Context::Text {
        '`'
    } else {
        '"'
    };
    let start = match value.default {
        Some(default) => format!("or {path} {quote}{default}{quote}"),
        None => path.to_owned(),
    };
    let format = |decimals: usize| format!("printf {quote}%.{decimals}f{quote} {path}");
    match value.filter {
        None => Ok(start),
        Some(Filter::Date(pattern)) => {
            let words = date_pattern(pattern, layout, str::to_owned);
            let words = words.filter(|_| !pattern.contains(|c: char| c.is_ascii_digit()));
            let words = words.ok_or_else(|| Refusal(format!("the date pattern {pattern:?}")))?;
            Ok(format!("{path}.Format {quote}{words}{quote}"))
        }
        Some(Filter::Number(pattern)) => match number_pattern(pattern) {
            (_, true) => Err(Refusal("numbers with separated thousands".to_owned())),
            (decimals, false) => Ok(format(decimals)),
        },
        Some(Filter::Money(currency)) => Ok(format(money(currency).1)),
        Some(Filter::UrlEncode) => Ok(format!("{start} | urlquery")),
        Some(other) => Err(Refusal(format!("the filter {}", other.name()))),
    }
}

fn test(logic: &Logic, frames: &Frames) -> Result<String, Refusal> {
    let joined = |word: &str, parts: &[Logic]| -> Result<String, Refusal> {
        let mut out = word.to_owned();
        for part in parts {
            out.push_str(&format!(" ({})", test(part, frames)?));
        }
        Ok(out)
    };
    match logic {
        Logic::Constant(value) => Ok(value.to_string()),
        Logic::All(parts) => joined("and", parts),
        Logic::Any(parts) => joined("or", parts),
        Logic::Atom(atom) => self::atom(atom, frames),
    }
}

fn atom(atom: &Atom, frames: &Frames) -> Result<String, Refusal> {
    let path = path(&atom.path, frames)?;
    let with = |word: &str, value: &Json| match value {
        Json::String(text) if text.contains(['"', '`', '\\', '<', '>', '&', '{', '}', '\n']) => {
            Err(Refusal(format!("a comparison with {text:?}")))
        }
        // Printed, so that a missing value is different instead of an error.
        Json::String(text) if matches!(word, "eq" | "ne") => {
            Ok(format!("{word} (print {path}) `{text}`"))
        }
        Json::String(text) => Ok(format!("{word} {path} `{text}`")),
        Json::Number(number) if matches!(word, "eq" | "ne") => {
            Ok(format!("{word} (print {path}) `{number}`"))
        }
        Json::Number(number) => {
            let float = number.as_f64().unwrap_or_default();
            Ok(format!("{word} {path} {float:?}"))
        }
        other => Err(Refusal(format!("a comparison with {other}"))),
    };
    match &atom.test {
        Test::Exists => Ok(path),
        Test::Empty => Ok(format!("not {path}")),
        Test::Eq(value) => with("eq", value),
        Test::Ne(value) => with("ne", value),
        Test::Gt(value) => with("gt", value),
        Test::Gte(value) => with("ge", value),
        Test::Lt(value) => with("lt", value),
        Test::Lte(value) => with("le", value),
        Test::Contains(_) | Test::Lacks(_) => Err(Refusal("the operator contains".to_owned())),
    }
}

impl Syntax for Go {
    fn value(&self, value: &Value<'_>, frames: &Frames) -> Result<String, Refusal> {
        let path = path(value.path, frames)?;
        let mut expression = expression(value, &path)?;
        let encodes = value.context.is_part() && !matches!(value.filter, Some(Filter::UrlEncode));
        if encodes {
            expression.push_str(" | urlquery");
        }
        if value.context.is_html() && !value.is_trusted() {
            expression.push_str(" | html");
        }
        Ok(format!("{{{{ {expression} }}}}"))
    }

    fn branch(&self, logic: &Logic, frames: &Frames) -> Result<Option<Branch>, Refusal> {
        Ok(Some(Branch {
            open: format!("{{{{ if {} }}}}", test(logic, frames)?),
            middle: "{{ else }}".to_owned(),
            close: "{{ end }}".to_owned(),
            ..Branch::default()
        }))
    }

    fn each(&self, list: &str, name: &str, frames: &Frames) -> Result<Loop, Refusal> {
        Ok(Loop {
            open: format!(
                "{{{{ range ${name}_at, ${name} := {} }}}}",
                path(list, frames)?
            ),
            middle: "{{ else }}".to_owned(),
            close: "{{ end }}".to_owned(),
            end: "{{ end }}".to_owned(),
        })
    }

    fn literal(&self, text: &str, before_tag: bool) -> String {
        guarded(
            text,
            &[("{{", "{{ \"{{\" }}")],
            before_tag,
            ("{", "{{ \"{\" }}"),
        )
    }

    fn takes_default(&self, value: &Value<'_>) -> bool {
        let formats = matches!(
            value.filter,
            Some(Filter::Date(_) | Filter::Number(_) | Filter::Money(_))
        );
        !formats && value.kind != Some(VariableType::Html) && value.context != Context::Url
    }
}

fn layout(word: &str) -> Option<&'static str> {
    Some(match word {
        "yyyy" => "2006",
        "yy" => "06",
        "MMMM" => "January",
        "MMM" => "Jan",
        "MM" => "01",
        "M" => "1",
        "EEEE" => "Monday",
        "EEE" => "Mon",
        "dd" => "02",
        "d" => "2",
        "HH" => "15",
        "hh" => "03",
        "h" => "3",
        "mm" => "04",
        "ss" => "05",
        "a" => "PM",
        _ => return None,
    })
}
