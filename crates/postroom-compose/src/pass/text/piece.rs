//! What a text is made of while it is being read.

use super::Style;
use crate::{
    draft::{Node, Object, Origin, Value},
    grammar::TextUse,
    issue::Code,
    model::{Filter, Marks, VariableUse},
    notation::{self, Part, Reading},
    pass::{Pass, values},
};

/// A span that is being read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    /// Literal text and what could not be read, in one style.
    Words {
        parts: Vec<Part>,
        style: Style,
    },
    Variable {
        used: VariableUse,
        origin: Origin,
    },
    Link {
        href: Node,
        children: Vec<Piece>,
        origin: Origin,
    },
    Break(Origin),
    If {
        condition: Node,
        then: Vec<Piece>,
        otherwise: Vec<Piece>,
        origin: Origin,
    },
    /// A tag of a template language, or something that looks like a variable and is none.
    Tag {
        written: String,
        why: &'static str,
        style: Style,
        origin: Origin,
    },
    /// Something that is no span, kept as it is.
    Kept(Node),
}

impl Piece {
    pub(super) fn words(part: Part, style: &Style) -> Self {
        Self::Words {
            parts: vec![part],
            style: style.clone(),
        }
    }

    /// The piece inside something that is set in `outer`.
    pub(super) fn styled(self, outer: &Style) -> Self {
        let join = |style: Style| Style {
            marks: both(style.marks, outer.marks),
            color: style.color.or_else(|| outer.color.clone()),
        };
        let all = |pieces: Vec<Self>| -> Vec<Self> {
            pieces
                .into_iter()
                .map(|piece| piece.styled(outer))
                .collect()
        };
        match self {
            Self::Words { parts, style } => Self::Words {
                parts,
                style: join(style),
            },
            Self::Variable { mut used, origin } => {
                used.marks = both(used.marks, outer.marks);
                Self::Variable { used, origin }
            }
            Self::Tag {
                written,
                why,
                style,
                origin,
            } => Self::Tag {
                written,
                why,
                style: join(style),
                origin,
            },
            Self::Link {
                href,
                children,
                origin,
            } => Self::Link {
                href,
                children: all(children),
                origin,
            },
            Self::If {
                condition,
                then,
                otherwise,
                origin,
            } => Self::If {
                condition,
                then: all(then),
                otherwise: all(otherwise),
                origin,
            },
            piece => piece,
        }
    }

    /// The piece inside a link: links in it become their words.
    pub(super) fn without_links(self, pass: &mut Pass<'_, '_>) -> Vec<Self> {
        match self {
            Self::Link {
                href,
                children,
                origin,
            } => {
                pass.findings.mend(
                    Code::SchemaType,
                    origin,
                    "A link stands where none can be followed.",
                    "text.string",
                    format!("the link to {} to its words", href.excerpt()),
                );
                children
                    .into_iter()
                    .flat_map(|piece| piece.without_links(pass))
                    .collect()
            }
            Self::If {
                condition,
                then,
                otherwise,
                origin,
            } => {
                let mut all = |pieces: Vec<Self>| -> Vec<Self> {
                    pieces
                        .into_iter()
                        .flat_map(|piece| piece.without_links(pass))
                        .collect()
                };
                vec![Self::If {
                    condition,
                    then: all(then),
                    otherwise: all(otherwise),
                    origin,
                }]
            }
            piece => vec![piece],
        }
    }

    /// A picture that HTML put among words as what it shows, where none can stand.
    fn in_words(self) -> Self {
        match self {
            Self::Kept(node) if node.kind() == Some("image") => {
                let alt = node.as_object().and_then(|object| object.string("alt"));
                match alt {
                    Some(alt) => Self::words(Part::Text(alt.to_owned()), &Style::default()),
                    None => Self::Kept(node),
                }
            }
            piece => piece,
        }
    }

    /// The piece as bare words: no marks, no colour, breaks as blanks.
    fn bare(self, marks_too: bool) -> Self {
        match self {
            Self::Break(_) => Self::words(Part::Text(" ".to_owned()), &Style::default()),
            Self::Words { parts, style } if marks_too && style != Style::default() => Self::Words {
                parts,
                style: Style::default(),
            },
            Self::Variable { mut used, origin } if marks_too => {
                used.marks = Marks::default();
                Self::Variable { used, origin }
            }
            Self::If {
                condition,
                then,
                otherwise,
                origin,
            } => {
                let all = |pieces: Vec<Self>| -> Vec<Self> {
                    pieces
                        .into_iter()
                        .map(|piece| piece.bare(marks_too))
                        .collect()
                };
                Self::If {
                    condition,
                    then: all(then),
                    otherwise: all(otherwise),
                    origin,
                }
            }
            piece => piece,
        }
    }

