//! Signing keys that stand behind a URL, and confirmations that are a visit to one.

use postroom_net::egress::{Purpose, Request};
use postroom_webhook::{Fetched, KeyNeeded};

use super::super::Room;

impl Room {
    /// A key that a delivery needs: out of memory, else fetched through the guard. The URL has
    /// passed the provider's own host rule.
    pub(super) async fn signing_key(&self, needed: &KeyNeeded) -> Option<Fetched> {
        let now = self.now();
        if let Some(key) = self.sources.key(&needed.url, now) {
            return Some(key);
        }
        let request = Request::get(needed.url.as_str(), Purpose::Certificate);
        let answer = self.egress.send(request).await.ok()?;
        if answer.status != 200 || !answer.complete {
            tracing::warn!(status = answer.status, "a signing key was not given");
            return None;
        }
        let key = Fetched {
            url: needed.url.clone(),
            content: answer.body.to_vec(),
        };
        self.sources.keep_key(key.clone(), now);
        Some(key)
    }

    /// Visits the URL that confirms a subscription; it has passed the provider's own host rule.
    pub(super) async fn confirm(&self, url: String) -> bool {
        let request = Request::get(url, Purpose::Confirmation);
        match self.egress.send(request).await {
            Ok(answer) => (200..300).contains(&answer.status),
            Err(_) => false,
        }
    }
}
