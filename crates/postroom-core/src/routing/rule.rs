//! Rules as they are written and stored.

use postroom_types::{
    ErrorCode,
    limit::{
        RULE_ID_BYTES, RULE_NAME_BYTES, RULE_PARAMS_BYTES, RULES_PER_SOURCE, TODO_PRIORITY,
        TODO_TAGS,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{QUARANTINE_QUEUE, is_label, is_queue_name};

/// The rules of one source, in order, with what happens when none matches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSet {
    /// The rules; the first that matches decides.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// What happens when none matches; without it the delivery goes to the source's own queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Action>,
    /// Values that rules see as `params`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Value>,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// `[A-Za-z0-9_-]{1,64}`; whoever saves the rule mints one when it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A CEL expression that is true or false.
    pub expr: String,
    /// What happens when it is true.
    pub action: Action,
}

/// What happens to a delivery: exactly one of a queue, drop, quarantine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenAction", into = "WrittenAction")]
pub enum Action {
    /// A todo in a queue.
    Queue {
        /// The queue.
        queue: String,
        /// Before or after others of the queue; 0 is neither.
        priority: i64,
        /// Whether a subject opens at most one todo in this queue, ever.
        once: bool,
        /// Words on the todo.
        tags: Vec<String>,
    },
    /// The event is kept, nothing is opened.
    Drop,
    /// A todo that only reviewers see.
    Quarantine,
}

/// An action as it is written.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAction {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    queue: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    priority: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    once: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tags: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drop: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quarantine: Option<bool>,
}

impl TryFrom<WrittenAction> for Action {
    type Error = &'static str;

    fn try_from(written: WrittenAction) -> Result<Self, Self::Error> {
        let plain = written.priority.is_none() && written.once.is_none() && written.tags.is_none();
        match (written.queue, written.drop, written.quarantine) {
            (Some(queue), None, None) => Ok(Self::Queue {
                queue,
                priority: written.priority.unwrap_or(0),
                once: written.once.unwrap_or(false),
                tags: written.tags.unwrap_or_default(),
            }),
            (None, Some(true), None) if plain => Ok(Self::Drop),
            (None, None, Some(true)) if plain => Ok(Self::Quarantine),
            _ => Err(
                "an action is exactly one of {\"queue\": NAME} (with priority, once, tags), {\"drop\": true}, {\"quarantine\": true}",
            ),
        }
    }
}

impl From<Action> for WrittenAction {
    fn from(action: Action) -> Self {
        match action {
            Action::Queue {
                queue,
                priority,
                once,
                tags,
            } => Self {
                queue: Some(queue),
                priority: (priority != 0).then_some(priority),
                once: once.then_some(true),
                tags: (!tags.is_empty()).then_some(tags),
                ..Self::default()
            },
            Action::Drop => Self {
                drop: Some(true),
                ..Self::default()
            },
            Action::Quarantine => Self {
                quarantine: Some(true),
                ..Self::default()
            },
        }
    }
}

/// Why rules cannot be saved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RuleError {
    /// `invalid_rule`, `invalid_expression`, `forbidden_function` or `too_many_rules`.
    pub code: ErrorCode,
    /// The rule, counted from 0; `None` when it is the set.
    pub rule_index: Option<usize>,
    /// The place in the expression, in characters from 0.
    pub position: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl RuleError {
    pub(super) fn rule(message: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::InvalidRule,
            rule_index: None,
            position: None,
            message: message.into(),
        }
    }

    pub(super) fn expression(position: Option<usize>, message: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::InvalidExpression,
            position,
            ..Self::rule(message)
        }
    }

    pub(super) fn at(self, rule_index: usize) -> Self {
        Self {
            rule_index: Some(rule_index),
            ..self
        }
    }
}

