//! Colours, fonts and width that blocks fall back to.

use super::Color;

/// How a document behaves in dark mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DarkMode {
    /// Colours are derived.
    #[default]
    Auto,
    /// The colours of [`DarkTheme`] are used.
    Authored,
    /// The document asks to stay light.
    Off,
}

/// Colours in dark mode; `None` means derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DarkTheme {
    /// How the document behaves.
    pub mode: DarkMode,
    /// Around the content.
    pub background: Option<Color>,
    /// Under the content.
    pub surface: Option<Color>,
    /// Words.
    pub text: Option<Color>,
    /// Words of less weight.
    pub muted: Option<Color>,
    /// Links.
    pub link: Option<Color>,
    /// Ground of buttons.
    pub primary: Option<Color>,
    /// Words on buttons.
    pub on_primary: Option<Color>,
}

/// What blocks look like unless they say otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    /// Width of the content, px.
    pub width: u32,
    /// Colour around the content.
    pub background: Color,
    /// Colour under the content.
    pub surface: Color,
    /// Words.
    pub text: Color,
    /// Words of less weight.
    pub muted: Color,
    /// Links.
    pub link: Color,
    /// Ground of buttons.
    pub primary: Color,
    /// Words on buttons.
    pub on_primary: Color,
    /// Name of a stack (`system-sans`, `system-serif`, `system-mono`, `arial`, `georgia`, ...) or
    /// font families separated by commas.
    pub font: String,
    /// The same for headings; the font when absent.
    pub heading_font: Option<String>,
    /// Style sheet of a web font.
    pub font_url: Option<String>,
    /// Size of text, px.
    pub base_size: u32,
    /// Radius of buttons and images, px.
    pub radius: u32,
    /// Dark mode.
    pub dark: DarkTheme,
}

impl Default for Theme {
    fn default() -> Self {
        Self {
            width: 600,
            background: Color::rgb(0xf4, 0xf4, 0xf5),
            surface: Color::WHITE,
            text: Color::rgb(0x1f, 0x29, 0x37),
            muted: Color::rgb(0x6b, 0x72, 0x80),
            link: Color::rgb(0x25, 0x63, 0xeb),
            primary: Color::rgb(0x25, 0x63, 0xeb),
            on_primary: Color::WHITE,
            font: "system-sans".to_owned(),
            heading_font: None,
            font_url: None,
            base_size: 16,
            radius: 6,
            dark: DarkTheme::default(),
        }
    }
}
