//! A webhook source of a server under test, and the work that it makes.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::{bench::Http, server};

/// A source whose deliveries are signed as GitHub signs.
pub(crate) struct Source {
    /// Where deliveries go.
    pub(crate) url: String,
    /// What they are signed with.
    pub(crate) secret: String,
    tenant: String,
}

impl Source {
    /// Creates one in the first tenant of a running server.
    pub(crate) fn create(ready: &Value, data: &Path) -> Result<Self> {
        let mut client = client(ready, data)?;
        let tenants = client.call("GET", "/v1/tenants", "")?;
        let tenant = tenants["data"][0]["id"].as_str().context("no tenant")?;
        let wanted = json!({
            "tenant_id": tenant,
            "source_type": "github",
            "target_queue": "bench",
            "trusted_actors": {"allow_all": true},
        });
        let made = client.call("POST", "/v1/sources", &wanted.to_string())?;
        Ok(Self {
            url: server::text(&made, "ingest_url")?.to_owned(),
            secret: server::text(&made, "signing_secret")?.to_owned(),
            tenant: tenant.to_owned(),
        })
    }

    /// Claims and completes everything in its queue on one connection; gives the number that each
    /// delivery carries, in the order in which they were offered.
    pub(crate) fn drain(&self, ready: &Value, data: &Path) -> Result<Vec<u64>> {
        let mut client = client(ready, data)?;
        let claim = json!({"tenant_id": self.tenant, "queue": "bench"}).to_string();
        let done = json!({"tenant_id": self.tenant}).to_string();
        let mut offered = Vec::new();
        loop {
            let claimed = client.call("POST", "/v1/todos/claim-next", &claim)?;
            let todo = &claimed["todo"];
            let Some(id) = todo["id"].as_str() else {
                return Ok(offered);
            };
            let payload = &todo["payload"];
            let number = match payload.as_str() {
                Some(text) => serde_json::from_str::<Value>(text)?["number"].as_u64(),
                None => payload["number"].as_u64(),
            };
            offered.push(number.with_context(|| format!("no number in {todo}"))?);
            client.call("POST", &format!("/v1/todos/{id}/complete"), &done)?;
        }
    }
}

fn client(ready: &Value, data: &Path) -> Result<Http> {
    let local: Value = serde_json::from_str(&std::fs::read_to_string(data.join("server.json"))?)?;
    Http::connect(server::text(ready, "url")?, server::text(&local, "key")?)
}