impl RuleSet {
    /// Reads a set as it came over the wire or out of the store.
    ///
    /// # Errors
    /// [`RuleError`] with `invalid_rule` and the rule that cannot be read.
    pub fn read(value: &Value) -> Result<Self, RuleError> {
        // Rule by rule, so that the error names one.
        let rules = value.get("rules").and_then(Value::as_array);
        for (index, rule) in rules.into_iter().flatten().enumerate() {
            Rule::deserialize(rule)
                .map_err(|error| RuleError::rule(error.to_string()).at(index))?;
        }
        Self::deserialize(value).map_err(|error| RuleError::rule(error.to_string()))
    }

    /// Everything that can be said of the set without reading its expressions.
    pub(super) fn check(&self) -> Result<(), RuleError> {
        if self.rules.len() > RULES_PER_SOURCE {
            return Err(RuleError {
                code: ErrorCode::TooManyRules,
                ..RuleError::rule(format!("a source has at most {RULES_PER_SOURCE} rules"))
            });
        }
        let params = serde_json::to_string(&self.params).map_or(usize::MAX, |text| text.len());
        if params > RULE_PARAMS_BYTES {
            let message = format!("params are at most {RULE_PARAMS_BYTES} bytes of JSON");
            return Err(RuleError::rule(message));
        }
        if let Some((name, _)) = self.params.iter().find(|(_, value)| !is_param(value)) {
            let message = "is a text, a number, true, false, or a list of one kind of these";
            return Err(RuleError::rule(format!("params.{name} {message}")));
        }
        if let Some(action) = &self.default {
            check_action(action)?;
        }
        for (index, rule) in self.rules.iter().enumerate() {
            rule.check().map_err(|error| error.at(index))?;
            let same = |other: &Rule| rule.id.is_some() && other.id == rule.id;
            if self.rules.iter().take(index).any(same) {
                return Err(RuleError::rule("another rule has the same id").at(index));
            }
        }
        Ok(())
    }
}

impl Rule {
    fn check(&self) -> Result<(), RuleError> {
        let id = |text: &String| {
            (1..=RULE_ID_BYTES).contains(&text.len())
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        };
        if !self.id.as_ref().is_none_or(id) {
            return Err(RuleError::rule(
                "an id is 1 to 64 letters, digits, underscores and hyphens",
            ));
        }
        if self
            .name
            .as_ref()
            .is_some_and(|name| name.len() > RULE_NAME_BYTES || name.chars().any(char::is_control))
        {
            return Err(RuleError::rule(format!(
                "a name is at most {RULE_NAME_BYTES} bytes in one line"
            )));
        }
        check_action(&self.action)
    }
}

fn check_action(action: &Action) -> Result<(), RuleError> {
    let Action::Queue {
        queue,
        priority,
        tags,
        ..
    } = action
    else {
        return Ok(());
    };
    if !is_queue_name(queue) {
        return Err(RuleError::rule(
            "a queue is 1 to 64 of a-z, 0-9, dot, underscore and hyphen, a letter or digit first",
        ));
    }
    if queue == QUARANTINE_QUEUE {
        return Err(RuleError::rule(
            "this queue is reserved; the action {\"quarantine\": true} leads to it",
        ));
    }
    if !(-TODO_PRIORITY..=TODO_PRIORITY).contains(priority) {
        return Err(RuleError::rule(format!(
            "a priority is from -{TODO_PRIORITY} to {TODO_PRIORITY}"
        )));
    }
    if tags.len() > TODO_TAGS || !tags.iter().all(|tag| is_label(tag)) {
        return Err(RuleError::rule(format!(
            "tags are at most {TODO_TAGS} words of a-z, 0-9, underscore, colon and hyphen"
        )));
    }
    Ok(())
}

/// A scalar, or a list of scalars of one kind.
fn is_param(value: &Value) -> bool {
    let kind = |value: &Value| match value {
        Value::String(_) => Some(0),
        Value::Number(_) => Some(1),
        Value::Bool(_) => Some(2),
        _ => None,
    };
    match value {
        Value::Array(items) => {
            let first = items.first().and_then(kind);
            items
                .iter()
                .all(|item| kind(item).is_some() && kind(item) == first)
        }
        scalar => kind(scalar).is_some(),
    }
}
