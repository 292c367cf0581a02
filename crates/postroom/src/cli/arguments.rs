//! From words of a command line to an operation's arguments, by the operation's own schema.

use std::borrow::Cow;

use clap::{Arg, ArgAction, ArgMatches};
use postroom_app::Operation;
use serde_json::{Map, Value};

use crate::cli::trouble::Trouble;

/// The type that a property takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Integer,
    Number,
    Flag,
    /// Several texts: the option is repeated, or its value holds commas.
    Texts,
    /// As [`Kind::Texts`], each an address, an address with a name, or JSON.
    People,
    /// JSON text.
    Json,
}

/// One argument of an operation as its schema declares it.
#[derive(Debug, Clone)]
pub(crate) struct Property {
    name: String,
    kind: Kind,
    about: String,
    choices: Vec<String>,
}

/// The arguments of an operation in the order of its schema.
pub(crate) fn properties(operation: &Operation) -> Vec<Property> {
    let schema = operation.input_schema();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    properties
        .iter()
        .map(|(name, schema)| property(name, schema))
        .collect()
}

fn property(name: &str, schema: &Value) -> Property {
    // An optional value may be declared as a choice between its type and null.
    let schema = schema
        .get("anyOf")
        .and_then(Value::as_array)
        .and_then(|choices| {
            choices
                .iter()
                .find(|choice| choice.get("type").is_some_and(|kind| kind != "null"))
        })
        .map_or_else(|| schema.clone(), |choice| with_description(choice, schema));
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let kind = match kinds.iter().find(|kind| **kind != "null") {
        Some(&"integer") => Kind::Integer,
        Some(&"number") => Kind::Number,
        Some(&"boolean") => Kind::Flag,
        Some(&"string") => Kind::Text,
        Some(&"array") if takes_people(&schema) => Kind::People,
        Some(&"array")
            if ["/items/type", "/items/oneOf/0/type"]
                .iter()
                .filter_map(|place| schema.pointer(place))
                .any(|kind| kind == "string") =>
        {
            Kind::Texts
        }
        _ => Kind::Json,
    };
    let choices = schema
        .get("enum")
        .or_else(|| schema.pointer("/items/enum"))
        .and_then(Value::as_array);
    Property {
        name: name.to_owned(),
        kind,
        about: schema
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .replace('\n', " "),
        choices: choices
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
    }
}

/// Whether the items of a list are texts or objects: addresses, with or without a name.
fn takes_people(schema: &Value) -> bool {
    let forms = schema.pointer("/items/oneOf").and_then(Value::as_array);
    let has = |kind: &str| {
        forms
            .into_iter()
            .flatten()
            .any(|form| form.get("type").is_some_and(|found| found == kind))
    };
    has("string") && has("object")
}

fn with_description(choice: &Value, whole: &Value) -> Value {
    let mut choice = choice.clone();
    if let (Some(object), Some(about)) = (choice.as_object_mut(), whole.get("description")) {
        object.insert("description".to_owned(), about.clone());
    }
    choice
}

impl Property {
    /// The name in the schema.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The option that sets it.
    pub(crate) fn option(&self) -> Arg {
        let mut arg = Arg::new(self.name.clone())
            .long(self.flag())
            .help(self.help());
        // Whoever leaves the unit away means it.
        if let Some(short) = self.flag().strip_suffix("-seconds") {
            arg = arg.alias(short.to_owned());
        }
        arg = match self.kind {
            Kind::Flag => arg
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_parser(["true", "false"])
                .hide_possible_values(true),
            Kind::Texts => arg.action(ArgAction::Append).value_delimiter(','),
            Kind::People => arg.action(ArgAction::Append),
            _ => arg.action(ArgAction::Set),
        };
        if self.kind == Kind::Flag {
            return arg.value_name("BOOL");
        }
        if !self.choices.is_empty() {
            arg = arg
                .value_parser(clap::builder::PossibleValuesParser::new(
                    self.choices.clone(),
                ))
                .hide_possible_values(self.choices.len() > 6);
        }
        arg.value_name(self.value_name())
            .allow_hyphen_values(!matches!(self.kind, Kind::Texts | Kind::People))
    }

