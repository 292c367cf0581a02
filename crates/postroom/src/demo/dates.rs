//! Dates as letters write them.

use postroom_types::Timestamp;

fn utc(at: Timestamp) -> jiff::civil::DateTime {
    let instant = jiff::Timestamp::from_millisecond(at.ms()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    jiff::tz::Offset::UTC.to_datetime(instant)
}

/// As a Date header (RFC 5322 section 3.3).
pub(super) fn rfc2822(at: Timestamp) -> String {
    utc(at).strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}

/// As an iCalendar instant (RFC 5545 section 3.3.5).
pub(super) fn icalendar(at: Timestamp) -> String {
    utc(at).strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// As `2026-11-30`.
pub(super) fn iso_day(at: Timestamp) -> String {
    utc(at).strftime("%Y-%m-%d").to_string()
}

/// As `30 November 2026`.
pub(super) fn long_day(at: Timestamp) -> String {
    utc(at).strftime("%-d %B %Y").to_string()
}

/// As `30.11.2026`.
pub(super) fn dotted_day(at: Timestamp) -> String {
    utc(at).strftime("%d.%m.%Y").to_string()
}

/// The month as `November 2026`.
pub(super) fn month(at: Timestamp) -> String {
    utc(at).strftime("%B %Y").to_string()
}

/// The year in four digits.
pub(super) fn year(at: Timestamp) -> String {
    utc(at).strftime("%Y").to_string()
}
