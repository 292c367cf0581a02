//! HTML that somebody else made, and the HTML of our own that blocks of raw HTML hold.

use std::collections::HashMap;

use crate::{Code, Issue, Source, draft::Origins, model::Kind};

use super::{
    Options, address, compat, css,
    css::{Declaration, Sheet},
    dark,
    look::{Look, look},
    markup::{self, Element, Markup},
    subject, words,
};

/// Bytes past which Gmail cuts a mail, and those from which it is close.
pub(super) const CLIP_BYTES: usize = 102_400;
pub(super) const NEAR_BYTES: usize = 90_000;
/// Bytes of a line without its end (RFC 5322, section 2.1.1).
const LINE_BYTES: usize = 998;

/// A mail that somebody else made.
#[derive(Debug, Clone, Copy, Default)]
pub struct Foreign<'a> {
    /// Its HTML.
    pub html: &'a str,
    /// Its subject, when it is known.
    pub subject: Option<&'a str>,
    /// Its preview line, when it is known.
    pub preheader: Option<&'a str>,
    /// What it is for; marketing needs a way to unsubscribe.
    pub kind: Option<Kind>,
}

/// Everything that is wrong with it.
pub(super) fn all(mail: &Foreign<'_>, options: &Options) -> Vec<Issue> {
    let looked = Looked::at(mail.html);
    let mut issues = Vec::new();
    looked.structure(&mut issues);
    looked.links(&mut issues);
    looked.images(&mut issues);
    looked.texts(&mut issues);
    looked.colors(&mut issues);
    looked.outlook(&mut issues);
    looked.lines(&mut issues);
    issues.extend(looked.compat(options));
    issues.extend(size(mail.html.len(), &Source::default()));
    if let Some(subject) = mail.subject {
        let at = Source::default();
        issues.extend(subject::check(
            subject,
            mail.preheader.unwrap_or_default(),
            &at,
            &at,
        ));
    }
    if mail.kind == Some(Kind::Marketing) && !looked.unsubscribes() {
        let message = "There is no link to unsubscribe.";
        issues.push(Issue::new(
            Code::UnsubscribeMissing,
            &Source::default(),
            message,
        ));
    }
    issues
}

/// What is wrong with the size of HTML.
pub(super) fn size(bytes: usize, at: &Source) -> Option<Issue> {
    let message = format!("The HTML has {bytes} bytes.");
    if bytes > CLIP_BYTES {
        Some(Issue::new(Code::SizeGmailClip, at, message))
    } else {
        (bytes > NEAR_BYTES).then(|| Issue::new(Code::SizeNearClip, at, message))
    }
}

/// HTML taken apart.
pub(super) struct Looked<'a> {
    html: &'a str,
    /// Lines and columns.
    places: Origins<'a>,
    markup: Markup,
    sheets: Vec<Sheet>,
    inline: Vec<(usize, Vec<Declaration>)>,
    looks: Vec<Look>,
}

impl<'a> Looked<'a> {
    pub(super) fn at(html: &'a str) -> Self {
        let markup = markup::parse(html);
        let sheets = markup
            .styles
            .iter()
            .map(|(offset, text)| css::sheet(text, *offset))
            .collect();
        let mut inline = Vec::new();
        let mut looks: Vec<Look> = Vec::with_capacity(markup.elements.len());
        for element in &markup.elements {
            let declared = element
                .attribute("style")
                .map(css::declarations)
                .unwrap_or_default();
            let parent = element.parent.and_then(|parent| looks.get(parent)).copied();
            looks.push(look(element, &declared, parent));
            if !declared.is_empty() {
                inline.push((element.offset, declared));
            }
        }
        Self {
            html,
            places: Origins::new(Some(html)),
            markup,
            sheets,
            inline,
            looks,
        }
    }

    fn source(&self, offset: usize) -> Source {
        let position = self.places.position_at(offset);
        Source {
            path: format!("line {}", position.map_or(1, |position| position.line)),
            pointer: String::new(),
            position,
            order: u32::try_from(offset).unwrap_or(u32::MAX),
            block_id: None,
        }
    }

