//! How words of a page look: size, contrast, dark mode, Outlook.

use super::{LINE_BYTES, Looked};
use crate::{
    Code, Issue,
    lint::{css, dark, look::Look, words},
};

impl<'a> Looked<'a> {
    pub(super) fn texts(&self, issues: &mut Vec<Issue>) {
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

    pub(super) fn contrast(&self, issues: &mut Vec<Issue>, offset: usize, look: &Look) {
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

    pub(super) fn colors(&self, issues: &mut Vec<Issue>) {
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

    pub(super) fn outlook(&self, issues: &mut Vec<Issue>) {
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
    pub(super) fn lines(&self, issues: &mut Vec<Issue>) {
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

    pub(super) fn visible_words(&self) -> usize {
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
}
