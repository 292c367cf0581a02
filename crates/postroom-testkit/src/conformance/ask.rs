//! Tools that ask a legacy client while they run.

use postroom_mcp::{Call, ToolResult};
use serde_json::{Value, json};

use super::Visiting;

/// Runs one of them; `None` when the name is not one of theirs.
pub(super) async fn run(
    call: &Call<Visiting>,
    name: &str,
    arguments: &Value,
) -> Option<ToolResult> {
    let text = |name: &str| arguments[name].as_str().unwrap_or_default();
    let (method, params, opening) = match name {
        "test_sampling" => (
            "sampling/createMessage",
            sampling(text("prompt")),
            "LLM response",
        ),
        "test_elicitation" => {
            let schema = json!({
                "type": "object",
                "properties": {
                    "username": { "type": "string", "description": "User's response" },
                    "email": { "type": "string", "description": "User's email address" },
                },
                "required": ["username", "email"],
            });
            (
                "elicitation/create",
                form(text("message"), &schema),
                "User response",
            )
        }
        "test_elicitation_sep1034_defaults" => (
            "elicitation/create",
            form("Please review the defaults", &defaults()),
            "Elicitation completed",
        ),
        "test_elicitation_sep1330_enums" => (
            "elicitation/create",
            form("Please choose from the options", &choices()),
            "Elicitation completed",
        ),
        _ => return None,
    };
    Some(match call.ask(method, &params).await {
        Ok(answer) if method == "sampling/createMessage" => {
            let said = answer["content"]["text"].as_str().unwrap_or("nothing");
            ToolResult::text(format!("{opening}: {said}"))
        }
        Ok(answer) => ToolResult::text(format!(
            "{opening}: action={}, content={}",
            answer["action"].as_str().unwrap_or("none"),
            answer["content"]
        )),
        Err(error) => ToolResult::error(format!("Could not ask: {error}.")),
    })
}

fn sampling(prompt: &str) -> Value {
    let content = json!({ "type": "text", "text": prompt });
    json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 100 })
}

fn form(message: &str, schema: &Value) -> Value {
    json!({ "message": message, "requestedSchema": schema })
}

fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "User name", "default": "John Doe" },
            "age": { "type": "integer", "description": "User age", "default": 30 },
            "score": { "type": "number", "description": "User score", "default": 95.5 },
            "status": {
                "type": "string", "description": "User status",
                "enum": ["active", "inactive", "pending"], "default": "active",
            },
            "verified": { "type": "boolean", "description": "Verification status", "default": true },
        },
    })
}

fn choices() -> Value {
    let titled = |names: [&str; 3]| {
        let values = ["value1", "value2", "value3"];
        let pairs = values.iter().zip(names);
        Value::from_iter(pairs.map(|(value, title)| json!({ "const": value, "title": title })))
    };
    let options = json!(["option1", "option2", "option3"]);
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": options },
            "titledSingle": {
                "type": "string", "oneOf": titled(["First Option", "Second Option", "Third Option"]),
            },
            "legacyEnum": {
                "type": "string", "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
            "titledMulti": {
                "type": "array",
                "items": { "anyOf": titled(["First Choice", "Second Choice", "Third Choice"]) },
            },
        },
    })
}
