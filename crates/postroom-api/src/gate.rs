//! Who may use the protocol's endpoint, and how often.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};
use postroom_app::{Failure, Room, rate::Bucket};
use postroom_mcp_transport::{Denial, Gate};
use postroom_types::{ErrorCode, Level, Secret};

use crate::{McpCaller, guard};

/// Authenticates by the room's keys and charges the room's buckets.
pub(crate) struct RoomGate {
    room: Arc<Room>,
    local_key: Option<Arc<Secret<String>>>,
}

impl RoomGate {
    pub(crate) fn new(room: Arc<Room>, local_key: Option<Arc<Secret<String>>>) -> Self {
        Self { room, local_key }
    }

    fn denial(&self, failure: Failure) -> Denial {
        let mut denial = Denial::new(failure.code, self.request_id());
        if !failure.details.is_empty() {
            denial.details = Some(serde_json::Value::Object(failure.details));
        }
        if let Some(seconds) = failure.retry_after_seconds {
            denial.headers.insert(
                HeaderName::from_static("ratelimit-reset"),
                HeaderValue::from(seconds),
            );
        }
        denial.retry_after_s = failure.retry_after_seconds;
        denial
    }
}

impl Gate for RoomGate {
    type Caller = McpCaller;

    async fn admit(&self, credential: Option<&str>) -> Result<McpCaller, Denial> {
        let token = credential.ok_or_else(|| self.denial(ErrorCode::Unauthenticated.into()))?;
        let actor =
            crate::authenticate(&self.room, self.local_key.as_deref(), token, Level::Tenant)
                .await
                .map_err(|failure| self.denial(failure))?;
        Ok(McpCaller::with_token(actor, token))
    }

    fn charge(&self, caller: &McpCaller) -> Result<HeaderMap, Denial> {
        let mut headers = HeaderMap::new();
        headers.insert(
            HeaderName::from_static("ratelimit-limit"),
            HeaderValue::from(self.room.rates().per_minute(Bucket::Key)),
        );
        match self.room.charge(caller.actor()) {
            Ok(()) => Ok(headers),
            Err(failure) => {
                let mut denial = self.denial(failure);
                denial.headers.extend(headers);
                Err(denial)
            }
        }
    }

    async fn still_holds(&self, caller: &McpCaller) -> bool {
        match caller.token() {
            // A store that cannot answer for a moment ends no stream.
            Some(token) => !matches!(
                crate::authenticate(&self.room, self.local_key.as_deref(), token, Level::Tenant).await,
                Err(failure) if failure.code.http_status() == 401
            ),
            None => true,
        }
    }

    fn request_id(&self) -> String {
        guard::request_id(&self.room).to_string()
    }
}
