//! Subscriptions of the modern era (`subscriptions/listen`).

use std::pin::pin;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::call::first;
use crate::{Call, LocalFuture, write};

/// The `_meta` member that names the subscription: the id of the request that opened it.
pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// What a client wants to hear of, and what it is told it will hear of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Filter {
    /// Changes of the list of tools.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tools_list_changed: bool,
    /// Changes of the list of prompts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prompts_list_changed: bool,
    /// Changes of the list of resources.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub resources_list_changed: bool,
    /// URIs whose updates are wanted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_subscriptions: Vec<String>,
}

impl Filter {
    /// Whether a change falls under the filter.
    pub fn covers(&self, change: &Change) -> bool {
        match change {
            Change::Tools => self.tools_list_changed,
            Change::Prompts => self.prompts_list_changed,
            Change::Resources => self.resources_list_changed,
            Change::Resource(uri) => self.resource_subscriptions.contains(uri),
        }
    }
}

/// Something changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    /// The resource of this URI.
    Resource(String),
}

impl Change {
    /// The notification's method.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources => "notifications/resources/list_changed",
            Self::Resource(_) => "notifications/resources/updated",
        }
    }
}

/// Where the changes of one subscription come from.
pub trait Changes: Send {
    /// Waits for the next change; `None` when there will be no more, and the subscription ends.
    /// Must be safe to drop while waiting, without losing a change.
    fn next(&mut self) -> LocalFuture<'_, Option<Change>>;
}

/// An open subscription.
pub struct Subscription {
    /// The part of the filter that is served.
    pub accepted: Filter,
    /// The changes.
    pub changes: Box<dyn Changes>,
}

impl Subscription {
    /// A subscription that accepts nothing and stays silent.
    pub fn silent() -> Self {
        Self {
            accepted: Filter::default(),
            changes: Box::new(Silence),
        }
    }
}

/// No changes, for as long as the stream lives.
#[derive(Debug, Clone, Copy)]
pub struct Silence;

impl Changes for Silence {
    fn next(&mut self) -> LocalFuture<'_, Option<Change>> {
        Box::pin(std::future::pending())
    }
}

/// Serves a subscription: first what was agreed, then every change, until there are no more or the
/// exchange ends.
pub(crate) async fn run<C>(call: &Call<C>, id: &RawValue, mut subscription: Subscription) {
    let meta = json!({ SUBSCRIPTION_ID: id });
    let agreed = json!({ "_meta": meta, "notifications": subscription.accepted });
    let method = "notifications/subscriptions/acknowledged";
    if !call.link.send(write::notification(method, &agreed)) {
        return;
    }
    let mut ended = pin!(call.ended());
    loop {
        let ready = pin!(call.link.ready());
        if first(ready, ended.as_mut()).await != Some(true) {
            return;
        }
        let next = pin!(subscription.changes.next());
        let Some(Some(change)) = first(next, ended.as_mut()).await else {
            return;
        };
        if !subscription.accepted.covers(&change) {
            continue;
        }
        let mut params = Map::new();
        params.insert("_meta".to_owned(), meta.clone());
        if let Change::Resource(uri) = &change {
            params.insert("uri".to_owned(), Value::String(uri.clone()));
        }
        call.link
            .send(write::notification(change.method(), &params));
    }
}