    fn is_styled(&self) -> bool {
        match self {
            Self::Words { style, .. } => *style != Style::default(),
            Self::Variable { used, .. } => !used.marks.is_empty(),
            Self::If {
                then, otherwise, ..
            } => then.iter().chain(otherwise).any(Self::is_styled),
            _ => false,
        }
    }
}

fn both(one: Marks, two: Marks) -> Marks {
    Marks {
        bold: one.bold || two.bold,
        italic: one.italic || two.italic,
        underline: one.underline || two.underline,
        strike: one.strike || two.strike,
        code: one.code || two.code,
        sup: one.sup || two.sup,
        sub: one.sub || two.sub,
    }
}

/// Takes out what the place does not allow.
pub(super) fn restrict(
    pieces: Vec<Piece>,
    usage: TextUse,
    at: Origin,
    pass: &mut Pass<'_, '_>,
) -> Vec<Piece> {
    if usage == TextUse::Rich {
        return pieces;
    }
    let pieces: Vec<Piece> = pieces
        .into_iter()
        .map(Piece::in_words)
        .flat_map(|piece| piece.without_links(pass))
        .collect();
    let plain = usage == TextUse::Plain;
    if plain && pieces.iter().any(Piece::is_styled) {
        pass.findings.mend(
            Code::SchemaType,
            at,
            "Subject and preview line have no bold, italic or colour.",
            "text.string",
            "marks removed",
        );
    }
    pieces.into_iter().map(|piece| piece.bare(plain)).collect()
}

/// Joins neighbours of one style and drops empty words.
pub(super) fn settle(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut settled: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (settled.last_mut(), piece) {
            (
                Some(Piece::Words { parts, style }),
                Piece::Words {
                    parts: more,
                    style: same,
                },
            ) if *style == same => {
                for part in more {
                    match (parts.last_mut(), part) {
                        (Some(Part::Text(text)), Part::Text(more)) => text.push_str(&more),
                        (_, part) => parts.push(part),
                    }
                }
            }
            (_, Piece::Words { parts, .. }) if parts.is_empty() => {}
            (
                _,
                Piece::Link {
                    href,
                    children,
                    origin,
                },
            ) => settled.push(Piece::Link {
                href,
                children: settle(children),
                origin,
            }),
            (
                _,
                Piece::If {
                    condition,
                    then,
                    otherwise,
                    origin,
                },
            ) => settled.push(Piece::If {
                condition,
                then: settle(then),
                otherwise: settle(otherwise),
                origin,
            }),
            (_, piece) => settled.push(piece),
        }
    }
    settled
}

/// Spans in canonical form.
pub(super) fn print(pieces: &[Piece], at: Origin, pass: &Pass<'_, '_>) -> Vec<Node> {
    pieces.iter().map(|piece| span(piece, at, pass)).collect()
}

fn span(piece: &Piece, at: Origin, pass: &Pass<'_, '_>) -> Node {
    match piece {
        Piece::Words { parts, style } => {
            let text = if style.marks.code {
                notation::join(parts, Reading::Ours)
            } else {
                pass.reading(|reading| notation::join(parts, reading))
            };
            let mut keys = vec![("text", Node::string(at, text))];
            keys.extend(marks(style.marks, at));
            if let Some(color) = &style.color {
                keys.push(("color", Node::string(at, color.as_str())));
            }
            Node::block(at, "text", keys)
        }
        Piece::Variable { used, origin } => {
            let at = *origin;
            let mut keys = vec![("name", Node::string(at, used.path.as_str()))];
            if let Some(default) = &used.default {
                keys.push(("default", Node::string(at, default.as_str())));
            }
            if let Some(filter) = &used.filter {
                keys.push(("filter", Node::string(at, filter.name())));
                match filter {
                    Filter::Date(arg) | Filter::Number(arg) | Filter::Money(arg) => {
                        keys.push(("arg", Node::string(at, arg.as_str())));
                    }
                    Filter::Truncate(most) => {
                        keys.push(("arg", Node::number(at, f64::from(*most))));
                    }
                    _ => {}
                }
            }
            keys.extend(marks(used.marks, at));
            Node::block(at, "var", keys)
        }
        Piece::Link {
            href,
            children,
            origin,
        } => {
            let children = Node::array(*origin, print(children, *origin, pass));
            Node::block(
                *origin,
                "link",
                vec![("href", href.clone()), ("children", children)],
            )
        }
        Piece::Break(origin) => Node::block(*origin, "br", Vec::new()),
        Piece::If {
            condition,
            then,
            otherwise,
            origin,
        } => {
            let mut keys = vec![
                ("cond", condition.clone()),
                ("then", Node::array(*origin, print(then, *origin, pass))),
            ];
            if !otherwise.is_empty() {
                keys.push((
                    "else",
                    Node::array(*origin, print(otherwise, *origin, pass)),
                ));
            }
            Node::block(*origin, "if", keys)
        }
        Piece::Tag { written, .. } => Node::block(
            at,
            "text",
            vec![("text", Node::string(at, written.as_str()))],
        ),
        Piece::Kept(node) => node.clone(),
    }
}

