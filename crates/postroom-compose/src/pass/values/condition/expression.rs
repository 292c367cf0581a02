//! Conditions written as one string, as template languages and programs have them:
//! `plan`, `!plan`, `plan == "pro" && !(trial or items.length == 0)`, `eq plan "pro"`.

use super::{OPERATORS, around, refuse};
use crate::{
    draft::{Node, Object, Value},
    issue::Code,
    model::Operator,
    notation,
    pass::{Pass, text},
};

/// Longest expression that is read, characters.
const CHARS: usize = 500;

/// Deepest parentheses that are read.
const DEPTH: usize = 8;

/// A sign or word of an expression.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    Open,
    Close,
    Not,
    And,
    Or,
    /// A comparison, by our name of it.
    Operator(&'static str),
    /// A path of a variable.
    Path(String),
    Text(String),
    Number(serde_json::Number),
    Bool(bool),
    /// What languages call nothing.
    Nothing,
}

/// The condition that `text` states; `None` after telling that it states none.
pub(super) fn expression(node: &Node, text: &str, pass: &mut Pass<'_, '_>) -> Option<Node> {
    let message = format!("A condition is an object, not {}.", node.excerpt());
    let bare = text::path_of(text);
    let bare = ["#if ", "% if ", "if "]
        .iter()
        .find_map(|start| bare.strip_prefix(start))
        .unwrap_or(bare)
        .trim_end_matches('%')
        .trim();
    let Some(mended) = stated(bare, node) else {
        return refuse(node, message, pass);
    };
    let change = format!("{} to {}", node.excerpt(), mended.excerpt());
    pass.findings
        .mend(Code::CondInvalid, node.origin, message, "cond", change);
    Some(mended)
}

/// The condition that the expression `text` at `node` states; `None` when it states none.
pub(crate) fn stated(text: &str, node: &Node) -> Option<Node> {
    let tokens = tokens(text)?;
    let mut reader = Reader {
        tokens: &tokens,
        at: node,
    };
    let condition = reader.any(0)?;
    reader.tokens.is_empty().then_some(condition)
}

/// The tokens of `text`; `None` when something in it is none.
fn tokens(text: &str) -> Option<Vec<Token>> {
    const SIGNS: &[(&str, Token)] = &[
        ("(", Token::Open),
        (")", Token::Close),
        ("&&", Token::And),
        ("||", Token::Or),
        ("===", Token::Operator("eq")),
        ("!==", Token::Operator("ne")),
        ("==", Token::Operator("eq")),
        ("!=", Token::Operator("ne")),
        ("<>", Token::Operator("ne")),
        (">=", Token::Operator("gte")),
        ("<=", Token::Operator("lte")),
        (">", Token::Operator("gt")),
        ("<", Token::Operator("lt")),
        ("=", Token::Operator("eq")),
        ("!", Token::Not),
    ];
    if text.chars().count() > CHARS {
        return None;
    }
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, after) =
            if let Some((sign, token)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
                (token.clone(), rest.get(sign.len()..)?)
            } else if matches!(first, '"' | '\'') {
                let inner = rest.get(1..)?;
                let (inner, after) = inner.split_once(first)?;
                // What a backslash means differs from language to language.
                if inner.contains('\\') {
                    return None;
                }
                (Token::Text(inner.to_owned()), after)
            } else {
                let end = rest
                    .find(|char: char| {
                        !(char.is_ascii_alphanumeric() || matches!(char, '_' | '.' | '-' | '+'))
                    })
                    .unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                (word_token(word)?, after)
            };
        tokens.push(token);
        rest = after.trim_start();
    }
    Some(tokens)
}

/// What a word without quotes is.
fn word_token(word: &str) -> Option<Token> {
    let token = match word {
        "and" | "AND" => Token::And,
        "or" | "OR" => Token::Or,
        "not" | "NOT" => Token::Not,
        "true" | "True" => Token::Bool(true),
        "false" | "False" => Token::Bool(false),
        "null" | "nil" | "none" | "None" | "undefined" => Token::Nothing,
        "eq" | "ne" | "neq" | "gt" | "gte" | "ge" | "lt" | "lte" | "le" | "contains" => {
            Token::Operator(named(word)?)
        }
        // Go begins a path with a dot.
        path if notation::is_path(path.strip_prefix('.').unwrap_or(path)) => {
            Token::Path(path.strip_prefix('.').unwrap_or(path).to_owned())
        }
        number => Token::Number(
            serde_json::from_str::<serde_json::Number>(number.strip_prefix('+').unwrap_or(number))
                .ok()?,
        ),
    };
    Some(token)
}

