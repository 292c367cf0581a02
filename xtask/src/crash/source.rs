//! A webhook source of a server under test, and the work that it makes.

use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::{bench::Http, server};

/// A source whose deliveries are signed as GitHub signs.
pub(crate) struct Source {
    /// Where deliveries go.
    pub(crate) url: String,
    /// What they are signed with.
    pub(crate) secret: String,
    key: String,
}

impl Source {
    /// Lifts the limits per minute and second that a measurement would run into.
    pub(crate) fn unlimited(command: &mut Command) -> &mut Command {
        for limit in ["SOURCE", "KEY", "TENANT"] {
            command.env(format!("POSTROOM_RATE_{limit}"), "1000000");
        }
        command
    }

    /// Creates one in the tenant of a server at its first start.
    pub(crate) fn create(ready: &Value) -> Result<Self> {
        let key = server::text(ready, "admin_key")?;
        let mut client = Http::connect(server::text(ready, "url")?, key)?;
        let wanted = json!({
            "source_type": "github",
            "target_queue": "bench",
            "trusted_actors": {"allow_all": true},
        });
        let made = client.call("POST", "/v1/sources", &wanted.to_string())?;
        Ok(Self {
            url: server::text(&made, "ingest_url")?.to_owned(),
            secret: server::text(&made, "signing_secret")?.to_owned(),
            key: key.to_owned(),
        })
    }

    /// Claims and completes everything in its queue on one connection; gives the number that each
    /// delivery carries, in the order in which they were offered.
    pub(crate) fn drain(&self, ready: &Value) -> Result<Vec<u64>> {
        let mut client = Http::connect(server::text(ready, "url")?, &self.key)?;
        let mut offered = Vec::new();
        loop {
            let claimed = client.call("POST", "/v1/todos/claim-next", r#"{"queue":"bench"}"#)?;
            let todo = &claimed["todo"];
            let Some(id) = todo["id"].as_str() else {
                return Ok(offered);
            };
            let number = todo["payload"]["number"].as_u64();
            offered.push(number.with_context(|| format!("no number in {todo}"))?);
            client.call("POST", &format!("/v1/todos/{id}/complete"), "{}")?;
        }
    }
}
