//! From a REST request to an operation's arguments.

use postroom_types::ErrorCode;
use serde_json::{Map, Value};

use super::{Operation, Route};
use crate::Failure;

/// The parameter that has a sending operation say what it would do. It stands among a row's `include`
/// values and is a parameter of its own.
pub const DRY_RUN: &str = "dry_run";

/// What a REST request says, before it is known what it means.
#[derive(Debug, Clone, Default)]
pub struct RestRequest {
    /// Path parameters by the names in the route's path, decoded.
    pub path: Vec<(String, String)>,
    /// Query parameters in order, decoded.
    pub query: Vec<(String, String)>,
    /// The JSON body; `None` when there is none.
    pub body: Option<Value>,
}

/// What it means.
#[derive(Debug, Clone, PartialEq)]
pub struct RestCall {
    /// The operation's arguments, still to be checked.
    pub arguments: Value,
    /// Values of the parameter `include`.
    pub include: Vec<String>,
}

impl Operation {
    /// Maps a REST request on one of the operation's routes to the arguments that an MCP call
    /// would carry.
    ///
    /// Path and query parameters take the JSON type that the input schema asks for; one that
    /// cannot is left as text, for the check to refuse. What the path says the body may repeat and
    /// not contradict.
    ///
    /// # Errors
    /// The dialect's code for a bad argument: a body that is no object, a parameter given twice
    /// with different values, an `include` that the operation does not know.
    pub fn rest_arguments(&self, route: &Route, request: RestRequest) -> Result<RestCall, Failure> {
        let mut arguments = match request.body {
            None => Map::new(),
            Some(Value::Object(object)) => object,
            Some(_) => return Err(self.refuse("", "the body must be a JSON object")),
        };
        let mut include = Vec::new();
        let mut given = Map::new();
        for (name, text) in request.query {
            if name == "include" && self.shows_more() {
                self.read_include(&text, &mut include)?;
            } else if name == DRY_RUN && self.include.contains(&DRY_RUN) {
                match text.as_str() {
                    "true" | "1" => include.push(DRY_RUN.to_owned()),
                    "false" | "0" => {}
                    _ => return Err(self.refuse(DRY_RUN, "must be true or false")),
                }
            } else {
                self.add(&mut given, &name, text)?;
            }
        }
        for (name, text) in request.path {
            let name = route.argument(&name);
            if self.property(name).is_some() {
                self.add(&mut given, name, text)?;
            }
        }
        for (name, text) in route.binds {
            let value = serde_json::from_str(text).map_err(|_| ErrorCode::InternalError)?;
            given.insert((*name).to_owned(), value);
        }
        for (name, value) in given {
            if arguments.get(&name).is_some_and(|other| *other != value) {
                return Err(self.refuse(&name, "differs from the path or query"));
            }
            arguments.insert(name, value);
        }
        Ok(RestCall {
            arguments: Value::Object(arguments),
            include,
        })
    }

    /// Whether `include` names anything.
    fn shows_more(&self) -> bool {
        self.include.iter().any(|value| *value != DRY_RUN)
    }

    fn read_include(&self, text: &str, include: &mut Vec<String>) -> Result<(), Failure> {
        for value in text.split(',').filter(|value| !value.is_empty()) {
            if value == DRY_RUN || !self.include.contains(&value) {
                return Err(self.refuse("include", "names something this route does not have"));
            }
            include.push(value.to_owned());
        }
        Ok(())
    }

    /// Adds one parameter; a list is made of a parameter that is repeated.
    fn add(&self, given: &mut Map<String, Value>, name: &str, text: String) -> Result<(), Failure> {
        let schema = self.property(name);
        let kind = |schema: Option<&Value>| {
            schema
                .and_then(|found| found.get("type"))
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        if kind(schema).as_deref() == Some("array") {
            let items = kind(schema.and_then(|found| found.get("items")));
            let value = typed(text, items.as_deref());
            match given.get_mut(name) {
                Some(Value::Array(list)) => list.push(value),
                _ => {
                    given.insert(name.to_owned(), Value::Array(vec![value]));
                }
            }
            return Ok(());
        }
        let value = typed(text, kind(schema).as_deref());
        match given.insert(name.to_owned(), value.clone()) {
            Some(other) if other != value => Err(self.refuse(name, "is given twice")),
            _ => Ok(()),
        }
    }

    fn property(&self, name: &str) -> Option<&'static Value> {
        self.input_schema().get("properties")?.get(name)
    }

    fn refuse(&self, path: &str, message: &str) -> Failure {
        let short: String = path
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
            .take(64)
            .collect();
        Failure::argument(self.dialect, &short, message)
    }
}

impl Route {
    /// The argument that a path parameter fills.
    pub fn argument<'a>(&self, parameter: &'a str) -> &'a str {
        self.renames
            .iter()
            .find(|(from, _)| *from == parameter)
            .map_or(parameter, |(_, to)| to)
    }
}

fn typed(text: String, kind: Option<&str>) -> Value {
    match kind {
        Some("integer") => match text.parse::<i64>() {
            Ok(number) => number.into(),
            Err(_) => text.into(),
        },
        Some("number") => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => number.into(),
            _ => text.into(),
        },
        Some("boolean") => match text.as_str() {
            "true" => true.into(),
            "false" => false.into(),
            _ => text.into(),
        },
        _ => text.into(),
    }
}
