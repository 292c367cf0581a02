//! A document as the emitters and lints see it: typed, every default filled in.
//!
//! The model is read from a document's JSON ([`crate::check`], [`crate::repair`]) and never written
//! back; what is stored is the JSON, without defaults. Every [`Block`] knows by its [`Source`] where
//! it stands in what the author wrote.

mod block;
mod color;
mod condition;
mod text;
mod theme;
mod variable;

pub use block::{
    Address, Align, Background, BackgroundImage, Block, BlockKind, Button, ButtonOutlook,
    ButtonVariant, Cell, Code, Column, Direction, Divider, Each, Footer, Gradient, Heading, Hero,
    HideOn, If, Image, ImageAlt, Item, LineStyle, List, ListStyle, Menu, MenuItem, Pad, Panel,
    Quote, Raw, Row, Section, Social, SocialItem, Spacer, Table, TextBlock, Unsubscribe,
    UnsubscribeStyle, VerticalAlign, Video,
};
pub use color::Color;
pub use condition::{Condition, Operator};
pub use text::{Filter, Marks, Piece, Span, Template, Text, VariableUse};
pub use theme::{DarkMode, DarkTheme, Theme};
pub use variable::{Shape, Variable, VariableType};

/// What an e-mail is for; rules on unsubscribing and addresses depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Answers something that its reader did.
    #[default]
    Transactional,
    /// Advertises; needs a way to unsubscribe and a postal address.
    Marketing,
    /// Tells of something that happened.
    Notification,
    /// From one person to another.
    Personal,
}

/// Subject, preview line and language.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Meta {
    /// Subject line: text, variables and conditions, no links or marks.
    pub subject: Text,
    /// Line that mail programs show after the subject.
    pub preheader: Text,
    /// Title of the HTML page; the subject when absent.
    pub title: Option<String>,
    /// Language tag (BCP 47), when the document states one.
    pub lang: Option<String>,
    /// Direction of writing; `auto` is already resolved by the first strong character.
    pub dir: Direction,
    /// Where the meta object stands, or the document when it has none.
    pub source: crate::Source,
    /// Where the subject stands.
    pub subject_source: crate::Source,
    /// Where the preheader stands.
    pub preheader_source: crate::Source,
}

/// What a document allows itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// Blocks of raw HTML may be used.
    pub allow_raw: bool,
    /// Language of documents that state none.
    pub default_lang: Option<String>,
}

/// A whole e-mail.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Document {
    /// What it is for.
    pub kind: Kind,
    /// Subject, preview line, language.
    pub meta: Meta,
    /// Colours, fonts, width.
    pub theme: Theme,
    /// What it allows itself.
    pub policy: Policy,
    /// Declared variables, in order.
    pub variables: Vec<Variable>,
    /// Id of the body.
    pub body_id: String,
    /// Children of the body: [`BlockKind::Section`], [`BlockKind::Panel`], [`BlockKind::Hero`],
    /// [`BlockKind::Raw`], and [`BlockKind::If`] and [`BlockKind::Each`] around those.
    pub body: Vec<Block>,
    /// What it was read from.
    pub(crate) draft: crate::draft::Node,
}

impl Document {
    /// The document in canonical form: ids assigned, texts as spans, keys sorted, defaults left out.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        self.draft.to_json()
    }

    /// Calls `visit` for every block, parents before children, in document order.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Block)) {
        for block in &self.body {
            block.walk(visit);
        }
    }

    /// The declared variable of that name.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// The language that a reader's program is told: stated, the policy's, or none.
    #[must_use]
    pub fn lang(&self) -> Option<&str> {
        let stated = self.meta.lang.as_deref().filter(|lang| *lang != "und");
        stated.or(self.policy.default_lang.as_deref())
    }
}
