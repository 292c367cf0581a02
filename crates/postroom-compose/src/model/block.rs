//! Blocks with their attributes.

mod container;
mod leaf;

pub use container::{Column, Each, Hero, If, Panel, Section};
pub use leaf::{
    Address, Button, ButtonOutlook, ButtonVariant, Cell, Code, Divider, Footer, Heading, Image,
    ImageAlt, Item, LineStyle, List, ListStyle, Menu, MenuItem, Quote, Raw, Row, Social,
    SocialItem, Spacer, Table, TextBlock, Unsubscribe, UnsubscribeStyle, Video,
};

use super::{Color, Condition, Template};
use crate::Source;

/// Position along the line; `Left` is the start of the line, right in right-to-left documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Align {
    /// At the start.
    #[default]
    Left,
    /// In the middle.
    Center,
    /// At the end.
    Right,
}

/// Position from top to bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VerticalAlign {
    /// At the top.
    #[default]
    Top,
    /// In the middle.
    Middle,
    /// At the bottom.
    Bottom,
}

/// Direction of writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Left to right.
    #[default]
    Ltr,
    /// Right to left.
    Rtl,
}

/// Where a block is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HideOn {
    /// Nowhere.
    #[default]
    None,
    /// On narrow screens.
    Mobile,
    /// On wide screens.
    Desktop,
}

/// Blank space inside a block's edges, px.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pad {
    /// Above.
    pub top: u32,
    /// On the right.
    pub right: u32,
    /// Below.
    pub bottom: u32,
    /// On the left.
    pub left: u32,
}

/// A gradient; the block's `bg` is what shows where gradients do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gradient {
    /// First colour.
    pub from: Color,
    /// Last colour.
    pub to: Color,
    /// Angle in degrees, as in CSS: 180 from top to bottom.
    pub angle: u32,
}

/// A picture behind a section.
#[derive(Debug, Clone, PartialEq)]
pub struct BackgroundImage {
    /// Address of the picture.
    pub src: Template,
    /// `top`, `center` or `bottom`.
    pub position: VerticalAlign,
    /// Fills the section (`cover`); else it keeps inside (`contain`).
    pub cover: bool,
}

/// What is behind a block.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Background {
    /// Colour.
    pub color: Option<Color>,
    /// Gradient over the colour.
    pub gradient: Option<Gradient>,
    /// Picture over the colour; sections only.
    pub image: Option<BackgroundImage>,
}

/// A node of the document with what every node has.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Unique in the document.
    pub id: String,
    /// Where it stands in what the author wrote.
    pub source: Source,
    /// Blank space inside its edges.
    pub pad: Pad,
    /// Colour, gradient or picture behind it.
    pub background: Background,
    /// Position of its content.
    pub align: Align,
    /// Where it is left out.
    pub hide_on: HideOn,
    /// Shown only when this holds.
    pub visible_if: Option<Condition>,
    /// Attributes passed through for a sender's tools (`mc:edit`, `data-*`), name and value.
    pub attrs: Vec<(String, String)>,
    /// What it is.
    pub kind: BlockKind,
}

impl Block {
    /// Its children; of an [`If`] both branches, of an [`Each`] its body and what shows when the
    /// list is empty.
    #[must_use]
    pub fn children(&self) -> Vec<&Block> {
        match &self.kind {
            BlockKind::If(node) => node.then.iter().chain(&node.otherwise).collect(),
            BlockKind::Each(node) => node.children.iter().chain(&node.empty).collect(),
            kind => kind.content().iter().collect(),
        }
    }

    /// Calls `visit` for this block and all inside it, parents first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Block)) {
        visit(self);
        for child in self.children() {
            child.walk(visit);
        }
    }
}

/// What a block is, with its own attributes.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "each variant is documented at its type")]
pub enum BlockKind {
    Section(Section),
    Panel(Panel),
    Hero(Hero),
    Column(Column),
    If(If),
    Each(Each),
    Heading(Heading),
    Text(TextBlock),
    Button(Button),
    Image(Image),
    Divider(Divider),
    Spacer(Spacer),
    List(List),
    Item(Item),
    Table(Table),
    Row(Row),
    Cell(Cell),
    Menu(Menu),
    MenuItem(MenuItem),
    Social(Social),
    SocialItem(SocialItem),
    Video(Video),
    Code(Code),
    Quote(Quote),
    Unsubscribe(Unsubscribe),
    Footer(Footer),
    Address(Address),
    Raw(Raw),
}

impl BlockKind {
    /// Name of the type in a document.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Section(_) => "section",
            Self::Panel(_) => "panel",
            Self::Hero(_) => "hero",
            Self::Column(_) => "column",
            Self::If(_) => "if",
            Self::Each(_) => "each",
            Self::Heading(_) => "heading",
            Self::Text(_) => "text",
            Self::Button(_) => "button",
            Self::Image(_) => "image",
            Self::Divider(_) => "divider",
            Self::Spacer(_) => "spacer",
            Self::List(_) => "list",
            Self::Item(_) => "item",
            Self::Table(_) => "table",
            Self::Row(_) => "row",
            Self::Cell(_) => "cell",
            Self::Menu(_) => "menu",
            Self::MenuItem(_) => "menuItem",
            Self::Social(_) => "social",
            Self::SocialItem(_) => "socialItem",
            Self::Video(_) => "video",
            Self::Code(_) => "code",
            Self::Quote(_) => "quote",
            Self::Unsubscribe(_) => "unsubscribe",
            Self::Footer(_) => "footer",
            Self::Address(_) => "address",
            Self::Raw(_) => "raw",
        }
    }

    /// Children of containers; empty for leaves, `if` and `each`.
    #[must_use]
    pub fn content(&self) -> &[Block] {
        match self {
            Self::Section(node) => &node.children,
            Self::Panel(node) => &node.children,
            Self::Hero(node) => &node.children,
            Self::Column(node) => &node.children,
            Self::List(node) => &node.children,
            Self::Table(node) => &node.children,
            Self::Row(node) => &node.children,
            Self::Menu(node) => &node.children,
            Self::Social(node) => &node.children,
            _ => &[],
        }
    }
}
