//! `tenant_create`: a new workspace.

use postroom_core::{Command, CreateTenant, Mode, Outcome};
use postroom_types::{Dialect, ErrorCode, Level, Permission};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::Tenant,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "tenant_create",
    title: "Create a tenant",
    description: "Create a workspace with mailboxes, keys and limits of its own.",
    toolset: Toolset::Admin,
    permission: Permission::TenantsManage,
    levels: &[Level::Platform],
    scope: ScopeRule::Platform,
    bucket: None,
    routes: &[Route::post("/v1/tenants").answering(201)],
    include: &[],
    annotations: Annotations::CREATE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::SlugTaken],
    input: schema::input::<Input>,
    output: schema::output::<Tenant>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// A short name, unique in the deployment.
    #[schemars(regex(pattern = "^[a-z0-9][a-z0-9-]{1,31}$"))]
    slug: String,
    /// A name for people; the slug without it.
    #[serde(default)]
    #[schemars(length(max = 78))]
    name: Option<String>,
    /// Live, or test: nothing of a test tenant ever leaves the deployment.
    #[serde(default)]
    mode: TenantMode,
    /// IANA time zone that dates in searches are read in.
    #[serde(default = "default_timezone")]
    #[schemars(length(max = 64))]
    timezone: String,
    /// What follows usernames in addresses; a dot and the slug without it.
    #[schemars(length(max = 40))]
    address_suffix: Option<String>,
}

/// Whether a tenant or key is for real mail.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TenantMode {
    /// Real mail.
    #[default]
    Live,
    /// Local and simulated recipients only.
    Test,
}

impl From<TenantMode> for Mode {
    fn from(mode: TenantMode) -> Self {
        match mode {
            TenantMode::Live => Self::Live,
            TenantMode::Test => Self::Test,
        }
    }
}

fn default_timezone() -> String {
    "UTC".to_owned()
}

/// Refuses what is no time zone.
///
/// # Errors
/// `invalid_request` that names the argument.
pub(super) fn check_timezone(name: &str) -> Result<(), Failure> {
    match jiff::tz::TimeZone::get(name) {
        Ok(_) => Ok(()),
        Err(_) => Err(Failure::invalid(
            "timezone",
            "is not a time zone of the IANA database",
        )),
    }
}

async fn run(call: &Call<'_>, input: Input) -> Result<Tenant, Failure> {
    check_timezone(&input.timezone)?;
    let command = Command::CreateTenant(CreateTenant {
        slug: input.slug,
        name: input.name.unwrap_or_default(),
        mode: input.mode.into(),
        timezone: input.timezone,
        address_suffix: input.address_suffix,
    });
    match call.room.store().transact(command).await? {
        Outcome::Tenant(row) => Ok(row.into()),
        _ => Err(ErrorCode::InternalError.into()),
    }
}
