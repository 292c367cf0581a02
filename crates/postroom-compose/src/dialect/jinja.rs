//! Jinja2, and Klaviyo, whose templates are Django's: no brackets in conditions, filters with a
//! colon.

use serde_json::Value as Json;

use crate::model::{Filter, VariableType};

use super::{
    Atom, Borders, Branch, Context, Frames, Logic, Loop, NUDGE, Refusal, Syntax, Test, Value,
    format::{date_pattern, strftime},
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

/// Methods of a dictionary, which a dot would find before the fields.
const METHODS: &[&str] = &[
    "clear",
    "copy",
    "fromkeys",
    "get",
    "items",
    "keys",
    "pop",
    "popitem",
    "setdefault",
    "update",
    "values",
];

pub(super) const JINJA: Jinja = Jinja { django: false };
pub(super) const DJANGO: Jinja = Jinja { django: true };

impl Jinja {
    fn path(&self, path: &str, frames: &Frames) -> Result<String, Refusal> {
        super::refuse_reserved(path, RESERVED)?;
        Ok(match frames.reference(path) {
            Reference::Root(path) => self.dotted(path),
            Reference::Item { name, rest: "", .. } => name.to_owned(),
            Reference::Item { name, rest, .. } => self.dotted(&format!("{name}.{rest}")),
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

    /// Fields with names of the methods of a dictionary are looked up in brackets.
    fn dotted(&self, path: &str) -> String {
        if self.django {
            return path.to_owned();
        }
        let mut out = String::new();
        for part in path.split('.') {
            if out.is_empty() {
                out.push_str(part);
            } else if METHODS.contains(&part) {
                out.push_str(&format!("['{part}']"));
            } else {
                out.push_str(&format!(".{part}"));
            }
        }
        out
    }

    /// A number as text; nothing for what is no number.
    fn number(&self, value: &Value<'_>, path: &str, decimals: usize, grouped: bool) -> String {
        let sign = value.sign();
        if self.django {
            let places = if grouped { 'g' } else { 'u' };
            let number = format!("{path}|floatformat:'{decimals}{places}'");
            if sign.is_empty() {
                return format!("{{{{ {number} }}}}");
            }
            return format!(
                "{{% with n={number} %}}{{% if n %}}{sign}{{{{ n }}}}{{% endif %}}{{% endwith %}}"
            );
        }
        let number = format!("{path}|default(none)|float(none)");
        let rounded = format!("({number} * {NUDGE})|round({decimals}) + 0");
        let text = if grouped {
            format!("'{{:,.{decimals}f}}'.format({rounded})")
        } else {
            format!("'%.{decimals}f'|format({rounded})")
        };
        format!("{{% if {number} is number %}}{sign}{{{{ {text} }}}}{{% endif %}}")
    }

    fn filters(&self, value: &Value<'_>) -> Result<String, Refusal> {
        let Some(filter) = value.filter else {
            return Ok(String::new());
        };
        let pattern = |pattern: &str| Refusal(format!("the date pattern {pattern:?}"));
        Ok(match filter {
            Filter::Upper => "|upper".to_owned(),
            Filter::Lower => "|lower".to_owned(),
            Filter::Title if self.django => return Err(Refusal("the filter title".to_owned())),
            Filter::Title => "|string".to_owned(),
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
            // Written by `number`.
            Filter::Number(_) | Filter::Money(_) => String::new(),
        })
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
        let equal = |sign: &str, value: &Json| Ok(format!("{path} {sign} {}", literal(value)?));
        // Null, or a text beside a number, would be an error to Jinja; it is false to Django.
        let order = |sign: &str, value: &Json| {
            let kind = if value.is_string() {
                "string"
            } else {
                "number"
            };
            let test = format!("{path} {sign} {}", literal(value)?);
            Ok(if self.django {
                test
            } else {
                format!("{path} is {kind} and {test}")
            })
        };
        let holds = |value: &Json| -> Result<String, Refusal> {
            let test = format!("{} in {path}", literal(value)?);
            Ok(match (self.django, value.is_string()) {
                (true, _) => test,
                (false, true) => format!("{path} is iterable and {test}"),
                (false, false) => format!("{path} is iterable and {path} is not string and {test}"),
            })
        };
        match &atom.test {
            Test::Exists => Ok(path),
            Test::Empty => Ok(format!("not {path}")),
            Test::Eq(value) => equal("==", value),
            Test::Ne(value) => equal("!=", value),
            Test::Gt(value) => order(">", value),
            Test::Gte(value) => order(">=", value),
            Test::Lt(value) => order("<", value),
            Test::Lte(value) => order("<=", value),
            Test::Contains(value) => holds(value),
            Test::Lacks(value) if self.django => Ok(format!("not {}", holds(value)?)),
            Test::Lacks(value) => Ok(format!("not ({})", holds(value)?)),
        }
    }
}

impl Syntax for Jinja {
    fn value(&self, value: &Value<'_>, frames: &Frames) -> Result<String, Refusal> {
        let path = self.path(value.path, frames)?;
        if let Some((decimals, grouped)) = value.decimals() {
            return Ok(self.number(value, &path, decimals, grouped));
        }
        let given = matches!(
            frames.reference(value.path),
            Reference::Root(_) | Reference::Item { .. }
        );
        let mut expression = match (value.default, self.django) {
            (Some(default), true) => format!("{path}|default:'{default}'"),
            (Some(default), false) => format!("{path}|default('{default}', true)"),
            (None, _) if !given => path.clone(),
            // Null is printed as `None`.
            (None, true) => format!("{path}|default_if_none:''"),
            (None, false) => format!("{path}|default('', {path} is none)"),
        };
        let filters = self.filters(value)?;
        match value.filter {
            Some(Filter::Date(_)) if self.django => expression = format!("{path}{filters}"),
            Some(Filter::Date(_)) => expression = format!("({path}{filters} if {path} else '')"),
            Some(Filter::Title) => {
                let words = "split(' ')|map('capitalize')|join(' ')";
                expression = format!("({expression}{filters}).{words}");
            }
            _ => expression.push_str(&filters),
        }
        let encodes = value.context.is_part() && !matches!(value.filter, Some(Filter::UrlEncode));
        if encodes {
            expression.push_str(&self.url_encode());
        }
        if value.is_on_line() {
            expression.push_str(if self.django {
                // Django has no filter that replaces; this one puts words together by blanks.
                "|truncatewords:500"
            } else {
                "|replace('\\r', ' ')|replace('\\n', ' ')"
            });
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
        // Null is no list to Jinja.
        let list = if self.django {
            list
        } else {
            format!("{list} or []")
        };
        Ok(Loop {
            open: format!("{{% for {name} in {list} %}}"),
            middle: empty.to_owned(),
            close: "{% endfor %}".to_owned(),
            end: "{% endfor %}".to_owned(),
        })
    }

    fn literal(&self, text: &str, borders: Borders) -> String {
        if self.django {
            let marks = [
                ("{{", "{% templatetag openvariable %}"),
                ("{%", "{% templatetag openblock %}"),
                ("{#", "{% templatetag opencomment %}"),
            ];
            let end = ("{", "{% templatetag openbrace %}");
            return guarded(text, &marks, end, borders);
        }
        let marks = [
            ("{{", "{{ '{{' }}"),
            ("{%", "{{ '{%' }}"),
            ("{#", "{{ '{#' }}"),
        ];
        guarded(text, &marks, ("{", "{{ '{' }}"), borders)
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
