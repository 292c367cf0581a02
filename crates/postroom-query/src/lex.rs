//! From characters to tokens.

use crate::QueryError;

/// One token and the offset of its first character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) at: usize,
    pub(crate) kind: TokenKind,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// `(`
    Open,
    /// `)`
    Close,
    /// `-` where a condition could begin.
    Minus,
    /// The word `OR`.
    Or,
    /// `"words"`, unescaped.
    Phrase(String),
    /// A run without blanks, quotes and parentheses.
    Word(String),
    /// `name:value`; the name in lower case.
    Operator {
        name: String,
        value: String,
        value_at: usize,
        quoted: bool,
    },
}

/// The names before a colon.
pub(crate) const OPERATORS: &[&str] = &[
    "from",
    "to",
    "participant",
    "subject",
    "ref",
    "label",
    "has",
    "filename",
    "type",
    "after",
    "before",
    "newer_than",
    "older_than",
    "in",
    "thread",
    "is",
    "category",
];

/// Cuts a query into tokens, in one pass.
pub(crate) struct Lexer<'a> {
    chars: &'a [char],
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(chars: &'a [char]) -> Self {
        Self { chars, at: 0 }
    }

    /// The next token, `None` at the end.
    pub(crate) fn next_token(&mut self) -> Result<Option<Token>, QueryError> {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
        let at = self.at;
        let Some(first) = self.peek() else {
            return Ok(None);
        };
        let kind = match first {
            '(' => self.single(TokenKind::Open),
            ')' => self.single(TokenKind::Close),
            '-' => self.single(TokenKind::Minus),
            '"' => TokenKind::Phrase(self.phrase()?),
            _ => self.word()?,
        };
        Ok(Some(Token { at, kind }))
    }

    fn single(&mut self, kind: TokenKind) -> TokenKind {
        self.at += 1;
        kind
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn word(&mut self) -> Result<TokenKind, QueryError> {
        let start = self.at;
        let run = self.run();
        let Some(colon) = operator_colon(&run) else {
            return Ok(if run == "OR" {
                TokenKind::Or
            } else {
                TokenKind::Word(run)
            });
        };
        let written: String = run.chars().take(colon).collect();
        let name = written.to_lowercase();
        if !OPERATORS.contains(&name.as_str()) {
            let expected = format!(
                "one of the operators {}, or the words in double quotes",
                OPERATORS
                    .iter()
                    .map(|name| format!("{name}:"))
                    .collect::<Vec<_>>()
                    .join(" ")
            );
            return Err(QueryError::new(start, expected, &written));
        }
        let value_at = start + colon + 1;
        let mut value: String = run.chars().skip(colon + 1).collect();
        let quoted = value.is_empty() && self.peek() == Some('"');
        if quoted {
            value = self.phrase()?;
        }
        if value.trim().is_empty() {
            return Err(QueryError::new(
                value_at,
                format!("a value for {name}:"),
                &found_at(self.chars, value_at),
            ));
        }
        Ok(TokenKind::Operator {
            name,
            value,
            value_at,
            quoted,
        })
    }

    fn run(&mut self) -> String {
        let mut run = String::new();
        while let Some(next) = self.peek() {
            if next.is_whitespace() || matches!(next, '"' | '(' | ')') {
                break;
            }
            run.push(next);
            self.at += 1;
        }
        run
    }

    fn phrase(&mut self) -> Result<String, QueryError> {
        let open = self.at;
        self.at += 1;
        let mut text = String::new();
        while let Some(next) = self.peek() {
            self.at += 1;
            match (next, self.peek()) {
                ('"', _) => return Ok(text),
                ('\\', Some(escaped @ ('"' | '\\'))) => {
                    text.push(escaped);
                    self.at += 1;
                }
                _ => text.push(next),
            }
        }
        let rest: String = self.chars.iter().skip(open).collect();
        Err(QueryError::new(open, "a closing double quote", &rest))
    }
}

/// The place of the colon when a run begins with an alphabetic name and a colon.
fn operator_colon(run: &str) -> Option<usize> {
    let colon = run.chars().position(|next| next == ':')?;
    let named = run
        .chars()
        .take(colon)
        .all(|next| next.is_alphabetic() || next == '_');
    (named && colon > 0).then_some(colon)
}

/// What an error says it found at an offset: up to the next blank.
pub(crate) fn found_at(chars: &[char], at: usize) -> String {
    let rest = chars.get(at..).unwrap_or_default();
    rest.iter()
        .enumerate()
        .take_while(|(offset, next)| *offset == 0 || !next.is_whitespace())
        .map(|(_, next)| next)
        .collect()
}
