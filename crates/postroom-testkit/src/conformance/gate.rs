//! One key, or none.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use axum::http::HeaderMap;
use postroom_mcp_transport::{Denial, Gate};
use postroom_types::ErrorCode;

use super::Visiting;

/// Admits whoever holds the key; without a key, everybody.
#[derive(Debug, Default)]
pub struct KeyGate {
    key: Option<String>,
    revoked: AtomicBool,
    budget: Option<AtomicU64>,
    numbers: AtomicU64,
}

impl KeyGate {
    /// A gate for a key.
    pub fn new(key: Option<String>) -> Self {
        Self {
            key,
            ..Self::default()
        }
    }

    /// Admits only so many requests.
    #[must_use]
    pub fn with_budget(mut self, requests: u64) -> Self {
        self.budget = Some(AtomicU64::new(requests));
        self
    }

    /// From now on the key no longer holds.
    pub fn revoke(&self) {
        self.revoked.store(true, Ordering::Relaxed);
    }

    fn denial(&self, code: ErrorCode) -> Denial {
        Denial::new(code, self.request_id())
    }
}

impl Gate for KeyGate {
    type Caller = Visiting;

    async fn admit(&self, credential: Option<&str>) -> Result<Visiting, Denial> {
        if self.revoked.load(Ordering::Relaxed) {
            return Err(self.denial(ErrorCode::KeyRevoked));
        }
        match &self.key {
            Some(key) if credential != Some(key) => Err(self.denial(ErrorCode::Unauthenticated)),
            _ => Ok(Visiting(credential.unwrap_or("anybody").to_owned())),
        }
    }

    fn charge(&self, _caller: &Visiting) -> Result<HeaderMap, Denial> {
        let Some(budget) = &self.budget else {
            return Ok(HeaderMap::new());
        };
        let taken = budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(1)
        });
        match taken {
            Ok(_) => Ok(HeaderMap::new()),
            Err(_) => Err(Denial {
                retry_after_s: Some(60),
                ..self.denial(ErrorCode::RateLimited)
            }),
        }
    }

    async fn still_holds(&self, _caller: &Visiting) -> bool {
        !self.revoked.load(Ordering::Relaxed)
    }

    fn request_id(&self) -> String {
        format!("req_{}", self.numbers.fetch_add(1, Ordering::Relaxed))
    }
}
