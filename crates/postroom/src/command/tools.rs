//! What there is: operations, the OpenAPI document, configuration keys, completions.

use std::process::ExitCode;

use postroom_app::operation::{TABLE, Toolset};
use serde_json::{Value, json};

use super::Done;
use crate::{
    cli::{
        self, Completions, Tools,
        terminal::{Terminal, table},
        trouble::Trouble,
    },
    config::{self, Config},
};

/// Lists the operations.
pub(super) fn list(options: &Tools, terminal: Terminal) -> Done {
    if options.reference {
        terminal.line(&postroom_app::reference_markdown());
        return Ok(ExitCode::SUCCESS);
    }
    let sets = match &options.tools {
        Some(names) => toolsets(names)?,
        None => Toolset::ALL.to_vec(),
    };
    let rows = TABLE.iter().filter(|row| sets.contains(&row.toolset));
    if terminal.json {
        let tools: Vec<Value> = rows
            .map(|row| {
                json!({
                    "name": row.name,
                    "title": row.title,
                    "description": row.description,
                    "toolset": row.toolset.as_str(),
                    "permission": row.permission.as_str(),
                    "routes": row.routes.iter().map(|route| format!("{} {}", route.method, route.path)).collect::<Vec<_>>(),
                    "mcp": row.is_tool(),
                    "inputSchema": row.input_schema(),
                    "outputSchema": row.output_schema(),
                })
            })
            .collect();
        terminal.value(&json!({ "tools": tools }));
        return Ok(ExitCode::SUCCESS);
    }
    let cells: Vec<Vec<String>> = rows
        .map(|row| {
            vec![
                row.name.to_owned(),
                row.toolset.as_str().to_owned(),
                row.permission.to_string(),
                row.title.to_owned(),
            ]
        })
        .collect();
    terminal.line(&table(
        terminal,
        &["OPERATION", "TOOLSET", "PERMISSION", "WHAT"],
        &cells,
        60,
    ));
    Ok(ExitCode::SUCCESS)
}

/// Reads names of toolsets.
pub(super) fn toolsets(names: &str) -> Result<Vec<Toolset>, Trouble> {
    let mut sets = Vec::new();
    let named = names.split(',').map(str::trim);
    for name in named.filter(|name| !name.is_empty()) {
        let before = sets.len();
        sets.extend(Toolset::named(name));
        if sets.len() == before {
            let known: Vec<&str> = Toolset::names().collect();
            return Err(Trouble::usage(
                format!("There is no toolset `{name}`."),
                format!("Choose from {}.", known.join(", ")),
            ));
        }
    }
    Ok(sets)
}

/// Prints the OpenAPI document.
pub(super) fn openapi(config: &Config, terminal: Terminal) -> ExitCode {
    let url = config
        .public_url
        .clone()
        .unwrap_or_else(|| format!("http://{}", config.listen));
    let document = postroom_app::openapi(&url);
    if terminal.json {
        terminal.value(&document);
    } else {
        terminal.line(&serde_json::to_string_pretty(&document).unwrap_or_default());
    }
    ExitCode::SUCCESS
}

/// Shows the configuration.
pub(super) fn config(config: &Config, terminal: Terminal) -> ExitCode {
    let rows = config::rows(config);
    if terminal.json {
        let object: serde_json::Map<String, Value> = rows
            .into_iter()
            .map(|(name, value, _)| (name.to_owned(), value.into()))
            .collect();
        terminal.value(&Value::Object(object));
    } else {
        let cells: Vec<Vec<String>> = rows
            .into_iter()
            .map(|(name, value, about)| {
                vec![
                    name.to_owned(),
                    value,
                    format!("POSTROOM_{}", name.replace('.', "_").to_uppercase()),
                    about.to_owned(),
                ]
            })
            .collect();
        terminal.line(&table(
            terminal,
            &["KEY", "VALUE", "VARIABLE", "WHAT"],
            &cells,
            72,
        ));
    }
    ExitCode::SUCCESS
}

/// Prints completions for a shell.
pub(super) fn completions(options: &Completions, terminal: Terminal) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut cli::command(), "postroom", &mut script);
    terminal.bytes(&script);
    ExitCode::SUCCESS
}
