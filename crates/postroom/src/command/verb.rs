//! Verbs and `call`: one operation, its answer shown.

mod letter;

use std::{path::PathBuf, process::ExitCode};

use clap::ArgMatches;
use postroom_app::{Operation, operation};
use postroom_types::ErrorCode;
use serde_json::{Map, Value};

use super::Done;
use crate::{
    cli::{
        ATTACH, Call, Global,
        alias::{Target, Verb, View, used},
        arguments, render,
        terminal::Terminal,
        trouble::{PROBLEMS, Trouble},
    },
    client::Answer,
    config::Config,
    connection::Connection,
};
use letter::Enclosure;

/// Runs a verb.
pub(super) async fn run(
    verb: &'static Verb,
    global: &Global,
    config: &Config,
    matches: &ArgMatches,
    terminal: Terminal,
) -> Done {
    let id = matches
        .try_get_one::<String>("id")
        .ok()
        .flatten()
        .filter(|_| verb.calls.iter().any(|call| call.by_id.is_some()));
    let target = target(verb, id.map(String::as_str))?;
    let row = find(target.operation)?;
    let mut given = arguments::read(&arguments::properties(row), matches, verb.positional)?;
    if let (Some((_, argument)), Some(id)) = (target.by_id, id) {
        given.insert(argument.to_owned(), id.as_str().into());
    }
    let word = matches.try_get_one::<String>("word").ok().flatten();
    if let (Some(argument), Some(word)) = (verb.word(), word) {
        given.insert(argument.to_owned(), word.as_str().into());
    }
    let files: Vec<PathBuf> = matches
        .try_get_many(ATTACH)
        .ok()
        .flatten()
        .map(|paths| paths.cloned().collect())
        .unwrap_or_default();
    let files = letter::read(&files)?;
    perform(row, given, &files, verb.view, global, config, terminal).await
}

/// Runs `call OPERATION`.
pub(super) async fn call(call: Call, global: &Global, config: &Config, terminal: Terminal) -> Done {
    let row = find(&call.operation)?;
    let given = arguments::read_words(&arguments::properties(row), &call.arguments)?;
    perform(row, given, &[], View::Fields, global, config, terminal).await
}

fn find(name: &str) -> Result<&'static Operation, Trouble> {
    operation::find(name).ok_or_else(|| {
        let nearest = operation::TABLE
            .iter()
            .max_by(|a, b| {
                strsim::jaro_winkler(a.name, name).total_cmp(&strsim::jaro_winkler(b.name, name))
            })
            .map_or("", |row| row.name);
        Trouble::usage(
            format!("There is no operation {name}."),
            format!("Did you mean {nearest}? `postroom tools` lists them all."),
        )
    })
}

