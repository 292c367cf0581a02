//! Fonts, colours in light and dark, and the style sheets that go with them.

use std::fmt::Write as _;

use crate::model::{Color, DarkMode, Document, Gradient, Theme};

/// Ends of font stacks that every system has.
const SAFE: &[&str] = &[
    "arial",
    "helvetica",
    "verdana",
    "tahoma",
    "trebuchet ms",
    "georgia",
    "times new roman",
    "courier new",
    "sans-serif",
    "serif",
    "monospace",
];

/// A stack of font families for a style attribute.
pub(super) fn font_stack(font: &str) -> String {
    match font {
        "system-sans" => {
            "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
                .to_owned()
        }
        "system-serif" | "georgia" => "Georgia,'Times New Roman',serif".to_owned(),
        "system-mono" => "Consolas,Menlo,'Courier New',monospace".to_owned(),
        "arial" => "Arial,Helvetica,sans-serif".to_owned(),
        "helvetica" => "Helvetica,Arial,sans-serif".to_owned(),
        "verdana" => "Verdana,Geneva,sans-serif".to_owned(),
        "tahoma" => "Tahoma,Verdana,sans-serif".to_owned(),
        "trebuchet" => "'Trebuchet MS',Tahoma,sans-serif".to_owned(),
        "times" => "'Times New Roman',Times,serif".to_owned(),
        "courier" => "'Courier New',Courier,monospace".to_owned(),
        families => listed(families),
    }
}

/// Families that an author named, ending in one that is everywhere.
fn listed(families: &str) -> String {
    let names: Vec<String> = families
        .split(',')
        .map(|name| {
            let kept = name
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.collect::<String>().trim().to_owned()
        })
        .filter(|name| !name.is_empty())
        .collect();
    let mut out: Vec<String> = names
        .iter()
        .map(|name| {
            if name.contains(' ') {
                format!("'{name}'")
            } else {
                name.clone()
            }
        })
        .collect();
    let last = names
        .last()
        .map(|name| name.to_ascii_lowercase())
        .unwrap_or_default();
    if !SAFE.contains(&last.as_str()) {
        out.push("Arial".to_owned());
        out.push("sans-serif".to_owned());
    }
    out.join(",")
}

/// Whether an author's list of families ends in none that every system has.
pub(crate) fn lacks_safe_font(font: &str) -> bool {
    let named = font_stack(font) == listed(font);
    let last = font.rsplit(',').next().unwrap_or(font);
    let last = last.trim().trim_matches(['\'', '"']).to_ascii_lowercase();
    named && !SAFE.contains(&last.as_str())
}

/// A family that classic Outlook has, for its own style sheet.
fn outlook_font(font: &str) -> &'static str {
    let name = font.to_ascii_lowercase();
    if name.contains("serif") && !name.contains("sans")
        || name.contains("georgia")
        || name.contains("times")
    {
        "Georgia, serif"
    } else if name.contains("mono") || name.contains("courier") {
        "'Courier New', monospace"
    } else {
        "Arial, sans-serif"
    }
}

/// Colours of the document in dark mode, and classes of what changes.
#[derive(Debug, Clone)]
pub(super) struct Dark {
    on: bool,
    pub(super) background: Color,
    pub(super) surface: Color,
    text: Color,
    muted: Color,
    link: Color,
    primary: Color,
    on_primary: Color,
    /// Colours that blocks state, each with a class.
    own: Vec<Color>,
}

