//! From the tree of a query to who answers which leaf.

use jiff::tz::TimeZone;
use postroom_types::{ThreadId, Timestamp};

use crate::{
    AttachmentType, Direction, Leaf, Node, Query, QueryError, Text, TextForm, Who,
    date::{start_of, subtract},
};

/// A boolean tree over leaves that an index or the caller answers. Constants are folded away:
/// [`Plan::All`] and [`Plan::Nothing`] stand at the root only.
///
/// Every leaf is a predicate that is true or false of each message; one that is unknown (a message
/// without that property) is false, and negation comes after that.
#[derive(Debug, Clone, PartialEq)]
pub enum Plan {
    /// Every message.
    All,
    /// No message.
    Nothing,
    /// All of two or more.
    And(Vec<Plan>),
    /// Any of two or more.
    Or(Vec<Plan>),
    /// The messages for which it is false.
    Not(Box<Plan>),
    /// Words, ranked by the full-text engine.
    Text(TextLeaf),
    /// A fixed property of the message, in the index.
    Filter(FilterLeaf),
    /// A property that changes after arrival; the caller resolves it to message numbers.
    State(StateLeaf),
}

/// Where words must stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// In the subject.
    Subject,
}

/// Words to look for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextLeaf {
    /// The field they must stand in; anywhere when `None`.
    pub field: Option<Field>,
    /// The words.
    pub words: Text,
}

impl TextLeaf {
    /// A bare word that may stand anywhere: of those a question need not have all, while a phrase or a
    /// field was meant as it says.
    pub fn is_loose(&self) -> bool {
        self.field.is_none() && self.words.form == TextForm::Term
    }
}

/// A fixed property with the words of the query that asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterLeaf {
    /// The canonical `op:value`, for `why`.
    pub op: String,
    /// The property.
    pub test: Filter,
}

/// A fixed property of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    /// The sender is one of these.
    From(Who),
    /// A recipient (to, cc, bcc, delivered-to) is one of these.
    To(Who),
    /// Sender or recipient.
    Participant(Who),
    /// An attachment that is not inline.
    HasAttachment,
    /// An attachment's name contains this (lower case).
    Filename(String),
    /// An attachment of this kind.
    Type(AttachmentType),
    /// The message date is at or after the moment.
    After(Moment),
    /// The message date is before the moment.
    Before(Moment),
    /// The direction.
    In(Direction),
}

/// An instant that a filter compares the message date with.
pub type Moment = Timestamp;

/// A changing property with the words of the query that asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateLeaf {
    /// The canonical `op:value`, for `why`.
    pub op: String,
    /// The property.
    pub state: State,
}

/// A property that changes after arrival.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// The message carries the label.
    Label(String),
    /// The message is unread.
    Unread,
    /// The message belongs to the thread, or to one merged into it.
    Thread(ThreadId),
}

/// Makes the plan of a query for a time zone and an instant.
///
/// # Errors
/// `expected: "not available yet"` at the position of an operator whose engine is not there:
/// `ref:`, `category:`, `is:needs_reply`.
pub fn plan(query: &Query, zone: &TimeZone, now: Timestamp) -> Result<Plan, QueryError> {
    let mut missing = None;
    query.for_each_leaf(|leaf, _, position| {
        if matches!(leaf, Leaf::Ref(_) | Leaf::Category(_) | Leaf::NeedsReply) {
            missing = missing
                .take()
                .or_else(|| Some((position, leaf.to_string())));
        }
    });
    if let Some((position, found)) = missing {
        return Err(QueryError::new(position, "not available yet", &found));
    }
    Ok(match &query.root {
        None => Plan::All,
        Some(root) => Planner { zone, now }.node(root),
    })
}

struct Planner<'a> {
    zone: &'a TimeZone,
    now: Timestamp,
}

