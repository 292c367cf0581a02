//! Colours as six digits, and how well two of them can be told apart (WCAG 2.2).

use std::fmt;

/// An opaque sRGB colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Color {
    /// Red.
    pub red: u8,
    /// Green.
    pub green: u8,
    /// Blue.
    pub blue: u8,
}

impl Color {
    /// White.
    pub const WHITE: Self = Self::rgb(255, 255, 255);
    /// Black.
    pub const BLACK: Self = Self::rgb(0, 0, 0);

    /// A colour of its three parts.
    #[must_use]
    pub const fn rgb(red: u8, green: u8, blue: u8) -> Self {
        Self { red, green, blue }
    }

    /// Reads `#rrggbb` in lower or upper case, and nothing else.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#')?;
        if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let value = u32::from_str_radix(digits, 16).ok()?;
        let [_, red, green, blue] = value.to_be_bytes();
        Some(Self::rgb(red, green, blue))
    }

    /// Relative luminance from 0 (black) to 1 (white), WCAG 2.2.
    #[must_use]
    pub fn luminance(self) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.040_45 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(self.red) + 0.7152 * linear(self.green) + 0.0722 * linear(self.blue)
    }

    /// Contrast ratio from 1 to 21, WCAG 2.2.
    #[must_use]
    pub fn contrast(self, other: Self) -> f64 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    /// This colour moved towards `target` by `share` from 0 to 1.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a mix of two bytes stays in 0..=255"
    )]
    pub fn mix(self, target: Self, share: f64) -> Self {
        let share = share.clamp(0.0, 1.0);
        let part = |from: u8, to: u8| {
            (f64::from(from) + (f64::from(to) - f64::from(from)) * share).round() as u8
        };
        Self::rgb(
            part(self.red, target.red),
            part(self.green, target.green),
            part(self.blue, target.blue),
        )
    }

    /// The nearest colour, darker or lighter, whose contrast with `ground` is at least `ratio`.
    #[must_use]
    pub fn readable_on(self, ground: Self, ratio: f64) -> Self {
        let towards = if ground.luminance() > 0.18 {
            Self::BLACK
        } else {
            Self::WHITE
        };
        (0..=40)
            .map(|step| self.mix(towards, f64::from(step) / 40.0))
            .find(|color| color.contrast(ground) >= ratio)
            .unwrap_or(towards)
    }
}

impl fmt::Display for Color {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}
