//! The process clock, the one place that reads it.

use postroom_types::Timestamp;

/// Where the time comes from.
pub trait Clock: Send + Sync + 'static {
    /// The present instant.
    fn now(&self) -> Timestamp;
}

/// The operating system's time of day.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the clock"
    )]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// A point on a clock that never goes back, for durations.
#[expect(
    clippy::disallowed_methods,
    reason = "durations of calls are measured here only"
)]
pub fn monotonic() -> std::time::Instant {
    std::time::Instant::now()
}
