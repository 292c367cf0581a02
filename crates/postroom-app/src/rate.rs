//! Rate buckets: windows of one minute that begin with their first request; for what comes in
//! bursts, a rate per second with a burst.
//!
//! A window counts exactly, so the request after the last allowed one is refused whatever the
//! pace, and the end of the window is a fact that a refused caller can be told.

use std::{collections::HashMap, hash::Hash, sync::Mutex};

use postroom_types::{ErrorCode, IdentityId, KeyId, SourceId, TenantId, Timestamp, limit};

use crate::{Actor, Failure, Room};

const WINDOW_MS: i64 = 60_000;
/// Windows kept before the ended ones are swept out: callers of the last minute are far fewer.
const WINDOWS_KEPT: usize = 4_096;

/// A rate bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bucket {
    /// Every request of one key.
    Key,
    /// Every request of one tenant's keys.
    Tenant,
    /// Searches, related mail and contacts of one key.
    Search,
    /// Raw mails that one key puts in, instead of the two first.
    Ingest,
    /// Replays of one key, per second.
    Replay,
    /// Mails that one mailbox sends.
    Send,
}

impl Bucket {
    /// The name in `details.bucket`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Tenant => "tenant",
            Self::Search => "search",
            Self::Ingest => "ingest",
            Self::Replay => "replay",
            Self::Send => "send",
        }
    }
}

/// Requests per minute that each bucket allows (per second where it says so), as the operator set
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimits {
    /// Of one key.
    pub key: u32,
    /// Of one tenant's keys together.
    pub tenant: u32,
    /// Searches of one key.
    pub search: u32,
    /// Raw mails that one key puts in.
    pub ingest: u32,
    /// Replays of one key, per second; four times as many at once.
    pub replay: u32,
    /// Deliveries of one source, per second; twice as many at once.
    pub source: u32,
    /// Mails that one mailbox sends.
    pub send: u32,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self {
            key: limit::RATE_KEY_PER_MINUTE,
            tenant: limit::RATE_TENANT_PER_MINUTE,
            search: limit::RATE_SEARCH_PER_MINUTE,
            ingest: limit::RATE_INGEST_PER_MINUTE,
            replay: limit::RATE_REPLAY_PER_SECOND,
            source: limit::RATE_SOURCE_PER_SECOND,
            send: limit::RATE_SEND_PER_MINUTE,
        }
    }
}

/// The buckets of the process.
#[derive(Debug, Default)]
pub struct Rates {
    limits: RateLimits,
    keys: Windows<KeyId>,
    tenants: Windows<TenantId>,
    searches: Windows<KeyId>,
    ingests: Windows<KeyId>,
    replays: Bursts<KeyId>,
    sources: Bursts<SourceId>,
    sends: Windows<IdentityId>,
    uses: Windows<KeyId>,
}

