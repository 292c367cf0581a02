//! Randomness of the process, the one place that asks the operating system for it.

use postroom_types::RequestId;

use crate::Failure;
use postroom_types::{ErrorCode, Timestamp};

/// `N` random bytes.
///
/// # Errors
/// `unavailable` when the operating system gives none.
pub fn bytes<const N: usize>() -> Result<[u8; N], Failure> {
    let mut out = [0; N];
    getrandom::fill(&mut out).map_err(|_| Failure::new(ErrorCode::Unavailable))?;
    Ok(out)
}

/// 128 random bits, for ids.
///
/// # Errors
/// `unavailable` when the operating system gives none.
pub fn bits() -> Result<u128, Failure> {
    bytes::<16>().map(u128::from_le_bytes)
}

/// A new request id. Without randomness it still names the millisecond.
pub fn request_id(now: Timestamp) -> RequestId {
    RequestId::from_parts(now.ulid_ms(), bits().unwrap_or(0))
}
