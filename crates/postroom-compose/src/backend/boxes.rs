//! Widths, paddings and borders as numbers, as npm mjml reads them.

use crate::emit::component::Component;

/// Width and number of siblings that a component finds around it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around {
    /// Width it may fill, px.
    pub(super) width: f64,
    /// Components beside it, itself counted.
    pub(super) siblings: usize,
    /// Inside a group, whose columns do not stack.
    pub(super) in_group: bool,
}

/// Sides of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Top,
    Right,
    Bottom,
    Left,
}

/// Pixels on one side of a shorthand as `10px 25px`.
pub(super) fn side(shorthand: Option<&str>, side: Side) -> f64 {
    let values: Vec<f64> = shorthand
        .unwrap_or_default()
        .split_ascii_whitespace()
        .map(number)
        .collect();
    let at = |index: usize| values.get(index).copied().unwrap_or(0.0);
    match (values.len(), side) {
        (0, _) => 0.0,
        (1, _) | (_, Side::Top) => at(0),
        (2, Side::Bottom) => at(0),
        (2 | 3, Side::Left) | (_, Side::Right) => at(1),
        (_, Side::Bottom) => at(2),
        (_, Side::Left) => at(3),
    }
}

/// Pixels left and right of a shorthand.
pub(super) fn horizontal(shorthand: Option<&str>) -> f64 {
    side(shorthand, Side::Left) + side(shorthand, Side::Right)
}

/// Pixels of a border as `1px solid #dddddd`, of both sides.
pub(super) fn borders(component: &Component, prefix: &str) -> f64 {
    let one = |side: &str| {
        let own = component.attribute(&format!("{prefix}border-{side}"));
        let border = own.or_else(|| component.attribute(&format!("{prefix}border")));
        border
            .and_then(|border| {
                border
                    .split_ascii_whitespace()
                    .find(|part| part.ends_with("px"))
            })
            .map_or(0.0, number)
    };
    one("left") + one("right")
}

/// The number that a length begins with.
pub(super) fn number(text: &str) -> f64 {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
        .unwrap_or(text.len());
    text.get(..end)
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0.0)
}

/// A number as JavaScript prints it, so that classes and widths are the same as npm mjml's.
pub(super) fn print(value: f64) -> String {
    format!("{value}")
}

/// Pixels as a length.
pub(super) fn px(value: f64) -> String {
    format!("{}px", print(value))
}

/// The whole pixels of a width.
pub(super) fn whole(value: f64) -> String {
    print(value.trunc())
}

/// Width of a column in percent of what is around it.
pub(super) fn percent(component: &Component, around: Around) -> f64 {
    match component.attribute("width") {
        Some(width) if width.ends_with('%') => number(width),
        Some(width) if around.width > 0.0 => number(width) / around.width * 100.0,
        _ => 100.0 / f64::from(u32::try_from(around.siblings.max(1)).unwrap_or(1)),
    }
}