    fn tell(&self, issues: &mut Vec<Issue>, code: Code, offset: usize, message: impl Into<String>) {
        issues.push(Issue::new(code, &self.source(offset), message));
    }

    fn elements(&self, name: &'static str) -> impl Iterator<Item = (usize, &Element)> {
        let elements = self.markup.elements.iter().enumerate();
        elements.filter(move |(_, element)| element.name == name)
    }

    fn hidden(&self, element: Option<usize>) -> bool {
        element
            .and_then(|element| self.looks.get(element))
            .is_some_and(|look| look.hidden)
    }

    fn structure(&self, issues: &mut Vec<Issue>) {
        let has_lang = self.markup.elements.iter().any(|element| {
            element
                .attribute("lang")
                .is_some_and(|lang| !lang.trim().is_empty() && lang != "und")
        });
        if !has_lang {
            self.tell(issues, Code::A11yLangMissing, 0, "No element has a lang.");
        }
        let mut level = 0;
        for (index, element) in self.markup.elements.iter().enumerate() {
            let digit = element
                .name
                .strip_prefix('h')
                .and_then(|digit| digit.parse::<u32>().ok());
            let Some(digit) = digit.filter(|digit| (1..=6).contains(digit)) else {
                continue;
            };
            if self.hidden(Some(index)) {
                continue;
            }
            if level > 0 && digit > level + 1 {
                let message = format!("A heading of level {digit} follows one of level {level}.");
                self.tell(issues, Code::A11yHeadingSkip, element.offset, message);
            }
            level = digit;
        }
        for name in ["script", "iframe", "object", "embed", "form"] {
            if let Some((_, element)) = self.elements(name).next() {
                let message = format!("Mail programs remove <{name}>.");
                self.tell(issues, Code::RawForbidden, element.offset, message);
            }
        }
    }

    fn links(&self, issues: &mut Vec<Issue>) {
        let mut by_label: HashMap<String, &str> = HashMap::new();
        for (index, element) in self.elements("a") {
            let Some(href) = element.attribute("href") else {
                continue;
            };
            let mut label = element.text.trim().to_owned();
            if label.is_empty() {
                label = self.alt_inside(index).unwrap_or_default();
            }
            for (code, message) in address::target(href)
                .into_iter()
                .chain(address::link(&label, href))
            {
                self.tell(issues, code, element.offset, message);
            }
            let key = label.to_lowercase();
            if key.is_empty() || words::is_generic(&label) {
                continue;
            }
            match by_label.get(&key) {
                Some(known) if *known != href => {
                    let message = format!("\"{label}\" leads to two places.");
                    self.tell(issues, Code::LinkDuplicateText, element.offset, message);
                }
                Some(_) => {}
                None => {
                    by_label.insert(key, href);
                }
            }
        }
    }

    fn alt_inside(&self, link: usize) -> Option<String> {
        let later = self.markup.elements.iter().skip(link + 1).take(8);
        let mut inside = later.filter(|element| {
            element.name == "img" && element.parent.is_some_and(|parent| parent >= link)
        });
        inside.find_map(|image| image.attribute("alt").map(str::to_owned))
    }

    fn images(&self, issues: &mut Vec<Issue>) {
        let mut shown = 0_usize;
        for (index, element) in self.elements("img") {
            let src = element.attribute("src").unwrap_or_default();
            let pixel = ["width", "height"].iter().all(|side| {
                element
                    .attribute(side)
                    .and_then(css::px)
                    .is_some_and(|value| value <= 1.0)
            });
            if pixel || self.hidden(Some(index)) {
                continue;
            }
            shown += 1;
            match element.attribute("alt") {
                None => self.tell(
                    issues,
                    Code::ImageNoAlt,
                    element.offset,
                    "An image has no alt.",
                ),
                Some(alt) if looks_like_file(alt) => {
                    self.tell(
                        issues,
                        Code::A11yAltFilename,
                        element.offset,
                        format!("The alt is \"{alt}\"."),
                    );
                }
                Some(_) => {}
            }
            for (code, message) in address::picture(src) {
                self.tell(issues, code, element.offset, message);
            }
            let style = element.attribute("style").unwrap_or_default();
            let auto = element
                .attribute("height")
                .is_none_or(|height| css::px(height).is_none());
            if auto
                && !css::declarations(style)
                    .iter()
                    .any(|one| one.name == "height" && css::px(&one.value).is_some())
            {
                self.tell(
                    issues,
                    Code::ImageNoHeight,
                    element.offset,
                    "An image has no height in pixels.",
                );
            }
            if let Some(width) = element.attribute("width").and_then(css::px)
                && width > 700.0
            {
                let message = format!("An image is {width} pixels wide.");
                self.tell(issues, Code::ImageTooWide, element.offset, message);
            }
        }
        let words = self.visible_words();
        if shown > 0 && words == 0 {
            self.tell(
                issues,
                Code::ImageOnly,
                0,
                "There is no text beside pictures.",
            );
        } else if shown >= 3 && words < shown * 15 {
            let message = format!("{shown} pictures and {words} words.");
            self.tell(issues, Code::ImageRatio, 0, message);
        } else if shown == 0 && words == 0 {
            self.tell(issues, Code::TextEmpty, 0, "There is nothing to read.");
        }
    }

