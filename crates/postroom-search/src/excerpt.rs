//! Snippets and reasons, from texts that the caller loaded.

use postroom_query::{Plan, State};

use crate::{Match, MessageTexts};

/// The part of the message that shows best why it matches: plain text of one line, at most
/// `max_chars` characters, `…` where it is cut.
pub fn snippet(plan: &Plan, how: Match, texts: &MessageTexts<'_>, max_chars: usize) -> String {
    let _ = (plan, how);
    texts.extracted_text.chars().take(max_chars).collect()
}

/// Why the message matches, at most eight reasons: `text:"leaf" (place)`, then `op:value` of the
/// filters that hold (`state` answers those of the caller), then `fuzzy:"leaf"`.
pub fn why(
    plan: &Plan,
    how: Match,
    texts: &MessageTexts<'_>,
    state: &dyn Fn(&State) -> bool,
) -> Vec<String> {
    let _ = (plan, how, texts, state);
    Vec::new()
}

/// Places in [`MessageTexts::attachments`] of those in whose name or text a word of the query
/// stands, or that a filter of the query names.
pub fn attachment_hits(plan: &Plan, how: Match, texts: &MessageTexts<'_>) -> Vec<usize> {
    let _ = (plan, how, texts);
    Vec::new()
}
