//! The canonical form: lower-case operator names, normalised values, explicit `OR`, the fewest
//! parentheses.

use std::fmt;

use jiff::civil::Date;

use crate::{Day, Leaf, Node, Query, Text, TextForm, Who};

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.root {
            None => Ok(()),
            Some(root) => root.fmt(f),
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // OR binds tighter than AND, so an Or inside an And stands bare.
            Self::And(nodes) => join(f, nodes, " ", |node| matches!(node, Self::And(_))),
            Self::Or(nodes) => join(f, nodes, " OR ", |node| {
                matches!(node, Self::And(_) | Self::Or(_))
            }),
            Self::Not(inner) => {
                f.write_str("-")?;
                write_node(f, inner, !matches!(**inner, Self::Leaf(_)))
            }
            Self::Leaf(leaf) => leaf.fmt(f),
        }
    }
}

fn join(
    f: &mut fmt::Formatter<'_>,
    nodes: &[Node],
    separator: &str,
    grouped: impl Fn(&Node) -> bool,
) -> fmt::Result {
    for (place, node) in nodes.iter().enumerate() {
        if place > 0 {
            f.write_str(separator)?;
        }
        write_node(f, node, grouped(node))?;
    }
    Ok(())
}

fn write_node(f: &mut fmt::Formatter<'_>, node: &Node, grouped: bool) -> fmt::Result {
    if grouped {
        write!(f, "({node})")
    } else {
        write!(f, "{node}")
    }
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{text}"),
            Self::Subject(text) => write!(f, "subject:{text}"),
            Self::From(who) => write!(f, "from:{who}"),
            Self::To(who) => write!(f, "to:{who}"),
            Self::Participant(who) => write!(f, "participant:{who}"),
            Self::Ref(value) => write!(f, "ref:{}", Value(value)),
            Self::Label(label) => write!(f, "label:{label}"),
            Self::HasAttachment => f.write_str("has:attachment"),
            Self::Filename(part) => write!(f, "filename:{}", Value(part)),
            Self::Type(kind) => write!(f, "type:{}", kind.name()),
            Self::After(day) => write!(f, "after:{day}"),
            Self::Before(day) => write!(f, "before:{day}"),
            Self::NewerThan(count, unit) => write!(f, "newer_than:{count}{}", unit.letter()),
            Self::OlderThan(count, unit) => write!(f, "older_than:{count}{}", unit.letter()),
            Self::In(direction) => write!(f, "in:{}", direction.name()),
            Self::Thread(thread) => write!(f, "thread:{thread}"),
            Self::Unread => f.write_str("is:unread"),
            Self::NeedsReply => f.write_str("is:needs_reply"),
            Self::Quarantined => f.write_str("is:quarantined"),
            Self::Category(name) => write!(f, "category:{name}"),
        }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.form {
            TextForm::Term => f.write_str(&self.text),
            TextForm::Prefix => write!(f, "{}*", self.text),
            TextForm::Phrase => write_quoted(f, &self.text),
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Domain(domain) => write!(f, "@{domain}"),
            Self::Address(value) | Self::Bare(value) | Self::Part(value) => {
                write!(f, "{}", Value(value))
            }
        }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(date) => write_date(f, *date),
            Self::Instant(instant) => {
                let text = instant.to_string();
                // The shortest form: a canonical query is never longer than what was written.
                match text.strip_suffix('Z').and_then(|rest| rest.split_once('.')) {
                    Some((whole, fraction)) => {
                        let fraction = fraction.trim_end_matches('0');
                        let point = if fraction.is_empty() { "" } else { "." };
                        write!(f, "{whole}{point}{fraction}Z")
                    }
                    None => f.write_str(&text),
                }
            }
        }
    }
}

fn write_date(f: &mut fmt::Formatter<'_>, date: Date) -> fmt::Result {
    write!(
        f,
        "{:04}-{:02}-{:02}",
        date.year(),
        date.month(),
        date.day()
    )
}

/// A value behind an operator, quoted when it would not read back bare.
struct Value<'a>(&'a str);

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bare = !self.0.ends_with('*')
            && !self
                .0
                .contains(|c: char| c.is_whitespace() || matches!(c, '"' | '(' | ')'));
        if bare {
            f.write_str(self.0)
        } else {
            write_quoted(f, self.0)
        }
    }
}

fn write_quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for next in text.chars() {
        if matches!(next, '"' | '\\') {
            f.write_str("\\")?;
        }
        write!(f, "{next}")?;
    }
    f.write_str("\"")
}
