//! Rules compiled, and what they say of an envelope.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use cel::{
    Context, Env, ExecutionError, Value as CelValue,
    common::{ast::IdedExpr, types::CelBool},
    extractors::This,
};
use serde::Serialize;

use super::{
    Action, Envelope, Rule, RuleError, RuleSet,
    check::{self, Patterns},
    envelope::{EVENT_FIELDS, ROOTS},
    reads,
    value::{self, Meter},
};
use crate::Disposition;

/// The rules of a source, ready.
pub struct Rules {
    env: Arc<Env>,
    rules: Vec<(Rule, IdedExpr)>,
    default: Option<Action>,
    patterns: Arc<Patterns>,
}

/// Who decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// A rule.
    Rule,
    /// No rule matched.
    Default,
}

/// Why, where it is not that a rule matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// No rule matched.
    NoMatchDefault,
    /// A rule faulted.
    RuleFault,
}

/// A rule that could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The rule, counted from 0.
    pub rule_index: usize,
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    /// `missing_key`, `type_error`, `not_boolean`, `budget_exhausted`, `list_too_long` or `error`.
    pub cause: &'static str,
    /// In words, without anything that the delivery said.
    pub detail: &'static str,
}

/// How a judgement came about; kept on event and todo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trace {
    /// Who decided.
    pub stage: Stage,
    /// Why, where it is not that a rule matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The rule that decided or faulted, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_index: Option<usize>,
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_name: Option<String>,
    /// What happens; `None` for the source's own queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// Whether a text that the rules looked at is longer than what they see of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// Where a delivery goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// Routed, dropped, quarantined by a rule, or quarantined by a fault.
    pub disposition: Disposition,
    /// The queue; `None` for the source's own when routed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Before or after others of the queue.
    pub priority: i64,
    /// Words on the todo.
    pub tags: Vec<String>,
    /// Opens at most one todo for this key in the source, ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub once: Option<String>,
    /// How it came about.
    pub trace: Trace,
}

impl Rules {
    /// Reads and checks a set of rules.
    ///
    /// # Errors
    /// [`RuleError`] for the first thing that is wrong, with the rule and the place in its
    /// expression.
    pub fn compile(set: &RuleSet) -> Result<Self, RuleError> {
        set.check()?;
        let env = Env::stdlib().with_optional_support(false);
        let mut patterns = Patterns::new();
        let mut rules = Vec::with_capacity(set.rules.len());
        for (index, rule) in set.rules.iter().enumerate() {
            let expression =
                check::read(&env, &rule.expr, &mut patterns).map_err(|error| error.at(index))?;
            rules.push((rule.clone(), expression));
        }
        Ok(Self {
            env: Arc::new(env),
            rules,
            default: set.default.clone(),
            patterns: Arc::new(patterns),
        })
    }

    /// Whether a rule looks at what a delivery says: its mail, or its payload as a whole or in part.
    pub fn read_content(&self) -> bool {
        let mut expressions = self.rules.iter().map(|(_, expression)| expression);
        expressions.any(reads::content)
    }

    /// Judges a delivery. The same rules and envelope give the same judgement.
    pub fn evaluate(&self, envelope: &Envelope) -> Judgement {
        let meter = Arc::new(Meter::default());
        let mut judgement = self.judge(envelope, &meter);
        judgement.trace.truncated = meter.has_cut_text();
        judgement
    }

    fn judge(&self, envelope: &Envelope, meter: &Arc<Meter>) -> Judgement {
        let context = self.context(envelope, meter);
        for (index, (rule, expression)) in self.rules.iter().enumerate() {
            match is_true(expression, context.as_ref(), meter) {
                Ok(false) => {}
                Ok(true) => {
                    let trace = Trace::of_rule(index, rule, None, rule.action.clone(), Vec::new());
                    return Judgement::of(Some(&rule.action), envelope, trace);
                }
                Err((cause, detail)) => {
                    let fault = Fault {
                        rule_index: index,
                        rule_id: rule.id.clone(),
                        cause,
                        detail,
                    };
                    let cause = Some(Cause::RuleFault);
                    let action = Action::Quarantine;
                    let trace = Trace::of_rule(index, rule, cause, action, vec![fault]);
                    return Judgement {
                        disposition: Disposition::Faulted,
                        ..Judgement::of(Some(&Action::Quarantine), envelope, trace)
                    };
                }
            }
        }
        let trace = Trace {
            stage: Stage::Default,
            cause: Some(Cause::NoMatchDefault),
            rule_index: None,
            rule_id: None,
            rule_name: None,
            action: self.default.clone(),
            faults: Vec::new(),
            truncated: false,
        };
        Judgement::of(self.default.as_ref(), envelope, trace)
    }

