//! Labels, read state, threads put away.

use super::{Context, Tick, active_tenant, known_identity};
use crate::{
    ArchiveThread, Change, Decision, LabelRow, LabelsOutcome, LoadedMessage, Outcome, Refusal,
    State, Target, ThreadRow, UpdateLabels, is_label, row::FeedKind,
};
use postroom_types::{ErrorCode, IdentityId, ThreadId, limit};
use std::collections::BTreeSet;

/// What a label is made of ([`is_label`]), in words.
pub(in crate::decide) const LABEL_FORM: &str =
    "1 to 64 of a-z, 0-9, _, : and -, beginning with a letter or digit";

pub(super) fn update(
    update: &UpdateLabels,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    check(update)?;
    active_tenant(state, update.tenant)?;
    known_identity(state, update.tenant, update.identity)?;
    let (id, thread, messages) = targets(update, state)?;
    let mut tick = Tick::new(state, update.tenant, context.now);
    let mut changes = Vec::new();
    let mut labels: BTreeSet<String> = BTreeSet::new();
    let mut read = true;
    let mut unread_change: i64 = 0;
    for message in messages {
        let before = changes.len();
        let after = relabel(message, update, thread.id, &mut changes)?;
        labels.extend(after);
        let unread = update.read.map_or(message.row.unread, |read| !read);
        read = read && !unread;
        if unread != message.row.unread {
            unread_change += if unread { 1 } else { -1 };
            changes.push(Change::SetUnread {
                tenant_id: message.row.tenant_id,
                num: message.row.num,
                unread,
            });
        }
        if changes.len() > before {
            let mut feed = tick.next(
                FeedKind::MessageChanged,
                Some(update.identity),
                Some(message.row.id.bits()),
            );
            feed.num = Some(message.row.num);
            changes.push(Change::Feed(feed));
        }
    }
    if unread_change != 0 {
        changes.push(Change::PutThread(ThreadRow {
            unread_count: thread.unread_count.saturating_add_signed(unread_change),
            ..thread.clone()
        }));
    }
    Ok(Decision {
        changes,
        outcome: Outcome::Labels(LabelsOutcome {
            id,
            labels: labels.into_iter().collect(),
            read,
        }),
    })
}

fn check(update: &UpdateLabels) -> Result<(), Refusal> {
    if update.add.is_empty() && update.remove.is_empty() && update.read.is_none() {
        return Err(Refusal::invalid(
            "labels_add",
            "give labels_add, labels_remove or read",
        ));
    }
    for (path, labels) in [
        ("labels_add", &update.add),
        ("labels_remove", &update.remove),
    ] {
        if labels.len() > limit::LABELS_PER_MESSAGE {
            return Err(Refusal::invalid(path, "at most 64 labels"));
        }
        if !labels.iter().all(|label| is_label(label)) {
            return Err(Refusal::invalid(path, LABEL_FORM));
        }
    }
    Ok(())
}

type Targets<'a> = (String, &'a ThreadRow, Vec<&'a LoadedMessage>);

/// The id to answer, the thread, and the messages that are meant.
fn targets<'a>(update: &UpdateLabels, state: &'a State) -> Result<Targets<'a>, Refusal> {
    match update.target {
        Target::Message(id) => {
            let message = state
                .messages
                .get(&id)
                .filter(|message| message.row.identity_id == update.identity)
                .ok_or(Refusal::new(ErrorCode::MessageNotFound))?;
            let thread = state
                .threads
                .get(&state.canonical(message.row.thread_id))
                .ok_or(Refusal::Deferred)?;
            Ok((id.to_string(), thread, vec![message]))
        }
        Target::Thread(id) => {
            let thread = known_thread(state, update.identity, id)?;
            if !state.whole_threads.contains(&thread.id) {
                return Err(Refusal::Deferred);
            }
            let messages = state.messages_of(thread.id);
            Ok((thread.id.to_string(), thread, messages))
        }
    }
}

fn known_thread(state: &State, identity: IdentityId, id: ThreadId) -> Result<&ThreadRow, Refusal> {
    state
        .threads
        .get(&state.canonical(id))
        .filter(|thread| thread.identity_id == identity)
        .ok_or(Refusal::new(ErrorCode::ThreadNotFound))
}

/// Labels of one message as they become.
fn relabel(
    message: &LoadedMessage,
    update: &UpdateLabels,
    thread: ThreadId,
    changes: &mut Vec<Change>,
) -> Result<BTreeSet<String>, Refusal> {
    let mut after = message.labels.clone();
    after.extend(update.add.iter().cloned());
    for label in &update.remove {
        after.remove(label);
    }
    if after.len() > limit::LABELS_PER_MESSAGE {
        return Err(Refusal::invalid(
            "labels_add",
            "a message has at most 64 labels",
        ));
    }
    let row = |label: &String| LabelRow {
        tenant_id: message.row.tenant_id,
        identity_id: message.row.identity_id,
        label: label.clone(),
        num: message.row.num,
    };
    for label in after.difference(&message.labels) {
        changes.push(Change::AddLabel(row(label), thread));
    }
    for label in message.labels.difference(&after) {
        changes.push(Change::RemoveLabel(row(label)));
    }
    Ok(after)
}

pub(super) fn archive(
    archive: &ArchiveThread,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    active_tenant(state, archive.tenant)?;
    known_identity(state, archive.tenant, archive.identity)?;
    let known = known_thread(state, archive.identity, archive.thread)?;
    if known.archived == archive.archived {
        return Ok(Decision::unchanged(Outcome::Done));
    }
    let mut tick = Tick::new(state, archive.tenant, context.now);
    let feed = tick.next(
        FeedKind::ThreadChanged,
        Some(archive.identity),
        Some(known.id.bits()),
    );
    Ok(Decision {
        changes: vec![
            Change::PutThread(ThreadRow {
                archived: archive.archived,
                ..known.clone()
            }),
            Change::Feed(feed),
        ],
        outcome: Outcome::Done,
    })
}