impl Planner<'_> {
    fn node(&self, node: &Node) -> Plan {
        match node {
            Node::And(nodes) => Plan::all_of(nodes.iter().map(|node| self.node(node))),
            Node::Or(nodes) => Plan::any_of(nodes.iter().map(|node| self.node(node))),
            Node::Not(inner) => self.node(inner).negated(),
            Node::Leaf(leaf) => self.leaf(leaf),
        }
    }

    fn leaf(&self, leaf: &Leaf) -> Plan {
        let filter = |test| {
            Plan::Filter(FilterLeaf {
                op: leaf.to_string(),
                test,
            })
        };
        let state = |state| {
            Plan::State(StateLeaf {
                op: leaf.to_string(),
                state,
            })
        };
        match leaf {
            Leaf::Text(words) => Plan::text(None, words.clone()),
            Leaf::Subject(words) => Plan::text(Some(Field::Subject), words.clone()),
            Leaf::From(who) => filter(Filter::From(who.clone())),
            Leaf::To(who) => filter(Filter::To(who.clone())),
            Leaf::Participant(who) => filter(Filter::Participant(who.clone())),
            Leaf::HasAttachment => filter(Filter::HasAttachment),
            Leaf::Filename(part) => filter(Filter::Filename(part.clone())),
            Leaf::Type(kind) => filter(Filter::Type(kind.clone())),
            Leaf::After(day) => filter(Filter::After(start_of(*day, self.zone))),
            Leaf::Before(day) => filter(Filter::Before(start_of(*day, self.zone))),
            Leaf::NewerThan(count, unit) => {
                filter(Filter::After(subtract(self.now, *count, *unit, self.zone)))
            }
            Leaf::OlderThan(count, unit) => {
                filter(Filter::Before(subtract(self.now, *count, *unit, self.zone)))
            }
            Leaf::In(direction) => filter(Filter::In(*direction)),
            Leaf::Label(label) => state(State::Label(label.clone())),
            Leaf::Thread(thread) => state(State::Thread(*thread)),
            Leaf::Unread => state(State::Unread),
            // Quarantined mail does not exist for a reader without the permission, and nobody has
            // it before quarantine works; the others were refused before.
            Leaf::Quarantined | Leaf::Ref(_) | Leaf::Category(_) | Leaf::NeedsReply => {
                Plan::Nothing
            }
        }
    }
}

impl Plan {
    /// Words in a field, or anywhere.
    pub fn text(field: Option<Field>, words: Text) -> Self {
        Self::Text(TextLeaf { field, words })
    }

    /// A bare word anywhere.
    pub fn word(word: impl Into<String>) -> Self {
        Self::text(
            None,
            Text {
                form: TextForm::Term,
                text: word.into(),
            },
        )
    }

    /// A filter that no query text asked for, such as an argument of a call. It never shows in
    /// `why`.
    pub fn filter(test: Filter) -> Self {
        Self::Filter(FilterLeaf {
            op: String::new(),
            test,
        })
    }

    /// A state that no query text asked for.
    pub fn state(state: State) -> Self {
        Self::State(StateLeaf {
            op: String::new(),
            state,
        })
    }

    /// All of these, flattened and folded.
    pub fn all_of(plans: impl IntoIterator<Item = Plan>) -> Self {
        let mut parts = Vec::new();
        for plan in plans {
            match plan {
                Self::All => {}
                Self::Nothing => return Self::Nothing,
                Self::And(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        match parts.len() {
            0 => Self::All,
            1 => parts.remove(0),
            _ => Self::And(parts),
        }
    }

    /// Any of these, flattened and folded.
    pub fn any_of(plans: impl IntoIterator<Item = Plan>) -> Self {
        let mut parts = Vec::new();
        for plan in plans {
            match plan {
                Self::Nothing => {}
                Self::All => return Self::All,
                Self::Or(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        match parts.len() {
            0 => Self::Nothing,
            1 => parts.remove(0),
            _ => Self::Or(parts),
        }
    }

    /// The messages for which this is false.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::All => Self::Nothing,
            Self::Nothing => Self::All,
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }

    /// Calls `visit` with every leaf and whether it stands under a negation, in order.
    pub fn for_each_leaf<'a>(&'a self, visit: &mut dyn FnMut(&'a Plan, bool)) {
        self.walk(false, visit);
    }

    fn walk<'a>(&'a self, negated: bool, visit: &mut dyn FnMut(&'a Plan, bool)) {
        match self {
            Self::And(plans) | Self::Or(plans) => {
                plans.iter().for_each(|plan| plan.walk(negated, visit));
            }
            Self::Not(inner) => inner.walk(!negated, visit),
            leaf => visit(leaf, negated),
        }
    }

    /// The states that the caller has to resolve, each once.
    pub fn states(&self) -> Vec<State> {
        let mut states = Vec::new();
        self.for_each_leaf(&mut |leaf, _| {
            if let Self::State(leaf) = leaf {
                states.push(leaf.state.clone());
            }
        });
        states.sort();
        states.dedup();
        states
    }

    /// The text leaves that do not stand under a negation, in order.
    pub fn positive_text(&self) -> Vec<&TextLeaf> {
        let mut leaves = Vec::new();
        self.for_each_leaf(&mut |leaf, negated| {
            if let (Self::Text(leaf), false) = (leaf, negated) {
                leaves.push(leaf);
            }
        });
        leaves
    }
}
