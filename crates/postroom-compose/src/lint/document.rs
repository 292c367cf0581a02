//! Lints of a document: each at the block that it is about.

use std::collections::HashMap;

use crate::{
    Code, Issue, Source,
    emit::{self, Target},
    model::{
        Block, BlockKind, Button, ButtonOutlook, Color, DarkMode, Document, HideOn, Image,
        ImageAlt, Span, Template, Text,
    },
};

use super::{Options, address, compat, compiled, dark, page, raw, subject, words};

/// All of them.
pub(super) fn all(document: &Document, options: &Options) -> Vec<Issue> {
    // Most mails are far from the size at which programs clip them, and need no HTML to know it.
    let large = emit::html_at_most(document) > page::NEAR_BYTES;
    let target = if large { Target::Html } else { Target::Text };
    let made = emit::compile(
        document,
        &emit::Options {
            target,
            ..emit::Options::default()
        },
    );
    let meta = &document.meta;
    let mut issues = subject::check(
        &made.subject,
        &made.preheader,
        &meta.subject_source,
        &meta.preheader_source,
    );
    if large {
        issues.extend(page::size(made.code.len(), &meta.source));
    }
    let mut lints = Lints {
        document,
        issues,
        labels: HashMap::new(),
        pictures: 0,
    };
    for block in &document.body {
        lints.visit(block, false);
    }
    lints.theme();
    lints.amount(made.text.as_ref().unwrap_or(&made.code));
    lints.raw(options);
    lints.support(options);
    lints.issues.extend(compiled::unsubscribing(document));
    lints.issues
}

/// What a mail does not take over of raw HTML.
fn raw_lost(html: &str) -> Vec<String> {
    raw::lost(html, &crate::raw::sanitised(html))
}

struct Lints<'a> {
    document: &'a Document,
    issues: Vec<Issue>,
    /// Where each label leads.
    labels: HashMap<String, String>,
    pictures: usize,
}

impl<'a> Lints<'a> {
    fn tell(&mut self, code: Code, at: &Source, message: impl Into<String>) {
        self.issues.push(Issue::new(code, at, message));
    }

    fn visit(&mut self, block: &'a Block, on_picture: bool) {
        let at = &block.source;
        let mut inside = on_picture;
        if let Some(color) = block.background.color {
            self.color(color, at);
        }
        match &block.kind {
            BlockKind::Section(section) => {
                inside |= block.background.image.is_some();
                if block.background.image.is_some() && block.pad.left + block.pad.right > 0 {
                    self.tell(
                        Code::OutlookBgPadding,
                        at,
                        "A section has a background image and padding at its sides.",
                    );
                }
                let columns = section
                    .children
                    .iter()
                    .filter(|child| matches!(child.kind, BlockKind::Column(_)))
                    .count();
                if columns > 3 {
                    self.tell(
                        Code::OutlookColumns,
                        at,
                        format!("A section has {columns} columns."),
                    );
                }
            }
            BlockKind::Hero(_) => inside = true,
            BlockKind::Heading(node) => self.text(&node.text, at, node.color),
            BlockKind::Text(node) => self.text(&node.text, at, node.color),
            BlockKind::Button(button) => self.button(button, at, inside),
            BlockKind::Image(image) => self.image(block, image),
            BlockKind::Video(video) => {
                self.pictures += 1;
                self.picture(&video.poster, at);
                self.link(&video.alt.plain(), &video.href, at);
            }
            BlockKind::Item(node) => self.text(&node.text, at, None),
            BlockKind::Cell(node) => self.text(&node.text, at, None),
            BlockKind::Quote(node) => self.text(&node.text, at, None),
            BlockKind::MenuItem(item) => self.link(&item.label.plain(), &item.href, at),
            BlockKind::Footer(node) => node
                .lines
                .iter()
                .for_each(|line| self.text(line, at, node.color)),
            BlockKind::Address(node) => node
                .lines
                .iter()
                .for_each(|line| self.text(line, at, node.color)),
            BlockKind::Unsubscribe(node) => {
                if let Some(href) = &node.href {
                    self.link(&node.text.plain(), href, at);
                }
            }
            BlockKind::Code(code) => self.secret(&code.text.plain(), at),
            _ => {}
        }
        for child in block.children() {
            self.visit(child, inside);
        }
    }

    fn color(&mut self, color: Color, at: &Source) {
        if dark::is_hack(color) {
            self.tell(Code::DarkNearWhiteHack, at, format!("The colour {color}."));
        }
    }