    /// The word without an option that sets it.
    pub(crate) fn positional(&self, required: bool) -> Arg {
        let mut arg = Arg::new(self.name.clone())
            .help(self.help())
            .value_name(self.name.to_uppercase())
            .required(required)
            .action(ArgAction::Append);
        if self.kind == Kind::Text && !self.is_one_word() {
            arg = arg.num_args(1..);
        }
        arg
    }

    /// Whether it names a thing; words for people may be several.
    fn is_one_word(&self) -> bool {
        self.name == "id" || self.name == "queue" || self.name.ends_with("_id")
    }

    fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// The option as a person writes it.
    fn shown(&self) -> String {
        format!("--{}", self.flag())
    }

    fn help(&self) -> String {
        let about = self.about.trim_end_matches('.');
        match self.kind {
            Kind::People => format!(
                "{}: ADDRESS or 'NAME <ADDRESS>', several with commas",
                about.split(':').next().unwrap_or_default()
            ),
            _ => about.to_owned(),
        }
    }

    fn value_name(&self) -> &'static str {
        match self.kind {
            Kind::Integer | Kind::Number => "NUMBER",
            Kind::Texts => "TEXT,…",
            Kind::People => "ADDRESS,…",
            Kind::Json => "JSON",
            _ => "TEXT",
        }
    }

    /// The value that the words stand for; words of one text are joined by a space. `shown` is what
    /// the command line calls it.
    fn read(&self, words: &[String], shown: &str) -> Result<Value, Trouble> {
        let joined = words.join(" ");
        let wrong = |expected: &str| {
            Trouble::usage(
                format!("{shown} is not valid: expected {expected}."),
                "Correct the value; --help describes it.",
            )
        };
        match self.kind {
            Kind::Text => Ok(Value::String(joined)),
            Kind::Integer => joined
                .parse::<i64>()
                .map(Value::from)
                .map_err(|_| wrong("a whole number")),
            Kind::Number => joined
                .parse::<f64>()
                .map(Value::from)
                .map_err(|_| wrong("a number")),
            Kind::Flag => joined
                .parse::<bool>()
                .map(Value::from)
                .map_err(|_| wrong("true or false")),
            Kind::Texts => Ok(words
                .iter()
                .flat_map(|word| word.split(','))
                .filter(|word| !word.is_empty())
                .map(Value::from)
                .collect()),
            Kind::People => {
                let read: Option<Vec<Vec<Value>>> = words.iter().map(|word| people(word)).collect();
                let lists = read.ok_or_else(|| wrong("addresses, 'NAME <ADDRESS>', or JSON"))?;
                Ok(lists.into_iter().flatten().collect())
            }
            Kind::Json => {
                let text = from_file(joined, shown)?;
                serde_json::from_str(&text)
                    .map_err(|_| wrong("JSON, @FILE or - for standard input"))
            }
        }
    }
}

/// What a file holds, or standard input, where JSON is named in place of being written out.
fn from_file(told: String, shown: &str) -> Result<String, Trouble> {
    let whole = match told.strip_prefix('@') {
        Some(file) => std::fs::read_to_string(file),
        None if told == "-" => std::io::read_to_string(std::io::stdin()),
        None => return Ok(told),
    };
    whole.map_err(|error| {
        Trouble::io(
            format!("{shown} cannot be read: {error}."),
            "Name a file of JSON as @FILE, or - for standard input.",
        )
    })
}

/// The people that one word names; `None` for JSON that cannot be read. What is no address is left for
/// the operation to refuse.
fn people(word: &str) -> Option<Vec<Value>> {
    let word = word.trim();
    if word.starts_with(['{', '[']) {
        return match serde_json::from_str(word).ok()? {
            Value::Array(items) => Some(items),
            one => Some(vec![one]),
        };
    }
    let (mut quoted, mut inside) = (false, false);
    let parts = word.split(|c: char| {
        match c {
            '"' => quoted = !quoted,
            '<' => inside = true,
            '>' => inside = false,
            _ => {}
        }
        c == ',' && !quoted && !inside
    });
    let parts = parts.map(str::trim).filter(|part| !part.is_empty());
    Some(parts.map(person).collect())
}

