//! Blocks of a column, and their parts.

use super::{Align, Block};
use crate::model::{Color, Template, Text};

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
