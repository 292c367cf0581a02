//! Conditions without `not` and `in`, which most languages do not have.

use serde_json::Value as Json;

use crate::model::{Condition, Operator};

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Logic {
    /// One test.
    Atom(Atom),
    /// All hold; at least two.
    All(Vec<Logic>),
    /// One holds; at least two.
    Any(Vec<Logic>),
    /// Always the same.
    Constant(bool),
}

/// One test of one variable.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Atom {
    pub(crate) path: String,
    pub(crate) test: Test,
}

/// How a variable is tested.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    /// Not missing, null, false, zero or empty.
    Exists,
    /// The opposite.
    Empty,
    Eq(Json),
    Ne(Json),
    Gt(Json),
    Gte(Json),
    Lt(Json),
    Lte(Json),
    Contains(Json),
    Lacks(Json),
}

impl Test {
    /// The opposite.
    pub(crate) fn negated(self) -> Self {
        match self {
            Self::Exists => Self::Empty,
            Self::Empty => Self::Exists,
            Self::Eq(value) => Self::Ne(value),
            Self::Ne(value) => Self::Eq(value),
            Self::Gt(value) => Self::Lte(value),
            Self::Gte(value) => Self::Lt(value),
            Self::Lt(value) => Self::Gte(value),
            Self::Lte(value) => Self::Gt(value),
            Self::Contains(value) => Self::Lacks(value),
            Self::Lacks(value) => Self::Contains(value),
        }
    }
}

impl Logic {
    /// A condition of a document.
    pub(crate) fn of(condition: &Condition) -> Self {
        Self::build(condition, false)
    }

    /// Whether a variable has a value.
    pub(crate) fn exists(path: &str) -> Self {
        Self::Atom(Atom {
            path: path.to_owned(),
            test: Test::Exists,
        })
    }

    fn build(condition: &Condition, negate: bool) -> Self {
        match condition {
            Condition::Not(inner) => Self::build(inner, !negate),
            Condition::All(parts) => {
                Self::join(parts.iter().map(|part| Self::build(part, negate)), !negate)
            }
            Condition::Any(parts) => {
                Self::join(parts.iter().map(|part| Self::build(part, negate)), negate)
            }
            Condition::Test {
                variable,
                operator: Operator::In,
                value,
            } => {
                let values = value.as_array().cloned().unwrap_or_default();
                let atoms = values
                    .into_iter()
                    .map(|value| Self::test(variable, Operator::Eq, value, negate));
                Self::join(atoms, negate)
            }
            Condition::Test {
                variable,
                operator,
                value,
            } => Self::test(variable, *operator, value.clone(), negate),
        }
    }

    fn test(path: &str, operator: Operator, value: Json, negate: bool) -> Self {
        let test =
            match (operator, value) {
                // False and missing are the same to a mail, as they are to most languages.
                (Operator::Eq, Json::Bool(true))
                | (Operator::Ne, Json::Bool(false) | Json::Null) => Test::Exists,
                (Operator::Ne, Json::Bool(true))
                | (Operator::Eq, Json::Bool(false) | Json::Null) => Test::Empty,
                (Operator::Exists, _) => Test::Exists,
                (Operator::Empty, _) => Test::Empty,
                (Operator::Eq | Operator::In, value) => Test::Eq(value),
                (Operator::Ne, value) => Test::Ne(value),
                (Operator::Gt, value) => Test::Gt(value),
                (Operator::Gte, value) => Test::Gte(value),
                (Operator::Lt, value) => Test::Lt(value),
                (Operator::Lte, value) => Test::Lte(value),
                (Operator::Contains, value) => Test::Contains(value),
            };
        Self::Atom(Atom {
            path: path.to_owned(),
            test: if negate { test.negated() } else { test },
        })
    }

    fn join(parts: impl Iterator<Item = Self>, all: bool) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Self::Constant(value) if value == all => {}
                Self::Constant(value) => return Self::Constant(value),
                Self::All(inner) if all => kept.extend(inner),
                Self::Any(inner) if !all => kept.extend(inner),
                other => kept.push(other),
            }
        }
        match (kept.len(), all) {
            (0, _) => Self::Constant(all),
            (1, _) => kept.pop().unwrap_or(Self::Constant(all)),
            (_, true) => Self::All(kept),
            (_, false) => Self::Any(kept),
        }
    }

    /// How many tests it has.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Atom(_) => 1,
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::len).sum(),
            Self::Constant(_) => 0,
        }
    }
}
