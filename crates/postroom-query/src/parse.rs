//! From tokens to the tree.

use postroom_types::limit::{QUERY_CHARS, QUERY_DEPTH, QUERY_LEAVES};

use crate::{
    Leaf, Node, Query, QueryError, Text, TextForm,
    lex::{Lexer, Token, TokenKind, found_at},
};

mod value;

/// Parses a query.
///
/// Blanks between conditions mean AND; `OR` binds tighter; `-` touching a condition negates it;
/// parentheses group. The empty query means every message.
///
/// # Errors
/// [`QueryError`] with the offset of what is wrong; parsing never panics and takes time linear in
/// the length of the query.
pub fn parse(text: &str) -> Result<Query, QueryError> {
    let chars: Vec<char> = text.chars().take(QUERY_CHARS + 1).collect();
    if chars.len() > QUERY_CHARS {
        return Err(too_long(&found_at(&chars, QUERY_CHARS)));
    }
    let mut parser = Parser {
        chars: &chars,
        lexer: Lexer::new(&chars),
        ahead: None,
        leaves: Vec::new(),
        open_groups: Vec::new(),
    };
    parser.step()?;
    let root = match &parser.ahead {
        None => None,
        Some(_) => Some(parser.conjunction()?),
    };
    if let Some(token) = &parser.ahead {
        return Err(parser.refuse(token.at, "no closing parenthesis here"));
    }
    let query = Query {
        root,
        positions: parser.leaves,
    };
    // Escapes and A-labels can make the canonical form longer than what was written; a query whose
    // echo would not parse is refused.
    if query.to_string().chars().count() > QUERY_CHARS {
        return Err(too_long(""));
    }
    Ok(query)
}

fn too_long(found: &str) -> QueryError {
    QueryError::new(
        QUERY_CHARS,
        format!("at most {QUERY_CHARS} characters"),
        found,
    )
}

struct Parser<'a> {
    chars: &'a [char],
    lexer: Lexer<'a>,
    ahead: Option<Token>,
    /// Offsets of the leaves read so far.
    leaves: Vec<usize>,
    /// Offsets of the parentheses that are open; its length bounds the recursion.
    open_groups: Vec<usize>,
}

impl Parser<'_> {
    fn step(&mut self) -> Result<Option<Token>, QueryError> {
        let next = self.lexer.next_token()?;
        Ok(std::mem::replace(&mut self.ahead, next))
    }

    fn refuse(&self, at: usize, expected: &str) -> QueryError {
        QueryError::new(at, expected, &found_at(self.chars, at))
    }

    /// Conditions up to a closing parenthesis or the end, all of which must hold.
    fn conjunction(&mut self) -> Result<Node, QueryError> {
        let mut nodes = Vec::new();
        while self
            .ahead
            .as_ref()
            .is_some_and(|token| token.kind != TokenKind::Close)
        {
            match self.alternatives()? {
                Node::And(inner) => nodes.extend(inner),
                node => nodes.push(node),
            }
        }
        match (nodes.len(), &self.ahead) {
            (0, Some(token)) => Err(self.refuse(token.at, "a condition")),
            (1, _) => Ok(nodes.remove(0)),
            _ => Ok(Node::And(nodes)),
        }
    }

    /// One condition, or several joined by `OR`.
    fn alternatives(&mut self) -> Result<Node, QueryError> {
        let mut nodes = Vec::new();
        loop {
            match self.condition()? {
                Node::Or(inner) => nodes.extend(inner),
                node => nodes.push(node),
            }
            let Some(Token {
                at,
                kind: TokenKind::Or,
            }) = self.ahead
            else {
                break;
            };
            self.step()?;
            let begins = |token: &Token| !matches!(token.kind, TokenKind::Or | TokenKind::Close);
            if !self.ahead.as_ref().is_some_and(begins) {
                return Err(self.dangling_or(at));
            }
        }
        Ok(if nodes.len() == 1 {
            nodes.remove(0)
        } else {
            Node::Or(nodes)
        })
    }

    fn dangling_or(&self, at: usize) -> QueryError {
        self.refuse(at, "a condition on each side of OR")
    }

    /// A group, a leaf, or the negation of one.
    fn condition(&mut self) -> Result<Node, QueryError> {
        let Some(token) = self.step()? else {
            return Err(self.refuse(self.chars.len(), "a condition"));
        };
        match token.kind {
            TokenKind::Minus => {
                let touches = |next: &Token| {
                    next.at == token.at + 1
                        && !matches!(
                            next.kind,
                            TokenKind::Minus | TokenKind::Or | TokenKind::Close
                        )
                };
                if !self.ahead.as_ref().is_some_and(touches) {
                    return Err(self.refuse(token.at, "a condition right after -"));
                }
                Ok(Node::Not(Box::new(self.condition()?)))
            }
            TokenKind::Open => self.group(token.at),
            TokenKind::Or => Err(self.dangling_or(token.at)),
            TokenKind::Close => Err(self.refuse(token.at, "a condition")),
            TokenKind::Phrase(text) => {
                if text.trim().is_empty() {
                    return Err(self.refuse(token.at, "words between the quotes"));
                }
                let form = TextForm::Phrase;
                self.leaf(token.at, Leaf::Text(Text { form, text }))
            }
            TokenKind::Word(word) => {
                let text =
                    value::term(&word).map_err(|expected| self.refuse(token.at, expected))?;
                self.leaf(token.at, Leaf::Text(text))
            }
            TokenKind::Operator {
                name,
                value,
                value_at,
                quoted,
            } => {
                let leaf = value::leaf(&name, &value, quoted)
                    .map_err(|expected| QueryError::new(value_at, expected, &value))?;
                self.leaf(token.at, leaf)
            }
        }
    }

    fn group(&mut self, at: usize) -> Result<Node, QueryError> {
        if self.open_groups.len() == QUERY_DEPTH {
            return Err(self.refuse(at, &format!("at most {QUERY_DEPTH} groups in one another")));
        }
        self.open_groups.push(at);
        if self.ahead.is_none() {
            return Err(self.refuse(at, "a closing parenthesis"));
        }
        let node = self.conjunction()?;
        if self.step()?.is_none() {
            return Err(self.refuse(at, "a closing parenthesis"));
        }
        self.open_groups.pop();
        Ok(node)
    }

    fn leaf(&mut self, at: usize, leaf: Leaf) -> Result<Node, QueryError> {
        if self.leaves.len() == QUERY_LEAVES {
            return Err(self.refuse(at, &format!("at most {QUERY_LEAVES} conditions")));
        }
        self.leaves.push(at);
        Ok(Node::Leaf(leaf))
    }
}