/// `ADDRESS` or `NAME <ADDRESS>`.
fn person(part: &str) -> Value {
    let named = part
        .strip_suffix('>')
        .and_then(|part| part.rsplit_once('<'));
    match named {
        None => part.into(),
        Some((name, address)) => match name.trim().trim_matches('"') {
            "" => address.trim().into(),
            name => serde_json::json!({"address": address.trim(), "name": name}),
        },
    }
}

/// What was given of an operation's arguments, some of which stand without an option.
pub(crate) fn read(
    properties: &[Property],
    matches: &ArgMatches,
    positional: &[&str],
) -> Result<Map<String, Value>, Trouble> {
    let mut arguments = Map::new();
    for property in properties {
        let Ok(Some(words)) = matches.try_get_many::<String>(&property.name) else {
            continue;
        };
        let words: Vec<String> = words.cloned().collect();
        let shown = match positional.contains(&property.name()) {
            true => property.name.to_uppercase(),
            false => property.shown(),
        };
        arguments.insert(property.name.clone(), property.read(&words, &shown)?);
    }
    Ok(arguments)
}

/// Reads the words after `call OPERATION`: a JSON object, or options named as the arguments.
pub(crate) fn read_words(
    properties: &[Property],
    words: &[String],
) -> Result<Map<String, Value>, Trouble> {
    if let [only] = words
        && let Some(whole) = whole(only)?
    {
        let only = whole.as_ref();
        let value: Value = serde_json::from_str(only).map_err(|error| {
            Trouble::usage(
                format!("The arguments are not valid JSON: {error}."),
                "Give one JSON object, or options such as --limit 5.",
            )
        })?;
        return value.as_object().cloned().ok_or_else(|| {
            Trouble::usage(
                "The arguments are no JSON object.",
                "Give an object such as {\"limit\":5}.",
            )
        });
    }
    let mut given: Vec<(&Property, Vec<String>)> = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let (flag, value) = match word.strip_prefix("--") {
            Some(option) => option
                .split_once('=')
                .map_or((option, None), |(flag, value)| {
                    (flag, Some(value.to_owned()))
                }),
            None => {
                return Err(Trouble::usage(
                    format!("`{word}` stands alone."),
                    "Give one JSON object, or options such as --limit 5.",
                ));
            }
        };
        let name = flag.replace('-', "_");
        let property = properties
            .iter()
            .find(|property| property.name == name)
            .ok_or_else(|| unknown_option(properties, flag))?;
        let value = match value {
            Some(value) => value,
            None if property.kind == Kind::Flag => words
                .next_if(|next| matches!(next.as_str(), "true" | "false"))
                .cloned()
                .unwrap_or_else(|| "true".to_owned()),
            None => words.next().cloned().ok_or_else(|| {
                Trouble::usage(format!("--{flag} has no value."), "Give a value after it.")
            })?,
        };
        match given
            .iter_mut()
            .find(|(known, _)| known.name == property.name)
        {
            Some((_, values)) => values.push(value),
            None => given.push((property, vec![value])),
        }
    }
    given
        .into_iter()
        .map(|(property, words)| {
            let value = property.read(&words, &property.shown())?;
            Ok((property.name.clone(), value))
        })
        .collect()
}

/// All arguments in one word: the JSON itself, @FILE, or - for standard input; `None` for any other word.
fn whole(word: &str) -> Result<Option<Cow<'_, str>>, Trouble> {
    let read = match word.strip_prefix('@') {
        _ if word.trim_start().starts_with('{') => return Ok(Some(word.into())),
        Some(file) => std::fs::read_to_string(file),
        None if word == "-" => std::io::read_to_string(std::io::stdin()),
        None => return Ok(None),
    };
    read.map(|text| Some(text.into())).map_err(|error| {
        Trouble::io(
            format!("The arguments cannot be read: {error}."),
            "Name a file of JSON as @FILE, or - for standard input.",
        )
    })
}

