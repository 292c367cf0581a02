//! What rules sending: policy, suppressions, lists; and what is kept for it: drafts and uploads.

use super::SAVED_SINCE;
use crate::{
    Change, Decision, ListEntry, Outcome, Policy, PutDraft, PutSuppression, PutUpload, Refusal,
    RemoveSuppression, SetPolicy, State,
    decide::{Context, Tick, active_tenant, known_identity},
    row::{
        DraftRow, FeedKind, ListEntryRow, PolicyRow, SuppressionReason, SuppressionRow, UploadRow,
    },
};
use postroom_types::{
    Address, DraftId, ErrorCode, IdentityId, TenantId, Timestamp, UploadId, limit,
};

pub(in crate::decide) fn put_draft(
    put: &PutDraft,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    active_tenant(state, put.tenant)?;
    known_identity(state, put.tenant, put.identity)?;
    if put.document.len() > limit::DRAFT_BYTES {
        return Err(Refusal::invalid("document", "at most 1 MiB"));
    }
    let row = match put.id {
        None => {
            let count = state.draft_counts.get(&put.identity).copied().unwrap_or(0);
            if count >= limit::DRAFTS_PER_IDENTITY as u64 {
                return Err(ErrorCode::CeilingExceeded.into());
            }
            DraftRow {
                id: DraftId::from_parts(context.now.ulid_ms(), context.bits()),
                tenant_id: put.tenant,
                identity_id: put.identity,
                document: put.document.clone(),
                version: 1,
                saved_by: put.by,
                scope: put.scope,
                created_at: context.now,
                updated_at: context.now,
            }
        }
        Some(id) => {
            let known = draft(put.tenant, put.identity, id, state)?;
            if put.version.is_some_and(|version| version != known.version) {
                return Err(Refusal::because(ErrorCode::Conflict, SAVED_SINCE));
            }
            DraftRow {
                document: put.document.clone(),
                version: known.version + 1,
                saved_by: put.by,
                scope: match put.has_read {
                    true => put.scope,
                    false => known.scope.min(put.scope),
                },
                updated_at: context.now,
                ..known.clone()
            }
        }
    };
    let mut tick = Tick::new(state, put.tenant, context.now);
    let feed = tick.next(
        FeedKind::DraftChanged,
        Some(put.identity),
        Some(row.id.bits()),
    );
    Ok(Decision {
        changes: vec![Change::PutDraft(Box::new(row.clone())), Change::Feed(feed)],
        outcome: Outcome::Draft(Box::new(row)),
    })
}

fn draft(
    tenant: TenantId,
    identity: IdentityId,
    id: DraftId,
    state: &State,
) -> Result<&DraftRow, Refusal> {
    let known = state.drafts.get(&id);
    known
        .filter(|row| row.tenant_id == tenant && row.identity_id == identity)
        .ok_or(Refusal::new(ErrorCode::DraftNotFound))
}

pub(in crate::decide) fn remove_draft(
    tenant: TenantId,
    identity: IdentityId,
    id: DraftId,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    active_tenant(state, tenant)?;
    draft(tenant, identity, id, state)?;
    let mut tick = Tick::new(state, tenant, context.now);
    let feed = tick.next(FeedKind::DraftChanged, Some(identity), Some(id.bits()));
    Ok(Decision {
        changes: vec![
            Change::RemoveDraft {
                tenant_id: tenant,
                id,
            },
            Change::Feed(feed),
        ],
        outcome: Outcome::Done,
    })
}

