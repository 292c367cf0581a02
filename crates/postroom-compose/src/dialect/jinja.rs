//! Jinja2, and Klaviyo, whose templates are Django's: no brackets in conditions, filters with a
//! colon.

use serde_json::Value as Json;

use crate::model::{Filter, VariableType};

use super::{
    Atom, Branch, Context, Frames, Logic, Loop, Refusal, Syntax, Test, Value,
    format::{date_pattern, money, number_pattern, strftime},
    frames::Reference,
    guarded,
};

/// Jinja2 or Django.
pub(super) struct Jinja {
    django: bool,
}

/// Words of conditions, and names that loops give.
const RESERVED: &[&str] = &[
    "and", "else", "false", "False", "forloop", "if", "in", "is", "loop", "none", "None", "not",
    "or", "self", "true", "True",
];

pub(super) const JINJA: Jinja = Jinja { django: false };
pub(super) const DJANGO: Jinja = Jinja { django: true };

impl Jinja {
    fn path(&self, path: &str, frames: &Frames) -> Result<String, Refusal> {
        super::refuse_reserved(path, RESERVED)?;
        Ok(match frames.reference(path) {
            Reference::Root(path) => path.to_owned(),
            Reference::Item { name, rest: "", .. } => name.to_owned(),
            Reference::Item { name, rest, .. } => format!("{name}.{rest}"),
            Reference::Index(place) | Reference::First(place) | Reference::Last(place) => {
                let field = match (frames.reference(path), self.django) {
                    (Reference::First(_), _) => "first",
                    (Reference::Last(_), _) => "last",
                    (_, true) => "counter",
                    (_, false) => "index",
                };
                match (place.loops_in, self.django) {
                    (0, true) => format!("forloop.{field}"),
                    (0, false) => format!("loop.{field}"),
                    (up, true) => format!("forloop.{}{field}", "parentloop.".repeat(up)),
                    (_, false) => {
                        let name = place.name;
                        return Err(Refusal(format!("`{name}.{field}` of an outer loop")));
                    }
                }
            }
        })
    }

    fn filters(&self, value: &Value<'_>) -> Result<String, Refusal> {
        let Some(filter) = value.filter else {
            return Ok(String::new());
        };
        let pattern = |pattern: &str| Refusal(format!("the date pattern {pattern:?}"));
        Ok(match filter {
            Filter::Upper => "|upper".to_owned(),
            Filter::Lower => "|lower".to_owned(),
            Filter::Title => "|title".to_owned(),
            Filter::Trim if self.django => return Err(Refusal("the filter trim".to_owned())),
            Filter::Trim => "|trim".to_owned(),
            Filter::Truncate(len) if self.django => format!("|truncatechars:{len}"),
            Filter::Truncate(len) => format!("|truncate({len}, true, '…', 0)"),
            Filter::UrlEncode => self.url_encode(),
            Filter::Date(words) if self.django => {
                let words = date_pattern(words, django_date, |text| {
                    let escaped = text.chars().map(|c| {
                        if c.is_ascii_alphabetic() {
                            format!("\\{c}")
                        } else {
                            c.to_string()
                        }
                    });
                    escaped.collect()
                })
                .ok_or_else(|| pattern(words))?;
                format!("|date:'{words}'")
            }
            Filter::Date(words) => {
                let words =
                    date_pattern(words, strftime, str::to_owned).ok_or_else(|| pattern(words))?;
                format!(".strftime('{words}')")
            }
            Filter::Number(words) => {
                let (decimals, grouped) = number_pattern(words);
                self.number(decimals, grouped)
            }
            Filter::Money(currency) => self.number(money(currency).1, false),
        })
    }

    fn number(&self, decimals: usize, grouped: bool) -> String {
        match (self.django, grouped) {
            (true, true) => format!("|floatformat:'{decimals}g'"),
            (true, false) => format!("|floatformat:'{decimals}u'"),
            // The value is put in by `value`, which knows the path.
            (false, true) => format!("{{:,.{decimals}f}}"),
            (false, false) => format!("{{:.{decimals}f}}"),
        }
    }

    fn url_encode(&self) -> String {
        if self.django {
            "|urlencode:''".to_owned()
        } else {
            "|urlencode|replace('/', '%2F')".to_owned()
        }
    }

    fn expression(
        &self,
        logic: &Logic,
        frames: &Frames,
        inner: bool,
    ) -> Result<Option<String>, Refusal> {
        let (parts, word) = match logic {
            Logic::Constant(value) => return Ok(Some(if *value { "1" } else { "0" }.to_owned())),
            Logic::Atom(atom) => return self.atom(atom, frames).map(Some),
            Logic::All(parts) => (parts, " and "),
            // Django's `and` binds stronger than its `or`, so an `or` cannot stand inside.
            Logic::Any(_) if inner && self.django => return Ok(None),
            Logic::Any(parts) => (parts, " or "),
        };
        let mut written = Vec::new();
        for part in parts {
            match self.expression(part, frames, true)? {
                Some(text) => written.push(text),
                None => return Ok(None),
            }
        }
        let joined = written.join(word);
        let brackets = inner && !self.django;
        Ok(Some(if brackets {
            format!("({joined})")
        } else {
            joined
        }))
    }

