//! `source_set_secret`: the secret that a provider issued.

use postroom_core::{Command, Outcome, SetSourceSecret, SourceRow};
use postroom_types::{
    Dialect, ErrorCode, Level, Permission, Secret, SourceId, TenantId, Timestamp,
};

use super::sourcing::{is_agents, provider_of, sealed, source_in_reach};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    source::{Offer, check_given},
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "source_set_secret",
    title: "Give a source its secret",
    description: "Give a source the signing secret that its provider issued; an `awaiting_secret` source takes deliveries from then on. \
        With `keep_previous_for` the secret before goes on for a while, so that a rotation loses nothing. `accept_offered` takes the \
        secret that the provider itself offered at the source's address, and shows it once.",
    toolset: Toolset::Sources,
    permission: Permission::SourcesManage,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::post("/v1/sources/{source_id}/secret")],
    include: &[],
    annotations: Annotations::CHANGE,
    streams: false,
    dialect: Dialect::Events,
    errors: &[
        ErrorCode::Conflict,
        ErrorCode::NotFound,
        ErrorCode::TenantNotFound,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tenant; only a key of the whole deployment needs it.
    #[expect(dead_code, reason = "read where the scope is granted")]
    tenant_id: Option<TenantId>,
    /// The source.
    source_id: SourceId,
    /// The secret, as the provider shows it.
    #[schemars(length(min = 1, max = 4096))]
    signing_secret: Option<String>,
    /// Takes the secret that the provider offered instead of one that is given.
    #[serde(default)]
    accept_offered: bool,
    /// How long the secret before goes on: `30m`, `12h`, at most `24h`; not at all when left out.
    #[schemars(regex(pattern = "^[0-9]{1,6}[smh]$"))]
    keep_previous_for: Option<String>,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The source.
    source_id: SourceId,
    /// Its state now.
    state: String,
    /// First 12 hex digits of the secret's SHA-256.
    fingerprint: Option<String>,
    /// When it was set.
    secret_set_at: Option<Timestamp>,
    /// When the secret before stops being taken.
    previous_secret_until: Option<Timestamp>,
    /// The secret that the provider offered, to confirm it there; never shown again.
    #[serde(skip_serializing_if = "Option::is_none")]
    signing_secret: Option<String>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let refuse = |path: &str, words: &str| Failure::argument(Dialect::Events, path, words);
    let source = source_in_reach(call, input.source_id).await?.row;
    let provider = provider_of(&source)?;
    let offered = input.accept_offered;
    let secret = match (input.signing_secret, offered) {
        (Some(given), false) => {
            if source.secret_origin == postroom_core::SecretOrigin::Provider {
                check_given(provider, &given)?;
            }
            Secret::new(given.trim().to_owned())
        }
        (None, true) => {
            let offer = offered_to(call, &source)?;
            Secret::new(String::from_utf8_lossy(offer.expose()).into_owned())
        }
        _ => {
            return Err(refuse(
                "signing_secret",
                "is required, or accept_offered instead of it",
            ));
        }
    };
    let keep_previous_ms = match input.keep_previous_for.as_deref() {
        Some(text) => duration_ms(text)
            .ok_or_else(|| refuse("keep_previous_for", "is a time such as 30m or 12h"))?,
        None => 0,
    };
    let store = call.room.store();
    let command = Command::SetSourceSecret(SetSourceSecret {
        scope: *call.scope()?,
        source: source.id,
        secret: sealed(store, source.tenant_id, &secret)?,
        keep_previous_ms,
        by_agent: is_agents(call, &source.provider),
    });
    let Outcome::Source(row) = store.transact(command).await? else {
        return Err(ErrorCode::InternalError.into());
    };
    if offered {
        call.room.sources.forget_offer(&row);
    }
    let current = row.current_secret();
    Ok(Output {
        source_id: row.id,
        state: row.state.as_str().to_owned(),
        fingerprint: current.map(|secret| secret.fingerprint.clone()),
        secret_set_at: current.map(|secret| secret.set_at),
        previous_secret_until: row
            .valid_secrets(call.room.now())
            .filter_map(|secret| secret.valid_until)
            .max(),
        signing_secret: offered.then(|| secret.expose().clone()),
    })
}

/// The one secret that was offered at the source's address.
fn offered_to(call: &Call<'_>, source: &SourceRow) -> Result<Secret<Vec<u8>>, Failure> {
    let (words, advice) = match call.room.sources.offer(source) {
        Some(Offer::One(secret)) => return Ok(secret),
        Some(Offer::Several) => (
            "Different secrets were offered at the source's address, so none is taken: somebody else knows the address.",
            "Rotate the source, which gives it another address, and set the webhook up at the provider anew.",
        ),
        None => (
            "The provider has offered no secret.",
            "Set the webhook up at the provider; it calls the source's address.",
        ),
    };
    Err(Failure::new(ErrorCode::Conflict)
        .saying(words)
        .advising(advice))
}

/// `30m` in milliseconds.
fn duration_ms(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit_ms = match unit {
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_by_their_unit() {
        for (text, ms) in [
            ("90s", Some(90_000)),
            ("30m", Some(1_800_000)),
            ("24h", Some(86_400_000)),
            ("24", None),
            ("h", None),
            ("", None),
            ("é", None),
            ("-1h", None),
        ] {
            assert_eq!(duration_ms(text), ms, "{text}");
        }
    }
}