pub(in crate::decide) fn put_upload(
    put: &PutUpload,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    active_tenant(state, put.tenant)?;
    known_identity(state, put.tenant, put.identity)?;
    if put.raw.size > limit::UPLOAD_BYTES {
        return Err(ErrorCode::PayloadTooLarge.into());
    }
    let filename = base_name(&put.filename);
    check_word("filename", filename, 255)?;
    check_word("content_type", &put.content_type, 127)?;
    let count = state.upload_counts.get(&put.identity).copied().unwrap_or(0);
    if count >= limit::UPLOADS_PER_IDENTITY as u64 {
        return Err(ErrorCode::CeilingExceeded.into());
    }
    let life = i64::try_from(limit::UPLOAD_LIFE_MS).unwrap_or(0);
    let row = UploadRow {
        id: UploadId::from_parts(context.now.ulid_ms(), context.bits()),
        tenant_id: put.tenant,
        identity_id: put.identity,
        filename: filename.to_owned(),
        content_type: put.content_type.clone(),
        sha256: put.raw.sha256,
        size: put.raw.size,
        created_at: context.now,
        expires_at: context.now.plus_ms(life),
    };
    Ok(Decision {
        changes: vec![Change::AddUpload(Box::new(row.clone()))],
        outcome: Outcome::Upload(Box::new(row)),
    })
}

/// The name of a file without the folders before it: where it was says nothing to whoever gets it, and
/// `.` and `..` name no file.
fn base_name(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path).trim();
    match name {
        "." | ".." => "",
        name => name,
    }
}

