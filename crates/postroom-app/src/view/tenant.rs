//! A workspace.

use postroom_core::TenantRow;
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
    /// Its name for people.
    pub name: String,
    /// `live` or `test`.
    #[schemars(extend("enum" = ["live", "test"]))]
    pub mode: String,
    /// `active` or `suspended`.
    #[schemars(extend("enum" = ["active", "suspended", "erasing", "erased"]))]
    pub status: String,
    /// IANA time zone that dates in searches are read in.
    pub timezone: String,
    /// What follows a username in an address's local part.
    pub address_suffix: String,
    /// When it was made.
    pub created_at: Timestamp,
}

impl From<TenantRow> for Tenant {
    fn from(row: TenantRow) -> Self {
        Self {
            id: row.id,
            slug: row.slug,
            name: row.name,
            mode: row.mode.as_str().to_owned(),
            status: row.status.as_str().to_owned(),
            timezone: row.timezone,
            address_suffix: row.address_suffix,
            created_at: row.created_at,
        }
    }
}
