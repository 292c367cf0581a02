//! What was used today, and when today ends.

use jiff::{civil::Time, tz::TimeZone};
use postroom_core::UsageDay;
use postroom_store::read;
use postroom_types::{ErrorCode, IdentityId, Reach, TenantScope, Timestamp};

use super::policy;
use crate::{
    Failure,
    operation::Call,
    view::{Cap, Feature, Plan, Topups, Usage},
};

/// The day of the tenant's time zone.
pub(in crate::op) async fn today(call: &Call<'_>) -> Result<UsageDay, Failure> {
    let tenant = read::tenant(call.room.store(), call.scope()?)
        .await?
        .ok_or(ErrorCode::TenantNotFound)?;
    Ok(day(call.now(), &tenant.timezone))
}

/// The day of an instant in a time zone; one that is not known is UTC.
fn day(now: Timestamp, zone: &str) -> UsageDay {
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    let instant = jiff::Timestamp::from_millisecond(now.ms()).unwrap_or_default();
    let date = zone.to_datetime(instant).date();
    let ends = date.tomorrow().and_then(|next| {
        let midnight = next.to_datetime(Time::midnight());
        // Where the clocks go over midnight, the day ends at the first instant of the next.
        let end = zone.to_ambiguous_timestamp(midnight).compatible()?;
        Ok(end.as_millisecond())
    });
    UsageDay {
        date: date.to_string(),
        ends_at: Timestamp::from_ms(ends.unwrap_or(now.ms())),
    }
}

/// Usage of the tenant, and the caps that bind the caller.
pub(in crate::op) async fn of(call: &Call<'_>) -> Result<Usage, Failure> {
    let (store, scope) = (call.room.store(), call.scope()?);
    let today = today(call).await?;
    let rules = policy::in_force(call).await?;
    let whole = scope_of_tenant(call)?;
    let (taken, sends) = counted(call, &whole, None, &today).await?;
    let mut caps = Vec::new();
    if let Some(identity) = call.identity_if_any() {
        let own = read::identity(store, scope, identity)
            .await?
            .ok_or(ErrorCode::IdentityNotFound)?;
        let most = own
            .row
            .send_policy
            .daily_cap
            .unwrap_or(rules.identity_daily_send_cap)
            .min(rules.identity_daily_send_cap);
        let (own, _) = counted(call, &whole, Some(identity), &today).await?;
        caps.push(cap("identity", most, own, today.ends_at));
    }
    let most = rules.tenant_daily_send_cap;
    caps.push(cap("tenant", most, taken, today.ends_at));
    let counts = read::counts(store, &whole).await?;
    let feature = |name: &str, used: u64, resets_at: Option<Timestamp>| Feature {
        feature: name.to_owned(),
        granted: None,
        used,
        remaining: None,
        unlimited: true,
        resets_at,
    };
    Ok(Usage {
        billing: "disabled".to_owned(),
        plan: Plan {
            plan_id: "self_hosted".to_owned(),
            status: "active".to_owned(),
            current_period_end: None,
            cancel_at_period_end: false,
        },
        features: vec![
            feature("inboxes", counts.identities, None),
            feature("sends", sends, Some(today.ends_at)),
            feature("triage", 0, None),
        ],
        topups: Topups::default(),
        plans: Vec::new(),
        caps,
    })
}

/// What counts towards a cap today, and what transports took.
async fn counted(
    call: &Call<'_>,
    scope: &TenantScope,
    identity: Option<IdentityId>,
    today: &UsageDay,
) -> Result<(u64, u64), Failure> {
    let store = call.room.store();
    let days = read::usage(store, scope, identity, &today.date, &today.date).await?;
    Ok(days.first().map_or((0, 0), |day| (day.used(), day.sends)))
}

/// The counters of a tenant are for each of its keys to see.
fn scope_of_tenant(call: &Call<'_>) -> Result<TenantScope, Failure> {
    let tenant = call.scope()?.tenant();
    Ok(TenantScope::granted(tenant, Reach::Tenant))
}

fn cap(cap: &str, limit: u64, used: u64, resets_at: Timestamp) -> Cap {
    Cap {
        cap: cap.to_owned(),
        limit,
        used,
        remaining: limit.saturating_sub(used),
        resets_at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_that_of_the_time_zone_and_ends_at_its_midnight() {
        for (now, zone, date, ends) in [
            (
                "2026-11-30T23:30:00Z",
                "UTC",
                "2026-11-30",
                "2026-12-01T00:00:00Z",
            ),
            (
                "2026-11-30T23:30:00Z",
                "Europe/Berlin",
                "2026-12-01",
                "2026-12-01T23:00:00Z",
            ),
            (
                "2026-11-30T23:30:00Z",
                "America/New_York",
                "2026-11-30",
                "2026-12-01T05:00:00Z",
            ),
            // The clocks go back: a day of 25 hours.
            (
                "2026-10-25T00:30:00Z",
                "Europe/Berlin",
                "2026-10-25",
                "2026-10-25T23:00:00Z",
            ),
            (
                "2026-11-30T23:30:00Z",
                "Nowhere/AtAll",
                "2026-11-30",
                "2026-12-01T00:00:00Z",
            ),
        ] {
            let found = day(now.parse().expect("an instant"), zone);
            assert_eq!(found.date, date, "{zone}");
            assert_eq!(found.ends_at, ends.parse().expect("an instant"), "{zone}");
        }
    }
}
