//! `identity_create`: a new mailbox.

use std::collections::BTreeMap;

use postroom_core::{Command, CreateIdentity, NewAddress, Outcome};
use postroom_types::{Address, Dialect, ErrorCode, Level, Permission, TenantId};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::{Identity, Owner},
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "identity_create",
    title: "Create a mailbox",
    description: "Create a mailbox with its first address: give `address`, or a `username` under a `domain`. With \
        `client_id` the call can be repeated: the same values give the same mailbox.",
    toolset: Toolset::Admin,
    permission: Permission::IdentitiesWrite,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::Tenant,
    bucket: None,
    routes: &[Route::post("/v1/identities").answering(201)],
    include: &[],
    annotations: Annotations::CREATE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::AddressInvalid,
        ErrorCode::AddressReserved,
        ErrorCode::AddressTaken,
        ErrorCode::AddressUnsupported,
        ErrorCode::ClientIdConflict,
        ErrorCode::DomainUnavailable,
        ErrorCode::LocalPartTooLong,
        ErrorCode::TenantNotFound,
        ErrorCode::UsernameTaken,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Identity>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tenant; only a key of the whole deployment needs it.
    #[expect(dead_code, reason = "read where the scope is granted")]
    tenant_id: Option<TenantId>,
    /// The whole first address.
    #[schemars(length(max = 254))]
    address: Option<String>,
    /// A username instead of an address.
    #[schemars(length(min = 1, max = 64))]
    username: Option<String>,
    /// The domain that the username is under; the deployment's own without it.
    #[schemars(length(min = 1, max = 253))]
    domain: Option<String>,
    /// The name people see.
    #[schemars(length(min = 1, max = 78))]
    display_name: Option<String>,
    /// What it is for.
    #[schemars(length(min = 1, max = 64))]
    purpose: Option<String>,
    /// The person who answers for it.
    owner: Option<Owner>,
    /// Up to 16 values of your own.
    metadata: Option<BTreeMap<String, String>>,
    /// Makes the call repeatable.
    #[schemars(length(min = 1, max = 128))]
    client_id: Option<String>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Identity, Failure> {
    let address = first_address(
        call.room.hostname(),
        input.address,
        input.username,
        input.domain,
    )?;
    match &address {
        NewAddress::Address(address) => super::check_domain(call, address.domain())?,
        // Under the deployment's own name a username carries its tenant's.
        NewAddress::Username { domain, .. } if domain == call.room.hostname() => {}
        NewAddress::Username { domain, .. } => super::check_domain(call, domain)?,
    }
    let command = Command::CreateIdentity(CreateIdentity {
        tenant: call.scope()?.tenant(),
        address,
        display_name: input.display_name.unwrap_or_default(),
        purpose: input.purpose,
        owner: input.owner.map(Owner::into_row),
        metadata: input.metadata.unwrap_or_default(),
        client_id: input.client_id,
    });
    match call.room.store().transact(command).await? {
        Outcome::Identity { row, addresses, .. } => Ok(Identity::new(row, addresses)),
        _ => Err(ErrorCode::InternalError.into()),
    }
}

fn first_address(
    hostname: &str,
    address: Option<String>,
    username: Option<String>,
    domain: Option<String>,
) -> Result<NewAddress, Failure> {
    match (address, username, domain) {
        (Some(address), None, None) => Ok(NewAddress::Address(super::address_of(&address)?)),
        (None, Some(username), domain) => {
            let domain = domain.as_deref().unwrap_or(hostname);
            // The domain is read as part of an address, so that its A-label form is the same.
            let probe = Address::parse(&format!("x@{domain}"))
                .map_err(|_| Failure::invalid("domain", "is not a domain"))?;
            Ok(NewAddress::Username {
                username,
                domain: probe.domain().to_owned(),
            })
        }
        (None, None, _) => Err(Failure::invalid("address", "is required, or username")),
        (Some(_), _, _) => Err(Failure::invalid("address", "excludes username and domain")),
    }
}
