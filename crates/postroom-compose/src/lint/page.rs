//! HTML that somebody else made, and the HTML of our own that blocks of raw HTML hold.

mod seen;
mod targets;

use super::{
    Options, compat,
    css::{self, Declaration, Sheet},
    look::{Look, look},
    markup::{self, Element, Markup},
    subject,
};
use crate::{Code, Issue, Source, draft::Origins, model::Kind};

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
}
