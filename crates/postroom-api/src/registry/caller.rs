//! Who calls: the holder of a key, or of the data folder.

use std::sync::Arc;

use postroom_app::{Actor, Failure, Room};
use postroom_types::{Secret, TenantId};
use tokio::sync::OnceCell;

/// A caller of the protocol.
#[derive(Debug, Clone)]
pub struct McpCaller(Arc<CallerParts>);

#[derive(Debug)]
struct CallerParts {
    /// What it may do. Of the holder of the data folder this is an outline until the room is open.
    actor: Actor,
    principal: String,
    token: Option<Secret<String>>,
    holder: Option<Holder>,
}

/// The holder of the data folder, perhaps acting as one mailbox.
#[derive(Debug)]
struct Holder {
    identity: Option<String>,
    actor: OnceCell<Actor>,
}

impl McpCaller {
    /// The holder of a key; the token is kept to ask again whether it still holds.
    pub(crate) fn with_token(actor: Actor, token: &str) -> Self {
        let principal = match (actor.key, actor.identity) {
            (Some(key), _) => key.to_string(),
            (None, Some(identity)) => format!("local:{identity}"),
            (None, None) => "local".to_owned(),
        };
        let token = Some(Secret::new(token.to_owned()));
        Self(Arc::new(CallerParts {
            actor,
            principal,
            token,
            holder: None,
        }))
    }

    /// The holder of the data folder: all of its first tenant, or as an agent of one mailbox would
    /// when `identity` names one by id or address.
    pub fn holder(identity: Option<String>) -> Self {
        let nobody = TenantId::from_parts(0, 0);
        let actor = match identity {
            Some(_) => Actor::agent_outline(nobody),
            None => Actor::local_tenant(nobody),
        };
        let holder = Some(Holder {
            identity,
            actor: OnceCell::new(),
        });
        Self(Arc::new(CallerParts {
            actor,
            principal: "local".to_owned(),
            token: None,
            holder,
        }))
    }

    /// The stable name of the credential.
    pub(super) fn principal(&self) -> &str {
        &self.0.principal
    }

    /// What the caller may list.
    pub(crate) fn actor(&self) -> &Actor {
        &self.0.actor
    }

    /// As whom the caller acts in an open room.
    pub(super) async fn acting(&self, room: &Room) -> Result<&Actor, Failure> {
        let Some(holder) = &self.0.holder else {
            return Ok(&self.0.actor);
        };
        let resolve = async || match &holder.identity {
            Some(named) => room.local_agent(named).await,
            None => Ok(Actor::local_tenant(room.default_tenant())),
        };
        holder.actor.get_or_try_init(resolve).await
    }

    pub(crate) fn token(&self) -> Option<&str> {
        self.0.token.as_ref().map(|token| token.expose().as_str())
    }
}
