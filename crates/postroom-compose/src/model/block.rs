//! Blocks with their attributes.

use super::{Color, Condition, Template, Text};
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

/// A band across the e-mail with columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Columns, and `if` and `each` around columns.
    pub children: Vec<Block>,
    /// The background goes to the edges of the window.
    pub full_width: bool,
    /// Order of the columns, if not the document's.
    pub dir: Option<Direction>,
    /// Columns go under each other on narrow screens.
    pub stack: bool,
}

/// Sections on one background or in one border.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Sections and heroes, and `if` and `each` around them.
    pub children: Vec<Block>,
    /// Colour of the border, 1 px.
    pub border: Option<Color>,
    /// Radius of the corners, px.
    pub radius: u32,
    /// The background goes to the edges of the window.
    pub full_width: bool,
}

/// A picture with words on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Hero {
    /// Headings, texts, buttons, spacers, images, and `if` and `each` around them.
    pub children: Vec<Block>,
    /// Address of the picture.
    pub src: Option<Template>,
    /// Colour where the picture does not show.
    pub fallback_color: Color,
    /// Least height, px.
    pub height: Option<u32>,
    /// Position of the words.
    pub valign: VerticalAlign,
}

/// A column of a section.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Blocks, and `if` and `each` around them.
    pub children: Vec<Block>,
    /// Share of the section in percent; equal shares when absent.
    pub width: Option<f64>,
    /// Position of the content.
    pub valign: VerticalAlign,
    /// Colour of the border, 1 px.
    pub border: Option<Color>,
    /// Radius of the corners, px.
    pub radius: u32,
}

/// Blocks that depend on a condition.
#[derive(Debug, Clone, PartialEq)]
pub struct If {
    /// The condition.
    pub condition: Condition,
    /// Shown when it holds.
    pub then: Vec<Block>,
    /// Shown when it does not (`else` in a document).
    pub otherwise: Vec<Block>,
}

/// Blocks repeated for every element of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Each {
    /// Path of the list (`in` in a document).
    pub list: String,
    /// Name of the element in the body (`as`); `NAME.index` counts from 1, `NAME.first` and
    /// `NAME.last` tell the ends.
    pub name: String,
    /// Repeated.
    pub children: Vec<Block>,
    /// Shown when the list is empty.
    pub empty: Vec<Block>,
    /// Width of each column in percent, when it repeats columns.
    pub column_width: Option<f64>,
}

/// A heading.
#[derive(Debug, Clone, PartialEq)]
pub struct Heading {
    /// Words.
    pub text: Text,
    /// 1 to 4.
    pub level: u32,
    /// px; by level 28, 22, 18, 16.
    pub size: u32,
    /// Colour, if not the theme's.
    pub color: Option<Color>,
    /// Font weight.
    pub weight: u32,
}

/// A paragraph.
#[derive(Debug, Clone, PartialEq)]
pub struct TextBlock {
    /// Words.
    pub text: Text,
    /// px, if not the theme's.
    pub size: Option<u32>,
    /// Height of a line by size.
    pub line_height: f64,
    /// Colour, if not the theme's.
    pub color: Option<Color>,
}

/// How a button looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ButtonVariant {
    /// Filled.
    #[default]
    Solid,
    /// Bordered.
    Outline,
    /// As a link.
    Link,
}

/// How classic Outlook gets a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ButtonOutlook {
    /// As a padded table cell.
    #[default]
    Padding,
    /// As a VML shape with rounded corners; needs `width`.
    Vml,
}

/// A button, whose ground is the block's background.
#[derive(Debug, Clone, PartialEq)]
pub struct Button {
    /// Words; no links inside.
    pub label: Text,
    /// Target.
    pub href: Template,
    /// Look.
    pub variant: ButtonVariant,
    /// Colour of the words, if not the theme's.
    pub color: Option<Color>,
    /// Radius, px, if not the theme's.
    pub radius: Option<u32>,
    /// As wide as its column.
    pub full: bool,
    /// Classic Outlook.
    pub outlook: ButtonOutlook,
    /// Width, px.
    pub width: Option<u32>,
}

/// What is read instead of a picture.
#[derive(Debug, Clone, PartialEq)]
pub enum ImageAlt {
    /// These words.
    Text(Template),
    /// Nothing: it decorates.
    Decorative,
    /// The author said nothing.
    Missing,
}

/// A picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// Address.
    pub src: Template,
    /// What is read instead.
    pub alt: ImageAlt,
    /// px; as wide as the column when absent.
    pub width: Option<u32>,
    /// px.
    pub height: Option<u32>,
    /// Target of a click.
    pub href: Option<Template>,
    /// Picture for dark mode.
    pub dark_src: Option<Template>,
    /// Radius, px.
    pub radius: u32,
    /// As wide as the screen on narrow screens.
    pub fluid_on_mobile: bool,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LineStyle {
    /// Solid.
    #[default]
    Solid,
    /// Dashed.
    Dashed,
    /// Dotted.
    Dotted,
}

