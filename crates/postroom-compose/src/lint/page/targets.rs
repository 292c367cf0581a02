//! Links and pictures of a page.

use std::collections::HashMap;

use super::Looked;
use crate::{
    Code, Issue,
    lint::{address, css, words},
};

impl<'a> Looked<'a> {
    pub(super) fn links(&self, issues: &mut Vec<Issue>) {
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

    pub(super) fn alt_inside(&self, link: usize) -> Option<String> {
        let later = self.markup.elements.iter().skip(link + 1).take(8);
        let mut inside = later.filter(|element| {
            element.name == "img" && element.parent.is_some_and(|parent| parent >= link)
        });
        inside.find_map(|image| image.attribute("alt").map(str::to_owned))
    }

    pub(super) fn images(&self, issues: &mut Vec<Issue>) {
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

    pub(super) fn unsubscribes(&self) -> bool {
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
