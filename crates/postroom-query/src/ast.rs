//! The tree of a query, in normal form: no empty or single-child groups, no group of a kind
//! directly inside a group of the same kind, values normalised.

use postroom_types::{ThreadId, Timestamp};

/// A parsed query. Two queries are equal when their trees are; where a leaf stood in the text does
/// not matter.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The tree; `None` for the empty query, which means every message.
    pub root: Option<Node>,
    /// Character offsets of the leaves, in the order in which a walk of the tree meets them.
    pub(crate) positions: Vec<usize>,
}

impl PartialEq for Query {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

impl Eq for Query {}

/// One node of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// All of two or more.
    And(Vec<Node>),
    /// Any of two or more.
    Or(Vec<Node>),
    /// None of it.
    Not(Box<Node>),
    /// One condition.
    Leaf(Leaf),
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leaf {
    /// Words anywhere in the message.
    Text(Text),
    /// `subject:` words in the subject.
    Subject(Text),
    /// `from:` the sender.
    From(Who),
    /// `to:` any recipient.
    To(Who),
    /// `participant:` sender or any recipient.
    Participant(Who),
    /// `ref:` a reference such as an invoice number.
    Ref(String),
    /// `label:` a label, lower case.
    Label(String),
    /// `has:attachment`.
    HasAttachment,
    /// `filename:` part of an attachment's name, lower case.
    Filename(String),
    /// `type:` a class or an exact media type.
    Type(AttachmentType),
    /// `after:` at or after the moment.
    After(Day),
    /// `before:` before the moment.
    Before(Day),
    /// `newer_than:` at or after now less this much.
    NewerThan(u32, DurationUnit),
    /// `older_than:` before now less this much.
    OlderThan(u32, DurationUnit),
    /// `in:` a direction.
    In(Direction),
    /// `thread:` one thread.
    Thread(ThreadId),
    /// `is:unread`.
    Unread,
    /// `is:needs_reply`.
    NeedsReply,
    /// `is:quarantined`.
    Quarantined,
    /// `category:` a triage category, lower case.
    Category(String),
}

/// Words to look for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text {
    /// How the words stand.
    pub form: TextForm,
    /// The words as written, without quotes and without the star of a prefix.
    pub text: String,
}

/// How words stand in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TextForm {
    /// A bare word.
    Term,
    /// `"words in a row"`.
    Phrase,
    /// `begin*`.
    Prefix,
}

/// Whom `from:`, `to:` and `participant:` name. All lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Who {
    /// Exactly this address.
    Address(String),
    /// Any address under this domain, subdomains included; without the `@`.
    Domain(String),
    /// A word with dots that reads as a domain: addresses under that domain, or whose whole local
    /// part it is (`john.smith`).
    Bare(String),
    /// A part of a name or an address.
    Part(String),
}

/// Which way a message went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// It came in.
    Inbound,
    /// It was sent from here.
    Outbound,
}

impl Direction {
    /// The name in queries and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inbound => "inbound",
            Self::Outbound => "outbound",
        }
    }
}

macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident $text:literal [$($alias:literal),*];)*) => {
        /// A kind of attachment: one of the classes of `type:`, or an exact media type.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum AttachmentType {
            $($(#[$doc])* $name,)*
            /// Exactly this media type, lower case.
            Media(String),
        }

        impl AttachmentType {
            /// Every class, in the order of this page.
            pub const CLASSES: &[AttachmentType] = &[$(AttachmentType::$name,)*];

            /// The name in queries and facets.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$name => $text,)*
                    Self::Media(media) => media,
                }
            }

            /// The class that `word` (lower case) names, by its own name or another word for it.
            pub fn class_named(word: &str) -> Option<Self> {
                match word {
                    $($text $(| $alias)* => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

classes! {
    /// PDF.
    Pdf "pdf" [];
    /// Text documents of office suites.
    Doc "doc" ["docx", "word", "odt"];
    /// Spreadsheets.
    Sheet "sheet" ["xls", "xlsx", "csv", "spreadsheet"];
    /// Presentations.
    Slides "slides" ["ppt", "pptx"];
    /// Pictures.
    Image "image" ["jpg", "jpeg", "png", "gif", "heic"];
    /// Archives.
    Archive "archive" ["zip", "rar", "7z", "tar", "gz", "tgz"];
    /// Calendar entries.
    Ics "ics" ["calendar"];
    /// Messages attached to a message.
    Eml "eml" [];
    /// Plain text.
    Text "text" ["txt"];
    /// Web pages.
    Html "html" [];
    /// Sound.
    Audio "audio" [];
    /// Moving pictures.
    Video "video" [];
    /// Anything else.
    Other "other" [];
}

/// The value of `after:` and `before:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Day {
    /// The start of a day in the time zone of the tenant.
    Local(jiff::civil::Date),
    /// An instant.
    Instant(Timestamp),
}

/// The unit of `newer_than:` and `older_than:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DurationUnit {
    /// `h`, exact.
    Hours,
    /// `d`, calendar days.
    Days,
    /// `w`, calendar weeks.
    Weeks,
    /// `m`, calendar months.
    Months,
    /// `y`, calendar years.
    Years,
}

impl DurationUnit {
    /// The letter in queries.
    pub fn letter(self) -> char {
        match self {
            Self::Hours => 'h',
            Self::Days => 'd',
            Self::Weeks => 'w',
            Self::Months => 'm',
            Self::Years => 'y',
        }
    }

    /// The unit of a letter.
    pub(crate) fn of_letter(letter: char) -> Option<Self> {
        [
            Self::Hours,
            Self::Days,
            Self::Weeks,
            Self::Months,
            Self::Years,
        ]
        .into_iter()
        .find(|unit| unit.letter() == letter)
    }

    /// The most of this unit that a query may name; the least is one.
    pub fn most(self) -> u32 {
        match self {
            Self::Hours => 87_600,
            Self::Days => 3_650,
            Self::Weeks => 520,
            Self::Months => 120,
            Self::Years => 10,
        }
    }
}

impl Query {
    /// Calls `visit` with every leaf, whether it stands under an odd number of negations, and its
    /// character offset, in the order of the text.
    pub fn for_each_leaf<'a>(&'a self, mut visit: impl FnMut(&'a Leaf, bool, usize)) {
        fn walk<'a>(node: &'a Node, negated: bool, visit: &mut dyn FnMut(&'a Leaf, bool)) {
            match node {
                Node::And(nodes) | Node::Or(nodes) => {
                    nodes.iter().for_each(|node| walk(node, negated, visit));
                }
                Node::Not(inner) => walk(inner, !negated, visit),
                Node::Leaf(leaf) => visit(leaf, negated),
            }
        }
        let mut positions = self.positions.iter().copied();
        if let Some(root) = &self.root {
            walk(root, false, &mut |leaf, negated| {
                visit(leaf, negated, positions.next().unwrap_or(0));
            });
        }
    }

    /// The positive free text in order, joined by blanks, at most 2,000 characters: what a semantic
    /// search looks for.
    pub fn free_text(&self) -> String {
        let mut words: Vec<&str> = Vec::new();
        self.for_each_leaf(|leaf, negated, _| {
            if let (Leaf::Text(text), false) = (leaf, negated) {
                words.push(&text.text);
            }
        });
        words.join(" ").chars().take(SEMANTIC_CHARS).collect()
    }

    /// Refuses a query without positive free text, for the semantic mode.
    ///
    /// # Errors
    /// An error at position 0.
    pub fn require_free_text(&self) -> Result<(), crate::QueryError> {
        if self.free_text().trim().is_empty() {
            return Err(crate::QueryError::new(0, "free text", ""));
        }
        Ok(())
    }
}

/// Characters of the text that a semantic search takes.
const SEMANTIC_CHARS: usize = 2_000;
