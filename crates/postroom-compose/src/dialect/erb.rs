//! ERB. Fields are looked up with `[:name]`, which hashes, structs and records of Rails all take.

use serde_json::Value as Json;

use crate::model::{Filter, VariableType};

use super::{
    Atom, Borders, Branch, Context, Frames, Host, Logic, Loop, NUDGE, Refusal, Syntax, Test, Value,
    format::{date_pattern, strftime},
    frames::Reference,
    guarded,
};

#[derive(Clone, Copy)]
pub(super) struct Erb {
    /// Fields are methods.
    methods: bool,
    /// What is not marked is escaped.
    escapes: bool,
}

/// Values that a mail takes for none.
const NOTHING: &str = "[nil, false, 0, '', [], {}]";

/// Words that Ruby keeps for itself.
const RESERVED: &[&str] = &[
    "BEGIN", "END", "alias", "and", "begin", "break", "case", "class", "def", "defined?", "do",
    "else", "elsif", "end", "ensure", "false", "for", "if", "in", "module", "next", "nil", "not",
    "or", "redo", "rescue", "retry", "return", "self", "super", "then", "true", "undef", "unless",
    "until", "when", "while", "yield",
];

impl Erb {
    pub(super) fn of(host: &Host) -> Self {
        Self {
            methods: host.fields_are_methods,
            escapes: host.escapes,
        }
    }

    fn dotted(self, path: &str) -> String {
        let mut parts = path.split('.');
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            if self.methods {
                out.push_str(&format!(".{part}"));
            } else {
                out.push_str(&format!("[:{part}]"));
            }
        }
        out
    }

    fn path(self, path: &str, frames: &Frames) -> Result<String, Refusal> {
        super::refuse_reserved(path, RESERVED)?;
        if path.starts_with(|c: char| c.is_uppercase()) {
            return Err(Refusal(format!(
                "a variable called `{path}`, which is a constant"
            )));
        }
        Ok(match frames.reference(path) {
            Reference::Root(path) => self.dotted(path),
            Reference::Item { name, rest: "", .. } => name.to_owned(),
            Reference::Item { name, rest, .. } => self.dotted(&format!("{name}.{rest}")),
            Reference::Index(place) => format!("({}_at + 1)", place.name),
            Reference::First(place) => format!("({}_at == 0)", place.name),
            Reference::Last(place) => {
                let unknown = || Refusal("the end of a loop".to_owned());
                let (outer, list) = frames.outside(place.number).ok_or_else(unknown)?;
                format!(
                    "({}_at == {}.size - 1)",
                    place.name,
                    self.path(list, &outer)?
                )
            }
        })
    }

    fn test(self, logic: &Logic, frames: &Frames, inner: bool) -> Result<String, Refusal> {
        let (parts, word) = match logic {
            Logic::Constant(value) => return Ok(value.to_string()),
            Logic::Atom(atom) => return self.atom(atom, frames),
            Logic::All(parts) => (parts, " && "),
            Logic::Any(parts) => (parts, " || "),
        };
        let written: Result<Vec<String>, Refusal> = parts
            .iter()
            .map(|part| self.test(part, frames, true))
            .collect();
        let joined = written?.join(word);
        Ok(if inner { format!("({joined})") } else { joined })
    }

    fn atom(self, atom: &Atom, frames: &Frames) -> Result<String, Refusal> {
        let path = self.path(&atom.path, frames)?;
        let equal = |sign: &str, value: &Json| Ok(format!("{path} {sign} {}", literal(value)?));
        // Nil, or a text beside a number, would be an error.
        let order = |sign: &str, value: &Json| {
            let class = if value.is_string() {
                "String"
            } else {
                "Numeric"
            };
            Ok(format!(
                "({path}.is_a?({class}) && {path} {sign} {})",
                literal(value)?
            ))
        };
        let holds = |value: &Json| {
            let takes = if value.is_string() {
                "respond_to?(:include?)"
            } else {
                "is_a?(Array)"
            };
            Ok(format!(
                "({path}.{takes} && {path}.include?({}))",
                literal(value)?
            ))
        };
        match &atom.test {
            Test::Exists => Ok(format!("!{NOTHING}.include?({path})")),
            Test::Empty => Ok(format!("{NOTHING}.include?({path})")),
            Test::Eq(value) => equal("==", value),
            Test::Ne(value) => equal("!=", value),
            Test::Gt(value) => order(">", value),
            Test::Gte(value) => order(">=", value),
            Test::Lt(value) => order("<", value),
            Test::Lte(value) => order("<=", value),
            Test::Contains(value) => holds(value),
            Test::Lacks(value) => holds(value).map(|test: String| format!("!{test}")),
        }
    }
}

