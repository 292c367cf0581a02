//! In-Reply-To and References of what leaves (RFC 5322 section 3.6.4).

use std::collections::HashSet;

use postroom_types::limit;

use super::Parent;

/// The ids that join a mail to its conversation. Every id is `left@right` in printable ASCII:
/// what is not cannot be referred to and is left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct References {
    in_reply_to: Option<String>,
    references: Vec<String>,
}

impl References {
    /// In-Reply-To without angle brackets.
    pub fn in_reply_to(&self) -> Option<&str> {
        self.in_reply_to.as_deref()
    }

    /// References without angle brackets, oldest first, at most [`limit::REFERENCES_SENT`].
    pub fn references(&self) -> &[String] {
        &self.references
    }
}

/// Of an answer, and of a new mail that goes on a thread (`parent` is then its latest message with
/// a known id): the parent's References, else its In-Reply-To, and the parent itself, each id once
/// at its last place; the first and the newest when there are too many.
pub fn references_for(parent: &Parent) -> References {
    References {
        in_reply_to: parent.message_id.clone().filter(|id| is_id(id)),
        references: chain(parent),
    }
}

/// Of a forward: it stays in the thread and answers nobody.
pub fn forward_references(parent: &Parent) -> References {
    References {
        in_reply_to: None,
        references: chain(parent),
    }
}

fn chain(parent: &Parent) -> Vec<String> {
    let ancestors = if parent.references.is_empty() {
        // Several ids in In-Reply-To name several parents: no line of ancestors.
        match parent.in_reply_to.as_slice() {
            [only] => std::slice::from_ref(only),
            _ => &[],
        }
    } else {
        &parent.references
    };
    let mut seen = HashSet::new();
    let mut newest_first: Vec<&String> = ancestors
        .iter()
        .chain(&parent.message_id)
        .rev()
        .filter(|id| is_id(id) && seen.insert(id.as_str()))
        .collect();
    newest_first.reverse();
    let drop = newest_first.len().saturating_sub(limit::REFERENCES_SENT);
    let kept = newest_first.iter().enumerate();
    kept.filter(|(at, _)| *at == 0 || *at > drop)
        .map(|(_, id)| (*id).clone())
        .collect()
}

/// `left@right` that fits on a header line between angle brackets.
pub(super) fn is_id(id: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_graphic() && !b"<>(),;:\\\"".contains(&byte);
    let sides = id.rsplit_once('@');
    sides.is_some_and(|(left, right)| !left.is_empty() && !right.is_empty())
        && id.len() <= limit::MESSAGE_ID_SENT_BYTES
        && id.bytes().all(allowed)
}