    fn text(&mut self, text: &'a Text, at: &Source, color: Option<Color>) {
        if let Some(color) = color {
            self.color(color, at);
        }
        let mut links = Vec::new();
        let mut own = String::new();
        text.walk(&mut |span| match span {
            Span::Link { href, children } => links.push((Text(children.clone()).plain(), href)),
            Span::Text { text, .. } => {
                own.push_str(text);
                own.push(' ');
            }
            _ => {}
        });
        for (label, href) in links {
            self.link(&label, href, at);
        }
        self.secret(&own, at);
        if let Some(date) = words::date(&own) {
            self.tell(
                Code::DateHardCoded,
                at,
                format!("The date \"{date}\" is written out."),
            );
        }
    }

    fn secret(&mut self, text: &str, at: &Source) {
        if let Some(what) = words::secret(text) {
            self.tell(
                Code::SecretSuspected,
                at,
                format!("Something here looks like {what}."),
            );
        }
    }

    fn link(&mut self, label: &str, href: &Template, at: &Source) {
        let target = href.plain();
        for (code, message) in address::link(label, &target) {
            self.tell(code, at, message);
        }
        self.secret(&target, at);
        let key = label.trim().to_lowercase();
        if key.is_empty() || words::is_generic(label) {
            return;
        }
        match self.labels.get(&key) {
            Some(known) if *known != target => {
                self.tell(
                    Code::LinkDuplicateText,
                    at,
                    format!("\"{}\" leads to two places.", label.trim()),
                );
            }
            Some(_) => {}
            None => {
                self.labels.insert(key, target);
            }
        }
    }

    fn button(&mut self, button: &'a Button, at: &Source, on_picture: bool) {
        if let Some(color) = button.color {
            self.color(color, at);
        }
        if button.outlook == ButtonOutlook::Vml && on_picture {
            self.tell(
                Code::OutlookVmlNested,
                at,
                "A VML button on a background image.",
            );
        }
        self.link(&button.label.plain(), &button.href, at);
    }

    fn picture(&mut self, src: &Template, at: &Source) {
        for (code, message) in address::picture(&src.plain()) {
            self.tell(code, at, message);
        }
    }

    fn image(&mut self, block: &'a Block, image: &'a Image) {
        let at = &block.source;
        self.pictures += 1;
        self.picture(&image.src, at);
        if image.height.is_none() {
            self.tell(Code::ImageNoHeight, at, "The image has no height.");
        }
        let alt = match &image.alt {
            ImageAlt::Text(alt) => alt.plain(),
            ImageAlt::Decorative | ImageAlt::Missing => String::new(),
        };
        if let Some(href) = &image.href {
            self.link(&alt, href, at);
        }
        let src = image.src.plain().to_lowercase();
        let transparent = matches!(address::picture_format(&src), Some(".png" | ".svg"));
        let logo = src.contains("logo") || alt.to_lowercase().contains("logo");
        let stays = self.document.theme.dark.mode == DarkMode::Off || image.dark_src.is_some();
        if transparent && logo && !stays && block.background.color.is_none() {
            self.tell(
                Code::DarkTransparentLogo,
                at,
                "The logo may be transparent and has no darkSrc.",
            );
        }
    }

    /// Colours and fonts of the theme.
    fn theme(&mut self) {
        let theme = &self.document.theme;
        let at = &self.document.meta.source;
        for color in [
            theme.background,
            theme.surface,
            theme.text,
            theme.muted,
            theme.link,
            theme.primary,
            theme.on_primary,
        ] {
            self.color(color, at);
        }
        if theme.dark.mode == DarkMode::Authored {
            let surface = theme.dark.surface.unwrap_or(Color::rgb(0x27, 0x27, 0x2a));
            let pairs = [
                ("text", theme.dark.text),
                ("muted", theme.dark.muted),
                ("link", theme.dark.link),
            ];
            for (name, color) in pairs {
                if let Some(color) = color.filter(|color| color.contrast(surface) < 4.5) {
                    let message = format!(
                        "In dark mode {name} {color} on {surface} has a contrast of {:.1}.",
                        color.contrast(surface)
                    );
                    let hint = format!("Use {} instead.", color.readable_on(surface, 4.5));
                    self.issues
                        .push(Issue::new(Code::DarkContrastInverted, at, message).hint(hint));
                }
            }
        }
        if theme.dark.mode == DarkMode::Off {
            let turned = dark::inverted(theme.text).contrast(dark::inverted(theme.surface));
            if turned < 3.0 {
                let message = format!(
                    "Text {} on {} has a contrast of {turned:.1} once inverted.",
                    theme.text, theme.surface
                );
                self.tell(Code::DarkContrastInverted, at, message);
            }
        }
        let fonts = [Some(&theme.font), theme.heading_font.as_ref()];
        for font in fonts.into_iter().flatten() {
            if emit::lacks_safe_font(font) {
                self.tell(
                    Code::OutlookWebfont,
                    at,
                    format!("The font \"{font}\" ends in none that every system has."),
                );
            }
        }
    }

