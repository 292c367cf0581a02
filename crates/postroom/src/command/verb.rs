//! Verbs and `call`: one operation, its answer shown.

use std::process::ExitCode;

use clap::ArgMatches;
use postroom_app::{Operation, operation};
use serde_json::{Map, Value};

use super::Done;
use crate::{
    cli::{
        Call, Global,
        alias::{Target, Verb, View},
        arguments, render,
        terminal::Terminal,
        trouble::Trouble,
    },
    client::Answer,
    config::Config,
    connection::Connection,
};

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
    let mut given = arguments::read(&arguments::properties(row), matches)?;
    if let (Some((_, argument)), Some(id)) = (target.by_id, id) {
        given.insert(argument.to_owned(), id.as_str().into());
    }
    perform(row, given, verb.view, global, config, terminal).await
}

/// Runs `call OPERATION`.
pub(super) async fn call(call: Call, global: &Global, config: &Config, terminal: Terminal) -> Done {
    let row = find(&call.operation)?;
    let mut global = global.clone();
    // The words behind the operation are its own; the options of every command may stand among them.
    let words = take_globals(call.arguments, &mut global, row);
    let terminal = Terminal {
        json: terminal.json || global.json,
        ..terminal
    };
    let given = arguments::read_words(&arguments::properties(row), &words)?;
    perform(row, given, View::Fields, &global, config, terminal).await
}

fn take_globals(words: Vec<String>, global: &mut Global, row: &Operation) -> Vec<String> {
    let own = |name: &str| {
        row.input_schema()
            .pointer(&format!("/properties/{name}"))
            .is_some()
    };
    let mut rest = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" if !own("json") => global.json = true,
            "--as" => global.identity = words.next(),
            _ => rest.push(word),
        }
    }
    rest
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
    view: View,
    global: &Global,
    config: &Config,
    terminal: Terminal,
) -> Done {
    let global = Global {
        identity: global.identity.clone().or_else(|| config.identity.clone()),
        ..global.clone()
    };
    let connection = Connection::open(config, false).await?;
    let answer = async {
        level_of_key(row, &global, &mut given);
        connection.name_identity(row, &global, &mut given).await?;
        connection.call(row, given, None).await
    }
    .await;
    connection.close().await;
    match answer? {
        Answer::Json(value) => render::show(terminal, view, &value),
        Answer::Bytes(bytes) => terminal.bytes(&bytes),
    }
    Ok(ExitCode::SUCCESS)
}

/// A key that is made for a mailbox is an identity's key, unless the command says otherwise.
fn level_of_key(row: &Operation, global: &Global, given: &mut Map<String, Value>) {
    let takes = |name: &str| {
        row.input_schema()
            .pointer(&format!("/properties/{name}"))
            .is_some()
    };
    if takes("level")
        && takes("permissions")
        && global.identity.is_some()
        && !given.contains_key("level")
    {
        given.insert("level".to_owned(), "identity".into());
    }
}
