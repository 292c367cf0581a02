//! Places of values in what was written.

use super::Origin;
use crate::{Position, Source};

/// A step from a value to one inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Whole,
    Key(Box<str>),
    Index(usize),
}

#[derive(Debug, Clone)]
struct Row {
    parent: Origin,
    step: Step,
    offset: Option<usize>,
    /// Value of the key `id`, if the value is an object with one.
    id: Option<Box<str>>,
}

/// Places of all values of a document, in document order; a value's row is made before those inside.
#[derive(Debug, Default)]
pub(crate) struct Origins<'a> {
    text: Option<&'a str>,
    rows: Vec<Row>,
    /// Made when the first position is asked for.
    index: std::cell::OnceCell<Index>,
}

impl<'a> Origins<'a> {
    pub(crate) fn new(text: Option<&'a str>) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    pub(crate) fn add(&mut self, parent: Origin, step: Step, offset: Option<usize>) -> Origin {
        let origin = Origin::try_from(self.rows.len()).unwrap_or(Origin::MAX);
        self.rows.push(Row {
            parent,
            step,
            offset,
            id: None,
        });
        origin
    }

    pub(crate) fn name(&mut self, origin: Origin, id: &str) {
        if let Some(row) = self.rows.get_mut(origin as usize) {
            row.id = Some(id.into());
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    fn row(&self, origin: Origin) -> Option<&Row> {
        self.rows.get(origin as usize)
    }

    /// Whether `is` holds for `origin` or for something around it.
    pub(crate) fn inside(&self, mut origin: Origin, is: impl Fn(Origin) -> bool) -> bool {
        loop {
            if is(origin) {
                return true;
            }
            match self.row(origin) {
                Some(row) if row.step != Step::Whole => origin = row.parent,
                _ => return false,
            }
        }
    }

    /// The steps from the whole document to `origin`.
    fn steps(&self, origin: Origin) -> Vec<&Step> {
        let mut steps = Vec::with_capacity(16);
        let mut at = origin;
        while let Some(row) = self.row(at) {
            if row.step == Step::Whole {
                break;
            }
            steps.push(&row.step);
            at = row.parent;
        }
        steps.reverse();
        steps
    }

    /// Where `origin` stands, told as issues tell it.
    pub(crate) fn source(&self, origin: Origin) -> Source {
        // A usual place, as `root.children.12.children.0`, takes no second allocation.
        let (mut path, mut pointer) = (String::with_capacity(64), String::with_capacity(64));
        for step in self.steps(origin) {
            if !path.is_empty() {
                path.push('.');
            }
            pointer.push('/');
            match step {
                Step::Whole => {}
                Step::Key(key) => {
                    path.push_str(key);
                    if key.contains(['~', '/']) {
                        pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                    } else {
                        pointer.push_str(key);
                    }
                }
                Step::Index(index) => {
                    push_number(&mut path, *index);
                    push_number(&mut pointer, *index);
                }
            }
        }
        Source {
            path,
            pointer,
            position: self.position(origin),
            order: origin,
            block_id: self.block_id(origin),
        }
    }

    fn block_id(&self, origin: Origin) -> Option<String> {
        let mut at = origin;
        loop {
            let row = self.row(at)?;
            if let Some(id) = &row.id {
                return Some(id.to_string());
            }
            if row.step == Step::Whole {
                return None;
            }
            at = row.parent;
        }
    }

    fn position(&self, origin: Origin) -> Option<Position> {
        self.position_at(self.row(origin)?.offset?)
    }

    /// Line and column of `offset`.
    pub(crate) fn position_at(&self, offset: usize) -> Option<Position> {
        let text = self.text?;
        let index = self.index.get_or_init(|| Index::of(text));
        let line = index.lines.partition_point(|start| *start <= offset);
        let start = index
            .lines
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or(0);
        let chars = |offset| index.chars_before(text, offset);
        Some(Position {
            offset,
            line: line.max(1),
            column: chars(offset).saturating_sub(chars(start)) + 1,
        })
    }
}

/// Writes a number that is small as a rule.
fn push_number(out: &mut String, number: usize) {
    match u8::try_from(number) {
        Ok(digit @ 0..=9) => out.push(char::from(b'0' + digit)),
        _ => out.push_str(&number.to_string()),
    }
}

/// Bytes between the marks of [`Index`].
const STRIDE: usize = 1_024;

/// Where lines begin and how many characters stand before every mark, so that a place in one long
/// line is found without reading the line.
#[derive(Debug)]
struct Index {
    lines: Vec<usize>,
    chars: Vec<usize>,
}

impl Index {
    fn of(text: &str) -> Self {
        let mut lines = vec![0];
        let mut chars = Vec::new();
        let mut count = 0;
        for (at, byte) in text.bytes().enumerate() {
            if at % STRIDE == 0 {
                chars.push(count);
            }
            count += usize::from(!is_continuation(byte));
            if byte == b'\n' {
                lines.push(at + 1);
            }
        }
        Self { lines, chars }
    }

    fn chars_before(&self, text: &str, offset: usize) -> usize {
        let mark = (offset / STRIDE).min(self.chars.len().saturating_sub(1));
        let rest = text
            .as_bytes()
            .get(mark * STRIDE..offset)
            .unwrap_or_default();
        let rest = rest.iter().filter(|byte| !is_continuation(**byte)).count();
        self.chars.get(mark).copied().unwrap_or(0) + rest
    }
}

/// Whether `byte` goes on with a character that an earlier byte began.
fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}
