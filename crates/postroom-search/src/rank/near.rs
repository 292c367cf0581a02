//! Words one letter off or cut.

use memchr::memmem;
use tantivy::{
    Term,
    index::InvertedIndexReader,
    postings::TermInfo,
    query::{DfaWrapper, FuzzyTermQuery},
    schema::Field,
};

use crate::terms::for_each_term;

/// Characters that a word needs before it may be written otherwise.
pub(crate) const NEAR_CHARS: usize = 3;

/// A word that may be one letter off or go on, or, when that finds too little, stand inside another.
pub(crate) struct Near {
    /// The folded word.
    word: String,
    /// Accepts what is one letter off; made once, for it is dear.
    one_off: DfaWrapper,
    /// The fields in which it may stand inside another word: those with few different words.
    inside: Vec<Field>,
}

impl Near {
    /// Looks for a folded word, inside other words in some fields.
    pub(crate) fn new(word: &str, inside: Vec<Field>) -> tantivy::Result<Self> {
        let any_field = Field::from_field_id(0);
        let term = Term::from_field_text(any_field, word);
        Ok(Self {
            word: word.to_owned(),
            one_off: FuzzyTermQuery::new(term, 1, true).automaton()?,
            inside,
        })
    }

    /// Calls `add` with every term in which the word stands inside, in the fields where it may.
    pub(super) fn expand_inside(
        &self,
        index: &InvertedIndexReader,
        field: Field,
        mut add: impl FnMut(&TermInfo, f32) -> tantivy::Result<()>,
    ) -> tantivy::Result<()> {
        if !self.inside.contains(&field) {
            return Ok(());
        }
        let finder = memmem::Finder::new(&self.word);
        for_each_term(index, "", |term, info| {
            // What begins with the word or is one letter off was taken before.
            let inside = finder.find(term.as_bytes()).is_some_and(|at| at > 0);
            if !inside || one_off(&self.word, term) {
                return Ok(());
            }
            match quality(&self.word, term) {
                Some(quality) => add(info, quality),
                None => Ok(()),
            }
        })
    }

    /// Calls `add` with every term that is the word, begins with it or is one letter off, and how
    /// well it stands for it, 0 to 1.
    pub(super) fn expand(
        &self,
        index: &InvertedIndexReader,
        mut add: impl FnMut(&TermInfo, f32) -> tantivy::Result<()>,
    ) -> tantivy::Result<()> {
        let mut terms = index.terms().search(&self.one_off).into_stream()?;
        while terms.advance() {
            let term = std::str::from_utf8(terms.key()).unwrap_or_default();
            if !term.starts_with(&self.word) {
                add(terms.value(), ONE_OFF)?;
            }
        }
        for_each_term(index, &self.word, |term, info| {
            match quality(&self.word, term) {
                Some(quality) => add(info, quality),
                None => Ok(()),
            }
        })
    }
}

/// How well a term that is one letter off stands for a word.
const ONE_OFF: f32 = 0.6;

/// How well a term of the index stands for a word, 0 to 1; `None` when it does not.
pub(crate) fn quality(word: &str, term: &str) -> Option<f32> {
    if word == term {
        return Some(1.0);
    }
    let share = word.len() as f32 / term.len().max(1) as f32;
    if term.starts_with(word) {
        return Some(0.4 + 0.4 * share);
    }
    if one_off(word, term) {
        return Some(ONE_OFF);
    }
    term.contains(word).then_some(0.5 * share)
}

/// Whether two words differ by one letter more, less or other, or by two neighbours swapped.
fn one_off(a: &str, b: &str) -> bool {
    let skip = a
        .chars()
        .zip(b.chars())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    let (a, b) = (a.get(skip..).unwrap_or(""), b.get(skip..).unwrap_or(""));
    let (mut a_rest, mut b_rest) = (a.chars(), b.chars());
    let (a_first, b_first) = (a_rest.next(), b_rest.next());
    if a_rest.as_str() == b || b_rest.as_str() == a || a_rest.as_str() == b_rest.as_str() {
        return true;
    }
    a_rest.next() == b_first && b_rest.next() == a_first && a_rest.as_str() == b_rest.as_str()
}

/// Calls `visit` with every term that begins so.
pub(super) fn expand_beginning(
    index: &InvertedIndexReader,
    beginning: &str,
    mut visit: impl FnMut(&TermInfo) -> tantivy::Result<()>,
) -> tantivy::Result<()> {
    for_each_term(index, beginning, |_, info| visit(info))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_letter_is_one_off_and_two_are_not() {
        for (a, b) in [
            ("invoice", "invoce"),
            ("invoice", "invoicee"),
            ("invoice", "inboice"),
            ("invoice", "invocie"),
            ("invoice", "xinvoice"),
            ("straße", "strase"),
        ] {
            assert!(one_off(a, b) && one_off(b, a), "{a} {b}");
        }
        for (a, b) in [("invoice", "invce"), ("invoice", "onvoise"), ("abc", "cab")] {
            assert!(!one_off(a, b) && !one_off(b, a), "{a} {b}");
        }
    }

    #[test]
    fn the_word_itself_is_the_best_then_what_goes_on() {
        let exact = quality("invoice", "invoice").unwrap_or_default();
        let longer = quality("invoic", "invoice").unwrap_or_default();
        let much_longer = quality("invo", "invoicing").unwrap_or_default();
        let inside = quality("voice", "invoice").unwrap_or_default();
        assert!(exact > longer && longer > much_longer && much_longer > inside && inside > 0.0);
        assert_eq!(quality("invoice", "receipt"), None);
    }
}