/// The operator that a word between or before operands names.
fn named(word: &str) -> Option<&'static str> {
    let ours = Operator::NAMES.iter().map(|(name, _)| (*name, *name));
    ours.chain(OPERATORS.iter().copied())
        .find(|(other, _)| *other == word)
        .map(|(_, ours)| ours)
}

/// Reads tokens from the front; `or` binds loosest, then `and`, then `not`.
struct Reader<'a> {
    tokens: &'a [Token],
    at: &'a Node,
}

impl Reader<'_> {
    fn take(&mut self, token: &Token) -> bool {
        let found = self.tokens.first() == Some(token);
        if found {
            self.tokens = self.tokens.get(1..).unwrap_or_default();
        }
        found
    }

    fn any(&mut self, depth: usize) -> Option<Node> {
        let mut parts = vec![self.all(depth)?];
        while self.take(&Token::Or) {
            parts.push(self.all(depth)?);
        }
        Some(self.joined("any", parts))
    }

    fn all(&mut self, depth: usize) -> Option<Node> {
        let mut parts = vec![self.one(depth)?];
        while self.take(&Token::And) {
            parts.push(self.one(depth)?);
        }
        Some(self.joined("all", parts))
    }

    fn joined(&self, key: &str, mut parts: Vec<Node>) -> Node {
        if parts.len() == 1
            && let Some(only) = parts.pop()
        {
            return only;
        }
        around(self.at, key, Node::array(self.at.origin, parts))
    }

    fn one(&mut self, depth: usize) -> Option<Node> {
        if depth > DEPTH {
            return None;
        }
        if self.take(&Token::Not) {
            // `!plan` says that plan is empty; of anything longer the opposite is meant.
            if let [Token::Path(path), rest @ ..] = self.tokens
                && !matches!(rest.first(), Some(Token::Operator(_)))
            {
                self.tokens = rest;
                return self.test(path, "empty", None);
            }
            let denied = if matches!(self.tokens.first(), Some(Token::Path(_))) {
                // Whether `not` goes before `==` or after it differs from language to language.
                return None;
            } else {
                self.one(depth + 1)?
            };
            return Some(around(self.at, "not", denied));
        }
        if self.take(&Token::Open) {
            let inner = self.any(depth + 1)?;
            return self.take(&Token::Close).then_some(inner);
        }
        match self.tokens {
            [Token::Path(path), Token::Operator(name), value, rest @ ..]
            | [Token::Operator(name), Token::Path(path), value, rest @ ..] => {
                self.tokens = rest;
                self.test(path, name, Some(value))
            }
            [Token::Path(path), rest @ ..] => {
                self.tokens = rest;
                self.test(path, "exists", None)
            }
            _ => None,
        }
    }

    /// A comparison of the variable `path`; a list that is counted is asked whether it is empty.
    fn test(&self, path: &str, name: &'static str, value: Option<&Token>) -> Option<Node> {
        let counted = value.and_then(|value| match value {
            Token::Number(number) => number.as_u64(),
            _ => None,
        });
        if let Some(list) = path.strip_suffix(".length")
            && notation::is_path(list)
        {
            let holds = match (name, counted) {
                ("gt" | "ne", Some(0)) | ("gte", Some(1)) | ("exists", None) => Some("exists"),
                ("eq" | "lte", Some(0)) | ("lt", Some(1)) | ("empty", None) => Some("empty"),
                _ => None,
            };
            if let Some(name) = holds {
                return self.test(list, name, None);
            }
        }
        let (name, value) = match (name, value) {
            ("eq", Some(Token::Nothing)) => ("empty", None),
            ("ne", Some(Token::Nothing)) => ("exists", None),
            (name, None) => (name, None),
            (name, Some(Token::Text(text))) => (name, Some(Value::String(text.clone()))),
            (name, Some(Token::Number(number))) => (name, Some(Value::Number(number.clone()))),
            (name, Some(Token::Bool(bool))) => (name, Some(Value::Bool(*bool))),
            _ => return None,
        };
        let mut kept = Object::default();
        kept.put("var", Node::string(self.at.origin, path));
        kept.put("op", Node::string(self.at.origin, name));
        if let Some(value) = value {
            kept.put("value", Node::new(self.at.origin, value));
        }
        Some(Node::new(self.at.origin, Value::Object(kept)))
    }
}
