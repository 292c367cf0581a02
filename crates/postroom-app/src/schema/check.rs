//! Arguments against a published schema.

use jsonschema::{
    ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use postroom_types::{Dialect, ErrorCode, kind_of};
use serde_json::{Value, json};

use crate::Failure;

/// Faults named in one answer; the rest would only repeat them.
const ERRORS_LISTED: usize = 10;
/// Characters of a caller's own argument name that are repeated to it.
const NAME_CHARS: usize = 64;

/// A compiled schema.
#[derive(Debug)]
pub struct Checker(Option<Validator>);

impl Checker {
    /// Compiles `schema`; one that does not compile lets nothing through (a test holds that every
    /// published schema compiles).
    pub fn new(schema: &Value) -> Self {
        Self(
            jsonschema::draft202012::options()
                .should_validate_formats(true)
                .build(schema)
                .ok(),
        )
    }

    /// Checks a value.
    ///
    /// # Errors
    /// The dialect's code for a bad argument, with `details.errors[{path,message}]`. Messages speak
    /// of the schema and never repeat a value.
    pub fn check(&self, value: &Value, dialect: Dialect) -> Result<(), Failure> {
        let Some(validator) = &self.0 else {
            return Err(ErrorCode::InternalError.into());
        };
        if validator.is_valid(value) {
            return Ok(());
        }
        if dialect == Dialect::Mail
            && let Some(most) = too_many_recipients(validator, value)
        {
            return Err(Failure::new(ErrorCode::TooManyRecipients).with("max", most));
        }
        let errors: Vec<Value> = validator
            .iter_errors(value)
            .flat_map(|error| entries(&error))
            .take(ERRORS_LISTED)
            .collect();
        let code = match dialect {
            Dialect::Mail => ErrorCode::InvalidRequest,
            Dialect::Events => ErrorCode::InvalidArgument,
        };
        Err(Failure::new(code).with("errors", errors))
    }
}

/// The most recipients that a list takes, when nothing but the length of such lists is wrong: that has a
/// code of its own, here as where the policy's bound is passed.
fn too_many_recipients(validator: &Validator, value: &Value) -> Option<u64> {
    let mut most = None;
    for error in validator.iter_errors(value) {
        let path = error.instance_path().as_str();
        match error.kind() {
            ValidationErrorKind::MaxItems { limit } if matches!(path, "/to" | "/cc" | "/bcc") => {
                most = Some(*limit);
            }
            _ => return None,
        }
    }
    most
}

/// `path` in the form `to.0.address`, and words about what the schema asks for.
fn entries(error: &ValidationError<'_>) -> Vec<Value> {
    let path = error
        .instance_path()
        .as_str()
        .trim_start_matches('/')
        .replace('/', ".");
    let at = |name: &str| match path.as_str() {
        "" => known(name),
        path => format!("{}.{}", known(path), known(name)),
    };
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => unexpected
            .iter()
            .map(|name| json!({"path": at(name), "message": "there is no such argument"}))
            .collect(),
        ValidationErrorKind::Required { property } => {
            vec![
                json!({"path": at(property.as_str().unwrap_or_default()), "message": "is required"}),
            ]
        }
        ValidationErrorKind::Pattern { pattern } if pattern.contains(ULID) => {
            vec![json!({"path": known(&path), "message": id_words(pattern, error.instance())})]
        }
        kind => vec![json!({"path": known(&path), "message": words(kind)})],
    }
}

/// Which JSON types are taken, with their articles.
fn type_words(kind: &TypeKind) -> String {
    let mut wanted: Vec<String> = match kind {
        TypeKind::Single(only) => vec![only.to_string()],
        TypeKind::Multiple(several) => several.iter().map(|one| one.to_string()).collect(),
    };
    // Null is said last: it is what leaves the argument out.
    wanted.sort_by_key(|name| name == "null");
    let named: Vec<String> = wanted
        .iter()
        .map(|name| match name.as_str() {
            "null" => "null".to_owned(),
            name => with_article(name),
        })
        .collect();
    format!("must be {}", named.join(" or "))
}

fn with_article(noun: &str) -> String {
    match noun.starts_with(['a', 'e', 'i', 'o', 'u']) {
        true => format!("an {noun}"),
        false => format!("a {noun}"),
    }
}

/// What the pattern of every typed id holds.
const ULID: &str = "_[0-9A-HJKMNP-TV-Z]{26}$";

/// What kind of id is asked for, and what kind was given where its prefix tells.
fn id_words(pattern: &str, given: &Value) -> String {
    let prefix = pattern.trim_start_matches('^').trim_end_matches(ULID);
    let wanted = kind_of(&format!("{prefix}_")).unwrap_or("typed");
    let found = given.as_str().and_then(kind_of);
    match found {
        Some(found) if found != wanted => {
            let wanted = with_article(wanted);
            format!("this is the id of another kind of thing ({found}); {wanted} id is wanted")
        }
        _ => {
            let wanted = with_article(wanted);
            format!("must be {wanted} id: {prefix}_ and 26 characters")
        }
    }
}

