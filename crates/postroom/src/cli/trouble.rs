//! What a command says when it does not succeed: a code, a sentence, what to do, an exit status.

use postroom_app::Failure;
use serde_json::{Map, Value, json};

use crate::{
    cli::terminal::{Terminal, plain},
    config::ConfigError,
};

/// Exit status: problems were found.
pub(crate) const PROBLEMS: u8 = 1;
/// Exit status: the command was used wrongly, or a file or a server could not be reached.
pub(crate) const USAGE: u8 = 2;

/// The longest value that is shown again where it is at fault, bytes.
const SHOWN_BYTES: usize = 120;

/// Why a command did not succeed.
#[derive(Debug)]
pub(crate) struct Trouble {
    /// A stable code.
    pub(crate) code: Box<str>,
    /// One sentence.
    pub(crate) message: String,
    /// What to do.
    pub(crate) fix: String,
    /// The exit status.
    pub(crate) exit: u8,
    /// Further facts.
    pub(crate) details: Value,
    /// The request that a server named.
    pub(crate) request_id: Option<Box<str>>,
}

impl Trouble {
    /// The command line is wrong.
    pub(crate) fn usage(message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::new("usage", message, fix, USAGE)
    }

    /// A command line that cannot be read, for who reads JSON.
    pub(crate) fn of_usage(error: &clap::Error) -> Self {
        let told = error.render().to_string();
        let first = told.lines().next().unwrap_or_default();
        let message = first.strip_prefix("error: ").unwrap_or(first);
        Self::usage(message, "See the help: add --help to the command.")
    }

    /// A file, a folder or a server cannot be used.
    pub(crate) fn io(message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::new("io", message, fix, USAGE)
    }

    pub(crate) fn new(
        code: &str,
        message: impl Into<String>,
        fix: impl Into<String>,
        exit: u8,
    ) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            fix: fix.into(),
            exit,
            details: Value::Null,
            request_id: None,
        }
    }

    /// The same with what was given at each argument that is at fault: a server repeats no value, and
    /// whoever typed it looks for it.
    pub(crate) fn showing(mut self, arguments: &Map<String, Value>) -> Self {
        let errors = self.details.get_mut("errors").and_then(Value::as_array_mut);
        let given = Value::Object(arguments.clone());
        for error in errors.into_iter().flatten() {
            let path = error
                .get("path")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let place = path.replace(['.', '['], "/").replace(']', "");
            let value = given.pointer(&format!("/{place}"));
            let value = value.and_then(Value::as_str);
            if let Some(value) = value.filter(|value| value.len() <= SHOWN_BYTES) {
                error["given"] = value.into();
            }
        }
        self
    }

    /// Reads the error envelope of a server; `None` when it is none.
    pub(crate) fn from_envelope(envelope: &Value) -> Option<Self> {
        let error = envelope.get("error")?;
        let text = |name: &str| {
            error
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let code = text("code");
        let known = postroom_types::ErrorCode::ALL
            .iter()
            .find(|known| known.as_str() == code);
        Some(Self {
            message: text("message"),
            fix: text("fix"),
            exit: known.map_or(USAGE, |known| known.exit_status()),
            details: error.get("details").cloned().unwrap_or_default(),
            request_id: error
                .get("request_id")
                .and_then(Value::as_str)
                .map(Into::into),
            code: code.into(),
        })
    }

    /// Says it on standard error; with `--json` the envelope on standard output instead.
    pub(crate) fn say(&self, terminal: Terminal) {
        if terminal.json {
            terminal.value(&self.envelope());
            return;
        }
        terminal.note(&format!("error: {} ({})", self.message, self.code));
        for line in detail_lines(&self.details) {
            terminal.note(&format!("  {line}"));
        }
        if !self.fix.is_empty() {
            terminal.note(&format!(
                "  what to do: {}",
                spoken(&self.fix, &self.details)
            ));
        }
    }

    fn envelope(&self) -> Value {
        let mut error = json!({
            "code": &*self.code,
            "message": self.message,
            "retryable": false,
            "fix": self.fix,
        });
        if let Some(known) = postroom_types::ErrorCode::ALL
            .iter()
            .find(|known| known.as_str() == &*self.code)
        {
            error["retryable"] = known.retryable().into();
        }
        if let Some(request_id) = &self.request_id {
            error["request_id"] = request_id.as_ref().into();
        }
        if !self.details.is_null() {
            error["details"] = self.details.clone();
        }
        json!({ "error": error })
    }
}

