//! `text/template` of Go. `html/template` would take the Outlook comments out, unless they are values.
//!
//! Fields are looked up as they are spelt, as in a map that JSON was read into, and numbers are
//! compared as its `float64`.

use serde_json::Value as Json;

use crate::model::{Filter, VariableType};

use super::{
    Atom, Borders, Branch, Context, Frames, Host, Logic, Loop, Refusal, Syntax, Test, Value,
    format::date_pattern, frames::Reference, guarded,
};

#[derive(Clone, Copy)]
pub(super) struct Go {
    /// The HTML is filled in by `html/template`.
    html_template: bool,
}

impl Go {
    pub(super) fn of(host: &Host) -> Self {
        Self {
            html_template: host.html_template,
        }
    }
}

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

/// Whether there is something at `path`: the type of nothing is `<nil>`, whose first character is
/// number 60.
fn given(path: &str) -> String {
    format!("ne (index (printf `%T` {path}) 0) 60")
}

fn is_float(path: &str) -> String {
    format!("eq (printf `%T` {path}) `float64`")
}

/// A number rounded; nothing for what is none. Zero has no sign.
fn number(value: &Value<'_>, path: &str, decimals: usize) -> String {
    let zero = format!("{:.decimals$}", 0.0);
    format!(
        "{{{{ if {} }}}}{}{{{{ with printf `%.{decimals}f` {path} }}}}{{{{ if eq . `-{zero}` }}}}{zero}{{{{ else }}}}\
         {{{{ . }}}}{{{{ end }}}}{{{{ end }}}}{{{{ end }}}}",
        is_float(path),
        value.sign(),
    )
}

/// What a value becomes before it is escaped; `escapes` are the functions after it.
fn written(value: &Value<'_>, path: &str, escapes: &str) -> Result<String, Refusal> {
    if let Some(default) = value.default {
        return Ok(format!("{{{{ or {path} `{default}`{escapes} }}}}"));
    }
    match value.filter {
        None => {}
        Some(Filter::Date(pattern)) => {
            let words = date_pattern(pattern, layout, str::to_owned);
            let words = words.filter(|_| !pattern.contains(|c: char| c.is_ascii_digit()));
            let words = words.ok_or_else(|| Refusal(format!("the date pattern {pattern:?}")))?;
            return Ok(format!(
                "{{{{ if {path} }}}}{{{{ {path}.Format `{words}`{escapes} }}}}{{{{ end }}}}"
            ));
        }
        Some(Filter::Number(_) | Filter::Money(_)) => match value.decimals() {
            Some((decimals, false)) => return Ok(number(value, path, decimals)),
            _ => return Err(Refusal("numbers with separated thousands".to_owned())),
        },
        Some(Filter::UrlEncode) if value.in_query => {}
        Some(Filter::UrlEncode) => {
            let hint = "the filter urlencode outside of a query, because it writes a blank as `+`";
            return Err(Refusal(hint.to_owned()));
        }
        Some(other) => return Err(Refusal(format!("the filter {}", other.name()))),
    }
    let plain = format!("{{{{ {path}{escapes} }}}}");
    let given = given(path);
    Ok(match value.kind {
        Some(
            VariableType::String | VariableType::Url | VariableType::Html | VariableType::Date,
        ) => format!("{{{{ or {path} ``{escapes} }}}}"),
        Some(VariableType::Bool) => format!("{{{{ if {given} }}}}{plain}{{{{ end }}}}"),
        // A million would be printed as `1e+06`.
        _ => format!(
            "{{{{ if {} }}}}{{{{ printf `%.15g` {path} }}}}{{{{ else if {given} }}}}{plain}{{{{ end }}}}",
            is_float(path)
        ),
    })
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
    match &atom.test {
        Test::Exists => Ok(path),
        Test::Empty => Ok(format!("not {path}")),
        Test::Eq(value) => equal(&path, value),
        Test::Ne(value) => Ok(format!("not ({})", equal(&path, value)?)),
        Test::Gt(value) => order("gt", &path, value),
        Test::Gte(value) => order("ge", &path, value),
        Test::Lt(value) => order("lt", &path, value),
        Test::Lte(value) => order("le", &path, value),
        Test::Contains(_) | Test::Lacks(_) => Err(Refusal("the operator contains".to_owned())),
    }
}

