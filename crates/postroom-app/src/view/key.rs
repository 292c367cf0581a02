//! An API key without its secret.

use postroom_core::KeyRow;
use postroom_types::{IdentityId, KeyId, Level, Permission, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

/// One credential as lists show it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ApiKey {
    /// The key's id.
    pub id: KeyId,
    /// What its maker called it.
    pub name: String,
    /// How wide it reaches.
    pub level: Level,
    /// `live` or `test`.
    #[schemars(extend("enum" = ["live", "test"]))]
    pub mode: String,
    /// The partner it belongs to; always null here.
    pub partner_id: Option<String>,
    /// Its tenant; null at platform level.
    pub tenant_id: Option<TenantId>,
    /// Its identity; set at identity level only.
    pub identity_id: Option<IdentityId>,
    /// What it may do.
    pub permissions: Vec<Permission>,
    /// Queues whose todos it sees and works on; null for all.
    pub queues: Option<Vec<String>>,
    /// Addresses to which it may replay events.
    pub replay_targets: Vec<String>,
    /// To whom it may write: `thread`, `known` or `anyone`; null without `messages:send`.
    #[schemars(extend("enum" = ["thread", "known", "anyone", null]))]
    pub send_scope: Option<String>,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl From<KeyRow> for ApiKey {
    fn from(row: KeyRow) -> Self {
        let sends = row.permissions.contains(&Permission::MessagesSend);
        Self {
            send_scope: sends.then(|| row.send_scope().as_str().to_owned()),
            id: row.id,
            name: row.name,
            level: row.level,
            mode: row.mode.as_str().to_owned(),
            partner_id: None,
            tenant_id: row.tenant_id,
            identity_id: row.identity_id,
            permissions: row.permissions,
            queues: row.grants.queues,
            replay_targets: row.grants.replay_targets,
            expires_at: row.expires_at,
            revoked_at: row.revoked_at,
            last_used_at: row.last_used_at,
            created_at: row.created_at,
        }
    }
}
