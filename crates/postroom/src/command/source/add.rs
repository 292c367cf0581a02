//! `source add`: connects a provider.
//!
//! The source is made first, since most providers ask for its URL before they show a secret; then
//! the person is told where the URL goes, is asked for the secret where the provider makes it, and
//! sees the first delivery come or why it was refused.

use std::{process::ExitCode, time::Duration};

use clap::Args;
use postroom_webhook::{Provider, provider::SecretOrigin, scheme::Place};
use serde_json::{Map, Value, json};

use super::{
    super::Done,
    arguments, provider_row,
    secret::{ask, read, said},
    text,
    watch::Watch,
};
use crate::{
    cli::{
        alias::used,
        terminal::{Terminal, plain},
        trouble::Trouble,
    },
    connection::Connection,
};

/// What to connect.
#[derive(Debug, Clone, Args)]
pub(crate) struct Add {
    /// The provider, such as github, stripe, slack or generic; an unknown name lists them all
    #[arg(value_name = "PROVIDER")]
    provider: String,
    /// A name for people [default: the provider's]
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// The queue for its work [default: the provider's name]
    #[arg(long, value_name = "NAME")]
    queue: Option<String>,
    /// The mailbox it belongs to [default: the whole workspace]
    #[arg(long = "identity", value_name = "ADDRESS")]
    mailbox: Option<String>,
    /// The secret that the provider issued: @FILE, - for standard input, or itself [default: asked
    /// for]
    #[arg(long, value_name = "@FILE", allow_hyphen_values = true)]
    secret: Option<String>,
    /// Something else that is settled with the provider, such as topic_arn=…, verify_token=… or
    /// api_key=@FILE; may repeat
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<String>,
    /// Whose deliveries are trusted, at a forge: what others cause is held back for review
    #[arg(long, value_name = "LOGIN,…", value_delimiter = ',')]
    trust: Vec<String>,
    /// Do not wait for the first delivery
    #[arg(long)]
    no_wait: bool,
    /// How long to wait for it
    #[arg(long, value_name = "SECONDS", default_value_t = 3_600)]
    wait_seconds: u64,
}

pub(super) async fn run(
    asked: &Add,
    mailbox: Option<String>,
    connection: &Connection,
    terminal: Terminal,
) -> Done {
    let row = provider_row(&asked.provider)?;
    let secret = asked.secret.as_deref().map(read).transpose()?;
    let given = arguments([
        ("source_type", row.name.into()),
        (
            "target_queue",
            asked.queue.as_deref().unwrap_or(row.name).into(),
        ),
        ("name", asked.name.as_deref().into()),
        ("identity", asked.mailbox.clone().or(mailbox).into()),
        ("signing_secret", secret.into()),
        ("settings", settings(&asked.settings)?),
        ("trusted_actors", trusted(&asked.trust)),
    ]);
    let mut made = connection.call_json(used::CREATE_SOURCE, given).await?;
    made["paste_url"] = paste_url(row, &made).into();
    made["url_goes"] = row.url_goes.into();
    if terminal.json {
        terminal.value(&made);
    } else {
        show(terminal, row, &made);
    }
    let source_id = text(&made, "source_id");
    if text(&made, "state") == "awaiting_secret" {
        take_secret(row, source_id, connection, terminal).await?;
    }
    if asked.no_wait {
        return Ok(ExitCode::SUCCESS);
    }
    if !connection.is_server() {
        terminal.note("note: no server runs over this folder; start `postroom serve`, and it takes deliveries.");
        return Ok(ExitCode::SUCCESS);
    }
    if !terminal.json {
        terminal.line("");
        terminal.line("Waiting for the first delivery. Ctrl-C ends the waiting, the source stays.");
    }
    Watch::new(connection, terminal, row, source_id)
        .run(Duration::from_secs(asked.wait_seconds))
        .await
}

/// `NAME=VALUE` pairs as one object.
fn settings(pairs: &[String]) -> Result<Value, Trouble> {
    let mut settings = Map::new();
    for pair in pairs {
        let (name, value) = pair.split_once('=').ok_or_else(|| {
            Trouble::usage(
                format!("--set {} has no value.", plain(pair)),
                "Give --set NAME=VALUE, such as --set topic_arn=arn:aws:sns:….",
            )
        })?;
        let value = if value.starts_with('@') {
            read(value)?
        } else {
            value.to_owned()
        };
        let value = match (name, value.parse::<u64>()) {
            ("tolerance_seconds", Ok(seconds)) => seconds.into(),
            _ => value.into(),
        };
        settings.insert(name.to_owned(), value);
    }
    Ok(match settings.is_empty() {
        true => Value::Null,
        false => settings.into(),
    })
}

fn trusted(logins: &[String]) -> Value {
    match logins.is_empty() {
        true => Value::Null,
        false => json!({ "logins": logins }),
    }
}

