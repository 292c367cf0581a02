//! Snippets and reasons, from texts that the caller loaded.

use postroom_query::{AttachmentType, Field, Filter, Plan, State, TextForm, TextLeaf, Who};
use postroom_types::Mailbox;

use crate::{
    Match, MessageTexts,
    analysis::fold,
    message::class_of,
    schema::{NAME_MARK, person_terms},
};

mod spans;
mod window;

use spans::{Finder, Span};

/// Reasons of one hit.
const REASONS: usize = 8;

/// The part of the message that shows best why it matches: plain text of one line, at most
/// `max_chars` (three or more) characters, `…` where it is cut.
pub fn snippet(plan: &Plan, how: Match, texts: &MessageTexts<'_>, max_chars: usize) -> String {
    let finder = Finder::of(plan, how);
    let attachments = texts.attachments.iter().filter_map(|a| a.text.as_deref());
    let sources = [(texts.extracted_text, false), (texts.subject, true)]
        .into_iter()
        .chain(attachments.map(|text| (text, false)))
        .chain([(texts.text, false)]);
    if !finder.is_empty() {
        for (source, is_subject) in sources {
            let line = window::one_line(source);
            let spans = finder.spans(&line, is_subject);
            if !spans.is_empty() {
                return window::best(&line, &spans, max_chars);
            }
        }
    }
    let shown = [texts.extracted_text, texts.text, texts.subject]
        .into_iter()
        .find(|text| !text.trim().is_empty())
        .unwrap_or_default();
    window::best(&window::one_line(shown), &[], max_chars)
}

/// Why the message matches, at most eight reasons: `text:"leaf" (place)`, then `op:value` of the
/// filters that hold (`state` answers those of the caller), then `fuzzy:"leaf"`.
pub fn why(
    plan: &Plan,
    how: Match,
    texts: &MessageTexts<'_>,
    state: &dyn Fn(&State) -> bool,
) -> Vec<String> {
    let mut reasons = Vec::new();
    let mut near = Vec::new();
    for leaf in plan.positive_text() {
        let shown = &leaf.words;
        let shown = match shown.form {
            TextForm::Prefix => format!("{}*", shown.text),
            TextForm::Term | TextForm::Phrase => shown.text.clone(),
        };
        if let Some(place) = place_of(leaf, Match::Exact, texts) {
            reasons.push(format!("text:\"{shown}\" ({place})"));
        } else if how != Match::Exact && place_of(leaf, how, texts).is_some() {
            near.push(format!("fuzzy:\"{shown}\""));
        }
    }
    plan.for_each_leaf(&mut |leaf, negated| {
        if negated {
            return;
        }
        let (op, holds) = match leaf {
            Plan::Filter(filter) => (&filter.op, holds(&filter.test, texts)),
            Plan::State(leaf) => (&leaf.op, state(&leaf.state)),
            _ => return,
        };
        if holds && !op.is_empty() {
            reasons.push(op.clone());
        }
    });
    reasons.extend(near);
    reasons.truncate(REASONS);
    reasons
}

/// Places in [`MessageTexts::attachments`] of those in whose name or text a word of the query
/// stands, or that a filter of the query names.
pub fn attachment_hits(plan: &Plan, how: Match, texts: &MessageTexts<'_>) -> Vec<usize> {
    let finder = Finder::of(plan, how);
    let mut filters = Vec::new();
    plan.for_each_leaf(&mut |leaf, negated| {
        if let (Plan::Filter(filter), false) = (leaf, negated) {
            filters.push(&filter.test);
        }
    });
    let hit = |attachment: &crate::DocAttachment| {
        let name = attachment.filename.as_deref();
        let texts = [name, attachment.text.as_deref()];
        texts
            .into_iter()
            .flatten()
            .any(|text| finder.finds(text, false))
            || filters.iter().any(|filter| match filter {
                Filter::Filename(part) => name.is_some_and(|name| fold(name).contains(&fold(part))),
                Filter::Type(kind) => is_kind(attachment, kind),
                _ => false,
            })
    };
    let places = texts.attachments.iter().enumerate();
    places
        .filter(|(_, attachment)| hit(attachment))
        .map(|(place, _)| place)
        .collect()
}

/// The first place of a message in which a leaf stands.
fn place_of(leaf: &TextLeaf, how: Match, texts: &MessageTexts<'_>) -> Option<&'static str> {
    let finder = Finder::of_leaf(leaf, how);
    if finder.finds(texts.subject, true) {
        return Some("subject");
    }
    if leaf.field == Some(Field::Subject) {
        return None;
    }
    let mut people = texts.from.iter().chain(texts.to);
    if people.any(|who| finder.finds(&who.name, false) || finder.finds(&who.address, false)) {
        return Some("participants");
    }
    if finder.finds(texts.extracted_text, false) || finder.finds(texts.text, false) {
        return Some("body");
    }
    let mut attachments = texts.attachments.iter();
    attachments
        .any(|attachment| {
            let texts = [attachment.filename.as_deref(), attachment.text.as_deref()];
            texts
                .into_iter()
                .flatten()
                .any(|text| finder.finds(text, false))
        })
        .then_some("attachment")
}

/// Whether a filter holds of a message, as the index would say.
fn holds(filter: &Filter, texts: &MessageTexts<'_>) -> bool {
    match filter {
        Filter::From(who) => is_among(who, texts.from),
        Filter::To(who) => is_among(who, texts.to),
        Filter::Participant(who) => is_among(who, texts.from) || is_among(who, texts.to),
        Filter::HasAttachment => texts.attachments.iter().any(|a| !a.inline),
        Filter::Filename(part) => {
            let part = fold(part);
            let mut names = texts.attachments.iter().filter_map(|a| a.filename.as_ref());
            names.any(|name| fold(name).contains(&part))
        }
        Filter::Type(kind) => texts.attachments.iter().any(|a| is_kind(a, kind)),
        Filter::After(moment) => texts.date >= *moment,
        Filter::Before(moment) => texts.date < *moment,
        Filter::In(direction) => texts.direction == *direction,
    }
}

fn is_kind(attachment: &crate::DocAttachment, kind: &AttachmentType) -> bool {
    match kind {
        AttachmentType::Media(media) => attachment.content_type.eq_ignore_ascii_case(media),
        class => class_of(&attachment.content_type, attachment.filename.as_deref()) == *class,
    }
}

fn is_among(who: &Who, people: &[Mailbox]) -> bool {
    let mut terms = people.iter().flat_map(person_terms);
    match who {
        Who::Address(address) => terms.any(|term| term == *address),
        Who::Domain(domain) => terms.any(|term| term.strip_prefix('@') == Some(domain)),
        Who::Bare(word) => terms.any(|term| {
            term.strip_prefix('@') == Some(word)
                || term
                    .strip_prefix(word.as_str())
                    .is_some_and(|rest| rest.starts_with('@'))
        }),
        Who::Part(part) => {
            let part = fold(part);
            terms.any(|term| {
                !term.starts_with('@') && term.trim_start_matches(NAME_MARK).contains(&part)
            })
        }
    }
}
