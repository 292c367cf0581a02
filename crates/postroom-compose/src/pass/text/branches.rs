//! Tags of template languages around words of a text: `{{#if vip}}…{{else}}…{{/if}}` becomes an if
//! span. All tags of a text have to be understood and to match; otherwise each is told of.

use super::{bad, piece::Piece};
use crate::{
    draft::{Node, Object, Origin, Value},
    issue::Code,
    notation::Part,
    pass::{Pass, values},
};

/// What tags begin and end with.
const SIGNS: &[(&str, &str)] = &[("{{", "}}"), ("{%", "%}"), ("<%", "%>")];

/// What a tag says.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Tag<'t> {
    /// The condition, and whether its opposite is meant.
    If(&'t str, bool),
    ElseIf(&'t str),
    Else,
    End,
}

/// Reads `{{#if …}}`, `{% if … %}`, `<% if … %>` and what goes with them; `None` for other tags.
fn tag(written: &str) -> Option<Tag<'_>> {
    let (open, close) = SIGNS.iter().find(|(open, _)| written.starts_with(open))?;
    let inside = written.strip_prefix(open)?.strip_suffix(close)?;
    // Signs that take blanks away around the tag.
    let inside = inside.trim_matches(['-', '~']).trim();
    let bare = if *open == "{{" {
        inside.strip_prefix('#').unwrap_or(inside)
    } else {
        inside
    };
    let opens = *open != "{{" || inside.starts_with('#');
    let (word, rest) = bare.split_once(char::is_whitespace).unwrap_or((bare, ""));
    let rest = rest.trim();
    Some(match word {
        "if" if opens && !rest.is_empty() => Tag::If(rest, false),
        "unless" if opens && !rest.is_empty() => Tag::If(rest, true),
        "elif" | "elsif" | "elseif" if !rest.is_empty() => Tag::ElseIf(rest),
        "else" if rest.is_empty() => Tag::Else,
        "else" => Tag::ElseIf(rest.strip_prefix("if ")?),
        "/if" | "/unless" if *open == "{{" => Tag::End,
        "endif" | "endunless" if *open == "{%" => Tag::End,
        "end" if *open == "<%" => Tag::End,
        _ => return None,
    })
}

/// A tag that begins an if span, and where it stands.
type Opening = (Origin, String);

/// An `if` whose end is still to come.
struct Frame {
    /// What tags of its language begin with.
    sign: &'static str,
    condition: Node,
    origin: Origin,
    then: Vec<Piece>,
    otherwise: Option<Vec<Piece>>,
    /// Whether it stands in the `else` of the one before it, and ends with it.
    chained: bool,
}

/// Puts if spans where tags stand; tags that are left are words, and told of.
pub(super) fn fold(pieces: Vec<Piece>, pass: &mut Pass<'_, '_>) -> Vec<Piece> {
    let folded = nested(&pieces).then(|| folded(&pieces)).flatten();
    match folded {
        Some((folded, changes)) => {
            for (origin, written) in changes {
                pass.findings.mend(
                    Code::VarSyntax,
                    origin,
                    format!("{written} is a tag of a template language."),
                    "if.span",
                    format!("{written} and its end to an if span"),
                );
            }
            plain(folded, pass)
        }
        None => plain(pieces, pass),
    }
}

/// Whether tags stand among the pieces themselves, where they can be matched.
fn nested(pieces: &[Piece]) -> bool {
    pieces
        .iter()
        .any(|piece| matches!(piece, Piece::Tag { .. }))
}

/// The pieces with if spans in the place of tags, and the tags that begin them; `None` when a tag is
/// none of them, has no match or states no condition.
fn folded(pieces: &[Piece]) -> Option<(Vec<Piece>, Vec<Opening>)> {
    let mut changes = Vec::new();
    let mut whole: Vec<Piece> = Vec::new();
    let mut frames: Vec<Frame> = Vec::new();
    for piece in pieces {
        let Piece::Tag {
            written, origin, ..
        } = piece
        else {
            let list = match frames.last_mut() {
                Some(frame) => frame.otherwise.as_mut().unwrap_or(&mut frame.then),
                None => &mut whole,
            };
            list.push(piece.clone());
            continue;
        };
        let tag = tag(written)?;
        // One language closes what it opened.
        let same = |frame: &&mut Frame| written.starts_with(frame.sign);
        match tag {
            Tag::If(text, inverse) => {
                frames.push(frame(text, inverse, written, *origin, false)?);
                changes.push((*origin, written.clone()));
            }
            Tag::ElseIf(text) => {
                let last = frames.last_mut().filter(same)?;
                if last.otherwise.is_some() {
                    return None;
                }
                last.otherwise = Some(Vec::new());
                frames.push(frame(text, false, written, *origin, true)?);
            }
            Tag::Else => {
                let last = frames.last_mut().filter(same)?;
                if last.otherwise.is_some() {
                    return None;
                }
                last.otherwise = Some(Vec::new());
            }
            Tag::End => loop {
                frames.last_mut().filter(same)?;
                let frame = frames.pop()?;
                let chained = frame.chained;
                let list = match frames.last_mut() {
                    Some(outer) => outer.otherwise.as_mut().unwrap_or(&mut outer.then),
                    None => &mut whole,
                };
                list.push(frame.span()?);
                if !chained {
                    break;
                }
            },
        }
    }
    frames.is_empty().then_some((whole, changes))
}

fn frame(text: &str, inverse: bool, written: &str, origin: Origin, chained: bool) -> Option<Frame> {
    // What `this` is, the loop around the text says, if there is one.
    let mut words = text.split(|char: char| !char.is_ascii_alphanumeric() && char != '_');
    if words.any(|word| word == "this") {
        return None;
    }
    let sign = SIGNS
        .iter()
        .find(|(open, _)| written.starts_with(open))
        .map(|(open, _)| *open)?;
    let at = Node::string(origin, written);
    let condition = values::stated(text, &at)?;
    let condition = if inverse {
        let mut not = Object::default();
        not.put("not", condition);
        Node::new(origin, Value::Object(not))
    } else {
        condition
    };
    Some(Frame {
        sign,
        condition,
        origin,
        then: Vec::new(),
        otherwise: None,
        chained,
    })
}

impl Frame {
    /// The span; `None` when it shows nothing.
    fn span(self) -> Option<Piece> {
        (!self.then.is_empty()).then(|| Piece::If {
            condition: self.condition,
            then: self.then,
            otherwise: self.otherwise.unwrap_or_default(),
            origin: self.origin,
        })
    }
}

/// Tags that are left as words, each told of.
fn plain(pieces: Vec<Piece>, pass: &mut Pass<'_, '_>) -> Vec<Piece> {
    pieces
        .into_iter()
        .map(|piece| match piece {
            Piece::Tag {
                written,
                why,
                style,
                origin,
            } => {
                bad(&written, why, origin, pass);
                Piece::words(Part::Bad(written, why), &style)
            }
            Piece::Link {
                href,
                children,
                origin,
            } => Piece::Link {
                href,
                children: fold(children, pass),
                origin,
            },
            Piece::If {
                condition,
                then,
                otherwise,
                origin,
            } => Piece::If {
                condition,
                then: fold(then, pass),
                otherwise: fold(otherwise, pass),
                origin,
            },
            piece => piece,
        })
        .collect()
}