    fn atom(&self, atom: &Atom, frames: &Frames) -> Result<String, Refusal> {
        let path = self.path(&atom.path, frames)?;
        let with = |sign: &str, value: &Json| Ok(format!("{path} {sign} {}", literal(value)?));
        match &atom.test {
            Test::Exists => Ok(path),
            Test::Empty => Ok(format!("not {path}")),
            Test::Eq(value) => with("==", value),
            Test::Ne(value) => with("!=", value),
            Test::Gt(value) => with(">", value),
            Test::Gte(value) => with(">=", value),
            Test::Lt(value) => with("<", value),
            Test::Lte(value) => with("<=", value),
            Test::Contains(value) => Ok(format!("{} in {path}", literal(value)?)),
            Test::Lacks(value) => Ok(format!("{} not in {path}", literal(value)?)),
        }
    }
}

impl Syntax for Jinja {
    fn value(&self, value: &Value<'_>, frames: &Frames) -> Result<String, Refusal> {
        let path = self.path(value.path, frames)?;
        let mut expression = path.clone();
        if let Some(default) = value.default {
            expression = if self.django {
                format!("{path}|default:'{default}'")
            } else {
                format!("{path}|default('{default}', true)")
            };
        }
        match value.filter {
            Some(Filter::Number(_) | Filter::Money(_)) if !self.django => {
                expression = format!("'{}'.format({path})", self.filters(value)?);
            }
            _ => expression.push_str(&self.filters(value)?),
        }
        let encodes = value.context.is_part() && !matches!(value.filter, Some(Filter::UrlEncode));
        if encodes {
            expression.push_str(&self.url_encode());
        }
        let safe = !value.context.is_html() || value.is_trusted();
        Ok(match (safe, self.django) {
            (true, _) => format!("{{{{ {expression}|safe }}}}"),
            (false, true) => format!("{{{{ {expression} }}}}"),
            (false, false) => format!("{{{{ {expression}|e }}}}"),
        })
    }

    fn branch(&self, logic: &Logic, frames: &Frames) -> Result<Option<Branch>, Refusal> {
        let expression = self.expression(logic, frames, false)?;
        Ok(expression.map(|expression| Branch {
            open: format!("{{% if {expression} %}}"),
            middle: "{% else %}".to_owned(),
            close: "{% endif %}".to_owned(),
            ..Branch::default()
        }))
    }

    fn each(&self, list: &str, name: &str, frames: &Frames) -> Result<Loop, Refusal> {
        super::refuse_reserved(name, RESERVED)?;
        let list = self.path(list, frames)?;
        let empty = if self.django {
            "{% empty %}"
        } else {
            "{% else %}"
        };
        Ok(Loop {
            open: format!("{{% for {name} in {list} %}}"),
            middle: empty.to_owned(),
            close: "{% endfor %}".to_owned(),
            end: "{% endfor %}".to_owned(),
        })
    }

    fn literal(&self, text: &str, before_tag: bool) -> String {
        if self.django {
            let marks = [
                ("{{", "{% templatetag openvariable %}"),
                ("{%", "{% templatetag openblock %}"),
                ("{#", "{% templatetag opencomment %}"),
            ];
            return guarded(
                text,
                &marks,
                before_tag,
                ("{", "{% templatetag openbrace %}"),
            );
        }
        let marks = [
            ("{{", "{{ '{{' }}"),
            ("{%", "{{ '{%' }}"),
            ("{#", "{{ '{#' }}"),
        ];
        guarded(text, &marks, before_tag, ("{", "{{ '{' }}"))
    }

    fn takes_default(&self, value: &Value<'_>) -> bool {
        let formats = matches!(
            value.filter,
            Some(Filter::Date(_) | Filter::Number(_) | Filter::Money(_))
        );
        !formats && value.kind != Some(VariableType::Html) && value.context != Context::Url
    }
}

/// A string, number or null, without any character that means something to HTML or the language.
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

fn django_date(word: &str) -> Option<&'static str> {
    Some(match word {
        "yyyy" => "Y",
        "yy" => "y",
        "MMMM" => "F",
        "MMM" => "M",
        "MM" => "m",
        "M" => "n",
        "EEEE" => "l",
        "EEE" => "D",
        "dd" => "d",
        "d" => "j",
        "HH" => "H",
        "H" => "G",
        "hh" => "h",
        "h" => "g",
        "mm" => "i",
        "ss" => "s",
        "a" => "A",
        _ => return None,
    })
}
