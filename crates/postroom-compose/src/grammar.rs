//! The grammar as a table: which blocks there are, what they hold, what they say.
//!
//! Check, repair, schemas and the block contract all read these rows; nothing about a block is
//! written anywhere else but in the typed model.

mod block;
mod document;

pub(crate) use block::BLOCKS;
pub(crate) use document::DOCUMENT;

/// What a text may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextUse {
    /// Marks, links, breaks, variables, conditions.
    Rich,
    /// All but links and breaks.
    Label,
    /// Words, variables, conditions.
    Plain,
}

/// What an address is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UrlUse {
    /// Something to follow.
    Link,
    /// Something to load.
    Picture,
}

/// The form of a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    /// Spans, a string, or `{"md": ...}`.
    Text(TextUse),
    /// A list of texts.
    Texts,
    /// A string with variables.
    Template,
    /// The same where line breaks and the notations of others stay as they are.
    Verbatim,
    /// An address, with variables.
    Url(UrlUse),
    /// A string without variables, at most so many characters.
    Line(usize),
    /// A string that is kept as it is.
    Html,
    /// Six digits.
    Color,
    /// True or false.
    Bool,
    /// A whole number; px unless the words say otherwise.
    Integer(i64, i64),
    /// A number with up to two decimals.
    Decimal(f64, f64),
    /// A share in percent.
    Percent,
    /// One of some words.
    Enum(&'static [&'static str]),
    /// A list of some words.
    Enums(&'static [&'static str]),
    /// px on all sides, or `[top, right, bottom, left]`.
    Pad,
    /// A condition.
    Condition,
    /// A language tag.
    Lang,
    /// An object of these keys.
    Object(&'static [Attribute]),
    /// A list of objects of these keys, at most so many.
    Objects(&'static [Attribute], usize),
    /// Names and values that are passed through.
    Attrs,
    /// A name without dots.
    Name,
    /// A dotted path.
    Path,
    /// Type or fields of the elements of a list.
    Item,
    /// Any value.
    Any,
}

/// What a missing value means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Default {
    None,
    Bool(bool),
    Number(f64),
    Text(&'static str),
    /// Top, right, bottom, left.
    Pad([u32; 4]),
}

/// A key of a block or of another object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attribute {
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    pub(crate) required: bool,
    pub(crate) default: Default,
    /// Other names that writers use for it.
    pub(crate) aliases: &'static [&'static str],
    pub(crate) doc: &'static str,
}

/// A key of a block that holds blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Children {
    pub(crate) key: &'static str,
    /// Types, or empty for what the parent takes (`if`, `each`).
    pub(crate) accepts: &'static [&'static str],
    pub(crate) least: usize,
    pub(crate) most: usize,
}

/// Where a block stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Body,
    Band,
    Column,
    Leaf,
    /// Inside one container block only.
    Part,
    /// `if` and `each`.
    Control,
}

/// A type of block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockRow {
    pub(crate) name: &'static str,
    pub(crate) level: Level,
    /// Other names that writers use for it.
    pub(crate) aliases: &'static [&'static str],
    /// Keys that blocks of many types have.
    pub(crate) common: &'static [Attribute],
    pub(crate) attributes: &'static [Attribute],
    pub(crate) children: &'static [Children],
    pub(crate) doc: &'static str,
    pub(crate) example: &'static str,
}

impl BlockRow {
    /// Every attribute, its own before the common ones.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'static Attribute> {
        self.attributes.iter().chain(self.common)
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&'static Attribute> {
        self.all().find(|attribute| attribute.name == name)
    }

    pub(crate) fn holds(&self, key: &str) -> Option<&'static Children> {
        self.children.iter().find(|children| children.key == key)
    }

    /// What its children may be; `if` and `each` take what `parent` takes.
    pub(crate) fn accepts(&self) -> &'static [&'static str] {
        self.children
            .first()
            .map_or(&[], |children| children.accepts)
    }
}

/// The row of that type.
pub(crate) fn block(name: &str) -> Option<&'static BlockRow> {
    BLOCKS.iter().find(|row| row.name == name)
}

/// The type that `name` is another name of.
pub(crate) fn alias(name: &str) -> Option<&'static str> {
    let lower: String = name
        .chars()
        .filter(|char| char.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    let lower = lower.strip_prefix("mj").unwrap_or(&lower);
    let found = BLOCKS
        .iter()
        .find(|row| row.name.eq_ignore_ascii_case(lower) || row.aliases.contains(&lower));
    found.map(|row| row.name).filter(|found| *found != name)
}

/// How many edits lead from one word to another, up to `most`.
fn distance(one: &str, two: &str, most: usize) -> Option<usize> {
    let one: Vec<char> = one.chars().flat_map(char::to_lowercase).collect();
    let two: Vec<char> = two.chars().flat_map(char::to_lowercase).collect();
    if one.len().abs_diff(two.len()) > most {
        return None;
    }
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (at, char) in one.iter().enumerate() {
        let mut last = at;
        let mut left = at + 1;
        for (place, other) in row.iter_mut().skip(1).zip(&two) {
            let above = *place;
            left = (last + usize::from(char != other))
                .min(above + 1)
                .min(left + 1);
            last = above;
            *place = left;
        }
        if let Some(first) = row.first_mut() {
            *first = at + 1;
        }
    }
    row.last().copied().filter(|edits| *edits <= most)
}

/// The word of `known` that is nearest to `word`, if one is near.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = if word.chars().count() > 5 { 2 } else { 1 };
    if word.chars().count() > 40 {
        return None;
    }
    known
        .filter_map(|other| Some((distance(word, other, most)?, other)))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, other)| other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_one_block() {
        let mut names: Vec<&str> = BLOCKS
            .iter()
            .flat_map(|row| row.aliases.iter().copied().chain([row.name]))
            .collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        for row in BLOCKS {
            for name in row.aliases {
                assert!(
                    name.chars()
                        .all(|char| char.is_ascii_lowercase() || char.is_ascii_digit()),
                    "{name}"
                );
                assert_eq!(alias(name), Some(row.name), "{name}");
            }
            for accepted in row.children.iter().flat_map(|children| children.accepts) {
                assert!(block(accepted).is_some(), "{accepted}");
            }
        }
    }

    #[test]
    fn keys_of_a_block_are_there_once() {
        for row in BLOCKS {
            let mut names: Vec<&str> = row
                .all()
                .flat_map(|attribute| attribute.aliases.iter().copied().chain([attribute.name]))
                .chain(row.children.iter().map(|children| children.key))
                .collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "{}", row.name);
        }
    }

    #[test]
    fn near_words_are_found() {
        let known = ["heading", "text", "button"];
        assert_eq!(nearest("headng", known.into_iter()), Some("heading"));
        assert_eq!(nearest("buton", known.into_iter()), Some("button"));
        assert_eq!(nearest("carousel", known.into_iter()), None);
    }
}
