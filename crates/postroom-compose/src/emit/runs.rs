//! Plain text while it is written: words and template tags, told apart until all of it is there.
//!
//! Only then is it known what stands beside what, and words are kept from becoming a tag wherever
//! they meet: across marks, links, line ends, blocks, branches and loops.

use crate::dialect::{Borders, Syntax};

/// Words, or a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Run {
    Words(String),
    Tag(String),
}

/// Words and tags in their order; no two words stand beside each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Runs(Vec<Run>);

impl Runs {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes words, the author's or our own.
    pub(super) fn words(&mut self, words: &str) {
        if words.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(Run::Words(last)) => last.push_str(words),
            _ => self.0.push(Run::Words(words.to_owned())),
        }
    }

    /// Writes a tag.
    pub(super) fn tag(&mut self, tag: &str) {
        if !tag.is_empty() {
            self.0.push(Run::Tag(tag.to_owned()));
        }
    }

    pub(super) fn append(&mut self, other: Self) {
        for run in other.0 {
            match run {
                Run::Words(words) => self.words(&words),
                Run::Tag(tag) => self.0.push(Run::Tag(tag)),
            }
        }
    }

    /// Characters, of tags as they are written.
    pub(super) fn chars(&self) -> usize {
        let of = |run: &Run| match run {
            Run::Words(text) | Run::Tag(text) => text.chars().count(),
        };
        self.0.iter().map(of).sum()
    }

    /// Words as lines of at most so many characters, broken at blanks; a longer word keeps its own
    /// line.
    pub(super) fn wrapped(&self, width: usize) -> Vec<Self> {
        let [Run::Words(words)] = self.0.as_slice() else {
            return vec![self.clone()];
        };
        let mut lines: Vec<String> = Vec::new();
        for word in words.split(' ').filter(|word| !word.is_empty()) {
            match lines.last_mut() {
                Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
        lines
            .into_iter()
            .map(|line| Self(vec![Run::Words(line)]))
            .collect()
    }

    /// Whether a tag is among the words.
    pub(super) fn has_tags(&self) -> bool {
        self.0.iter().any(|run| matches!(run, Run::Tag(_)))
    }

    pub(super) fn ends_with_blank(&self) -> bool {
        matches!(self.0.last(), Some(Run::Words(words)) if words.ends_with(' '))
    }

    /// Takes blanks off the end.
    pub(super) fn trim_end(&mut self) {
        while let Some(Run::Words(words)) = self.0.last_mut() {
            words.truncate(words.trim_end_matches(' ').len());
            if !words.is_empty() {
                return;
            }
            self.0.pop();
        }
    }

    /// The same on one line.
    pub(super) fn on_one_line(mut self) -> Self {
        for run in &mut self.0 {
            if let Run::Words(words) = run
                && words.contains(['\r', '\n'])
            {
                *words = words.replace("\r\n", " ").replace(['\r', '\n'], " ");
            }
        }
        self
    }

    /// The text in a language; without one, words are as they are.
    pub(super) fn written(&self, syntax: Option<&dyn Syntax>) -> String {
        let mut out = String::with_capacity(self.chars());
        let is_tag =
            |at: Option<usize>| matches!(at.and_then(|at| self.0.get(at)), Some(Run::Tag(_)));
        let prefix = syntax.map_or("", Syntax::before_values);
        let mut sums = Vec::new();
        // Nothing but tags of branches and loops is on the line.
        let mut alone = false;
        if !prefix.is_empty() {
            self.program(&mut 0, &mut sums);
        }
        for (index, run) in self.0.iter().enumerate() {
            if sums.contains(&index) {
                out.push_str(prefix);
            }
            match (run, syntax) {
                (Run::Words(words), Some(syntax)) => {
                    let borders = Borders {
                        after_tag: is_tag(index.checked_sub(1)),
                        before_tag: is_tag(index.checked_add(1)),
                    };
                    // The line's end that a tag alone on it takes is not the one that is meant.
                    if alone
                        && syntax.takes_lines()
                        && words.trim_start_matches(' ').starts_with('\n')
                    {
                        out.push('\n');
                    }
                    out.push_str(&syntax.literal(words, borders));
                }
                (Run::Words(text) | Run::Tag(text), _) => out.push_str(text),
            }
            let line = out.rfind('\n').map_or(0, |end| end + 1);
            alone = match run {
                Run::Tag(tag) => {
                    let value = tag.starts_with("{{{");
                    (alone || out.len() - line == tag.len()) && !value
                }
                Run::Words(words) => words.ends_with('\n'),
            };
        }
        out
    }

    /// Goes through what stands in one branch or loop of Handlebars, and notes where it begins if its
    /// first two values would be added as numbers are. Says whether all of it may be one number.
    fn program(&self, at: &mut usize, sums: &mut Vec<usize>) -> bool {
        let begin = *at;
        let mut numbers = [false; 2];
        let mut pieces = 0;
        while let Some(run) = self.0.get(*at) {
            let number = match run {
                Run::Tag(tag) if tag.starts_with("{{/") || tag == "{{else}}" => break,
                Run::Tag(tag) if tag.starts_with("{{#") => {
                    // A loop puts its rounds together as text.
                    self.branches(at, sums) && !tag.starts_with("{{#each")
                }
                Run::Tag(tag) => tag.starts_with("{{{"),
                Run::Words(_) => false,
            };
            *at += 1;
            if let Some(place) = numbers.get_mut(pieces) {
                *place = number;
            }
            pieces += 1;
        }
        let added = numbers == [true; 2];
        if added {
            sums.push(begin);
        }
        pieces == 1 && numbers[0]
    }

    /// The same of all branches of a tag, up to the one that closes it.
    fn branches(&self, at: &mut usize, sums: &mut Vec<usize>) -> bool {
        let mut number = false;
        loop {
            *at += 1;
            number |= self.program(at, sums);
            if !matches!(self.0.get(*at), Some(Run::Tag(tag)) if tag == "{{else}}") {
                return number;
            }
        }
    }
}