fn marks(marks: Marks, at: Origin) -> Option<(&'static str, Node)> {
    let names: Vec<Node> = marks.names().map(|name| Node::string(at, name)).collect();
    (!names.is_empty()).then(|| ("marks", Node::array(at, names)))
}

/// The mark that a name stands for.
pub(super) fn mark_named(name: &str) -> Option<&'static str> {
    let found = Marks::NAMES.iter().find(|known| **known == name);
    found.copied().or(match name {
        "b" | "strong" => Some("bold"),
        "i" | "em" | "emphasis" => Some("italic"),
        "u" | "underlined" => Some("underline"),
        "s" | "del" | "strikethrough" => Some("strike"),
        "monospace" => Some("code"),
        "superscript" => Some("sup"),
        "subscript" => Some("sub"),
        _ => None,
    })
}

/// Sets the marks that a span names, in `marks` or as keys of their own; returns those keys.
pub(super) fn set_marks<'n>(
    object: &'n Object,
    marks: &mut Marks,
    pass: &mut Pass<'_, '_>,
) -> Vec<&'n str> {
    let mut keys = Vec::new();
    for (key, node) in &object.0 {
        let Some(mark) = mark_named(key) else {
            continue;
        };
        keys.push(key.as_str());
        pass.findings.mend(
            Code::SchemaUnknownKey,
            node.origin,
            format!("{key} is a mark, not a key."),
            "key.alias",
            format!("{key} to marks"),
        );
        if let (Some(true), Some(place)) = (node.as_bool(), marks.mark(mark)) {
            *place = true;
        }
    }
    let Some(list) = object.find("marks").filter(|list| !list.is_null()) else {
        return keys;
    };
    let names: Vec<&Node> = match &list.value {
        Value::Array(names) => names.iter().collect(),
        Value::String(_) => {
            pass.findings.mend(
                Code::SchemaType,
                list.origin,
                "marks is a list.",
                "text.string",
                "one mark put into a list",
            );
            vec![list]
        }
        _ => {
            values::drop_key("marks", list, "span", pass);
            return keys;
        }
    };
    for node in names {
        if is_link_mark(node).is_some() {
            continue;
        }
        let name = node.as_str().or_else(|| node.kind()).unwrap_or_default();
        let mark = mark_named(&name.to_lowercase());
        if mark != Some(name) || node.as_str().is_none() {
            let found = mark.unwrap_or("nothing");
            pass.findings.mend(
                Code::SchemaEnum,
                node.origin,
                format!("{} is none of {}.", node.excerpt(), Marks::NAMES.join(", ")),
                "enum-case",
                format!("{} to {found}", node.excerpt()),
            );
        }
        if let Some(place) = mark.and_then(|mark| marks.mark(mark)) {
            *place = true;
        }
    }
    keys
}

/// The target of a mark that is a link.
fn is_link_mark(node: &Node) -> Option<&Node> {
    let object = node.as_object()?;
    if !matches!(node.kind(), Some("link" | "a")) {
        return None;
    }
    let inner = object.find("attrs").and_then(Node::as_object);
    let inner = inner.unwrap_or(object);
    ["href", "url"].into_iter().find_map(|key| inner.find(key))
}

/// The target of the link that one of the marks of a span is.
pub(super) fn link_mark(object: &Object) -> Option<&Node> {
    let marks = object.find("marks").and_then(Node::as_array)?;
    marks.iter().find_map(is_link_mark)
}
