//! Blocks that hold blocks, and conditions and loops.

use super::{Block, Direction, VerticalAlign};
use crate::model::{Color, Condition, Template};

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
