//! The process clock, the one place that reads it.

use postroom_types::Timestamp;

/// The operating system's time of day.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the clock"
)]
pub fn now() -> Timestamp {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A point on a clock that never goes back, for durations.
#[expect(
    clippy::disallowed_methods,
    reason = "durations of calls are measured here only"
)]
pub fn monotonic() -> std::time::Instant {
    std::time::Instant::now()
}
