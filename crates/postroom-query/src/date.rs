//! Days and spans in a time zone.

use jiff::{Span, civil::DateTime, tz::TimeZone};
use postroom_types::Timestamp;

use crate::{Day, DurationUnit};

/// The instant at which a day starts in a time zone, or the instant itself.
pub(crate) fn start_of(day: Day, zone: &TimeZone) -> Timestamp {
    match day {
        Day::Instant(instant) => instant,
        Day::Local(date) => resolve(date.to_datetime(jiff::civil::Time::midnight()), zone),
    }
}

/// `now` less a span: hours are exact, everything longer is counted on the calendar of the zone and
/// clamped to the end of the month.
pub(crate) fn subtract(
    now: Timestamp,
    count: u32,
    unit: DurationUnit,
    zone: &TimeZone,
) -> Timestamp {
    let count = i64::from(count);
    let span = match unit {
        DurationUnit::Hours => return now.plus_ms(count.saturating_mul(-3_600_000)),
        DurationUnit::Days => Span::new().try_days(count),
        DurationUnit::Weeks => Span::new().try_weeks(count),
        DurationUnit::Months => Span::new().try_months(count),
        DurationUnit::Years => Span::new().try_years(count),
    };
    let local = jiff::Timestamp::from_millisecond(now.ms())
        .map(|instant| zone.to_datetime(instant))
        .unwrap_or(DateTime::MIN);
    match span.and_then(|span| local.checked_sub(span)) {
        Ok(local) => resolve(local, zone),
        Err(_) => Timestamp::from_ms(i64::MIN),
    }
}

/// The instant of a local time: the first valid instant when the clock jumped over it, the earlier
/// one when it came twice.
fn resolve(local: DateTime, zone: &TimeZone) -> Timestamp {
    let ambiguous = zone.to_ambiguous_timestamp(local);
    let gap = matches!(ambiguous.offset(), jiff::tz::AmbiguousOffset::Gap { .. });
    let Ok(earlier) = ambiguous.earlier() else {
        return Timestamp::from_ms(i64::MIN);
    };
    let instant = if gap {
        zone.following(earlier)
            .next()
            .map_or(earlier, |transition| transition.timestamp())
    } else {
        earlier
    };
    Timestamp::from_ms(instant.as_millisecond())
}
