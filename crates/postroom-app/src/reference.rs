//! The reference page of the operations, made from the operation table.

use std::fmt::Write as _;

use serde_json::Value;

use crate::{
    openapi,
    operation::{Operation, TABLE, Toolset},
};

/// `docs/reference/operations.md`.
pub fn reference_markdown() -> String {
    let mut page = String::from(
        "# Operations\n\n\
         One table for every surface: a REST route, an MCP tool and `postroom call` run the same function. \
         Generated from the table; change the rows, not this page.\n",
    );
    for set in Toolset::ALL {
        let by_default = if set.by_default() {
            "listed by `/mcp` unless `?tools=` says otherwise"
        } else {
            "by REST and the command line; by MCP with `?tools=` only"
        };
        let _ = write!(page, "\n## Toolset `{}`\n\n({by_default})\n", set.as_str());
        for row in TABLE.iter().filter(|row| row.toolset == *set) {
            operation(&mut page, row);
        }
    }
    page
}

fn operation(page: &mut String, row: &Operation) {
    let routes: Vec<String> = row
        .routes
        .iter()
        .map(|route| format!("`{} {}`", route.method, route.path))
        .collect();
    let levels: Vec<&str> = row.levels.iter().map(|level| level.as_str()).collect();
    let hints = row.annotations;
    let codes: Vec<String> = openapi::errors(row)
        .iter()
        .map(|code| format!("`{code}`"))
        .collect();
    let _ = write!(
        page,
        "\n### {}\n\n**{}.** {}\n\n- REST: {}\n- MCP tool: {}\n- Permission: `{}`; key levels: {}\n\
         - Hints: read-only {}, destructive {}, idempotent {}, open world {}\n- Errors: {}\n",
        row.name,
        row.title,
        row.description,
        routes.join(", "),
        if row.is_tool() { "yes" } else { "no (bytes)" },
        row.permission,
        levels.join(", "),
        hints.read_only,
        hints.destructive,
        hints.idempotent,
        hints.open_world,
        codes.join(", "),
    );
    arguments(page, row.input_schema());
    answer(page, row.output_schema());
}

fn arguments(page: &mut String, schema: &Value) {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return;
    };
    let required = schema.get("required").and_then(Value::as_array);
    page.push_str("\n| argument | type | meaning |\n|---|---|---|\n");
    for (name, property) in properties {
        let needed = required.is_some_and(|names| names.iter().any(|other| other == name));
        let mark = if needed { " (required)" } else { "" };
        let _ = writeln!(
            page,
            "| `{name}`{mark} | {} | {} |",
            kind(property),
            words(property)
        );
    }
}

fn answer(page: &mut String, schema: &Value) {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return;
    };
    page.push_str("\n| answer | type | meaning |\n|---|---|---|\n");
    for (name, property) in properties {
        let _ = writeln!(
            page,
            "| `{name}` | {} | {} |",
            kind(property),
            words(property)
        );
    }
}

/// A property's type with its bounds, for a table cell.
fn kind(property: &Value) -> String {
    let mut out = match property.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => {
            let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
            kinds.join(" or ")
        }
        _ => "object".to_owned(),
    };
    for (keyword, before) in [
        ("minimum", ">= "),
        ("maximum", "<= "),
        ("minLength", "length >= "),
        ("maxLength", "length <= "),
        ("minItems", "items >= "),
        ("maxItems", "items <= "),
        ("default", "default "),
    ] {
        if let Some(value) = property.get(keyword) {
            let _ = write!(out, ", {before}{value}");
        }
    }
    if let Some(pattern) = property.get("pattern").and_then(Value::as_str) {
        let _ = write!(out, ", `{}`", pattern.replace('|', "\\|"));
    }
    if let Some(Value::Array(choices)) = property.get("enum") {
        let choices: Vec<String> = choices
            .iter()
            .map(|choice| format!("`{choice}`").replace('"', ""))
            .collect();
        let _ = write!(out, ": {}", choices.join(" "));
    }
    out
}

fn words(property: &Value) -> String {
    property
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .replace('\n', " ")
        .replace('|', "\\|")
}
