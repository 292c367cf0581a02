//! When a block or a stretch of text is shown.

use serde_json::Value;

/// How a variable is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Greater.
    Gt,
    /// Greater or equal.
    Gte,
    /// Less.
    Lt,
    /// Less or equal.
    Lte,
    /// Has a value that is not empty, not false and not zero; takes no value.
    Exists,
    /// Has no such value; takes no value.
    Empty,
    /// Is one of the values of a list.
    In,
    /// Holds the value: a list an element, a text a part.
    Contains,
}

impl Operator {
    /// Every operator with its name in a document.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("eq", Self::Eq),
        ("ne", Self::Ne),
        ("gt", Self::Gt),
        ("gte", Self::Gte),
        ("lt", Self::Lt),
        ("lte", Self::Lte),
        ("exists", Self::Exists),
        ("empty", Self::Empty),
        ("in", Self::In),
        ("contains", Self::Contains),
    ];

    /// The operator of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, operator)| *operator)
    }

    /// Whether the operator compares with a value.
    #[must_use]
    pub fn takes_value(self) -> bool {
        !matches!(self, Self::Exists | Self::Empty)
    }
}

/// A condition over variables.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// One comparison.
    Test {
        /// Path of the variable.
        variable: String,
        /// How it is compared.
        operator: Operator,
        /// With what: a string, number or bool, for `in` a list of those, for `exists` and `empty`
        /// null.
        value: Value,
    },
    /// All hold.
    All(Vec<Condition>),
    /// One of them holds.
    Any(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
}

impl Condition {
    /// Calls `visit` with every variable path.
    pub fn variables<'a>(&'a self, visit: &mut dyn FnMut(&'a str)) {
        match self {
            Self::Test { variable, .. } => visit(variable),
            Self::All(parts) | Self::Any(parts) => {
                for part in parts {
                    part.variables(visit);
                }
            }
            Self::Not(part) => part.variables(visit),
        }
    }
}