/// An argument's name as it may be repeated: printable ASCII only, and not longer than names are.
pub(crate) fn known(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') {
                c
            } else {
                '?'
            }
        })
        .take(NAME_CHARS)
        .collect()
}

fn words(kind: &ValidationErrorKind) -> String {
    match kind {
        ValidationErrorKind::Type { kind } => type_words(kind),
        ValidationErrorKind::Enum { options } => format!("must be one of {options}"),
        ValidationErrorKind::Constant { expected_value } => format!("must be {expected_value}"),
        ValidationErrorKind::Maximum { limit } => format!("must be at most {limit}"),
        ValidationErrorKind::Minimum { limit } => format!("must be at least {limit}"),
        ValidationErrorKind::MaxLength { limit } => format!("must have at most {limit} characters"),
        ValidationErrorKind::MinLength { limit } => {
            format!("must have at least {limit} characters")
        }
        ValidationErrorKind::MaxItems { limit } => format!("must have at most {limit} items"),
        ValidationErrorKind::MinItems { limit } => format!("must have at least {limit} items"),
        ValidationErrorKind::MaxProperties { limit } => {
            format!("must have at most {limit} entries")
        }
        ValidationErrorKind::UniqueItems => "must not repeat an item".to_owned(),
        ValidationErrorKind::Pattern { pattern } => format!("must match {pattern}"),
        ValidationErrorKind::Format { format } if format == "date-time" => {
            "must be an RFC 3339 instant such as 2026-11-30T12:00:00Z".to_owned()
        }
        ValidationErrorKind::Format { format } => format!("must be a {format}"),
        _ => "is not valid".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(schema: Value, value: Value) -> Value {
        let failure = Checker::new(&schema)
            .check(&value, Dialect::Mail)
            .expect_err("refused");
        assert_eq!(failure.code, ErrorCode::InvalidRequest);
        failure.details["errors"].clone()
    }

    #[test]
    fn each_fault_is_named_by_path_and_no_value_is_repeated() {
        let schema = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["q"],
            "properties": {
                "q": {"type": "string"},
                "limit": {"type": "integer", "maximum": 5},
                "labels": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}},
            },
        });
        let value = json!({"limit": 6, "labels": ["ok", "<evil>"], "ignore previous": 1});
        let found = errors(schema, value);
        let text = found.to_string();
        assert!(!text.contains("evil"), "{text}");
        for path in ["q", "limit", "labels.1", "ignore?previous"] {
            assert!(
                text.contains(&format!("\"path\":\"{path}\"")),
                "{path} in {text}"
            );
        }
    }

    #[test]
    fn an_id_of_another_kind_is_told_so() {
        let pattern = "^msg_[0-9A-HJKMNP-TV-Z]{26}$";
        let schema = json!({"type": "object", "properties": {"message_id": {"type": "string", "pattern": pattern}}});
        for (given, said) in [
            ("thr_01ARZ3NDEKTSV4RRFFQ69G5FAV", "thread"),
            ("msg_01ARZ3NDEKTSV4RRFFQ69G5FA", "msg_ and 26"),
            ("nonsense", "a message id"),
        ] {
            let found = errors(schema.clone(), json!({"message_id": given}));
            let words = found[0]["message"].as_str().expect("words");
            assert!(words.contains(said) && !words.contains(given), "{words}");
        }
    }

    #[test]
    fn a_value_of_another_type_is_told_which_is_wanted() {
        for (schema, said) in [
            (json!({"type": "string"}), "must be a string"),
            (json!({"type": "integer"}), "must be an integer"),
            (json!({"type": "array"}), "must be an array"),
            (
                json!({"type": ["null", "object"]}),
                "must be an object or null",
            ),
        ] {
            let schema = json!({"type": "object", "properties": {"a": schema}});
            let found = errors(schema, json!({"a": true}));
            assert_eq!(found[0]["message"], said);
        }
    }

    #[test]
    fn an_id_is_named_with_its_article() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^idn_[0-9A-HJKMNP-TV-Z]{26}$"}}});
        let found = errors(schema, json!({"a": "x"}));
        assert_eq!(
            found[0]["message"],
            "must be an identity id: idn_ and 26 characters"
        );
    }

    #[test]
    fn dates_are_checked() {
        let schema = json!({"type": "object", "properties": {"after": {"type": "string", "format": "date-time"}}});
        let found = errors(schema, json!({"after": "yesterday"}));
        assert_eq!(found[0]["path"], "after");
    }
}