    /// Words beside pictures, and what they say.
    fn amount(&mut self, text: &str) {
        let at = &self.document.meta.source;
        let words = text
            .split_whitespace()
            .filter(|word| word.chars().any(char::is_alphanumeric))
            .count();
        let alts = self.alt_words();
        let live = words.saturating_sub(alts);
        if self.pictures > 0 && live < 3 {
            self.tell(Code::ImageOnly, at, "There is no text beside pictures.");
        } else if self.pictures >= 3 && live < self.pictures * 15 {
            self.tell(
                Code::ImageRatio,
                at,
                format!("{} pictures and {live} words.", self.pictures),
            );
        }
        if self.pictures > 0 {
            self.tell(
                Code::ImageWeightUnknown,
                at,
                format!("Pictures were not fetched: {}.", self.pictures),
            );
        }
        let spam = self::words::spam(text);
        if spam.len() >= 2 {
            self.tell(
                Code::SpamSigns,
                at,
                format!("The text says \"{}\".", spam.join("\", \"")),
            );
        }
    }

    fn alt_words(&self) -> usize {
        let mut count = 0;
        self.document.walk(&mut |block| {
            if let BlockKind::Image(Image {
                alt: ImageAlt::Text(alt),
                href,
                ..
            }) = &block.kind
            {
                count += alt.plain().split_whitespace().count() + usize::from(href.is_some());
            }
        });
        count
    }

    /// What the chosen programs do not show of what blocks ask for. Those of the default profile get
    /// something else for each of it, so nothing is told when nobody chose.
    fn support(&mut self, options: &Options) {
        let Ok(clients) = compat::clients_named(&options.clients) else {
            return;
        };
        if options.clients.is_empty() {
            return;
        }
        let mut told: Vec<&str> = Vec::new();
        let mut found = Vec::new();
        let mut tell = |slug: &'static str, at: &Source| {
            if !told.contains(&slug) {
                told.push(slug);
                found.extend(compat::missing(slug, &clients).map(|issue| issue.at(at)));
            }
        };
        let document = self.document;
        if document.theme.font_url.is_some() {
            tell("css-at-font-face", &document.meta.source);
        }
        document.walk(&mut |block| {
            let at = &block.source;
            if block.background.gradient.is_some() {
                tell("css-linear-gradient", at);
            }
            if block.background.image.is_some() {
                tell("css-background-image", at);
            }
            if block.hide_on != HideOn::None {
                tell("css-at-media", at);
            }
            match &block.kind {
                BlockKind::Hero(hero) if hero.src.is_some() => tell("css-background-image", at),
                BlockKind::Image(image) => {
                    if image.dark_src.is_some() {
                        tell("css-at-media-prefers-color-scheme", at);
                    }
                    if image.radius > 0 {
                        tell("css-border-radius", at);
                    }
                }
                BlockKind::Button(button) if button.radius.unwrap_or(document.theme.radius) > 0 => {
                    tell("css-border-radius", at);
                }
                BlockKind::Panel(panel) if panel.radius > 0 => tell("css-border-radius", at),
                BlockKind::Column(column) if column.radius > 0 => tell("css-border-radius", at),
                _ => {}
            }
        });
        self.issues.extend(found);
    }

    /// Blocks of raw HTML: what programs do not support.
    fn raw(&mut self, options: &Options) {
        let mut found = Vec::new();
        self.document.walk(&mut |block| {
            if let BlockKind::Raw(raw) = &block.kind {
                let issues = page::Looked::at(&raw.html).compat(options);
                found.extend(issues.into_iter().map(|issue| issue.at(&block.source)));
                let lost = raw_lost(&raw.html);
                if !lost.is_empty() {
                    let message = format!("The mail is made without {} of it.", lost.join(", "));
                    found.push(Issue::new(Code::RawChanged, &block.source, message));
                }
            }
        });
        self.issues.extend(found);
    }
}
