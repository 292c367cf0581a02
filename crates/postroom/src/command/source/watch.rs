//! Waiting for the first delivery of a source: what comes is shown, what is refused is explained.

use std::{collections::BTreeSet, process::ExitCode, time::Duration};

use postroom_webhook::Provider;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{super::Done, advice::advice, arguments, text};
use crate::{
    cli::{
        alias::used,
        terminal::{Terminal, plain},
        trouble::{PROBLEMS, Trouble},
    },
    connection::Connection,
};

/// How often the source is looked at.
const LOOK: Duration = Duration::from_millis(600);

/// What was seen of a source while its first delivery was waited for.
pub(super) struct Watch<'a> {
    connection: &'a Connection,
    terminal: Terminal,
    row: &'static Provider,
    source_id: &'a str,
    told: BTreeSet<String>,
    refusals: Vec<Value>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(
        connection: &'a Connection,
        terminal: Terminal,
        row: &'static Provider,
        source_id: &'a str,
    ) -> Self {
        Self {
            connection,
            terminal,
            row,
            source_id,
            told: BTreeSet::new(),
            refusals: Vec::new(),
        }
    }

    /// Waits until a delivery is accepted, at most `most`.
    pub(super) async fn run(mut self, most: Duration) -> Done {
        let end = Instant::now().checked_add(most);
        loop {
            let source = self.source().await?;
            self.tell(&source);
            if let Some(event) = self.first_event(&source).await? {
                return Ok(self.accepted(&event));
            }
            if end.is_some_and(|end| Instant::now() >= end) {
                return Ok(self.nothing_came());
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn source(&self) -> Result<Value, Trouble> {
        let given = arguments([("source_id", self.source_id.into())]);
        let listed = self.connection.call_json(used::LIST_SOURCES, given).await?;
        Ok(listed.pointer("/sources/0").cloned().unwrap_or_default())
    }

    /// The oldest event that came through the source.
    async fn first_event(&self, source: &Value) -> Result<Option<Value>, Trouble> {
        if source.get("last_delivery_at").is_none_or(Value::is_null) {
            return Ok(None);
        }
        let given = arguments([("source_id", self.source_id.into()), ("limit", 200.into())]);
        let listed = self.connection.call_json(used::LIST_EVENTS, given).await?;
        let events = listed.get("events").and_then(Value::as_array);
        Ok(events.and_then(|events| events.last()).cloned())
    }

    /// Says what is new about the source.
    fn tell(&mut self, source: &Value) {
        let title = self.row.title;
        if let Some(at) = source.get("handshake_at").and_then(Value::as_str)
            && self.told.insert(format!("handshake {at}"))
        {
            self.say(at, &format!("{title} shook hands."));
        }
        if source.get("secret_offered") == Some(&Value::Bool(true))
            && self.told.insert("offer".to_owned())
        {
            let how = format!(
                "postroom source set-secret {} --accept-offered",
                self.source_id
            );
            self.say("", &format!("{title} offered a secret. Take it: `{how}`."));
        }
        let refusals = source.get("recent_refusals").and_then(Value::as_array);
        let mut refusals: Vec<Value> = match refusals {
            Some(list) => list.clone(),
            None => source
                .get("last_refusal")
                .filter(|refusal| !refusal.is_null())
                .cloned()
                .into_iter()
                .collect(),
        };
        refusals.sort_by(|a, b| text(a, "at").cmp(text(b, "at")));
        for refusal in refusals {
            if self.told.insert(refusal.to_string()) {
                self.refused(refusal);
            }
        }
    }

    fn refused(&mut self, refusal: Value) {
        let (reason, code) = (text(&refusal, "reason"), text(&refusal, "code"));
        let reason = if code == "awaiting_secret" {
            code
        } else {
            reason
        };
        let from = match text(&refusal, "source_ip") {
            "" => String::new(),
            ip => format!(" from {ip}"),
        };
        let told = advice(self.row, self.source_id, reason, code);
        self.say(
            text(&refusal, "at"),
            &format!("refused{from} ({reason}): {}", text(&refusal, "detail")),
        );
        self.say("", &told);
        let mut refusal = refusal;
        refusal["advice"] = told.into();
        self.refusals.push(refusal);
    }

    /// One line with the time of day before it.
    fn say(&self, at: &str, words: &str) {
        if !self.terminal.json {
            let time = self.terminal.dim(at.get(11..19).unwrap_or("        "));
            self.terminal.line(&format!("  {time}  {}", plain(words)));
        }
    }

    fn accepted(self, event: &Value) -> ExitCode {
        if self.terminal.json {
            self.outcome(event.clone());
            return ExitCode::SUCCESS;
        }
        let id = event.get("id").and_then(Value::as_u64).unwrap_or_default();
        let mut words = vec![format!("accepted: event {id}")];
        let trust = match event.get("verified") {
            Some(Value::Bool(true)) => format!("{}, verified", text(event, "trust_mode")),
            _ => format!("{}, its body is not verified", text(event, "trust_mode")),
        };
        words.push(text(event, "event_type").to_owned());
        words.push(trust);
        words.push(text(event, "disposition").to_owned());
        words.push(text(event, "todo_id").to_owned());
        words.retain(|word| !word.is_empty());
        self.say(text(event, "received_at"), &words.join(", "));
        self.terminal.line("");
        self.terminal.line(&format!(
            "{} is connected. Look at it: `postroom event show {id}`, `postroom todo list`.",
            self.row.title
        ));
        ExitCode::SUCCESS
    }

    fn nothing_came(self) -> ExitCode {
        if self.terminal.json {
            self.outcome(Value::Null);
        } else {
            let seen = if self.refusals.is_empty() {
                "Nothing came in time."
            } else {
                "Nothing was accepted in time."
            };
            self.terminal.line(&format!(
                "{seen} The source stays; `postroom source show {}` says how it stands.",
                self.source_id
            ));
        }
        ExitCode::from(PROBLEMS)
    }

    fn outcome(&self, event: Value) {
        self.terminal.value(&json!({
            "source_id": self.source_id,
            "delivered": !event.is_null(),
            "event": event,
            "refusals": self.refusals,
        }));
    }
}
