//! Who did it, and whether the source's owner trusts them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Which of an event's people must be trusted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Matching {
    /// Whoever caused the event.
    #[default]
    Sender,
    /// Whoever wrote what it is about.
    Author,
    /// Both of them.
    Both,
}

/// Whose deliveries a source trusts. The default trusts nobody.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedActors {
    /// Everybody.
    #[serde(default)]
    pub allow_all: bool,
    /// Names at the provider, whatever their case.
    #[serde(default)]
    pub logins: Vec<String>,
    /// Which of an event's people must be among them.
    #[serde(default, rename = "match")]
    pub matching: Matching,
}

impl TrustedActors {
    /// The `actor` of the envelope. Of a delivery that was not verified nobody is trusted: its
    /// names are whatever the sender wrote.
    pub(super) fn actor(
        &self,
        sender: Option<&str>,
        author: Option<&str>,
        verified: bool,
    ) -> Value {
        let known = |name: Option<&str>| {
            let listed = |name: &str| {
                let same = |login: &String| login.eq_ignore_ascii_case(name);
                self.logins.iter().any(same)
            };
            verified && (self.allow_all || name.is_some_and(listed))
        };
        let (by_sender, by_author) = (known(sender), known(author));
        let trusted = match self.matching {
            Matching::Sender => by_sender,
            Matching::Author => by_author,
            Matching::Both => by_sender && by_author,
        };
        json!({
            "sender": sender,
            "author": author,
            "sender_trusted": by_sender,
            "author_trusted": by_author,
            "trusted": trusted,
        })
    }
}