    fn visible_words(&self) -> usize {
        let runs = self
            .markup
            .runs
            .iter()
            .filter(|run| !self.hidden(run.parent));
        runs.map(|run| {
            run.text
                .split_whitespace()
                .filter(|word| word.chars().any(char::is_alphanumeric))
                .count()
        })
        .sum()
    }

    fn texts(&self, issues: &mut Vec<Issue>) {
        let mut all = String::new();
        for run in &self.markup.runs {
            let look = run.parent.and_then(|parent| self.looks.get(parent));
            let has_words = run.text.chars().any(char::is_alphanumeric);
            if !has_words || look.is_some_and(|look| look.hidden) {
                continue;
            }
            all.push_str(&run.text);
            all.push(' ');
            if let Some(what) = words::secret(&run.text) {
                self.tell(
                    issues,
                    Code::SecretSuspected,
                    run.offset,
                    format!("Something here looks like {what}."),
                );
            }
            let Some(look) = look else { continue };
            if let Some(size) = look.size
                && size < 12.0
                && size > 1.0
            {
                self.tell(
                    issues,
                    Code::A11ySmallText,
                    run.offset,
                    format!("Text of {size} pixels."),
                );
            }
            self.contrast(issues, run.offset, look);
        }
        let spam = words::spam(&all);
        if spam.len() >= 2 {
            let message = format!("The text says \"{}\".", spam.join("\", \""));
            self.tell(issues, Code::SpamSigns, 0, message);
        }
    }

    fn contrast(&self, issues: &mut Vec<Issue>, offset: usize, look: &Look) {
        let (Some(color), Some(ground)) = (look.color, look.ground) else {
            return;
        };
        let large = look
            .size
            .is_some_and(|size| size >= 24.0 || (look.bold && size >= 18.66));
        let needed = if large { 3.0 } else { 4.5 };
        let ratio = color.contrast(ground);
        if ratio < needed {
            let message = format!("{color} on {ground} has a contrast of {ratio:.1}.");
            let hint = format!("Use {} instead.", color.readable_on(ground, needed));
            issues.push(Issue::new(Code::A11yContrast, &self.source(offset), message).hint(hint));
            return;
        }
        let turned = dark::inverted(color).contrast(dark::inverted(ground));
        if turned < 3.0 {
            let message =
                format!("{color} on {ground} has a contrast of {turned:.1} once inverted.");
            self.tell(issues, Code::DarkContrastInverted, offset, message);
        }
    }

