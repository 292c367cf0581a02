//! Declared variables and the shape of their values.

use serde_json::Value;

/// Type of a variable's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VariableType {
    /// Text.
    #[default]
    String,
    /// A number.
    Number,
    /// True or false.
    Bool,
    /// A date or time (RFC 3339).
    Date,
    /// A whole URL.
    Url,
    /// HTML that the sender trusts.
    Html,
    /// A list, for `each`.
    List,
    /// An object whose fields are used by dotted paths.
    Object,
}

impl VariableType {
    /// Every type with its name in a document.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("string", Self::String),
        ("number", Self::Number),
        ("bool", Self::Bool),
        ("date", Self::Date),
        ("url", Self::Url),
        ("html", Self::Html),
        ("list", Self::List),
        ("object", Self::Object),
    ];

    /// The type of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, kind)| *kind)
    }

    /// Its name in a document.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(_, kind)| *kind == self);
        found.map_or("string", |(name, _)| name)
    }
}

/// What is known of a value's inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// Nothing is known; every path into it is taken as it is.
    Unknown,
    /// A value of that type.
    Scalar(VariableType),
    /// A list of values of one shape.
    List(Box<Shape>),
    /// Fields by name, in order.
    Object(Vec<(String, Shape)>),
}

/// A declared variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Dotted path.
    pub name: String,
    /// Type of its value.
    pub kind: VariableType,
    /// A value for previews.
    pub sample: Option<Value>,
    /// Used when the sender gives none.
    pub default: Option<Value>,
    /// The sender has to give it.
    pub required: bool,
    /// What its value looks like: stated by `item`, else by the sample.
    pub shape: Shape,
    /// Where it is declared.
    pub source: crate::Source,
}