/// The URL as it is pasted: providers that show Basic credentials take them inside it.
fn paste_url(row: &Provider, made: &Value) -> String {
    let url = text(made, "ingest_url");
    let basic = row
        .schemes
        .first()
        .is_some_and(|scheme| scheme.signature == Place::Basic);
    match (basic, text(made, "signing_secret"), url.split_once("://")) {
        (true, secret, Some((scheme, rest))) if !secret.is_empty() => {
            format!("{scheme}://{secret}@{rest}")
        }
        _ => url.to_owned(),
    }
}

/// What a person does next.
fn show(terminal: Terminal, row: &Provider, made: &Value) {
    let line = |name: &str, value: &str| {
        if !value.is_empty() {
            terminal.line(&format!(
                "  {} {}",
                terminal.dim(&format!("{name:<7}")),
                plain(value)
            ));
        }
    };
    terminal.line(&terminal.bold(&format!(
        "A way in for {}: {}",
        row.title,
        text(made, "source_id")
    )));
    terminal.line("");
    line("URL", text(made, "paste_url"));
    line("Secret", text(made, "signing_secret"));
    line("Paste", row.url_goes);
    if row.secret == SecretOrigin::Provider {
        line(
            "Secret",
            &format!("made by {}: {}", row.title, row.secret_hint),
        );
    }
    line("Page", row.docs);
    line("Queue", text(made, "target_queue"));
    line("Trust", text(made, "trust_mode"));
    terminal.line("");
    if !text(made, "signing_secret").is_empty() {
        terminal.line("The secret is not shown again.");
    }
    if !text(made, "warning").is_empty() {
        let warning = text(made, "warning").replace("trusted_actors", "them with --trust");
        terminal.note(&format!("note: {warning}"));
    }
    let url = text(made, "ingest_url");
    if is_local(url) {
        let path = url.splitn(4, '/').last().unwrap_or_default();
        terminal.note(&format!(
            "note: this address is on this machine, where {} cannot call. Set public_url to the server's public https address, or open a tunnel to it and paste https://THE-TUNNEL/{path}.",
            row.title
        ));
    }
}

/// Whether only this machine or its network can call a URL.
fn is_local(url: &str) -> bool {
    let authority = url.split('/').nth(2).unwrap_or_default();
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Ok(std::net::IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local(),
        Err(_) => !host.contains('.') || host.ends_with(".local") || host.ends_with(".internal"),
    }
}

/// Asks for the secret that the provider makes, as often as one is refused.
async fn take_secret(
    row: &Provider,
    source_id: &str,
    connection: &Connection,
    terminal: Terminal,
) -> Result<(), Trouble> {
    let question = format!(
        "The secret that {} shows, {} (not echoed; empty for later): ",
        row.title, row.secret_hint
    );
    while let Some(typed) = ask(terminal, &question).await? {
        let given = arguments([
            ("source_id", source_id.into()),
            ("signing_secret", typed.into()),
        ]);
        match connection.call_json(used::SET_SOURCE_SECRET, given).await {
            Ok(set) => {
                said(terminal, &set);
                return Ok(());
            }
            Err(trouble) if &*trouble.code == "invalid_argument" => trouble.say(terminal),
            Err(trouble) => return Err(trouble),
        }
    }
    if !terminal.json {
        terminal.note(&format!(
            "note: deliveries are answered 503 until the source has its secret: `postroom source set-secret {source_id}`."
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use postroom_webhook::provider;

    #[test]
    fn credentials_stand_in_the_url_where_the_provider_sends_them_so() {
        let made = json!({"ingest_url": "https://a.example/in/t", "signing_secret": "postroom:x"});
        let pasted = |name: &str| paste_url(provider::find(name).expect("a row"), &made);
        assert_eq!(pasted("postmark"), "https://postroom:x@a.example/in/t");
        assert_eq!(pasted("github"), "https://a.example/in/t");
    }

    #[test]
    fn addresses_of_this_machine_are_told_apart() {
        for (url, local) in [
            ("http://127.0.0.1:8025/in/x", true),
            ("http://[::1]:8025/in/x", true),
            ("http://192.168.1.4/in/x", true),
            ("http://postroom:8025/in/x", true),
            ("https://hooks.larkspur.example/in/x", false),
            ("https://203.0.113.9:8443/in/x", false),
        ] {
            assert_eq!(is_local(url), local, "{url}");
        }
    }

    #[test]
    fn settings_are_pairs() {
        let pairs = ["topic_arn=arn:a=b", "tolerance_seconds=60"].map(str::to_owned);
        assert_eq!(
            settings(&pairs).map_err(|trouble| trouble.message),
            Ok(json!({"topic_arn": "arn:a=b", "tolerance_seconds": 60}))
        );
        assert!(settings(&["header".to_owned()]).is_err());
        assert!(settings(&[]).is_ok_and(|none| none.is_null()));
    }
}
