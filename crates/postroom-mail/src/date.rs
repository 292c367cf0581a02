//! Dates of mail (RFC 5322 section 3.3) as programs write them.

use mail_parser::{DateTime, HeaderValue, parsers::MessageStream};
use postroom_types::Timestamp;

/// A Date header, or the part of a Received header behind its last `;`.
pub(crate) fn read(value: &[u8]) -> Option<Timestamp> {
    let value = value.get(..1_000).unwrap_or(value);
    let text = String::from_utf8_lossy(value);
    let text = text.trim();
    let strict = has_plain_zone(text).then(|| by_library(text)).flatten();
    strict.or_else(|| by_words(text)).or_else(|| by_iso(text))
}

/// When the topmost Received header says the mail came (RFC 5321 section 4.4).
pub(crate) fn read_received(value: &[u8]) -> Option<Timestamp> {
    let at = memchr::memrchr(b';', value)?;
    read(value.get(at + 1..)?)
}

fn timestamp(date: &DateTime) -> Option<Timestamp> {
    date.is_valid()
        .then(|| Timestamp::from_ms(date.to_timestamp().saturating_mul(1_000)))
}

fn by_library(text: &str) -> Option<Timestamp> {
    let line = format!("{text}\n");
    match MessageStream::new(line.as_bytes()).parse_date() {
        HeaderValue::DateTime(date) => timestamp(&date),
        _ => None,
    }
}

fn by_iso(text: &str) -> Option<Timestamp> {
    let text = text.trim_matches('"');
    text.parse().ok().or_else(|| {
        let joined = format!("{}Z", text.replacen(' ', "T", 1));
        joined.parse().ok()
    })
}

/// Whether the date ends in a four-digit zone, possibly with a comment: the form the library reads
/// exactly.
fn has_plain_zone(text: &str) -> bool {
    let text = text.split('(').next().unwrap_or_default().trim_end();
    let zone = text.split_whitespace().next_back().unwrap_or_default();
    let digits = zone.strip_prefix(['+', '-']);
    digits.is_some_and(|digits| {
        digits.len() == 4 && digits.parse::<u16>().is_ok_and(|zone| zone < 2_400)
    }) && text.bytes().filter(|byte| *byte == b':').count() == 2
}

/// Any order of day, month name, year, time and zone; a zone that says nothing is UTC
/// (RFC 5322 section 4.3).
fn by_words(text: &str) -> Option<Timestamp> {
    let (mut day, mut month, mut year, mut time, mut zone_minutes) = (None, None, None, None, 0i64);
    let plain = without_comments(text);
    let tokens = plain.split(|c: char| c.is_whitespace() || c == ',' || c == '/');
    for token in tokens.filter(|token| !token.is_empty()).take(32) {
        if token.contains(':') && time.is_none() {
            let (clock, zone) = split_zone(token);
            time = Some(read_clock(clock)?);
            zone_minutes = zone.and_then(read_zone).unwrap_or(zone_minutes);
        } else if let Some(found) = month_of(token) {
            month = month.or(Some(found));
        } else if time.is_some() && read_zone(token).is_some() {
            zone_minutes = read_zone(token).unwrap_or(0);
        } else if let Some((a, b, c)) = dashed(token) {
            (day, month, year) = (day.or(Some(a)), month.or(Some(b)), year.or(Some(c)));
        } else if let Ok(number) = token.trim_end_matches('.').parse::<u32>() {
            match number {
                1..=31 if day.is_none() => day = Some(number),
                _ if year.is_none() => year = Some(number),
                _ => {}
            }
        } else if token.eq_ignore_ascii_case("pm") {
            time = time.map(|(h, m, s)| (if h < 12 { h + 12 } else { h }, m, s));
        }
    }
    let (hour, minute, second) = time?;
    let year = match year? {
        short @ 0..=49 => short + 2000,
        short @ 50..=999 => short + 1900,
        full => full,
    };
    let date = DateTime {
        year: u16::try_from(year).ok()?,
        month: month?,
        day: u8::try_from(day?).ok()?,
        hour,
        minute,
        second: second.min(59),
        tz_before_gmt: zone_minutes < 0,
        tz_hour: u8::try_from(zone_minutes.unsigned_abs() / 60).ok()?,
        tz_minute: u8::try_from(zone_minutes.unsigned_abs() % 60).ok()?,
    };
    timestamp(&date)
}

fn without_comments(text: &str) -> String {
    let mut depth = 0usize;
    text.chars()
        .filter(|c| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => return depth == 0,
            }
            false
        })
        .collect()
}

/// `10:00:00+0200` without the blank.
fn split_zone(token: &str) -> (&str, Option<&str>) {
    match token.find(['+', '-']) {
        Some(at) => (token.get(..at).unwrap_or_default(), token.get(at..)),
        None => (token, None),
    }
}

