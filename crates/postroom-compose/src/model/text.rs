//! Text as spans, and strings with variables in them.

use super::{Color, Condition};

/// A filter on a variable's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    /// Upper case.
    Upper,
    /// Lower case.
    Lower,
    /// Each word with a capital.
    Title,
    /// Blanks at both ends removed.
    Trim,
    /// A date by a pattern of `yyyy MM dd HH mm MMM MMMM EEE EEEE d`.
    Date(String),
    /// A number by a pattern as `0.00` or `#,##0.00`.
    Number(String),
    /// An amount in that currency (ISO 4217).
    Money(String),
    /// At most so many characters.
    Truncate(u32),
    /// Percent-encoded for a part of a URL.
    UrlEncode,
}

impl Filter {
    /// Name of the filter in a document.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Upper => "upper",
            Self::Lower => "lower",
            Self::Title => "title",
            Self::Trim => "trim",
            Self::Date(_) => "date",
            Self::Number(_) => "number",
            Self::Money(_) => "money",
            Self::Truncate(_) => "truncate",
            Self::UrlEncode => "urlencode",
        }
    }
}

/// How a stretch of text is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "marks are independent")]
pub struct Marks {
    /// Bold.
    pub bold: bool,
    /// Italic.
    pub italic: bool,
    /// Underlined.
    pub underline: bool,
    /// Struck through.
    pub strike: bool,
    /// Fixed width.
    pub code: bool,
    /// Raised.
    pub sup: bool,
    /// Lowered.
    pub sub: bool,
}

impl Marks {
    /// The names of marks in a document, in canonical order.
    pub const NAMES: &'static [&'static str] = &[
        "bold",
        "italic",
        "underline",
        "strike",
        "code",
        "sup",
        "sub",
    ];

    /// The mark of that name, or `None` for a name that is no mark.
    pub fn mark(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "bold" => &mut self.bold,
            "italic" => &mut self.italic,
            "underline" => &mut self.underline,
            "strike" => &mut self.strike,
            "code" => &mut self.code,
            "sup" => &mut self.sup,
            "sub" => &mut self.sub,
            _ => return None,
        })
    }

    /// The names of the marks that are set, in canonical order.
    pub fn names(mut self) -> impl Iterator<Item = &'static str> {
        let set = Self::NAMES
            .iter()
            .filter(move |name| self.mark(name).is_some_and(|mark| *mark));
        set.copied()
    }

    /// Whether none is set.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

/// A variable where its value is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableUse {
    /// Dotted path, as `user.name`; inside an `each` it may begin with the loop's name.
    pub path: String,
    /// Shown when the value is missing or empty; of the use, else of the declaration.
    pub default: Option<String>,
    /// Applied to the value.
    pub filter: Option<Filter>,
    /// How it is set; always empty in a [`Template`].
    pub marks: Marks,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Span {
    /// Words.
    Text {
        /// The words; newlines are blanks.
        text: String,
        /// How they are set.
        marks: Marks,
        /// Their colour, if not the block's.
        color: Option<Color>,
    },
    /// A variable's value.
    Variable(VariableUse),
    /// A link; its children hold no links.
    Link {
        /// Target.
        href: Template,
        /// Its words.
        children: Vec<Span>,
    },
    /// A line break.
    Break,
    /// Text that depends on a condition.
    If {
        /// The condition.
        condition: Condition,
        /// Shown when it holds.
        then: Vec<Span>,
        /// Shown when it does not.
        otherwise: Vec<Span>,
    },
}

/// Text of a block.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Text(pub Vec<Span>);

impl Text {
    /// Whether there is no span at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether nothing of it can be seen: no words, no variables.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        let mut seen = false;
        walk(&self.0, &mut |span| match span {
            Span::Text { text, .. } => seen |= !text.trim().is_empty(),
            Span::Variable(_) => seen = true,
            _ => {}
        });
        !seen
    }

    /// Its words without marks, variables as `{{ path }}`; of conditions both branches.
    #[must_use]
    pub fn plain(&self) -> String {
        let mut words = String::new();
        walk(&self.0, &mut |span| match span {
            Span::Text { text, .. } => words.push_str(text),
            Span::Variable(used) => {
                words.push_str("{{ ");
                words.push_str(&used.path);
                words.push_str(" }}");
            }
            Span::Break => words.push('\n'),
            Span::Link { .. } | Span::If { .. } => {}
        });
        words
    }

    /// Calls `visit` for every span, parents before children.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Span)) {
        walk(&self.0, visit);
    }
}

/// Calls `visit` for every span of `spans`, parents before children.
fn walk<'a>(spans: &'a [Span], visit: &mut dyn FnMut(&'a Span)) {
    for span in spans {
        visit(span);
        match span {
            Span::Link { children, .. } => walk(children, visit),
            Span::If {
                then, otherwise, ..
            } => {
                walk(then, visit);
                walk(otherwise, visit);
            }
            _ => {}
        }
    }
}

/// A piece of a [`Template`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// As it is.
    Text(String),
    /// A variable's value.
    Variable(VariableUse),
}

/// A string with variables: a URL, an alternative text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template(pub Vec<Piece>);

impl Template {
    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The whole string if it has no variables.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The string as written, variables as `{{ path }}`.
    #[must_use]
    pub fn plain(&self) -> String {
        let mut words = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => words.push_str(text),
                Piece::Variable(used) => {
                    words.push_str("{{ ");
                    words.push_str(&used.path);
                    words.push_str(" }}");
                }
            }
        }
        words
    }

    /// Its variables, in order.
    pub fn variables(&self) -> impl Iterator<Item = &VariableUse> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Variable(used) => Some(used),
            Piece::Text(_) => None,
        })
    }
}
