//! Colours in dark mode.

use crate::model::Color;

/// Whether a colour is almost white or black, as those are that mean to escape dark mode.
pub(super) fn is_hack(color: Color) -> bool {
    let near = |part: u8, end: u8| part.abs_diff(end) <= 2;
    let all = |end: u8| near(color.red, end) && near(color.green, end) && near(color.blue, end);
    (all(255) && color != Color::WHITE) || (all(0) && color != Color::BLACK)
}

/// A colour with its lightness turned round, as programs do that invert a mail.
pub(super) fn inverted(color: Color) -> Color {
    let (red, green, blue) = (
        i32::from(color.red),
        i32::from(color.green),
        i32::from(color.blue),
    );
    let (high, low) = (red.max(green).max(blue), red.min(green).min(blue));
    let shift = 255 - high - low;
    let part = |value: i32| u8::try_from((value + shift).clamp(0, 255)).unwrap_or(0);
    Color::rgb(part(red), part(green), part(blue))
}