fn expression(value: &Value<'_>, path: &str) -> Result<String, Refusal> {
    if let Some((decimals, grouped)) = value.decimals() {
        return Ok(number(value, path, decimals, grouped));
    }
    let text = match value.default {
        Some(default) => format!("({NOTHING}.include?({path}) ? '{default}' : {path}).to_s"),
        None if value.filter.is_some() => format!("{path}.to_s"),
        None => path.to_owned(),
    };
    Ok(match value.filter {
        None => text,
        Some(Filter::Upper) => format!("{text}.upcase"),
        Some(Filter::Lower) => format!("{text}.downcase"),
        Some(Filter::Title) => format!("{text}.split(/ /, -1).map(&:capitalize).join(' ')"),
        Some(Filter::Trim) => format!("{text}.strip"),
        Some(Filter::Truncate(len)) => {
            let kept = len.saturating_sub(1);
            format!("{text}.then {{ |s| s.size > {len} ? s[0, {kept}] + '…' : s }}")
        }
        Some(Filter::UrlEncode) => format!("ERB::Util.url_encode({text})"),
        Some(Filter::Date(pattern)) => {
            let words = date_pattern(pattern, strftime, str::to_owned);
            let words = words.ok_or_else(|| Refusal(format!("the date pattern {pattern:?}")))?;
            format!("({path}.respond_to?(:strftime) ? {path}.strftime('{words}') : {path})")
        }
        // Written by `number`.
        Some(Filter::Number(_) | Filter::Money(_)) => text,
    })
}

/// A number as text; nothing for what is no number.
fn number(value: &Value<'_>, path: &str, decimals: usize, grouped: bool) -> String {
    let sign = value.sign();
    let mut text = format!("format('{sign}%.{decimals}f', (n * {NUDGE}).round({decimals}) + 0.0)");
    if grouped {
        text.push_str(".sub(/\\d+/) { |d| d.reverse.scan(/\\d{1,3}/).join(',').reverse }");
    }
    format!("Float({path}, exception: false)&.then {{ |n| {text} }}")
}

impl Syntax for Erb {
    fn value(&self, value: &Value<'_>, frames: &Frames) -> Result<String, Refusal> {
        let path = self.path(value.path, frames)?;
        let mut expression = expression(value, &path)?;
        let encodes = value.context.is_part() && !matches!(value.filter, Some(Filter::UrlEncode));
        if encodes {
            expression = format!("ERB::Util.url_encode({expression})");
        }
        if value.is_on_line() {
            expression = format!("({expression}).to_s.gsub(/\\R/, ' ')");
        }
        Ok(if value.context.is_html() && !value.is_trusted() {
            format!("<%= ERB::Util.h({expression}) %>")
        } else if self.escapes && value.is_trusted() {
            format!("<%== {expression} %>")
        } else {
            format!("<%= {expression} %>")
        })
    }

    fn branch(&self, logic: &Logic, frames: &Frames) -> Result<Option<Branch>, Refusal> {
        Ok(Some(Branch {
            open: format!("<% if {} %>", self.test(logic, frames, false)?),
            middle: "<% else %>".to_owned(),
            close: "<% end %>".to_owned(),
            ..Branch::default()
        }))
    }

    fn each(&self, list: &str, name: &str, frames: &Frames) -> Result<Loop, Refusal> {
        super::refuse_reserved(name, RESERVED)?;
        let list = self.path(list, frames)?;
        Ok(Loop {
            open: format!("<% ({list} || []).each_with_index do |{name}, {name}_at| %>"),
            middle: format!("<% end %><% if ({list} || []).empty? %>"),
            close: "<% end %>".to_owned(),
            end: "<% end %>".to_owned(),
        })
    }

    /// Not `<%%`: Erubi, which Rails uses, takes all up to the next `%>` for text then.
    fn literal(&self, text: &str, borders: Borders) -> String {
        guarded(text, &[("<%", "<%= '<%' %>")], ("", ""), borders)
    }

    fn takes_default(&self, value: &Value<'_>) -> bool {
        let formats = matches!(
            value.filter,
            Some(Filter::Date(_) | Filter::Number(_) | Filter::Money(_))
        );
        !formats && value.kind != Some(VariableType::Html) && value.context != Context::Url
    }
}

fn literal(value: &Json) -> Result<String, Refusal> {
    match value {
        Json::String(text) if text.contains(['\'', '"', '\\', '<', '>', '&', '%', '\n']) => {
            Err(Refusal(format!("a comparison with {text:?}")))
        }
        Json::String(text) => Ok(format!("'{text}'")),
        Json::Number(number) => Ok(number.to_string()),
        other => Err(Refusal(format!("a comparison with {other}"))),
    }
}