/// A line.
#[derive(Debug, Clone, PartialEq)]
pub struct Divider {
    /// Colour.
    pub color: Color,
    /// px.
    pub thickness: u32,
    /// How it is drawn.
    pub style: LineStyle,
    /// Percent of the column.
    pub width: u32,
}

/// Blank height.
#[derive(Debug, Clone, PartialEq)]
pub struct Spacer {
    /// px.
    pub height: u32,
}

/// Markers of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListStyle {
    /// Bullets.
    #[default]
    Disc,
    /// Numbers.
    Decimal,
    /// Check marks.
    Check,
    /// None.
    None,
}

/// A list.
#[derive(Debug, Clone, PartialEq)]
pub struct List {
    /// [`Item`]s, and `if` and `each` around them.
    pub children: Vec<Block>,
    /// Markers.
    pub style: ListStyle,
    /// px, if not the theme's.
    pub size: Option<u32>,
    /// Colour, if not the theme's.
    pub color: Option<Color>,
}

/// An element of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Words.
    pub text: Text,
}

/// A table of data, not of layout.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// [`Row`]s, and `if` and `each` around them.
    pub children: Vec<Block>,
    /// Alignment by column; left where it says nothing.
    pub align: Vec<Align>,
    /// Every second row has a ground of its own.
    pub striped: bool,
    /// Lines between rows.
    pub border: bool,
    /// Caption, read by screen readers.
    pub caption: Option<String>,
    /// px, if not the theme's.
    pub size: Option<u32>,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// [`Cell`]s.
    pub children: Vec<Block>,
    /// Its cells are headings of their columns.
    pub header: bool,
}

/// A cell of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Words.
    pub text: Text,
}

/// Links beside each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Menu {
    /// [`MenuItem`]s, and `if` and `each` around them.
    pub children: Vec<Block>,
    /// Colour of the links, if not the theme's.
    pub color: Option<Color>,
}

/// A link of a menu.
#[derive(Debug, Clone, PartialEq)]
pub struct MenuItem {
    /// Words.
    pub label: Text,
    /// Target.
    pub href: Template,
}

/// Links to profiles.
#[derive(Debug, Clone, PartialEq)]
pub struct Social {
    /// [`SocialItem`]s, and `if` and `each` around them.
    pub children: Vec<Block>,
    /// Side of an icon, px.
    pub icon_size: u32,
}

/// A link to a profile.
#[derive(Debug, Clone, PartialEq)]
pub struct SocialItem {
    /// Name of the network, lower case.
    pub network: String,
    /// Target.
    pub href: Template,
    /// Words; the network's name when absent.
    pub label: Option<Text>,
    /// Address of the icon; words are shown when absent.
    pub src: Option<Template>,
}

/// A picture that leads to a film.
#[derive(Debug, Clone, PartialEq)]
pub struct Video {
    /// Address of the picture.
    pub poster: Template,
    /// Address of the film's page.
    pub href: Template,
    /// What is read instead of the picture.
    pub alt: Template,
    /// px; as wide as the column when absent.
    pub width: Option<u32>,
}

/// Text of fixed width, kept as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Code {
    /// The text; newlines and variables stand in it.
    pub text: Template,
    /// Language of programming, for readers of the source.
    pub lang: Option<String>,
}

/// Somebody's words.
#[derive(Debug, Clone, PartialEq)]
pub struct Quote {
    /// The words.
    pub text: Text,
    /// Whose they are.
    pub cite: Option<Text>,
}

/// How a way to unsubscribe looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnsubscribeStyle {
    /// A link.
    #[default]
    Link,
    /// A button.
    Button,
}

/// The way to unsubscribe; its address is the dialect's token or `href`.
#[derive(Debug, Clone, PartialEq)]
pub struct Unsubscribe {
    /// Words of the link.
    pub text: Text,
    /// Look.
    pub style: UnsubscribeStyle,
    /// Target, if not the dialect's own token.
    pub href: Option<Template>,
}

/// Small print.
#[derive(Debug, Clone, PartialEq)]
pub struct Footer {
    /// Lines.
    pub lines: Vec<Text>,
    /// px.
    pub size: u32,
    /// Colour, if not the theme's muted one.
    pub color: Option<Color>,
}

/// A postal address.
#[derive(Debug, Clone, PartialEq)]
pub struct Address {
    /// Lines.
    pub lines: Vec<Text>,
    /// px.
    pub size: u32,
    /// Colour, if not the theme's muted one.
    pub color: Option<Color>,
}

/// HTML as the author wrote it, with its twin in words.
#[derive(Debug, Clone, PartialEq)]
pub struct Raw {
    /// HTML; sanitised by whoever emits it, never holds template tags.
    pub html: String,
    /// The same in words, for the text part.
    pub text: Text,
}
