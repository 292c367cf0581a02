//! Where the words of a query stand in a text.

use postroom_query::{Field, Plan, TextForm, TextLeaf};

use crate::{
    Match,
    analysis::{Walk, Wanted},
    compile::may_be_near,
    rank::quality,
};

/// Places of one text that are looked at; a window needs no more.
const SPANS: usize = 2_000;

/// One place at which a leaf stands, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) leaf: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Finds the positive words of a plan.
pub(super) struct Finder {
    leaves: Vec<Sought>,
}

struct Sought {
    leaf: usize,
    subject_only: bool,
    /// Words in a row with their places; the last may be a beginning.
    words: Vec<(String, u32)>,
    open: bool,
    /// Whether each word alone, one letter off or cut, will do.
    near: bool,
}

impl Finder {
    pub(super) fn of(plan: &Plan, how: Match) -> Self {
        let leaves = plan.positive_text().into_iter().enumerate();
        Self {
            leaves: leaves
                .filter_map(|(place, leaf)| sought(place, leaf, how))
                .collect(),
        }
    }

    pub(super) fn of_leaf(leaf: &TextLeaf, how: Match) -> Self {
        Self {
            leaves: sought(0, leaf, how).into_iter().collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    pub(super) fn finds(&self, text: &str, is_subject: bool) -> bool {
        let mut found = false;
        self.walk(text, is_subject, |_| {
            found = true;
            false
        });
        found
    }

    pub(super) fn spans(&self, text: &str, is_subject: bool) -> Vec<Span> {
        let mut spans = Vec::new();
        self.walk(text, is_subject, |span| {
            spans.push(span);
            spans.len() < SPANS
        });
        spans.sort_by_key(|span| (span.from, span.to));
        spans
    }

    /// Calls `found` with each place, until it says no.
    fn walk(&self, text: &str, is_subject: bool, mut found: impl FnMut(Span) -> bool) {
        let sought: Vec<&Sought> = self
            .leaves
            .iter()
            .filter(|leaf| is_subject || !leaf.subject_only)
            .collect();
        if sought.is_empty() {
            return;
        }
        let mut begun: Vec<Vec<Begun>> = sought.iter().map(|_| Vec::new()).collect();
        let mut walk = Walk::new(text);
        while walk.advance() {
            for (leaf, begun) in sought.iter().zip(&mut begun) {
                let span = if leaf.near {
                    leaf.near_span(&walk)
                } else {
                    leaf.step(&walk, begun)
                };
                if let Some(span) = span
                    && !found(span)
                {
                    return;
                }
            }
        }
    }
}

/// Words in a row that were found so far.
struct Begun {
    next: usize,
    from: usize,
    position: u32,
}

impl Sought {
    fn near_span(&self, walk: &Walk<'_>) -> Option<Span> {
        let mut words = self.words.iter();
        words
            .any(|(word, _)| {
                if may_be_near(word) {
                    quality(word, &walk.text).is_some()
                } else {
                    *word == walk.text
                }
            })
            .then_some(Span {
                leaf: self.leaf,
                from: walk.from,
                to: walk.to,
            })
    }

    /// Takes one more word of the text; gives the place when it completes the leaf.
    fn step(&self, walk: &Walk<'_>, begun: &mut Vec<Begun>) -> Option<Span> {
        let mut complete = None;
        begun.retain_mut(|run| {
            let Some((_, at)) = self.words.get(run.next) else {
                return false;
            };
            let place = run.position.saturating_add(*at);
            if walk.position < place {
                return true;
            }
            if walk.position > place || !self.fits(run.next, &walk.text) {
                return false;
            }
            run.next += 1;
            if run.next == self.words.len() {
                complete = Some(run.from);
                return false;
            }
            true
        });
        if self.fits(0, &walk.text) {
            if self.words.len() == 1 {
                complete = Some(walk.from);
            } else if begun.len() < SPANS {
                begun.push(Begun {
                    next: 1,
                    from: walk.from,
                    position: walk.position,
                });
            }
        }
        complete.map(|from| Span {
            leaf: self.leaf,
            from,
            to: walk.to,
        })
    }

    fn fits(&self, place: usize, word: &str) -> bool {
        let last = place + 1 == self.words.len();
        self.words.get(place).is_some_and(|(wanted, _)| {
            if last && self.open {
                word.starts_with(wanted.as_str())
            } else {
                word == wanted
            }
        })
    }
}

fn sought(place: usize, leaf: &TextLeaf, how: Match) -> Option<Sought> {
    let form = leaf.words.form;
    let wanted = Wanted::of(&leaf.words.text, form == TextForm::Prefix)?;
    let open = wanted.stem.is_some();
    let words: Vec<(String, u32)> = wanted
        .words
        .into_iter()
        .chain(wanted.stem)
        .map(|word| (word.text, word.position))
        .collect();
    let near = how != Match::Exact
        && form == TextForm::Term
        && !open
        && words.iter().any(|(word, _)| may_be_near(word));
    Some(Sought {
        leaf: place,
        subject_only: leaf.field == Some(Field::Subject),
        words,
        open,
        near,
    })
}
