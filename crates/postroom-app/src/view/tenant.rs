//! A workspace.

use postroom_types::{TenantId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

/// One tenant.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Tenant {
    /// The tenant's id.
    pub id: TenantId,
    /// Its short name, unique in the deployment.
    pub slug: String,
    /// `live` or `test`.
    #[schemars(extend("enum" = ["live", "test"]))]
    pub mode: String,
    /// `active` or `suspended`.
    #[schemars(extend("enum" = ["active", "suspended", "erasing", "erased"]))]
    pub status: String,
    /// IANA time zone that dates in searches are read in.
    pub timezone: String,
    /// When it was made.
    pub created_at: Timestamp,
}