/// The call that the id chooses.
fn target(verb: &'static Verb, id: Option<&str>) -> Result<&'static Target, Trouble> {
    let chosen = verb.calls.iter().find(|call| match (call.by_id, id) {
        (None, _) => true,
        (Some((prefix, _)), Some(id)) => id.starts_with(prefix),
        (Some(_), None) => false,
    });
    chosen.ok_or_else(|| {
        let prefixes: Vec<&str> = verb
            .calls
            .iter()
            .filter_map(|call| call.by_id.map(|(prefix, _)| prefix))
            .collect();
        Trouble::usage(
            "This id names nothing that the command takes.",
            format!("Give an id that begins with {}.", prefixes.join(" or ")),
        )
    })
}

async fn perform(
    row: &'static Operation,
    mut given: Map<String, Value>,
    files: &[Enclosure],
    view: View,
    global: &Global,
    config: &Config,
    terminal: Terminal,
) -> Done {
    let global = Global {
        identity: global.identity.clone().or_else(|| config.identity.clone()),
        ..global.clone()
    };
    if config.url.is_none()
        && let Some(answer) = operation::pure(row, &Value::Object(given.clone()))
    {
        render::show(terminal, view, &answer?);
        return Ok(ExitCode::SUCCESS);
    }
    let connection = Connection::open(config, false).await?;
    let is_server = connection.is_server();
    let asked = given.clone();
    let answer = async {
        if row.name == used::CREATE_KEY {
            complete_key(&global, &mut given)?;
        }
        if row.needs_idempotency_key() {
            letter::complete(&mut given)?;
        }
        let mailboxes = connection.mailboxes_for(row, &global, &mut given).await?;
        first_that_has(&connection, row, given, files, mailboxes).await
    }
    .await;
    let answer = match (answer, &global.identity) {
        (Err(trouble), Some(named)) if &*trouble.code == ErrorCode::IdentityNotFound.as_str() => {
            Err(connection.no_mailbox(named, trouble).await)
        }
        (answer, _) => answer,
    };
    connection.close().await;
    match answer.map_err(|trouble: Trouble| trouble.showing(&asked))? {
        Answer::Json(value) => {
            render::show(terminal, view, &value);
            // A script that waits must tell the mail from its absence.
            if row.name == used::WAIT && value.get("message").is_some_and(Value::is_null) {
                return Ok(ExitCode::from(PROBLEMS));
            }
            if row.needs_idempotency_key() {
                return Ok(letter::told(terminal, &value, is_server));
            }
        }
        Answer::Bytes(bytes) => terminal.bytes(&bytes),
    }
    Ok(ExitCode::SUCCESS)
}

/// A key that is made for a mailbox is an identity's key, unless the command says otherwise; what its
/// reach needs and the command does not say is asked for in the command's words.
fn complete_key(global: &Global, given: &mut Map<String, Value>) -> Result<(), Trouble> {
    let mailbox = given.get("identity").and_then(Value::as_str);
    let mailbox = mailbox.or(global.identity.as_deref()).map(str::to_owned);
    if mailbox.is_some() && !given.contains_key("level") {
        given.insert("level".to_owned(), "identity".into());
    }
    let level = given.get("level").and_then(Value::as_str);
    let wide = "--permissions NAMES separated by commas, such as messages:read,search:read";
    let lacking = match level {
        None => Some((
            "A key needs a mailbox, or the level of what it reaches.".to_owned(),
            format!(
                "Add --as ADDRESS for a key of one mailbox, which gets what an agent needs; or \
                 --level tenant and {wide}."
            ),
        )),
        Some("identity") if mailbox.is_none() => Some((
            "A key of level identity needs its mailbox.".to_owned(),
            "Add --as ADDRESS; `postroom identity list` shows the addresses.".to_owned(),
        )),
        Some(level) if level != "identity" && !given.contains_key("permissions") => Some((
            format!("A key of level {level} has no permissions unless they are named."),
            format!("Add {wide}; `postroom key create --help` lists them."),
        )),
        Some(_) => None,
    };
    if let Some((message, fix)) = lacking {
        return Err(Trouble::usage(message, fix));
    }
    if !given.contains_key("name") {
        // A name is for people: whose mail it reads says more than a number.
        let name: String = mailbox
            .as_deref()
            .unwrap_or("key")
            .chars()
            .take(78)
            .collect();
        given.insert("name".to_owned(), name.into());
    }
    Ok(())
}

/// Calls the operation; where several mailboxes could be meant, in one after the other until one has
/// what the id names.
async fn first_that_has(
    connection: &Connection,
    row: &'static Operation,
    mut given: Map<String, Value>,
    files: &[Enclosure],
    mailboxes: Vec<String>,
) -> Result<Answer, Trouble> {
    let mut missing = None;
    for mailbox in mailboxes {
        let mut given = given.clone();
        given.insert("identity".to_owned(), mailbox.into());
        letter::enclose(connection, files, &mut given).await?;
        match connection.call(row, given, None).await {
            Err(trouble) if trouble.code.ends_with("_not_found") => missing = Some(trouble),
            other => return other,
        }
    }
    match missing {
        Some(trouble) => Err(trouble),
        None => {
            letter::enclose(connection, files, &mut given).await?;
            connection.call(row, given, None).await
        }
    }
}