impl Rates {
    /// Empty buckets of these sizes.
    pub fn new(limits: RateLimits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Requests per window, the value of `RateLimit-Limit`.
    pub fn per_minute(&self, bucket: Bucket) -> u32 {
        match bucket {
            Bucket::Key => self.limits.key,
            Bucket::Tenant => self.limits.tenant,
            Bucket::Search => self.limits.search,
            Bucket::Ingest => self.limits.ingest,
            Bucket::Replay => self.limits.replay.saturating_mul(60),
            Bucket::Send => self.limits.send,
        }
    }

    /// Counts one request of `actor`. A command on this machine is not counted: whoever may read
    /// the data folder could go round the server, and an import there is thousands of requests.
    ///
    /// # Errors
    /// `rate_limited` with `details.bucket` and the seconds to the window's end.
    pub fn charge(&self, actor: &Actor, bucket: Bucket, now: Timestamp) -> Result<(), Failure> {
        self.charge_as(actor, actor.identity, bucket, now)
    }

    /// Counts one request of `actor` that acts as `identity`.
    ///
    /// # Errors
    /// As [`Rates::charge`].
    pub(crate) fn charge_as(
        &self,
        actor: &Actor,
        identity: Option<IdentityId>,
        bucket: Bucket,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let Some(key) = actor.key else { return Ok(()) };
        let limit = self.per_minute(bucket);
        let taken = match bucket {
            Bucket::Key => self.keys.take(key, limit, now),
            Bucket::Search => self.searches.take(key, limit, now),
            Bucket::Ingest => self.ingests.take(key, limit, now),
            Bucket::Send => match identity {
                Some(identity) => self.sends.take(identity, limit, now),
                None => Ok(()),
            },
            Bucket::Replay => {
                let per_second = self.limits.replay;
                self.replays
                    .take(key, per_second, replay_burst(per_second), now)
            }
            Bucket::Tenant => match actor.tenant {
                Some(tenant) => self.tenants.take(tenant, limit, now),
                None => Ok(()),
            },
        };
        taken.map_err(|seconds| {
            let mut failure = Failure::new(ErrorCode::RateLimited).with("bucket", bucket.as_str());
            failure.retry_after_seconds = Some(seconds);
            failure
        })
    }
}

impl Rates {
    /// Counts one delivery of a source, or says how many seconds until the next one is taken.
    pub(crate) fn charge_source(&self, source: SourceId, now: Timestamp) -> Result<(), u64> {
        let per_second = self.limits.source;
        self.sources
            .take(source, per_second, source_burst(per_second), now)
    }

    /// Whether this is the first use of a key in its minute.
    pub(crate) fn first_use_this_minute(&self, key: KeyId, now: Timestamp) -> bool {
        self.uses.take(key, 1, now).is_ok()
    }
}

impl Room {
    /// Counts one request at the transport: once per REST request and once per MCP request, never
    /// again for the operation inside it.
    ///
    /// # Errors
    /// `rate_limited`, bucket `key` or `tenant`.
    pub fn charge(&self, actor: &Actor) -> Result<(), Failure> {
        let now = self.now();
        self.rates().charge(actor, Bucket::Key, now)?;
        self.rates().charge(actor, Bucket::Tenant, now)
    }

