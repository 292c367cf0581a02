//! Whether words can be told from what is behind them.

use crate::{
    issue::{Code, Issue},
    model::{Block, BlockKind, ButtonVariant, Color, Document, Heading, Span, Text, Theme},
};

/// Least contrast of words (WCAG 2.2, 1.4.3).
const WORDS: f64 = 4.5;
/// Least contrast of large words.
const LARGE: f64 = 3.0;

pub(super) fn document(document: &Document, issues: &mut Vec<Issue>) {
    let mut judge = Judge {
        theme: &document.theme,
        issues,
    };
    judge.blocks(
        &document.body.iter().collect::<Vec<_>>(),
        document.theme.surface,
    );
}

struct Judge<'d> {
    theme: &'d Theme,
    issues: &'d mut Vec<Issue>,
}

impl Judge<'_> {
    fn blocks(&mut self, blocks: &[&Block], ground: Color) {
        for block in blocks {
            self.block(block, ground);
        }
    }

    fn block(&mut self, block: &Block, ground: Color) {
        let ground = match &block.kind {
            BlockKind::Button(button) => {
                self.button(block, button, ground);
                return;
            }
            BlockKind::Hero(hero) => hero.fallback_color,
            _ => block.background.color.unwrap_or(ground),
        };
        let theme = self.theme;
        match &block.kind {
            BlockKind::Heading(heading) => {
                let color = heading.color.unwrap_or(theme.text);
                self.text(block, &heading.text, color, ground, least(heading));
            }
            BlockKind::Text(node) => {
                let least = if node.size.is_some_and(|size| size >= 24) {
                    LARGE
                } else {
                    WORDS
                };
                self.text(
                    block,
                    &node.text,
                    node.color.unwrap_or(theme.text),
                    ground,
                    least,
                );
            }
            BlockKind::List(list) => {
                let color = list.color.unwrap_or(theme.text);
                self.items(block, color, ground);
                return;
            }
            BlockKind::Table(_) => {
                self.items(block, theme.text, ground);
                return;
            }
            BlockKind::Menu(menu) => {
                let color = menu.color.unwrap_or(theme.link);
                self.words(block, color, ground, WORDS);
                return;
            }
            BlockKind::Quote(quote) => {
                self.text(block, &quote.text, theme.text, ground, WORDS);
                if quote.cite.is_some() {
                    self.words(block, theme.muted, ground, WORDS);
                }
            }
            BlockKind::Unsubscribe(_) => self.words(block, theme.link, ground, WORDS),
            BlockKind::Footer(node) => {
                let color = node.color.unwrap_or(theme.muted);
                for line in &node.lines {
                    self.text(block, line, color, ground, WORDS);
                }
            }
            BlockKind::Address(node) => {
                let color = node.color.unwrap_or(theme.muted);
                for line in &node.lines {
                    self.text(block, line, color, ground, WORDS);
                }
            }
            _ => {}
        }
        self.blocks(&block.children(), ground);
    }

    /// Words of items, rows and cells inside a list or table.
    fn items(&mut self, block: &Block, color: Color, ground: Color) {
        block.walk(&mut |inner| match &inner.kind {
            BlockKind::Item(item) => self.text(inner, &item.text, color, ground, WORDS),
            BlockKind::Cell(cell) => self.text(inner, &cell.text, color, ground, WORDS),
            _ => {}
        });
    }

    fn button(&mut self, block: &Block, button: &crate::model::Button, ground: Color) {
        let theme = self.theme;
        let (words, ground) = match button.variant {
            ButtonVariant::Solid => (
                button.color.unwrap_or(theme.on_primary),
                block.background.color.unwrap_or(theme.primary),
            ),
            ButtonVariant::Outline | ButtonVariant::Link => (
                button
                    .color
                    .or(block.background.color)
                    .unwrap_or(theme.primary),
                ground,
            ),
        };
        self.words(block, words, ground, WORDS);
    }

    /// Words of a text: its own colour, that of its spans, that of its links.
    fn text(&mut self, block: &Block, text: &Text, color: Color, ground: Color, least: f64) {
        let (mut plain, mut links) = (false, false);
        let mut colored = Vec::new();
        text.walk(&mut |span| match span {
            Span::Text {
                color: Some(color), ..
            } => colored.push(*color),
            Span::Text { .. } | Span::Variable(_) => plain = true,
            Span::Link { .. } => links = true,
            _ => {}
        });
        colored.sort_unstable_by_key(|color| (color.red, color.green, color.blue));
        colored.dedup();
        if plain {
            self.words(block, color, ground, least);
        }
        if links {
            self.words(block, self.theme.link, ground, least);
        }
        for color in colored {
            self.words(block, color, ground, least);
        }
    }

    fn words(&mut self, block: &Block, words: Color, ground: Color, least: f64) {
        let contrast = words.contrast(ground);
        if contrast >= least {
            return;
        }
        let message = format!(
            "{words} on {ground} has a contrast of {:.2}; {least} is needed.",
            (contrast * 100.0).floor() / 100.0
        );
        let hint = format!("Use {} on this ground.", words.readable_on(ground, least));
        self.issues
            .push(Issue::new(Code::A11yContrast, &block.source, message).hint(hint));
    }
}

/// Large is 24 px, or 19 px in bold.
fn least(heading: &Heading) -> f64 {
    let large = heading.size >= 24 || (heading.size >= 19 && heading.weight >= 700);
    if large { LARGE } else { WORDS }
}