    /// What all rules see and may call.
    fn context<'v>(
        &self,
        envelope: &'v Envelope,
        meter: &'v Arc<Meter>,
    ) -> Result<Context<'v, 'v>, ExecutionError> {
        let mut context = Context::with_env(Arc::clone(&self.env));
        self.declare(&mut context, meter)?;
        for name in ROOTS.iter().chain(EVENT_FIELDS) {
            context.add_variable_as_val(*name, value::of(envelope.variable(name), meter)?);
        }
        Ok(context)
    }

    /// Functions that are counted by what they read.
    fn declare(
        &self,
        context: &mut Context<'_, '_>,
        meter: &Arc<Meter>,
    ) -> Result<(), ExecutionError> {
        let wrong = |error: cel::DeclarationError| ExecutionError::InternalError(error.to_string());
        let (patterns, counted) = (Arc::clone(&self.patterns), Arc::clone(meter));
        let matches = move |This(text): This<Arc<String>>,
                            pattern: Arc<String>|
              -> Result<bool, ExecutionError> {
            counted.take(text.len() as u64)?;
            let pattern = patterns.get(pattern.as_str());
            pattern
                .map(|pattern| pattern.is_match(&text))
                .ok_or_else(|| ExecutionError::InternalError("pattern".to_owned()))
        };
        let counted = Arc::clone(meter);
        let lower = move |This(text): This<Arc<String>>| -> cel::ResolveResult {
            counted.take(text.len() as u64 / 16)?;
            Ok(CelValue::from(text.to_ascii_lowercase()))
        };
        context.add_function("matches", matches).map_err(wrong)?;
        context.add_function("lowerAscii", lower).map_err(wrong)
    }
}

/// Whether an expression is true; else why that cannot be said.
fn is_true(
    expression: &IdedExpr,
    context: Result<&Context<'_, '_>, &ExecutionError>,
    meter: &Meter,
) -> Result<bool, (&'static str, &'static str)> {
    let context = context.map_err(cause)?;
    // The evaluator is somebody else's and reads what an outsider wrote.
    let evaluated = catch_unwind(AssertUnwindSafe(|| {
        let result = CelValue::resolve_val(expression, context)?;
        Ok(result.downcast_ref::<CelBool>().map(|bool| *bool.inner()))
    }));
    if meter.is_exhausted() {
        return Err(("budget_exhausted", "the rules looked at more than they may"));
    }
    if meter.wanted_more_items() {
        let words = "a list or map has more than the 1000 items that are walked, and the answer lies behind \
                     them; `size(list) <= 1000 &&` in front leaves such deliveries out";
        return Err(("list_too_long", words));
    }
    match evaluated {
        Ok(Ok(Some(result))) => Ok(result),
        Ok(Ok(None)) => Err(("not_boolean", "the expression is neither true nor false")),
        Ok(Err(error)) => Err(cause(&error)),
        Err(_) => Err(("error", "the expression could not be evaluated")),
    }
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rules")
            .field("rules", &self.rules.len())
            .finish_non_exhaustive()
    }
}

impl Trace {
    fn of_rule(
        index: usize,
        rule: &Rule,
        cause: Option<Cause>,
        action: Action,
        faults: Vec<Fault>,
    ) -> Self {
        Self {
            stage: Stage::Rule,
            cause,
            rule_index: Some(index),
            rule_id: rule.id.clone(),
            rule_name: rule.name.clone(),
            action: Some(action),
            faults,
            truncated: false,
        }
    }
}

impl Judgement {
    fn of(action: Option<&Action>, envelope: &Envelope, trace: Trace) -> Self {
        let plain = Self {
            disposition: Disposition::Routed,
            queue: None,
            priority: 0,
            tags: Vec::new(),
            once: None,
            trace,
        };
        match action {
            None => plain,
            Some(Action::Drop) => Self {
                disposition: Disposition::Dropped,
                ..plain
            },
            Some(Action::Quarantine) => Self {
                disposition: Disposition::Quarantined,
                queue: Some(crate::QUARANTINE_QUEUE.to_owned()),
                ..plain
            },
            Some(Action::Queue {
                queue,
                priority,
                once,
                tags,
            }) => Self {
                // Nothing to compare with: a delivery without a subject opens its todo.
                once: envelope
                    .subject()
                    .filter(|_| *once)
                    .map(|subject| format!("{queue} {subject}")),
                queue: Some(queue.clone()),
                priority: *priority,
                tags: tags.clone(),
                ..plain
            },
        }
    }
}

/// What kind of fault an error is, in words of ours: its own may hold what an outsider wrote.
fn cause(error: &ExecutionError) -> (&'static str, &'static str) {
    match error {
        ExecutionError::NoSuchKey(_) => {
            ("missing_key", "a field is not there; ask with has() first")
        }
        ExecutionError::IndexOutOfBounds(_) => ("missing_key", "a list has no such item"),
        ExecutionError::NoSuchOverload(_)
        | ExecutionError::UnexpectedType { .. }
        | ExecutionError::UnsupportedTargetType { .. }
        | ExecutionError::NotSupportedAsMethod { .. }
        | ExecutionError::UnsupportedKeyType(_)
        | ExecutionError::ValuesNotComparable(..)
        | ExecutionError::UnsupportedBinaryOperator(..)
        | ExecutionError::UnsupportedIndex(..)
        | ExecutionError::InvalidArgumentCount { .. } => (
            "type_error",
            "an operator or function does not take values of this kind",
        ),
        ExecutionError::DivisionByZero(_)
        | ExecutionError::RemainderByZero(_)
        | ExecutionError::Overflow(..) => ("error", "a calculation has no result"),
        _ => ("error", "the expression could not be evaluated"),
    }
}
