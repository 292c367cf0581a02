//! What stands between the braces of a variable.

use super::{date, is_path};
use crate::model::{Filter, Marks, VariableUse};

/// Reads what stands between the braces; `lenient` takes what other languages write.
pub(super) fn expression(text: &str, lenient: bool) -> Option<VariableUse> {
    let mut reader = Expression {
        rest: text.trim(),
        lenient,
    };
    if lenient {
        // Go writes a leading dot, some write a sign before a name.
        reader.rest = reader
            .rest
            .trim_start_matches(['.', '$', '@', '=', '-', '~'])
            .trim();
        reader.rest = reader.rest.trim_end_matches(['-', '~']).trim();
    }
    let mut used = VariableUse {
        path: reader.path()?.to_owned(),
        default: None,
        filter: None,
        marks: Marks::default(),
    };
    while !reader.rest.is_empty() {
        let alternative = ["||", "??", "or "]
            .into_iter()
            .find(|sign| lenient && reader.rest.starts_with(sign));
        if let Some(sign) = alternative {
            reader.skip(sign.len());
            set(&mut used.default, reader.argument()?)?;
            continue;
        }
        reader.sign('|')?;
        let name = reader.word()?.to_owned();
        let argument = reader.optional_argument()?;
        match (name.as_str(), argument) {
            ("default", Some(default)) => set(&mut used.default, default)?,
            (name, argument) => set(&mut used.filter, filter(name, argument, lenient)?)?,
        }
    }
    Some(used)
}

/// Fills `place`, once.
pub(super) fn set<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.is_none().then(|| *place = Some(value))
}

/// The filter of that name with its argument.
pub(crate) fn filter(name: &str, argument: Option<String>, lenient: bool) -> Option<Filter> {
    let name = match name {
        "upcase" | "uppercase" if lenient => "upper",
        "downcase" | "lowercase" if lenient => "lower",
        "capitalize" | "titlecase" if lenient => "title",
        "strip" if lenient => "trim",
        "url_encode" | "urlquery" | "encodeURIComponent" if lenient => "urlencode",
        "currency" if lenient => "money",
        name => name,
    };
    Some(match (name, argument) {
        ("upper", None) => Filter::Upper,
        ("lower", None) => Filter::Lower,
        ("title", None) => Filter::Title,
        ("trim", None) => Filter::Trim,
        ("urlencode", None) => Filter::UrlEncode,
        ("date", Some(pattern)) if short(&pattern) => {
            Filter::Date(date::pattern(pattern, lenient)?)
        }
        ("number", Some(pattern)) if short(&pattern) => Filter::Number(pattern),
        ("money", Some(currency))
            if currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_uppercase()) =>
        {
            Filter::Money(currency)
        }
        ("truncate", Some(most)) => Filter::Truncate(
            most.parse()
                .ok()
                .filter(|most| (1..=10_000).contains(most))?,
        ),
        _ => return None,
    })
}

/// Whether a pattern is of a length that patterns have.
pub(super) fn short(pattern: &str) -> bool {
    !pattern.is_empty() && pattern.chars().count() <= 40
}

pub(super) struct Expression<'a> {
    rest: &'a str,
    lenient: bool,
}

impl<'a> Expression<'a> {
    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default().trim_start();
    }

    fn sign(&mut self, sign: char) -> Option<()> {
        let found = self.rest.starts_with(sign);
        found.then(|| self.skip(sign.len_utf8()))
    }

    fn run(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let end = self
            .rest
            .find(|char| !belongs(char))
            .unwrap_or(self.rest.len());
        let run = self.rest.get(..end).unwrap_or_default();
        self.skip(end);
        run
    }

    fn path(&mut self) -> Option<&'a str> {
        let belongs = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.');
        let path = self.run(belongs);
        is_path(path).then_some(path)
    }

    fn word(&mut self) -> Option<&'a str> {
        let word = self.run(|char| char.is_ascii_alphanumeric() || char == '_');
        (!word.is_empty()).then_some(word)
    }

    /// `: argument`, or in parentheses where others are read.
    fn optional_argument(&mut self) -> Option<Option<String>> {
        if self.sign(':').is_some() {
            return self.argument().map(Some);
        }
        if self.lenient && self.sign('(').is_some() {
            let argument = self.argument()?;
            // `default('x', true)`: what follows says how empty values count.
            if self.sign(',').is_some() {
                self.word()?;
            }
            self.sign(')')?;
            return Some(Some(argument));
        }
        Some(None)
    }

    /// A quoted string or a number.
    fn argument(&mut self) -> Option<String> {
        let Some(quote) = self
            .rest
            .chars()
            .next()
            .filter(|char| matches!(char, '"' | '\''))
        else {
            let digits = self.run(|char| char.is_ascii_digit());
            return (!digits.is_empty()).then(|| digits.to_owned());
        };
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, char)) = chars.next() {
            if char == quote {
                self.skip(at + 1);
                return Some(text);
            }
            match char {
                '\\' => text.push(chars.next()?.1),
                char => text.push(char),
            }
        }
        None
    }
}