/// Whether a character ends a line or turns the order of what stands behind it.
fn misleads(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn check_word(path: &'static str, text: &str, most: usize) -> Result<(), Refusal> {
    match text.is_empty() || text.len() > most || text.chars().any(misleads) {
        true => Err(Refusal::invalid(path, "one line that is not too long")),
        false => Ok(()),
    }
}

pub(in crate::decide) fn set_policy(
    set: &SetPolicy,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    active_tenant(state, set.tenant)?;
    let known = state.policies.get(&set.tenant);
    let own = known.map(|row| row.own.clone()).unwrap_or_default();
    let row = PolicyRow {
        tenant_id: set.tenant,
        own: own.clone().merged(set.patch.clone()),
        updated_at: context.now,
    };
    check_policy(&row.own.effective())?;
    if row.own == own {
        let unchanged = known.cloned().unwrap_or(row);
        return Ok(Decision::unchanged(Outcome::Policy(Box::new(unchanged))));
    }
    Ok(Decision {
        changes: vec![
            Change::PutPolicy(Box::new(row.clone())),
            told(set.tenant, state, context),
        ],
        outcome: Outcome::Policy(Box::new(row)),
    })
}

fn check_policy(policy: &Policy) -> Result<(), Refusal> {
    let caps = [
        ("identity_daily_send_cap", policy.identity_daily_send_cap),
        ("tenant_daily_send_cap", policy.tenant_daily_send_cap),
    ];
    for (path, cap) in caps {
        if cap > limit::SENT_PER_DAY {
            return Err(Refusal::invalid(path, "0 to 1000000"));
        }
    }
    if !(1..=limit::SENT_RECIPIENTS as u64).contains(&policy.max_recipients) {
        return Err(Refusal::invalid("max_recipients", "1 to 49"));
    }
    let text = &policy.ai_disclosure.text;
    if text.chars().count() > limit::DISCLOSURE_CHARS || text.chars().any(char::is_control) {
        return Err(Refusal::invalid(
            "ai_disclosure.text",
            "one line of at most 500 characters",
        ));
    }
    if policy.auto_reply.max_automatic_exchanges > 10 {
        return Err(Refusal::invalid(
            "auto_reply.max_automatic_exchanges",
            "0 to 10",
        ));
    }
    Ok(())
}

/// The position of the feed that tells a change of the rules.
fn told(tenant: TenantId, state: &State, context: &Context<'_>) -> Change {
    let mut tick = Tick::new(state, tenant, context.now);
    Change::Feed(tick.next(FeedKind::PolicyChanged, None, None))
}

pub(in crate::decide) fn put_suppression(
    put: &PutSuppression,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    active_tenant(state, put.tenant)?;
    let known = state.suppressions.get(&(put.tenant, put.hash));
    if let Some(known) = known {
        return Ok(Decision::unchanged(Outcome::Suppression(known.clone())));
    }
    let row = SuppressionRow {
        tenant_id: put.tenant,
        hash: put.hash,
        hint: put.hint.clone(),
        reason: put.reason,
        at: context.now,
    };
    Ok(Decision {
        changes: vec![
            Change::PutSuppression(row.clone()),
            told(put.tenant, state, context),
        ],
        outcome: Outcome::Suppression(row),
    })
}

pub(in crate::decide) fn remove_suppression(
    remove: &RemoveSuppression,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    active_tenant(state, remove.tenant)?;
    let known = state
        .suppressions
        .get(&(remove.tenant, remove.hash))
        .ok_or(Refusal::new(ErrorCode::SuppressionNotFound))?;
    if known.reason == SuppressionReason::Complaint && !remove.confirm_complaint {
        return Err(Refusal::invalid(
            "confirm_complaint",
            "must be true: its owner called a mail spam",
        ));
    }
    Ok(Decision {
        changes: vec![
            Change::RemoveSuppression {
                tenant_id: remove.tenant,
                hash: remove.hash,
            },
            told(remove.tenant, state, context),
        ],
        outcome: Outcome::Done,
    })
}

pub(in crate::decide) fn put_list_entry(
    entry: &ListEntry,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    active_tenant(state, entry.tenant)?;
    check_entry(&entry.entry)?;
    let row = |at: Timestamp| ListEntryRow {
        tenant_id: entry.tenant,
        direction: entry.direction,
        kind: entry.kind,
        entry: entry.entry.clone(),
        at,
    };
    let known = state
        .list_entries
        .get(&(entry.tenant, entry.direction, entry.entry.clone()))
        .and_then(|kinds| kinds.get(&entry.kind));
    if let Some(at) = known {
        return Ok(Decision::unchanged(Outcome::ListEntry(row(*at))));
    }
    let count = state.list_counts.get(&entry.tenant).copied().unwrap_or(0);
    if count >= limit::LIST_ENTRIES_PER_TENANT as u64 {
        return Err(ErrorCode::CeilingExceeded.into());
    }
    let row = row(context.now);
    Ok(Decision {
        changes: vec![
            Change::PutListEntry(row.clone()),
            told(entry.tenant, state, context),
        ],
        outcome: Outcome::ListEntry(row),
    })
}

/// `user@domain` or `@domain`, as addresses are kept. A `*` would be taken for more than the one address
/// that it is.
fn check_entry(entry: &str) -> Result<(), Refusal> {
    let whole = match entry.starts_with('@') {
        true => format!("any{entry}"),
        false => entry.to_owned(),
    };
    let kept = Address::parse(&whole).is_ok_and(|address| {
        let (local, domain) = whole.rsplit_once('@').unwrap_or_default();
        address.domain() == domain && !local.bytes().any(|byte| byte.is_ascii_uppercase())
    });
    match kept && !entry.contains('*') {
        true => Ok(()),
        false => Err(Refusal::invalid("entry", "user@domain or @domain")),
    }
}

pub(in crate::decide) fn remove_list_entry(
    entry: &ListEntry,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    active_tenant(state, entry.tenant)?;
    let at = state
        .list_entries
        .get(&(entry.tenant, entry.direction, entry.entry.clone()))
        .and_then(|kinds| kinds.get(&entry.kind))
        .ok_or(Refusal::new(ErrorCode::ListEntryNotFound))?;
    Ok(Decision {
        changes: vec![
            Change::RemoveListEntry(ListEntryRow {
                tenant_id: entry.tenant,
                direction: entry.direction,
                kind: entry.kind,
                entry: entry.entry.clone(),
                at: *at,
            }),
            told(entry.tenant, state, context),
        ],
        outcome: Outcome::Done,
    })
}

/// What has ended goes; nothing names it, so that nobody needs to know.
pub(in crate::decide) fn prune(now: Timestamp) -> Decision {
    let before = |ms: u64| now.plus_ms(-i64::try_from(ms).unwrap_or(i64::MAX));
    Decision {
        changes: vec![Change::PruneSending {
            keys_through: before(limit::IDEMPOTENCY_LIFE_MS),
            uploads_ended: now,
            reports_through: before(limit::EARLY_REPORT_MS),
        }],
        outcome: Outcome::Done,
    }
}