impl Dark {
    pub(super) fn of(theme: &Theme) -> Self {
        let dark = &theme.dark;
        let background = dark.background.unwrap_or(Color::rgb(0x18, 0x18, 0x1b));
        let surface = dark.surface.unwrap_or(Color::rgb(0x27, 0x27, 0x2a));
        let read = |color: Color| color.readable_on(surface, 4.5);
        let primary = dark.primary.unwrap_or(theme.primary);
        Self {
            on: dark.mode != DarkMode::Off,
            background,
            surface,
            text: dark.text.unwrap_or(Color::rgb(0xf4, 0xf4, 0xf5)),
            muted: dark
                .muted
                .unwrap_or_else(|| read(Color::rgb(0xa1, 0xa1, 0xaa))),
            link: dark.link.unwrap_or_else(|| read(theme.link)),
            primary,
            on_primary: dark
                .on_primary
                .unwrap_or_else(|| theme.on_primary.readable_on(primary, 4.5)),
            own: Vec::new(),
        }
    }

    /// A class of ours, when dark mode is on.
    pub(super) fn class(&self, class: &'static str) -> Option<&'static str> {
        self.on.then_some(class)
    }

    /// The class of a colour that a block states.
    pub(super) fn color_class(&mut self, color: Color) -> Option<String> {
        if !self.on {
            return None;
        }
        let index = self
            .own
            .iter()
            .position(|known| *known == color)
            .unwrap_or_else(|| {
                self.own.push(color);
                self.own.len() - 1
            });
        Some(format!("pr-c{index}"))
    }

    /// Rules of what changes in dark mode: selector, property, colour.
    fn rules(&self) -> Vec<(String, &'static str, Color)> {
        let line = self.surface.mix(Color::WHITE, 0.22);
        let mut rules = vec![
            (".pr-bg".to_owned(), "background-color", self.background),
            (
                ".pr-bg > div".to_owned(),
                "background-color",
                self.background,
            ),
            (".pr-sf".to_owned(), "background", self.surface),
            (".pr-sf > table".to_owned(), "background", self.surface),
            (".pr-tx > div".to_owned(), "color", self.text),
            (".pr-tx > table".to_owned(), "color", self.text),
            (".pr-mt > div".to_owned(), "color", self.muted),
            (".pr-mt > table".to_owned(), "color", self.muted),
            ("a.pr-ln".to_owned(), "color", self.link),
            ("a.pr-ml".to_owned(), "color", self.muted),
            (".pr-dv > p".to_owned(), "border-top-color", line),
            (".pr-tb td".to_owned(), "border-color", line),
            (".pr-tb th".to_owned(), "border-color", line),
            (
                ".pr-st".to_owned(),
                "background-color",
                self.surface.mix(Color::WHITE, 0.06),
            ),
            (".pr-cd > div".to_owned(), "color", self.text),
            (
                ".pr-cb".to_owned(),
                "background-color",
                self.surface.mix(Color::BLACK, 0.3),
            ),
            (".pr-qt".to_owned(), "border-color", line),
            (".pr-bn > table td".to_owned(), "background", self.primary),
            (".pr-bn > table a".to_owned(), "background", self.primary),
            (".pr-bn > table a".to_owned(), "color", self.on_primary),
            (".pr-bo > table td".to_owned(), "border-color", self.link),
            (".pr-bo > table a".to_owned(), "color", self.link),
            (".pr-bo > table td".to_owned(), "background", self.surface),
            (".pr-bo > table a".to_owned(), "background", self.surface),
        ];
        for (index, color) in self.own.iter().enumerate() {
            let seen = color.readable_on(self.surface, 4.5);
            rules.push((format!(".pr-c{index} > div"), "color", seen));
            rules.push((format!(".pr-c{index} > table"), "color", seen));
            rules.push((format!("a.pr-c{index}"), "color", seen));
        }
        rules
    }

    /// The style sheet; only rules of classes that `html` has.
    pub(super) fn sheet(&self, used: &dyn Fn(&str) -> bool) -> String {
        let mut sheet = String::new();
        let kept: Vec<_> = self
            .rules()
            .into_iter()
            .filter(|(selector, ..)| used(class_of(selector)))
            .collect();
        sheet
            .push_str(":root { color-scheme: light dark; supported-color-schemes: light dark; }\n");
        sheet.push_str("@media (prefers-color-scheme: dark) {\n");
        for (selector, property, color) in &kept {
            let _ = writeln!(sheet, "{selector} {{ {property}: {color} !important; }}");
        }
        if used("pr-di") {
            sheet.push_str(".pr-li { display: none !important; }\n");
            sheet.push_str(".pr-di { display: block !important; max-height: none !important; }\n");
        }
        sheet.push_str("}\n");
        // Outlook in the browser and on phones marks what it has changed.
        for (selector, property, color) in &kept {
            let mark = if property.starts_with("background") {
                "ogsb"
            } else {
                "ogsc"
            };
            let _ = writeln!(
                sheet,
                "[data-{mark}] {selector} {{ {property}: {color} !important; }}"
            );
        }
        sheet
    }

    pub(super) fn is_on(&self) -> bool {
        self.on
    }
}

/// The class that a selector begins with.
fn class_of(selector: &str) -> &str {
    let start = selector.find('.').map_or(0, |dot| dot + 1);
    let rest = selector.get(start..).unwrap_or_default();
    rest.split([' ', '>']).next().unwrap_or(rest)
}

/// Style sheets and other elements of the head.
pub(super) fn head(
    document: &Document,
    dark: &Dark,
    mso: bool,
    used: &dyn Fn(&str) -> bool,
) -> (Vec<String>, Vec<String>) {
    let theme = &document.theme;
    let mut styles = Vec::new();
    let mut head = Vec::new();
    let scheme = if dark.is_on() {
        "light dark"
    } else {
        "light only"
    };
    head.push(format!(
        "<meta name=\"color-scheme\" content=\"{scheme}\">\n<meta name=\"supported-color-schemes\" content=\"{scheme}\">"
    ));
    if dark.is_on() {
        styles.push(dark.sheet(used));
    }
    let mut hiding = String::new();
    if used("pr-hm") {
        hiding.push_str(
            "@media only screen and (max-width:479px) {\n.pr-hm { display:none !important; }\n}\n",
        );
    }
    if used("pr-hd") {
        hiding.push_str(
            "@media only screen and (min-width:480px) {\n.pr-hd { display:none !important; }\n}\n",
        );
    }
    if !hiding.is_empty() {
        styles.push(hiding);
    }
    if let Some(url) = &theme.font_url
        && super::escape::is_safe_url(url)
    {
        let url = super::escape::url(url);
        head.push(format!("<!--[if !mso]><!-->\n<link href=\"{url}\" rel=\"stylesheet\" type=\"text/css\">\n<!--<![endif]-->"));
    }
    if mso {
        let font = outlook_font(&theme.font);
        let mut sheet = format!("body, table, td, p, a {{ font-family: {font} !important; }}");
        if let Some(heading) = &theme.heading_font {
            let font = outlook_font(heading);
            let _ = write!(
                sheet,
                "\nh1, h2, h3, h4 {{ font-family: {font} !important; }}"
            );
        }
        if used("pr-hd") {
            sheet.push_str("\n.pr-hd, .pr-hd-outlook { display:none; mso-hide:all; }");
        }
        head.push(format!(
            "<!--[if mso]>\n<style type=\"text/css\">\n{sheet}\n</style>\n<![endif]-->"
        ));
    }
    (styles, head)
}

/// The style sheet of gradients, each with a class by its number. Programs that drop it show the
/// colour beneath.
pub(super) fn gradients(gradients: &[Gradient]) -> Option<String> {
    let mut sheet = String::new();
    for (index, gradient) in gradients.iter().enumerate() {
        let Gradient { from, to, angle } = gradient;
        let _ = writeln!(
            sheet,
            ".pr-g{index}, .pr-g{index} > table, .pr-b{index} > table td, .pr-b{index} > table a \
             {{ background-image: linear-gradient({angle}deg, {from}, {to}) !important; }}"
        );
    }
    (!sheet.is_empty()).then_some(sheet)
}
