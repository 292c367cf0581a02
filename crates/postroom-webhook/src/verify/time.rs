//! The signed time.

use postroom_types::Timestamp;

use super::reading::Reading;
use crate::{
    Reason, Rejection,
    scheme::{TimeRule, Unit},
};

/// An instant as text of a unit. Integers are digits and nothing else: a fraction, a sign or an
/// exponent would be read differently by whoever signed it.
pub(crate) fn parse(text: &str, unit: Unit) -> Option<Timestamp> {
    let integer = || {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<i64>().ok()).flatten()
    };
    match unit {
        Unit::Seconds => integer()
            .and_then(|seconds| seconds.checked_mul(1000))
            .map(Timestamp::from_ms),
        Unit::Millis => integer().map(Timestamp::from_ms),
        Unit::Rfc3339 => text.parse().ok(),
    }
}

/// Clock minus signed time in whole seconds, if the scheme has a time. Refused when it is
/// further away than the tolerance, on either side: the source's own, else the provider's, else `asked_s`
/// for what is received now.
pub(super) fn check(
    reading: &Reading<'_>,
    rule: &TimeRule,
    asked_s: Option<u32>,
) -> Result<Option<i64>, Rejection> {
    let options = reading.options;
    let asked_s = asked_s.filter(|_| !options.recorded);
    let tolerance_s = options.tolerance_s.or(rule.tolerance_s).or(asked_s);
    let text = reading.required(rule.from)?;
    let Some(signed) = parse(&text, rule.unit) else {
        return Err(Rejection::new(
            Reason::MalformedSignature,
            "unreadable_timestamp",
            match rule.unit {
                Unit::Seconds => "The timestamp is not Unix seconds in digits.",
                Unit::Millis => "The timestamp is not Unix milliseconds in digits.",
                Unit::Rfc3339 => "The timestamp is not RFC 3339.",
            },
        ));
    };
    let second = |instant: Timestamp| instant.ms().div_euclid(1000);
    let skew_s = second(reading.options.now).saturating_sub(second(signed));
    let Some(tolerance_s) = tolerance_s else {
        return Ok(Some(skew_s));
    };
    if skew_s.unsigned_abs() <= u64::from(tolerance_s) {
        return Ok(Some(skew_s));
    }
    let (code, side) = if skew_s > 0 {
        ("timestamp_too_old", "older than")
    } else {
        ("timestamp_too_new", "ahead of")
    };
    let mut rejection = Rejection::new(
        Reason::StaleTimestamp,
        code,
        format!(
            "The signed time is {} s {side} our clock, {tolerance_s} s are allowed; compare the clocks.",
            skew_s.unsigned_abs()
        ),
    );
    rejection.skew_s = Some(skew_s);
    Err(rejection)
}
