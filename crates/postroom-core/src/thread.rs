//! Threads: what lists show of them, as a sum over their messages.
//!
//! A thread of one message is made by [`single`], and [`combine`] adds one thread to another. The
//! sum does not depend on the order of its parts, so what a merge gives is what counting the
//! messages again would give.

use crate::{Direction, Draft, MessageRow, ThreadRow, row::Participant};
use postroom_types::{Mailbox, Timestamp, limit};
use std::collections::HashMap;

/// The thread that one message makes on its own. `own` tells the mailbox's own addresses, which
/// take no part.
pub(crate) fn single(row: &MessageRow, draft: &Draft, own: impl Fn(&str) -> bool) -> ThreadRow {
    ThreadRow {
        id: row.thread_id,
        tenant_id: row.tenant_id,
        identity_id: row.identity_id,
        subject: draft.doc.subject.clone(),
        first_at: row.sort_at,
        first_num: row.num,
        last_at: row.sort_at,
        last_num: row.num,
        last_direction: row.direction,
        last_inbound_at: (row.direction == Direction::Inbound).then_some(row.sort_at),
        snippet: draft.doc.snippet.clone(),
        message_count: 1,
        unread_count: u64::from(row.unread),
        participants: participants(row, draft, own),
        archived: false,
        hold: None,
    }
}

/// Takes out of a message's own sum whatever would be seen of it beside others: the next [`combine`] adds
/// nothing by it.
pub(crate) fn hide(one: &mut ThreadRow) {
    (one.first_at, one.first_num) = (Timestamp::from_ms(i64::MAX), u64::MAX);
    (one.last_at, one.last_num) = (Timestamp::from_ms(i64::MIN), 0);
    one.last_inbound_at = None;
    one.message_count = 0;
    one.unread_count = 0;
    one.participants.clear();
}

/// Author, recipients and copies of one message, each once.
fn participants(row: &MessageRow, draft: &Draft, own: impl Fn(&str) -> bool) -> Vec<Participant> {
    let mut out: Vec<Participant> = Vec::new();
    let mut people: Vec<&Mailbox> = draft.doc.from.iter().collect();
    people.extend(&draft.doc.to);
    people.extend(&draft.doc.cc);
    for mailbox in people {
        if out.len() == limit::PARTICIPANTS_KEPT {
            break;
        }
        if mailbox.address.is_empty() || own(&mailbox.address) {
            continue;
        }
        match out.iter_mut().find(|p| p.address == mailbox.address) {
            Some(known) if known.name.is_empty() => {
                known.name.clone_from(&mailbox.name);
                known.named = named(row, mailbox);
            }
            Some(_) => {}
            None => out.push(Participant {
                address: mailbox.address.clone(),
                name: mailbox.name.clone(),
                first: (
                    row.sort_at.ms(),
                    row.num,
                    u32::try_from(out.len()).unwrap_or(u32::MAX),
                ),
                named: named(row, mailbox),
                counts: !draft.doc.unvouched,
            }),
        }
    }
    out
}

/// Where a name was read; before everything when there is none.
fn named(row: &MessageRow, mailbox: &Mailbox) -> (i64, u64) {
    if mailbox.name.is_empty() {
        (i64::MIN, 0)
    } else {
        (row.sort_at.ms(), row.num)
    }
}

/// Adds the messages that `other` counts to `into`; ids, `archived` and `hold` stay those of `into`.
pub(crate) fn combine(into: &mut ThreadRow, other: ThreadRow) {
    if (other.first_at, other.first_num) < (into.first_at, into.first_num) {
        into.subject = other.subject;
        into.first_at = other.first_at;
        into.first_num = other.first_num;
    }
    if (other.last_at, other.last_num) > (into.last_at, into.last_num) {
        into.snippet = other.snippet;
        into.last_direction = other.last_direction;
        into.last_at = other.last_at;
        into.last_num = other.last_num;
    }
    into.last_inbound_at = into.last_inbound_at.max(other.last_inbound_at);
    into.message_count += other.message_count;
    into.unread_count += other.unread_count;
    combine_participants(&mut into.participants, other.participants);
}

/// Keeps of each the earliest appearance and the latest name, and of all the first to appear.
fn combine_participants(into: &mut Vec<Participant>, other: Vec<Participant>) {
    let mut places: HashMap<String, usize> = into
        .iter()
        .enumerate()
        .map(|(place, p)| (p.address.clone(), place))
        .collect();
    for participant in other {
        let known = places
            .get(&participant.address)
            .and_then(|place| into.get_mut(*place));
        let Some(known) = known else {
            places.insert(participant.address.clone(), into.len());
            into.push(participant);
            continue;
        };
        known.first = known.first.min(participant.first);
        known.counts |= participant.counts;
        if participant.named > known.named {
            known.name = participant.name;
            known.named = participant.named;
        }
    }
    into.sort_by(|a, b| {
        a.first
            .cmp(&b.first)
            .then_with(|| a.address.cmp(&b.address))
    });
    into.truncate(limit::PARTICIPANTS_KEPT);
}

/// A thread computed again from its messages, in any order; `None` without messages.
pub fn aggregate<'a>(
    messages: impl IntoIterator<Item = (&'a MessageRow, &'a Draft)>,
    own: impl Fn(&str) -> bool,
) -> Option<ThreadRow> {
    let mut sum: Option<ThreadRow> = None;
    for (row, draft) in messages {
        let mut one = single(row, draft, &own);
        match &mut sum {
            Some(sum) => {
                if draft.doc.tells_fate {
                    hide(&mut one);
                }
                combine(sum, one);
            }
            None => sum = Some(one),
        }
    }
    sum
}
