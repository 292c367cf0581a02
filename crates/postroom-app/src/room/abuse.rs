//! A mailbox whose mail comes back or is called spam too often sends no more until somebody looks.

use std::collections::{BTreeMap, BTreeSet};

use postroom_core::{
    BounceType, Command, DeliveryEvent, DeliveryReport, DeliveryRow, DeliveryStatus,
    DeliveryUpdate, IdentityPatch, IdentityStatus, PauseReason, SendOutcome, Submission,
    UpdateIdentity, Verdict,
};
use postroom_store::{StoreError, read};
use postroom_types::{IdentityId, MessageId, TenantId, limit};

use super::Room;

/// Looks at the mailboxes whose mail came back or was called spam just now.
pub(super) async fn watch(
    room: &Room,
    reports: &[DeliveryReport],
    updates: &[DeliveryUpdate],
) -> Result<(), StoreError> {
    let mut told = Mails::new();
    for (report, update) in reports.iter().zip(updates) {
        let speaks_ill = matches!(
            report.event,
            DeliveryEvent::Bounced(_) | DeliveryEvent::Complained
        );
        if let Some(message) = update.message_id.filter(|_| speaks_ill && update.changed) {
            told.entry(report.tenant).or_default().push(message);
        }
    }
    look_at_senders(room, told).await
}

/// Mails, by their tenants.
pub(super) type Mails = BTreeMap<TenantId, Vec<MessageId>>;

/// The mails of which the transport refused a recipient because of its address.
pub(super) fn refused<'a>(outcomes: impl Iterator<Item = &'a SendOutcome>) -> Mails {
    let mut told = Mails::new();
    for outcome in outcomes {
        let Submission::Answered { recipients, .. } = &outcome.submission else {
            continue;
        };
        let nobody_there = recipients.iter().any(|answer| {
            answer.verdict == Verdict::Rejected && is_of_address(answer.enhanced_code.as_deref())
        });
        if nobody_there {
            let send = outcome.send;
            told.entry(send.tenant).or_default().push(send.message);
        }
    }
    told
}

/// Looks at the mailboxes of mails that came to nothing just now.
pub(super) async fn look_at_senders(room: &Room, mails: Mails) -> Result<(), StoreError> {
    for (tenant, messages) in mails {
        let scope = room.workers.tenant(tenant);
        let sends = read::sends_of(&room.store, &scope, &messages).await?;
        let identities: BTreeSet<IdentityId> =
            sends.values().map(|send| send.identity_id).collect();
        for identity in identities {
            look(room, tenant, identity).await?;
        }
    }
    Ok(())
}