/// Advice for a person: where it points into the details of the envelope, what stands there.
fn spoken(fix: &str, details: &Value) -> String {
    let errors = details.get("errors").and_then(Value::as_array);
    let mut paths: Vec<&str> = errors
        .into_iter()
        .flatten()
        .filter_map(|error| error.get("path").and_then(Value::as_str))
        .filter(|path| !path.is_empty())
        .collect();
    paths.dedup();
    let fields = match paths.is_empty() {
        true => "what is named above".to_owned(),
        false => paths.join(", "),
    };
    let position = match details.get("position") {
        Some(position) => format!("at position {position}"),
        None => "where it says".to_owned(),
    };
    let required = details.get("required").and_then(Value::as_str);
    let required = required.unwrap_or("what is named above");
    let resets_at = details.get("resets_at").and_then(Value::as_str);
    let resets_at = resets_at.unwrap_or("the day has ended");
    fix.replace("the fields in details.errors", &fields)
        .replace("details.resets_at", resets_at)
        .replace("at details.position", &position)
        .replace("details.required", required)
}

/// The facts of an error in lines for a person.
fn detail_lines(details: &Value) -> Vec<String> {
    let Some(object) = details.as_object() else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for (name, value) in object {
        match value.as_array().filter(|_| name == "errors") {
            Some(errors) => lines.extend(errors.iter().map(|error| {
                let part = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
                let given = match part("given") {
                    "" => String::new(),
                    given => format!(" `{}`", plain(given)),
                };
                format!("{}{given}: {}", part("path"), part("message"))
            })),
            None => lines.push(format!(
                "{name}: {}",
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned)
            )),
        }
    }
    lines
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self {
            code: failure.code.as_str().into(),
            exit: failure.code.exit_status(),
            details: if failure.details.is_empty() {
                Value::Null
            } else {
                Value::Object(failure.details)
            },
            message: failure.message,
            fix: failure.fix,
            request_id: None,
        }
    }
}

impl From<ConfigError> for Trouble {
    fn from(error: ConfigError) -> Self {
        Self::new("config", format!("{error}."), error.fix(), USAGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use postroom_types::ErrorCode;

    #[test]
    fn what_was_given_is_shown_where_it_is_at_fault() {
        let errors = json!([
            {"path": "to[1]", "message": "m"}, {"path": "to.0.address", "message": "m"},
            {"path": "text", "message": "m"}, {"path": "nowhere", "message": "m"},
        ]);
        let mut trouble = Trouble::usage("No.", "Yes.");
        trouble.details = json!({ "errors": errors });
        let given =
            json!({"to": [{"address": "a"}, "b\u{7}"], "text": "x".repeat(SHOWN_BYTES + 1)});
        let told = trouble.showing(given.as_object().expect("an object"));
        assert_eq!(
            detail_lines(&told.details),
            [
                "to[1] `b`: m",
                "to.0.address `a`: m",
                "text: m",
                "nowhere: m"
            ]
        );
    }

    #[test]
    fn advice_to_a_person_names_what_the_details_hold() {
        let errors = json!({"errors": [{"path": "level", "message": "m"}, {"path": "name", "message": "m"}]});
        for (code, details, expected) in [
            (ErrorCode::InvalidRequest, errors, "level, name"),
            (ErrorCode::InvalidRequest, Value::Null, "above"),
            (
                ErrorCode::InvalidQuery,
                json!({"position": 7}),
                "at position 7",
            ),
            (
                ErrorCode::DailyCapReached,
                json!({"resets_at": "2026-12-01T00:00:00Z"}),
                "after 2026-12-01T00:00:00Z",
            ),
            (
                ErrorCode::PermissionDenied,
                json!({"required": "todos:work"}),
                "todos:work",
            ),
        ] {
            let said = spoken(code.fix(), &details);
            assert!(said.contains(expected), "{said}");
        }
        for code in ErrorCode::ALL {
            let said = spoken(code.fix(), &Value::Null);
            assert!(!said.contains("details."), "{said}");
        }
    }
}
