//! Figures of a result.

use serde::Serialize;

use super::Target;

/// Bytes of HTML after which Gmail cuts a mail.
pub(crate) const GMAIL_BYTES: usize = 102_400;

/// Figures of a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Bytes of the result.
    pub bytes: usize,
    /// How much of what Gmail shows of a mail it takes up, in percent; for HTML.
    pub clip_percent: usize,
    /// Pictures in it.
    pub images: usize,
    /// Links in it.
    pub links: usize,
    /// Words that a reader sees.
    pub words: usize,
}

impl Stats {
    pub(super) fn of(target: Target, code: &str, text: Option<&str>) -> Self {
        let count = |tags: &[&str]| tags.iter().map(|tag| code.matches(tag).count()).sum();
        let markup = matches!(target, Target::Html | Target::Mjml);
        Self {
            bytes: code.len(),
            clip_percent: if target == Target::Html {
                code.len() * 100 / GMAIL_BYTES
            } else {
                0
            },
            images: if markup {
                count(&["<img", "<mj-image", "<mj-social-element"])
            } else {
                0
            },
            links: if markup { count(&[" href=\""]) } else { 0 },
            words: text.unwrap_or(code).split_whitespace().count(),
        }
    }
}