async fn look(room: &Room, tenant: TenantId, identity: IdentityId) -> Result<(), StoreError> {
    let scope = room.workers.tenant(tenant);
    let Some(known) = read::identity(&room.store, &scope, identity).await? else {
        return Ok(());
    };
    if known.row.status != IdentityStatus::Active {
        return Ok(());
    }
    let most = limit::COMPLAINTS_LOOKED_AT;
    // Who let it send again has seen what came before.
    let since = known.row.resumed_at.unwrap_or_default();
    let latest = read::recent_deliveries(&room.store, &scope, identity, since, most).await?;
    if !are_too_many(&latest) {
        return Ok(());
    }
    tracing::warn!(%identity, "a mailbox is paused: too much of its mail came back or was called spam");
    let pause = UpdateIdentity {
        tenant,
        identity,
        patch: IdentityPatch {
            status: Some(IdentityStatus::Paused),
            pause_reason: Some(PauseReason::AbuseThreshold),
            ..IdentityPatch::default()
        },
    };
    match room.store.transact(Command::UpdateIdentity(pause)).await {
        // Erased or suspended meanwhile: it sends nothing anyway.
        Ok(_) | Err(StoreError::Refused(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether an enhanced status code says that an address is no good (RFC 3463 section 3.2): the other
/// refusals speak of the mail or of us.
fn is_of_address(enhanced_code: Option<&str>) -> bool {
    enhanced_code.is_some_and(|code| code.starts_with("5.1."))
}

/// Whether the transport refused a recipient because of its address.
fn is_refused(delivery: &DeliveryRow) -> bool {
    delivery.status == DeliveryStatus::Rejected && is_of_address(delivery.enhanced_code.as_deref())
}

/// Whether too many of the latest outcomes, the latest first, are bounces for good or complaints. What
/// only a mail says that anybody may have written counts as little as a fate that was played, and one
/// domain's own word only a few times.
fn are_too_many(latest: &[DeliveryRow]) -> bool {
    let outcomes = latest.iter().filter(|delivery| {
        let ended = matches!(
            delivery.status,
            DeliveryStatus::Submitted
                | DeliveryStatus::Delivered
                | DeliveryStatus::Bounced
                | DeliveryStatus::Complained
        );
        (ended || is_refused(delivery)) && !delivery.is_unproven() && !delivery.is_played()
    });
    let mut bounced: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for delivery in outcomes.clone().take(limit::BOUNCES_LOOKED_AT) {
        let for_good = delivery.bounce_type != Some(BounceType::Soft);
        let came_back = delivery.status == DeliveryStatus::Bounced && for_good;
        if came_back || is_refused(delivery) {
            let address = delivery.address.as_str();
            let domain = address.rsplit('@').next().unwrap_or(address);
            bounced.entry(domain).or_default().insert(address);
        }
    }
    let bounces: usize = bounced
        .values()
        .map(|addresses| addresses.len().min(limit::BOUNCES_OF_DOMAIN))
        .sum();
    let looked_at = outcomes.take(limit::COMPLAINTS_LOOKED_AT);
    let complaints = looked_at
        .filter(|delivery| delivery.status == DeliveryStatus::Complained)
        .count();
    bounces > limit::BOUNCES || complaints > limit::COMPLAINTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use postroom_core::RecipientField;
    use postroom_types::Timestamp;

    fn outcome(status: DeliveryStatus) -> DeliveryRow {
        DeliveryRow {
            tenant_id: TenantId::from_parts(1, 1),
            identity_id: IdentityId::from_parts(1, 1),
            message_id: MessageId::from_parts(1, 1),
            seq: 0,
            address: "ann@there.example".to_owned(),
            hash: [0; 16],
            base_hash: None,
            field: RecipientField::To,
            status,
            smtp_code: None,
            enhanced_code: None,
            bounce_type: None,
            reason: None,
            attempt: 1,
            updated_at: Timestamp::from_ms(0),
        }
    }

    /// Each of a domain of its own.
    fn some(count: usize, status: DeliveryStatus) -> Vec<DeliveryRow> {
        let of = |n: usize| DeliveryRow {
            address: format!("ann@there{n}.example"),
            ..outcome(status)
        };
        (0..count).map(of).collect()
    }

    #[test]
    fn a_domain_alone_and_what_passes_by_itself_pause_nobody() {
        let of_domain = |n: usize, domain: &str| DeliveryRow {
            address: format!("u{n}@{domain}"),
            ..outcome(DeliveryStatus::Bounced)
        };
        let alone: Vec<DeliveryRow> = (0..50).map(|n| of_domain(n, "evil.example")).collect();
        assert!(!are_too_many(&alone));
        let others = some(
            limit::BOUNCES - limit::BOUNCES_OF_DOMAIN,
            DeliveryStatus::Bounced,
        );
        assert!(!are_too_many(&[alone.clone(), others.clone()].concat()));
        let one_more = vec![of_domain(0, "other.example")];
        assert!(are_too_many(&[alone, others, one_more].concat()));
        let again = vec![of_domain(0, "there.example"); 50];
        assert!(!are_too_many(&again), "one address is one");
        let mut soft = some(50, DeliveryStatus::Bounced);
        for delivery in &mut soft {
            delivery.bounce_type = Some(BounceType::Soft);
        }
        assert!(!are_too_many(&soft));
    }

    #[test]
    fn an_address_refused_at_once_counts_like_one_that_came_back() {
        let refused = |code: &str| {
            let mut some = some(limit::BOUNCES + 1, DeliveryStatus::Rejected);
            for delivery in &mut some {
                delivery.enhanced_code = Some(code.to_owned());
            }
            some
        };
        assert!(are_too_many(&refused("5.1.1")));
        // The mail or its sender was not wanted, whoever was written to.
        assert!(!are_too_many(&refused("5.7.1")));
        assert!(!are_too_many(&some(50, DeliveryStatus::Rejected)));
    }

    #[test]
    fn too_many_bounces_or_complaints_among_the_latest_are_told_and_no_fewer() {
        use DeliveryStatus::{Bounced, Complained, Delivered, Queued};
        for (bad, most, window) in [
            (Bounced, limit::BOUNCES, limit::BOUNCES_LOOKED_AT),
            (Complained, limit::COMPLAINTS, limit::COMPLAINTS_LOOKED_AT),
        ] {
            assert!(!are_too_many(&some(most, bad)), "{bad:?}");
            assert!(are_too_many(&some(most + 1, bad)), "{bad:?}");
            // One of them is older than what is looked at.
            let good = some(window - most, Delivered);
            let old = [good, some(most + 1, bad)].concat();
            assert!(!are_too_many(&old), "{bad:?}");
            let young = [some(window - most - 1, Delivered), some(most + 1, bad)].concat();
            assert!(are_too_many(&young), "{bad:?}");
            // What waits is no outcome.
            let waiting = [some(window, Queued), some(most + 1, bad)].concat();
            assert!(are_too_many(&waiting), "{bad:?}");
        }
    }

    #[test]
    fn what_anybody_may_have_written_and_what_is_played_does_not_count() {
        let bounced = outcome(DeliveryStatus::Bounced);
        let unproven = DeliveryRow {
            reason: Some(format!("{}: no such user", DeliveryRow::UNPROVEN)),
            ..bounced.clone()
        };
        let played = DeliveryRow {
            address: "bounce@simulator.invalid".to_owned(),
            ..bounced
        };
        for one in [unproven, played] {
            assert!(!are_too_many(&vec![one; 2 * limit::BOUNCES]));
        }
    }
}
