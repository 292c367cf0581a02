//! What a key may do, and how wide it reaches.

use std::{fmt, str::FromStr};

/// How wide a key reaches, from one mailbox to every tenant.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Level {
    /// One identity.
    Identity,
    /// One tenant and all its identities.
    Tenant,
    /// Every tenant.
    Platform,
}

impl Level {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Tenant => "tenant",
            Self::Platform => "platform",
        }
    }
}

impl FromStr for Level {
    type Err = UnknownPermission;

    fn from_str(text: &str) -> Result<Self, UnknownPermission> {
        match text {
            "identity" => Ok(Self::Identity),
            "tenant" => Ok(Self::Tenant),
            "platform" => Ok(Self::Platform),
            _ => Err(UnknownPermission),
        }
    }
}

/// A string that names no permission or level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown permission or level")]
pub struct UnknownPermission;

macro_rules! permissions {
    ($($variant:ident = $name:literal, $narrowest:ident, $doc:literal;)*) => {
        /// One thing a key may do. A key holds an explicit list; there is no wildcard.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Permission {
            $(#[doc = $doc] $variant,)*
        }

        impl Permission {
            /// Every permission, in the order of their names here.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The narrowest level whose keys may hold it.
            pub fn narrowest_level(self) -> Level {
                match self { $(Self::$variant => Level::$narrowest,)* }
            }
        }

        impl FromStr for Permission {
            type Err = UnknownPermission;

            fn from_str(text: &str) -> Result<Self, UnknownPermission> {
                match text { $($name => Ok(Self::$variant),)* _ => Err(UnknownPermission) }
            }
        }
    };
}

permissions! {
    AttachmentsRead = "attachments:read", Identity, "Read attachment bytes and text.";
    DocumentsUse = "documents:use", Identity, "Use the block document tools.";
    EventsRead = "events:read", Identity, "Read the event log.";
    EventsReplay = "events:replay", Identity, "Replay an event to a granted target.";
    IdentitiesRead = "identities:read", Identity, "List and read identities.";
    IdentitiesWrite = "identities:write", Tenant, "Create and change identities and addresses.";
    KeysManage = "keys:manage", Tenant, "Create, list, rotate and revoke keys.";
    MessagesRead = "messages:read", Identity, "Read threads, messages and raw mail.";
    MessagesSend = "messages:send", Identity, "Send, reply and forward.";
    MessagesWrite = "messages:write", Identity, "Change labels and read state; put in raw mail.";
    PolicyWrite = "policy:write", Tenant, "Change the sending policy, the allow list and the block list.";
    QuarantineReview = "quarantine:review", Identity, "See quarantined mail.";
    SearchRead = "search:read", Identity, "Search, contacts, related, wait.";
    SourcesManage = "sources:manage", Identity, "Create and change sources.";
    SourcesRead = "sources:read", Identity, "List sources.";
    SuppressionsManage = "suppressions:manage", Tenant, "See and change whom mail is not sent to.";
    TenantsManage = "tenants:manage", Platform, "Create and change tenants.";
    TodosRead = "todos:read", Identity, "Read todos.";
    TodosWork = "todos:work", Identity, "Claim and finish todos.";
    UsageRead = "usage:read", Identity, "Read what was used of what may be used; keys of tenants and mailboxes hold it without being given it.";
}

impl Permission {
    /// What a new agent key (level identity) holds unless told otherwise.
    pub const AGENT_DEFAULT: &'static [Self] = &[
        Self::AttachmentsRead,
        Self::DocumentsUse,
        Self::EventsRead,
        Self::IdentitiesRead,
        Self::MessagesRead,
        Self::MessagesSend,
        Self::MessagesWrite,
        Self::SearchRead,
        Self::TodosRead,
        Self::TodosWork,
    ];
}

impl Permission {
    /// Whether its holder is shown text that strangers wrote: whoever reads such text can be steered by
    /// those who write it.
    pub fn shows_strangers_text(self) -> bool {
        match self {
            Self::AttachmentsRead
            | Self::EventsRead
            | Self::EventsReplay
            | Self::MessagesRead
            | Self::QuarantineReview
            | Self::SearchRead
            | Self::SourcesManage
            | Self::SourcesRead
            | Self::TodosRead
            | Self::TodosWork => true,
            Self::DocumentsUse
            | Self::IdentitiesRead
            | Self::IdentitiesWrite
            | Self::KeysManage
            | Self::MessagesSend
            | Self::MessagesWrite
            | Self::PolicyWrite
            | Self::SuppressionsManage
            | Self::TenantsManage
            | Self::UsageRead => false,
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl serde::Serialize for Permission {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for Permission {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for Permission {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Permission".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names: Vec<&str> = Self::ALL
            .iter()
            .map(|permission| permission.as_str())
            .collect();
        schemars::json_schema!({"type": "string", "enum": names})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_and_names_are_sorted() {
        for permission in Permission::ALL {
            assert_eq!(permission.as_str().parse(), Ok(*permission));
        }
        assert!(Permission::ALL.is_sorted_by_key(|permission| permission.as_str()));
    }

    #[test]
    fn an_agent_key_may_hold_its_defaults() {
        assert!(
            Permission::AGENT_DEFAULT
                .iter()
                .all(|p| p.narrowest_level() == Level::Identity)
        );
    }
}
