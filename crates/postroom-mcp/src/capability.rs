//! What a server says about itself.

use serde::Serialize;
use serde_json::{Map, Value, json};

/// Name and version of a server (`Implementation` in the protocol).
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerInfo {
    /// Programmatic name.
    pub name: String,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Version.
    pub version: String,
}

/// What a server offers. The default offers nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Tools, and whether changes of their list are announced.
    pub tools: Option<ListChanges>,
    /// Prompts, and whether changes of their list are announced.
    pub prompts: Option<ListChanges>,
    /// Resources, and whether changes of their list are announced.
    pub resources: Option<ListChanges>,
    /// Updates of single resources. In the legacy era there is no stream to push them on:
    /// `resources/subscribe` is acknowledged only.
    pub resource_updates: bool,
    /// Completion of arguments.
    pub completions: bool,
    /// Log messages (deprecated in the modern era).
    pub logging: bool,
}

/// Whether changes of a list are announced.
pub type ListChanges = bool;

impl Capabilities {
    /// Whether there is anything to subscribe to.
    pub(crate) fn announces(self) -> bool {
        let lists = [self.tools, self.prompts, self.resources];
        self.resource_updates || lists.contains(&Some(true))
    }

    /// As `ServerCapabilities` of the protocol.
    pub(crate) fn to_json(self) -> Value {
        let mut object = Map::new();
        let mut lists = |name: &str, changes: Option<ListChanges>| {
            if let Some(changes) = changes {
                object.insert(name.to_owned(), json!({ "listChanged": changes }));
            }
        };
        lists("tools", self.tools);
        lists("prompts", self.prompts);
        if let Some(changes) = self.resources {
            let resources = json!({ "listChanged": changes, "subscribe": self.resource_updates });
            object.insert("resources".to_owned(), resources);
        }
        if self.completions {
            object.insert("completions".to_owned(), json!({}));
        }
        if self.logging {
            object.insert("logging".to_owned(), json!({}));
        }
        Value::Object(object)
    }
}
