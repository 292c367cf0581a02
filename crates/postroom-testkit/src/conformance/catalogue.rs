//! What the fixtures list.

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// A picture of one pixel.
pub(super) const IMAGE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";
/// A millisecond of silence.
pub(super) const AUDIO: &str =
    "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==";
/// Properties of `test_custom_header` that are mirrored in headers.
pub(super) const CUSTOM_HEADERS: &[(&str, &str)] =
    &[("region", "Region"), ("priority", "Priority")];

/// Tools without arguments, with what they show.
const PLAIN_TOOLS: &[(&str, &str)] = &[
    ("test_simple_text", "Answers one text."),
    ("test_image_content", "Answers an image."),
    ("test_audio_content", "Answers a sound."),
    (
        "test_embedded_resource",
        "Answers a resource inside the result.",
    ),
    (
        "test_multiple_content_types",
        "Answers text, image and resource.",
    ),
    ("test_error_handling", "Fails, as an error result."),
    ("test_tool_with_logging", "Logs while it works."),
    ("test_logging_tool", "Logs once."),
    (
        "test_tool_with_progress",
        "Reports progress while it works.",
    ),
    (
        "test_elicitation_sep1034_defaults",
        "Asks a person, with defaults.",
    ),
    (
        "test_elicitation_sep1330_enums",
        "Asks a person, with choices.",
    ),
    ("test_missing_capability", "Needs a client that can sample."),
    (
        "test_streaming_elicitation",
        "Streams and asks nothing on the stream.",
    ),
    (
        "test_trigger_tool_change",
        "Announces that the list of tools changed.",
    ),
    (
        "test_trigger_prompt_change",
        "Announces that the list of prompts changed.",
    ),
    (
        "test_trigger_resource_change",
        "Announces that the watched resource changed.",
    ),
    (
        "test_input_required_result_elicitation",
        "Needs a name first.",
    ),
    (
        "test_input_required_result_sampling",
        "Needs a sample first.",
    ),
    (
        "test_input_required_result_list_roots",
        "Needs the roots first.",
    ),
    (
        "test_input_required_result_request_state",
        "Needs a confirmation, with state.",
    ),
    (
        "test_input_required_result_tampered_state",
        "Refuses a changed state.",
    ),
    (
        "test_input_required_result_multiple_inputs",
        "Needs three things first.",
    ),
    (
        "test_input_required_result_multi_round",
        "Needs two rounds.",
    ),
    (
        "test_input_required_result_capabilities",
        "Asks only for what the client can do.",
    ),
    ("test_panic", "Has a fault inside."),
];

/// The tools.
pub(super) fn tools() -> Vec<Box<RawValue>> {
    let empty = json!({ "type": "object", "properties": {} });
    let mut tools: Vec<Value> = PLAIN_TOOLS
        .iter()
        .map(|(name, description)| tool(name, description, &empty))
        .collect();
    tools.push(tool(
        "test_sampling",
        "Asks the model of the client.",
        &text_field("prompt"),
    ));
    tools.push(tool(
        "test_elicitation",
        "Asks a person.",
        &text_field("message"),
    ));
    let wait = json!({ "type": "object", "properties": { "ms": { "type": "integer" } } });
    tools.push(tool("test_wait", "Waits.", &wait));
    let mut structured = tool("test_structured", "Repeats its arguments.", &empty);
    structured["outputSchema"] = json!({
        "type": "object", "properties": { "echo": { "type": "object" } }, "required": ["echo"],
    });
    tools.push(structured);
    tools.push(tool(
        "test_custom_header",
        "Has arguments that are also headers.",
        &mirrored(),
    ));
    let drafts = "Has an input schema of JSON Schema 2020-12.";
    tools.push(tool("json_schema_2020_12_tool", drafts, &vocabulary()));
    raw(tools)
}

fn tool(name: &str, description: &str, input: &Value) -> Value {
    json!({ "name": name, "description": description, "inputSchema": input })
}

fn text_field(name: &str) -> Value {
    json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] })
}

fn mirrored() -> Value {
    json!({
        "type": "object",
        "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "priority": { "type": "integer", "x-mcp-header": "Priority" },
        },
    })
}

fn vocabulary() -> Value {
    let text = json!({ "type": "string" });
    let street = json!({ "street": text, "city": text });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": { "$anchor": "addressDef", "type": "object", "properties": street } },
        "properties": {
            "name": text,
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": text,
            "email": text,
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": {
            "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"],
        },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}

/// The prompts.
pub(super) fn prompts() -> Vec<Box<RawValue>> {
    let argument = |name: &str| json!({ "name": name, "required": true });
    let prompt = |name: &str, description: &str, arguments: Vec<Value>| json!({ "name": name, "description": description, "arguments": arguments });
    raw(vec![
        prompt("test_simple_prompt", "One message.", vec![]),
        prompt(
            "test_prompt_with_arguments",
            "Repeats its arguments.",
            vec![argument("arg1"), argument("arg2")],
        ),
        prompt(
            "test_prompt_with_embedded_resource",
            "Carries a resource.",
            vec![argument("resourceUri")],
        ),
        prompt("test_prompt_with_image", "Carries an image.", vec![]),
        prompt(
            "test_input_required_result_prompt",
            "Needs a context first.",
            vec![],
        ),
    ])
}

/// The resources.
pub(super) fn resources() -> Vec<Box<RawValue>> {
    let resource = |uri: &str, name: &str, mime_type: &str| json!({ "uri": uri, "name": name, "mimeType": mime_type });
    raw(vec![
        resource("test://static-text", "static-text", "text/plain"),
        resource("test://static-binary", "static-binary", "image/png"),
        resource("test://watched-resource", "watched-resource", "text/plain"),
    ])
}

/// The resource templates.
pub(super) fn templates() -> Vec<Box<RawValue>> {
    raw(vec![json!({
        "uriTemplate": super::resource::TEMPLATE, "name": "template", "mimeType": "application/json",
    })])
}

fn raw(values: Vec<Value>) -> Vec<Box<RawValue>> {
    values
        .iter()
        .filter_map(|value| to_raw_value(value).ok())
        .collect()
}