/// Printed, so that a missing value is different instead of an error.
fn equal(path: &str, value: &Json) -> Result<String, Refusal> {
    match value {
        Json::String(text) => {
            let same = format!("eq (print {path}) {}", string(text)?);
            // Only texts that look like something else have to be told apart from it.
            let odd = text.parse::<f64>().is_ok() || matches!(text.as_str(), "true" | "false");
            Ok(if odd {
                format!("and (eq (printf `%T` {path}) `string`) ({same})")
            } else {
                same
            })
        }
        Json::Number(number) => {
            let mut same = format!("eq (print {path}) `{number}`");
            let float = number.as_f64().unwrap_or_default();
            if float.abs() >= 1e6 {
                same.push_str(&format!(" `{}`", scientific(float)));
            }
            Ok(format!("and (ne (printf `%T` {path}) `string`) ({same})"))
        }
        other => Err(Refusal(format!("a comparison with {other}"))),
    }
}

/// A number as Go prints one from a million on.
fn scientific(float: f64) -> String {
    let text = format!("{float:e}");
    match text.split_once('e') {
        Some((digits, power)) => format!("{digits}e+{power:0>2}"),
        None => text,
    }
}

/// Values of another type, and none, would be an error.
fn order(word: &str, path: &str, value: &Json) -> Result<String, Refusal> {
    match value {
        Json::String(text) => Ok(format!(
            "and (eq (printf `%T` {path}) `string`) ({word} {path} {})",
            string(text)?
        )),
        Json::Number(number) => {
            let float = number.as_f64().unwrap_or_default();
            Ok(format!(
                "and ({}) ({word} {path} {float:?})",
                is_float(path)
            ))
        }
        other => Err(Refusal(format!("a comparison with {other}"))),
    }
}

fn string(text: &str) -> Result<String, Refusal> {
    if text.contains(['"', '`', '\\', '<', '>', '&', '{', '}', '\n']) {
        return Err(Refusal(format!("a comparison with {text:?}")));
    }
    Ok(format!("`{text}`"))
}

impl Syntax for Go {
    fn value(&self, value: &Value<'_>, frames: &Frames) -> Result<String, Refusal> {
        let path = path(value.path, frames)?;
        let encodes = value.context.is_part() || matches!(value.filter, Some(Filter::UrlEncode));
        let unreserved = matches!(value.kind, Some(VariableType::Number | VariableType::Bool));
        if value.context.is_part() && !value.in_query && !unreserved {
            let hint = "a variable in a URL before its query, because it writes a blank as `+`";
            return Err(Refusal(hint.to_owned()));
        }
        let mut escapes = String::new();
        let escaped = self.html_template && value.context.is_html();
        if encodes && !(escaped && value.context.is_part()) {
            escapes.push_str(" | urlquery");
        }
        if value.is_trusted() && escaped {
            escapes.push_str(" | safeHTML");
        } else if value.context.is_html() && !value.is_trusted() && !escaped {
            escapes.push_str(" | html");
        }
        let place = frames.reference(value.path);
        if !matches!(place, Reference::Root(_) | Reference::Item { .. }) && value.filter.is_none() {
            return Ok(format!("{{{{ {path}{escapes} }}}}"));
        }
        written(value, &path, &escapes)
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

    fn literal(&self, text: &str, borders: Borders) -> String {
        let marks = [("{{", "{{ \"{{\" }}")];
        guarded(text, &marks, ("{", "{{ \"{\" }}"), borders)
    }

    fn takes_default(&self, value: &Value<'_>) -> bool {
        let text = matches!(value.kind, Some(VariableType::String | VariableType::Url));
        let filtered = matches!(value.filter, None | Some(Filter::UrlEncode));
        text && filtered && value.context != Context::Url
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