    /// Counts one raw mail that is put in, instead of [`Room::charge`]: an archive is thousands of
    /// mails and no reason to stop the agents of its tenant.
    ///
    /// # Errors
    /// `rate_limited`, bucket `ingest`.
    pub fn charge_ingest(&self, actor: &Actor) -> Result<(), Failure> {
        self.rates().charge(actor, Bucket::Ingest, self.now())
    }
}

#[derive(Debug)]
struct Windows<K>(Mutex<HashMap<K, Window>>);

#[derive(Debug, Clone, Copy)]
struct Window {
    began: Timestamp,
    used: u32,
}

impl<K> Default for Windows<K> {
    fn default() -> Self {
        Self(Mutex::new(HashMap::new()))
    }
}

impl<K: Eq + Hash> Windows<K> {
    /// Takes one of `limit`, or says how many seconds until the window ends.
    fn take(&self, key: K, limit: u32, now: Timestamp) -> Result<(), u64> {
        let mut windows = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if windows.len() >= WINDOWS_KEPT {
            windows.retain(|_, window| window.open_at(now));
        }
        let fresh = Window {
            began: now,
            used: 0,
        };
        let window = windows.entry(key).or_insert(fresh);
        if !window.open_at(now) {
            *window = fresh;
        }
        if window.used < limit {
            window.used += 1;
            return Ok(());
        }
        let left_ms = window.began.ms() + WINDOW_MS - now.ms();
        Err(u64::try_from(left_ms).unwrap_or(0).div_ceil(1_000).max(1))
    }
}

impl Window {
    /// A clock that was set back begins a new window rather than prolonging this one.
    fn open_at(&self, now: Timestamp) -> bool {
        (0..WINDOW_MS).contains(&(now.ms() - self.began.ms()))
    }
}

/// Replays at once, in the proportion of the limits.
fn replay_burst(per_second: u32) -> u32 {
    per_second.saturating_mul(limit::RATE_REPLAY_BURST / limit::RATE_REPLAY_PER_SECOND)
}

/// Deliveries at once, in the proportion of the limits.
fn source_burst(per_second: u32) -> u32 {
    per_second.saturating_mul(limit::RATE_SOURCE_BURST / limit::RATE_SOURCE_PER_SECOND)
}

const SECOND_US: i64 = 1_000_000;

/// A rate with a burst: for each key the instant, in microseconds, at which its bucket is full
/// again.
#[derive(Debug)]
struct Bursts<K>(Mutex<HashMap<K, i64>>);

impl<K> Default for Bursts<K> {
    fn default() -> Self {
        Self(Mutex::new(HashMap::new()))
    }
}

impl<K: Eq + Hash> Bursts<K> {
    /// Takes one of `per_second`, at most `burst` at once, or says how many seconds until the next.
    fn take(&self, key: K, per_second: u32, burst: u32, now: Timestamp) -> Result<(), u64> {
        let each_us = (SECOND_US / i64::from(per_second.max(1))).max(1);
        let whole_us = each_us.saturating_mul(i64::from(burst.max(1)));
        let now_us = now.ms().saturating_mul(1_000);
        let mut buckets = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if buckets.len() >= WINDOWS_KEPT {
            buckets.retain(|_, full_at| *full_at > now_us);
        }
        let full_at = buckets.entry(key).or_insert(now_us);
        // Neither the past nor a clock that was set back counts.
        *full_at = (*full_at).clamp(now_us, now_us.saturating_add(whole_us));
        let next = full_at.saturating_add(each_us);
        let over_us = next - now_us - whole_us;
        if over_us > 0 {
            let seconds = u64::try_from(over_us).unwrap_or(0);
            return Err(seconds.div_ceil(SECOND_US.unsigned_abs()).max(1));
        }
        *full_at = next;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    #[test]
    fn the_last_allowed_passes_and_the_next_is_told_when_the_window_ends() {
        let windows = Windows::default();
        for _ in 0..600 {
            assert_eq!(windows.take(1, 600, at(0)), Ok(()));
        }
        assert_eq!(windows.take(1, 600, at(20_000)), Err(40));
        assert_eq!(windows.take(2, 600, at(20_000)), Ok(()));
        assert_eq!(windows.take(1, 600, at(59_999)), Err(1));
        assert_eq!(windows.take(1, 600, at(60_000)), Ok(()));
    }

    #[test]
    fn a_burst_passes_and_then_the_rate_holds() {
        let bursts = Bursts::default();
        for _ in 0..100 {
            assert_eq!(bursts.take(1, 50, 100, at(0)), Ok(()));
        }
        assert_eq!(bursts.take(1, 50, 100, at(0)), Err(1));
        assert_eq!(bursts.take(2, 50, 100, at(0)), Ok(()));
        assert_eq!(bursts.take(1, 50, 100, at(19)), Err(1));
        assert_eq!(bursts.take(1, 50, 100, at(20)), Ok(()));
        assert_eq!(bursts.take(1, 50, 100, at(20)), Err(1));
        // A second brings fifty more.
        for _ in 0..50 {
            assert_eq!(bursts.take(1, 50, 100, at(1_020)), Ok(()));
        }
        assert_eq!(bursts.take(1, 50, 100, at(1_020)), Err(1));
        // A clock that was set back does not lock anybody out.
        assert_eq!(bursts.take(1, 50, 100, at(-100_000)), Err(1));
        assert_eq!(bursts.take(1, 50, 100, at(-99_980)), Ok(()));
    }

    #[test]
    fn windows_that_ended_are_swept_out() {
        let windows = Windows::default();
        for key in 0..WINDOWS_KEPT {
            assert_eq!(windows.take(key, 1, at(0)), Ok(()));
        }
        assert_eq!(windows.take(usize::MAX, 1, at(60_000)), Ok(()));
        assert_eq!(windows.0.lock().expect("lock").len(), 1);
    }
}