fn read_clock(clock: &str) -> Option<(u8, u8, u8)> {
    let mut parts = clock.split([':', '.']).map(|part| part.parse::<u8>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().flatten().unwrap_or(0);
    (hour < 24 && minute < 60).then_some((hour, minute, second))
}

/// `12-Mar-2024`
fn dashed(token: &str) -> Option<(u32, u8, u32)> {
    let mut parts = token.split('-');
    let day = parts.next()?.parse().ok()?;
    let month = month_of(parts.next()?)?;
    Some((day, month, parts.next()?.parse().ok()?))
}

fn month_of(token: &str) -> Option<u8> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let start = token.get(..3)?;
    let at = MONTHS
        .iter()
        .position(|month| start.eq_ignore_ascii_case(month))?;
    let is_word = token
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || byte == b'.');
    is_word.then_some(at as u8 + 1)
}

/// Minutes east of UTC: digits with a sign, or a name (RFC 5322 section 4.3). Zones of a day or more
/// are nonsense and count as UTC.
fn read_zone(token: &str) -> Option<i64> {
    let named = |hours: i64| Some(hours * 60);
    if let Some(digits) = token.strip_prefix(['+', '-']) {
        let digits: String = digits
            .chars()
            .filter(char::is_ascii_digit)
            .take(4)
            .collect();
        let value: i64 = digits.parse().ok()?;
        let (hours, minutes) = match digits.len() {
            1 | 2 => (value, 0),
            _ => (value / 100, value % 100),
        };
        let total = hours * 60 + minutes.min(59);
        // Nobody lives there, yet it is what the sender reckoned with, and every reader follows.
        let total = if total >= 24 * 60 { 0 } else { total };
        return Some(if token.starts_with('-') {
            -total
        } else {
            total
        });
    }
    let name = token.to_ascii_uppercase();
    // `EST5EDT` names winter and summer; the offset between them is winter's.
    let name = name.split(|c: char| c.is_ascii_digit()).next();
    match name.unwrap_or_default() {
        "UT" | "UTC" | "GMT" | "Z" | "WET" => named(0),
        "EDT" => named(-4),
        "EST" | "CDT" => named(-5),
        "CST" | "MDT" => named(-6),
        "MST" | "PDT" => named(-7),
        "PST" => named(-8),
        "CET" | "MET" | "BST" | "WEST" => named(1),
        "CEST" | "MEST" | "EET" => named(2),
        "EEST" | "MSK" => named(3),
        "JST" => named(9),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_real_mail_are_read() {
        for (text, expected) in [
            (
                "Mon, 30 Nov 2026 12:00:00 +0100",
                "2026-11-30T11:00:00.000Z",
            ),
            (
                "30 Nov 2026 12:00:00 -0000 (UTC)",
                "2026-11-30T12:00:00.000Z",
            ),
            ("Mon, 30 Nov 2026 12:00:00", "2026-11-30T12:00:00.000Z"),
            ("Mon, 30 Nov 2026 12:00 GMT", "2026-11-30T12:00:00.000Z"),
            ("Mon, 30 Nov 2026 12:00:00 EST", "2026-11-30T17:00:00.000Z"),
            ("Mon, 30 Nov 2026 12:00:00 XYZ", "2026-11-30T12:00:00.000Z"),
            ("Mon, 30 Nov 26 12:00:00 +0000", "2026-11-30T12:00:00.000Z"),
            ("Mon Nov 30 12:00:00 2026", "2026-11-30T12:00:00.000Z"),
            ("Mon Nov 30 12:00:00 CET 2026", "2026-11-30T11:00:00.000Z"),
            ("Mon, 30 Nov 2026 12:00:00+0100", "2026-11-30T11:00:00.000Z"),
            (
                "Mon, 30-Nov-2026 12:00:00 +0100",
                "2026-11-30T11:00:00.000Z",
            ),
            (
                "Mon, 30 Nov 2026 12:00:00 +9900",
                "2026-11-30T12:00:00.000Z",
            ),
            (
                "Mon, 30 Nov 2026 12:00:00 -1600",
                "2026-12-01T04:00:00.000Z",
            ),
            (
                "Mon, 30 Nov 2026 12:00:00 EST5EDT",
                "2026-11-30T17:00:00.000Z",
            ),
            (
                "Wed, 31 Dec 1969 23:00:00 -0030",
                "1969-12-31T23:30:00.000Z",
            ),
            (
                "Mon,\r\n 1\r\n Dec\r\n 1969\r\n 23:00\r\n -0030 (zone)",
                "1969-12-01T23:30:00.000Z",
            ),
            ("2026-11-30T12:00:00+01:00", "2026-11-30T11:00:00.000Z"),
            ("2026-11-30 12:00:00", "2026-11-30T12:00:00.000Z"),
            (
                "Mon, 30 Nov 2026 12:00:60 +0000",
                "2026-11-30T12:00:59.000Z",
            ),
        ] {
            let read = read(text.as_bytes()).map(|at| at.to_string());
            assert_eq!(read.as_deref(), Some(expected), "{text}");
        }
        for text in [
            "",
            "yesterday",
            "32 Nov 2026 12:00:00 +0000",
            "12:00",
            "30 Feb 2026 25:00:00",
        ] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn received_headers_end_in_a_date() {
        let value =
            b"from a (b; c) by d with ESMTP id e;\r\n\tMon, 30 Nov 2026 12:00:00 +0000 (UTC)";
        assert_eq!(
            read_received(value).map(|at| at.to_string()).as_deref(),
            Some("2026-11-30T12:00:00.000Z")
        );
    }
}