    fn colors(&self, issues: &mut Vec<Issue>) {
        for (offset, declarations) in &self.inline {
            for declaration in declarations {
                let is_color = matches!(
                    declaration.name.as_str(),
                    "color" | "background" | "background-color"
                );
                if let Some(color) =
                    css::color(&declaration.value).filter(|color| is_color && dark::is_hack(*color))
                {
                    self.tell(
                        issues,
                        Code::DarkNearWhiteHack,
                        *offset,
                        format!("The colour {color}."),
                    );
                }
            }
        }
        let for_dark = |rule: &css::Rule| {
            let at = rule.at.as_ref();
            at.is_some_and(|at| at.prelude.contains("prefers-color-scheme"))
        };
        let answers = self
            .sheets
            .iter()
            .any(|sheet| sheet.rules.iter().any(for_dark));
        for (index, element) in self.elements("img") {
            let src = element.attribute("src").unwrap_or_default().to_lowercase();
            let alt = element.attribute("alt").unwrap_or_default().to_lowercase();
            let transparent = src
                .split('?')
                .next()
                .is_some_and(|path| path.ends_with(".png") || path.ends_with(".svg"));
            if transparent
                && !answers
                && (src.contains("logo") || alt.contains("logo"))
                && !self.hidden(Some(index))
            {
                self.tell(
                    issues,
                    Code::DarkTransparentLogo,
                    element.offset,
                    "A logo that may be transparent.",
                );
            }
        }
    }

    fn outlook(&self, issues: &mut Vec<Issue>) {
        let face = self.sheets.iter().find(|sheet| {
            let loads = |rule: &css::Rule| {
                let at = rule.at.as_ref();
                at.is_some_and(|at| {
                    at.name == "font-face" || (at.name == "import" && at.prelude.contains("font"))
                })
            };
            sheet.rules.iter().any(loads)
        });
        let linked = self.elements("link").find(|(_, element)| {
            element.attribute("href").is_some_and(|href| {
                href.contains("fonts.googleapis") || href.contains("use.typekit")
            })
        });
        let place = face
            .map(|sheet| sheet.offset)
            .or(linked.map(|(_, element)| element.offset));
        if let Some(offset) = place.filter(|_| !self.markup.has_mso) {
            self.tell(
                issues,
                Code::OutlookWebfont,
                offset,
                "A web font, and nothing that tells Outlook of another.",
            );
        }
        for (offset, declarations) in &self.inline {
            let has = |name: &str| declarations.iter().find(|one| one.name == name);
            let picture = has("background")
                .or(has("background-image"))
                .is_some_and(|one| one.value.contains("url("));
            let padded = has("padding").is_some_and(|one| {
                let sides: Vec<f64> = one.value.split_whitespace().filter_map(css::px).collect();
                sides
                    .get(1)
                    .or(sides.first())
                    .is_some_and(|side| *side > 0.0)
            });
            if picture && padded {
                self.tell(
                    issues,
                    Code::OutlookBgPadding,
                    *offset,
                    "A background image with padding at its sides.",
                );
            }
        }
    }

    /// Lines that no server has to take.
    fn lines(&self, issues: &mut Vec<Issue>) {
        let mut offset = 0;
        for line in self.html.split('\n') {
            if line.len() > LINE_BYTES {
                let message = format!("A line of {} bytes.", line.len());
                self.tell(issues, Code::SizeLongLine, offset, message);
                return;
            }
            offset += line.len() + 1;
        }
    }

    /// What mail programs do not support.
    pub(super) fn compat(&self, options: &Options) -> Vec<Issue> {
        let clients =
            compat::clients_named(&options.clients).or_else(|_| compat::clients_named(&[]));
        let clients = clients.unwrap_or_default();
        compat::check(
            &self.markup,
            &self.sheets,
            &self.inline,
            &clients,
            &|offset| self.source(offset),
        )
    }

    fn unsubscribes(&self) -> bool {
        self.elements("a").any(|(_, element)| {
            let href = element.attribute("href").unwrap_or_default().to_lowercase();
            let text = element.text.to_lowercase();
            let says = |text: &str| {
                [
                    "unsub",
                    "opt-out",
                    "optout",
                    "abmeld",
                    "abbestell",
                    "désabonn",
                    "darse de baja",
                    "afmeld",
                ]
                .iter()
                .any(|word| text.contains(word))
            };
            says(&href) || says(&text)
        })
    }
}

/// Whether an alternative text is the name of a file.
pub(super) fn looks_like_file(alt: &str) -> bool {
    let lower = alt.trim().to_lowercase();
    let ends = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".avif"];
    ends.iter().any(|end| lower.ends_with(end)) && !lower.contains(' ')
        || lower
            .strip_prefix("img_")
            .or(lower.strip_prefix("dsc_"))
            .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
}