fn unknown_option(properties: &[Property], flag: &str) -> Trouble {
    let known: Vec<String> = properties
        .iter()
        .map(|property| format!("--{}", property.flag()))
        .collect();
    Trouble::usage(
        format!("The operation has no argument --{flag}."),
        format!("It has: {}.", known.join(", ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn declared() -> Vec<Property> {
        [
            ("limit", json!({"type": ["integer", "null"]})),
            (
                "labels",
                json!({"type": "array", "items": {"type": "string"}}),
            ),
            (
                "is_unread",
                json!({"anyOf": [{"type": "boolean"}, {"type": "null"}]}),
            ),
            ("q", json!({"type": "string"})),
            ("metadata", json!({"type": "object"})),
            (
                "to",
                json!({"type": "array", "items": {"oneOf": [{"type": "string"}, {"type": "object"}]}}),
            ),
        ]
        .iter()
        .map(|(name, schema)| property(name, schema))
        .collect()
    }

    fn check(words: &[&str]) -> Result<Value, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        read_words(&declared(), &words)
            .map(Value::Object)
            .map_err(|trouble| trouble.message)
    }

    #[test]
    fn words_take_the_type_that_the_schema_asks_for() {
        let words = [
            "--limit",
            "5",
            "--labels",
            "a,b",
            "--labels=c",
            "--is-unread",
            "--q",
            "x y",
            "--metadata",
            "{\"a\":1}",
        ];
        assert_eq!(
            check(&words),
            Ok(
                json!({"limit": 5, "labels": ["a", "b", "c"], "is_unread": true, "q": "x y", "metadata": {"a": 1}})
            )
        );
        assert_eq!(check(&["{\"limit\": 7}"]), Ok(json!({"limit": 7})));
        assert_eq!(
            check(&["--is_unread", "false"]),
            Ok(json!({"is_unread": false}))
        );
    }

    #[test]
    fn people_are_written_as_in_a_mail_or_as_json() {
        let ada = json!({"address": "ada@there.example", "name": "Ada"});
        for (words, expected) in [
            (vec!["a@b.example"], json!(["a@b.example"])),
            (
                vec!["a@b.example, c@d.example"],
                json!(["a@b.example", "c@d.example"]),
            ),
            (vec!["Ada <ada@there.example>"], json!([ada])),
            (
                vec!["\"Ada\" <ada@there.example>,a@b.example", "<c@d.example>"],
                json!([ada, "a@b.example", "c@d.example"]),
            ),
            (
                vec!["\"Doe, Ada\" <ada@there.example>"],
                json!([{"address": "ada@there.example", "name": "Doe, Ada"}]),
            ),
            (
                vec!["{\"address\":\"ada@there.example\",\"name\":\"Ada\"}"],
                json!([ada]),
            ),
            (vec!["[\"a@b.example\"]"], json!(["a@b.example"])),
            (vec!["nobody"], json!(["nobody"])),
        ] {
            let words: Vec<&str> = words.iter().flat_map(|word| ["--to", word]).collect();
            assert_eq!(check(&words), Ok(json!({ "to": expected })), "{words:?}");
        }
        assert_eq!(
            check(&["--to", "{\"address\""]),
            Err("--to is not valid: expected addresses, 'NAME <ADDRESS>', or JSON.".to_owned())
        );
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_place() {
        for (words, expected) in [
            (
                vec!["--limit", "five"],
                "--limit is not valid: expected a whole number.",
            ),
            (
                vec!["--nothing", "1"],
                "The operation has no argument --nothing.",
            ),
            (vec!["alone"], "`alone` stands alone."),
            (vec!["--q"], "--q has no value."),
            (vec!["[1]"], "`[1]` stands alone."),
        ] {
            assert_eq!(check(&words), Err(expected.to_owned()));
        }
    }
}
